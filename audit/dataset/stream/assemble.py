"""From what was read to a :class:`~audit.dataset.model.Dataset`: final codes, one order, all checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audit.dataset import checks, hashing, pools, segments
from audit.dataset.creator_groups import (
    CreatorGroups,
    group_creators,
    why_no_groups,
    with_relevance,
)
from audit.dataset.eligible import read_eligible
from audit.dataset.embed import make_embeddings
from audit.dataset.facts import FEW, Facts, JudgedFacts, ListFacts, PoolFacts
from audit.dataset.ids import Ids
from audit.dataset.items import build_items
from audit.dataset.lists import DAY_US, ListIndex, as_days, index_lists
from audit.dataset.model import F64, I32, I64, Bool, Dataset, Items, Lists, Ties, Truth
from audit.dataset.reasons import NEEDS, has_column, reasons_against
from audit.dataset.stream import build, marks, wording
from audit.dataset.stream.how import How
from audit.dataset.stream.idtable import IdTable
from audit.dataset.stream.lists import EncodedLists, Universe
from audit.dataset.stream.pairs import EncodedPairs
from audit.errors import DataIssue
from audit.inputs.load import model_tables, pool_table
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
    pools: Mapping[str, EncodedLists] = field(default_factory=dict)
    """By model."""


@dataclass(frozen=True, eq=False)
class Kind:
    """Ids of one kind in their order, and code as read → final code (−1: left out)."""

    ids: Ids
    final: I32
    same: bool
    """Final codes are the codes as read."""
    hashes: npt.NDArray[np.uint64]
    """By final code, and 0 for code −1."""


def kind_of(table: IdTable, kept: Bool | None = None) -> Kind:
    """The ids of a table (those ``kept``, by code as read) in their order."""
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
    return Kind(Ids(chosen), final, same, hashes)


def sort_indices(values: pa.Array) -> I64 | None:
    """The order of distinct ids: integers by value, text by code point; ``None`` if they are in it."""
    if len(values) < 2 or pc.all(pc.less(values[:-1], values[1:])).as_py():
        return None
    return np.asarray(pc.array_sort_indices(values).to_numpy(), np.int64)


@dataclass(frozen=True, eq=False)
class Who:
    """The evaluated users, their requests, and the index that lists of all models share."""

    users: Kind
    requests: Kind
    keys: Mapping[str, list[tuple[I32, I32]]]
    """By model and seed: the user and the request (−1: none) of each list."""
    index: ListIndex
    pools: Mapping[str, I64]
    """By model with pools: the row of the table that is each list's pool, −1 where none is."""
    listed: Bool
    """``[users]``, by final code: who has a list under any model."""
    without_lists: int
    """Users with relevant items who are not evaluated."""


@dataclass(frozen=True, eq=False)
class World:
    """What is the same for all users: items, and what the tables as a whole allow."""

    items: Items
    history_users: int
    as_of: float | None
    """Day from which ages count where lists carry no time, and at which freshness is judged."""
    cells: Mapping[str, segments.CellNames]
    """Attribute → cell names in order."""
    has: frozenset[str]
    reasons: Mapping[str, str]
    embedding_source: str | None
    head_border_ties: int
    creator_groups: CreatorGroups
    """Without shares of relevance."""
    group_issues: Sequence[DataIssue]
    top_grade: int
    """Of the whole relevance table; 0 without one."""


def assemble(read: Read, how: How) -> tuple[Dataset, list[DataIssue]]:
    """The data set, and what the tables say about each other.

    Raises
    ------
    InputError
        What a convention was set to refuse.
    """
    inputs = read.inputs
    items = kind_of(read.universe.items)
    who = find_users(read, all_relevant=how.conventions.users == "all_relevant")
    n = len(who.users.ids)
    popularity, history_users = np.zeros(len(items.ids), np.int64), 0
    if read.history is not None:
        history_users = len(read.history.user)
        popularity[items.final[: len(read.history.popularity)]] = read.history.popularity
    newest = read.facts["history"].newest_of_all if "history" in read.facts else NONE
    names: dict[str, segments.CellNames] = {}
    cell_issues: list[DataIssue] = []
    if inputs.users is not None:
        evaluated = who.users.ids.codes(inputs.users["user_id"]) >= 0
        found = {
            attribute: segments.values_of(inputs.users, attribute, evaluated)
            for attribute in segments.attributes_of(inputs.users.column_names, how.segments)
        }
        names, cell_issues = segments.name_cells(
            len(inputs.users), int(evaluated.sum()), n, found, how.least_cell
        )  # fmt: skip
    timed = any(seed.newest != NONE for seeds in read.models.values() for seed in seeds)
    without_session = [
        m for m, seeds in read.models.items() if any(s.session is None for s in seeds)
    ]
    untimed = [m for m, seeds in read.models.items() if any(s.micros is None for s in seeds)]
    world = make_world(
        items.ids, inputs, how, popularity, history_users, newest, names,
        timed=timed, without_session=without_session, untimed=untimed,
        no_pools=pools.why_no_pools(_depths(read, who, how.viewport), how.viewport),
        top_grade=0 if read.relevance is None else int(read.relevance.grades.max(initial=0)),
    )  # fmt: skip
    dataset, facts = encode_users(read, who, items, world, how)
    noticed = [*cell_issues, *world.group_issues]
    if inputs.eligible is not None:
        # Of all users together: what a part of them may be shown says nothing of the others.
        may, more = read_eligible(inputs.eligible, dataset.users, world.items, dataset.segments)
        dataset = replace(dataset, audiences=may, eligible=may.anybody)
        noticed = [*more, *noticed]
    return dataset, wording.word_issues(facts, noticed, world.items, read.models, how.viewport)


