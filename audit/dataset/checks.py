"""What the tables say about each other: leaks, unknown items, users on one side, impossible ages.

Table by table checks are made where tables are read; these need the codes.  None of them is an error.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from audit.compiled import kernel
from audit.dataset.facts import Facts, JudgedFacts, ListFacts
from audit.dataset.ids import Ids
from audit.dataset.model import Bool, Dataset, Items, Lists
from audit.dataset.scratch import release
from audit.dataset.stream.build import in_ranges
from audit.errors import DataIssue, Severity

FEWEST_USERS = 50
"""From here on, tables that share no user or item are an error."""

OUTSIDE, KNOWN, NEGATIVE, UNKNOWN, WITHOUT = range(5)


@kernel
def _count(  # type: ignore[no-untyped-def]
    start, items, user, time, kinds, created, newest, history_start, history, flags, counts
):  # fmt: skip
    """Count slots of each kind; ``flags[item]`` gets a bit for each kind that the item was met as.

    ``kinds[item]`` says what holds of an item in every list.  Ages are looked at where a list's time is
    unknown or before ``newest``, the newest creation.  Most items are ruled out as known to the user by a set
    of 1,024 bits.
    """
    known = len(history_start) > 1
    bits = np.zeros(16, np.uint64)
    for row in range(len(start) - 1):
        first = last = 0
        if known:
            first, last = history_start[user[row]], history_start[user[row] + 1]
            bits[:] = 0
            for place in range(first, last):
                bits[(history[place] >> 6) & 15] |= np.uint64(1) << np.uint64(history[place] & 63)
        aged = not time[row] >= newest
        for slot in range(start[row], start[row + 1]):
            item = items[slot]
            met = np.int64(kinds[item])
            if aged:
                age = time[row] - created[item]
                if age < 0:
                    met |= 1 << NEGATIVE
                elif np.isnan(age):
                    met |= 1 << UNKNOWN
            if known and (bits[(item >> 6) & 15] >> np.uint64(item & 63)) & np.uint64(1):
                low, high = first, last
                while low < high:
                    middle = (low + high) >> 1
                    if history[middle] < item:
                        low = middle + 1
                    else:
                        high = middle
                if low < last and history[low] == item:
                    met |= 1 << KNOWN
            if met:
                flags[item] |= met
                for kind in range(5):
                    counts[kind] += (met >> kind) & 1


def count_slots(
    lists: Lists, d: Dataset, threads: int | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Slots of each kind, and a bit for each kind that an item was met as, by item."""
    kinds = (~d.items.in_catalog).astype(np.uint8) << OUTSIDE
    newest = -np.inf  # no ages: every time is later
    if "created_at" in d.has:
        kinds |= np.isnan(d.items.created).astype(np.uint8) << UNKNOWN
        newest = float(np.nanmax(d.items.created))
    if "embedding" in d.has:
        kinds |= (d.items.inverse_norm == 0).astype(np.uint8) << WITHOUT
    time = lists.time if "created_at" in d.has else np.zeros(len(lists.time))
    none = np.zeros(1, np.int64), np.zeros(0, np.int32)
    history = none if d.history is None else (d.history.start, d.history.values)
    found: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]] = []

    def work(first: int, last: int) -> None:
        counts, flags = np.zeros(5, np.int64), np.zeros(len(d.items.ids), np.uint8)
        _count(
            lists.items.start[first : last + 1], lists.items.values, d.list_user[first:last],
            time[first:last], kinds, d.items.created, newest, *history, flags, counts,
        )  # fmt: skip
        found.append((counts, flags))

    in_ranges(lists.items.start, work, threads, lists.items.values)
    if d.history is not None:
        release(d.history.values)
    counts, flags = found[0]
    for more, others in found[1:]:
        counts, flags = counts + more, flags | others
    return counts, flags


def _some(ids: Ids, flagged: Bool) -> tuple[str, ...]:
    return tuple(ids.text(np.flatnonzero(flagged)[:5]))


def short_lists(name: str, short: int, lists: int, viewport: int) -> list[DataIssue]:
    """``short`` of the table's lists are shorter than the viewport."""
    if not short:
        return []
    return [
        DataIssue(
            check="short_lists", severity="warning" if short * 20 > lists else "info", table=name,
            column=None, count=short, total=lists,
            message=f"lists are shorter than the viewport of {viewport}",
            remedy="If people were shown more, the export is cut short; if not, the viewport is too long.",
        )
    ]  # fmt: skip


def check_lists(name: str, facts: ListFacts, ids: Ids, listed: int) -> Iterator[DataIssue]:
    """Recommendations against everything else.

    Parameters
    ----------
    name
        The table, as the user knows it.
    ids
        Of items.
    listed
        How many users have a list under any model.
    """
    if facts.absent:
        yield DataIssue(
            check="users_on_one_side", severity="warning", table=name, column="user_id",
            count=facts.absent, total=listed,
            message="users have lists under another model and none under this one: they count as 0 in "
            "relevance metrics and are absent from its exposure",
            remedy="Export both models for the same users.",
            users=tuple(str(user) for user in facts.absent_users),
        )  # fmt: skip
    for place, (check, severity, column, message, remedy) in enumerate(_SLOTS):
        if facts.kinds[place]:
            yield DataIssue(
                check=check, severity=severity, table=name, column=column, count=int(facts.kinds[place]),  # type: ignore[arg-type]
                total=facts.rows, message=message, remedy=remedy,
                examples=_some(ids, (facts.met >> place & 1).astype(bool)),
            )  # fmt: skip


