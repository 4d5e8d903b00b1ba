from __future__ import annotations

import numpy as np
import pytest

from audit.metrics.coverage import catalog_coverage, tail_coverage
from tests.support import scores

CATALOG = range(1, 11)


def coverage(shown, k, **tables):
    return scores(shown, ["catalog_coverage"], k, **tables)


def test_share_of_the_catalog_that_is_shown():
    shown = {1: [1, 2, 3], 2: [2, 1, 4], 3: [1]}
    found = coverage(shown, (1, 2, 3, 10), catalog=CATALOG)
    assert found["catalog_coverage@1"] == len({1, 2}) / 10
    assert found["catalog_coverage@2"] == len({1, 2}) / 10
    assert found["catalog_coverage@3"] == found["catalog_coverage@10"] == len({1, 2, 3, 4}) / 10


def test_items_outside_the_catalog_are_never_counted():
    found = coverage({1: [1, 98, 99], 2: [97]}, 3, catalog=[1, 2])
    assert found["catalog_coverage@3"] == 1 / 2
    assert coverage({1: [98, 99]}, 3, catalog=[1, 2])["catalog_coverage@3"] == 0


def test_without_a_catalog_the_known_items_are_the_catalog():
    found = coverage({1: [1, 2]}, 2, history={1: [3], 9: [4, 1]}, relevance={1: [2, 5]})
    assert found["catalog_coverage@2"] == len({1, 2}) / len({1, 2, 3, 4, 5})


# Popularity: item 1 has 8 users, item 2 has 1, item 3 has 1; 80 % of 10 pairs is item 1 alone.
HISTORY = {**{user: [1] for user in range(6)}, 6: [1, 2], 7: [1, 3]}


def test_share_of_the_tail_that_is_shown():
    found = scores(
        {1: [1, 2, 9], 2: [1, 4, 5]}, ["tail_coverage"], (1, 2, 3), history=HISTORY, catalog=CATALOG
    )
    assert found["tail_coverage@1"] == 0
    assert found["tail_coverage@2"] == pytest.approx(len({2, 4}) / 9)
    assert found["tail_coverage@3"] == pytest.approx(len({2, 4, 9, 5}) / 9)


def test_convention_head_share_moves_the_border():
    given = {"history": HISTORY, "catalog": CATALOG}
    found = {
        share: scores(
            {1: [2, 3, 4]}, ["tail_coverage"], 3, conventions={"head_share": share}, **given
        )
        for share in (0.8, 0.85, 0.95)
    }
    assert found[0.8]["tail_coverage@3"] == pytest.approx(3 / 9)  # head 1
    assert found[0.85]["tail_coverage@3"] == pytest.approx(2 / 8)  # head 1, 2
    assert found[0.95]["tail_coverage@3"] == pytest.approx(1 / 7)  # head 1, 2, 3


def test_without_history_there_is_no_tail():
    found = scores({1: [1]}, None, 1, catalog=CATALOG)
    assert "catalog_coverage@1" in found
    assert "tail_coverage@1" not in found


def test_a_metric_of_many_vectors_at_once():
    x = np.array([[0.0, 1.0, 2.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    for function in (catalog_coverage, tail_coverage):
        assert function(x).tolist() == [2 / 4, 0]
        assert function(x[None]).shape == (1, 2)
