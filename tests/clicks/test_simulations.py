"""Simulated logs whose truth is known: no bias, intervals that hold, DR where it should be better."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audit.clicks import interleaving_result, off_policy, resample

pytestmark = pytest.mark.slow

RUNS = 1000
NAMES = ("ips", "snips", "dm", "dr", "sndr", "control_variate")
ITEMS, CONTEXTS = 5, 4


def world(seed):
    rng = np.random.default_rng(seed)
    mu = rng.dirichlet(np.ones(ITEMS) * 5, CONTEXTS)
    pi = rng.dirichlet(np.ones(ITEMS), CONTEXTS)
    rate = rng.uniform(0.05, 0.5, (CONTEXTS, ITEMS))
    return mu, pi, rate, float((pi * rate).sum(1).mean())


def logged(mu, rate, n, rng):
    context = rng.integers(0, CONTEXTS, n)
    item = (rng.random(n)[:, None] > mu[context].cumsum(1)).sum(1)
    click = (rng.random(n) < rate[context, item]).astype(int)
    return pd.DataFrame(
        {"context_id": context, "item_id": item, "position": 1, "propensity": mu[context, item], "click": click}
    )  # fmt: skip


def target_of(pi):
    cells = [(c, a, 1, pi[c, a]) for c in range(CONTEXTS) for a in range(ITEMS)]
    return pd.DataFrame(cells, columns=["context_id", "item_id", "position", "probability"])


@pytest.fixture(scope="module")
def runs():
    """1,000 logs of 1,500 rows: values, lower and upper ends, ``[runs, estimators]``, and the truth."""
    mu, pi, rate, truth = world(3)
    target, rng = target_of(pi), np.random.default_rng(0)
    before, resample.REPLICATES = resample.REPLICATES, 1000
    model = target.assign(value=[rate[c, a] * 0.8 + 0.02 for c in range(CONTEXTS) for a in range(ITEMS)]).drop(columns="probability")  # fmt: skip
    tables = [
        off_policy(
            logged(mu, rate, 1500, rng), target, estimators=NAMES, seed=i, reward_model=model
        ).table
        for i in range(RUNS)
    ]
    resample.REPLICATES = before
    values, low, high = (np.array([t[c] for t in tables]) for c in ("value", "ci_low", "ci_high"))
    return pd.DataFrame(values, columns=NAMES), low, high, truth


def test_no_bias(runs):
    values, _, _, truth = runs
    for name in ("ips", "dr", "snips", "sndr", "control_variate"):
        miss = values[name].mean() - truth
        # The last three are consistent; their bias is of the order of variance.
        slack = 0 if name in ("ips", "dr") else values[name].var()
        assert abs(miss) < 3.3 * values[name].std() / np.sqrt(RUNS) + slack, name
    assert abs(values.dm.mean() - truth) > 10 * values.dm.std() / np.sqrt(
        RUNS
    )  # Its model is wrong.


def test_intervals_hold_the_truth_as_often_as_they_say(runs):
    values, low, high, truth = runs
    held = ((low <= truth) & (truth <= high)).mean(axis=0)
    for name, share in zip(values.columns, held, strict=True):
        if name != "dm":
            assert 0.93 <= share <= 0.97, (name, share)


def test_doubly_robust_beats_both_of_its_parts(runs):
    values, _, _, truth = runs
    error = ((values - truth) ** 2).mean()
    assert error.dr < error.ips
    assert error.dr < error.dm
    assert error.sndr < error.snips


def test_the_table_s_interval_counts_that_it_was_fitted():
    """Context matters to neither policy nor clicks, so the table is right, and its fit is the only noise."""
    mu, pi, rate, _ = world(5)
    mu, pi, rate = (np.tile(x[:1], (CONTEXTS, 1)) for x in (mu, pi, rate))
    truth, target, rng = float((pi[0] * rate[0]).sum()), target_of(pi), np.random.default_rng(1)
    held = 0
    for i in range(400):
        log = logged(mu, rate, 3000, rng)
        row = off_policy(log, target, estimators=["dm"], seed=i).table.loc["dm"]
        held += row.ci_low <= truth <= row.ci_high
    assert 0.92 <= held / 400 <= 0.98


def test_users_who_click_alike_need_intervals_by_user():
    mu, pi, rate, truth = world(7)
    target, rng = target_of(pi), np.random.default_rng(2)
    held = {"user": 0, "row": 0}
    for i in range(300):
        log = logged(mu, rate, 2000, rng)
        user = rng.integers(0, 100, 2000)
        eager = rng.uniform(0, 2, 100)[user]
        log["click"] = (rng.random(2000) < rate[log.context_id, log.item_id] * eager).astype(int)
        for kind, data in (("user", log.assign(user_id=user)), ("row", log)):
            row = off_policy(data, target, estimators=["snips"], seed=i).table.loc["snips"]
            held[kind] += row.ci_low <= truth <= row.ci_high
    assert 0.915 <= held["user"] / 300 <= 0.975
    assert held["row"] < held["user"]


def test_equal_rankers_win_as_often_as_chance_says():
    rng = np.random.default_rng(0)
    sign, interval, any_time = 0, 0, 0
    for i in range(400):
        n = 300
        team = np.where(rng.random((n, 2)).argsort(1) == 0, "A", "B")
        log = pd.DataFrame(
            {"impression_id": np.repeat(np.arange(n), 2), "item_id": np.tile([1, 2], n), "position": np.tile([1, 2], n),
             "team": team.ravel(), "click": (rng.random(2 * n) < 0.3).astype(int)}
        )  # fmt: skip
        found = interleaving_result(log, seed=i)
        sign += found.p_value < 0.05
        interval += not found.ci_low <= 0 <= found.ci_high
        any_time += found.stopped_at is not None
    assert sign / 400 <= 0.07
    assert 0.02 <= interval / 400 <= 0.085
    assert any_time / 400 <= 0.06
