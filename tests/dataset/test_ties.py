"""Which slots tie is known of every list, whichever way it was read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.conventions import Conventions
from audit.dataset import How, read_and_encode
from audit.dataset.model import Ties
from audit.dataset.stream.build import moved
from audit.inputs import sources_from_arguments
from tests.support import encoded, inputs, lists


def tied_items(d, model="model"):
    """User → the items that tie with the one before."""
    found = d.models[model][0]
    if found.ties is None:
        return None
    flags = found.ties.between(0, int(found.items.start[-1]))
    ids = np.array(d.items.ids.text(range(len(d.items.ids))))
    return {
        d.users.text([u])[0]: list(ids[found.items.values[a:b][flags[a:b] == 1]])
        for u, (a, b) in enumerate(zip(found.items.start[:-1], found.items.start[1:], strict=True))
    }


@given(st.sets(st.integers(0, 70)), st.integers(0, 71), st.integers(0, 71))
def test_bits_are_found_again(slots, first, last):
    first, last = sorted((first, last))
    ties = Ties.of(np.array(sorted(slots), np.int64), 71)
    if not slots:
        assert ties is None
        return
    assert ties.between(first, last).tolist() == [int(s in slots) for s in range(first, last)]


def test_slots_move_with_their_lists():
    start = np.array([0, 3, 5, 6])
    rows = np.array([2, -1, 0])  # the second list is not wanted
    found = moved(np.array([1, 2, 4]), start, rows, np.array([0, 1, 1, 4]))
    assert found.tolist() == [2, 3]


@pytest.mark.parametrize(("ties", "later"), [("item_id", "9"), ("input_order", "7")])
def test_ties_are_known_whatever_orders_them(ties, later):
    shown = lists({1: [9, 7, 8], 2: [7, 8, 9]}, scores={1: [1.0, 1.0, 0.5], 2: [3.0, 2.0, 2.0]})
    d = encoded(inputs(model=shown), ties=ties)
    assert tied_items(d) == {"1": [later], "2": ["9"]}
    assert d.models["model"][0].scored


def test_of_ranks_alone_nothing_is_known():
    d = encoded(inputs(model={1: [9, 7, 8]}))
    assert d.models["model"][0].ties is None
    assert not d.models["model"][0].scored


def test_scores_beside_ranks_show_ties_and_the_rank_orders_them():
    shown = lists({1: [9, 7, 8]}).append_column("score", pa.array([1.0, 1.0, 0.5]))
    d = encoded(inputs(model=shown))
    assert tied_items(d) == {"1": ["7"]}
    assert d.models["model"][0].items.values.tolist() == [2, 0, 1]


def test_no_score_repeats_within_a_list():
    shown = lists({1: [9, 7], 2: [7, 9]}, scores={1: [2.0, 1.0], 2: [1.0, 0.5]})
    d = encoded(inputs(model=shown))
    assert d.models["model"][0].ties is None
    assert d.models["model"][0].scored


@pytest.mark.parametrize("mixed", [False, True], ids=["lists together", "rows apart"])
@pytest.mark.parametrize("ranked", [False, True], ids=["scores", "ranks and scores"])
def test_streams_and_tables_agree(tmp_path, mixed, ranked):
    rng = np.random.default_rng(5)
    rows = []
    for user in rng.permutation(40):
        scores = -np.sort(-rng.integers(0, 4, 9))
        items = rng.choice(30, 9, replace=False)
        if not ranked:
            items = np.concatenate([np.sort(items[scores == s]) for s in (3, 2, 1, 0)])
        rows += [(int(user), int(i), float(s), r) for r, (i, s) in enumerate(zip(items, scores, strict=True), 1)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["user_id", "item_id", "score", "rank"])
    expected = {
        str(user): [str(i) for i in one["item_id"][one["score"].diff() == 0]]
        for user, one in frame.groupby("user_id")
    }
    if not ranked:
        frame = frame.drop(columns="rank")
    if mixed:
        frame = frame.sample(frac=1, random_state=1)
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=50)
    for data in (tmp_path / "a.parquet", frame):
        how = How(Conventions(), 10, None, None, 1)
        d = read_and_encode(sources_from_arguments(models={"model": data}), how).dataset
        assert tied_items(d) == expected
