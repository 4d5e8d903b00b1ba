"""Jaccard and RBO of two models' lists, against sums written out in plain Python."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.engine.memory import list_values
from audit.metrics import parse
from audit.metrics.block import Block, Shared
from tests import support


def overlap(a: Any, b: Any, name: str, ks: list[int]) -> list[list[float]]:
    """``[lists][Ks]`` of a pair metric."""
    dataset = support.encoded(support.inputs(a=a, b=b))
    plan, _ = support.measured(dataset, [name], ks)
    shared = Shared(dataset, 0, len(dataset.users), plan.kmax)
    blocks = [Block(shared, dataset.models[m][0]) for m in ("a", "b")]
    return [list(row) for row in list_values(parse(name), dataset, plan.ks, *blocks)]


def rbo(a: list[int], b: list[int], p: float, depth: int = 4000) -> float:
    """Agreement goes on as it was: by the infinite sum with Webber's extrapolated agreements."""
    a, b = sorted((a, b), key=len)
    s, n = len(a), len(b)

    def agreement(d: int) -> float:
        x = len(set(a[:d]) & set(b[:d]))
        x_s = len(set(a) & set(b[:s]))
        if d <= s:
            return x / d
        if d <= n:
            return (x + x_s * (d - s) / s) / d
        return (len(set(a) & set(b)) - x_s) / n + x_s / s

    return (1 - p) * sum(p ** (d - 1) * agreement(d) for d in range(1, depth))


permutations = st.lists(st.integers(0, 14), min_size=1, max_size=12, unique=True)


@settings(max_examples=40)
@given(permutations, permutations, st.sampled_from([0.5, 0.9]))
def test_against_plain_python(a, b, p):
    ks = [1, 3, 5, 20]
    (by_rank,) = overlap({1: a}, {1: b}, f"rbo[p={p}]", ks)
    (by_set,) = overlap({1: a}, {1: b}, "jaccard", ks)
    for k, found_rank, found_set in zip(ks, by_rank, by_set, strict=True):
        assert found_rank == pytest.approx(rbo(a[:k], b[:k], p), abs=1e-9)
        x, y = set(a[:k]), set(b[:k])
        assert found_set == pytest.approx(len(x & y) / len(x | y), abs=1e-15)
        assert -1e-12 <= found_rank <= 1 + 1e-12


@settings(max_examples=30)
@given(permutations, permutations)
def test_neither_cares_which_model_is_which(a, b):
    for name in ("rbo", "jaccard"):
        assert overlap({1: a}, {1: b}, name, [4]) == overlap({1: b}, {1: a}, name, [4])


def test_a_worked_example():
    # Two of three items stay, the first alone in its place: agreement 1, 1/2, 2/3, and so on for ever.
    (found,) = overlap({1: [1, 2, 3]}, {1: [1, 3, 4]}, "rbo[p=0.5]", [3])
    assert found[0] == pytest.approx(0.5 * 1 + 0.25 * 0.5 + 0.25 * 2 / 3)
    assert overlap({1: [1, 2, 3]}, {1: [1, 3, 4]}, "jaccard", [3]) == [[0.5]]


def test_the_same_and_nothing_in_common():
    assert overlap({1: [1, 2]}, {1: [1, 2]}, "rbo", [1, 2, 9])[0] == pytest.approx([1, 1, 1])
    assert overlap({1: [1, 2]}, {1: [3, 4]}, "rbo", [1, 2, 9])[0] == [0, 0, 0]
    assert overlap({1: [1]}, {1: [1]}, "jaccard", [1, 5])[0] == [1, 1]


def test_direction_a_swap_further_up_changes_more():
    base = [1, 2, 3, 4, 5]
    low = overlap({1: base}, {1: [1, 2, 3, 5, 4]}, "rbo", [5])[0][0]
    high = overlap({1: base}, {1: [2, 1, 3, 4, 5]}, "rbo", [5])[0][0]
    assert high < low < 1


def test_requests_with_one_list_are_left_out():
    a, b = {1: [1, 2], 2: [5, 6]}, {1: [1, 2], 3: [5, 6]}
    plan, found = support.measured(support.encoded(support.inputs(a=a, b=b)), ["jaccard"], [2])
    sums = found.partials.pairs["b", 0].total()
    assert (sums.count.tolist(), sums.sums().tolist(), plan.candidates) == ([[1]], [[1.0]], ["b"])
