"""How much of a click is the position: propensities, where a log identifies them."""
