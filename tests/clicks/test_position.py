"""Position bias: exact counts, the gate, every estimator, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from audit.clicks import NotIdentifiable, propensities, read_log, resample
from audit.clicks.position import em, identify, regression
from audit.clicks.position.cells import count
from audit.clicks.position.estimate import METHODS, read_curve
from audit.errors import ConfigError

THETA = np.array([1.0, 0.5, 0.25, 0.2])


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(resample, "REPLICATES", 500)


def simulated(theta, gamma, n, seed, *, lists=None):
    """``n`` lists of contexts with relevance ``gamma[context, item]``; shuffled, or one of ``lists`` of a context."""
    rng = np.random.default_rng(seed)
    contexts, items = gamma.shape
    context = rng.integers(0, contexts, n)
    if lists is None:
        order = rng.random((n, items)).argsort(1)
    else:
        order = lists[context, rng.integers(0, lists.shape[1], n)]
    order = order[:, : len(theta)]
    click = rng.random(order.shape) < theta * gamma[context[:, None], order]
    shape = (n, len(theta))
    return pd.DataFrame({
        "impression_id": np.repeat(np.arange(n), len(theta)), "context_id": np.repeat(context, len(theta)), "item_id": order.ravel(),
        "position": np.broadcast_to(np.arange(1, len(theta) + 1), shape).ravel(), "click": click.ravel().astype(int),
    })  # fmt: skip


def test_exact_counts(pbm_counts):
    log = pbm_counts.drop(columns="ranker")
    naive = propensities(log, method="naive").propensity
    assert naive.tolist() == pytest.approx([1, 8 / 21, 1 / 8, 1 / 21], rel=1e-12)
    pivot = propensities(log, method="pivot")
    assert pivot.propensity[[1, 2, 3]].tolist() == pytest.approx([1, 0.5, 0.25], rel=1e-12)
    # Never at position 1 and 4: said so, neither dropped nor made up.
    assert pivot.loc[4, ["propensity", "ci_low", "ci_high"]].isna().all()
    assert "positions 4" in pivot.attrs["notes"][0]
    for method in ("adjacent_chain", "all_pairs"):
        assert propensities(log, method=method).propensity.tolist() == pytest.approx(THETA, rel=1e-12)  # fmt: skip
    found = propensities(log, method="em")
    assert found.propensity.tolist() == pytest.approx(THETA, abs=1e-6)
    assert ((found.ci_low < THETA) & (found.ci_high > THETA))[1:].all()
    assert found.loc[1, ["ci_low", "ci_high"]].tolist() == [1, 1]


def test_textbook_em(pbm_counts):
    """Each number of steps has its own values."""
    cells = count(read_log(pbm_counts.drop(columns="ranker")))
    known = {
        1: ([0.8, 0.5111111111111111, 0.39166666666666666, 0.3555555555555555], -10131.205833246273),
        10: ([0.9132636264635277, 0.4638823012242098, 0.24068425006259356, 0.18778138725246035], -9213.823839463348),
        50: ([0.9165086609990439, 0.4583514171796368, 0.22931144783141705, 0.184301675311486], -9211.644190737225),
        100: ([0.9166086346251245, 0.45832434212516715, 0.2291921074038437, 0.1837064921214662], -9211.643511878628),
        1000: ([0.9166577825640422, 0.4583288912826747, 0.22916444564231536, 0.18333155652543004], -9211.643402672391),
    }  # fmt: skip
    for steps, (theta, likelihood) in known.items():
        found = em.plain(cells, steps)
        assert found.theta.tolist() == pytest.approx(theta, rel=1e-10)
        assert found.log_likelihood == pytest.approx(likelihood, rel=1e-13)
    quick = em.fit(cells)
    assert quick.steps < 400
    assert quick.log_likelihood == pytest.approx(-9211.643402672391, rel=1e-11)


@pytest.mark.parametrize("method", [m for m in METHODS if m not in ("naive", "randomised", "swap")])
def test_one_ranking_is_refused(pbm_counts, method):
    one = pbm_counts[pbm_counts.ranker == 0].drop(columns="ranker")
    with pytest.raises(NotIdentifiable, match="one fixed ranking") as caught:
        propensities(one, method=method)
    assert caught.value.components == [[1], [2], [3], [4]]
    assert "swap the items at positions 1 and 2" in str(caught.value)
    a, b = caught.value.proof.propensities
    assert a == pytest.approx([1, 0.5634389432674451, 0.30898610172059937, 0.19468712619994286])
    assert b == pytest.approx([1, 0.9205724076935462, 0.8922995310576001, 0.8847412678670129])
    assert caught.value.proof.log_likelihoods == pytest.approx([-2901.653050420683] * 2, rel=1e-13)


def test_components_need_clicks():
    """Two halves that share an item which nobody clicked are two."""
    rows = [
        ("a", 1, 1),
        ("a", 2, 0),
        ("b", 3, 1),
        ("b", 4, 1),
        ("b", 4, 0),
        ("z", 1, 0),
        ("z", 3, 0),
    ]
    log = pd.DataFrame(rows, columns=["item_id", "position", "click"])
    with pytest.raises(NotIdentifiable, match=r"1, 2 \| 3, 4") as caught:
        propensities(log)
    assert caught.value.components == [[1, 2], [3, 4]]
    assert propensities(log, depth=2, method="naive").index.tolist() == [1, 2]
    log.loc[5, "click"] = 1
    cells = count(read_log(log))
    assert identify.components(cells) == [[1, 2, 3, 4]]
    assert identify.shared_rows(cells).tolist() == [
        [2, 1, 1, 0],
        [1, 1, 0, 0],
        [1, 0, 2, 1],
        [0, 0, 1, 2],
    ]
    assert identify.joined_share(cells) == 1


def test_intervals_of_em_are_those_of_whole_fits():
    """One step of Newton for each replicate moves as fits of resampled lists do."""
    gamma = np.random.default_rng(5).uniform(0.1, 0.7, (4, 5))
    log = simulated(THETA, gamma, 1500, 1)
    table = propensities(log)
    rng = np.random.default_rng(2)
    rows = log.to_numpy().reshape(1500, 4, 5)
    fits = []
    for _ in range(150):
        drawn = rows[rng.integers(0, 1500, 1500)].reshape(-1, 5)
        frame = pd.DataFrame(drawn, columns=log.columns).drop(columns="impression_id")
        fit = em.fit(count(read_log(frame)))
        fits.append(np.log(fit.theta / fit.theta[0]))
    spread = np.log(table.ci_high / table.ci_low)[1:] / (2 * 1.96)
    assert spread.to_numpy() == pytest.approx(np.std(fits, axis=0)[1:], rel=0.2)


def test_estimators_agree_on_shuffled_lists():
    gamma = np.random.default_rng(0).uniform(0.2, 0.8, (3, 5))
    log = simulated(THETA, gamma, 6000, 3)
    for method in ("em", "pivot", "adjacent_chain", "all_pairs", "randomised", "naive"):
        found = propensities(log, method=method)
        assert found.propensity.to_numpy() == pytest.approx(THETA, abs=0.035), method
        assert (found.ci_high - found.ci_low)[1:].between(0.005, 0.1).all(), method


def test_regression_em(monkeypatch):
    monkeypatch.setattr(regression, "REPLICATES", 4)
    gamma = np.random.default_rng(0).uniform(0.2, 0.8, (3, 5))
    log = simulated(THETA, gamma, 3000, 3)
    features = pd.DataFrame(
        [(c, i, gamma[c, i]) for c, i in itertools.product(range(3), range(5))],
        columns=["context_id", "item_id", "x"],
    )
    found = propensities(log, method="regression_em")
    assert found.propensity.to_numpy() == pytest.approx(THETA, abs=0.04)
    assert (found.ci_high > found.ci_low)[1:].all()
    with pytest.raises(ConfigError, match="1 of 15 pairs"):
        propensities(log, method="regression_em", features=features[1:])
    with pytest.raises(ConfigError, match="belong to regression_em"):
        propensities(log, features=features)


def test_naive_is_wrong_where_ranking_is_good():
    """Two rankers that both put good items first: rates fall too steeply, the others do not."""
    gamma = np.tile([0.9, 0.6, 0.3, 0.15], (3, 1))
    lists = np.tile([[0, 1, 2, 3], [1, 0, 3, 2], [0, 2, 1, 3]], (3, 1, 1))
    log = simulated(THETA, gamma, 20_000, 4, lists=lists)
    for method in ("em", "all_pairs", "adjacent_chain"):
        found = propensities(log, method=method)
        assert found.propensity.to_numpy() == pytest.approx(THETA, abs=0.04), method
    assert propensities(log, method="naive").propensity[4] < 0.08
    with pytest.raises(NotIdentifiable, match="ranked, not randomised"):
        propensities(log, method="randomised")


def test_swaps():
    """A coin decides, in each list, which of two neighbours comes first."""
    rng = np.random.default_rng(6)
    n, gamma = 9000, np.array([0.9, 0.7, 0.5, 0.4])
    order = np.tile(np.arange(4), (n, 1))
    at = rng.integers(0, 3, n)
    coin = rng.random(n) < 0.5
    rows = np.arange(n)
    order[rows, at], order[rows, at + 1] = at + coin, at + ~coin
    marked = np.zeros((n, 4), bool)
    marked[rows, at] = marked[rows, at + 1] = True
    log = pd.DataFrame({
        "impression_id": np.repeat(rows, 4), "item_id": order.ravel(), "position": np.tile([1, 2, 3, 4], n),
        "click": (rng.random((n, 4)) < THETA * gamma[order]).ravel().astype(int),
        "randomisation": np.where(marked, "swap", "none").ravel(),
    })  # fmt: skip
    found = propensities(log, method="swap")
    assert found.propensity.to_numpy() == pytest.approx(THETA, rel=0.1)
    assert ((found.ci_low <= THETA) & (found.ci_high >= THETA)).all()
    log.loc[log.position == 1, "randomisation"] = "swap"
    with pytest.raises(ConfigError, match="other than two rows"):
        propensities(log, method="swap")
    with pytest.raises(ConfigError, match="'randomisation'"):
        propensities(log.drop(columns="randomisation"), method="swap")
    with pytest.raises(NotIdentifiable, match="names no row"):
        propensities(log, method="randomised")


def test_curves_from_tables(tmp_path, pbm_counts):
    log = read_log(pbm_counts.drop(columns="ranker"))
    table = propensities(log)
    table.to_csv(tmp_path / "p.csv")
    curve = read_curve(tmp_path / "p.csv", log)
    assert curve.table.propensity.to_numpy() == pytest.approx(table.propensity.to_numpy())
    assert curve.table.ci_low.to_numpy() == pytest.approx(table.ci_low.to_numpy(), rel=0.02)
    for broken, said in (
        (table.drop(index=3), "positions 3"), (table.assign(propensity=0.0), "above 0"),
        (table.drop(columns="propensity"), "no column propensity"), (table.iloc[[0, 0, 1, 2, 3]], "twice"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=said):
            read_curve(broken, log)
    with pytest.raises(ConfigError, match="Did you mean 'em'"):
        propensities(log, method="EM")
    with pytest.raises(ConfigError, match="no row is left"):
        propensities(pbm_counts[pbm_counts.position > 2].drop(columns="ranker"), depth=2)
