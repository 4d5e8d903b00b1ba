"""NDCG as ceiling × ranking efficiency, against plain Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from audit.conventions import Conventions
from audit.dataset import encode
from tests import support

NAMES = ("ndcg", "ndcg_ceiling", "ranking_efficiency", "pool_recall", "pool_hit_rate")


def values(
    shown: Any, relevance: Any, k: Any, viewport: int, pool: Any = None, **conventions: Any
) -> dict[str, float]:
    given = support.inputs(
        {"model": shown}, relevance=relevance, pools=None if pool is None else {"model": pool}
    )
    dataset = support.encoded(given, viewport=viewport, **conventions)
    plan, found = support.measured(dataset, NAMES, k, viewport=viewport)
    return dict(support.single.means(dataset, plan, found)["value"])


def dcg(grades: list[int], k: int) -> float:
    return sum((2**g - 1) / math.log2(r + 1) for r, g in enumerate(grades[:k], 1))


def reference(
    shown: dict[Any, list[int]], pool: dict[int, list[int]] | None, truth: dict[int, dict[int, int]], k: int
) -> dict[str, float]:  # fmt: skip
    rows: dict[str, list[float]] = {name: [] for name in NAMES}
    for key, items in shown.items():
        user = key[0] if isinstance(key, tuple) else key
        of = {i: g for i, g in truth.get(user, {}).items() if g > 0}
        if not of:
            continue
        here = set(items) | set(() if pool is None else pool.get(user, ()))
        ideal = dcg(sorted(of.values(), reverse=True), k)
        best = dcg(sorted((of[i] for i in here if i in of), reverse=True), k)
        rows["ndcg"].append(dcg([of.get(i, 0) for i in items], k) / ideal)
        rows["ndcg_ceiling"].append(best / ideal)
        rows["pool_recall"].append(len(here & set(of)) / len(of))
        rows["pool_hit_rate"].append(float(bool(here & set(of))))
    found = {name: float(np.mean(of)) for name, of in rows.items() if of}
    found["ranking_efficiency"] = found["ndcg"] / found["ndcg_ceiling"]
    return found


def random_case(seed: int) -> tuple[dict[int, list[int]], dict[int, list[int]], dict[int, Any]]:
    rng = np.random.default_rng(seed)
    shown, pool, truth = {}, {}, {}
    for user in range(1, 40):
        shown[user] = [int(i) for i in rng.choice(90, int(rng.integers(6, 25)), replace=False)]
        if rng.random() < 0.9:
            pool[user] = [int(i) for i in rng.choice(120, int(rng.integers(12, 60)), replace=False)]
        liked = rng.choice(120, int(rng.integers(1, 15)), replace=False)
        truth[user] = {int(i): int(rng.integers(0, 4)) for i in liked}
    return shown, pool, truth


@pytest.mark.parametrize("with_pool", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_against_plain_python(seed, with_pool):
    shown, pool, truth = random_case(seed)
    found = values(shown, truth, [1, 3, 10], 5, pool if with_pool else None)
    for k in (1, 3, 10):
        expected = reference(shown, pool if with_pool else None, truth, k)
        for name in NAMES:
            assert found[f"{name}@{k}"] == pytest.approx(expected[name], abs=1e-12), (name, k)


def test_the_whole_list_is_the_pool_whatever_the_largest_k():
    # The only relevant item stands at rank 6, beyond every K: a perfect order would put it first.
    found = values({1: [1, 2, 3, 4, 5, 6]}, {1: [6]}, [1, 2], 2)
    assert found["ndcg@2"] == 0
    assert found["ndcg_ceiling@2"] == found["ndcg_ceiling@1"] == found["pool_recall@1"] == 1
    assert found["ranking_efficiency@2"] == 0


def test_the_product_is_ndcg():
    shown, pool, truth = random_case(11)
    found = values(shown, truth, [1, 3, 10], 5, pool)
    for k in (1, 3, 10):
        product = found[f"ndcg_ceiling@{k}"] * found[f"ranking_efficiency@{k}"]
        assert product == pytest.approx(found[f"ndcg@{k}"], rel=1e-12)
        assert found[f"ndcg@{k}"] <= found[f"ndcg_ceiling@{k}"] <= 1


def test_direction_a_fuller_pool_raises_the_ceiling_and_a_better_order_the_efficiency():
    truth = {1: {7: 2, 8: 1}}
    shown = {1: [1, 7, 2]}
    poor = values(shown, truth, [2], 2, {1: [1, 2, 3, 7]})
    rich = values(shown, truth, [2], 2, {1: [1, 2, 3, 7, 8]})
    assert rich["ndcg_ceiling@2"] == 1 > poor["ndcg_ceiling@2"]
    assert rich["pool_recall@2"] == 1 > poor["pool_recall@2"] == 0.5
    better = values({1: [7, 1, 2]}, truth, [2], 2, {1: [1, 2, 3, 7]})
    assert better["ranking_efficiency@2"] == 1 > poor["ranking_efficiency@2"]


def test_what_is_shown_belongs_to_the_pool():
    found = values({1: [9, 1]}, {1: [9]}, [1], 1, {1: [1, 2, 3]})
    assert found["ndcg@1"] == found["ndcg_ceiling@1"] == found["ranking_efficiency@1"] == 1


def test_an_empty_pool_of_relevance_has_no_efficiency():
    found = values({1: [1, 2, 3]}, {1: [9]}, [1, 2], 2)
    assert found["ndcg_ceiling@1"] == found["pool_hit_rate@1"] == 0
    assert math.isnan(found["ranking_efficiency@1"])


def test_full_k_ideals_keep_the_ceiling_below_one():
    found = values({1: [5, 1, 2]}, {1: [5]}, [2], 2, None, ideal="full_k")
    assert found["ndcg_ceiling@2"] == pytest.approx(1 / (1 + 1 / math.log2(3)))


# ------------------------------------------------------------------------- pools of requests


def test_a_pool_of_the_user_is_of_all_requests_and_one_of_a_request_of_that_alone():
    shown = {(1, 1): [1, 2], (1, 2): [3, 4], (1, 3): [5, 6]}
    truth = {1: [7]}
    assert values(shown, truth, [1], 1, {1: [7, 8]})["pool_recall@1"] == 1
    some = {(1, 2): [7, 8], (1, 3): [3, 4]}
    assert values(shown, truth, [1], 1, some)["pool_recall@1"] == pytest.approx(1 / 3)


def test_pools_of_others_are_left_out_and_counted():
    given = support.inputs(
        baseline={1: [1, 2], 2: [3, 4], 3: [5, 6]}, relevance={1: [9], 2: [9]},
        pools={"baseline": {1: [9, 1, 2], 2: [4, 5, 6], 77: [9, 1]}},
    )  # fmt: skip
    dataset, issues = encode(given, conventions=Conventions(), viewport=1)
    assert len(dataset.users) == 3
    by_check = {i.check: i for i in issues if i.table == "pool 'baseline'"}
    assert (by_check["lists_without_pool"].count, by_check["lists_without_pool"].total) == (1, 3)
    assert (by_check["pools_without_list"].count, by_check["pools_without_list"].total) == (1, 3)
    assert "pool 'baseline'" in dataset.fingerprints
    assert dataset.models["baseline"][0].user_present.all()


def test_tied_scores_of_a_pool_are_settled_and_its_fingerprint_knows_no_row_order():
    def pool(order: list[int]) -> pa.Table:
        table = support.lists({1: [5, 3, 4]}, scores={1: [1.0, 1.0, 1.0]})
        return table.take(order)

    marks = []
    for order in ([0, 1, 2], [2, 0, 1]):
        given = support.inputs(baseline={1: [1, 2]}, pools={"baseline": pool(order)})
        dataset = support.encoded(given, viewport=1)
        marks.append(dataset.fingerprints["pool 'baseline'"])
    assert marks[0] == marks[1]


# ---------------------------------------------------------------------------- no diagnosis


@pytest.mark.parametrize(
    ("pool", "said"),
    [
        (None, "no pool of 'model' was given, and its lists end at the viewport of 3"),
        ({1: [4, 5, 6]}, "the pool of 'model' is no longer than the viewport of 3"),
    ],
)
def test_a_pool_no_longer_than_the_viewport_gives_no_diagnosis(pool, said):
    given = support.inputs(
        {"model": {1: [1, 2, 3]}}, relevance={1: [2]}, pools=None if pool is None else {"model": pool}
    )  # fmt: skip
    dataset = support.encoded(given, viewport=3)
    _, found = support.measured(dataset, NAMES, [1, 3])
    assert {str(ref): why for ref, why in found.unavailable.items()} == dict.fromkeys(
        NAMES[1:], said
    )
