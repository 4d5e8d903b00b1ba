"""Simulated logs with known truth: propensities recovered, metrics without bias, intervals that hold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audit.clicks import debias, propensities, resample
from tests.clicks.test_debiasing import GAMMA, LOOKS, NEW, OLD, models, truth, world

pytestmark = pytest.mark.slow

RUNS = 1000
USERS = 300
METHODS = ("em", "all_pairs", "adjacent_chain", "pivot")
METRICS = ("dcg", "ndcg", "map", "mrr", "precision", "recall")


@pytest.fixture(autouse=True, scope="module")
def fewer():
    before, resample.REPLICATES = resample.REPLICATES, 1000
    yield
    resample.REPLICATES = before


@pytest.fixture(scope="module")
def known_runs():
    """IPS with known propensities: ``[runs, metrics]`` values of the new model, lower and upper ends."""
    table = pd.DataFrame({"position": range(1, 7), "propensity": LOOKS})
    lists = models(USERS)
    found = [
        debias(world(USERS, 10 + i), lists, k=3, propensities=table, metrics=METRICS, seed=i).table
        for i in range(RUNS)
    ]
    rows = [t.loc["ips"].loc["new"].loc[list(METRICS)] for t in found]
    return tuple(np.array([r[c] for r in rows]) for c in ("value", "ci_low", "ci_high"))  # fmt: skip


def test_ips_metrics_have_no_bias(known_runs):
    values, _, _ = known_runs
    for i, metric in enumerate(METRICS):
        error = values[:, i].std() / np.sqrt(RUNS)
        assert abs(values[:, i].mean() - truth(NEW, metric)) < 3.3 * error, metric


def test_ips_intervals_hold(known_runs):
    _, low, high = known_runs
    for i, metric in enumerate(METRICS):
        held = ((low[:, i] <= truth(NEW, metric)) & (truth(NEW, metric) <= high[:, i])).mean()
        assert 0.925 <= held <= 0.975, (metric, held)


def shuffled(n, seed):
    """Whole lists shuffled: every pair of positions can be compared."""
    rng = np.random.default_rng(seed)
    order = rng.random((n, 6)).argsort(1)
    click = (rng.random((n, 6)) < LOOKS * GAMMA[order]).astype(int)
    return pd.DataFrame({
        "impression_id": np.repeat(np.arange(n), 6), "item_id": order.ravel(), "position": np.tile(np.arange(1, 7), n),
        "click": click.ravel(),
    })  # fmt: skip


@pytest.mark.parametrize("method", [*METHODS, "randomised"])
def test_propensities_are_recovered_and_their_intervals_hold(method):
    tables = [propensities(shuffled(4000, 50_000 + i), method=method, seed=i) for i in range(RUNS)]
    value, low, high = (
        np.array([t[c] for t in tables])[:, 1:] for c in ("propensity", "ci_low", "ci_high")
    )
    true = LOOKS[1:] / LOOKS[0]
    log = np.log(value)
    # The logarithm of a ratio has a bias of the order of its variance.
    assert (
        np.abs(log.mean(0) - np.log(true)) < log.var(0) + 3.3 * log.std(0) / np.sqrt(RUNS)
    ).all()
    held = ((low <= true) & (true <= high)).mean(0)
    assert (np.abs(held - 0.95) <= 0.025).all(), held
    assert 0.93 <= held.mean() <= 0.97, held


def test_estimated_propensities_widen_intervals_by_what_they_add():
    """Clicks and propensities of the same log: the joint interval of the difference holds."""
    lists = models(USERS)
    runs = 500
    hits, without = [], []
    true = truth(NEW, "dcg") - truth(OLD, "dcg")
    for i in range(runs):
        log = world(USERS * 2, 90_000 + i)
        found = debias(
            log,
            {n: pd.concat([f, f.assign(user_id=f.user_id + USERS)]) for n, f in lists.items()},
            k=3,
            metrics=("dcg",),
            seed=i,
        )
        row = found.differences.loc[("ips", "new", "dcg")]
        hits.append(row.ci_low <= true <= row.ci_high)
        exact = found.curve.table[["propensity"]]
        row = debias(log, {n: pd.concat([f, f.assign(user_id=f.user_id + USERS)]) for n, f in lists.items()}, k=3, metrics=("dcg",), seed=i, propensities=exact)  # fmt: skip
        row = row.differences.loc[("ips", "new", "dcg")]
        without.append(row.ci_low <= true <= row.ci_high)
    assert 0.925 <= np.mean(hits) <= 0.975, np.mean(hits)
    # As if estimated propensities were known: too narrow.
    assert np.mean(without) < 0.9
