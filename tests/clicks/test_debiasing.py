"""Debiased metrics: exact expectations by enumeration, then logs with known truth."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from audit.clicks import debias, resample
from audit.clicks.debiasing.measures import COLUMNS, measured
from audit.errors import ConfigError

THETA = np.array([1.0, 0.5, 0.25, 0.2, 0.1])
RELEVANT = [1, 2, 4]
NAMES = ("dcg", "pairs", "mrr", "relevant", "inverse")
KNOWN = {
    "ecabd": {
        "E_ips": [2.0616063116448506, 2.75, 1, 3, 1.75], "Var_ips": [10.379699359499167, 40.3125, 5.625, 13, 9.8125],
        "E_naive": [0.47307071742956097, None, 0.296875],
        "E_clip": [1.4616063116448508, 1.7, 0.7, 2.4, 1.15], "Var_clip": [2.819699359499164, 8.835, 1.035, 5.44, 2.2525],
        "true": {"ndcg": 0.9674679834891693, "map": 0.9166666666666666, "mrr": 1.0, "recall": 1.0},
    },
    "abcde": {
        "E_ips": [1.5177825608059992, 1.7666666666666668, 0.5, 3, 1.0333333333333334],
        "Var_ips": [2.494968204128949, 8.334444444444443, 1.1611111111111112, 13, 0.9433333333333327],
        "E_naive": [0.47915015750918294, None, 0.2991666666666667],
        "E_clip": [1.2856708764652742, 1.406666666666667, 0.5, 2.4, 0.9133333333333333],
        "Var_clip": [1.3635756899716935, 3.588844444444444, 0.39311111111111113, 5.44, 0.640933333333333],
        "true": {"ndcg": 0.7122630665145961, "map": 0.5888888888888889, "mrr": 0.5, "recall": 1.0},
    },
}  # fmt: skip
NAIVE_AP = {"ecabd": 0.28645833333333337, "abcde": 0.30819444444444444}


def moments(order, weigh):
    """Expectation and variance of each column over all looks at the three relevant items."""
    rank = np.array([order.index(c) + 1 for c in "abcde"], np.int32)
    first = second = np.zeros(len(COLUMNS))
    for looks in itertools.product([0, 1], repeat=3):
        p = np.prod([THETA[i] if x else 1 - THETA[i] for i, x in zip(RELEVANT, looks, strict=True)])
        at = [i for i, x in zip(RELEVANT, looks, strict=True) if x]
        x = measured(np.array([0, len(at)]), weigh(THETA[at]), rank[at], 5)[0]
        first, second = first + p * x, second + p * x * x
    return dict(zip(COLUMNS, first, strict=True)), dict(zip(COLUMNS, second - first**2, strict=True))  # fmt: skip


@pytest.mark.parametrize("order", KNOWN)
def test_exact_moments(order):
    known = KNOWN[order]
    ways = {"ips": lambda t: 1 / t, "clip": lambda t: np.minimum(1 / t, 4)}
    for way, weigh in ways.items():
        mean, variance = moments(order, weigh)
        assert [mean[c] for c in NAMES] == pytest.approx(known[f"E_{way}"], rel=1e-12)
        assert [variance[c] for c in NAMES] == pytest.approx(known[f"Var_{way}"], rel=1e-12)
    mean, _ = moments(order, lambda t: 1 / t)
    for metric, value in known["true"].items():
        assert mean[metric] == pytest.approx(value, rel=1e-12), metric
    mean, _ = moments(order, np.ones_like)
    assert [mean["dcg"], mean["mrr"]] == pytest.approx(known["E_naive"][::2], rel=1e-12)
    assert mean["map"] == pytest.approx(NAIVE_AP[order], rel=1e-12)


def test_polynomials_of_any_relevance():
    """With weights that are probabilities, columns are expectations over what is relevant: brute force, cut at 3."""
    rng = np.random.default_rng(1)
    weight, rank, k = rng.uniform(0.1, 0.9, 5), np.array([4, 1, 0, 3, 2], np.int32), 3
    found = dict(zip(COLUMNS, measured(np.array([0, 5]), weight, rank, k)[0], strict=True))
    expected = dict.fromkeys(("ndcg", "map", "mrr", "recall", "ideal"), 0.0)
    gain = lambda r: 1 / np.log2(r + 1)  # noqa: E731
    for relevant in itertools.product([0, 1], repeat=5):
        p = np.prod([w if x else 1 - w for w, x in zip(weight, relevant, strict=True)])
        ranks = sorted(r for r, x in zip(rank, relevant, strict=True) if x and 1 <= r <= k)
        n = sum(relevant)
        if not n:
            continue
        ideal = sum(gain(j) for j in range(1, min(n, k) + 1))
        expected["ideal"] += p * ideal
        expected["ndcg"] += p * sum(map(gain, ranks)) / ideal
        expected["map"] += p * sum((i + 1) / r for i, r in enumerate(ranks)) / min(n, k)
        expected["mrr"] += p / ranks[0] if ranks else 0
        expected["recall"] += p * len(ranks) / n
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-12), name


# ------------------------------------------------------------------------------- a log and two models

GAMMA = np.array([0.15, 0.2, 0.25, 0.4, 0.6, 0.3])
OLD, NEW = [0, 1, 2, 3, 4, 5], [4, 3, 5, 2, 1, 0]
LOOKS = np.array([1.0, 0.5, 0.3, 0.2, 0.15, 0.1])


def world(users, seed, *, per_user=4):
    """The old ranking, of bad items first, with two neighbours swapped at random; the truth is GAMMA."""
    rng = np.random.default_rng(seed)
    n = users * per_user
    order = np.tile(OLD, (n, 1))
    at, coin, rows = rng.integers(0, 5, n), rng.random(n) < 0.5, np.arange(n)
    order[rows, at], order[rows, at + 1] = at + coin, at + ~coin
    click = (rng.random((n, 6)) < LOOKS * GAMMA[order]).astype(int)
    return pd.DataFrame({
        "impression_id": np.repeat(rows, 6), "user_id": np.repeat(rows // per_user, 6), "item_id": order.ravel(),
        "context_id": 0, "position": np.tile(np.arange(1, 7), n), "click": click.ravel(),
    })  # fmt: skip


def models(users):
    return {
        name: pd.DataFrame({"user_id": np.repeat(np.arange(users), 6), "item_id": np.tile(of, users), "rank": np.tile(np.arange(1, 7), users)})
        for name, of in (("old", OLD), ("new", NEW))
    }  # fmt: skip


def truth(of, metric, k=3):
    """Expectation of a metric over what is relevant, item by item with probability GAMMA."""
    rank = np.array([of.index(i) + 1 for i in range(6)], np.int32)
    column = "hits" if metric == "precision" else metric
    value = measured(np.array([0, 6]), GAMMA, rank, k)[0][COLUMNS.index(column)]
    return value / k if metric == "precision" else value


def test_naive_rewards_the_old_ranking_and_debiased_is_right(monkeypatch):
    monkeypatch.setattr(resample, "REPLICATES", 500)
    log, lists = world(1500, 0), models(1500)
    found = debias(log, lists, k=3, propensities="em")
    assert truth(NEW, "ndcg") > truth(OLD, "ndcg")
    assert found.reading("new", "none") == "worse"
    assert found.reading("new") == "better"
    assert found.changed == ["new"]
    assert found.supported
    for metric in ("ndcg", "dcg", "map", "mrr", "precision", "recall"):
        row = found.differences.loc[("ips", "new", metric)]
        true = truth(NEW, metric) - truth(OLD, metric)
        width = row.ci_high - row.ci_low
        assert abs(row.difference - true) < width, metric
        clipped = found.table.loc[("clipped_ips", "new", metric)]
        assert clipped.clipping_bias == pytest.approx(clipped.value - found.table.value[("ips", "new", metric)])  # fmt: skip
    exact = debias(log, lists, k=3, propensities=pd.DataFrame({"propensity": LOOKS}, index=pd.Index(range(1, 7), name="position")))  # fmt: skip
    wide, narrow = (x.table.loc[("ips", "new", "dcg")] for x in (found, exact))
    # What propensities add to chance is in the interval.
    assert wide.ci_high - wide.ci_low > 1.1 * (narrow.ci_high - narrow.ci_low)
    # The scale of propensities, which no log tells, has no effect on self-normalised forms.
    half = debias(log, lists, k=3, metrics=("dcg",), propensities=pd.DataFrame({"position": range(1, 7), "propensity": LOOKS / 2}))  # fmt: skip
    assert half.table.value[("snips", "new", "dcg")] == pytest.approx(exact.table.value[("snips", "new", "dcg")])  # fmt: skip


def test_what_the_log_cannot_say(monkeypatch):
    monkeypatch.setattr(resample, "REPLICATES", 50)
    log, lists = world(100, 1), models(100)
    lists["new"] = lists["new"].assign(item_id=lists["new"].item_id + 3)
    found = debias(log, lists, k=3, metrics=("dcg",))
    assert found.shown_share == {"old": 1.0, "new": pytest.approx(0.0)}
    assert not found.supported
    assert "the log showed 0% of what new puts in its first 3" in " ".join(found.reasons)
    with pytest.raises(ConfigError, match="list of every model"):
        debias(
            log, {"a": lists["old"].assign(user_id=lists["old"].user_id + 10**6), "b": lists["new"]}
        )
    with pytest.raises(ConfigError, match="impression_id"):
        debias(log.drop(columns="impression_id"), lists)
    with pytest.raises(ConfigError, match="self-normalised"):
        debias(log, lists, debias="snips", metrics=("precision",))
    with pytest.raises(ConfigError, match="Did you mean 'ips'"):
        debias(log, lists, debias="ipss")
    with pytest.raises(ConfigError, match="no value for positions"):
        debias(log, lists, propensities="pivot")
    with pytest.raises(ConfigError, match="Did you mean 'em'"):
        debias(log, lists, propensities="emm")
