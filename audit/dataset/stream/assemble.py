"""From what was read to a :class:`~audit.dataset.model.Dataset`: final codes, one order, all checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audit.dataset import checks, hashing
from audit.dataset.embed import make_embeddings
from audit.dataset.ids import Ids
from audit.dataset.items import build_items
from audit.dataset.lists import DAY_US, ListIndex, as_days, index_lists
from audit.dataset.model import F64, I32, I64, Bool, Dataset, Lists, Truth
from audit.dataset.reasons import NEEDS, has_column, reasons_against
from audit.dataset.segments import segment_cells
from audit.dataset.stream import build, marks
from audit.dataset.stream.how import How
from audit.dataset.stream.idtable import IdTable
from audit.dataset.stream.lists import EncodedLists, Universe
from audit.dataset.stream.pairs import EncodedPairs
from audit.errors import DataIssue, InputError
from audit.inputs.load import model_tables
from audit.inputs.tables import Inputs
from audit.inputs.times import NONE


@dataclass(frozen=True, eq=False)
class Read:
    """All tables, read; the big ones as codes of ``universe``."""

    inputs: Inputs
    universe: Universe
    models: Mapping[str, list[EncodedLists]]
    relevance: build.Judged | None
    history: build.Groups | None
    facts: Mapping[str, EncodedPairs]
    """``relevance`` and ``history``: what is left of them beside the groups."""
    fingerprints: Mapping[str, str]
    """Of the small tables."""


@dataclass(frozen=True, eq=False)
class _Kind:
    """Ids of one kind in their order, and code as read → final code (−1: left out)."""

    ids: Ids
    final: I32
    same: bool
    """Final codes are the codes as read."""
    hashes: npt.NDArray[np.uint64]
    """By final code, and 0 for code −1."""


def _kind(table: IdTable, kept: Bool | None = None) -> _Kind:
    values = table.values
    codes = np.arange(len(table)) if kept is None else np.flatnonzero(kept)
    chosen = values if len(codes) == len(values) else values.take(codes)
    order = sort_indices(chosen)
    final = np.full(len(table), -1, np.int32)
    if order is None:
        final[codes] = np.arange(len(codes), dtype=np.int32)
    else:
        codes, chosen = codes[order], chosen.take(order)
        final[codes] = np.arange(len(codes), dtype=np.int32)
    same = order is None and len(codes) == len(values)
    hashes = np.append(table.hashes(codes.astype(np.int32)), np.uint64(0))
    return _Kind(Ids(chosen), final, same, hashes)


def sort_indices(values: pa.Array) -> I64 | None:
    """The order of distinct ids: integers by value, text by code point; ``None`` if they are in it."""
    if len(values) < 2 or pc.all(pc.less(values[:-1], values[1:])).as_py():
        return None
    return np.asarray(pc.array_sort_indices(values).to_numpy(), np.int64)


def assemble(read: Read, how: How) -> tuple[Dataset, list[DataIssue]]:
    """The data set, and what the tables say about each other.

    Raises
    ------
    InputError
        What a convention was set to refuse.
    """
    inputs, u, conventions = read.inputs, read.universe, how.conventions
    items, sessions = _kind(u.items), _kind(u.sessions)
    listed, asked = np.zeros(len(u.users), bool), np.zeros(len(u.requests), bool)
    for seeds in read.models.values():
        for seed in seeds:
            listed[seed.user] = True
            if seed.request is not None:
                asked[seed.request] = True
    requests = _kind(u.requests, asked)
    relevant = np.zeros(len(u.users), bool)
    judged = read.relevance
    if judged is not None:
        relevant[judged.user[judged.relevant > 0]] = True
    everyone = conventions.users == "all_relevant"
    users = _kind(u.users, listed | relevant if everyone else listed)
    names = {model: model_tables(model, len(seeds)) for model, seeds in read.models.items()}

    # Lists.
    rows = {
        model: [_keys(seed, users, requests) for seed in seeds]
        for model, seeds in read.models.items()
    }
    n_users = len(users.ids)
    index = index_lists([r for seeds in rows.values() for r in seeds], n_users)
    newest = None
    if "history" in read.facts and (when := read.facts["history"].newest_of_all) != NONE:
        newest = when / DAY_US
    fallback = as_days(how.as_of) if how.as_of is not None else newest
    places = build.tie_order(items.ids.values, conventions.ties)
    models: dict[str, list[Lists]] = {}
    fingerprints: dict[str, tuple[int, str]] = {}
    issues: list[DataIssue] = []
    for model, seeds in read.models.items():
        models[model] = []
        for name, seed, keys in zip(names[model], seeds, rows[model], strict=True):
            lists, place = _lists(
                seed, keys, index, n_users, items, places, sessions, fallback, how.threads
            )
            models[model].append(lists)
            fingerprints[name] = (
                seed.rows,
                _fingerprint(
                    seed, place, lists, index, (users, items, requests, sessions), how.threads
                ),
            )
            short = int((lists.items.lengths[lists.present] < how.viewport).sum())
            issues += checks.short_lists(name, short, int(lists.present.sum()), how.viewport)

    # History, catalog, truth.
    groups, history = read.history, None
    popularity, history_users = np.zeros(len(items.ids), np.int64), 0
    if groups is not None:
        history_users = len(groups.user)
        if not items.same:
            groups = build.recode_history(groups, items.final, how.threads)
        popularity[: len(groups.popularity)] = groups.popularity
        history = build.arrange(
            groups.start, groups.items, _places(users.final[groups.user], n_users), how.threads
        )
    made = None
    source = "given" if has_column(inputs.catalog, "embedding") else None
    if inputs.catalog is not None and source is None:
        made = make_embeddings(inputs.catalog)
        source = made[1] if made else None
    catalog_items, ties = build_items(
        items.ids, inputs.catalog, inputs.creators, popularity, history_users, conventions,
        made[0] if made else None,
    )  # fmt: skip
    truth, list_context = None, np.full(len(index.user), -1, np.int32)
    if judged is not None:
        if not items.same:
            judged = build.recode_judged(judged, items.final, how.threads)
        truth, list_context = _truth(judged, users, requests, index, how.threads)
    reasons = reasons_against(inputs, bool(catalog_items.inverse_norm.any()), models, source)
    cells, cell_issues = segment_cells(inputs.users, users.ids, how.segments)
    for kind in ("relevance", "catalog", "creators", "history", "users"):
        if kind in read.facts:
            facts = read.facts[kind]
            fingerprints[kind] = facts.rows, marks.text(facts.marks)
        elif getattr(inputs, kind) is not None:
            fingerprints[kind] = len(getattr(inputs, kind)), read.fingerprints[kind]
    dataset = Dataset(
        users=users.ids, user_lists=index.user_lists, list_user=index.user,
        list_request=index.request, requests=requests.ids, list_context=list_context,
        items=catalog_items, models=models, truth=truth, history=history, history_users=history_users,
        conventions=conventions, as_of=fallback, segments=cells,
        has=frozenset(NEEDS) - frozenset(reasons), reasons=reasons, embedding_source=source,
        users_without_lists=int((relevant & (users.final < 0)).sum()), head_border_ties=ties,
        fingerprints=fingerprints,
    )  # fmt: skip
    issues += cell_issues
    issues += _checks(read, dataset, judged, groups, names, how.threads)
    return dataset, issues


def _keys(seed: EncodedLists, users: _Kind, requests: _Kind) -> tuple[I32, I32]:
    """The user and the request (−1: none) of each list."""
    request = np.full(len(seed.user), -1, np.int32)
    if seed.request is not None:
        request = requests.final[seed.request]
    return users.final[seed.user], request


def _places(of: npt.NDArray[np.integer], n: int) -> I64:
    """The inverse: which entry of ``of`` is r, −1 where none is."""
    places = np.full(n + 1, -1, np.int64)
    places[of] = np.arange(len(of))  # those of −1 go to the last place
    return places[:n]


def _lists(
    seed: EncodedLists, keys: tuple[I32, I32], index: ListIndex, n_users: int, items: _Kind, places: I32,
    sessions: _Kind, fallback: float | None, threads: int | None,
) -> tuple[Lists, I64]:  # fmt: skip
    """The lists on the shared index, and which list of the table each is (−1: none)."""
    build.settle_items(seed, None if items.same else items.final, places, threads)
    place = _places(index.find(*keys), len(index.user))
    present: Bool = place >= 0
    user_present = np.zeros(n_users, bool)
    user_present[keys[0]] = True
    time = _times(seed, place)
    if fallback is not None:
        time = np.where(np.isnan(time), fallback, time)
    session = None
    if seed.session is not None:
        session = np.where(present, sessions.final[seed.session][place], -1).astype(np.int32)
    ragged = build.arrange(seed.start, seed.items, place, threads)
    seed.forget_items()
    return Lists(ragged, present, user_present, time, session), place


def _times(seed: EncodedLists, place: I64) -> F64:
    """Days since 1970 of each list of the index, NaN where unknown."""
    time = np.full(len(place), np.nan)
    if seed.micros is not None:
        known = (place >= 0) & (seed.micros[place] != NONE)
        time[known] = seed.micros[place[known]] / DAY_US
    return time


def _fingerprint(
    seed: EncodedLists, place: I64, lists: Lists, index: ListIndex, kinds: tuple[_Kind, ...],
    threads: int | None,
) -> str:  # fmt: skip
    users, items, requests, sessions = kinds
    columns = {
        "user_id": users.hashes[index.user], "request_id": requests.hashes[index.request]
    }  # fmt: skip
    if seed.micros is not None:
        columns["shown_at"] = hashing.hash_values(pa.array(_times(seed, place)))
    if lists.session is not None:
        columns["session_id"] = sessions.hashes[lists.session]
    found: list[marks.Marks] = []

    def work(a: int, b: int) -> None:
        some = {name: values[a:b] for name, values in columns.items()}
        start = lists.items.start[a : b + 1]
        found.append(marks.list_marks(start, lists.items.values, items.hashes, some))

    build.in_ranges(lists.items.start, work, threads, lists.items.values)
    return marks.text(marks.add(found))


def _truth(
    judged: build.Judged, users: _Kind, requests: _Kind, index: ListIndex, threads: int | None
) -> tuple[Truth, I32]:  # fmt: skip
    """The truth, and each list's row in it (−1: none)."""
    user = users.final[judged.user]
    if judged.request is not None:
        of = index.find(user, requests.final[judged.request])
        row = np.arange(len(index.user), dtype=np.int32)
        n = len(index.user)
    else:
        of, row, n = user.astype(np.int64), index.user, len(users.ids)
    truth = build.build_truth(judged, _places(of, n), threads)
    empty = truth.items.lengths == 0
    return truth, np.where(empty[row], -1, row).astype(np.int32)


