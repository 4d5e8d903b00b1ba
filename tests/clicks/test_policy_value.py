"""Off-policy evaluation: contexts, units, gates, models, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import audit
from audit.clicks import off_policy, resample
from audit.errors import ConfigError, InputError


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Enough replicates for a rough interval."""
    monkeypatch.setattr(resample, "REPLICATES", 400)


def simulated(n=4000, seed=0, contexts=2, items=3, users=None):
    """A log whose context decides what is good, and a target that knows it: rows, target, the target's true value."""
    rng = np.random.default_rng(seed)
    mu = rng.dirichlet(np.ones(items) * 3, contexts)
    pi = rng.dirichlet(np.ones(items), contexts)
    rate = rng.uniform(0.05, 0.6, (contexts, items))
    context = rng.integers(0, contexts, n)
    item = np.array([rng.choice(items, p=mu[c]) for c in context])
    log = pd.DataFrame(
        {"context_id": context, "item_id": item, "position": 1, "propensity": mu[context, item],
         "click": (rng.random(n) < rate[context, item]).astype(int)}
    )  # fmt: skip
    if users:
        log["user_id"] = rng.integers(0, users, n)
    cells = [(c, i, 1, pi[c, i]) for c in range(contexts) for i in range(items)]
    target = pd.DataFrame(cells, columns=["context_id", "item_id", "position", "probability"])
    share = np.bincount(context, minlength=contexts) / n
    return log, target, float((share[:, None] * pi * rate).sum())


def by_hand(log, target):
    keys = [k for k in ("context_id", "item_id", "position") if k in target]
    both = log.merge(target, on=keys, how="left")
    return (both.probability.fillna(0) / both.propensity).to_numpy(), log.click.to_numpy(float)


def test_contexts_decide_the_weights():
    log, target, truth = simulated()
    found = off_policy(log, target)
    w, r = by_hand(log, target)
    assert found.table.index.tolist() == ["ips", "snips", "dr"]
    assert found.table.columns.tolist() == ["value", "ci_low", "ci_high"]
    assert found.table.value["ips"] == pytest.approx((w * r).mean())
    assert found.table.value["snips"] == pytest.approx((w * r).sum() / w.sum())
    assert ((found.table.ci_low < truth) & (truth < found.table.ci_high)).all()
    assert found.supported and found.reasons == []
    # The same rows in another order, with other names, give the same bytes.
    again = off_policy(
        log.sample(frac=1, random_state=1).rename(columns={"propensity": "pscore", "context_id": "ctx"}),
        target.sample(frac=1, random_state=2), columns={"context_id": "ctx"},
    )  # fmt: skip
    pd.testing.assert_frame_equal(found.table, again.table, check_exact=True)


def test_rows_of_a_user_are_drawn_together():
    log, target, _ = simulated(n=2000)
    # Each row four times, as four rows of one user, and as four users.
    four = pd.concat([log.assign(user_id=np.arange(len(log)), timestamp=i) for i in range(4)])
    apart = four.assign(user_id=np.arange(len(four)))
    width = [
        (t := off_policy(one, target, estimators=["ips"]).table.loc["ips"]).ci_high - t.ci_low
        for one in (four, apart)
    ]
    assert width[0] / width[1] == pytest.approx(2, rel=0.1)  # sqrt(4)


def test_items_that_only_one_side_knows():
    log = pd.DataFrame(
        {"item_id": ["a", "b"] * 100, "position": 1, "click": [1, 0] * 100, "propensity": 0.5}
    )
    target = pd.DataFrame({"item_id": ["z", "a"], "position": 1, "probability": [0.04, 0.96]})
    found = off_policy(log, target, estimators=["ips", "dm"])
    # w is 1.92 on a, 0 on b; q(a) = (100 + 50·½)/150, q(z) = ½.
    assert found.table.value["ips"] == pytest.approx(0.96)
    assert found.table.value["dm"] == pytest.approx(0.96 * 125 / 150 + 0.04 * 0.5)
    assert found.diagnostics.unsupported == pytest.approx(0.04)
    assert found.exposure.set_index("item_id").target.to_dict() == pytest.approx({"a": 0.96, "b": 0, "z": 0.04})  # fmt: skip


