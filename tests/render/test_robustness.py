"""Ties, unjudged items and old judgments in the report."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import audit
from audit.render.view import Heading, Text, build_view
from audit.result import AuditResult
from audit.robustness import Robustness


def texts(result: AuditResult) -> str:
    return " ".join(b.text for b in build_view(result).blocks() if isinstance(b, (Text, Heading)))


def cells(result: AuditResult, name: str) -> list[list[str]]:
    table = next(t for t in build_view(result).tables() if t.id == name)
    return [[c.text for c in row.cells] for row in table.rows]


def test_every_metric_with_its_ends(full_result):
    first, second = cells(full_result, "ties-1")
    assert first == ["NDCG@10", "0.0851 to 0.0851", "0.0800 to 0.1310", "+0.0431", "+0.0349", "−0.0051 to +0.0459"]  # fmt: skip
    assert second[4] == "–"
    assert "The lists of eigenrec came with ranks only" in texts(full_result)
    assert "leaves them in the order of the input" in texts(full_result)


def test_three_readings_of_unjudged_items(full_result):
    assert [row[3] for row in cells(full_result, "judgments-1")] == ["+0.0431", "+0.0200", "−0.2900"]  # fmt: skip
    table = next(t for t in build_view(full_result).tables() if t.id == "judgments-1")
    assert [name for name, _ in table.groups()] == ["NDCG@10, whose sign differs"]
    others = next(t for t in build_view(full_result).tables() if t.id == "judgments-1-others")
    assert [name for name, _ in others.groups()] == ["MAP@10"]
    assert (table.folded, others.folded) == (False, True)


def test_relevance_by_age_of_the_judgment(full_result):
    young, old = cells(full_result, "judgment-ages")
    assert young == ["7 to 365 days", "100", "40\u202f%", *["29\u202f%"] * 3]
    assert old == ["365 days and more", "10", "0\u202f%", *["–"] * 3]
    assert "half of them at least 77 days before the list that is judged by them" in texts(
        full_result
    )
    assert "3 judgments carry no date" in texts(full_result)


def test_a_result_of_an_older_schema_claims_nothing(full_result):
    old = full_result.model_copy(update={"robustness": Robustness()})
    assert "equal scores" not in texts(old)
    assert "No judgment has grade 0" not in texts(old)


@pytest.fixture(scope="module")
def flipped() -> AuditResult:
    """The candidate's scores are all alike; by item id its relevant items come first."""
    users = range(80)
    rng = np.random.default_rng(0)
    rows, others, judged = [], [], []
    for user in users:
        good, bad = (int(i) for i in rng.choice(50, 2, replace=False))
        rows += [(user, good, 1.0), (user, 100 + bad, 1.0), (user, 200 + bad, 1.0)]
        others += [(user, 100 + bad, 1), (user, good, 2), (user, 200 + bad, 3)]
        judged.append((user, good))
    return audit.compare(
        {
            "baseline": pd.DataFrame(others, columns=["user_id", "item_id", "rank"]),
            "candidate": pd.DataFrame(rows, columns=["user_id", "item_id", "score"]),
        },
        relevance=pd.DataFrame(judged, columns=["user_id", "item_id"]),
        viewport=3, k=[3], guardrails="none",
    )  # fmt: skip


def test_ties_flip_a_result(flipped):
    assert flipped.comparison("candidate", "mrr@3").difference == 0.5
    effect = flipped.robustness.tie_effect("candidate", "mrr@3")
    assert effect.expected.difference == pytest.approx((1 + 1 / 2 + 1 / 3) / 3 - 0.5)
    assert (effect.lowest, effect.highest) == (pytest.approx(1 / 3 - 0.5), 0.5)
    [finding] = [f for f in flipped.findings if f.rule == "ties_move_the_result"]
    assert "mrr@3" in finding.evidence["The same holds for"]
    assert flipped.verdict == "warn"
    said = texts(flipped)
    assert "No judgment has grade 0" in said
    assert "McSherry & Najork" in said
    assert "The lists of baseline came with ranks only" in said


def test_ties_that_no_metric_sees_need_no_table():
    frame = pd.DataFrame({"user_id": np.repeat(range(60), 3), "item_id": [1, 2, 3] * 60, "score": [2.0, 1.0, 1.0] * 60})  # fmt: skip
    ranks = frame.assign(rank=[1, 2, 3] * 60)
    relevance = pd.DataFrame({"user_id": range(60), "item_id": 1})
    result = audit.compare(
        {"baseline": frame, "candidate": ranks}, relevance=relevance, guardrails="none"
    )
    assert "No other order would change a relevance measure" in texts(result)
    assert "the ranks that came with the lists of candidate decide; of the others this audit" in texts(result)  # fmt: skip
    assert not [t for t in build_view(result).tables() if t.id.startswith("ties-")]


def test_no_tie_is_said_to_be_none(flipped):
    ranks = pd.DataFrame({"user_id": range(60), "item_id": 1, "score": 0.5})
    result = audit.compare(
        {"baseline": ranks, "candidate": ranks}, relevance=ranks[["user_id", "item_id"]], guardrails="none"
    )  # fmt: skip
    assert "No scores of baseline and candidate tie within a list" in texts(result)
    assert result.robustness.ties == []
