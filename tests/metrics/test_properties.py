"""What holds for any data: bounds, invariances, perfect lists, and the reference's values."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from audit import single
from audit.conventions import Conventions
from audit.metrics import REGISTRY, kernels
from audit.metrics.distribution import effective_size, entropy, gini, hhi, top_share
from tests import support
from tests.metrics.test_reference import OPTIONS, Reference, World, product

pytestmark = pytest.mark.slow  # whole audits, by the dozen

MANY = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
ITEMS = list(range(10, 20))
OUTSIDE = [5, 25]
RELEVANCE = ("ndcg", "map", "mrr", "precision", "recall", "hit_rate", "serendipity")

orders = st.lists(st.sampled_from(ITEMS + OUTSIDE), min_size=1, max_size=8, unique=True)
components = st.integers(-3, 3).map(float)


@st.composite
def worlds(draw):
    keys = st.tuples(st.integers(1, 5), st.integers(0, 1))
    models = {
        "a": draw(st.dictionaries(keys, orders, min_size=1, max_size=6)),
        "b": draw(st.dictionaries(keys, orders, min_size=1, max_size=6)),
    }
    some = st.lists(st.sampled_from(ITEMS), min_size=1, max_size=6, unique=True)
    of_items = st.sampled_from(ITEMS)
    return World(
        models=models,
        relevant=draw(
            st.dictionaries(
                st.integers(1, 6),
                st.dictionaries(st.sampled_from(ITEMS + OUTSIDE), st.integers(0, 3), min_size=1),
                min_size=1,
                max_size=5,
            )
        ),
        catalog=draw(st.permutations(ITEMS)),
        creators=draw(
            st.dictionaries(
                of_items, st.lists(st.sampled_from("uvwx"), min_size=1, max_size=3, unique=True)
            )
        ),
        created=draw(st.dictionaries(of_items, st.integers(0, 800).map(lambda n: n / 8))),
        embedding={
            item: vector
            for item, vector in draw(
                st.dictionaries(of_items, st.lists(components, min_size=3, max_size=3))
            ).items()
            if any(vector)
        },
        history=draw(st.dictionaries(st.integers(1, 9), some, min_size=1, max_size=6)),
        shown_at=dict.fromkeys(draw(st.lists(keys, max_size=3)), 60.0),
        as_of=90.0,
        categories=draw(
            st.dictionaries(
                of_items, st.lists(st.sampled_from("kmn"), min_size=1, max_size=3, unique=True)
            )
        ),
    )


def is_close(a, b):
    return a == pytest.approx(b, rel=1e-12, abs=1e-12, nan_ok=True)


@MANY
@given(worlds(), st.sampled_from(OPTIONS), st.sampled_from("ab"))
def test_as_the_reference(world, options, model):
    profiles = [np.sum([np.array(world.embedding[i]) / np.linalg.norm(world.embedding[i]) for i in of
                        if i in world.embedding], axis=0) for of in world.history.values()]  # fmt: skip
    # A history whose vectors cancel but for rounding has no direction worth comparing.
    assume(all(p.ndim == 0 or np.linalg.norm(p) > 1e-6 for p in profiles))
    world = replace(world, conventions=options)
    expected, found = Reference(world, model).values(), product(world, model)
    assert {f"{name}@3" for name in RELEVANCE} <= found.keys() <= expected.keys()
    for name, (value, n) in found.items():
        assert n == expected[name][1], name
        assert is_close(value, expected[name][0]), name


@MANY
@given(worlds(), st.sampled_from(OPTIONS))
def test_every_value_lies_in_its_range(world, options):
    found = product(replace(world, conventions=options), "a")
    for name, (value, _) in found.items():
        low, high = REGISTRY[name.split("@")[0]].range
        assert math.isnan(value) or low <= value <= high * (1 + 1e-12), name


def frames(world, change):
    """Inputs with every table changed."""
    return support.inputs(
        {
            name: change(support.lists(shown, shown_at=world.shown_at))
            for name, shown in world.models.items()
        },
        relevance=change(support.judged(world.relevant)),
        history=change(support.known(world.history)),
        catalog=change(
            support.catalog(
                world.catalog, creators=world.creators, created=world.created,
                embedding=world.embedding,
            )
        ),
    )  # fmt: skip


def exact(given_inputs):
    """All values of model ``a`` to the last bit."""
    models = {"model": given_inputs.models["a"], "other": given_inputs.models["b"]}
    as_of = support.EPOCH + support.dt.timedelta(days=90)
    dataset = support.encoded(replace(given_inputs, models=models), as_of=as_of)
    plan, found = support.measured(dataset, k=(1, 3, 10))
    frame = single.means(dataset, plan, found)
    return {
        name: (row.value.hex(), row.n)
        for name, row in zip(frame.index, frame.itertuples(), strict=True)
    }


@MANY
@given(worlds(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(world, random):
    def shuffled(table: pa.Table) -> pa.Table:
        order = list(range(len(table)))
        random.shuffle(order)
        return table.take(order)

    assert exact(frames(world, shuffled)) == exact(frames(world, lambda table: table))


@MANY
@given(worlds(), st.sampled_from(["integers", "strings"]))
def test_new_names_in_the_same_order_change_nothing(world, kind):
    def renamed(table: pa.Table) -> pa.Table:
        for column in ("user_id", "item_id", "request_id"):
            if column in table.column_names:
                old = table[column].to_pylist()
                new = (
                    [7 * i - 1000 for i in old]
                    if kind == "integers"
                    else [f"x{i:03d}" for i in old]
                )
                place = table.column_names.index(column)
                table = table.set_column(place, column, support.ids(new))
        return table

    assert exact(frames(world, renamed)) == exact(frames(world, lambda table: table))


@MANY
@given(
    st.dictionaries(st.sampled_from(ITEMS), st.integers(1, 4), min_size=1),
    st.integers(1, 12),
    st.sampled_from([{}, {"gain": "linear"}, {"discount": "log2_from_2"}]),
)
def test_a_perfect_ranking(grades, k, conventions):
    perfect = sorted(grades, key=lambda item: -grades[item])
    rest = [item for item in ITEMS if item not in grades]
    r = len(grades)
    found = support.scores(
        {1: perfect + rest}, RELEVANCE[:6], k, relevance={1: grades}, conventions=conventions
    )
    assert is_close(found[f"ndcg@{k}"], 1)
    assert found[f"mrr@{k}"] == found[f"hit_rate@{k}"] == 1
    assert is_close(found[f"precision@{k}"], min(1, r / k))
    assert is_close(found[f"recall@{k}"], min(1, k / r))
    assert is_close(found[f"map@{k}"], min(1, k / r))


@MANY
@given(orders, st.dictionaries(st.sampled_from(ITEMS), st.integers(0, 3), min_size=1))
def test_k_beyond_the_list(shown, grades):
    assume(any(grades.values()))
    n = len(shown)
    found = support.scores({1: shown}, RELEVANCE[:6], (n, n + 7), relevance={1: grades})
    for name in ("map", "mrr", "recall", "hit_rate"):
        assert found[f"{name}@{n + 7}"] == found[f"{name}@{n}"]
    hits = sum(grades.get(item, 0) > 0 for item in shown)
    assert is_close(found[f"precision@{n + 7}"], hits / (n + 7))
    assert found[f"ndcg@{n + 7}"] <= found[f"ndcg@{n}"]


@MANY
@given(worlds())
def test_what_can_only_grow_with_k(world):
    found = product(world, "a")
    for name in ("recall", "hit_rate", "mrr", "map", "catalog_coverage", "creator_coverage"):
        values = [found[f"{name}@{k}"][0] for k in (1, 2, 3, 5, 10) if f"{name}@{k}" in found]
        assert all(math.isnan(v) for v in values) or values == sorted(values)


amounts = st.lists(st.integers(0, 1000), min_size=1, max_size=30).filter(any)


@given(amounts, st.floats(1e-6, 1e6))
def test_concentration(counted, scale):
    x = np.array(counted, float)
    n = len(x)
    value = float(gini(x, Conventions()))
    assert value <= 1 - 1 / n + 1e-14
    assert float(gini(x * scale, Conventions())) == pytest.approx(value, abs=1e-12)
    assert float(gini(x[::-1], Conventions())) == value >= 0
    assert 1 - 1e-12 <= float(effective_size(x)) <= np.count_nonzero(x) * (1 + 1e-12)
    assert float(effective_size(x * scale)) == pytest.approx(float(effective_size(x)))
    assert 1 / n - 1e-12 <= float(top_share(x, 0.01)) <= 1
    assert float(top_share(x, 1.0)) == pytest.approx(1)


@given(amounts, st.integers(1, 20))
def test_items_that_nobody_sees_raise_the_gini_of_the_catalog_only(counted, zeros):
    x = np.array(counted, float)
    more = np.append(x, np.zeros(zeros))
    exposed = Conventions(gini_population="exposed")
    assert float(gini(more, Conventions())) >= float(gini(x, Conventions())) - 1e-12
    assert float(gini(more, exposed)) == pytest.approx(
        float(gini(x, exposed)), abs=1e-12, nan_ok=True
    )
    assert float(effective_size(more)) == pytest.approx(float(effective_size(x)))


ragged = st.lists(
    st.lists(st.one_of(st.just(math.nan), st.integers(-50, 50).map(float)), max_size=9), max_size=6
)
some_ks = st.lists(st.integers(1, 12), min_size=1, max_size=4, unique=True).map(sorted)


@given(ragged, some_ks)
def test_medians_and_means_of_slots(rows, ks):
    start = np.cumsum([0, *map(len, rows)])
    flat = np.array([value for row in rows for value in row])
    weights = 1 / np.log2(np.arange(2, max(ks) + 2))
    medians = kernels.median_slots(start, flat, np.array(ks))
    total, weight = kernels.prefix_slots(start, flat, weights, np.array(ks))
    for row, shown in enumerate(rows):
        for j, k in enumerate(ks):
            kept = [(v, weights[r]) for r, v in enumerate(shown[:k]) if not math.isnan(v)]
            if kept:
                assert medians[row, j] == np.median([v for v, _ in kept])
            else:
                assert math.isnan(medians[row, j])
            assert is_close(total[row, j], sum(v * w for v, w in kept))
            assert is_close(weight[row, j], sum(w for _, w in kept))


@MANY
@given(st.integers(2, 4).flatmap(lambda d: st.lists(st.lists(components, min_size=d, max_size=d), min_size=2, max_size=7)))  # fmt: skip
def test_diversity_is_the_mean_over_pairs(rows):
    known = dict(enumerate(rows, 1))
    found = support.scores(
        {1: list(known)}, ["ild"], 10, catalog=support.catalog(known, embedding=known)
    )
    units = [np.array(v) / np.linalg.norm(v) for v in rows if any(v)]
    pairs = [1 - units[i] @ units[j] for i in range(len(units)) for j in range(i)]
    assert is_close(found.get("ild@10", math.nan), np.mean(pairs) if pairs else math.nan)


@given(amounts)
def test_entropy_and_concentration_with_values_and_how_often_they_occur(counted):
    x = np.array(counted, float)
    n = len(x)
    assert 0 <= float(entropy(x)) <= math.log2(n) + 1e-12
    assert 1 / n - 1e-12 <= float(hhi(x)) <= 1 + 1e-12
    assert float(hhi(x)) >= 2 ** -float(entropy(x)) - 1e-12  # by Jensen's inequality
    values, times = np.unique(x, return_counts=True)
    for function in (entropy, hhi, effective_size):
        assert float(function(values, times.astype(float))) == pytest.approx(float(function(x)))
