from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from tests.support import EPOCH, catalog, counts, inputs, known, lists, scores

CREATED = {1: 990, 2: 980, 3: 900, 4: 1010, 5: 970.5}  # 6 has no date
TABLE = catalog(range(1, 7), created=CREATED)
AS_OF = EPOCH + dt.timedelta(days=1000)


def of(items, k, metrics=None, **rest):
    return scores({1: items}, metrics, k, catalog=TABLE, **{"as_of": AS_OF, **rest})


def test_mean_and_median_age_in_days():
    found = of([1, 2, 3, 5], (1, 2, 3, 4))
    assert found["mean_age@1"] == found["median_age@1"] == 10
    assert found["mean_age@2"] == found["median_age@2"] == (10 + 20) / 2
    assert found["mean_age@3"] == pytest.approx((10 + 20 + 100) / 3)
    assert found["median_age@3"] == 20
    assert found["mean_age@4"] == (10 + 20 + 100 + 29.5) / 4
    assert found["median_age@4"] == (20 + 29.5) / 2


def test_unknown_and_negative_ages_are_left_out():
    found = of([4, 1, 6, 3], 4)
    assert found["mean_age@4"] == (10 + 100) / 2
    assert found["median_age@4"] == (10 + 100) / 2
    assert found["fresh_share@4"] == 1 / 2
    nothing = of([4, 6], 2)
    assert np.isnan(nothing[["mean_age@2", "median_age@2", "fresh_share@2"]]).all()


def test_mean_of_medians():
    found = scores({1: [1, 2, 3], 2: [3]}, ["median_age"], 3, catalog=TABLE, as_of=AS_OF)
    assert found["median_age@3"] == (20 + 100) / 2


def test_fresh_is_younger_than_days():
    names = [
        "fresh_share",
        "fresh_share[days=10]",
        "fresh_share[days=20.5]",
        "fresh_share[days=200]",
    ]
    found = of([1, 2, 3, 5], 4, names)
    assert found["fresh_share@4"] == 3 / 4
    assert found["fresh_share[days=10]@4"] == 0  # 10 days is not younger than 10 days
    assert found["fresh_share[days=20.5]@4"] == 2 / 4
    assert found["fresh_share[days=200]@4"] == 1


def test_an_age_of_exactly_days_is_not_fresh_at_any_time_of_day():
    rng = np.random.default_rng(3)
    micro = rng.integers(0, 20_000 * 86_400_000_000, 300)
    born = {i: EPOCH + dt.timedelta(microseconds=int(m)) for i, m in enumerate(micro)}
    shown = lists(
        {i: [i] for i in born}, shown_at={i: born[i] + dt.timedelta(days=30) for i in born}
    )
    found = scores(
        shown,
        ["fresh_share", "mean_age", "fresh_share[days=31]"],
        1,
        catalog=catalog(born, created=born),
    )
    assert found["fresh_share@1"] == 0
    assert found["mean_age@1"] == 30
    assert found["fresh_share[days=31]@1"] == 1


def test_one_microsecond_less_is_fresh():
    born = EPOCH + dt.timedelta(days=15_000, microseconds=123_457)
    table = catalog([1], created={1: born})
    for less, fresh in ((0, 0), (1, 1)):
        when = born + dt.timedelta(days=30) - dt.timedelta(microseconds=less)
        shown = lists({1: [1]}, shown_at={1: when})
        assert scores(shown, ["fresh_share"], 1, catalog=table)["fresh_share@1"] == fresh
        found = scores({1: [1]}, ["fresh_coverage"], 1, catalog=table, as_of=when)
        assert (
            (found["fresh_coverage@1"] == 1)
            if fresh
            else np.isnan(found.get("fresh_coverage@1", np.nan))
        )


def test_an_age_of_zero_is_an_age():
    found = of([1], 1, as_of=EPOCH + dt.timedelta(days=990))
    assert found["mean_age@1"] == 0
    assert found["fresh_share@1"] == 1


def test_shown_at_goes_before_as_of():
    shown = lists({1: [1], 2: [1]}, shown_at={1: 995, 2: None})
    found = scores(shown, ["mean_age"], 1, catalog=TABLE, as_of=AS_OF)
    assert found["mean_age@1"] == (5 + 10) / 2


def test_without_as_of_the_newest_history_time_counts():
    history = known({1: [3], 9: [2]}, timestamp={(1, 3): 991, (9, 2): 999})
    found = scores({1: [1]}, ["mean_age"], 1, catalog=TABLE, history=history)
    assert found["mean_age@1"] == 999 - 990


def test_without_any_time_there_is_no_age():
    assert "mean_age@1" not in scores({1: [1]}, None, 1, catalog=TABLE)


def test_fresh_coverage():
    # At day 1000, items of age 0 to 30: 1 (10), 2 (20), 5 (29.5); 3 is old, 4 not yet made.
    found = scores(
        {1: [1, 3, 4], 2: [3, 5]}, ["fresh_coverage"], (1, 3), catalog=TABLE, as_of=AS_OF
    )
    assert found["fresh_coverage@1"] == pytest.approx(1 / 3)
    assert found["fresh_coverage@3"] == pytest.approx(2 / 3)


def test_fresh_coverage_takes_days():
    names = ["fresh_coverage[days=15]", "fresh_coverage[days=365]"]
    found = scores({1: [1, 3]}, names, 2, catalog=TABLE, as_of=AS_OF)
    assert found["fresh_coverage[days=15]@2"] == 1
    assert found["fresh_coverage[days=365]@2"] == 2 / 4


def test_a_list_longer_than_k_is_cut():
    found = of([1, 2, 3], 2)
    assert found["mean_age@2"] == 15
    assert counts({1: [1, 2, 3]}, ["mean_age"], 2, catalog=TABLE, as_of=AS_OF)["mean_age@2"] == 1


def test_inputs_take_frames_of_any_model_name():
    given = inputs(baseline={1: [1]}, candidate=[{1: [2]}, {1: [3]}])
    assert [len(seeds) for seeds in given.models.values()] == [1, 2]
