"""Interleaving: exact lists and credits, generated lists against them, decisions, checks and options."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from audit.clicks import interleave, interleaving_result, multileave, resample
from audit.clicks.interleaving.exact import (
    balanced_lists,
    click_outcomes,
    probabilistic_lists,
    probabilistic_outcome,
    team_draft_lists,
)
from audit.clicks.interleaving.optimised import credit, optimised_lists
from audit.clicks.interleaving.sequential import confidence_sequence
from audit.errors import ConfigError

A, B = "abcd", "bdae"
QUARTER = Fraction(1, 4)
TEAMS = {("abcd", "ABAB"), ("abdc", "ABBA"), ("bacd", "BAAB"), ("badc", "BABA")}
PROBABILISTIC = {
    "abcd": Fraction(616521728, 5335947045), "abdc": Fraction(550222976, 5335947045),
    "abde": Fraction(550222976, 5335947045), "bacd": Fraction(79847424, 869020295),
    "badc": Fraction(1211435136, 14773345015), "bade": Fraction(1211435136, 14773345015),
    "bdac": Fraction(4552028361, 63639024680), "bdae": Fraction(4552028361, 63639024680),
}  # fmt: skip
OPTIMISED = {
    "abde": 0.272727,
    "bacd": 0.217391,
    "bdac": 0.181818,
    "badc": 0.172219,
    "abdc": 0.155844,
}
# Attraction of the items, examination of 1/position: E[clicks] of A alone 11/15, of B alone 17/30.
RATE = {"a": Fraction(1, 2), "b": Fraction(1, 5), "c": Fraction(1, 10), "d": Fraction(2, 5), "e": Fraction(0)}  # fmt: skip


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(resample, "REPLICATES", 400)


def joined(lists):
    return {"".join(shown): p for shown, p in lists.items()}


def test_exact_lists():
    assert joined(balanced_lists(A, B, 4)) == {"abdc": Fraction(1, 2), "badc": Fraction(1, 2)}
    assert {("".join(s), t): p for (s, t), p in team_draft_lists(A, B, 4).items()} == dict.fromkeys(TEAMS, QUARTER)  # fmt: skip
    found = joined(probabilistic_lists(A, B, 4))
    assert len(found) == 120
    assert sum(found.values()) == 1
    assert {shown: found[shown] for shown in PROBABILISTIC} == PROBABILISTIC
    assert joined(balanced_lists("1234", "2341", 4)) == {"1234": Fraction(1, 2), "2134": Fraction(1, 2)}  # fmt: skip


def test_optimised_lists_are_fair_and_the_most_sensitive():
    found = optimised_lists(A, B, 4)
    assert joined(found) == pytest.approx(OPTIMISED, abs=1e-6)
    assert {x: round(credit(A, B, x), 3) for x in "abcde"} == {"a": 0.667, "b": -0.5, "c": 0.133, "d": -0.25, "e": -0.05}  # fmt: skip
    for k in range(1, 5):
        assert sum(p * sum(credit(A, B, x) for x in shown[:k]) for shown, p in found.items()) == pytest.approx(0, abs=1e-9)  # fmt: skip


@pytest.mark.parametrize(
    ("shown", "clicked", "wins", "losses"),
    [
        ("badc", [1], Fraction(8289, 10108), Fraction(1819, 10108)),
        ("badc", [1, 2], Fraction(2014227, 9814868), Fraction(47294, 350531)),
        ("abcd", [0], Fraction(27, 28), Fraction(1, 28)),
        ("bdac", [0, 1], Fraction(307, 133731), Fraction(116416, 133731)),
    ],
)
def test_probabilistic_credit_is_over_who_gave_each_item(shown, clicked, wins, losses):
    """mpkato's scores are not divided by P(list): 1.0759 and 0.2361 for a click on the second of badc."""
    found = probabilistic_outcome(A, B, shown, clicked)
    assert found == (wins, losses, 1 - wins - losses)
    if clicked == [1]:
        assert pytest.approx(float(wins)) == 1.0759156241289305 / (1.0759156241289305 + 0.2361069514163983)  # fmt: skip


