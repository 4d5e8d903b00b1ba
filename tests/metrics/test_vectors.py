"""From counts by item and rank to the vectors that system metrics are functions of."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from audit.conventions import Conventions
from audit.metrics import parse
from audit.metrics.vectors import (
    Projection,
    category_matrix,
    creator_matrix,
    fresh,
    rank_weights,
    tail,
)
from tests import support

CREATORS = {2: ["b"], 3: ["a", "b"], 5: ["c", "a", "b"]}
AS_OF = support.EPOCH + dt.timedelta(days=100)


@pytest.fixture
def dataset():
    """Catalog 2, 3, 4, 5; item 9 is shown and outside."""
    return support.encoded(
        support.inputs(
            {"model": {1: [9, 2]}},
            catalog=support.catalog(
                [5, 4, 3, 2], creators=CREATORS, created={2: 90, 3: 70, 4: 101, 5: 95}
            ),
            history={1: [2, 3], 2: [2], 3: [2], 4: [2]},
        ),
        as_of=AS_OF,
    )


@pytest.mark.parametrize("exposure", ["log2", "geometric"])
@pytest.mark.parametrize("k", [1, 2, 10])
def test_a_full_list_adds_one(exposure, k):
    conventions = Conventions(exposure=exposure, patience=0.6)
    weights = rank_weights(conventions, "exposure", k)
    attention = [
        1 / np.log2(r + 1) if exposure == "log2" else 0.6 ** (r - 1) for r in range(1, k + 1)
    ]
    np.testing.assert_allclose(weights, np.array(attention) / sum(attention))
    assert rank_weights(conventions, "count", k).tolist() == [1] * k


def test_creators_share_equally(dataset):
    third = 1 / 3
    np.testing.assert_allclose(
        creator_matrix(dataset).toarray(), [[0, 1, 0], [1 / 2, 1 / 2, 0], [0, 0, 0], [third] * 3]
    )


def test_parts_of_the_catalog(dataset):
    assert tail(dataset).tolist() == [False, True, True, True]
    assert fresh(dataset, days=30).tolist() == [True, False, False, True]
    assert fresh(dataset, days=30.1).tolist() == [True, True, False, True]


def test_nothing_is_fresh_at_no_time():
    dataset = support.encoded(
        support.inputs({"model": {1: [2]}}, catalog=support.catalog([2], created={2: 1}))
    )
    assert fresh(dataset, days=30).tolist() == [False]


def test_projection(dataset):
    project = Projection(dataset)
    x = np.array([1.0, 2.0, 4.0, 9.0])
    many = np.stack([x, 2 * x, 0 * x]).reshape(3, 1, 4)
    for name, expected in (
        ("item_gini", x),
        ("tail_coverage", [2, 4, 9]),
        ("fresh_coverage", [1, 9]),
        ("fresh_coverage[days=6]", [9]),
        ("creator_gini", [2 / 2 + 9 / 3, 1 + 2 / 2 + 9 / 3, 9 / 3]),
    ):
        ref = parse(name)
        np.testing.assert_allclose(project(ref, x), expected)
        assert project.size(ref) == len(expected)
        assert project(ref, many).shape == (3, 1, len(expected))
        np.testing.assert_allclose(project(ref, many)[1, 0], 2 * np.asarray(expected))


def test_projection_keeps_what_is_shown_by_count_whole(dataset):
    project = Projection(dataset)
    counted = np.array([1, 2, 3, 4])
    assert project(parse("item_gini_by_count"), counted).dtype.kind == "i"


def test_categories_share_equally_and_are_projected():
    dataset = support.encoded(
        support.inputs(
            {"model": {1: [2]}},
            catalog=support.catalog([2, 3, 4], categories={2: ["x", "y"], 4: ["y"]}),
        )
    )
    assert category_matrix(dataset).toarray().tolist() == [[1 / 2, 1 / 2], [0, 0], [0, 1]]
    projection, ref = Projection(dataset), parse("category_coverage@1")
    assert projection(ref, np.array([[2.0, 7.0, 1.0]])).tolist() == [[1, 2]]
    assert projection.size(ref) == 2
