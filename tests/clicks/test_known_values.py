"""Values of other libraries on real logs (Open Bandit, 10,000 rows each) and on synthetic slates.

Where a library is wrong, the right value is tested, and the wrong one is named.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audit.clicks import off_policy, read_log, resample
from audit.clicks.estimators.pseudo_inverse import (
    gamma,
    inverse_of,
    lists_of,
    pair_marginals,
    plackett_luce,
    product_weight,
    uniform,
    weight,
)
from audit.clicks.intervals import clopper_pearson, empirical_bernstein, gaussian
from tests.clicks.conftest import DATA, KNOWN, SAMPLE

NAMES = {
    "ipw": "ips", "snipw": "snips", "ipw_clip1": "ips[1]", "ipw_clip2": "ips[clip=2]", "ipw_clip5": "clipped_ips[clip=5]",
    "sgipw0.01": "sub_gaussian[lambda=0.01]", "sgipw0.1": "sub_gaussian[lambda=0.1]", "dm|q=tab": "dm", "dr|q=tab": "dr",
    "sndr|q=tab": "sndr", "dr_clip2|q=tab": "dr[clip=2]", "switch1|q=tab": "switch_dr[tau=1]",
    "switch2|q=tab": "switch_dr[tau=2]", "switch5|q=tab": "switch_dr[tau=5]", "dros1|q=tab": "dros[lambda=1]",
    "dros100|q=tab": "dros[lambda=100]", "sgdr0.1|q=tab": "sub_gaussian_dr[lambda=0.1]", "ipw_tuned_slope": "ips[slope]",
    "switch_tuned_slope|q=tab": "switch_dr[slope]", "ipw_tuned_mse": "ips[mse]", "switch_tuned_mse|q=tab": "switch_dr[mse]",
}  # fmt: skip


@pytest.fixture
def quick(monkeypatch):
    """Values need no replicates."""
    monkeypatch.setattr(resample, "REPLICATES", 50)


def parts(case):
    target, rest = case.split(" on ")
    return target, *rest.split(", ")


@pytest.mark.parametrize("case", KNOWN)
def test_estimates_on_open_bandit(case, open_bandit, target_of, quick):
    wanted, logged, campaign = parts(case)
    known = KNOWN[case]
    target = target_of(wanted, campaign)
    if case == "random on bts, men":
        # Two rows have a weight of 1 but for rounding; the library's was above 1, and Switch-DR[1] left them out.
        target["probability"] *= 1 + 1e-15
    found = off_policy(
        open_bandit(logged, campaign), target, estimators=(*NAMES.values(), "control_variate")
    )
    for theirs, ours in NAMES.items():
        assert found.table.value[ours] == pytest.approx(known["values"][theirs], rel=1e-9), ours
    for theirs, ours in (
        ("ipw_tuned_slope_lambda", "ips[slope]"), ("switch_tuned_slope_lambda", "switch_dr[slope]"),
        ("ipw_tuned_mse_lambda", "ips[mse]"), ("switch_tuned_mse_lambda", "switch_dr[mse]"),
    ):  # fmt: skip
        assert found.parameters[ours] == known["values"][theirs]
    assert found.table.value["control_variate"] == pytest.approx(
        known["own"]["ipw - on-policy beta*: cv estimator (r*w - b(w-1)), b=cov(rw,w)/var(w)"], rel=1e-9
    )  # fmt: skip
    d, their = found.diagnostics, known["diagnostics"]
    assert d.effective_sample_size == pytest.approx(their["ESS"], rel=1e-9)
    assert d.max_weight == pytest.approx(their["w_max"], rel=1e-12)
    assert d.mean_weight == pytest.approx(their["w_mean"], rel=1e-12)
    assert d.top1pct_share == pytest.approx(known["top"], rel=1e-9)
    assert d.clicks == their["n_clicks"]
    assert d.clicks_under_large_weights == known["large"]
    assert d.zero_weight_share == their["share_w0"]
    # The paired lift on the same log: Σ(w − 1)r/n.
    assert found.table.value["ips"] - found.baseline == pytest.approx(known["lift"][0], rel=1e-9)
    assert found.supported, found.reasons


@pytest.mark.parametrize("case", KNOWN)
def test_intervals_of_weighted_means(case, open_bandit, target_of):
    wanted, logged, campaign = parts(case)
    known = KNOWN[case]
    log = open_bandit(logged, campaign)
    w = log.merge(target_of(wanted, campaign), how="left").probability / log.propensity_score.to_numpy()  # fmt: skip
    x = (w * log.click.to_numpy()).to_numpy()
    assert empirical_bernstein(x, two_sided=False)[0] == pytest.approx(known["intervals"]["ipw lower (delta=.05) bernstein"], rel=1e-9)  # fmt: skip
    vw = known["extra"]["vw"]
    assert gaussian(x) == pytest.approx(vw["gaussian"], rel=1e-9)
    top = w.max()
    assert clopper_pearson(x.sum() / top, len(x) / top) == pytest.approx(vw["clopper_pearson"], rel=1e-6, abs=1e-15)  # fmt: skip
    assert x.std(ddof=1) / np.sqrt(len(x)) == pytest.approx(known["own"]["ipw_se"], rel=1e-4)


@pytest.mark.parametrize("case", ["random on bts, all"])
def test_the_bootstrap_resamples_the_denominator(case, open_bandit, target_of):
    wanted, logged, campaign = parts(case)
    found = off_policy(open_bandit(logged, campaign), target_of(wanted, campaign), estimators=("ips", "snips"))  # fmt: skip
    ratio = KNOWN[case]["extra"]["snips_ratio_bootstrap_95"]
    boot = KNOWN[case]["intervals"]["ipw boot(10000,seed12345)"]
    # Two seeds of a bootstrap differ by a few per cent of the half width.
    slack = 0.06 * (ratio[1] - ratio[0])
    row = found.table.loc["snips"]
    assert [row.ci_low, row.ci_high] == pytest.approx(ratio, abs=slack)
    row = found.table.loc["ips"]
    assert [row.ci_low, row.ci_high] == pytest.approx(
        [boot["95.0% CI (lower)"], boot["95.0% CI (upper)"]], abs=slack
    )


def test_two_rows_of_ten_thousand_are_no_evidence(open_bandit, target_of):
    """obp gives [0.000537, 0.005431], its denominator fixed; with it resampled [0.000393, 0.015083]."""
    log, target = open_bandit("bts", "women"), target_of("random", "women")
    found = off_policy(log, target, estimators=("ips", "snips", "dm", "dr", "sndr", "switch_dr"))
    assert not found.supported
    assert found.diagnostics.mean_weight == pytest.approx(3.1, abs=0.05)
    assert found.diagnostics.effective_sample_size == pytest.approx(2, abs=0.1)
    assert found.table.isna().all(axis=None)
    text = "\n".join(found.reasons)
    assert "effective sample size is 2.1 of 10,000" in text
    assert "mean weight is 3.13 where 1 is expected" in text
    assert "a single row carries 69%" in text
    assert str(found).splitlines()[-4] == "not supported by this log:"
    # What the interval would be if one insisted.
    chance = log.merge(target, how="left").probability.to_numpy()
    w, r = chance / log.propensity_score.to_numpy(), log.click.to_numpy().astype(float)
    e = resample.ratio(w * r, w)
    bucket, number = resample.buckets_of(np.arange(len(log)), 0)
    (low,), (high,) = resample.percentiles(
        resample.replicated([resample.summed(e, bucket, number)], [e.combine], 0)
    )
    assert low == pytest.approx(0.000393, rel=0.15)
    assert high == pytest.approx(0.015083, rel=0.1)
    top = 21739.130434782608
    x = e.columns[0]
    assert clopper_pearson(x.sum() / top, len(x) / top)[1] == pytest.approx(0.99969, abs=1e-5)


@pytest.mark.parametrize("campaign", ["all", "men"])
@pytest.mark.parametrize("feature", ["item_feature_1", "item_feature_2", "item_feature_3"])
def test_weights_of_categories(campaign, feature, open_bandit, target_of, quick):
    known = KNOWN[f"bts on random, {campaign}"]["extra"][f"mips_{feature}"]
    items = pd.read_parquet(SAMPLE / "item_context.parquet")
    items = items[items.campaign == campaign][["item_id", feature]]
    assert items[feature].nunique() == known["n_cat"]
    found = off_policy(
        open_bandit("random", campaign), target_of("bts", campaign), estimators=("mips", "snmips"), categories=items
    )  # fmt: skip
    assert found.table.value.tolist() == pytest.approx([known["mips"], known["snmips"]], rel=1e-9)
    assert found.weights.max_weight["mips"] == pytest.approx(known["w_max"], rel=1e-9)
    assert found.weights.effective_sample_size["mips"] == pytest.approx(known["ESS"], rel=1e-9)


# Slates ------------------------------------------------------------------------------------------------------

SLATES = {
    "sips": 1.2075016913515213, "iips": 1.2254494161907188, "rips": 1.2113802067027357,
    "snsips": 1.231864122413528, "sniips": 1.2307256525759505, "snrips": 1.2376779221523948,
}  # fmt: skip


def test_slates(slates):
    _, log, target = slates
    found = off_policy(log, target, estimators=tuple(SLATES))
    assert found.table.value.to_dict() == pytest.approx(SLATES, rel=1e-9)
    assert found.baseline_per_list == pytest.approx(1.177)
    assert found.weights.max_weight["sips"] == pytest.approx(3.786437952343081)
    assert found.weights.effective_sample_size["sips"] == pytest.approx(622.8947313541745)
    assert found.weights.effective_sample_size["rips"] == pytest.approx(622.8947313541745)
    assert found.weights.max_weight["iips"] == pytest.approx(1.6676325945690134)
    for name, low, high in (
        ("sips", 1.1298, 1.2913), ("iips", 1.1810, 1.2707), ("rips", 1.1469, 1.2794)
    ):  # fmt: skip
        row = found.table.loc[name]
        assert [row.ci_low, row.ci_high] == pytest.approx([low, high], abs=0.008), name
    # The truth lies in every interval; the self-normalised ones are narrower once the denominator is resampled.
    truth = 1.1977680170658895
    assert ((found.table.ci_low < truth) & (truth < found.table.ci_high)).all()
    assert found.table.ci_high["snsips"] - found.table.ci_low["snsips"] < 1.3172 - 1.1526


def test_cascade_doubly_robust(slates, quick):
    raw, log, _ = slates
    target = pd.concat(
        raw[["impression_id", "position"]].assign(item_id=item, probability=raw[f"e_dist_{item}"], p_prefix=raw.e_pscore_cascade)
        for item in range(5)
    )  # fmt: skip
    q = pd.read_csv(DATA / "slate_synth_qtab.csv").melt("position", var_name="item_id", value_name="value")  # fmt: skip
    q = q.assign(item_id=q.item_id.str[1:].astype(int), position=q.position + 1)
    found = off_policy(log, target, estimators=["cascade_dr"], reward_model=q)
    assert found.table.value["cascade_dr"] == pytest.approx(1.232324964467789, rel=1e-9)


def test_pseudo_inverse_of_plackett_luce(slates, quick):
    raw, log, _ = slates
    first = raw.drop_duplicates("impression_id")
    lists = lists_of(5, 3)
    scores, cells = [], []
    for slate, b, e in zip(
        first.impression_id,
        first[[f"b_logit_{i}" for i in range(5)]].to_numpy(),
        first[[f"e_logit_{i}" for i in range(5)]].to_numpy(),
        strict=True,
    ):
        scores += [(slate, item, b[item]) for item in range(5)]
        q = pair_marginals(lists, plackett_luce(e, lists), 5)
        cells += [(slate, item, slot + 1, q[5 * slot + item]) for slot in range(3) for item in range(5)]  # fmt: skip
    found = off_policy(
        log, pd.DataFrame(cells, columns=["impression_id", "item_id", "position", "probability"]),
        estimators=["pseudo_inverse", "sn_pseudo_inverse"],
        logging=pd.DataFrame(scores, columns=["impression_id", "item_id", "score"]),
    )  # fmt: skip
    assert found.table.value.tolist() == pytest.approx([1.2029655261961025, 1.218224821093024], rel=1e-7)  # fmt: skip
    assert found.diagnostics.rows == 3000
    w = found.weights.loc["pseudo_inverse"]
    assert w.mean_weight == pytest.approx(0.9874741553178744, rel=1e-7)
    assert w.max_weight == pytest.approx(2.8438901963571293, rel=1e-7)


UNIFORM = {
    (3, 2): {(0, 1): -1, (0, 2): 1, (1, 1): 1, (2, 2): 5},
    (4, 2): {(0, 0): -2, (0, 1): -0.5, (0, 2): 1, (1, 1): 2.5, (2, 2): 7},
    (4, 3): {(0, 2): -2, (0, 3): 1, (1, 2): 1, (1, 3): 4, (2, 2): 4, (3, 3): 10},
    (5, 3): {(0, 1): -3, (0, 2): -1, (0, 3): 1, (1, 1): 1, (1, 2): 3, (1, 3): 5, (2, 2): 7, (3, 3): 13},
}  # fmt: skip


@pytest.mark.parametrize("size", UNIFORM)
def test_pseudo_inverse_weights_of_uniform_lists(size):
    items, slots = size
    lists, p = uniform(items, slots)
    inverse = inverse_of(lists, p, items)
    wanted = np.arange(slots)
    q = pair_marginals(wanted[None], np.ones(1), items)
    seen = {}
    for shown in lists:
        key = (int((shown == wanted).sum()), len(set(shown) & set(wanted)))
        assert weight(shown, inverse, q, items) == pytest.approx(UNIFORM[size][key])
        seen[key] = True
    assert set(seen) == set(UNIFORM[size])


def test_pseudo_inverse_weights_in_closed_form():
    lists, p = uniform(4, 4)
    inverse = inverse_of(lists, p, 4)
    q = pair_marginals(np.arange(4)[None], np.ones(1), 4)
    for shown in lists:
        matches = int((shown == np.arange(4)).sum())
        assert weight(shown, inverse, q, 4) == pytest.approx((4 - 1) * matches - (4 - 2))
    # Independent slots: 1 − L + Σ π/μ, and Γ⁺ says the same.
    rng = np.random.default_rng(0)
    mu, pi = (rng.dirichlet(np.ones(3), 2) for _ in range(2))
    every = np.array([[a, b] for a in range(3) for b in range(3)])
    chance = mu[0][every[:, 0]] * mu[1][every[:, 1]]
    folded = np.linalg.pinv(gamma(every, chance, 3))
    for shown in every:
        closed = product_weight(pi[[0, 1], shown], mu[[0, 1], shown])
        assert closed == pytest.approx(1 - 2 + sum(pi[k][shown[k]] / mu[k][shown[k]] for k in range(2)))  # fmt: skip
        assert weight(shown, folded, pi.ravel(), 3) == pytest.approx(closed)


def test_what_is_read_is_what_was_given(open_bandit):
    log = read_log(open_bandit("random", "all"))
    assert (len(log), int(log.click.sum()), len(log.items)) == (10_000, 38, 80)
