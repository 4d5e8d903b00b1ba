"""What every metric of the registry must satisfy; how an example is added says CONTRIBUTING.md."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

from audit.metrics import REGISTRY, parse
from audit.metrics.examples import EXAMPLES
from tests import support
from tests.metrics.example import value, values
from tests.metrics.test_reference import make_world

BUILTIN = [name for name, spec in REGISTRY.items() if spec.function.__module__.startswith("audit.")]
KS = [1, 3, 10, 40]
LONGEST = 30
"""No list of the world is longer."""


def test_every_metric_has_an_example():
    assert set(BUILTIN) - {parse(text).name for text in EXAMPLES} == set()


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_value_worked_out_by_hand(text):
    example = EXAMPLES[text]
    assert value(text, example.given) == pytest.approx(example.value, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("text", EXAMPLES)
def test_better_moves_it_in_its_direction(text):
    example, spec = EXAMPLES[text], parse(text).spec
    before, after = example.value, value(text, {**example.given, **example.better})
    if spec.direction == "target":
        assert abs(after - spec.target) < abs(before - spec.target)
    else:
        assert after > before if spec.direction == "higher" else after < before


# ------------------------------------------------------- all metrics at once, of one rich world


@cache
def world(seed: int = 7):
    """Every table that a metric may need, with everything missing somewhere."""
    w = make_world(seed)
    session = {key: 10 * key[0] + key[1] // 2 for key in w.shown_at}
    rng = np.random.default_rng(seed)
    users = sorted({user for user, _ in w.shown_at})
    shown = {
        user: {
            i
            for lists in w.models.values()
            for key, of in lists.items()
            if key[0] == user
            for i in of
        }
        for user in users
    }
    # What was shown and more; everything shown is in its pool, so that cutting lists leaves pools alone.
    pool = {
        u: [*of, *({int(i) for i in rng.choice(w.catalog, 30)} - of)] for u, of in shown.items()
    }
    eligible = [(int(i), u) for u in users for i in rng.choice(w.catalog, 40, replace=False)]
    return {
        "shown": support.lists(w.models["b"], shown_at=w.shown_at, session=session),
        "baseline": support.lists(w.models["a"], shown_at=w.shown_at, session=session),
        "relevance": support.judged(w.relevant),
        "history": support.known(w.history),
        "catalog": support.catalog(
            w.catalog, creators=w.creators, created=w.created, embedding=w.embedding,
            categories=w.categories,
        ),
        "as_of": support.EPOCH + support.dt.timedelta(days=w.as_of),
        "creators": support.makers(
            {f"c{c}": {"kind": [None, "x", "y"][c % 3]} for c in range(23)}
        ),
        "pools": {name: support.lists(pool) for name in ("model", "baseline")},
        "eligible": pa.table(
            {"item_id": support.ids(i for i, _ in eligible), "user_id": support.ids(u for _, u in eligible)}
        ),
    }  # fmt: skip


def everything(given, ks=KS, **how):
    """All metrics at all Ks, those that look at all pairs too."""
    return values(given, [f"{name}@{k}" for name in BUILTIN for k in ks], list(ks), **how)


@cache
def usual(seed: int = 7):
    return everything(world(seed))


def exact(found):
    return {name: (value.hex(), n) for name, (value, n) in found.items()}


def outside(found):
    """Values that their metric says cannot be."""
    wrong = {}
    for text, (number, _) in found.items():
        low, high = parse(text).spec.range
        slack = 1e-12 * max(1, abs(low), 0 if math.isinf(high) else abs(high))
        if not (math.isnan(number) or low - slack <= number <= high + slack):
            wrong[text] = number
    return wrong


@pytest.mark.parametrize("seed", [7, 20, 21])
def test_bounds(seed):
    found = usual(seed)
    assert {parse(text).name for text in found} == set(BUILTIN)
    assert outside(found) == {}
    never = [name for name in BUILTIN if math.isnan(found[f"{name}@10"][0])]
    assert never == []


def changed(given, change):
    def one(given):
        if isinstance(given, dict):
            return {name: one(table) for name, table in given.items()}
        return change(given) if isinstance(given, pa.Table) else given

    return one(given)


def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(0)
    given = changed(world(), lambda table: table.take(rng.permutation(len(table))))
    assert exact(everything(given)) == exact(usual())


@pytest.mark.parametrize("rename", [lambda i: 7 * i - 10_000, lambda i: f"x{i:05d}"])
def test_ids_in_the_same_order_change_nothing(rename):
    def renamed(table):
        for column in ("user_id", "item_id", "request_id", "session_id"):
            if column in table.column_names:
                new = support.ids(rename(i) for i in table[column].to_pylist())
                table = table.set_column(table.column_names.index(column), column, new)
        return table

    assert exact(everything(changed(world(), renamed))) == exact(usual())


def test_how_the_work_is_cut_does_not_matter():
    assert exact(everything(world(), threads=2, block=5)) == exact(usual())


def test_k_beyond_the_longest_list():
    found = everything(world(), [LONGEST, LONGEST + 10, LONGEST + 400])
    assert outside(found) == {}
    moving = {parse(text).name for text, example in EXAMPLES.items() if example.moves_beyond}
    for name in BUILTIN:
        near, far = (found[f"{name}@{LONGEST + more}"] for more in (10, 400))
        assert near[1] == far[1], name
        same = near[0] == pytest.approx(far[0], rel=1e-9, nan_ok=True)
        assert same or name in moving, name


def first_items(table):
    return table.filter(pa.compute.equal(table["rank"], 1))


def test_lists_of_one_item():
    cut = {name: first_items(world()[name]) for name in ("shown", "baseline")}
    found = everything({**world(), **cut}, [1, 5])
    assert outside(found) == {}
    first = usual()
    looking = {parse(text).name for text, example in EXAMPLES.items() if example.looks_beyond}
    for name in sorted(set(BUILTIN) - looking):
        same = found[f"{name}@1"][0] == pytest.approx(first[f"{name}@1"][0], rel=1e-12, nan_ok=True)
        assert same, name


def needs_relevance(name):
    spec = REGISTRY[name]
    return "relevance" in spec.needs or any(needs_relevance(part) for part in spec.of)


@pytest.mark.parametrize("rule", ["leave_out", "zero"])
def test_nothing_relevant(rule):
    table = world()["relevance"]
    nothing = table.set_column(2, "grade", pa.array([0] * len(table), pa.int16()))
    found = everything(
        {**world(), "relevance": nothing, "conventions": {"no_relevant": rule}}, [3, 10]
    )
    assert outside(found) == {}
    for name in BUILTIN:
        number, n = found[f"{name}@10"]
        if not needs_relevance(name):
            assert (number.hex(), n) == exact(usual())[f"{name}@10"], name
        elif rule == "leave_out":
            assert math.isnan(number), name
            assert n == 0 or REGISTRY[name].level == "system", name
        elif REGISTRY[name].level not in ("derived", "system"):
            own = REGISTRY[name].defined_without_relevant
            assert (own or number == 0) and n > 0, name


def test_all_tied():
    def tied(table):
        one = pa.array([1.0] * len(table))
        return table.drop_columns("rank").append_column("score", one)

    def by_item(table):
        table = table.sort_by([(c, "ascending") for c in ("user_id", "request_id", "item_id")])
        keys = list(zip(*(table[c].to_pylist() for c in ("user_id", "request_id")), strict=True))
        rank, ranks = 0, []
        for i, key in enumerate(keys):
            rank = rank + 1 if i and key == keys[i - 1] else 1
            ranks.append(rank)
        place = table.column_names.index("rank")
        return table.set_column(place, "rank", pa.array(ranks, pa.int32()))

    models = ("shown", "baseline")
    given = [{m: change(world()[m]) for m in models} for change in (tied, by_item)]
    assert exact(everything({**world(), **given[0]})) == exact(everything({**world(), **given[1]}))


def test_items_of_which_nothing_is_known():
    """In the catalog, and no history, creator, category, date or vector: lists of them alone."""
    w = make_world(7)
    cold = range(9001, 9013)
    session = dict.fromkeys(w.shown_at, 1)
    shown = {
        key: [cold[(key[0] + n) % len(cold)] for n in range(1, 1 + len(items))][: len(cold)]
        for key, items in w.models["b"].items()
    }
    given = {
        **world(),
        "shown": support.lists(shown, shown_at=w.shown_at, session=session),
        "catalog": support.catalog(
            [*w.catalog, *cold], creators=w.creators, created=w.created, embedding=w.embedding,
            categories=w.categories,
        ),
    }  # fmt: skip
    assert outside(everything(given)) == {}
