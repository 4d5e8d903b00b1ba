"""Interleaving: two rankers in one list, and what clicks on it say about them."""
