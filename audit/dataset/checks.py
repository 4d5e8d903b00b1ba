"""What the tables say about each other: leaks, unknown items, users on one side, impossible ages.

Table by table checks are made where tables are read (:mod:`audit.inputs`); these need the codes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from audit.dataset.ids import Ids
from audit.dataset.lists import days
from audit.dataset.model import I32, I64, Bool, Dataset, Lists, Ragged, distinct_keys
from audit.errors import DataIssue
from audit.inputs.tables import Inputs


def cross_checks(
    inputs: Inputs, dataset: Dataset, names: Mapping[str, Sequence[str]]
) -> list[DataIssue]:
    """All checks between tables; none of them is an error.

    ``names`` holds, for each model, the names of its tables (one per seed) as the user knows them.
    """
    issues: list[DataIssue] = []
    listed = np.logical_or.reduce(
        [lists.user_present for seeds in dataset.models.values() for lists in seeds]
    )
    for model, seeds in dataset.models.items():
        for name, lists in zip(names[model], seeds, strict=True):
            issues += _lists_against_rest(name, lists, dataset, listed)
    if inputs.relevance is not None:
        issues += _relevance_against_rest(inputs, dataset)
    return issues


def _keys(rows: I32 | I64, items: I32) -> I64:
    return (rows.astype(np.int64) << 32) | items.astype(np.int64)


def _in(ragged: Ragged, rows: I32 | I64, items: I32) -> Bool:
    """Whether each (row, item) pair is in the ragged rows, whose items ascend."""
    known = _keys(np.repeat(np.arange(len(ragged)), ragged.lengths), ragged.values)
    return _among(known, _keys(rows, items))


def _among(known: I64, wanted: I64) -> Bool:
    """Whether each wanted key is among the known ones, which ascend."""
    if not len(known):
        return np.zeros(len(wanted), bool)
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.asarray(known[place] == wanted)


def _some(ids: Ids, codes: I32 | I64) -> tuple[str, ...]:
    return tuple(ids.text(np.unique(codes)[:5]))


def _lists_against_rest(name: str, lists: Lists, d: Dataset, listed: Bool) -> Iterator[DataIssue]:
    item = lists.items.values
    list_of_slot = np.repeat(np.arange(len(lists.items)), lists.items.lengths)
    slots = len(item)
    absent = listed & ~lists.user_present
    if absent.any():
        yield DataIssue(
            check="users_on_one_side", severity="warning", table=name, column="user_id",
            count=int(absent.sum()), total=int(listed.sum()),
            message="users have lists under another model and none under this one: they count as 0 in "
            "relevance metrics and are absent from its exposure",
            remedy="Export both models for the same users.",
            users=tuple(d.users.text(np.flatnonzero(absent)[:3])),
        )  # fmt: skip
    outside = ~d.items.in_catalog[item]
    if outside.any():
        yield DataIssue(
            check="items_outside_catalog", severity="warning", table=name, column="item_id",
            count=int(outside.sum()), total=slots,
            message="recommended items are not in the catalog: they are never counted in coverage or exposure",
            remedy="Take the catalog of the day on which the lists were made, or check the id format.",
            examples=_some(d.items.ids, item[outside]),
        )  # fmt: skip
    if d.history is not None:
        known = _in(d.history, d.list_user[list_of_slot], item)
        if known.any():
            yield DataIssue(
                check="recommended_from_history", severity="warning", table=name, column="item_id",
                count=int(known.sum()), total=slots,
                message="recommended items are already in the user's history",
                remedy="If the product does not repeat items, filter them before ranking; if it does, ignore this.",
                examples=_some(d.items.ids, item[known]),
            )  # fmt: skip
    age = lists.time[list_of_slot] - d.items.created[item]
    negative = age < 0
    if "created_at" in d.has and negative.any():
        yield DataIssue(
            check="negative_ages", severity="warning", table=name, column="shown_at",
            count=int(negative.sum()), total=slots,
            message="items were shown before they were created: left out of age metrics",
            remedy="Check the time zone and meaning of created_at and shown_at.",
            examples=_some(d.items.ids, item[negative]),
        )  # fmt: skip
    if "created_at" in d.has and np.isnan(age).any():
        unknown = np.isnan(age)
        yield DataIssue(
            check="unknown_ages", severity="info", table=name, column="item_id",
            count=int(unknown.sum()), total=slots,
            message="recommended items have no known age: left out of age metrics",
            remedy="Give created_at for them in the catalog.",
            examples=_some(d.items.ids, item[unknown]),
        )  # fmt: skip
    if "embedding" in d.has and (d.items.inverse_norm[item] == 0).any():
        missing = d.items.inverse_norm[item] == 0
        yield DataIssue(
            check="no_embedding", severity="info", table=name, column="item_id",
            count=int(missing.sum()), total=slots,
            message="recommended items have no embedding: left out of embedding metrics",
            remedy="Give an embedding for them in the catalog.",
            examples=_some(d.items.ids, item[missing]),
        )  # fmt: skip


def _relevance_against_rest(inputs: Inputs, d: Dataset) -> Iterator[DataIssue]:
    table = inputs.relevance
    assert table is not None
    item = d.items.ids.codes(table["item_id"])
    if d.users_without_lists:
        yield DataIssue(
            check="relevance_without_lists", severity="info", table="relevance", column="user_id",
            count=d.users_without_lists,
            message="users with relevant items have no list under any model: left out",
            remedy="Choose conventions.users = 'all_relevant' to count them as 0.",
        )  # fmt: skip
    outside = ~d.items.in_catalog[item]
    if outside.any():
        yield DataIssue(
            check="relevance_outside_catalog", severity="warning", table="relevance", column="item_id",
            count=int(outside.sum()), total=len(table),
            message="judged items are not in the catalog: no model could be expected to show them",
            remedy="Take the catalog of the day on which the lists were made, or check the id format.",
            examples=_some(d.items.ids, item[outside]),
        )  # fmt: skip
    if inputs.history is None:
        return
    everyone = Ids.of([inputs.history["user_id"]])
    h_user = everyone.codes(inputs.history["user_id"]).astype(np.int64)
    h_item = d.items.ids.codes(inputs.history["item_id"])
    r_user = everyone.codes(table["user_id"])
    positive = (table["grade"].to_numpy() > 0) & (r_user >= 0)
    known = distinct_keys(_keys(h_user, h_item))
    leaked = positive & _among(known, _keys(r_user.astype(np.int64), item))
    if leaked.any():
        yield DataIssue(
            check="relevance_in_history", severity="warning", table="relevance", column="item_id",
            count=int(leaked.sum()), total=len(table),
            message="relevant pairs are also in the history that the models were trained on (a leak)",
            remedy="Split history and ground truth by time, and drop repeats from the ground truth.",
            examples=_some(d.items.ids, item[leaked]),
        )  # fmt: skip
    if "judged_at" in table.column_names and "timestamp" in inputs.history.column_names:
        yield from _older(table, inputs.history, everyone, h_user, r_user)


def _older(
    relevance: pa.Table, history: pa.Table, everyone: Ids, h_user: I64, r_user: I32
) -> Iterator[DataIssue]:
    judged, seen = days(relevance["judged_at"]), days(history["timestamp"])
    assert judged is not None
    assert seen is not None
    newest = np.full(len(everyone) + 1, -np.inf)  # the last entry answers for code −1
    np.fmax.at(newest, h_user, seen)
    newest[-1] = -np.inf
    older = judged < newest[r_user]
    if older.any():
        yield DataIssue(
            check="relevance_older_than_history", severity="warning", table="relevance",
            column="judged_at", count=int(older.sum()), total=len(relevance),
            message="judgments are older than the newest history of the same user (a leak from the future)",
            remedy="Split by time: all of a user's history before all of their ground truth.",
        )  # fmt: skip