def find_users(read: Read, *, all_relevant: bool) -> Who:
    """Who is evaluated, and the lists that they have."""
    u = read.universe
    listed, asked = np.zeros(len(u.users), bool), np.zeros(len(u.requests), bool)
    for seeds in read.models.values():
        for seed in seeds:
            listed[seed.user] = True
            if seed.request is not None:
                asked[seed.request] = True
    requests = kind_of(u.requests, asked)
    relevant = np.zeros(len(u.users), bool)
    if read.relevance is not None:
        relevant[read.relevance.user[read.relevance.relevant > 0]] = True
    users = kind_of(u.users, listed | relevant if all_relevant else listed)
    keys = {
        model: [_keys(seed, users, requests) for seed in seeds]
        for model, seeds in read.models.items()
    }
    index = index_lists([k for seeds in keys.values() for k in seeds], len(users.ids))
    of_pools = {
        model: pools.pool_rows(pool, *_keys(pool, users, requests), index)
        for model, pool in read.pools.items()
    }
    by_final = np.zeros(len(users.ids), bool)
    by_final[users.final[listed]] = True
    without_lists = int((relevant & (users.final < 0)).sum())
    return Who(users, requests, keys, index, of_pools, by_final, without_lists)


def _depths(read: Read, who: Who, viewport: int) -> dict[str, list[pools.Depth]]:
    """How deep the pools of the lists go, or the lists where a model has no pools."""
    found: dict[str, list[pools.Depth]] = {}
    for model, seeds in read.models.items():
        lengths = [np.diff(seed.start) for seed in seeds]
        pool = read.pools.get(model)
        if pool is not None:
            of_list = np.append(np.diff(pool.start), 0)[who.pools[model]]
            lengths = [of_list[who.index.find(*keys)] for keys in who.keys[model]]
        found[model] = [pools.depth_of(n, viewport, given=pool is not None) for n in lengths]
    return found


def make_world(
    ids: Ids, inputs: Inputs, how: How, popularity: I64, history_users: int, newest: int,
    cells: Mapping[str, segments.CellNames], *, timed: bool, without_session: Sequence[str],
    untimed: Sequence[str], no_pools: str | None, top_grade: int,
) -> World:  # fmt: skip
    """What is the same for all users.

    Parameters
    ----------
    ids
        Every item of every table.
    popularity, history_users, newest
        Distinct users of each item in the history, its users, and its newest time in microseconds.
    cells
        Attribute → cell names.
    timed, without_session, untimed
        Whether a list has a time of its own; models whose lists have no session, and no time.
    no_pools
        Why stages cannot be told apart, if they cannot.
    top_grade
        Of all judgments.
    """
    fallback = as_days(how.as_of) if how.as_of is not None else None
    if fallback is None and newest != NONE:
        fallback = newest / DAY_US
    made = None
    source = "given" if has_column(inputs.catalog, "embedding") else None
    if inputs.catalog is not None and source is None:
        made = make_embeddings(inputs.catalog)
        source = made[1] if made else None
    items, ties = build_items(
        ids, inputs.catalog, inputs.creators, popularity, history_users, how.conventions,
        made[0] if made else None,
    )  # fmt: skip
    reasons = reasons_against(
        inputs, bool(items.inverse_norm.any()), source,
        timed=timed or fallback is not None, without_session=without_session, untimed=untimed,
    )  # fmt: skip
    groups, group_issues = group_creators(
        inputs.creators, items, how.creator_group, how.creator_target
    )
    no_groups = why_no_groups(inputs.creators, groups, judged=inputs.relevance is not None)
    if "creator_id" in reasons:
        reasons["creator_group"] = reasons["creator_id"]
    elif no_groups is not None:
        reasons["creator_group"] = no_groups
    if no_pools is not None:
        reasons["pool"] = no_pools
    return World(
        items, history_users, fallback, cells, frozenset(NEEDS) - frozenset(reasons), reasons, source, ties,
        groups, group_issues, top_grade,
    )  # fmt: skip