def test_a_deterministic_log_supports_nothing_else():
    log = pd.DataFrame({"item_id": 1, "position": 1, "click": [1, 0] * 500, "propensity": 1.0})
    target = pd.DataFrame({"item_id": [1, 2], "position": 1, "probability": 0.5})
    found = off_policy(log, target)
    assert not found.supported
    assert found.table.isna().all(axis=None)
    assert "puts 50.0% of its probability on items and positions that were never shown" in found.reasons[0]  # fmt: skip
    # Its own policy it supports.
    own = off_policy(log, pd.DataFrame({"item_id": [1], "position": 1, "probability": 1.0}))
    assert own.supported
    assert own.table.value.tolist() == pytest.approx([0.5] * 3)


def test_wrong_propensities_show_in_the_mean_weight():
    log, target, _ = simulated()
    found = off_policy(log.assign(propensity=log.propensity * 0.8), target)
    assert not found.supported
    assert "the mean weight is 1.2" in found.reasons[0]
    assert "the propensities are not those" in found.reasons[0]


def test_a_small_log_gets_a_value_and_no_interval():
    log = pd.DataFrame({"item_id": [1, 2, 1, 2], "position": 1, "click": [1, 0, 0, 1], "propensity": 0.5})  # fmt: skip
    target = pd.DataFrame({"item_id": [1, 2], "position": 1, "probability": [0.8, 0.2]})
    found = off_policy(log, target, estimators=["ips"])
    assert found.table.value["ips"] == pytest.approx((1.6 + 0.4) / 4)
    assert found.table[["ci_low", "ci_high"]].isna().all(axis=None)
    assert not found.supported
    assert "the log is small: an effective 3 of 4 rows" in found.reasons[0]


def test_no_click_at_all_is_told_by_the_exact_interval():
    log = pd.DataFrame({"item_id": [1, 2] * 500, "position": 1, "click": 0, "propensity": 0.5})
    target = pd.DataFrame({"item_id": [1, 2], "position": 1, "probability": 0.5})
    row = off_policy(log, target, estimators=["ips"]).table.loc["ips"]
    assert row.value == row.ci_low == 0
    # Weights are 1: 1 − 0.025^(1/n).
    assert row.ci_high == pytest.approx(1 - 0.025 ** (1 / 1000))


@pytest.mark.parametrize("model", ["table", "table_crossfit", "logistic", "tree", "given"])
def test_models_of_rewards(model):
    log, target, truth = simulated(n=6000, users=500)
    kind = model
    if model == "tree":
        from sklearn.tree import DecisionTreeRegressor

        kind = DecisionTreeRegressor(max_depth=4)
    elif model == "given":
        kind = target.rename(columns={"probability": "value"})
    found = off_policy(log, target, estimators=["dm", "dr", "sndr"], reward_model=kind)
    assert found.table.value["dr"] == pytest.approx(truth, abs=0.04)
    if model == "given":
        q = target.probability
        context = log.context_id.map((target.probability * q).groupby(target.context_id).sum())
        assert found.table.value["dm"] == pytest.approx(context.mean())
        w, r = by_hand(log, target)
        own = log.merge(target).probability.to_numpy()
        assert found.table.value["dr"] == pytest.approx((context + w * (r - own)).mean())
    elif model == "tree":  # Context is a feature: the model alone is right.
        assert found.table.value["dm"] == pytest.approx(truth, abs=0.03)


