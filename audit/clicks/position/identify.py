"""What a log can tell about position, before anything is estimated.

A click rate is a product of position and relevance.  Two positions can be told apart only where one context showed one
item at both.  So join positions by such pairs: propensities are known relative to each other within a connected
component of this graph, and not at all between two.  A pair that was never clicked joins nothing: 0 = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audit.clicks.position.cells import Cells
from audit.compiled import kernel
from audit.dataset.model import F64, I32
from audit.errors import AuditError

STARTS = ((0.5, 0.5), (0.9, 0.3))
"""Propensity and relevance that the two fits of a proof start from."""
STEPS = 10_000
SHOWN = 12
"""Positions that a message lists."""


@dataclass(frozen=True)
class Proof:
    """Two fits of one log that it cannot tell apart."""

    propensities: tuple[tuple[float, ...], tuple[float, ...]]
    """By position of the log, relative to the first."""
    log_likelihoods: tuple[float, float]


class NotIdentifiable(AuditError):  # noqa: N818  the name of the interface
    """The log does not identify position bias; nothing was estimated."""

    def __init__(
        self, reason: str, *, components: list[list[int]], experiment: str, proof: Proof | None = None
    ) -> None:  # fmt: skip
        self.reason = reason
        self.components = components
        """Positions that can be compared among each other."""
        self.experiment = experiment
        """What to log in order to know."""
        self.proof = proof
        lines = [f"position bias is not identifiable from this log: {reason}"]
        if components:
            shown = [_span(c) for c in components[:SHOWN]]
            more = f" and {len(components) - SHOWN} more" if len(components) > SHOWN else ""
            lines.append(f"  components of positions: {' | '.join(shown)}{more}")
        if proof is not None:
            one, two = (", ".join(f"{v:.3g}" for v in p[:SHOWN]) for p in proof.propensities)
            lines.append(
                f"  proof: two fits explain the log equally well (log-likelihoods {proof.log_likelihoods[0]:,.6f} and "
                f"{proof.log_likelihoods[1]:,.6f}) with propensities {one} and {two}"
            )
        lines.append(f"  {experiment}")
        super().__init__("\n".join(lines))


def components(cells: Cells) -> list[list[int]]:
    """Positions joined by pairs with a click, the largest component first."""
    parent = np.arange(len(cells.positions), dtype=np.int32)
    _join(cells.start, cells.position, cells.clicked, parent)
    label = np.array([_root(parent, i) for i in range(len(parent))])
    found = [cells.positions[label == one].tolist() for one in np.unique(label)]
    return sorted(found, key=lambda c: (-len(c), c[0]))


def require(cells: Cells) -> None:
    """Refuse a log in which some positions cannot be compared with others.

    Raises
    ------
    NotIdentifiable
        With the components, the experiment that would help, and two fits that prove it.
    """
    if not cells.clicked.sum():
        raise NotIdentifiable(
            "nothing was clicked.", components=components(cells), experiment="Give a log with clicks."
        )  # fmt: skip
    found = components(cells)
    if len(found) == 1:
        return
    several = np.diff(cells.start) > 1
    if not several.any():
        pair = "item" if not cells.contexts.any() else "pair of context and item"
        reason = (
            f"each {pair} was only ever shown at one position, as by one fixed ranking: a click rate that falls with the position "
            "says as much about the ranking as about the position."
        )
    else:
        reason = (
            f"no item that was clicked was shown, in one context, at positions of two of its {len(found)} components: nothing says how "
            "one compares with the other."
        )
    raise NotIdentifiable(reason, components=found, experiment=_experiment(found), proof=_proof(cells))  # fmt: skip


def _experiment(found: list[list[int]]) -> str:
    first = found[0][0]
    others = [c[0] for c in found[1:]]
    pairs = ", ".join(f"{min(first, o)} and {max(first, o)}" for o in others[:5])
    more = " and so on" if len(others) > 5 else ""
    return (
        f"To know: for a small share of impressions, swap the items at positions {pairs}{more} by the toss of a coin (or shuffle the "
        "list), and log what was shown. Rankers that ran side by side (an A/B test) also help: log both with the same context_id. "
        "Positions that nobody cares about can be left out with depth."
    )


def _proof(cells: Cells) -> Proof:
    from audit.clicks.position.em import plain

    fits = [plain(cells, STEPS, theta=theta, gamma=gamma) for theta, gamma in STARTS]
    relative = [tuple((f.theta / f.theta[0]).tolist()) for f in fits]
    return Proof((relative[0], relative[1]), (fits[0].log_likelihood, fits[1].log_likelihood))


def _span(positions: list[int]) -> str:
    if len(positions) > 2 and positions[-1] - positions[0] == len(positions) - 1:
        return f"{positions[0]} to {positions[-1]}"
    return ", ".join(map(str, positions[:SHOWN])) + (" …" if len(positions) > SHOWN else "")


def joined_share(cells: Cells) -> float:
    """Share of rows that belong to a pair seen at more than one position."""
    several = np.diff(cells.start) > 1
    return float(cells.by_pair(cells.shown)[several].sum() / cells.shown.sum())


def shared_rows(cells: Cells) -> F64:
    """``[positions, positions]``: for each two, rows of pairs shown at both, the smaller count of each pair.

    The support heat map: 0 where two positions cannot be compared directly.
    """
    out = np.zeros((len(cells.positions), len(cells.positions)))
    _shared(cells.start, cells.position, cells.shown, out)
    return out


@kernel
def _root(parent: I32, i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def _join(start, position, clicked, parent):  # type: ignore[no-untyped-def]
    for pair in range(len(start) - 1):
        total = 0.0
        for c in range(start[pair], start[pair + 1]):
            total += clicked[c]
        if total == 0:
            continue
        one = _root(parent, position[start[pair]])
        for c in range(start[pair] + 1, start[pair + 1]):
            other = _root(parent, position[c])
            if one < other:
                parent[other] = one
            elif other < one:
                parent[one] = other
                one = other


@kernel
def _shared(start, position, shown, out):  # type: ignore[no-untyped-def]
    for pair in range(len(start) - 1):
        for a in range(start[pair], start[pair + 1]):
            for b in range(start[pair], start[pair + 1]):
                out[position[a], position[b]] += min(shown[a], shown[b])
