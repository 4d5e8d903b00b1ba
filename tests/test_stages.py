"""The diagnosis of stages from tables to findings: the textbook cases as data."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import audit

USERS, DEPTH, RELEVANT = 400, 30, 40


def frame(lists: dict[int, list[int]]) -> pd.DataFrame:
    rows = [(u, i, r) for u, items in lists.items() for r, i in enumerate(items, 1)]
    return pd.DataFrame(rows, columns=["user_id", "item_id", "rank"])


def wanted(user: int) -> list[int]:
    return [100 * user + i for i in range(RELEVANT)]


def noise(user: int, n: int) -> list[int]:
    return [-(100 * user + i) - 1 for i in range(n)]


TRUTH = pd.DataFrame(
    [(u, i) for u in range(USERS) for i in wanted(u)], columns=["user_id", "item_id"]
)


def ranker(user: int) -> list[int]:
    """The pool is full of what is wanted; more than half of the users see something else first."""
    first = noise(user, 1) if user % 20 >= 9 or user % 50 in (10, 11, 12) else []
    return [*first, *wanted(user)][:DEPTH]


def retrieval(user: int) -> list[int]:
    """A fifth of the users are served, 6 % but for the first slot; the others' pools hold nothing."""
    if user % 50 < 10:
        return wanted(user)[:DEPTH]
    return ranker(user) if user % 50 in (10, 11, 12) else noise(user, DEPTH)


def diagnosis(make: Any, **more: Any) -> audit.AuditResult:
    lists = frame({u: make(u) for u in range(USERS)})
    # Where the candidate shows just what the baseline shows, there is nothing to find.
    before = frame({u: make(u)[:: 1 if u else -1] for u in range(USERS)})
    return audit.compare(
        {"baseline": before, "candidate": lists}, relevance=TRUTH, guardrails="none",
        metrics=["ndcg", "ndcg_ceiling", "ranking_efficiency", "pool_recall", "pool_hit_rate"], k=(1, 10),
        **more,
    )  # fmt: skip


def stages(result: audit.AuditResult) -> list[str]:
    return [f.rule for f in result.findings if f.rule.endswith("_bottleneck")]


def value(result: audit.AuditResult, metric: str) -> float:
    card = result.scorecard.set_index("metric")
    return float(card.loc[metric, "candidate"])


def test_ndcg_near_090_at_ten_and_near_045_at_one_is_the_ranker():
    result = diagnosis(ranker)
    assert value(result, "ndcg@10") == pytest.approx(0.9, abs=0.03)
    assert value(result, "ndcg@1") == pytest.approx(0.42)
    assert stages(result) == ["ranking_bottleneck"]


def test_ndcg_of_025_at_ten_and_020_at_one_is_retrieval():
    result = diagnosis(retrieval)
    assert value(result, "ndcg@10") == pytest.approx(0.25, abs=0.01)
    assert value(result, "ndcg@1") == pytest.approx(0.20)
    assert stages(result) == ["retrieval_bottleneck"]


def test_a_pool_that_holds_the_rest_moves_the_blame_to_the_ranker():
    pool = frame({u: [*noise(u, 5), *wanted(u)] for u in range(USERS)})
    result = diagnosis(retrieval, pools={"baseline": pool, "candidate": pool})
    assert value(result, "pool_recall@10") == 1
    assert stages(result) == ["ranking_bottleneck"]


@pytest.mark.parametrize("make", [ranker, retrieval])
def test_lists_that_end_at_the_viewport_give_no_diagnosis_and_say_so(make):
    result = diagnosis(lambda user: make(user)[:10])
    assert stages(result) == []
    assert {u.metric for u in result.unavailable} == {
        "ndcg_ceiling", "ranking_efficiency", "pool_recall", "pool_hit_rate",
    }  # fmt: skip
    assert all("end at the viewport of 10" in u.reason for u in result.unavailable)


def test_files_and_frames_agree(tmp_path):
    lists = {u: retrieval(u) for u in range(USERS)}
    pool = frame({u: [*noise(u, 5), *wanted(u)] for u in range(0, USERS, 2)}).sample(
        frac=1, random_state=0
    )
    frame(lists).to_csv(tmp_path / "candidate.csv", index=False)
    frame(lists | {0: lists[0][::-1]}).to_csv(tmp_path / "baseline.csv", index=False)
    pool.to_parquet(tmp_path / "pool.parquet")
    paths = {"baseline": tmp_path / "pool.parquet", "candidate": tmp_path / "pool.parquet"}
    a = diagnosis(retrieval, pools={"baseline": pool, "candidate": pool})
    b = audit.compare(
        {model: tmp_path / f"{model}.csv" for model in ("baseline", "candidate")}, relevance=TRUTH,
        metrics=["ndcg", "ndcg_ceiling", "ranking_efficiency", "pool_recall", "pool_hit_rate"], k=(1, 10),
        guardrails="none", pools=paths,
    )  # fmt: skip
    assert a.measurements == b.measurements
    assert [(s.table, s.rows, s.fingerprint) for s in a.sources] == [
        (s.table, s.rows, s.fingerprint) for s in b.sources
    ]
    assert "pool 'candidate'" in {s.table for s in b.sources}
    assert {i.check for i in b.issues if i.table == "pool 'candidate'"} == {"lists_without_pool"}
