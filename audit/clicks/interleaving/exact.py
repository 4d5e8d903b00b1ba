"""Every list that a method can make of two short rankings, with its exact probability.

For small cases: tests, teaching, and the optimised method, which chooses the probabilities.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

T = TypeVar("T")
Lists = dict[tuple[T, ...], Fraction]
HALF = Fraction(1, 2)


def team_draft_lists(
    a: Sequence[T], b: Sequence[T], length: int
) -> dict[tuple[tuple[T, ...], str], Fraction]:
    """Lists with their teams, such as ``("a", "b", "d", "c"), "ABBA"`` (Radlinski, Kurup & Joachims, CIKM 2008)."""
    out: dict[tuple[tuple[T, ...], str], Fraction] = defaultdict(Fraction)

    def go(shown: tuple[T, ...], teams: str, p: Fraction) -> None:
        fresh = [[x for x in ranking if x not in shown] for ranking in (a, b)]
        if len(shown) == length or not any(fresh):
            out[shown, teams] += p
            return
        # Within a round the other ranker follows; a ranker with nothing left passes.
        behind = teams.count("A") - teams.count("B") if len(teams) % 2 else 0
        turns = [1] if behind > 0 else [0] if behind < 0 else [0, 1]
        for turn in turns:
            of = turn if fresh[turn] else 1 - turn
            go((*shown, fresh[of][0]), teams + "AB"[of], p / len(turns))

    go((), "", Fraction(1))
    return dict(out)


def balanced_lists(a: Sequence[T], b: Sequence[T], length: int) -> Lists[T]:
    """Each of the two starts, with probability ½ (Joachims, 2002)."""
    out: Lists[T] = defaultdict(Fraction)
    for first in (0, 1):
        at = [0, 0]
        shown: list[T] = []
        rankings = (a, b)
        while len(shown) < length and (at[0] < len(a) or at[1] < len(b)):
            turn = first if at[first] <= at[1 - first] else 1 - first
            if at[turn] >= len(rankings[turn]):
                turn = 1 - turn
            item = rankings[turn][at[turn]]
            at[turn] += 1
            if item not in shown:
                shown.append(item)
        out[tuple(shown)] += HALF
    return dict(out)


def softmax_share(ranking: Sequence[T], shown: Sequence[T], item: T, tau: int = 3) -> Fraction:
    """The probability that a ranker draws ``item`` next: 1/rank^τ over what is not shown yet."""
    total = sum((Fraction(1, r**tau) for r, x in enumerate(ranking, 1) if x not in shown), Fraction(0))  # fmt: skip
    return Fraction(1, (ranking.index(item) + 1) ** tau) / total if item in ranking else Fraction(0)


def probabilistic_lists(a: Sequence[T], b: Sequence[T], length: int, tau: int = 3) -> Lists[T]:
    """Hofmann, Whiteson & de Rijke, CIKM 2011: at each position a ranker at random, then its softmax."""
    out: Lists[T] = defaultdict(Fraction)
    union = list(dict.fromkeys((*a, *b)))

    def go(shown: tuple[T, ...], p: Fraction) -> None:
        able = [ranking for ranking in (a, b) if any(x not in shown for x in ranking)]
        if len(shown) == length or not able:
            out[shown] += p
            return
        for item in union:
            if item not in shown:
                share = sum((softmax_share(r, shown, item, tau) for r in able), Fraction(0))
                if share:
                    go((*shown, item), p * share / len(able))

    go((), Fraction(1))
    return dict(out)


def probabilistic_outcome(
    a: Sequence[T], b: Sequence[T], shown: Sequence[T], clicked: Sequence[int], tau: int = 3
) -> tuple[Fraction, Fraction, Fraction]:
    """P(A has more clicks), P(B has), P(as many), over who gave each item, given the list; ``clicked`` from 0."""
    shares = []
    for at in clicked:
        one, other = (softmax_share(r, shown[:at], shown[at], tau) for r in (a, b))
        shares.append(one / (one + other))
    spread = {0: Fraction(1)}
    for share in shares:
        after: dict[int, Fraction] = defaultdict(Fraction)
        for lead, p in spread.items():
            after[lead + 1] += p * share
            after[lead - 1] += p * (1 - share)
        spread = dict(after)
    wins = sum((p for lead, p in spread.items() if lead > 0), Fraction(0))
    losses = sum((p for lead, p in spread.items() if lead < 0), Fraction(0))
    return wins, losses, 1 - wins - losses


def allowed_lists(a: Sequence[T], b: Sequence[T], length: int) -> list[tuple[T, ...]]:
    """Lists of which every position holds the best item left of A or of B (Radlinski & Craswell, WSDM 2013)."""
    found: dict[tuple[T, ...], None] = {}

    def go(shown: tuple[T, ...]) -> None:
        heads = dict.fromkeys(x for r in (a, b) for x in [y for y in r if y not in shown][:1])
        if len(shown) == length or not heads:
            found[shown] = None
            return
        for item in heads:
            go((*shown, item))

    go(())
    return list(found)


def click_outcomes(
    length: int, click: Callable[[int], float]
) -> list[tuple[tuple[int, ...], float]]:
    """Every set of clicked positions (from 0) with its probability, positions being independent."""
    out = []
    for clicked in itertools.product((0, 1), repeat=length):
        p = 1.0
        for at, one in enumerate(clicked):
            p *= click(at) if one else 1 - click(at)
        out.append((tuple(i for i, one in enumerate(clicked) if one), p))
    return out
