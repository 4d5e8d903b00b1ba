"""Exchange rates and standings, against formulas and per-user arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from audit.inference.compare import Comparer
from audit.inference.tradeoff import fieller, tradeoff_of
from tests import support

USERS = 400
HISTORY = {u: [1] if u < 40 else [2] if u < 80 else [3] for u in range(100)}
"""Items 1 and 2 make 80 of 100 interactions: they are the head."""


def tradeoff(models):
    given = support.inputs(
        models, relevance={u: [1] for u in range(USERS)}, history=HISTORY, catalog=range(1, 601)
    )
    dataset = support.encoded(given, viewport=2)
    metrics = ["precision", "tail_share_by_count", "tail_share", "catalog_coverage", "item_gini"]
    plan, measured = support.measured(dataset, metrics, [2])
    comparer = Comparer(dataset, plan, measured, 0)
    _, comparisons = comparer.all()
    return tradeoff_of(comparer, comparisons, "precision@2"), comparisons


def same(*items):
    return {u: list(items) for u in range(USERS)}


def spread(hit, width, seed):
    """Lists that start with item 1 at the given rate; other places hold item 2 or an item of the tail."""
    rng = np.random.default_rng(seed)
    return {
        u: [
            1 if rng.random() < hit else 3 + int(rng.integers(width)),
            2 if rng.random() < 0.4 else 3 + width + int(rng.integers(width)),
        ]
        for u in range(USERS)
    }


@pytest.mark.parametrize(
    ("y", "x", "var_y", "var_x", "cov"),
    [(-0.2, 0.05, 0.001, 1e-4, -1e-4), (0.3, -0.1, 0.002, 1e-4, 1e-4), (0.0, 0.1, 0.01, 1e-3, 0.0)],
)
def test_fieller_holds_just_the_ratios_that_its_test_does_not_reject(y, x, var_y, var_x, cov):
    c = 1.96
    low, high = fieller(y, x, var_y, var_x, cov, c)
    for ratio in (low, high):
        z2 = (y - ratio * x) ** 2 / (var_y - 2 * ratio * cov + ratio**2 * var_x)
        assert z2 == pytest.approx(c**2, rel=1e-9)
    assert low < y / x < high


def test_fieller_has_no_interval_where_the_denominator_may_be_0():
    assert fieller(1.0, 0.1, 0.1, 0.01, 0.0, 1.96) is None


def test_where_relevance_has_no_spread_the_rate_is_the_scaled_difference():
    rng = np.random.default_rng(1)
    lists = {
        "baseline": {u: [int(i) for i in rng.choice(np.arange(3, 601), 2, False)] for u in range(USERS)},
        "candidate": {u: [1, 2 if u % 2 else int(rng.integers(3, 300))] for u in range(USERS)},
    }  # fmt: skip
    found, comparisons = tradeoff(lists)
    for c in comparisons:
        rate = found.rate("candidate", c.metric)
        if rate is None:
            continue
        assert rate.rate == pytest.approx(0.01 * c.difference / 0.5)
        # System metrics have the same t interval; of means the scorecard's is of percentiles.
        off = 0.05 * (c.ci_high - c.ci_low) if c.metric.startswith("tail_share") else 1e-7
        assert rate.ci_low == pytest.approx(0.02 * c.ci_low, abs=0.02 * off)
        assert rate.ci_high == pytest.approx(0.02 * c.ci_high, abs=0.02 * off)
    assert {r.metric for r in found.rates} == {
        "tail_share_by_count@2", "tail_share@2", "catalog_coverage@2", "item_gini@2",
    }  # fmt: skip


def test_of_two_means_it_is_fiellers_of_the_users_values():
    a, b = spread(0.2, 40, 2), spread(0.7, 10, 3)
    found, _ = tradeoff({"baseline": a, "candidate": b})
    rate = found.rate("candidate", "tail_share_by_count@2")

    def values(lists, wanted):
        return np.array([sum(wanted(i) for i in lists[u]) / 2 for u in range(USERS)])

    x = values(b, lambda i: i == 1) - values(a, lambda i: i == 1)
    y = values(b, lambda i: i > 2) - values(a, lambda i: i > 2)
    cov = np.cov(y, x) / USERS
    low, high = fieller(
        y.mean(), x.mean(), cov[0, 0], cov[1, 1], cov[0, 1], stats.t.ppf(0.975, USERS - 1)
    )
    assert rate.rate == pytest.approx(0.01 * y.mean() / x.mean())
    width = 0.01 * (high - low)
    assert rate.ci_low == pytest.approx(0.01 * low, abs=0.04 * width)
    assert rate.ci_high == pytest.approx(0.01 * high, abs=0.04 * width)
    ya = values(a, lambda i: i > 2).mean()
    xa = values(a, lambda i: i == 1).mean()
    assert rate.relative_rate == pytest.approx(y.mean() / ya / (x.mean() / xa))
    assert rate.relative_low < rate.relative_rate < rate.relative_high


def test_no_rate_where_the_headlines_interval_contains_0():
    found, _ = tradeoff({"baseline": spread(0.5, 40, 4), "candidate": spread(0.5, 20, 5)})
    assert found.rates
    for rate in found.rates:
        assert (rate.rate, rate.ci_low, rate.relative_rate) == (None, None, None)
        assert rate.note == "the interval of precision@2 contains 0"


def test_seeds_add_their_variance():
    found, _ = tradeoff({"baseline": same(4, 3), "candidate": [same(1, 3), same(1, 2)]})
    rate = found.rate("candidate", "tail_share_by_count@2")
    # Tail shares 0.5 and 0 against 1: −0.75 with s²/S = 0.125/2; relevance 0.5 for everybody.
    half = stats.t.ppf(0.975, USERS - 1) * math.sqrt(0.125 / 2)
    assert rate.rate == pytest.approx(0.01 * -0.75 / 0.5)
    assert rate.ci_low == pytest.approx(0.01 * (-0.75 - half) / 0.5)
    assert rate.ci_high == pytest.approx(0.01 * (-0.75 + half) / 0.5)


def test_standings_of_every_pair_both_ways():
    models = {
        "baseline": spread(0.4, 100, 6),
        "best": {u: [1, 3 + u % 590] for u in range(USERS)},
        "trade": same(1, 2),
        "again": spread(0.4, 100, 6),
    }
    found, _ = tradeoff(models)
    relation = {(s.model, s.other): s.relation for s in found.standings}
    assert len(relation) == 4 * 3
    assert relation["again", "baseline"] == relation["baseline", "again"] == "not told apart"
    assert relation["best", "trade"] == "dominates"
    assert relation["trade", "best"] == "dominated"
    assert relation["trade", "baseline"] == relation["again", "trade"] == "trades"
    (one,) = [s for s in found.standings if (s.model, s.other) == ("trade", "again")]
    assert one.better == ["precision@2"]
    assert set(one.worse) == {"tail_share@2", "catalog_coverage@2", "item_gini@2"}
