"""Measures of whole sessions, against plain Python and the known values of session metrics."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from audit.exhibits import make_exhibits
from audit.metrics import parse
from audit.metrics.session_columns import REQUESTS
from tests import support

NAMES = (
    "sdcg", "nsdcg", "srbp", "session_item_repetition", "session_creator_repetition", "session_ild",
)  # fmt: skip


def encoded(
    lists: list[tuple[int, int, int, list[int]]], times: dict[tuple[int, int], float] | None = None,
    **tables: Any,
) -> Any:  # fmt: skip
    """Lists as (user, session, request, items)."""
    shown = support.lists(
        {(u, r): items for u, _, r, items in lists}, session={(u, r): s for u, s, r, _ in lists},
        shown_at=times,
    )  # fmt: skip
    return support.encoded(support.inputs(model=shown, **tables), viewport=3)


def values(dataset: Any, names: Any, ks: Any) -> Any:
    plan, found = support.measured(dataset, names, ks)
    return support.single.means(dataset, plan, found)


# --------------------------------------------------------------------------- the known values

# Session relevance [[0,1,0],[1,0,0],[1,1,0]]; nine items, of which each request has its own three relevant.
LISTS = [(1, 1, 1, [90, 11, 91]), (1, 1, 2, [21, 92, 93]), (1, 1, 3, [31, 32, 94])]
TRUTH = {(1, r): [10 * r + i for i in (1, 2, 3)] for r in (1, 2, 3)}


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("srbp[balance=0.5,p=0.8]", 0.3377777778),
        ("srbp[balance=0,p=0.8]", 0.288),
        ("sdcg[bq=4]", 2.2074691195),
        ("nsdcg[bq=4]", 0.4904863830),  # Kanoulas' form
    ],
)
def test_known_values(metric, expected):
    found = values(encoded(LISTS, relevance=TRUTH), [metric], [3])["value"]
    assert found[f"{parse(metric)}@3"] == pytest.approx(expected, abs=5e-11)


def test_session_dcg_that_is_not_normalised():
    # Kanoulas' form: what a visit gives, beside what it could give.
    found = values(encoded(LISTS, relevance=TRUTH), ["nsdcg"], [3])["value"]["nsdcg@3"]
    best = sum((1 + 1 / np.log2(3) + 1 / 2) * np.log(4) / np.log(q + 3) for q in (1, 2, 3))
    assert found * best == pytest.approx(2.7541423769, abs=5e-10)


def test_srbp_of_one_request_in_full_balance_is_rbp():
    found = values(encoded(LISTS[:1], relevance=TRUTH), ["srbp[balance=1]"], [3])["value"]
    assert found["srbp[balance=1]@3"] == pytest.approx(0.16)


def test_srbp_of_endless_relevance_is_one():
    lists = [(1, 1, r, [100 * r + i for i in range(60)]) for r in range(80)]
    truth = {(u, r): items for u, _, r, items in lists}
    found = values(encoded(lists, relevance=truth), ["srbp"], [60])["value"]
    assert found["srbp@60"] == pytest.approx(1.0, abs=1e-6)


# ------------------------------------------------------------------------------ plain Python


def world(seed: int) -> tuple[list[tuple[int, int, int, list[int]]], dict[str, Any]]:
    rng = np.random.default_rng(seed)
    lists = []
    for user in range(12):
        for request in range(int(rng.integers(1, 7))):
            items = rng.choice(25, int(rng.integers(1, 6)), replace=False)
            lists.append((user, int(rng.integers(0, 2)), request, [int(i) for i in items]))
    return lists, {
        "relevance": {u: {int(i): int(rng.integers(0, 3)) for i in rng.choice(25, 6, replace=False)} for u in range(10)},
        "catalog": support.catalog(
            range(25),
            creators={i: [f"c{i % 7}"] if i % 5 else [] for i in range(25)},
            embedding={i: [float(x) for x in rng.normal(size=3)] for i in range(20)},
        ),
    }  # fmt: skip


def reference(
    lists: list[tuple[int, int, int, list[int]]], tables: dict[str, Any], k: int
) -> dict[str, float]:
    catalog = tables["catalog"].to_pylist()
    creators = {row["item_id"]: row["creator_id"] for row in catalog}
    vectors = {row["item_id"]: row["embedding"] for row in catalog if row["embedding"] is not None}
    sessions: dict[tuple[int, int], list[list[int]]] = {}
    for user, session, _, items in sorted(lists, key=lambda row: (row[0], row[1], row[2])):
        sessions.setdefault((user, session), []).append(items[:k])
    by_user: dict[str, dict[int, list[float]]] = {name: {} for name in NAMES}

    def add(name: str, user: int, value: float) -> None:
        if not math.isnan(value):
            by_user[name].setdefault(user, []).append(value)

    for (user, _), shown in sessions.items():
        grades = {i: g for i, g in tables["relevance"].get(user, {}).items() if g > 0}
        if grades:
            dcg = [
                sum((2 ** grades.get(i, 0) - 1) / math.log2(r + 1) for r, i in enumerate(top, 1))
                for top in shown
            ]
            best = sorted(grades.values(), reverse=True)[:k]
            ideal = sum((2**g - 1) / math.log2(r + 1) for r, g in enumerate(best, 1))
            add("sdcg", user, sum(d / (1 + math.log(q, 4)) for q, d in enumerate(dcg, 1)))
            w = [1 / math.log(q + 3, 4) for q in range(1, len(shown) + 1)]
            add("nsdcg", user, sum(np.multiply(w, dcg)) / (ideal * sum(w)))
            add("srbp", user, 0.2 * sum(
                (0.4 / 0.6) ** q * sum(0.4**r for r, i in enumerate(top) if i in grades) for q, top in enumerate(shown)
            ))  # fmt: skip
        items: list[bool] = []
        makers: list[bool] = []
        for q, top in enumerate(shown):
            before = [i for earlier in shown[:q] for i in earlier]
            known = {c for i in before for c in creators[i]}
            items += [i in before for i in top]
            makers += [bool(known & set(creators[i])) for i in top if creators[i]]
        if len(shown) > 1:
            add("session_item_repetition", user, float(np.mean(items)))
            add("session_creator_repetition", user, float(np.mean(makers)) if makers else math.nan)
        unit = [
            np.array(vectors[i]) / np.linalg.norm(vectors[i])
            for top in shown
            for i in top
            if i in vectors
        ]
        pairs = [1 - float(a @ b) for n, a in enumerate(unit) for b in unit[n + 1 :]]
        add("session_ild", user, float(np.mean(pairs)) if pairs else math.nan)
    return {
        name: float(np.mean([np.mean(of) for of in users.values()]))
        for name, users in by_user.items()
    }


@pytest.mark.parametrize("seed", range(4))
def test_against_plain_python(seed):
    lists, tables = world(seed)
    found = values(encoded(lists, **tables), NAMES, [1, 3, 9])["value"]
    for k in (1, 3, 9):
        for name, value in reference(lists, tables, k).items():
            assert found[f"{name}@{k}"] == pytest.approx(value, abs=1e-6), (
                name,
                k,
            )  # float32 vectors


# ----------------------------------------------------------------------------- edges, direction


def test_direction_a_session_that_repeats_is_worse():
    table = support.catalog(
        range(6), creators={i: [f"c{i}"] for i in range(6)},
        embedding={i: [float(i == d) for d in range(6)] for i in range(6)},
    )  # fmt: skip
    names = ["session_item_repetition", "session_creator_repetition", "session_ild"]
    fresh = values(encoded([(1, 1, 1, [0, 1]), (1, 1, 2, [2, 3])], catalog=table), names, [2])[
        "value"
    ]
    stale = values(encoded([(1, 1, 1, [0, 1]), (1, 1, 2, [1, 0])], catalog=table), names, [2])[
        "value"
    ]
    assert fresh.tolist() == [0, 0, 1]
    assert stale.tolist() == [0.5, 0.5, pytest.approx(4 / 6)]


def test_the_order_is_that_of_time():
    lists = [(1, 1, 1, [7]), (1, 1, 2, [8])]
    truth = {1: [7]}
    early = encoded(lists, {(1, 1): 1.0, (1, 2): 2.0}, relevance=truth)
    late = encoded(lists, {(1, 1): 2.0, (1, 2): 1.0}, relevance=truth)
    assert values(early, ["sdcg"], [1])["value"].tolist() == [1]
    assert values(late, ["sdcg"], [1])["value"].tolist() == [pytest.approx(1 / 1.5)]


def test_sessions_of_one_request_have_no_repetition():
    dataset = encoded([(1, 1, 1, [1, 2]), (2, 1, 1, [1]), (2, 1, 2, [1])])
    found = values(dataset, ["session_item_repetition"], [2])
    assert found.iloc[0].tolist() == [0.5, 1]


def test_without_sessions_the_reason_is_said():
    dataset = support.encoded(support.inputs(model={(1, 1): [1]}))
    _, found = support.measured(dataset, ["session_item_repetition"], [1])
    assert list(found.unavailable.values()) == ["no 'session_id' in the recommendations of model"]
    assert found.partials.requests == {}


def test_fatigue_by_request():
    lists = [(1, 1, r, [r, r + 1, 50 + r]) for r in range(REQUESTS + 2)] + [(2, 5, 0, [1, 2, 3])]
    dataset = encoded(lists, relevance={1: [1, 2]})
    for block in (1, 4096):
        plan, found = support.measured(dataset, ["precision"], [3], block=block)
        (curve,) = make_exhibits(dataset, plan, found).fatigue
        assert curve.requests == list(range(1, REQUESTS + 1))
        assert curve.lists == [2] + [1] * (REQUESTS - 2) + [3]
        assert curve.repetition[:2] == [0, pytest.approx(1 / 3)]
        assert curve.repetition[-1] == pytest.approx(1 / 3)
        assert curve.relevance[:4] == pytest.approx([1 / 3, 2 / 3, 1 / 3, 0])
