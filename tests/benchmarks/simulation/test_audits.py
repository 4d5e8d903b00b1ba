"""A small world: its audits are put together as the product would, and come out the same however they are cut."""

from __future__ import annotations

import numpy as np
import pytest

import audit
from benchmarks.simulation import audits, run
from benchmarks.simulation.audits import Setting, names, points, true_means
from benchmarks.simulation.plan import Series
from benchmarks.simulation.population import PLAIN
from benchmarks.simulation.world import MODELS, K, Spec, draw

SMALL = Spec("small", items=120, people=150, seed=5)
MAIN = {model: PLAIN[model] for model in ("same", "near", "different", "mirror")}


@pytest.fixture(scope="module")
def world():
    return draw(SMALL)


@pytest.fixture(scope="module")
def population():
    return audits.population(SMALL)


def test_everybody_is_there_twice_with_the_lists_of_the_two_equal_models_swapped(world):
    n = SMALL.people
    one, other = world.lists["baseline"], world.lists["same"]
    assert (one[:n] == other[n:]).all()
    assert (one[n:] == other[:n]).all()
    assert (one[:n] != other[:n]).any()
    for lists in world.lists.values():
        assert all(len(set(items)) == K for items in lists.tolist())
    assert 0.02 < (world.lists["near"] != one).mean() < 0.06


def test_the_mirror_keeps_how_items_and_creators_share_attention(world):
    """Items change places in pairs, and whoever made one of a pair's made its partner's place."""
    mirrored = world.lists["mirror"]
    assert sorted(np.bincount(mirrored.reshape(-1), minlength=120)) == sorted(
        np.bincount(world.lists["same"].reshape(-1), minlength=120)
    )
    by = [
        np.bincount(world.creators[x.reshape(-1)], minlength=world.creators.max() + 1)
        for x in (mirrored, world.lists["same"])
    ]
    assert sorted(by[0]) == sorted(by[1])
    assert (by[0] != by[1]).any()


def test_an_audit_of_everybody_is_what_the_product_says_of_the_tables(world, population):
    """Only buckets differ, as they come from hashes there: values agree, standard errors nearly."""
    result = audit.compare(
        {m: world.recommendations(m).to_pandas() for m in MODELS}, k=[K], viewport=K, guardrails="none", least_cell=1,
        metrics=[name.partition("@")[0] for name in names()],
        **{name: table.to_pandas() for name, table in world.tables().items()},
    )  # fmt: skip
    n = len(population)
    sample = population.sample(np.arange(n), np.zeros(n), MAIN)
    _, comparisons = sample.comparer(0).all()
    assert {c.segment for c in comparisons} > {"all", "activity=heavy"}
    for c in comparisons:
        expected = result.comparison(c.model, c.metric, c.segment)
        assert c.difference == pytest.approx(expected.difference, abs=1e-9), c.metric
        if c.ci_low is not None and c.metric.startswith(("arp", "item_gini")):
            width = expected.ci_high - expected.ci_low
            assert c.ci_high - c.ci_low == pytest.approx(width, rel=0.4)


def test_mixed_candidates_and_true_means(population):
    setting = Setting(SMALL, 4_000, 1, {"mixed": ("different", "same", 0.3), **MAIN})
    true = true_means(setting)
    for metric in ("ndcg@10", "tail_share@10"):
        a, b = true["same", metric, "all"], true["different", metric, "all"]
        assert true["baseline", metric, "all"] == pytest.approx(a, rel=1e-12)
        assert true["mixed", metric, "all"] == pytest.approx(0.7 * a + 0.3 * b, rel=0.02)
    values = points(setting, "truth", range(6))
    assert values.shape == (6, 6, len(names()))
    for i, metric in enumerate(names()):
        for j, model in enumerate(("baseline", "mixed", *MAIN)):
            if (model, metric, "all") in true:
                spread = values[:, j, i].std(ddof=1) / np.sqrt(6)
                assert abs(values[:, j, i].mean() - true[model, metric, "all"]) < 6 * spread + 1e-12


def test_expected_coverage_has_a_closed_form():
    """Users are drawn with replacement: an item is missed with probability (1 − share shown it)^n."""
    p = audits.population(SMALL)
    values = points(Setting(SMALL, 60, 2, MAIN), "truth", range(80))
    at = names().index("catalog_coverage@10")
    for j, model in enumerate(("baseline", *MAIN)):
        share = np.bincount(p.lists[model].reshape(-1), minlength=120) / len(p)
        found = values[:, j, at]
        expected = 1 - ((1 - share) ** 60).mean()
        assert found.mean() == pytest.approx(expected, abs=5 * found.std(ddof=1) / np.sqrt(80))


def test_results_depend_on_no_cut():
    some = {"different": MAIN["different"]}
    setting = Setting(SMALL, 60, 3, some, {"different": {"ndcg": {"max_drop": 0.1}}}, cells=False)
    whole = audits.audits(setting, range(2))
    for i in (1, 0):
        alone = audits.audits(setting, [i])
        assert np.array_equal(alone.values[0], whole.values[i], equal_nan=True)
        assert (alone.verdicts[0] == whole.verdicts[i]).all()
        assert (alone.on_the_bound["different"][0] == whole.on_the_bound["different"][i]).all()
    assert not np.array_equal(whole.values[0], whole.values[1], equal_nan=True)


def test_the_bounds_are_the_true_changes(monkeypatch):
    seen = []
    monkeypatch.setattr(run, "audits", lambda setting, numbers: seen.append(setting) or 1 / 0)
    series = Series("models", SMALL, 60, 20)
    with pytest.raises(ZeroDivisionError):
        run.run([series], processes=1, truth=8, pilot=4, others=0)
    (setting,) = seen
    true = true_means(setting)
    a, b = (true[m, "ndcg@10", "all"] for m in ("baseline", "different"))
    (kind, bound), relative = setting.bounds["different"]["ndcg"].items()
    assert (kind, relative) == ("max_rise" if b > a else "max_drop", ("relative", True))
    assert bound == pytest.approx(abs(b / a - 1))
