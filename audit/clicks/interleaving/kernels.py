"""The loops that make interleaved lists: one list after another, of any number of rankers.

``rankings`` is int32 ``[rankers, lists, depth]``, item codes, best first, −1 beyond the end.  ``u`` are uniform draws,
``[lists, draws]``: a list's draws are its own, so that lists do not depend on each other or on how the work was cut.
"""

from __future__ import annotations

from audit.compiled import kernel


@kernel
def _has(shown, upto, item):  # type: ignore[no-untyped-def]
    return item in shown[:upto]


@kernel
def _next(ranking, start, shown, upto):  # type: ignore[no-untyped-def]
    """The place of a ranking's first item from ``start`` on that is not shown yet; its length if none is left."""
    at = start
    while at < len(ranking) and ranking[at] >= 0 and _has(shown, upto, ranking[at]):
        at += 1
    return len(ranking) if at < len(ranking) and ranking[at] < 0 else at


@kernel
def team_draft(rankings, u, out, team):  # type: ignore[no-untyped-def]
    """In rounds: rankers in random order, each adds its best item that is not there yet."""
    rankers, lists, depth = rankings.shape
    length = out.shape[1]
    for row in range(lists):
        filled = 0
        drawn = 0
        while filled < length:
            left = 0
            for ranker in range(rankers):
                if _next(rankings[ranker, row], 0, out[row], filled) < depth:
                    left += 1
            if left == 0:
                break
            order = u[row, drawn : drawn + rankers].argsort()
            drawn += rankers
            for turn in range(rankers):
                if filled == length:
                    break
                ranker = order[turn]
                at = _next(rankings[ranker, row], 0, out[row], filled)
                if at < depth:
                    out[row, filled] = rankings[ranker, row, at]
                    team[row, filled] = ranker
                    filled += 1


@kernel
def balanced(rankings, u, out):  # type: ignore[no-untyped-def]
    """Two rankers by turns, one of them first throughout; an item that is there already uses up a turn."""
    lists, depth = rankings.shape[1], rankings.shape[2]
    length = out.shape[1]
    for row in range(lists):
        first = 0 if u[row, 0] < 0.5 else 1
        at = [0, 0]
        filled = 0
        while filled < length:
            turn = first if at[first] <= at[1 - first] else 1 - first
            if at[turn] >= depth or rankings[turn, row, at[turn]] < 0:
                turn = 1 - turn
                if at[turn] >= depth or rankings[turn, row, at[turn]] < 0:
                    break
            item = rankings[turn, row, at[turn]]
            at[turn] += 1
            if not _has(out[row], filled, item):
                out[row, filled] = item
                filled += 1


@kernel
def probabilistic(rankings, tau, u, out, share):  # type: ignore[no-untyped-def]
    """At each position a ranker at random, then an item of its softmax 1/rank^τ over what is left.

    ``share[list, position, ranker]``: the probability that this ranker gave the item, given the list.
    """
    rankers, lists, depth = rankings.shape
    length = out.shape[1]
    for row in range(lists):
        for filled in range(length):
            total = share[row, filled]
            able = 0
            for ranker in range(rankers):
                total[ranker] = 0.0
                for at in range(depth):
                    item = rankings[ranker, row, at]
                    if item >= 0 and not _has(out[row], filled, item):
                        total[ranker] += (at + 1.0) ** -tau
                if total[ranker] > 0:
                    able += 1
            if able == 0:
                break
            pick = int(u[row, 2 * filled] * able)
            chosen = -1
            for ranker in range(rankers):
                if total[ranker] > 0:
                    if pick == 0 and chosen < 0:
                        chosen = ranker
                    pick -= 1
            goal = u[row, 2 * filled + 1] * total[chosen]
            item = -1
            for at in range(depth):
                one = rankings[chosen, row, at]
                if one >= 0 and not _has(out[row], filled, one):
                    item = one
                    goal -= (at + 1.0) ** -tau
                    if goal <= 0:
                        break
            whole = 0.0
            for ranker in range(rankers):
                p = 0.0
                for at in range(depth):
                    if rankings[ranker, row, at] == item and total[ranker] > 0:
                        p = (at + 1.0) ** -tau / total[ranker]
                total[ranker] = p
                whole += p
            for ranker in range(rankers):
                total[ranker] /= whole
            out[row, filled] = item


@kernel
def ranks(rankings, out, found):  # type: ignore[no-untyped-def]
    """``found[ranker, list, position]``: the rank of what is shown, 0 where a ranker does not have it."""
    rankers, lists, depth = rankings.shape
    for ranker in range(rankers):
        for row in range(lists):
            for place in range(out.shape[1]):
                for at in range(depth):
                    if out[row, place] >= 0 and rankings[ranker, row, at] == out[row, place]:
                        found[ranker, row, place] = at + 1
