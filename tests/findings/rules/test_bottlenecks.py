"""Which stage holds the candidate back: the textbook cases, and the edges of the conditions."""

from __future__ import annotations

from typing import Any

import pytest

from audit.findings import judge

RULES = {"ranking_bottleneck", "retrieval_bottleneck", "top_slot_regressed"}


def fired(lab: Any) -> list[str]:
    return [f.rule for f in judge(lab.evidence(), "none").findings if f.rule in RULES]


def stages(lab: Any, k: int, ndcg: float, ceiling: float, se: float = 0.005) -> None:
    lab.mean(f"ndcg@{k}", ndcg, ndcg, se)
    lab.mean(f"ndcg_ceiling@{k}", ceiling, ceiling, se)
    lab.mean(f"ranking_efficiency@{k}", ndcg / ceiling, ndcg / ceiling, se)


def test_textbook_good_at_ten_and_poor_at_one_is_the_ranker(lab: Any) -> None:
    stages(lab, 10, 0.90, 0.97)
    stages(lab, 1, 0.45, 0.98)
    (finding,) = [f for f in judge(lab.evidence(), "none").findings if f.rule in RULES]
    assert finding.rule == "ranking_bottleneck"
    assert finding.severity == "info"
    assert finding.title == "Ranking is the bottleneck at the top slot"
    assert finding.evidence["NDCG@1"] == "0.450, of 1 at best"
    assert finding.evidence["Lost at 1 by retrieval and by ranking"] == "0.020 and 0.530"


def test_textbook_poor_at_both_is_retrieval(lab: Any) -> None:
    stages(lab, 10, 0.25, 0.30)
    stages(lab, 1, 0.20, 0.29)
    lab.mean("pool_recall@10", 0.3, 0.3, 0.01)
    (finding,) = [f for f in judge(lab.evidence(), "none").findings if f.rule in RULES]
    assert finding.rule == "retrieval_bottleneck"
    assert finding.evidence["Relevant items that are in the pool"].startswith("30.0")


@pytest.mark.parametrize(
    ("ndcg", "ceiling", "se", "expected"),
    [
        (0.50, 0.95, 0.005, ["ranking_bottleneck"]),
        (0.30, 0.40, 0.005, ["retrieval_bottleneck"]),
        (0.50, 0.75, 0.005, []),  # both lose the same
        (0.50, 0.95, 0.400, []),  # nobody knows
        (0.92, 0.99, 0.001, []),  # neither loses much
        (0.93, 0.94, 0.001, []),
    ],
)
def test_condition_at_the_viewport(
    lab: Any, ndcg: float, ceiling: float, se: float, expected: list[str]
) -> None:
    stages(lab, 10, ndcg, ceiling, se)
    assert fired(lab) == expected


def test_without_stages_or_intervals_nothing_is_said(lab: Any) -> None:
    lab.mean("ndcg@10", 0.2, 0.2, 0.01)
    assert fired(lab) == []
    lab.mean("ndcg_ceiling@10", 0.9, 0.9, 0.01, evidence=None)
    lab.mean("ranking_efficiency@10", 0.22, 0.22, 0.01, evidence=None)
    assert fired(lab) == []


@pytest.mark.parametrize(
    ("ndcg", "mrr", "se", "fires"),
    [
        ((0.30, 0.33), (0.40, 0.36), 0.01, True),
        ((0.30, 0.33), (0.40, 0.36), 0.03, False),  # within their intervals
        ((0.30, 0.33), (0.40, 0.42), 0.01, False),
        ((0.33, 0.30), (0.40, 0.36), 0.01, False),
    ],
)
def test_the_top_slot(lab: Any, ndcg: Any, mrr: Any, se: float, fires: bool) -> None:
    lab.mean("ndcg@10", *ndcg, se)
    lab.mean("mrr@10", *mrr, se)
    assert fired(lab) == ["top_slot_regressed"] * fires


def test_the_top_slot_needs_both(lab: Any) -> None:
    lab.mean("ndcg@10", 0.3, 0.4, 0.01)
    assert fired(lab) == []
