"""The judging queue, and the way back: judged, read, believed."""

from __future__ import annotations

from math import log2

import numpy as np
import pandas as pd
import pytest

import audit
from audit.api import pool
from audit.errors import ConfigError
from audit.pooling import judging_queue
from tests.support import encoded, inputs, measured

ALPHABET = [f"i{n:02d}" for n in range(30)]


def queue(*, metric="ndcg", k=3, both=False, limit=None, by_request=False, block=4096, **tables):
    d = encoded(inputs(**tables), viewport=k)
    plan, _ = measured(d, [metric], (k,), baseline="baseline")
    ref = next(r for r in plan.wanted if r.name == metric)
    found = judging_queue(d, plan, ref, by_request=by_request, both=both, limit=limit, block=block)
    return found.to_pandas()


def test_by_hand():
    """What each item would add to the mean over two users, had it the top grade."""
    found = queue(
        baseline={1: [11, 12, 13], 2: [11, 12, 13]},
        candidate={1: [21, 11, 22], 2: [12, 13, 23]},
        relevance={1: {11: 1, 12: 0}, 2: {11: 1, 13: 0}},
    )
    assert list(found) == ["user_id", "item_id", "model", "rank", "potential", "grade", "judged_at"]
    assert found[["user_id", "item_id", "rank"]].values.tolist() == [[1, 21, 1], [2, 23, 3], [1, 22, 3]]  # fmt: skip
    at = [None, 1, 1 / log2(3), 1 / 2]
    ideal = at[1] + at[2]
    # With 21 the ideal list of user 1 has two items: the baseline loses, the candidate gains.
    first = ((at[1] + at[2]) - at[1]) / ideal - (at[2] - at[1])
    third = ((at[2] + at[3]) - at[1]) / ideal - (at[2] - at[1])
    second = ((at[3]) - at[1]) / ideal - (0 - at[1])
    assert found["potential"].tolist() == pytest.approx(sorted([first / 2, second / 2, third / 2], reverse=True))  # fmt: skip
    assert found["grade"].isna().all()


def test_only_unjudged_items_that_the_baseline_does_not_show():
    found = queue(
        baseline={1: [11, 12, 13]}, candidate={1: [12, 21, 14]}, relevance={1: {11: 1, 14: 0}}
    )
    assert found["item_id"].tolist() == [21]
    found = queue(
        baseline={1: [11, 12, 13]}, candidate={1: [12, 21, 14]}, relevance={1: {11: 1, 14: 0}},
        both=True,
    )  # fmt: skip
    assert sorted(zip(found["item_id"], found["model"], strict=True)) == [(13, "baseline"), (21, "candidate")]  # fmt: skip


def test_users_without_anything_relevant_count_from_then_on():
    found = queue(baseline={1: [11]}, candidate={1: [21]}, relevance={1: {12: 0}, 2: {12: 1}}, k=1)
    assert found["potential"].tolist() == [1.0]


def test_each_pair_comes_once():
    tables = {
        "baseline": {(1, 1): [11, 12], (1, 2): [11, 12]},
        "b": {(1, 1): [11, 21], (1, 2): [21, 12]}, "c": {(1, 1): [21, 11], (1, 2): [11, 22]},
    }  # fmt: skip
    found = queue(k=2, relevance={1: {11: 1, 12: 0}}, **tables)
    assert sorted(zip(found["item_id"], found["model"], found["rank"], strict=True)) == [(21, "b, c", 1), (22, "c", 2)]  # fmt: skip
    by_request = queue(
        k=2, relevance={(1, 1): {11: 1, 12: 0}, (1, 2): {11: 1}}, by_request=True, **tables
    )
    assert sorted(zip(by_request["request_id"], by_request["item_id"], strict=True)) == [(1, 21), (2, 21), (2, 22)]  # fmt: skip


def test_the_cut_and_a_limit_change_no_row():
    rng = np.random.default_rng(2)
    tables = {
        m: {u: [int(i) for i in rng.choice(30, 5, replace=False)] for u in range(40)}
        for m in ("baseline", "candidate")
    }
    relevance = {u: {int(i): int(rng.integers(0, 3)) for i in rng.choice(30, 9, replace=False)} for u in range(40)}  # fmt: skip
    whole = queue(relevance=relevance, **tables)
    pd.testing.assert_frame_equal(whole, queue(relevance=relevance, block=3, **tables))
    assert (np.diff(whole["potential"]) <= 0).all()
    pd.testing.assert_frame_equal(
        whole.head(7), queue(relevance=relevance, limit=7, **tables), check_dtype=False
    )


