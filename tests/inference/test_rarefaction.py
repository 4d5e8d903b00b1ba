"""Audits of different size, brought to one: against every part of the users, and against random parts."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import audit
from audit.inference.rarefaction import CannotRarefyError, depends_on_size, rarefied, refusal
from tests.support import catalog, known, lists

ITEMS, USERS, K = 12, 7, 2


@pytest.fixture(scope="module")
def shown():
    rng = np.random.default_rng(4)
    weight = 1 / np.arange(1, ITEMS + 1)
    return {
        model: {
            u: rng.choice(ITEMS, 3, False, weight / weight.sum()).tolist() for u in range(USERS)
        }
        for model in ("baseline", "candidate", "other")
    }


@pytest.fixture(scope="module")
def result(shown):
    relevance = {"user_id": list(range(USERS)), "item_id": [0] * USERS}
    return audit.compare(
        {model: lists(of) for model, of in shown.items()},
        relevance=pd.DataFrame(relevance), k=[K], viewport=K, guardrails="none",
        history=known({100 + u: range(u + 1) for u in range(5)}),
        catalog=catalog(range(ITEMS), creators={i: [f"c{i % 5}"] for i in range(ITEMS)}),
        metrics=["catalog_coverage", "tail_coverage", "creator_coverage", "item_gini"],
    )  # fmt: skip


def coverage(shown, users, of, total):
    return len({of(i) for u in users for i in shown[u][:K] if of(i) is not None}) / total


@pytest.mark.parametrize("model", ["baseline", "candidate", "other"])
@pytest.mark.parametrize("users", [1, 3, 6, 7])
def test_expected_coverage_of_a_part_of_the_users(shown, result, model, users):
    # The head: the fewest most popular items with 80 % of the pairs; item i is in 5 − i histories.
    head = {0, 1, 2}
    kinds = {
        "catalog_coverage": (lambda i: i, ITEMS),
        "tail_coverage": (lambda i: None if i in head else i, ITEMS - len(head)),
        "creator_coverage": (lambda i: i % 5, 5),
    }
    for metric, (of, total) in kinds.items():
        every = [
            coverage(shown[model], part, of, total)
            for part in itertools.combinations(range(USERS), users)
        ]
        found = rarefied(result, model, f"{metric}@{K}", users)
        assert found == pytest.approx(np.mean(every), rel=1e-12)


def test_all_users_are_the_audit_itself(result):
    for metric in ("catalog_coverage", "tail_coverage", "creator_coverage"):
        value = next(
            m.value for m in result.measurements
            if (m.model, m.metric, m.segment) == ("candidate", f"{metric}@{K}", "all")
        )  # fmt: skip
        assert rarefied(result, "candidate", f"{metric}@{K}", USERS) == pytest.approx(value)


def test_frequencies_are_kept_without_ids(shown, result):
    times = np.zeros(ITEMS, int)
    for items in shown["other"].values():
        times[items[:K]] += 1
    kept = {(s.model, s.what): s.seeds for s in result.exhibits.users_shown}
    counts, items = np.unique(times, return_counts=True)
    assert kept["other", "items"] == [dict(zip(counts.tolist(), items.tolist(), strict=True))]
    again = audit.AuditResult.model_validate_json(result.to_json())
    assert again.exhibits.users_shown == result.exhibits.users_shown


@pytest.mark.parametrize(
    ("metric", "users", "message"),
    [
        (
            "item_gini@2",
            3,
            "only catalog_coverage, tail_coverage, creator_coverage have a closed form",
        ),
        ("catalog_coverage@5", 3, "kept at K = 2 only"),
        ("catalog_coverage@2", 8, "an audit of 7 users says nothing of one of 8"),
        ("catalog_coverage@2", 0, "says nothing of one of 0"),
    ],
)
def test_what_cannot_be_rarefied_is_refused(result, metric, users, message):
    with pytest.raises(CannotRarefyError, match=f"{metric} of 'candidate'.*{message}"):
        rarefied(result, "candidate", metric, users)


def test_a_result_of_before_is_refused(result):
    old = result.model_copy(
        update={"exhibits": result.exhibits.model_copy(update={"users_shown": []})}
    )
    assert "does not hold" in refusal(old, "candidate", "catalog_coverage@2")
    assert refusal(result, "candidate", "catalog_coverage@2") is None
    assert "does not hold" in refusal(result, "nobody", "catalog_coverage@2")


def test_which_metrics_depend_on_the_size():
    assert depends_on_size("item_gini@10")
    assert depends_on_size("catalog_coverage@10")
    assert not depends_on_size("ndcg@10")
    assert not depends_on_size("effective_rank@10")
