"""A propensity curve: relative propensities, and how far chance moves them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from audit.clicks import resample
from audit.clicks.position.cells import Cells, Units
from audit.dataset.model import F64, I32
from audit.inference.exact import quantise
from audit.inference.means import MAX_WEIGHT, poisson_weights

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Curve:
    """Propensities by position, relative to the first."""

    method: str
    positions: I32
    log: F64
    """``[positions]``: log θ_k − log θ_1; NaN where the method has nothing to compare with."""
    influence: F64 | None
    """``[buckets, positions]``: how each bucket moves :attr:`log`; ``None`` where chance is not known."""
    shown: F64
    clicked: F64
    unit: str = "row"
    seed: int = 0
    given_deviation: F64 | None = None
    """``[positions]``: standard deviation of :attr:`log` where it was read from a table."""
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def of(
        cls, method: str, cells: Cells, log: F64, influence: F64 | None, units: Units, *,
        notes: tuple[str, ...] = (), seed: int = 0, deviation: F64 | None = None,
    ) -> Curve:  # fmt: skip
        """From values on any scale."""
        with np.errstate(invalid="ignore"):
            relative = log - log[0]
        return cls(
            method, cells.positions, relative, influence, cells.by_position(cells.shown), cells.by_position(cells.clicked),
            units.name, seed, deviation, notes,
        )  # fmt: skip

    @property
    def value(self) -> F64:
        """``[positions]``"""
        return np.exp(self.log)

    @cached_property
    def moved(self) -> F64 | None:
        """Replicates of :attr:`log` minus its value: ``[replicates, positions]``."""
        if self.given_deviation is not None:
            rng = np.random.default_rng([self.seed, 1])
            return rng.standard_normal((resample.REPLICATES, len(self.log))) * np.nan_to_num(self.given_deviation)  # fmt: skip
        return None if self.influence is None else deviations(self.influence, self.seed)

    @property
    def table(self) -> pd.DataFrame:
        """Index ``position``; ``propensity``, ``ci_low``, ``ci_high`` (95 %), ``shown``, ``clicks``."""
        import pandas as pd

        low = high = np.full(len(self.log), np.nan)
        if self.moved is not None:
            known = np.isfinite(self.log)
            ends = np.quantile(self.moved, [0.025, 0.975], axis=0)
            low, high = (np.where(known, np.exp(self.log + e), np.nan) for e in ends)
        frame = pd.DataFrame(
            {"propensity": self.value, "ci_low": low, "ci_high": high, "shown": self.shown, "clicks": self.clicked},
            index=pd.Index(self.positions, name="position"),
        )  # fmt: skip
        return frame.astype({"shown": "int64", "clicks": "int64"})


def deviations(influence: F64, seed: int) -> F64:
    """``Σ (w_b − 1)·influence_b`` under the room's Poisson weights: ``[replicates, columns]``."""
    exact, exponent = quantise(influence, MAX_WEIGHT)
    drawn = [
        np.ldexp((weights - 1) @ exact, exponent)
        for weights in poisson_weights(len(influence), resample.REPLICATES, seed)
    ]
    return np.concatenate(drawn)
