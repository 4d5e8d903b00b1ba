"""Copying and placing in windows is copying and placing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.dataset import scratch
from audit.dataset.scratch import Scratch
from audit.dataset.stream import build, windows
from audit.dataset.stream.pairs import EncodedPairs, PairPart


@pytest.fixture(scope="module")
def where(tmp_path_factory):
    return Scratch(tmp_path_factory.mktemp("scratch"))


@pytest.fixture(autouse=True, scope="module")
def small():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "WINDOW", 13)
        patch.setattr(scratch, "STEP", 7)
        yield


@given(
    lengths=st.lists(st.integers(0, 9), min_size=1, max_size=30), order=st.randoms(),
    left_out=st.integers(0, 3),
)  # fmt: skip
@settings(max_examples=40)
def test_arranging(where, lengths, order, left_out):
    start = np.append(0, np.cumsum(lengths)).astype(np.int64)
    values = np.arange(start[-1], dtype=np.int32) + 100
    rows = list(range(len(lengths)))
    order.shuffle(rows)
    rows = np.array(rows[left_out:] + [-1] * left_out, np.int64)
    got = build.arrange(start, where.keep(values), rows, 2)
    expected = [values[start[r] : start[r + 1]] if r >= 0 else values[:0] for r in rows]
    assert got.lengths.tolist() == [len(e) for e in expected]
    assert got.values.tolist() == np.concatenate([*expected, values[:0]]).tolist()


def pairs(rng, users, rows, parts, requests, keep):
    """Rows cut into parts; each row is a run, or runs of one user."""
    found, every = [], []
    seen = set()
    for _ in range(parts):
        user = np.sort(rng.integers(0, users, rows)).astype(np.int32)
        rng.shuffle(user)
        item = rng.integers(0, 500, rows).astype(np.int32)
        grade = rng.integers(0, 4, rows).astype(np.uint8)
        request = rng.integers(0, 2, rows).astype(np.int32) if requests else None
        fresh = []
        for row in range(rows):
            key = (int(user[row]), int(item[row]), int(request[row]) if requests else 0)
            fresh.append(key not in seen)
            seen.add(key)
        mask = np.array(fresh)
        user, item, grade = user[mask], item[mask], grade[mask]
        request = request[mask] if requests else None
        found.append(PairPart(keep(item), None, keep(user), request, grade))
        every += [
            (int(u), int(request[i]) if requests else 0, int(item[i]), int(grade[i]))
            for i, u in enumerate(user)
        ]
    return EncodedPairs(found, None, None, 0, 0, len(every), (0, 0), []), every


@pytest.mark.parametrize("requests", [False, True])
@pytest.mark.parametrize("mapped", [False, True])
def test_relevance_in_groups_and_with_other_codes(where, mapped, requests):
    rng = np.random.default_rng(3)
    keep = where.keep if mapped else np.array
    given_, every = pairs(rng, 20, 60, 3, requests, keep)
    judged = build.group_relevance(given_, 2)
    assert scratch.is_mapped(judged.items) == mapped

    def contexts(judged, codes):
        for i, user in enumerate(judged.user):
            slots = slice(judged.start[i], judged.start[i + 1])
            request = 0 if judged.request is None else int(judged.request[i])
            own = sorted((int(codes[t]), g) for u, r, t, g in every if (u, r) == (user, request))
            assert judged.items[slots].tolist() == [t for t, _ in own]
            assert judged.grades[slots].tolist() == [g for _, g in own]
            assert judged.best[slots].tolist() == sorted((g for _, g in own), reverse=True)
            assert judged.relevant[i] == sum(g > 0 for _, g in own)
            word = 0
            for item, grade in own:
                word |= (grade > 0) << (item % 64)
            assert int(judged.word[i]) == word
        keys = {(u, r) for u, r, _, _ in every}
        assert len(judged.user) == len(keys)

    contexts(judged, np.arange(500))
    final = rng.permutation(500).astype(np.int32)
    contexts(build.recode_judged(judged, final, 2), final)


@pytest.mark.parametrize("mapped", [False, True])
def test_history_in_groups_and_with_other_codes(where, mapped):
    rng = np.random.default_rng(4)
    keep = where.keep if mapped else np.array
    parts, every = [], []
    for _ in range(3):
        user = rng.integers(0, 25, 50).astype(np.int32)
        item = rng.integers(0, 12, 50).astype(np.int32)
        parts.append(PairPart(keep(item), None, keep(user), None, None))
        every += list(zip(user.tolist(), item.tolist(), strict=True))
    given_ = EncodedPairs(parts, None, None, 0, 0, len(every), (0, 0), [])
    history = build.group_history(given_, 30, 12, 2)
    final = rng.permutation(12).astype(np.int32)
    for codes in (np.arange(12), final):
        for i, user in enumerate(history.user):
            own = sorted({int(codes[t]) for u, t in every if u == user})
            assert history.items[history.start[i] : history.start[i + 1]].tolist() == own
        assert len(history.user) == len({u for u, _ in every})
        counts = np.bincount([codes[t] for _, t in set(every)], minlength=12)
        assert history.popularity.tolist() == counts.tolist()
        history = build.recode_history(history, final, 2)