def _checks(
    read: Read, d: Dataset, judged: build.Judged | None, groups: build.Groups | None,
    names: Mapping[str, list[str]], threads: int | None,
) -> list[DataIssue]:  # fmt: skip
    issues = list(checks.check_matches(d, judged is not None))
    errors = [issue for issue in issues if issue.severity == "error"]
    if errors:
        raise InputError(errors)
    listed = np.logical_or.reduce([s.user_present for seeds in d.models.values() for s in seeds])
    for model, seeds in d.models.items():
        for name, lists in zip(names[model], seeds, strict=True):
            issues += checks.check_lists(name, lists, d, listed, threads)
    if judged is not None:
        facts = read.facts["relevance"]
        outside = ~d.items.in_catalog[judged.items]
        leaked = np.zeros(len(judged.items), bool)
        if groups is not None:
            leaked = build.contained(judged, groups, len(read.universe.users)) & (judged.grades > 0)
        issues += checks.check_relevance(
            d, facts.rows, int(outside.sum()), _flagged(judged.items[outside], d),
            int(leaked.sum()), _flagged(judged.items[leaked], d), facts.older,
        )  # fmt: skip
    return issues


def _flagged(items: I32, d: Dataset) -> Bool:
    flags = np.zeros(len(d.items.ids), bool)
    flags[items] = True
    return flags
