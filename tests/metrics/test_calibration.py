"""Calibration to the history, against plain Python; Steck's example; taste groups by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.dataset.model import Ragged
from audit.dataset.tastes import item_groups, user_groups
from tests import support

UPD = ("upd_niche", "upd_diverse", "upd_blockbuster", "upd", "upd_gap")


def mix(items: list[Any], groups: dict[Any, list[Any]]) -> dict[Any, float]:
    """Shares of the groups; an item of m groups gives 1/m to each."""
    counted = [i for i in items if groups.get(i)]
    found: dict[Any, float] = {}
    for item in counted:
        for group in groups[item]:
            found[group] = found.get(group, 0) + 1 / len(groups[item]) / len(counted)
    return found


def kl(p: dict[Any, float], q: dict[Any, float], alpha: float) -> float:
    return sum(
        share * math.log(share / ((1 - alpha) * q.get(g, 0) + alpha * share))
        for g, share in p.items()
    )


def js(p: dict[Any, float], q: dict[Any, float]) -> float:
    def half(a: dict[Any, float], b: dict[Any, float]) -> float:
        return sum(x * math.log2(x / ((x + b.get(g, 0)) / 2)) for g, x in a.items()) / 2

    return half(p, q) + half(q, p)


CATEGORIES = {1: ["a"], 2: ["b"], 3: ["a", "b"], 4: ["c", "d"], 5: [], 6: ["d"]}
some = st.lists(st.integers(1, 6), min_size=1, max_size=6, unique=True)


@settings(max_examples=25)  # each is nine audits
@given(some, some)
def test_against_plain_python(shown, past):
    table = support.catalog(range(1, 7), categories=CATEGORIES)
    for k in (1, 2, 9):
        found = support.scores(
            {1: shown}, ["category_kl", "category_kl[alpha=0.1]", "category_js"], k, catalog=table,
            history={1: past},
        )  # fmt: skip
        p, q = mix(past, CATEGORIES), mix(shown[:k], CATEGORIES)
        expected = (
            (kl(p, q, 0.01), kl(p, q, 0.1), js(p, q)) if p and q else (math.nan, math.nan, math.nan)
        )
        assert list(found) == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_stecks_measure_of_a_list_of_one_kind():
    # p = (0.7, 0.3), q = (1, 0), α = 0.01: known value E6, in nats.
    table = support.catalog(
        range(20), categories={i: ["romance" if i < 7 or i >= 10 else "action"] for i in range(20)}
    )
    found = support.scores(
        {1: list(range(10, 15))}, ["category_kl"], 5, catalog=table, history={1: list(range(10))}
    )
    assert found["category_kl@5"] == pytest.approx(1.133981751, abs=5e-10)


def test_bounds_and_direction():
    table = support.catalog(
        range(1, 7), categories={1: ["a"], 2: ["b"], 3: ["a"], 4: ["b"], 5: ["c"]}
    )

    def of(shown: list[int]) -> list[float]:
        names = ["category_kl", "category_js"]
        return list(support.scores({1: shown}, names, 2, catalog=table, history={1: [1, 2]}))

    assert of([3, 4]) == [0, 0]
    assert of([3, 3 + 1]) < of([3, 1])
    assert of([5])[1] == 1  # nothing in common
    assert of([5])[0] == pytest.approx(math.log(100))


def test_users_without_history_have_no_value():
    table = support.catalog([1, 2], categories={1: ["a"], 2: ["b"]})
    shown, past = {1: [1], 2: [2]}, {1: [1]}
    assert support.counts(shown, ["category_js"], 1, catalog=table, history=past).tolist() == [1]


# ------------------------------------------------------------------------------------- tastes


@pytest.mark.parametrize(
    ("popularity", "expected"),
    [
        ([2, 2, 2, 2, 2], [0, 1, 1, 1, 2]),
        ([10, 5, 3, 1, 1], [0, 1, 1, 2, 2]),  # 10 of 20 cross the line; 1 + 1 are no more than 4
        ([1, 1, 3, 5, 10], [2, 2, 1, 1, 0]),
        ([0, 0, 4], [2, 2, 0]),
        ([0, 0], [2, 2]),
        ([], []),
    ],
)
def test_items_by_popularity(popularity, expected):
    assert item_groups(np.array(popularity, np.int64)).tolist() == expected


def test_users_by_taste():
    # Item 0 is the blockbuster; users 0 … 9 hold it among ever more others; user 10 has no history.
    rows = [[0, *range(1, 1 + n)] for n in range(10)] + [[]]
    history = Ragged(
        np.cumsum([0, *map(len, rows)]), np.array([i for row in rows for i in row], np.int32)
    )
    group = np.array([0] + [1] * 9, np.int32)
    found = user_groups(history, group, np.array([10] + [2] * 9))
    assert found.tolist() == [2, 2, 1, 1, 1, 1, 1, 1, 0, 0, -1]


def test_popularity_deviation_by_taste():
    rng = np.random.default_rng(3)
    popular = 1 / np.arange(1, 41)
    past = {
        user: [int(i) for i in rng.choice(40, 6, replace=False, p=popular / popular.sum())]
        for user in range(50)
    }
    shown = {user: [int(i) for i in rng.choice(40, 8, replace=False)] for user in range(50)}
    dataset = support.encoded(support.inputs(model=shown, history=past, catalog=range(40)))
    plan, measured = support.measured(dataset, UPD, [5])
    found = support.single.means(dataset, plan, measured)
    group = dict(enumerate(item_groups(dataset.items.popularity).tolist()))
    assert set(group.values()) == {0, 1, 2}
    of = {i: [g] for i, g in group.items()}
    order = sorted(
        past,
        key=lambda u: (
            sum(group[i] == 0 for i in past[u]) / 6,
            sum(dataset.items.popularity[i] for i in past[u]) / 6,
            u,
        ),
    )
    parts = {"upd_niche": order[:10], "upd_diverse": order[10:40], "upd_blockbuster": order[40:]}
    means = {
        name: float(np.mean([js(mix(past[u], of), mix(shown[u][:5], of)) for u in users]))
        for name, users in parts.items()
    }
    for name, value in means.items():
        assert found.loc[f"{name}@5", "value"] == pytest.approx(value, abs=1e-12)
        assert found.loc[f"{name}@5", "n"] == len(parts[name])
    assert found.loc["upd@5", "value"] == pytest.approx(np.mean(list(means.values())))
    gap = max(means.values()) - min(means.values())
    assert found.loc["upd_gap@5", "value"] == pytest.approx(gap)


def test_lists_like_the_history_have_no_deviation():
    past = {user: [user % 7, 7 + user % 5] for user in range(40)}
    found = support.scores(past, UPD, 2, history=past, catalog=range(12))
    assert found.tolist() == [0] * 5
