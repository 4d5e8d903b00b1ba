"""Intervention harvesting: the same item in the same context, shown at two positions by whatever moved it.

For positions k and j let ``C(k, j) = Σ_pairs W · clicks_k / shown_k`` over pairs shown at both, with the overlap weight
``W = shown_k · shown_j / (shown_k + shown_j)``.  Relevance cancels: ``C(k, j) / C(j, k) = θ_k / θ_j``
(Agarwal, Zaitsev, Wang, Li, Najork & Joachims, "Estimating position bias without intrusive interventions", WSDM 2019).
The methods differ in the ratios they take: to position 1 (pivot), from one position to the next (adjacent chain), all of
them (all pairs: least squares of log ratios, weighted by their precision).

Swap experiments (Joachims, Swaminathan & Schnabel, WSDM 2017; FairPairs: Radlinski & Joachims, AAAI 2006) are the same
with a coin in place of the harvest: each impression marks two rows that were swapped with probability ½.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from audit.clicks.log import ImpressionLog
from audit.clicks.position.cells import Cells, Units
from audit.clicks.position.curve import Curve
from audit.clicks.position.identify import NotIdentifiable
from audit.compiled import kernel
from audit.dataset.model import F64, I64, Bool
from audit.errors import ConfigError

PRIOR = 2.0
"""Rows that a pair's rate is drawn towards the mean with, where chance is judged: a pair seen once would seem certain."""


@dataclass(frozen=True, eq=False)
class Ratios:
    """Click masses of pairs of positions, and how buckets move them."""

    one: I64
    two: I64
    """``[edges]``: indices of positions, the first the smaller."""
    mass: F64
    """``[edges, 2]``"""
    influence: F64
    """``[buckets, edges, 2]``"""

    def kept(self, keep: Bool) -> Ratios:
        """Some of the edges."""
        return Ratios(self.one[keep], self.two[keep], self.mass[keep], self.influence[:, keep])


def harvested(cells: Cells, units: Units, click: F64, wanted: Callable[[I64, I64], Bool]) -> Ratios:
    """Masses of the pairs of positions that are wanted and have any."""
    width = len(cells.positions)
    mass = np.zeros((width, width))
    _masses(cells.start, cells.position, cells.shown, cells.clicked, mass)
    one, two = np.nonzero(np.triu(mass, 1) + np.triu(mass.T, 1))
    keep = wanted(one, two)
    one, two = one[keep], two[keep]
    edge = np.full((width, width), -1, np.int32)
    edge[one, two] = edge[two, one] = np.arange(len(one))
    # What a click is expected at: of the pair's own rate, drawn a little towards the mean.
    theta = cells.by_position(cells.clicked) / cells.by_position(cells.shown)
    expected = cells.by_pair(cells.shown * theta[cells.position])
    rate = (cells.by_pair(cells.clicked) + PRIOR * theta.mean()) / (expected + PRIOR * theta.mean())
    for _ in range(3):
        fitted = cells.shown * rate[cells.pair]
        theta = cells.by_position(cells.clicked) / np.maximum(cells.by_position(fitted), 1e-300)
        expected = cells.by_pair(cells.shown * theta[cells.position])
        rate = (cells.by_pair(cells.clicked) + PRIOR * theta.mean()) / (
            expected + PRIOR * theta.mean()
        )
    p = np.clip(rate[cells.pair] * theta[cells.position], 0, 1)
    influence = np.zeros((units.number, len(one), 2))
    _influences(
        cells.start, cells.position, cells.shown, cells.of_row, units.bucket, click, p, edge, influence
    )  # fmt: skip
    return Ratios(one, two, np.stack([mass[one, two], mass[two, one]], axis=1), influence)