def test_nothing_to_judge_is_an_empty_queue():
    found = queue(baseline={1: [11]}, candidate={1: [11]}, relevance={1: {11: 1}})
    assert len(found) == 0
    assert list(found) == ["user_id", "item_id", "model", "rank", "potential", "grade", "judged_at"]


def test_without_relevance_there_is_no_queue():
    d = encoded(inputs(baseline={1: [1]}, candidate={1: [2]}))
    plan, _ = measured(d, ["catalog_coverage"], (1,), baseline="baseline")
    with pytest.raises(ConfigError, match=r"no \[relevance\]"):
        judging_queue(d, plan, next(iter(plan.wanted)), by_request=False)


# ------------------------------------------------------------------------------- there and back


@pytest.fixture
def folder(tmp_path):
    """60 users: the baseline's items are judged, the candidate's are new, and good."""
    rng = np.random.default_rng(4)
    shown = {"baseline": [], "candidate": []}
    relevance, truth = [], {}
    for user in range(60):
        items = [str(i) for i in rng.permutation(ALPHABET)]
        old, new = items[:6], items[6:9]
        best, *rest = old
        for model, chosen in (
            ("baseline", [rest[0], best, rest[1]]), ("candidate", [*new[:2], best]),
        ):  # fmt: skip
            shown[model] += [(f"u{user:02d}", item, r) for r, item in enumerate(chosen, 1)]
        relevance += [(f"u{user:02d}", item, int(i in {0, 4})) for i, item in enumerate(old)]
        truth |= {(f"u{user:02d}", item): 2 for item in new}
    for model, rows in shown.items():
        pd.DataFrame(rows, columns=["user_id", "item_id", "rank"]).to_parquet(tmp_path / f"{model}.parquet")  # fmt: skip
    pd.DataFrame(relevance, columns=["user_id", "item_id", "grade"]).to_parquet(tmp_path / "relevance.parquet")  # fmt: skip
    (tmp_path / "audit.toml").write_text(
        '[audit]\nviewport = 3\nk = [3]\n[models]\nbaseline = "baseline.parquet"\n'
        'candidate = "candidate.parquet"\n[relevance]\npath = "relevance.parquet"\n'
        '[guardrails]\nprofile = "none"\n"ndcg@3" = { max_drop = 0.02, relative = true }\n'
    )
    return tmp_path, truth


def test_judgments_flip_the_result(folder):
    path, truth = folder
    before = audit.run(path / "audit.toml")
    assert before.verdict == "fail"
    [finding] = [f for f in before.findings if f.rule == "undecided_by_judgments"]
    assert "Judged share of the items up to rank 3" in finding.evidence
    robust = before.robustness.readings("candidate", "ndcg@3")
    assert robust["irrelevant"].difference < 0
    assert robust["condensed"].difference > 0
    found = pool(path / "audit.toml").to_pandas()
    assert len(found) == 120
    assert (found["model"] == "candidate").all()
    # The first half matters most: what stands at rank 1.
    assert (found["rank"].head(60) == 1).all()
    found["grade"] = [truth[pair] for pair in zip(found["user_id"], found["item_id"], strict=True)]
    found.to_csv(path / "queue.csv", index=False)
    text = (path / "audit.toml").read_text()
    (path / "audit.toml").write_text(
        text.replace('path = "relevance.parquet"', 'path = ["relevance.parquet", "queue.csv"]')
    )
    after = audit.run(path / "audit.toml")
    assert after.comparison("candidate", "ndcg@3").difference > 0
    assert after.robustness.judged["candidate"].candidate == 1
    assert not [f for f in after.findings if f.rule == "undecided_by_judgments"]
    assert [s.name for s in after.sources if s.table == "relevance"] == ["relevance.parquet, queue.csv"]  # fmt: skip
    assert len(pool(path / "audit.toml")) == 0