def test_outcomes_under_position_bias():
    """Exact expectations, click by click."""
    teams = team_draft_lists(A, B, 4)
    clicks = [
        sum(p * RATE[x] / i for (s, t), p in teams.items() for i, x in enumerate(s, 1) if t[i - 1] == who)
        for who in "AB"
    ]  # fmt: skip
    assert clicks == [Fraction(97, 240), Fraction(4, 15)]

    def outcome(lists, score):
        wins = losses = 0.0
        for shown, p in lists.items():
            for clicked, chance in click_outcomes(4, lambda i, s=shown: float(RATE[s[0][i]] / (i + 1))):  # fmt: skip
                lead = score(shown, clicked)
                wins, losses = wins + float(p) * chance * (lead > 0), losses + float(p) * chance * (lead < 0)  # fmt: skip
        return wins, losses

    found = outcome(teams, lambda shown, clicked: sum(1 if shown[1][i] == "A" else -1 for i in clicked))  # fmt: skip
    assert found == pytest.approx((0.30302083333333335, 0.16258333333333333))
    assert (found[0] - found[1]) / 2 == pytest.approx(0.07021875)
    # Balanced, read as the package reads a log: one log of every list and click pattern, weighed by its chance.
    rows, weights = [], []
    for shown, p in balanced_lists(A, B, 4).items():
        for clicked, chance in click_outcomes(4, lambda i, s=shown: float(RATE[s[i]] / (i + 1))):
            for i, x in enumerate(shown):
                ranks = [r.index(x) + 1 if x in r else None for r in (A, B)]
                rows.append((len(weights), x, i + 1, int(i in clicked), *ranks))
            weights.append(float(p) * chance)
    log = pd.DataFrame(rows, columns=["impression_id", "item_id", "position", "click", "rank_a", "rank_b"])  # fmt: skip
    wins = losses = 0.0
    for i, weight in enumerate(weights):
        if not (one := log[log.impression_id == i]).click.sum():
            continue
        if one.click.all():
            continue  # Every item of both: a tie.
        from audit.clicks.interleaving.deciding import _balanced
        from audit.clicks.log import read_log

        lead = _balanced(read_log(one), one.click.to_numpy(float))[0]
        wins, losses = wins + weight * (lead > 0), losses + weight * (lead < 0)
    assert (wins, losses) == pytest.approx((0.2962916666666667, 0.16575))
    assert (wins - losses) / 2 == pytest.approx(0.06527083333333333)


def many(n, rate=RATE, method="team_draft", seed=0, a=A, b=B):
    """n interleaved lists with simulated clicks."""
    one, two = (
        pd.DataFrame({"user_id": np.repeat(np.arange(n), len(r)), "item_id": list(r) * n, "rank": [*range(1, len(r) + 1)] * n})
        for r in (a, b)
    )  # fmt: skip
    frame = interleave(one, two, method=method, length=4, seed=seed)
    chance = frame.item_id.map({x: float(p) for x, p in rate.items()}) / frame.position
    frame["click"] = (np.random.default_rng(seed + 1).random(len(frame)) < chance).astype(int)
    return frame


@pytest.mark.parametrize("method", ["team_draft", "balanced", "probabilistic", "optimised"])
def test_generated_lists_follow_the_exact_probabilities(method):
    n = 4000
    frame = many(n, method=method)
    shown = frame.groupby("impression_id").item_id.agg("".join).value_counts() / n
    exact = {
        "team_draft": {s: 0.25 for s, _ in TEAMS}, "balanced": {"abdc": 0.5, "badc": 0.5},
        "probabilistic": joined(probabilistic_lists(A, B, 4)), "optimised": OPTIMISED,
    }[method]  # fmt: skip
    assert set(shown.index) <= set(exact)
    for one, p in exact.items():
        assert shown.get(one, 0) == pytest.approx(float(p), abs=4 * np.sqrt(float(p) / n) + 1e-4)
    # The same seed, and each list for itself.
    pd.testing.assert_frame_equal(frame, many(n, method=method))
    some = many(100, method=method)
    pd.testing.assert_frame_equal(
        some.drop(columns="click"), frame.drop(columns="click").iloc[: len(some)]
    )
    # Credits are what the log is read with.
    if method == "probabilistic":
        row = frame[(frame.item_id == "a") & (frame.position == 2)].merge(
            frame[(frame.item_id == "b") & (frame.position == 1)][["impression_id"]]
        )
        assert row.credit.to_numpy() == pytest.approx(float(2 * Fraction(8289, 10108) - 1))


@pytest.mark.parametrize("method", ["team_draft", "balanced", "probabilistic", "optimised"])
def test_the_better_ranker_wins(method):
    found = interleaving_result(many(3000, method=method))
    assert found.winner == "A"
    assert found.valid
    assert found.wins_a + found.wins_b + found.ties == 3000
    assert found.delta_ab == pytest.approx((found.wins_a - found.wins_b) / 6000)
    assert found.ci_low < found.delta_ab < found.ci_high
    assert found.p_value < 1e-6
    assert found.stopped_at is not None
    assert found.stopped_at < 3000
    if method == "team_draft":  # 0.303 to 0.163, to the accuracy of 3,000 lists.
        assert found.delta_ab == pytest.approx(0.07021875, abs=3 * 0.34 / np.sqrt(3000))
        assert found.unit == "user"


