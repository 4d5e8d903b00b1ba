"""A saved result judged again: by its own guardrails the same bytes, by others another verdict."""

from __future__ import annotations

import pytest

import audit
from audit.errors import ConfigError
from audit.result import load_result
from tests.saved import small_audit


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "audit.json"
    small_audit().write_json(path)
    return path


def test_unchanged_guardrails_give_the_same_bytes(saved):
    assert audit.gate(saved).to_json() == saved.read_text(encoding="utf-8")
    assert audit.gate(audit.gate(load_result(saved))).to_json() == saved.read_text(encoding="utf-8")


def test_other_guardrails_give_another_verdict_and_say_which(saved):
    before = load_result(saved)
    assert {v.model: v.verdict for v in before.verdicts}["narrow"] == "fail"
    judged = audit.gate(before, {"profile": "none", "item_gini": {"min": 0.0}})
    assert [g.guardrail for g in judged.guardrail_results] == ["item_gini@5 must be at least 0"] * 2
    assert judged.audit.config["guardrails"] == {"profile": "none", "item_gini": {"min": 0.0}}
    assert judged.declaration.guardrails_hash != before.declaration.guardrails_hash
    assert before.declaration.declared_by == "Council"
    assert judged.declaration.declared_by is None
    # The evidence is the same, and nothing of the old judgment is left in what was looked up before.
    assert judged.comparisons == before.comparisons
    assert len(before.guardrails) > len(judged.guardrails) == 2
    tested = {f.model: f.tested for f in judged.families if f.family == "guardrails"}
    assert tested == {
        model: sum(g.model == model and g.p_value is not None for g in judged.guardrail_results)
        for model in before.audit.candidates
    }
    assert max(tested.values()) < max(f.tested for f in before.families if f.family == "guardrails")


def test_a_profile_by_name(saved):
    metrics = {g.metric for g in audit.gate(saved, "marketplace").guardrail_results}
    assert {"creator_top_share@5", "tail_share@5"} <= metrics


@pytest.mark.parametrize(
    ("guardrails", "message"),
    [
        ({"recall": {"min": 0.1}}, "recall is not among the measured metrics"),
        ({"ndcg@7": {"min": 0.1}}, "ndcg was measured at K = 5 only"),
        (
            {"ndcg": {"min": 0.1, "segment": "taste"}},
            r"not measured by taste \(measured by country\)",
        ),
        ("lunch", "unknown guardrail profile 'lunch'. Did you mean 'launch'"),
    ],
)
def test_what_the_result_does_not_hold_cannot_be_judged(saved, guardrails, message):
    given = guardrails if isinstance(guardrails, str) else {"profile": "none", **guardrails}
    with pytest.raises(ConfigError, match=message):
        audit.gate(saved, given)


def test_a_result_of_before_is_judged_and_written_as_it_is_now(saved, tmp_path):
    old = tmp_path / "old.json"
    text = saved.read_text(encoding="utf-8").replace(
        '"schema_version":"1.2"', '"schema_version":"1.1"'
    )
    old.write_text(text, encoding="utf-8")
    assert load_result(old).schema_version == "1.1"
    assert audit.gate(old).to_json() == saved.read_text(encoding="utf-8")
