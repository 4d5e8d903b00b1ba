"""Compiled loops over lists: put each in its order, and prove that nothing is wrong with it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from audit.compiled import kernel
from audit.compiled import prefetch_value as prefetch
from audit.dataset.model import F64, I32, I64
from audit.dataset.stream.idtable import read_only

BY_RANK, BY_SCORE = 0, 1

AHEAD = 8
"""Lists between the one that is copied and the one that is fetched."""
LINE = 16
"""Values of 4 bytes in a line of the cache."""

FINE, UNSORTED, REPEATED_ITEM, BAD_SCORE, RANK_AGAINST_SCORE, BAD_RANKS = range(6)
REASONS = (
    "", "", "an item twice in a list", "scores that are not finite", "rank and score that disagree",
    "ranks that do not run 1, 2, 3 … (or, in all lists, 0, 1, 2 …)",
)  # fmt: skip


def settle(
    starts: I64, items: I32, mode: int, keys: F64, scores: F64, tied: npt.NDArray[np.uint8],
    *, strict: bool = True,
) -> tuple[int, int]:  # fmt: skip
    """Order the items of each list in place, and check them.

    Parameters
    ----------
    starts
        int64 ``[lists + 1]``: list ``l`` is ``items[starts[l] : starts[l + 1]]``.
    items
        int32 codes, distinct in each list.
    mode, keys
        :data:`BY_RANK`: ranks, which must be 1 … n (or 0 … n − 1 in every list), in any order of rows.
        :data:`BY_SCORE`: scores, finite; the highest first, equal ones in input order.
    scores
        Beside ranks: must not rise with them; empty where there are none.
    tied
        uint8, one a slot, zeros; set where a score equals that of the slot before.  May be empty by rank
        where there are no scores.
    strict
        Whether scores that rise with the rank are wrong.

    Returns
    -------
    tuple
        What is wrong (0: nothing; else an index of :data:`REASONS`); and the lowest rank, −1 without any.
    """
    keys = read_only(-keys if mode == BY_SCORE else keys)
    scores = read_only(scores)
    wrong, base = check(starts, items, mode == BY_RANK, keys, scores, tied, strict)
    if wrong == UNSORTED:
        rows = np.empty(len(items), np.int64)
        sort(starts, keys, rows)
        within = slice(starts[0], starts[-1])
        rows = rows[within]
        items[within] = items[rows]
        starts = starts - starts[0]
        keys = read_only(keys[rows])
        scores = read_only(scores[rows] if len(scores) else scores)
        wrong, base = check(
            starts, items[within], mode == BY_RANK, keys, scores, tied[within], strict
        )
        wrong = BAD_RANKS if wrong == UNSORTED else wrong
    return int(wrong), int(base)


@kernel
def check(starts, items, ranked, keys, scores, tied, strict):  # type: ignore[no-untyped-def]
    """What is wrong with lists as they stand: an index of :data:`REASONS`, and the lowest rank.

    Items are looked for twice in a hash set with more than twice as many places as a list has items; its
    entries carry the number of the list that made them, so that another's count as empty.
    """
    lists = len(starts) - 1
    longest = 0
    for row in range(lists):
        longest = max(longest, starts[row + 1] - starts[row])
    bits = 6
    while (1 << bits) < 2 * longest:
        bits += 1
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    seen = np.full(1 << bits, -1, np.int64)
    base = np.int64(-1)
    for row in range(lists):
        first, last = starts[row], starts[row + 1]
        if ranked:
            lowest = np.int64(keys[first])
            if lowest < 0 or lowest > 1:
                return UNSORTED, base
            if base >= 0 and lowest != base:
                return UNSORTED, base
            base = lowest
        for slot in range(first, last):
            entry = (row << 32) | np.int64(items[slot])
            place = np.int64((np.uint64(items[slot]) * np.uint64(0x9E3779B97F4A7C15)) >> shift)
            while seen[place] >> 32 == row:
                if seen[place] == entry:
                    return REPEATED_ITEM, base
                place = (place + 1) & mask
            seen[place] = entry
            key = keys[slot]
            if ranked:
                if key != slot - first + base:
                    return UNSORTED, base
                if len(scores):
                    if not np.isfinite(scores[slot]):
                        return BAD_SCORE, base
                    if strict and slot > first and scores[slot] > scores[slot - 1]:
                        return RANK_AGAINST_SCORE, base
                    tied[slot] = slot > first and scores[slot] == scores[slot - 1]
            else:
                if not np.isfinite(key):
                    return BAD_SCORE, base
                if slot > first:
                    if key < keys[slot - 1]:
                        return UNSORTED, base
                    tied[slot] = key == keys[slot - 1]
    return FINE, base


@kernel
def sort(starts, keys, rows):  # type: ignore[no-untyped-def]
    """The rows of each list by ascending key, equal ones in the order they have: insertion, then merges."""
    longest = 0
    for row in range(len(starts) - 1):
        longest = max(longest, starts[row + 1] - starts[row])
    merged = np.empty(longest, np.int64)
    for row in range(len(starts) - 1):
        first, last = starts[row], starts[row + 1]
        for slot in range(first, last):
            place = slot
            while (slot - place) < (slot - first) % 16 and keys[rows[place - 1]] > keys[slot]:
                rows[place] = rows[place - 1]
                place -= 1
            rows[place] = slot
        width = 16
        while width < last - first:
            for begin in range(first, last - width, 2 * width):
                middle, end = begin + width, min(begin + 2 * width, last)
                left, right = begin, middle
                for place in range(end - begin):
                    if right == end or (left < middle and keys[rows[left]] <= keys[rows[right]]):
                        merged[place] = rows[left]
                        left += 1
                    else:
                        merged[place] = rows[right]
                        right += 1
                for place in range(end - begin):
                    rows[begin + place] = merged[place]
            width *= 2


@kernel
def order_ties(tied, items, place_of):  # type: ignore[no-untyped-def]
    """Within each run of tied slots, put the items in ascending order of ``place_of[code]``.

    ``tied``: ascending int64, the slots whose score equals that of the slot before.
    """
    at = 0
    while at < len(tied):
        end = at + 1
        while end < len(tied) and tied[end] == tied[end - 1] + 1:
            end += 1
        first = tied[at] - 1
        for slot in range(first + 1, tied[end - 1] + 1):
            item = items[slot]
            place = slot
            while place > first and place_of[items[place - 1]] > place_of[item]:
                items[place] = items[place - 1]
                place -= 1
            items[place] = item
        at = end


@kernel
def gather(begin, start, source, codes, out):  # type: ignore[no-untyped-def]
    """Copy lists to their places: list ``l`` of ``out``, ``start[l] : start[l + 1]``, is read from
    ``source[begin[l]]`` on, each value replaced by its ``codes`` entry; as it is where ``codes`` is empty.

    Lists are short and lie anywhere: those to come are fetched meanwhile.
    """
    lists = len(start) - 1
    for row in range(lists):
        if row + AHEAD < lists:
            fetched = begin[row + AHEAD]
            end = fetched + start[row + AHEAD + 1] - start[row + AHEAD]
            while fetched < end:
                prefetch(source, np.uint64(fetched))
                fetched += LINE
        shift = begin[row] - start[row]
        if len(codes):
            for slot in range(start[row], start[row + 1]):
                out[slot] = codes[source[slot + shift]]
        else:
            for slot in range(start[row], start[row + 1]):
                out[slot] = source[slot + shift]
