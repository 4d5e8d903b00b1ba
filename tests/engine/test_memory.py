"""Measuring: which lists count, exposure by rank, cell and group, and that the cut does not matter."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from audit import single
from audit.engine import measure
from audit.engine.memory import exposure_by_k, unavailable
from audit.engine.partials import ExactSums
from audit.engine.plan import AGE_BANDS, make_plan
from audit.errors import ConfigError
from audit.metrics.registry import REGISTRY, metric, parse
from tests.support import catalog, encoded, inputs, known, lists, measured, people


@pytest.fixture
def register():
    """Register metrics for one test."""
    before = set(REGISTRY)
    yield metric
    for name in set(REGISTRY) - before:
        del REGISTRY[name]


def values(dataset, name, k=3, model="baseline", refs="list_refs", **cut):
    """Sum and number of users of a metric at K."""
    _, found = measured(dataset, [name], [k], **cut)
    column = found.column(parse(f"{name}@{k}"), getattr(found, refs))
    part = found.partials.lists if refs == "list_refs" else found.partials.pairs
    total = part[model, 0].total()
    return float(total.sums()[0, column]), int(total.count[0, column])


# ------------------------------------------------------------------------------- which lists count


def test_users_without_a_list_count_zero_for_relevance_and_not_otherwise(register):
    @register(level="list", direction="higher")
    def length(b, ks):
        return b.shown(ks)

    dataset = encoded(
        inputs(baseline={1: [5, 6]}, candidate={1: [5], 2: [5]}, relevance={1: [5], 2: [5], 3: [5]})
    )
    assert values(dataset, "hit_rate") == (1.0, 2)  # user 2 counts as 0
    assert values(dataset, "length") == (2.0, 1)
    assert values(dataset, "hit_rate", model="candidate") == (2.0, 2)
    assert values(dataset, "length", model="candidate") == (2.0, 2)


def test_a_user_with_some_list_is_judged_by_those_only():
    dataset = encoded(
        inputs(
            baseline={(1, 1): [5], (1, 2): [6]},
            candidate={(1, 2): [5]},
            relevance={1: [5]},
        )
    )
    assert values(dataset, "precision", k=1) == (0.5, 1)
    assert values(dataset, "precision", k=1, model="candidate") == (
        1.0,
        1,
    )  # request 1 does not count


def test_users_without_anything_relevant_are_left_out_or_zero():
    given = inputs(baseline={1: [5], 2: [5]}, relevance={1: [5], 2: {5: 0}})
    assert values(encoded(given), "recall", k=1) == (1.0, 1)
    assert values(encoded(given, no_relevant="zero"), "recall", k=1) == (1.0, 2)


def test_users_weigh_the_same_however_many_lists_they_have():
    dataset = encoded(
        inputs(
            baseline={(1, 1): [5], (1, 2): [6], (1, 3): [6], (2, 4): [5]},
            relevance={1: [5], 2: [5]},
        )
    )
    total, n = values(dataset, "precision", k=1)
    assert n == 2
    assert total == pytest.approx(1 / 3 + 1, abs=1e-15)


def test_sessions(register):
    @register(level="session", direction="higher")
    def lists_in_session(b, ks):
        return np.repeat(np.diff(b.sessions.start)[:, None].astype(float), len(ks), axis=1)

    @register(level="session", direction="higher", needs=("relevance",))
    def session_hits(b, ks):
        hits = b.hits(ks)
        s = b.sessions
        return np.add.reduceat(hits[s.lists], s.start[:-1]) if len(s.user) else hits[:0]

    def shown(rows):
        return lists({key: items for key, items, _ in rows}, session={k: s for k, _, s in rows})

    baseline = [
        ((1, 1), [5], "s"), ((1, 2), [5], "s"), ((1, 3), [6], "t"),
        ((2, 4), [6], "u"),
        ((4, 6), [5], "v"),
    ]  # fmt: skip
    dataset = encoded(
        inputs(
            baseline=shown(baseline),
            candidate=shown([((1, 1), [5], "s"), ((3, 5), [5], "w")]),
            relevance={1: [5], 2: [5], 3: [5]},
        )
    )
    # User 1 has sessions of two lists and of one, users 2 and 4 of one; user 3 has none.
    assert values(dataset, "lists_in_session", k=1) == (1.5 + 1 + 1, 3)
    # Hits 2 and 0 for user 1, 0 for user 2; 0 for user 3, to whom nothing was shown; user 4 wants nothing.
    assert values(dataset, "session_hits", k=1) == (1.0, 3)
    # The candidate: 1 for user 1, 0 for user 2 without a list, 1 for user 3.
    assert values(dataset, "session_hits", k=1, model="candidate") == (2.0, 3)


def test_pairs_of_the_same_lists(register):
    @register(level="pair", direction="higher")
    def overlap(a, b, ks):
        out = np.zeros((b.n, len(ks)))
        for row in range(b.n):
            for j, k in enumerate(ks):
                one, two = (
                    set(x.item[x.start[row] : x.start[row + 1]][:k].tolist()) for x in (a, b)
                )
                out[row, j] = len(one & two) / k
        return out

    dataset = encoded(
        inputs(baseline={1: [5, 6], 2: [5, 6], 3: [5]}, candidate={1: [6, 5], 2: [7, 5], 4: [5]})
    )
    assert values(dataset, "overlap", k=1, model="candidate", refs="pair_refs") == (0.0, 2)
    assert values(dataset, "overlap", k=2, model="candidate", refs="pair_refs") == (1.5, 2)


# ------------------------------------------------------------------------------------- errors


def test_a_metric_of_the_wrong_shape_is_named(register):
    @register(level="list", direction="higher")
    def crooked(b, ks):
        return np.zeros(b.n)

    dataset = encoded(inputs(baseline={1: [1], 2: [1]}))
    with pytest.raises(
        ConfigError,
        match=r"metric 'crooked' returned an array of shape \(2,\); a list metric returns \(2, 1\): "
        "one row per list, one column per K",
    ):
        measured(dataset, ["crooked"], [3])


def test_a_session_metric_of_the_wrong_shape_is_named(register):
    @register(level="session", direction="higher")
    def crooked(b, ks):
        return np.zeros((b.n, len(ks)))

    shown = lists({(1, 1): [1], (1, 2): [1]}, session={(1, 1): 1, (1, 2): 1})
    with pytest.raises(ConfigError, match=r"metric 'crooked' .* session metric returns \(1, 1\)"):
        measured(encoded(inputs(baseline=shown)), ["crooked"], [3])


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e13])
def test_infinite_values_name_the_metric(register, value):
    @register(level="list", direction="higher")
    def fine(b, ks):
        return np.zeros((b.n, len(ks)))

    @register(level="list", direction="higher")
    def wild(b, ks, *, p=0.5):
        return np.where(ks >= 3, value, p) * np.ones((b.n, 1))

    dataset = encoded(inputs(baseline={1: [1], 2: [1]}))
    with pytest.raises(ConfigError, match=r"metric 'wild\[p=1\]' returned an infinite value"):
        measured(dataset, ["fine", "wild[p=1]"], [1, 3])
    measured(dataset, ["fine", "wild[p=1]"], [1, 2])


# ------------------------------------------------------------------------------ unavailable metrics


def why(dataset, *names):
    plan = make_plan(
        dataset, metrics=[parse(n) for n in names], ks=[1], viewport=1, baseline="baseline"
    )
    return {str(ref): reason for ref, reason in unavailable(dataset, plan).items()}


def test_metrics_without_their_inputs_say_why(register):
    @register(level="session", direction="higher")
    def sessions_seen(b, ks):
        raise AssertionError

    dataset = encoded(inputs(baseline={1: [1]}))
    names = ["ndcg", "effective_rank", "tail_share", "catalog_coverage", "sessions_seen"]
    assert why(dataset, *names) == {
        "ndcg": "no relevance table was given",
        "mrr": "no relevance table was given",
        "effective_rank": "no relevance table was given",
        "tail_share": "no history table was given",
        "sessions_seen": "no 'session_id' in the recommendations of baseline",
    }


def test_a_vector_of_nothing_says_so():
    dataset = encoded(
        inputs(
            baseline=lists({1: [1]}, shown_at={1: 9}),
            history=known({1: [1]}),
            catalog=catalog([1], created={1: 3}),
        )
    )
    assert why(dataset, "tail_coverage", "fresh_coverage") == {
        "tail_coverage": "no item of the catalog is tail",
        "fresh_coverage": "there is no as_of or history time at which an item could be fresh",
    }


# ---------------------------------------------------------------------------------- exposure


@pytest.fixture(scope="module")
def world():
    """120 users of several requests, two attributes, seeds, everything random but seeded."""
    rng = np.random.default_rng(5)
    users, items = 120, 30

    def model(p_missing):
        shown = {}
        for user in range(users):
            for request in range(1 + user % 2):
                if rng.random() > p_missing:
                    n = int(rng.integers(1, 7))
                    shown[user, request] = rng.choice(items + 2, n, replace=False).tolist()
        return shown

    return inputs(
        baseline=lists(a := model(0.05), session={k: k[1] for k in a}),
        candidate=[lists(m, session={k: k[1] for k in m}) for m in (model(0.1), model(0.1))],
        relevance={
            u: {int(i): int(rng.integers(0, 4)) for i in rng.choice(items, 4, False)}
            for u in range(users)
        },
        history=known(
            {u: rng.choice(items, 5, False).tolist() for u in range(users)},
            timestamp={(u, i): 40 + i for u in range(users) for i in range(items)},
        ),
        catalog=catalog(
            range(items),
            creators={i: [f"c{i % 7}"] + (["z"] if i % 5 == 0 else []) for i in range(1, items)},
            created={i: float(i) for i in range(items)},
            embedding={i: rng.normal(size=3).tolist() for i in range(2, items)},
        ),
        users=people({u: {"a": "xyz"[u % 3], "b": "uv"[u % 2]} for u in range(0, users, 1)}),
    )


@pytest.fixture(scope="module")
def dataset(world):
    return encoded(world, viewport=4)


def plan_of(dataset):
    return make_plan(
        dataset,
        metrics=None,
        ks=[2, 6],
        viewport=4,
        baseline="baseline",
        segments=[("a",), ("a", "b")],
    )


@pytest.fixture(scope="module")
def partials(dataset):
    return measure(dataset, plan_of(dataset), threads=1).partials


def slots(dataset, model, seed=0):
    """(user, rank, item code) of every shown slot."""
    found = dataset.models[model][seed]
    for row in range(len(dataset.list_user)):
        start, stop = found.items.start[row], found.items.start[row + 1]
        for rank, item in enumerate(found.items.values[start:stop]):
            yield int(dataset.list_user[row]), rank, int(item)


RUNS = [("baseline", 0), ("candidate", 0), ("candidate", 1)]


@pytest.mark.parametrize("run", RUNS)
def test_counts_by_item_and_rank_of_all_and_by_cell(dataset, partials, run):
    shown = np.zeros((6, len(dataset.items.ids)), np.int64)
    cells = np.zeros((3, 4, len(dataset.items.ids)), np.int64)
    for user, rank, item in slots(dataset, *run):
        shown[rank, item] += 1
        if rank < 4:
            cells[dataset.segments["a"][0][user], rank, item] += 1
    assert (partials.shown[run] == shown).all()
    assert (partials.cells[run]["a"] == cells).all()
    weights = np.array([4.0, 2.0, 1.0])
    assert exposure_by_k(shown, weights) == pytest.approx(weights @ shown[:3])


@pytest.mark.parametrize("run", RUNS)
def test_vectors_by_group(dataset, partials, run):
    plan = plan_of(dataset)
    assert [g.segment for g in plan.groupings][:2] == ["all", "a=x, b=u"]
    assert {g.groups for g in plan.groupings} == {32, 0}
    for grouping in plan.groupings:
        shape = (grouping.groups + 1, len(dataset.items.ids))
        exposure, count = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for user, rank, item in slots(dataset, *run):
            if rank < 4 and grouping.group_of_user[user] >= 0:
                exposure[grouping.group_of_user[user], item] += grouping.exposure[rank]
                count[grouping.group_of_user[user], item] += 1
        assert (partials.groups[run][grouping.key]["exposure"] == exposure).all()
        assert (partials.groups[run][grouping.key]["count"] == count).all()


def test_ages_lists_and_users(dataset, partials):
    ages = np.zeros(len(AGE_BANDS) + 1, np.int64)
    visible = [(rank, item) for _, rank, item in slots(dataset, "baseline") if rank < 4]
    for _, item in visible:
        age = dataset.as_of - dataset.items.created[item]
        ages[np.searchsorted(AGE_BANDS, age, side="right") - 1 if age >= 0 else -1] += 1
    assert (partials.ages["baseline", 0] == ages).all()
    lengths = dataset.models["baseline"][0].items.lengths
    users = len({user for user, _, _ in slots(dataset, "baseline")})
    short = int(((lengths > 0) & (lengths < 4)).sum())
    assert partials.lists_seen["baseline", 0].tolist() == [
        users, (lengths > 0).sum(), lengths.sum(), short,
    ]  # fmt: skip
    assert partials.relevant_users.tolist() == [(dataset.truth.relevant > 0).sum()]


@pytest.mark.parametrize("run", RUNS[1:])
def test_users_by_which_model_showed_them_an_item_or_creator(dataset, partials, run):
    def sets(model, seed):
        found = [set() for _ in range(len(dataset.users))]
        for user, rank, item in slots(dataset, model, seed):
            if rank < 4:
                found[user].add(item)
        return found

    def creators(items):
        ragged = dataset.items.creators
        return {int(c) for i in items for c in ragged.values[ragged.start[i] : ragged.start[i + 1]]}

    baseline, candidate = sets("baseline", 0), sets(*run)
    for out, of in ((partials.users_items[run], set), (partials.users_creators[run], creators)):
        expected = np.zeros_like(out)
        for a, b in zip(map(of, baseline), map(of, candidate), strict=True):
            for row, members in enumerate((a - b, b - a, a & b)):
                expected[row, sorted(members)] += 1
        assert (out == expected).all()


# ------------------------------------------------------------------------------------ the cut


def flat(p):
    if isinstance(p, np.ndarray):
        return [p]
    found = p.values() if isinstance(p, Mapping) else vars(p).values()
    return [array for value in found for array in flat(value)]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("block", [1, 7, 4096])
def test_the_cut_of_the_work_changes_nothing(dataset, partials, threads, block):
    other = measure(dataset, plan_of(dataset), threads=threads, block=block).partials
    arrays = list(zip(flat(partials), flat(other), strict=True))
    assert sum(a.size for a, _ in arrays) > 10_000
    assert all((a == b).all() for a, b in arrays)


def test_sums_are_the_users_values(dataset, partials):
    assert isinstance(partials.lists["baseline", 0], ExactSums)
    plan, found = measured(dataset, ["precision"], [2, 6], viewport=4)
    relevant = {
        user: set(
            dataset.truth.items.values[start:stop][dataset.truth.grades[start:stop] > 0].tolist()
        )
        for user, (start, stop) in enumerate(
            zip(dataset.truth.items.start, dataset.truth.items.start[1:], strict=False)
        )
    }
    by_user: dict[int, list[float]] = {}
    for row, user in enumerate(dataset.list_user):
        lists_ = dataset.models["baseline"][0]
        if lists_.present[row] or not lists_.user_present[user]:
            items = lists_.items.values[lists_.items.start[row] : lists_.items.start[row + 1]]
            hits = sum(int(i) in relevant[user] for i in items[:2])
            by_user.setdefault(user, []).append(hits / 2)
    expected = {u: sum(v) / len(v) for u, v in by_user.items() if relevant[u]}
    sums = found.partials.lists["baseline", 0]
    column = found.column(parse("precision@2"), found.list_refs)
    rows = plan.rows.row_of_user
    for user, value in expected.items():
        assert sums.sums()[rows[user], column] == value
        assert sums.count[rows[user], column] == 1


def test_progress_is_reported_to_the_end(dataset):
    seen = []
    measure(
        dataset, plan_of(dataset), threads=2, block=16,
        progress=lambda stage, done, total: seen.append((stage, done, total)),
    )  # fmt: skip
    assert {stage for stage, _, _ in seen} == {"measuring"}
    done = [d for _, d, _ in seen]
    assert done == sorted(done)
    assert done[-1] == len(dataset.users)


def test_pairs_of_items_are_formed_up_to_the_viewport_only(monkeypatch):
    from audit.metrics import pair_columns

    asked = []
    original = pair_columns._pairs
    monkeypatch.setattr(pair_columns, "_pairs", lambda *a: asked.append(a[-1]) or original(*a))
    vectors = {1: [1, 0], 2: [1, 0], 3: [0, 1]}
    dataset = encoded(
        inputs({"model": {1: [1, 2, 3]}}, catalog=catalog(vectors, embedding=vectors))
    )
    plan, found = measured(dataset, ["near_duplicates", "ild"], (1, 2, 3), viewport=2)
    assert [ks.tolist() for ks in asked] == [[1, 2]]
    total = found.partials.lists["model", 0].total()
    count = [
        total.count[0, found.column(parse(f"near_duplicates@{k}"), found.list_refs)]
        for k in (1, 2, 3)
    ]
    assert count == [0, 1, 0]  # no pair at 1, not measured at 3
    assert "near_duplicates@3" not in single.means(dataset, plan, found).index