def test_options_for_lists_that_say_nothing():
    frame = many(1500)
    tie, drop = (interleaving_result(frame, no_click=how) for how in ("tie", "drop"))
    assert drop.wins_a == tie.wins_a
    assert tie.ties - drop.ties == tie.no_click == drop.no_click > 0
    assert drop.delta_ab == pytest.approx(tie.delta_ab * 1500 / (1500 - tie.no_click))
    # Both put x first: its clicks are nobody's, and without them fewer lists are decided.
    same = many(1500, {**RATE, "x": Fraction(9, 10)}, a="xab", b="xba")
    keep, less = (interleaving_result(same, shared_prefix=how) for how in ("keep", "drop"))
    assert less.wins_a + less.wins_b < keep.wins_a + keep.wins_b
    clicks = same[(same.click == 1) & (same.item_id != "x")].groupby("impression_id").credit.sum()
    assert (less.wins_a, less.wins_b) == ((clicks > 0).sum(), (clicks < 0).sum())


def test_rows_of_a_user_are_one_preference():
    frame = many(800)
    alone = interleaving_result(frame)
    # Every user's list four times over is no more evidence.
    four = pd.concat([frame.assign(impression_id=frame.impression_id + 1000 * i) for i in range(4)])
    found = interleaving_result(four)
    assert found.p_value == alone.p_value
    assert found.ci_high - found.ci_low == pytest.approx(alone.ci_high - alone.ci_low, rel=1e-6)
    without = interleaving_result(four.drop(columns="user_id"))
    assert without.ci_high - without.ci_low < 0.6 * (alone.ci_high - alone.ci_low)


def test_an_unsound_experiment_has_no_winner():
    frame = many(2000)
    fixed = frame.assign(team=np.where(frame.position == 1, "A", "B")).drop(columns="credit")
    found = interleaving_result(fixed)
    assert not found.valid
    assert found.winner is None
    assert [check.split(" of ")[0] for check in found.reasons] == [
        "A fills the first position", "clicks at random are worth -0.5000 to A, where 0 is expected (p = 0): the lists are not interleaved as they should be",
    ]  # fmt: skip
    with pytest.raises(ConfigError, match="no column 'team'"):
        interleaving_result(frame.drop(columns=["team", "credit", "rank_a"]))
    with pytest.raises(ConfigError, match="no column 'rank_a'"):
        interleaving_result(frame.drop(columns="rank_a"), shared_prefix="drop")
    with pytest.raises(ConfigError, match=r"unknown method 'team'\. Did you mean 'team_draft'"):
        interleave(["a"], ["b"], method="team")


def test_balanced_interleaving_is_biased_and_team_draft_is_not():
    """A = 1234, B = 2341 and one click at random: balanced gives B three quarters, team draft one half."""
    rng = np.random.default_rng(0)
    share = {}
    for method in ("balanced", "team_draft"):
        frame = many(6000, dict.fromkeys("1234", Fraction(0)), method, a="1234", b="2341")
        frame["click"] = (frame.position == rng.integers(1, 5, 6000)[frame.impression_id]).astype(int)  # fmt: skip
        found = interleaving_result(frame)
        share[method] = found.wins_a / 6000
    assert share == pytest.approx({"balanced": 0.25, "team_draft": 0.5}, abs=0.025)


def test_multileaving():
    three = {"x": list("abc"), "y": list("bca"), "z": list("cab")}
    frame = multileave(three, length=3, seed=5)
    assert sorted(frame.item_id) == list("abc")
    assert sorted(frame.team) == list("xyz")
    many_users = {
        name: pd.DataFrame({"user_id": np.repeat(np.arange(600), 3), "item_id": items * 600, "rank": [1, 2, 3] * 600})
        for name, items in three.items()
    }  # fmt: skip
    rows = multileave(many_users, length=2, seed=1)
    rows["click"] = (rows.item_id == "a").astype(int)
    found = interleaving_result(rows, a="x", b="y")
    pairs = found.pairs.set_index(["a", "b"])
    assert pairs.index.tolist() == [("x", "y"), ("x", "z"), ("y", "z")]
    # Only x puts a among the first two of what is left: a is shown where x is among the two drawn, two thirds.
    assert pairs.wins_a.tolist()[:2] == [found.wins_a] * 2
    assert found.wins_a / 600 == pytest.approx(2 / 3, abs=0.08)
    assert (pairs.wins_b == 0).all()
    assert pairs.delta_ab[("y", "z")] == 0
    shares = multileave(three, method="probabilistic", length=3)[["share_x", "share_y", "share_z"]]
    assert shares.sum(axis=1).to_numpy() == pytest.approx(1)
    with pytest.raises(ConfigError, match="takes two rankers"):
        multileave(three, method="optimised")


def test_the_sequence_holds_all_along():
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(200):
        low, high = confidence_sequence((rng.random(2000) < 0.55).astype(float))
        wrong += bool(((low > 0.55) | (high < 0.55)).any())
    assert wrong <= 18  # 5 % of 200, and chance
    assert high[-1] - low[-1] < 0.12
