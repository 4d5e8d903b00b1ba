"""Fingerprints in passing are those of the whole."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.dataset import hashing
from audit.dataset.stream import marks

ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(-2, 3), st.floats(-2, 2)),
    max_size=30,
)
NAMES = np.array(["a", "bb", "item of more than eight bytes", "", "é"])


@settings(deadline=None)  # the first call compiles
@given(ROWS, st.integers(0, 30))
def test_rows_of_pairs_add_up_to_the_fingerprint_of_the_table(rows, cut):
    items = hashing.hash_values(pa.array(NAMES))

    def part(some):
        user = np.array([r[0] for r in some], np.int32)
        bounds = np.arange(len(some) + 1)
        extra = {
            "grade": np.array([r[2] for r in some], np.int64),
            "weight": marks.float_bits(pa.array([r[3] for r in some], pa.float64())),
        }
        item = np.array([r[1] for r in some], np.int32)
        users = hashing.hash_values(pa.array(range(4), pa.int64()))
        return marks.row_marks(bounds, (user, users), None, (item, items), extra)

    table = pa.table(
        {
            "user_id": pa.array([r[0] for r in rows], pa.int64()),
            "item_id": pa.array([str(NAMES[r[1]]) for r in rows], pa.string()),
            "grade": pa.array([r[2] for r in rows], pa.int64()),
            "weight": pa.array([r[3] for r in rows], pa.float64()),
        }
    )
    both = marks.add([part(rows[:cut]), part(rows[cut:])])
    assert marks.text(both) == hashing.table_fingerprint(table)


def of_lists(lists, users, hashes):
    start = np.cumsum([0, *map(len, lists)])
    items = np.array([i for one in lists for i in one], np.int32)
    user = hashing.hash_values(pa.array(users, pa.int64()))
    return marks.list_marks(start, items, hashes, {"user_id": user})


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 4), unique=True), max_size=6), st.randoms())
def test_lists_count_in_any_order_and_add_up(lists, random):
    hashes = hashing.hash_values(pa.array(NAMES))
    users = list(range(len(lists)))
    whole = of_lists(lists, users, hashes)
    parts = [of_lists([one], [user], hashes) for one, user in zip(lists, users, strict=True)]
    assert marks.add(parts) == whole
    order = users.copy()
    random.shuffle(order)
    assert of_lists([lists[u] for u in order], order, hashes) == whole
    shown = [u for u in users if lists[u]]
    assert of_lists([lists[u] for u in shown], shown, hashes) == whole  # empty lists are none


def test_lists_count_by_user_items_and_place():
    hashes = hashing.hash_values(pa.array(NAMES))
    seen = {
        of_lists(lists, users, hashes)
        for lists, users in [
            ([[0, 1], [2]], [1, 2]), ([[1, 0], [2]], [1, 2]), ([[0, 1], [2]], [2, 1]),
            ([[0], [1, 2]], [1, 2]), ([[0, 1, 2]], [1]), ([[0, 1], [3]], [1, 2]), ([[0, 1]], [1]),
        ]
    }  # fmt: skip
    assert len(seen) == 7
    again = hashing.hash_values(pa.array(NAMES[::-1].copy()))  # the same ids under other codes
    assert of_lists([[4, 3], [2]], [1, 2], again) == of_lists([[0, 1], [2]], [1, 2], hashes)