def check_matches(facts: Facts, items: Items) -> Iterator[DataIssue]:
    """Whether the tables speak of the same users and items at all: ids written differently match nothing.

    Yields
    ------
    Errors (warnings with fewer than 50 users), where nothing matches and every number would be empty or 0
    under all models; and what of the history is lost.
    """
    same = (
        "Check that ids are written alike in all tables, and that the tables are of the same time."
    )
    # A handful of users may well share nothing; an audit's may not.
    severity: Severity = "error" if facts.users >= FEWEST_USERS else "warning"
    if all(lists.kinds[OUTSIDE] == lists.rows for lists in facts.lists.values()):
        yield DataIssue(
            check="catalog_unmatched", severity=severity, table="catalog", column="item_id",
            count=len(items.catalog), message="holds none of the recommended items", remedy=same,
        )  # fmt: skip
    if facts.judged is not None and not facts.judged.used:
        yield DataIssue(
            check="relevance_unmatched", severity=severity, table="relevance", column="user_id",
            count=facts.users, message="judges nothing for any user (or request) with a list", remedy=same,
        )  # fmt: skip
    if facts.history is None:
        return
    touched = items.popularity > 0
    if not any(lists.touched for lists in facts.lists.values()):
        yield DataIssue(
            check="history_unmatched", severity=severity, table="history", column="item_id",
            count=int(touched.sum()), message="holds none of the recommended items", remedy=same,
        )  # fmt: skip
    pairs = int(items.popularity.sum())
    outside = int(items.popularity[~items.in_catalog].sum())
    if outside:
        yield DataIssue(
            check="history_outside_catalog", severity="warning" if outside * 20 > pairs else "info",
            table="history", column="item_id", count=outside, total=pairs,
            message="users' items are not in the catalog: head and tail are those of the catalog's items",
            remedy="Take the catalog of the day on which the lists were made, or check the id format.",
            examples=_some(items.ids, touched & ~items.in_catalog),
        )  # fmt: skip
    if 2 * facts.without_history > facts.users:
        yield DataIssue(
            check="users_without_history", severity="warning" if facts.users >= FEWEST_USERS else "info",
            table="history", column="user_id", count=facts.without_history, total=facts.users,
            message="evaluated users have no history: nothing is known to them, and they have no profile",
            remedy="If they are new users, ignore this; if not, check that user ids are written alike.",
            users=tuple(str(user) for user in facts.without_history_users),
        )  # fmt: skip


def any_of(items: npt.NDArray[np.int32], of: Bool) -> bool:
    """Whether any of the items is one ``of``: in steps, since the first step nearly always tells."""
    step = 2**20
    return any(bool(of[items[at : at + step]].any()) for at in range(0, len(items), step))


_SLOTS = (
    ("items_outside_catalog", "warning", "item_id",
     "recommended items are not in the catalog: they are never counted in coverage or exposure",
     "Take the catalog of the day on which the lists were made, or check the id format."),
    ("recommended_from_history", "warning", "item_id",
     "recommended items are already in the user's history",
     "If the product does not repeat items, filter them before ranking; if it does, ignore this."),
    ("negative_ages", "warning", "shown_at",
     "items were shown before they were created: left out of age metrics",
     "Check the time zone and meaning of created_at and shown_at."),
    ("unknown_ages", "info", "item_id", "recommended items have no known age: left out of age metrics",
     "Give created_at for them in the catalog."),
    ("no_embedding", "info", "item_id",
     "recommended items have no embedding: left out of embedding metrics",
     "Give an embedding for them in the catalog."),
)  # fmt: skip


def check_relevance(facts: JudgedFacts, without_lists: int, ids: Ids) -> Iterator[DataIssue]:
    """Relevance against lists, catalog and history.

    Parameters
    ----------
    without_lists
        Users with relevant items and no list under any model.
    ids
        Of items.
    """
    if without_lists:
        yield DataIssue(
            check="relevance_without_lists", severity="info", table="relevance", column="user_id",
            count=without_lists,
            message="users with relevant items have no list under any model: left out",
            remedy="Choose conventions.users = 'all_relevant' to count them as 0.",
        )  # fmt: skip
    if facts.outside:
        yield DataIssue(
            check="relevance_outside_catalog", severity="warning", table="relevance", column="item_id",
            count=facts.outside, total=facts.rows,
            message="judged items are not in the catalog: no model could be expected to show them",
            remedy="Take the catalog of the day on which the lists were made, or check the id format.",
            examples=_some(ids, (facts.met & 1).astype(bool)),
        )  # fmt: skip
    if facts.leaked:
        yield DataIssue(
            check="relevance_in_history", severity="warning", table="relevance", column="item_id",
            count=facts.leaked, total=facts.rows,
            message="relevant pairs are also in the history that the models were trained on (a leak)",
            remedy="Split history and ground truth by time, and drop repeats from the ground truth.",
            examples=_some(ids, (facts.met & 2).astype(bool)),
        )  # fmt: skip
    if facts.older:
        yield DataIssue(
            check="relevance_older_than_history", severity="warning", table="relevance",
            column="judged_at", count=facts.older, total=facts.rows,
            message="judgments are older than the newest history of the same user (a leak from the future)",
            remedy="Split by time: all of a user's history before all of their ground truth.",
        )  # fmt: skip
