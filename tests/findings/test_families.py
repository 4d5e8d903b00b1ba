"""What was asked together, counted from a whole audit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import audit


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(1)

    def lists(last):
        rows = [(u, i) for u in range(80) for i in rng.choice(last, 3, replace=False)]
        frame = pd.DataFrame(rows, columns=["user_id", "item_id"])
        return frame.assign(rank=frame.groupby("user_id").cumcount() + 1)

    return audit.compare(
        {"baseline": lists(60), "candidate": lists(20), "other": lists(60)},
        relevance=pd.DataFrame({"user_id": range(80), "item_id": rng.integers(0, 10, 80)}),
        catalog=pd.DataFrame({"item_id": range(60)}),
        metrics=["precision", "catalog_coverage"], k=[3], viewport=3,
        guardrails={"profile": "none", "catalog_coverage": {"max_drop": 0.1}, "precision": {"max_drop": 0.5}},
    )  # fmt: skip


def test_each_candidate_has_two_families(result):
    assert [(f.model, f.family, f.method) for f in result.families] == [
        (model, *family)
        for model in ("candidate", "other")
        for family in (("guardrails", "holm"), ("exploration", "benjamini_hochberg"))
    ]


@pytest.mark.parametrize("model", ["candidate", "other"])
def test_they_count_what_was_tested_and_rejected(result, model):
    declared, explored = (f for f in result.families if f.model == model)
    judged = [g for g in result.guardrail_results if g.model == model and g.p_value is not None]
    assert declared.tested == len(judged) == 2
    assert declared.rejected == sum(g.status != "undecided" for g in judged)
    adjusted = [
        c.adjusted_p for c in result.comparisons if c.model == model and c.p_value is not None
    ]
    assert explored.tested == len(adjusted) > 0
    assert explored.rejected == sum(p <= 0.05 for p in adjusted)


def test_a_coverage_that_falls_to_a_third_is_among_the_rejected(result):
    declared, explored = result.families[:2]
    assert declared.rejected >= 1
    assert explored.rejected >= 1
