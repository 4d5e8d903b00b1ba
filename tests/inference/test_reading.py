from __future__ import annotations

import math
from dataclasses import replace

import pytest

from audit.inference.reading import number, reading, span
from audit.metrics import REGISTRY

HIGHER = REGISTRY["ndcg"]
LOWER = REGISTRY["item_gini"]
TARGET = replace(HIGHER, direction="target", target=0.5)


@pytest.mark.parametrize(
    ("spec", "difference", "interval", "expected"),
    [
        (HIGHER, 0.1, (0.05, 0.15), "better"),
        (HIGHER, -0.1, (-0.15, -0.05), "worse"),
        (LOWER, 0.1, (0.05, 0.15), "worse"),
        (LOWER, -0.1, (-0.15, -0.05), "better"),
        (HIGHER, 0.1, (-0.05, 0.15), "undecided"),
        (HIGHER, 0.1, (0.0, 0.15), "undecided"),
        (HIGHER, -0.1, (-0.15, 0.0), "undecided"),
        (HIGHER, 0.1, None, "undecided"),
        (HIGHER, None, None, "undecided"),
        (HIGHER, 0.1, (math.nan, math.nan), "undecided"),
    ],
)
def test_by_direction_and_interval(spec, difference, interval, expected):
    assert reading(spec, difference, interval, None, False, (1.0, 1.1)) == expected


@pytest.mark.parametrize(
    ("relative", "expected"),
    [
        ((-0.01, 0.01), "no change"),
        ((0.001, 0.009), "no change"),  # certainly higher, but by less than 1 %
        ((0.001, 0.0101), "better"),
        ((-0.0101, 0.009), "better"),
    ],
)
def test_no_change_is_a_relative_interval_within_one_percent(relative, expected):
    assert reading(HIGHER, 0.1, (0.05, 0.15), relative, False, (1.0, 1.1)) == expected


def test_identical_is_no_change_whatever_else():
    assert reading(HIGHER, 0.0, (0.0, 0.0), None, True, (0.0, 0.0)) == "no change"


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (0.25, 0.375, "better"), (0.375, 0.25, "worse"), (0.375, 0.75, "worse"), (1.0, 0.375, "better"),
        (0.25, 0.75, "undecided"),  # as far off on the other side
    ],
)  # fmt: skip
def test_with_a_target_the_nearer_is_better(a, b, expected):
    low, high = sorted([(b - a) / 2, (b - a) * 2])
    assert reading(TARGET, b - a, (low, high), None, False, (a, b)) == expected


def test_numbers_that_json_does_not_have_are_none():
    assert number(1.5) == 1.5
    assert number(math.nan) is None
    assert number(math.inf) is None
    assert span(None) == (None, None)
    assert span((math.nan, 2.0)) == (None, 2.0)
