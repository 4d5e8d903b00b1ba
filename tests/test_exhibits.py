"""Curves, deciles, ages, and who lost exposure: from whole audits, against plain counting."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from audit.engine import make_plan, measure
from audit.engine.plan import AGE_BANDS
from audit.exhibits import lorenz, make_exhibits
from audit.metrics.registry import parse
from tests.support import catalog, encoded, inputs, known, lists

ITEMS = 200


def exhibits(given, viewport=3, k=(3,)):
    dataset = encoded(given, viewport=viewport)
    plan = make_plan(dataset, metrics=None, ks=list(k), viewport=viewport, baseline="baseline")
    return make_exhibits(dataset, plan, measure(dataset, plan, threads=1))


@pytest.fixture(scope="module")
def models():
    rng = np.random.default_rng(2)
    rank = np.arange(1, ITEMS + 1)

    def shown(weight):
        return {u: rng.choice(ITEMS, 5, False, p=weight / weight.sum()).tolist() for u in range(90)}

    return {"baseline": shown(1 / (rank + 20)), "candidate": shown(1 / rank**1.2)}


@pytest.fixture(scope="module")
def found(models):
    return exhibits(
        inputs(
            models,
            relevance={u: [u % ITEMS] for u in range(90)},
            history=known({u: range(5 * u) for u in range(1, 41)}, timestamp={(1, 0): 9000}),
            catalog=catalog(
                range(ITEMS),
                creators={i: [f"c{i % 10}"] for i in range(ITEMS)},
                created={i: 8000.0 - 30 * i for i in range(ITEMS)},
                title={i: f"Film {i}" for i in range(0, ITEMS, 2)},
            ),
        )
    )


WEIGHT = 1 / np.log2(np.arange(1, 4) + 1)
WEIGHT = WEIGHT / WEIGHT.sum()


def exposure(shown, key=lambda i: i, n=ITEMS):
    counts = np.zeros((n, 3))
    for items in shown.values():
        for rank, item in enumerate(items[:3]):
            counts[key(item), rank] += 1
    return sum(WEIGHT[rank] * counts[:, rank] for rank in range(3))


def test_a_lorenz_curve_by_hand():
    x, y = lorenz(np.array([3.0, 0.0, 1.0]))
    at = dict(zip(x, y, strict=True))
    assert len(x) == 101
    assert (at[0.0], at[1.0]) == (0, 1)
    # A third of the items has nothing, two thirds a quarter; straight lines between.
    assert at[0.33] == 0
    assert at[0.5] == pytest.approx((0.5 * 3 - 1) * 0.25)
    assert at[0.83] == pytest.approx(0.25 + (0.83 * 3 - 2) * 0.75, abs=1e-6)
    assert y == sorted(y)
    assert lorenz(np.array([])) == ([], [])
    assert lorenz(np.zeros(3)) == ([], [])


def test_lorenz_curves_agree_with_the_gini(models, found):
    for series in found.lorenz_items:
        x = np.sort(exposure(models[series.model]))
        cumulative = np.append(0, np.cumsum(x)) / x.sum()
        expected = np.interp(np.array(series.x) * ITEMS, np.arange(ITEMS + 1), cumulative)
        assert series.y == pytest.approx(expected, abs=1e-6)
    assert [s.model for s in found.lorenz_items] == ["baseline", "candidate"]
    creators = found.lorenz_creators[1]
    x = np.sort(exposure(models["candidate"], lambda i: i % 10, 10))
    assert creators.y[50] == pytest.approx(x[:5].sum() / x.sum(), abs=1e-6)


def test_deciles_of_popularity_with_the_relevant_pairs_beside(models, found):
    # The first items are in most histories, so popularity falls with the id: twenty items a decile.
    assert [s.model for s in found.deciles] == ["baseline", "candidate", "relevance"]
    for series in found.deciles[:2]:
        by = exposure(models[series.model]).reshape(10, 20).sum(1)
        assert series.y == pytest.approx(by / by.sum())
    relevant = np.bincount(np.arange(90) % ITEMS, minlength=ITEMS).reshape(10, 20).sum(1)
    assert found.deciles[2].y == pytest.approx(relevant / 90)
    assert found.deciles[0].x == list(range(1, 11))


def test_ages_by_band(models, found):
    for series in found.ages:
        ages = [1000 + 30 * i for items in models[series.model].values() for i in items[:3]]
        band = np.searchsorted(AGE_BANDS, ages, side="right") - 1
        assert series.y == pytest.approx(np.bincount(band, minlength=len(AGE_BANDS)) / len(ages))
        assert series.x == list(AGE_BANDS)
        assert sum(series.y) == pytest.approx(1)


def sets(models, key=lambda i: i):
    return [
        [{key(i) for i in items[:3]} for items in models[m].values()]
        for m in ("baseline", "candidate")
    ]


@pytest.mark.parametrize(("what", "modulus"), [("items", ITEMS), ("creators", 10)])
def test_lost_and_gained_beside_what_chance_gives(models, found, what, modulus):
    (entry,) = [e for e in found.lost_gained["candidate"] if e.what == what]
    old, new = sets(models, lambda i: i % modulus)
    exposed = set().union(*old), set().union(*new)
    assert (entry.baseline, entry.candidate) == tuple(map(len, exposed))
    assert entry.lost == len(exposed[0] - exposed[1])
    assert entry.gained == len(exposed[1] - exposed[0])
    expected = 0.0
    for member in range(modulus):
        a = sum(member in x and member not in y for x, y in zip(old, new, strict=True))
        b = sum(member in y and member not in x for x, y in zip(old, new, strict=True))
        both = sum(member in x and member in y for x, y in zip(old, new, strict=True))
        if not both and a + b:
            expected += 2.0 ** -(a + b)
    assert entry.expected == pytest.approx(expected)
    assert entry.gained_low <= entry.gained <= entry.gained_high
    assert entry.lost_low <= entry.lost <= entry.lost_high


def test_a_small_count_has_the_exact_poisson_interval(found):
    (creators,) = [e for e in found.lost_gained["candidate"] if e.what == "creators"]
    assert creators.lost == creators.gained == 0
    assert creators.lost_low == 0
    assert creators.lost_high == pytest.approx(stats.chi2.ppf(0.975, 2) / 2)


def test_an_item_in_two_lists_of_a_user_counts_the_user_once():
    shown = {(u, r): [1, 2] for u in range(60) for r in range(3)}
    other = {**shown, (0, 0): [3]}
    (entry,) = exhibits(inputs(baseline=shown, candidate=other), viewport=1, k=(1,)).lost_gained[
        "candidate"
    ]
    # Item 1 is shown to user 0 by both (in another list), item 3 by the candidate only, to one user.
    assert (entry.baseline, entry.candidate, entry.lost, entry.gained) == (1, 2, 0, 1)
    assert entry.expected == 0.5


def test_losers_by_name_with_their_shares(models, found):
    old, new = exposure(models["baseline"]), exposure(models["candidate"])
    change = new / new.sum() - old / old.sum()
    order = sorted(range(ITEMS), key=lambda i: (change[i], i))[:10]
    losers = found.items_lost["candidate"]
    assert [e.id for e in losers] == [str(i) for i in order]
    assert [e.name for e in losers] == [f"Film {i}" if i % 2 == 0 else str(i) for i in order]
    assert [e.baseline for e in losers] == pytest.approx(old[order] / old.sum())
    assert [e.candidate for e in losers] == pytest.approx(new[order] / new.sum())
    creators = found.creators_lost["candidate"]
    assert all(e.candidate < e.baseline for e in creators)
    assert len(creators) < 10


def test_identical_models_lose_nothing(models):
    same = {"baseline": models["baseline"], "candidate": models["baseline"]}
    found = exhibits(inputs(same, catalog=catalog(range(ITEMS), creators={1: ["a"], 2: ["b"]})))
    assert found.items_lost == {"candidate": []}
    assert found.creators_lost == {"candidate": []}
    for entry in found.lost_gained["candidate"]:
        assert (entry.lost, entry.gained, entry.expected) == (0, 0, 0)


def test_what_the_data_do_not_allow_is_left_out(models):
    found = exhibits(inputs(models))
    assert found.lorenz_creators == found.deciles == found.ages == []
    assert found.creators_lost == {}
    assert [e.what for e in found.lost_gained["candidate"]] == ["items"]
    few = {m: {u: shown[u] for u in range(20)} for m, shown in models.items()}
    (entry,) = exhibits(inputs(few)).lost_gained["candidate"]
    assert entry.lost_low is None
    assert entry.gained_high is None


def test_seeds_are_averaged(models):
    seeds = [models["candidate"], {u: [0, 1, 2] for u in range(90)}]
    found = exhibits(
        inputs(baseline=models["baseline"], candidate=seeds, catalog=catalog(range(ITEMS)))
    )
    mean = (exposure(seeds[0]) + exposure(seeds[1])) / 2
    x = np.sort(mean)
    assert found.lorenz_items[1].y[95] == pytest.approx(x[:190].sum() / x.sum(), abs=1e-6)


def test_exposure_of_items_outside_the_catalog_is_in_no_exhibit():
    shown = {u: [1, 99, 2] for u in range(60)}
    other = {u: [2, 99, 1] for u in range(60)}
    found = exhibits(inputs(baseline=shown, candidate=other, catalog=catalog([1, 2, 3])))
    (entry,) = found.lost_gained["candidate"]
    assert (entry.baseline, entry.candidate) == (2, 2)
    assert [e.id for e in found.items_lost["candidate"]] == ["1"]
    (loser,) = found.items_lost["candidate"]
    assert loser.baseline == pytest.approx(1 / (1 + 0.5))


def test_lists_without_times_have_no_ages():
    given = inputs(
        baseline=lists({u: [1] for u in range(60)}),
        candidate={u: [1] for u in range(60)},
        catalog=catalog([1], created={1: 3}),
    )
    assert exhibits(given).ages == []


def test_examples_of_near_duplicates_where_they_are_measured():
    vectors = {1: [1, 0], 2: [0, 1], 3: [2, 0.001], 4: [0.001, 3], 5: [1, 1]}
    given = inputs(
        baseline={1: [1, 2, 3], 2: [3, 1, 5], 3: [2, 5, 4], 4: [5, 6, 1]},
        candidate={1: [1, 2, 5], 2: [5, 1, 6], 3: [2, 5, 1]},
        catalog=catalog(range(1, 7), embedding=vectors, title={1: "One"}),
    )
    dataset = encoded(given, viewport=3)

    def examples(metrics, viewport=3):
        plan = make_plan(
            dataset,
            metrics=[parse(m) for m in metrics],
            ks=[3],
            viewport=viewport,
            baseline="baseline",
        )
        shown = make_exhibits(dataset, plan, measure(dataset, plan, threads=1)).near_duplicates
        return [(e.model, e.first, e.second, round(e.similarity, 5), e.lists) for e in shown]

    pairs = [("baseline", "One", "3", 1.0, 2), ("baseline", "2", "4", 1.0, 1)]
    assert examples(["near_duplicates"]) == pairs
    assert examples(["near_duplicates@3"], viewport=2) == [("baseline", "One", "3", 1.0, 1)]
    assert len(examples(["near_duplicates[threshold=0.5]"])) > len(pairs)
    assert examples(["ild"]) == []
