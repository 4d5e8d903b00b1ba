"""Click rates by position: naive, and of randomised results."""

from __future__ import annotations

import numpy as np

from audit.clicks.log import ImpressionLog
from audit.clicks.position.cells import Cells, Units
from audit.clicks.position.curve import Curve
from audit.clicks.position.identify import NotIdentifiable, components
from audit.dataset.model import F64, Bool

NOT_RANDOM = ("", "none", "no", "false", "0", "off")
SWAP = "swap"
CHANCE = 1e-6
"""Of a chi-square as large under independence, below which a log was ranked."""


def naive(cells: Cells, units: Units, click: F64, seed: int) -> Curve:
    """Click rate by rank, relative to the first: position and relevance mixed."""
    note = "naive: the click rate by position holds the old ranking's relevance as much as the position; it corrects nothing."
    return _rates("naive", cells, units, click, np.ones(len(click)), seed, note)


def randomised(log: ImpressionLog, cells: Cells, units: Units, seed: int) -> Curve:
    """Click rate by rank where chance decided which item came where.

    Rows are those that ``randomisation`` names; without that column all, weighted by 1 / propensity where the log has
    propensities, else only if items and positions are independent within contexts.

    Raises
    ------
    NotIdentifiable
        Positions depend on items: the log was ranked, not randomised.
    """
    weights = np.ones(len(log))
    note = "rows that column 'randomisation' names"
    if log.randomisation is not None:
        marked = randomised_rows(log, swaps=False)
        if not marked.any():
            raise NotIdentifiable(
                "column 'randomisation' names no row whose whole list was shuffled.", components=components(cells),
                experiment="Shuffle the list for a small share of impressions and say so there; or use all_pairs or em.",
            )  # fmt: skip
        weights = marked.astype(np.float64)
    elif log.propensity is not None:
        weights = 1 / log.complete("propensity", "to undo the logging policy")
        note = "all rows, weighted by 1 / propensity"
    else:
        p = dependence(cells)
        if p < CHANCE:
            raise NotIdentifiable(
                f"items and positions are not independent (chi-square test: p = {p:.1g}): this log was "
                "ranked, not randomised.",
                components=components(cells),
                experiment="Shuffle lists for a small share of impressions, name them in a column 'randomisation'; or use all_pairs or em.",
            )  # fmt: skip
        note = "all rows: items and positions are independent in this log, as under randomisation"
    return _rates("randomised", cells, units, log.click.astype(np.float64), weights, seed, note)


def randomised_rows(log: ImpressionLog, *, swaps: bool) -> Bool:
    """Rows that were randomised: whole lists, or swaps of two (the word holds "swap" or "pair")."""
    assert log.randomisation is not None
    words = [w.strip().lower() for w in log.randomisations]
    swap = [SWAP in w or "pair" in w for w in words]
    wanted = np.array([w not in NOT_RANDOM and s == swaps for w, s in zip(words, swap, strict=True)] + [False])  # fmt: skip
    return wanted[log.randomisation]


def dependence(cells: Cells) -> float:
    """The p-value of Pearson's chi-square of item by position within contexts; 0 where a context leaves nothing to test."""
    from scipy.special import chdtrc

    contexts, width = int(cells.contexts.max()) + 1, len(cells.positions)
    context = cells.contexts[cells.pair].astype(np.int64)
    at = np.unique(context * width + cells.position, return_inverse=True)[1]
    by_item = cells.by_pair(cells.shown)[cells.pair]
    by_position = np.bincount(at, cells.shown)[at]
    total = np.bincount(context, cells.shown, contexts)
    expected = by_item * by_position / total[context]
    chi2 = float((cells.shown * cells.shown / expected).sum() - total.sum())
    items = np.bincount(cells.contexts, minlength=contexts)
    seen = np.unique(np.stack([context, cells.position]), axis=1)[0].astype(np.int64)
    positions = np.bincount(seen, minlength=contexts)
    freedom = float((np.maximum(items - 1, 0) * np.maximum(positions - 1, 0)).sum())
    return float(chdtrc(freedom, chi2)) if freedom else 0.0


def _rates(
    method: str, cells: Cells, units: Units, click: F64, weights: F64, seed: int, note: str
) -> Curve:  # fmt: skip
    at = cells.position[cells.of_row]
    width = len(cells.positions)
    clicks, rows = np.bincount(at, weights * click, width), np.bincount(at, weights, width)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = clicks / rows
        log = np.log(rate)
        moved = weights * (click - rate[at]) / clicks[at]
    key = units.bucket.astype(np.int64) * width + at
    influence = (
        np.bincount(key, np.nan_to_num(moved), units.number * width)
        .astype(np.float64)
        .reshape(-1, width)
    )
    influence -= influence[:, :1]
    return Curve.of(method, cells, log, influence, units, notes=(note,), seed=seed)