def encode_users(
    read: Read, who: Who, items: Kind, world: World, how: How
) -> tuple[Dataset, Facts]:
    """The data set of the users that were read, and what their rows say of the tables."""
    inputs, index, n_users = read.inputs, who.index, len(who.users.ids)
    sessions = kind_of(read.universe.sessions)
    names = {model: model_tables(model, len(seeds)) for model, seeds in read.models.items()}
    models: dict[str, list[Lists]] = {}
    all_marks: dict[str, marks.Marks] = {}
    places = build.tie_order(items.ids.values, how.conventions.ties)
    for model, seeds in read.models.items():
        models[model] = []
        for name, seed, keys in zip(names[model], seeds, who.keys[model], strict=True):
            lists, place = _lists(
                seed, keys, index, n_users, items, places, sessions, world.as_of, how.threads
            )
            models[model].append(lists)
            kinds = (who.users, items, who.requests, sessions)
            all_marks[name] = _marks(seed, place, lists, index, kinds, how.threads)
    pool_facts: dict[str, PoolFacts] = {}
    for model, pool in read.pools.items():
        rows = who.pools[model]
        final = None if items.same else items.final
        models[model] = pools.with_pool(models[model], pool, rows, final, places, how.threads)
        present = models[model][0].present
        pool_facts[pool_table(model)] = PoolFacts(
            rows=pool.rows, marks=pools.marks_of(pool, read.universe, items.hashes), given=len(pool.user),
            used=len(np.unique(rows[rows >= 0])), shown=int(present.sum()),
            without=int((present & (rows < 0)).sum()),
        )  # fmt: skip
        pool.forget_items()

    # History and truth.
    groups, history = read.history, None
    if groups is not None:
        if not items.same:
            groups = build.recode_history(groups, items.final, how.threads)
        history = build.arrange(
            groups.start, groups.items, _places(who.users.final[groups.user], n_users), how.threads
        )
    judged = read.relevance
    truth, list_context = None, np.full(len(index.user), -1, np.int32)
    if judged is not None:
        if not items.same:
            judged = build.recode_judged(judged, items.final, how.threads)
        truth, list_context = _truth(judged, who.users, who.requests, index, how.threads)
        truth = replace(truth, highest=world.top_grade)
    facts = Facts(n_users, int(who.listed.sum()), who.without_lists, pools=pool_facts)
    relevant = None
    if truth is not None:
        relevant = np.bincount(
            truth.items.values[truth.grades > 0], minlength=len(items.ids)
        ).astype(np.int64)  # fmt: skip
    cells: dict[str, tuple[I32, Sequence[str]]] = {}
    if inputs.users is not None:
        code = who.users.ids.codes(inputs.users["user_id"])
        for attribute, cell_names in world.cells.items():
            cell = segments.cell_codes(inputs.users, attribute, code, n_users, cell_names)
            cells[attribute] = (cell, cell_names)
            facts.cells[attribute] = np.bincount(cell, minlength=len(cell_names))
        if "users" not in read.fingerprints:
            facts.people = len(inputs.users), hashing.table_marks(inputs.users)
    if "history" in read.facts:
        facts.history = read.facts["history"].rows, read.facts["history"].marks
    if "relevance" in read.facts and judged is not None and truth is not None:
        facts.judged = _judged_facts(read, judged, groups, truth, relevant, world)
    if history is not None:
        without = history.lengths == 0
        facts.without_history = int(without.sum())
        facts.without_history_users = _named(who.users.ids, without)
    dataset = Dataset(
        user_count=n_users, users=who.users.ids, user_lists=index.user_lists, list_user=index.user,
        list_request=index.request, requests=who.requests.ids, list_context=list_context,
        items=world.items, models=models, truth=truth, history=history, history_users=world.history_users,
        conventions=how.conventions, as_of=world.as_of, segments=cells,
        cells={a: (facts.cells[a], names) for a, (_, names) in cells.items()},
        creator_groups=with_relevance(world.creator_groups, world.items, relevant),
        relevant=relevant, has=world.has, reasons=world.reasons, embedding_source=world.embedding_source,
        users_without_lists=who.without_lists, head_border_ties=world.head_border_ties, fingerprints={},
    )  # fmt: skip
    touched = world.items.popularity > 0
    for model, seeds in read.models.items():
        for name, seed, lists in zip(names[model], seeds, models[model], strict=True):
            absent = who.listed & ~lists.user_present
            kinds_met, met = checks.count_slots(lists, dataset, how.threads)
            facts.lists[name] = ListFacts(
                rows=seed.rows, marks=all_marks[name], shown=int(lists.present.sum()),
                short=int((lists.items.lengths[lists.present] < how.viewport).sum()),
                absent=int(absent.sum()), absent_users=_named(who.users.ids, absent),
                kinds=kinds_met, met=met,
                bases=frozenset() if seed.base < 0 else frozenset({seed.base}),
                touched=groups is not None and checks.any_of(lists.items.values, touched),
            )  # fmt: skip
    return replace(dataset, fingerprints=fingerprints(facts, inputs, read.fingerprints)), facts


