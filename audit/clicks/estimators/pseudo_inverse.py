"""The pseudo-inverse estimator: whole lists, if a list's reward adds up over its slots.

``w = 1ᵀ_shown · Γ⁺ · q``: 1_shown marks the (slot, item) pairs of the shown list, Γ = E[1 1ᵀ] under the logging policy, q
the target's probability of each pair.  The value is the mean of w times the reward of the list (Swaminathan, Krishnamurthy,
Agarwal, Dudík, Langford, Jose & Zitouni, NeurIPS 2017).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from audit.clicks.log import ImpressionLog
from audit.clicks.target import Cells, read_cells
from audit.dataset.model import F64, I32, I64
from audit.errors import ConfigError, choices
from audit.inputs.read import open_table

MOST_LISTS = 200_000
"""Lists that are enumerated at most for one context."""


def lists_of(items: int, slots: int) -> I64:
    """Every list of ``slots`` distinct items: ``[lists, slots]``.

    Raises
    ------
    ConfigError
        There are too many.
    """
    number = math.perm(items, slots)
    if number > MOST_LISTS:
        raise ConfigError(
            f"{items} items in {slots} slots make {number:,} lists, more than {MOST_LISTS:,}: too many to enumerate. "
            "Take 'iips' or 'rips', or logging = 'product' where slots are drawn independently."
        )
    return np.array(list(itertools.permutations(range(items), slots)), np.int64).reshape(-1, slots)


def plackett_luce(logits: F64, lists: I64) -> F64:
    """The probability of each list when items are drawn one after another, by softmax of what is left."""
    weights = np.exp(logits - logits.max())
    left = np.full(len(lists), weights.sum())
    p = np.ones(len(lists))
    for slot in range(lists.shape[1]):
        drawn = weights[lists[:, slot]]
        p *= drawn / left
        left -= drawn
    return p


def pair_marginals(lists: I64, p: F64, items: int) -> F64:
    """``P(item at slot)``: ``[slots · items]``."""
    slots = lists.shape[1]
    out = np.zeros(slots * items)
    for slot in range(slots):
        np.add.at(out, slot * items + lists[:, slot], p)
    return out


def gamma(lists: I64, p: F64, items: int) -> F64:
    """``E[1 1ᵀ]`` over (slot, item) pairs."""
    slots = lists.shape[1]
    out = np.zeros((slots * items, slots * items))
    for a, b in itertools.product(range(slots), repeat=2):
        np.add.at(out, (a * items + lists[:, a], b * items + lists[:, b]), p)
    return out


def weight(shown: Sequence[int] | I64, inverse: F64, q: F64, items: int) -> float:
    """``1ᵀ_shown Γ⁺ q``."""
    pairs = np.arange(len(shown)) * items + np.asarray(shown)
    return float(inverse[pairs].sum(axis=0) @ q)


def product_weight(pi: F64, mu: F64) -> float:
    """Where the logging policy draws slots independently: ``1 − L + Σ_k π_k/μ_k``, π_k and μ_k of the item shown at k."""
    return float(1 - len(pi) + (pi / mu).sum())


def uniform(items: int, slots: int) -> tuple[I64, F64]:
    """All lists without repetition, equally likely."""
    lists = lists_of(items, slots)
    return lists, np.full(len(lists), 1 / len(lists))


def inverse_of(lists: I64, p: F64, items: int) -> F64:
    """Γ⁺."""
    out: F64 = np.linalg.pinv(gamma(lists, p, items), rcond=1e-10, hermitian=True).astype(
        np.float64
    )
    return out


def list_weights(
    log: ImpressionLog, target: Cells, logging: Any, propensity: F64 | None, at: I32
) -> F64:
    """The weight of each list: ``[lists]``.

    Parameters
    ----------
    logging
        ``product``: slots are drawn independently, with the log's propensities.  ``uniform``: every list of the
        target's items without repetition is equally likely.  A table of item_id, score (and context_id or
        impression_id): Plackett–Luce, items drawn one after another by softmax of the scores of what is left.
    at
        The target's cell of each row, −1 where it shows the item never.

    Raises
    ------
    ConfigError
        Lists do not run 1, 2, 3 …, or are too many to enumerate.
    """
    starts = log.starts
    length = np.diff(starts)
    if (log.position != np.arange(len(log)) - np.repeat(starts[:-1], length) + 1).any():
        raise ConfigError("pseudo_inverse: lists lack positions; it needs every slot of a list.")
    pi = np.where(at >= 0, target.value[at], 0.0)
    if isinstance(logging, str) and logging == "product":
        if propensity is None:
            raise ConfigError("pseudo_inverse: logging = 'product' needs propensities.")
        return np.asarray(1 - length + np.add.reduceat(pi / propensity, starts[:-1]))
    if isinstance(logging, str) and logging != "uniform":
        raise ConfigError("logging: " + choices("logging policy", logging, ("product", "uniform")))
    scores = None if isinstance(logging, str) else _scores(logging, log)
    group = target.groups_of(log)[starts[:-1]] // target.width
    own = group if scores is None or scores.by is None else scores.groups_of(log)[starts[:-1]] // scores.width  # fmt: skip
    key, of = np.unique(np.stack((group, own, length)), axis=1, return_inverse=True)
    inverses: dict[object, tuple[F64, int]] = {}
    out = np.empty(len(length))
    # A policy's lists are enumerated once; contexts that share it share its inverse.
    for one in range(key.shape[1]):
        context, mine, slots = (int(value) for value in key[:, one])
        there = (target.group >= context * target.width) & (target.group < (context + 1) * target.width)  # fmt: skip
        cell_item, cell_slot = target.item[there], target.group[there] % target.width - 1
        if scores is None:
            items, logits = np.unique(cell_item), None
        else:
            here = scores.group // scores.width == (0 if scores.by is None else mine)
            items, logits = scores.item[here], scores.value[here]
        name = (len(items), slots, None if logits is None else logits.tobytes())
        if name not in inverses:
            lists = lists_of(len(items), slots)
            p = np.full(len(lists), 1 / len(lists)) if logits is None else plackett_luce(logits, lists)  # fmt: skip
            inverses[name] = inverse_of(lists, p, len(items)), len(items)
        inverse, number = inverses[name]
        q = np.zeros(slots * number)
        place = np.searchsorted(items, cell_item)
        fits = (place < number) & (cell_slot < slots)
        fits[fits] = items[place[fits]] == cell_item[fits]
        q[cell_slot[fits] * number + place[fits]] = target.value[there][fits]
        folded = inverse @ q
        which = np.flatnonzero(of.reshape(-1) == one)
        rows = starts[:-1][which][:, None] + np.arange(slots)
        out[which] = folded[np.arange(slots) * number + np.searchsorted(items, log.item[rows])].sum(axis=1)  # fmt: skip
    return out


def _scores(data: Any, log: ImpressionLog) -> Cells:
    table = open_table(data, "logging")
    arrow = table.read(table.names)
    if "score" not in arrow.column_names:
        raise ConfigError("logging: a table of scores needs the columns item_id and score.")
    arrow = arrow.append_column("position", pa.repeat(1, arrow.num_rows))
    return read_cells(arrow, log, table="logging", columns={"probability": "score"})[0]
