"""What estimators share: weights, rewards, a model of rewards, made when first asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from audit.clicks.log import ImpressionLog
from audit.clicks.rewards import Model, fitted
from audit.clicks.target import Cells
from audit.dataset.model import F64, I32, I64
from audit.errors import ConfigError


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A log, a target policy, and what follows from both.  All arrays are ``[rows]`` unless they say otherwise."""

    log: ImpressionLog
    target: Cells
    units: I64
    reward_model: Any
    categories: Any
    logging: Any
    seed: int

    @cached_property
    def at(self) -> I32:
        """The target's cell of each row, −1 where the target never shows the item there."""
        return self.target.rows_of(self.log).astype(np.int32)

    @cached_property
    def r(self) -> F64:
        """Rewards."""
        return self.log.outcome

    @cached_property
    def w(self) -> F64:
        """``π(item | context, position) / propensity``."""
        return self._weights(self.target.value, "propensity")

    @cached_property
    def slate_w(self) -> F64:
        """``π(list) / p_slate``."""
        return self._weights(self._more("p_slate", "sips"), "p_slate")

    @cached_property
    def prefix_w(self) -> F64:
        """``π(prefix) / p_prefix``."""
        return self._weights(self._more("p_prefix", "rips and cascade_dr"), "p_prefix")

    def _weights(self, value: F64, column: str) -> F64:
        below = self.log.complete(column, "to weigh what was shown")
        return np.where(self.at >= 0, value[self.at], 0.0) / below

    def _more(self, column: str, who: str) -> F64:
        if column not in self.target.more or self.target.by != "impression":
            raise ConfigError(
                f"{who} need the target's own '{column}' of each logged list: a target with impression_id, item_id, "
                f"position, probability and {column}."
            )
        return self.target.more[column]

    @cached_property
    def model(self) -> Model:
        """The fitted model of rewards."""
        return fitted(self.reward_model, self.log, self.target, self.units, self.seed)

    @property
    def q(self) -> F64:
        """What the model expects of the item shown."""
        return self.model.logged

    @property
    def d(self) -> F64:
        """What it expects of the target in the same context and position."""
        return self.model.expected

    @cached_property
    def category_w(self) -> F64:
        """Weights of categories."""
        from audit.clicks.estimators.marginal import categories_of, marginal_weights

        found = categories_of(self.categories, self.log, self.target)
        return marginal_weights(self.log, self.target, found, self.w)

    @cached_property
    def list_weights(self) -> F64:
        """Pseudo-inverse weights, ``[lists]``."""
        from audit.clicks.estimators.pseudo_inverse import list_weights

        return list_weights(self.log, self.target, self.logging, self.log.propensity, self.at)

    @cached_property
    def list_rewards(self) -> F64:
        """``[lists]``."""
        return np.add.reduceat(self.r, self.log.starts[:-1])
