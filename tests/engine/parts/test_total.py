"""What parts give adds up in any order and grouping, and in bands."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from audit.dataset.facts import Facts, JudgedFacts, ListFacts
from audit.engine.partials import ExactSums, Partials
from audit.engine.parts.tables import pack, unpack
from audit.engine.parts.total import Total
from audit.engine.plan import Rows

RUN = ("candidate", 0)
ITEMS = 6


def total(seed: int) -> Total:
    """A part's, with rows and ranks of its own."""
    rng = np.random.default_rng(seed)
    keys = np.unique(rng.integers(0, 4, (int(rng.integers(0, 8)), 3)), axis=0)
    n, ranks = len(keys), int(rng.integers(1, 5))
    sums = ExactSums(*(rng.integers(-9, 9, (n, 2)) for _ in range(4)))
    bits = rng.integers(0, 32, ITEMS).astype(np.uint8)
    partials = Partials(
        lists={RUN: sums},
        pairs={RUN: ExactSums(*(rng.integers(-9, 9, (n, 1)) for _ in range(4)))},
        shown={RUN: rng.integers(0, 9, (ranks, ITEMS)).astype(np.int32)},
        cells={RUN: {"a": rng.integers(0, 9, (2, ranks, ITEMS)).astype(np.int32)}},
        groups={RUN: {("all", 3): {"count": rng.integers(0, 9, (5, ITEMS)).astype(np.int32)}}},
        ages={RUN: rng.integers(0, 9, 3)},
        users_items={RUN: rng.integers(0, 9, (3, ITEMS))},
        users_creators={RUN: rng.integers(0, 9, (3, 2))},
        lists_seen={RUN: rng.integers(0, 9, 4)},
        relevant_users=rng.integers(0, 9, 1),
    )
    lists = ListFacts(
        *(3, (int(rng.integers(0, 2**63)) * 2, 1), 2, 1, 1), (int(rng.integers(9)),),
        rng.integers(0, 9, 5), bits, bool(rng.integers(2)), frozenset({int(rng.integers(2))}),
    )  # fmt: skip
    judged = JudgedFacts(5, (7, 2**64 - 1), 4, 1, 3, 1, 1, bits, rng.integers(0, 9, ITEMS))
    facts = Facts(4, 3, 1, {"t": lists}, judged, (2, (1, 2**63)), None, 1, (int(rng.integers(9)),))
    facts.cells = {"a": rng.integers(0, 9, 2)}
    none = np.zeros(0, np.int32)
    return Total(
        partials, Rows(none, keys[:, 0], keys[:, 1], {"a": keys[:, 2].astype(np.int32)}, 0), facts
    )


def plain(value):
    """As plain values, rows in their order."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(of) for key, of in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


def added(seeds, order, cut):
    """The parts in an order, those before and after a cut added up on their own."""
    parts = [total(seeds[i]) for i in order]
    left, right = parts[0], parts[cut] if cut else None
    for part in parts[1 : cut or None]:
        left.add(part)
    if right is not None:
        for part in parts[cut + 1 :]:
            right.add(part)
        left.add(right)
    return left


@given(st.data())
def test_any_order_and_grouping(data):
    seeds = data.draw(st.lists(st.integers(0, 50), min_size=1, max_size=5))
    order = data.draw(st.permutations(range(len(seeds))))
    cut = data.draw(st.integers(0, len(seeds) - 1))
    assert plain(added(seeds, order, cut)) == plain(added(seeds, range(len(seeds)), 0))


@given(st.lists(st.integers(0, 50), min_size=1, max_size=4), st.integers(1, 8))
def test_bands_add_up_alone(seeds, n):
    whole = plain(added(seeds, range(len(seeds)), 0))
    bands: list[Total] = []
    for seed in seeds:
        cut = [pickle.loads(pickle.dumps(band)) for band in total(seed).bands(n)]
        bands = [have.add(more) for have, more in zip(bands, cut, strict=True)] if bands else cut
    assert plain(Total.joined(bands)) == whole


def test_sums_by_row_are_those_of_the_row():
    a, b = total(1), total(2)
    expected: dict[tuple[int, ...], np.ndarray] = {}
    for part in (a, b):
        keys = np.stack([part.rows.bucket, part.rows.group, part.rows.cells["a"]], 1)
        for key, value in zip(keys.tolist(), part.partials.lists[RUN].whole, strict=True):
            expected[tuple(key)] = expected.get(tuple(key), 0) + value
    found = copy.deepcopy(a).add(b)
    keys = np.stack([found.rows.bucket, found.rows.group, found.rows.cells["a"]], 1)
    assert [tuple(key) for key in keys.tolist()] == sorted(expected)
    for key, value in zip(keys.tolist(), found.partials.lists[RUN].whole, strict=True):
        assert value.tolist() == expected[tuple(key)].tolist()


def test_columns_come_back_as_they_were_packed():
    for array in (
        pa.array(["ab", "", "ö"]).slice(1),
        pa.array([], pa.string()),
        pa.array([1, 2, 3], pa.int16()).slice(1),
        pa.array([1.5, None]),
        pa.array(["a", None]),
        pa.array([None, 3], pa.timestamp("us", "UTC")),
        pa.array([True, False]),
    ):
        assert unpack(pickle.loads(pickle.dumps(pack(array)))).equals(array)