def swapped(log: ImpressionLog, cells: Cells, units: Units, marked: Bool) -> Ratios:
    """Masses of a swap experiment: clicks on the two marked rows of each impression, over their probabilities.

    Raises
    ------
    ConfigError
        There are no impressions, or one does not mark two rows.
    """
    starts = log.starts
    rows = np.flatnonzero(marked)
    of = np.searchsorted(starts, rows, side="right") - 1
    wrong = np.bincount(of, minlength=len(starts) - 1)
    wrong = (wrong != 0) & (wrong != 2)
    if wrong.any():
        raise ConfigError(
            f"impressions, column 'randomisation': {int(wrong.sum()):,} impressions mark other than two rows as swapped. Mark both rows "
            "of the pair that the coin was tossed for, whether it swapped them or not, and no others."
        )
    first, second = rows[::2], rows[1::2]  # By position within an impression.
    at = cells.position[cells.of_row]
    width = len(cells.positions)
    key, edge = np.unique(at[first].astype(np.int64) * width + at[second], return_inverse=True)
    weights = np.ones(len(log)) if log.propensity is None else 0.5 / log.complete("propensity", "to weigh swaps")  # fmt: skip
    values = np.stack([(log.click * weights)[first], (log.click * weights)[second]], axis=1)
    mass = np.stack([np.bincount(edge, values[:, s], len(key)) for s in (0, 1)], axis=1).astype(
        np.float64
    )
    influence = np.zeros((units.number, len(key), 2))
    np.add.at(influence, (units.bucket[first], edge), values)
    return Ratios(key // width, key % width, mass, influence)


def curve(method: str, ratios: Ratios, cells: Cells, units: Units, seed: int) -> Curve:
    """Log propensities by weighted least squares of the log ratios; NaN where no ratio leads to the first position.

    Raises
    ------
    NotIdentifiable
        No ratio leads anywhere.
    """
    ratios = ratios.kept(np.asarray((ratios.mass > 0).all(axis=1)))
    width = len(cells.positions)
    reached = _reached(ratios, width)
    if reached.sum() < 2:
        first = int(cells.positions[0])
        raise NotIdentifiable(
            f"{method} finds no clicked item that one context showed both at position {first} and at another that it compares with.",
            components=_components(ratios, cells),
            experiment=f"Swap position {first} with others by the toss of a coin for a small share of impressions; or use all_pairs or em.",
        )  # fmt: skip
    log = np.full(width, np.nan)
    influence = np.zeros((units.number, width))
    ratios = ratios.kept(reached[ratios.one])
    precision = 1 / (1 / ratios.mass).sum(axis=1)
    design = np.zeros((len(precision), width))
    rows = np.arange(len(precision))
    design[rows, ratios.one], design[rows, ratios.two] = 1, -1
    free = np.flatnonzero(reached)[1:]
    weighted = design[:, free].T * precision
    solve = np.linalg.solve(weighted @ design[:, free], weighted)
    log[0] = 0
    log[free] = solve @ (np.log(ratios.mass[:, 0]) - np.log(ratios.mass[:, 1]))
    moved = ratios.influence[:, :, 0] / ratios.mass[:, 0] - ratios.influence[:, :, 1] / ratios.mass[:, 1]  # fmt: skip
    influence[:, free] = moved @ solve.T
    notes: tuple[str, ...] = ()
    if not reached.all():
        lost = ", ".join(str(p) for p in cells.positions[~reached])
        notes = (f"{method} compares no clicked item between position {cells.positions[0]} and positions {lost}: they have no value; all_pairs and em use longer ways.",)  # fmt: skip
    return Curve.of(method, cells, log, influence, units, notes=notes, seed=seed)


def _reached(ratios: Ratios, width: int) -> Bool:
    reached = np.zeros(width, bool)
    reached[0] = True
    for _ in range(width):
        touched = reached[ratios.one] | reached[ratios.two]
        reached[ratios.one[touched]] = reached[ratios.two[touched]] = True
    return reached


def _components(ratios: Ratios, cells: Cells) -> list[list[int]]:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    width = len(cells.positions)
    graph = coo_matrix((np.ones(len(ratios.one)), (ratios.one, ratios.two)), (width, width))
    number, label = connected_components(graph, directed=False)
    found = [cells.positions[label == i].tolist() for i in range(number)]
    return sorted(found, key=lambda c: (-len(c), c[0]))


@kernel
def _masses(start, position, shown, clicked, mass):  # type: ignore[no-untyped-def]
    for pair in range(len(start) - 1):
        for a in range(start[pair], start[pair + 1]):
            for b in range(start[pair], start[pair + 1]):
                if a != b:
                    mass[position[a], position[b]] += shown[b] / (shown[a] + shown[b]) * clicked[a]


@kernel
def _influences(start, position, shown, of_row, bucket, click, p, edge, out):  # type: ignore[no-untyped-def]
    pair_of = np.empty(len(position), np.int32)
    for pair in range(len(start) - 1):
        pair_of[start[pair] : start[pair + 1]] = pair
    for row in range(len(of_row)):
        a = of_row[row]
        left = click[row] - p[a]
        pair = pair_of[a]
        for b in range(start[pair], start[pair + 1]):
            e = edge[position[a], position[b]]
            if b != a and e >= 0:
                side = 0 if position[a] < position[b] else 1
                out[bucket[row], e, side] += shown[b] / (shown[a] + shown[b]) * left
