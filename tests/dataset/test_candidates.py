"""Scores found again for the slots they belong to, whatever order the rows came in."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.conventions import Conventions
from audit.dataset import How, read_and_encode
from audit.dataset.candidates import grades_of, read_candidates
from audit.inputs.sources import sources_from_arguments

RELEVANCE = pd.DataFrame({"user_id": [1, 1, 2, 9], "item_id": [5, 8, 6, 5], "grade": [3, 0, 1, 2]})


def encoded(pool=None, **columns):
    sources = sources_from_arguments(
        models={"m": pd.DataFrame(columns)}, relevance=RELEVANCE, pools=None if pool is None else {"m": pool}
    )  # fmt: skip
    how = How(Conventions(), 10)
    return read_and_encode(sources, how).dataset, sources


def shown(d, found):
    """User, request → [(item, score)]."""
    rows = {}
    for row, valid in enumerate(found.valid):
        request = d.list_request[row]
        key = (
            d.users.text([d.list_user[row]])[0],
            d.requests.text([request])[0] if request >= 0 else None,
        )
        rows[key] = [
            (d.items.ids.text([i])[0], s)
            for i, s in zip(found.items[row][valid], found.scores[row][valid], strict=True)
        ]
    return rows


def test_scores_by_user_from_rows_in_any_order():
    d, sources = encoded(
        user_id=[2, 1, 1, 2, 1], item_id=[6, 5, 7, 5, 8], score=[0.5, 1.5, 2.5, 0.75, 0.25]
    )
    found = read_candidates(d, sources, "m", Conventions())
    assert found.scored
    assert shown(d, found)["1", None] == [("7", 2.5), ("5", 1.5), ("8", 0.25)]
    assert shown(d, found)["2", None] == [("5", 0.75), ("6", 0.5)]
    assert found.lengths.tolist()[:2] == [3, 2]
    grades = grades_of(d, found)
    assert grades[0].tolist() == [0, 3, 0]  # 8 is judged and not relevant, 7 unjudged
    assert grades[1].tolist() == [0, 1, -1]


def test_scores_by_request_and_the_type_of_ids():
    d, sources = encoded(
        user_id=["1", "1", "1", "1"], request_id=["b", "a", "b", "a"], item_id=["5", "5", "7", "7"],
        score=[1.0, 2.0, 3.0, 1.0],
    )  # fmt: skip
    rows = shown(d, read_candidates(d, sources, "m", Conventions()))
    assert rows["1", "a"] == [("5", 2.0), ("7", 1.0)]
    assert rows["1", "b"] == [("7", 3.0), ("5", 1.0)]


def test_ranks_stand_in_where_there_are_no_scores():
    d, sources = encoded(user_id=[1, 1], item_id=[5, 7], rank=[2, 1])
    found = read_candidates(d, sources, "m", Conventions())
    assert not found.scored
    assert shown(d, found)["1", None] == [("7", -1.0), ("5", -2.0)]


def test_a_pool_is_what_there_is_to_choose_from():
    pool = pd.DataFrame({"user_id": [1, 1, 1], "item_id": [8, 7, 5], "score": [0.1, 0.9, 0.4]})
    d, sources = encoded(pool, user_id=[1], item_id=[7], score=[0.9])
    rows = shown(d, read_candidates(d, sources, "m", Conventions()))
    assert rows["1", None] == [("7", 0.9), ("5", 0.4), ("8", 0.1)]


def test_of_real_size():
    rng = np.random.default_rng(0)
    users, width = 200, 30
    frame = pd.DataFrame({
        "user_id": np.repeat(np.arange(users), width),
        "item_id": np.concatenate([rng.permutation(500)[:width] for _ in range(users)]),
    }).sample(frac=1, random_state=1)  # fmt: skip
    frame["score"] = rng.normal(size=len(frame))
    d, sources = encoded(**{c: frame[c] for c in ("user_id", "item_id", "score")})
    rows = shown(d, read_candidates(d, sources, "m", Conventions()))
    for user, own in frame.groupby("user_id"):
        best = own.sort_values("score", ascending=False)
        assert rows[str(user), None] == [
            (str(i), s) for i, s in zip(best.item_id, best.score, strict=True)
        ]
