"""Checks of recommendation lists: each item once, ranks 1, 2, 3 …, scores finite and in order."""

from __future__ import annotations

import numpy as np

from audit.inputs.keys import ROOM, Key, repeats
from audit.inputs.log import Scope

MAX_RANK = 2**31 - 1


def check_scores(scores: np.ndarray, scope: Scope) -> None:
    """Scores are numbers and finite (error)."""
    missing, infinite = np.isnan(scores), np.isinf(scores)
    if missing.any():
        scope.report(
            "error", "scores_nan", "score", "scores are missing or NaN",
            "Give every recommended item a score, or a rank.", at=missing,
        )  # fmt: skip
    if infinite.any():
        scope.report(
            "error", "scores_infinite", "score", "scores are infinite",
            "Give finite scores; leave items out that must not be shown.", at=infinite, examples=scores,
        )  # fmt: skip


def check_rank_values(ranks: np.ndarray, scope: Scope) -> None:
    """Ranks are whole numbers from 0 up (error)."""
    missing = np.isnan(ranks)
    odd = ~missing & ((ranks != np.floor(ranks)) | (ranks < 0) | (ranks > MAX_RANK))
    if missing.any():
        scope.report(
            "error", "ranks_missing", "rank", "ranks are missing",
            "Give every recommended item a rank, the best 1.", at=missing,
        )  # fmt: skip
    if odd.any():
        scope.report(
            "error", "ranks_not_whole", "rank", "ranks are negative, fractions or too large",
            "Ranks are 1, 2, 3 …; if these are scores, map them as score.", at=odd, examples=ranks,
        )  # fmt: skip


def duplicate_items(
    lists: Key, items: Key, best: np.ndarray | None, keep_first: bool, scope: Scope
) -> np.ndarray | None:
    """An item twice in one list: an error, or a warning and only its best place kept.

    Parameters
    ----------
    lists, items
        Of each row.
    best
        Rank, or negative score: the smaller the better; the order of the rows where absent.
    keep_first, scope
        ``conventions.duplicates``, and the table.

    Returns
    -------
    ndarray or None
        bool mask of the rows to keep; ``None`` for all.
    """
    later = repeats(lists & items, best)
    if not len(later):
        return None
    scope.report(
        "warning" if keep_first else "error", "duplicate_items", "item_id",
        "items stand in the same list more than once"
        + ("; the best place of each was kept" if keep_first else ""),
        "Remove the repeats"
        + (", which shorten the list." if keep_first else ', or set [conventions] duplicates = "keep_first".'),
        at=later,
    )  # fmt: skip
    if not keep_first:
        return None
    kept = np.ones(len(lists.codes), dtype=bool)
    kept[later] = False
    return kept


def settle_ranks(
    lists: Key, ranks: np.ndarray, quiet: bool, scope: Scope
) -> tuple[np.ndarray, np.ndarray]:
    """Check that the ranks of each list run 1, 2, 3 …, and mend what can be mended.

    Repeated ranks, and files where only some lists start at 0, are errors.  Where every list starts at
    0, 1 is added; gaps are closed in order; both are warnings.

    Parameters
    ----------
    lists
        The list of each row.
    ranks
        int64, from 0.
    quiet
        Gaps are of our own making (duplicates were removed): close them without a word.
    scope
        The table.

    Returns
    -------
    tuple of ndarray
        int32 ranks, from 1 without gaps unless an error was found; and the rows list by list, each by
        rank.
    """
    size = int(ranks.max()) + 1
    if lists.size > ROOM // size:
        lists = lists.dense()
    codes = lists.codes * size + ranks
    order = None if (codes[1:] > codes[:-1]).all() else np.argsort(codes, kind="stable")
    ordered = codes if order is None else codes[order]
    of_list, rank = np.divmod(ordered, size)
    starts = np.append(True, of_list[1:] != of_list[:-1])
    step = np.diff(rank, prepend=rank[:1])
    rows = np.arange(len(codes)) if order is None else order

    repeated = ~starts & (step == 0)
    if repeated.any():
        scope.report(
            "error", "rank_repeats", "rank", "ranks stand in the same list more than once",
            "Give each place of a list one item; lists of several requests need request_id.",
            at=rows[repeated], examples=ranks,
        )  # fmt: skip
    base = rank[starts].min()
    if base == 0:
        some = starts & (rank != 0)
        if some.any():
            scope.report(
                "error", "ranks_from_zero", "rank", "some lists start at rank 0, these do not",
                "Count ranks from 1 in every list.", at=rows[some], count=int(some.sum()),
                total=int(starts.sum()),
            )  # fmt: skip
            return ranks.astype(np.int32), rows
        scope.report(
            "warning", "ranks_from_zero", "rank", "ranks start at 0; 1 was added to each",
            "Count ranks from 1.",
        )  # fmt: skip
        rank = rank + 1
    if repeated.any():
        return ranks.astype(np.int32), rows
    gaps = np.where(starts, rank > 1, step > 1)
    settled = rank
    if gaps.any():
        begins = np.flatnonzero(starts)
        settled = (
            np.arange(len(rank)) - np.repeat(begins, np.diff(np.append(begins, len(rank)))) + 1
        )
        if not quiet:
            number = np.cumsum(starts)
            scope.report(
                "warning", "rank_gaps", "rank", "lists have gaps in their ranks, which were closed",
                "If items were filtered out, say so beside the result; else complete the lists.",
                at=rows[gaps], count=len(np.unique(number[gaps])), total=int(starts.sum()),
            )  # fmt: skip
    result = np.empty(len(ranks), dtype=np.int32)
    result[rows] = settled
    return result, rows


def rank_against_score(lists: Key, order: np.ndarray, scores: np.ndarray, scope: Scope) -> None:
    """Rank and score give one order, or there is a warning: the rank counts.

    Parameters
    ----------
    lists, scores
        Of each row.
    order
        The rows list by list, each by rank.
    scope
        The table.
    """
    code, score = lists.codes[order], scores[order]
    same = code[1:] == code[:-1]
    rises = np.append(False, same & (score[1:] > score[:-1]))
    if rises.any():
        scope.report(
            "warning", "rank_against_score", "rank", "lists are ordered otherwise by score than by rank",
            "The rank counts; remove the rank column if the score should.", at=order[rises],
            count=len(np.unique(code[rises])), total=int((~same).sum()) + 1,
        )  # fmt: skip