def fingerprints(
    facts: Facts, inputs: Inputs, small: Mapping[str, str]
) -> dict[str, tuple[int, str]]:  # fmt: skip
    """Table → rows and fingerprint, in the order of the report; ``small``: those known of small tables."""
    found = {table: (lists.rows, marks.text(lists.marks)) for table, lists in facts.lists.items()}
    found |= {table: (pool.rows, marks.text(pool.marks)) for table, pool in facts.pools.items()}
    of_parts = {
        "relevance": None if facts.judged is None else (facts.judged.rows, facts.judged.marks),
        "history": facts.history,
        "users": facts.people,
    }
    for kind in ("relevance", "catalog", "creators", "history", "users", "eligible"):
        one = of_parts.get(kind)
        if one is not None:
            found[kind] = one[0], marks.text(one[1])
        elif kind in small and getattr(inputs, kind) is not None:
            found[kind] = len(getattr(inputs, kind)), small[kind]
    return found


def _named(ids: Ids, flagged: Bool) -> tuple[int | str, ...]:
    """The first few of the flagged ids."""
    return tuple(ids.values[int(code)].as_py() for code in np.flatnonzero(flagged)[:FEW])


def _keys(seed: EncodedLists, users: Kind, requests: Kind) -> tuple[I32, I32]:
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
    seed: EncodedLists, keys: tuple[I32, I32], index: ListIndex, n_users: int, items: Kind, places: I32,
    sessions: Kind, fallback: float | None, threads: int | None,
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
        session = np.append(sessions.final[seed.session], np.int32(-1))[place]
    ragged = build.arrange(seed.start, seed.items, place, threads)
    seed.forget_items()
    tied = Ties.of(build.moved(seed.tied, seed.start, place, ragged.start), int(ragged.start[-1]))
    ranked = seed.base >= 0
    return Lists(ragged, present, user_present, time, session, tied, seed.scored, ranked), place


def _times(seed: EncodedLists, place: I64) -> F64:
    """Days since 1970 of each list of the index, NaN where unknown."""
    time = np.full(len(place), np.nan)
    if seed.micros is not None:
        micros = np.append(seed.micros, NONE)[place]  # place −1 reads the appended one
        known = micros != NONE
        time[known] = micros[known] / DAY_US
    return time


def _marks(
    seed: EncodedLists, place: I64, lists: Lists, index: ListIndex, kinds: tuple[Kind, ...],
    threads: int | None,
) -> marks.Marks:  # fmt: skip
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
    return marks.add(found)


def _truth(
    judged: build.Judged, users: Kind, requests: Kind, index: ListIndex, threads: int | None
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


def _judged_facts(
    read: Read, judged: build.Judged, groups: build.Groups | None, truth: Truth, relevant: I64 | None,
    world: World,
) -> JudgedFacts:  # fmt: skip
    facts = read.facts["relevance"]
    outside = ~world.items.in_catalog[judged.items]
    leaked = np.zeros(len(judged.items), bool)
    if groups is not None:
        leaked = build.contained(judged, groups, len(read.universe.users)) & (judged.grades > 0)
    met = np.zeros(len(world.items.ids), np.uint8)
    met[judged.items[outside]] |= 1
    met[judged.items[leaked]] |= 2
    assert relevant is not None
    return JudgedFacts(
        rows=facts.rows, marks=facts.marks, used=len(truth.items.values), older=facts.older,
        positive=int((judged.grades > 0).sum()), outside=int(outside.sum()), leaked=int(leaked.sum()), met=met, relevant=relevant,
    )  # fmt: skip