def test_clip_is_for_all_that_have_none_of_their_own():
    log, target, _ = simulated()
    w, r = by_hand(log, target)
    found = off_policy(log, target, estimators=["ips", "snips", "IPS[clip=0.5]", "switch-dr"], clip=1.5)  # fmt: skip
    assert found.table.value["ips"] == pytest.approx((np.minimum(w, 1.5) * r).mean())
    assert found.table.value["snips"] == pytest.approx((np.minimum(w, 1.5) * r).sum() / np.minimum(w, 1.5).sum())  # fmt: skip
    assert found.table.value["IPS[clip=0.5]"] == pytest.approx((np.minimum(w, 0.5) * r).mean())
    assert found.parameters == {"ips": 1.5, "snips": 1.5, "IPS[clip=0.5]": 0.5, "switch-dr": 1.5}


def test_exposure_beyond_accuracy():
    log = pd.DataFrame(
        {"item_id": [1, 2, 3, 1] * 50, "position": [1, 2] * 100, "click": [1, 0] * 100, "propensity": 0.5}
    )  # fmt: skip
    target = pd.DataFrame(
        {"item_id": [1, 2, 1, 2], "position": [1, 1, 2, 2], "probability": [0.9, 0.1, 0.4, 0.6]}
    )
    catalog = pd.DataFrame({"item_id": [1, 2, 3, 4], "creator_id": ["x", "y", "y", "z"]})
    history = pd.DataFrame({"user_id": range(10), "item_id": [1] * 9 + [2]})
    found = off_policy(log, target, estimators=["ips"], catalog=catalog, history=history).beyond
    second = 1 / np.log2(3)
    logged = np.array([50 + 50 * second, 50 * second, 50, 0])
    new = np.array([90 + 40 * second, 10 + 60 * second, 0, 0])
    for column, x in (("logged", logged), ("target", new)):
        assert found[column]["tail_share"] == pytest.approx(x[1:].sum() / x.sum())
        creators = np.sort([x[0], x[1] + x[2], x[3]])
        gini = (creators * np.array([-2, 0, 2])).sum() / (3 * creators.sum())
        assert found[column]["creator_gini"] == pytest.approx(gini)
        assert found[column]["items_shown"] == (x > 0).sum()


def test_what_is_refused():
    log, target, _ = simulated(n=200)
    with pytest.raises(ConfigError, match="no column 'propensity'"):
        off_policy(log.drop(columns="propensity"), target)
    with pytest.raises(ConfigError, match=r"1 of 200 rows have none.*Nothing is put"):
        off_policy(log.assign(propensity=log.propensity.where(log.index > 0)), target)
    with pytest.raises(ConfigError, match=r"unknown estimator 'snip'\. Did you mean 'snips'"):
        off_policy(log, target, estimators=["snip"])
    with pytest.raises(ConfigError, match=r"sub_gaussian: lambda = 2 lies outside \(0, 1\]"):
        off_policy(log, target, estimators=["sub_gaussian"], clip=2)
    with pytest.raises(ConfigError, match="unknown reward model 'lasso'"):
        off_policy(log, target, reward_model="lasso")
    with pytest.raises(ConfigError, match="mips needs categories"):
        off_policy(log, target, estimators=["mips"])
    with pytest.raises(InputError, match="add up to less than 1"):
        off_policy(log, target[target.item_id > 0])
    with pytest.raises(InputError, match="add up to more than 1"):
        off_policy(log, target.assign(probability=0.9))
    with pytest.raises(InputError, match="outside \\[0, 1\\]"):
        off_policy(log, target.assign(probability=-0.1))
    with pytest.raises(InputError, match="says nothing about positions of a context"):
        off_policy(log.assign(position=[2, *[1] * 199]), target)
    with pytest.raises(InputError, match="stand there more than once"):
        off_policy(log, pd.concat([target, target]))
    with pytest.raises(InputError, match="told apart by context_id, which the impressions do not have"):  # fmt: skip
        off_policy(log.drop(columns="context_id"), target)


def test_the_names_are_lazy_and_public():
    assert audit.clicks.off_policy is off_policy
    assert set(audit.clicks.__all__) == set(audit.clicks._HOME)
