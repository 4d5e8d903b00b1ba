"""Finding rules from the outside: the same lists, and ``[findings]`` by argument and by file."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import audit

USERS = 120


def lists(seed: int, scores: float = 1.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    items = np.concatenate([rng.permutation(40)[:10] for _ in range(USERS)])
    rank = np.tile(np.arange(1, 11), USERS)
    return pd.DataFrame(
        {
            "user_id": np.repeat(np.arange(USERS), 10),
            "item_id": items,
            "score": (11 - rank) * scores,
        }
    )


RELEVANCE = pd.DataFrame({"user_id": np.arange(USERS), "item_id": np.arange(USERS) % 40})
METRICS = ["ndcg@10", "catalog_coverage@10"]


def compare(candidate, **given):
    return audit.compare(
        {"baseline": lists(1), "candidate": candidate}, relevance=RELEVANCE, metrics=METRICS, k=10,
        guardrails={"profile": "none", "ndcg": {"max_drop": 0.5, "relative": True}}, **given,
    )  # fmt: skip


def test_the_same_lists_pass_with_nothing_found_whatever_their_scores():
    result = compare(lists(1, scores=7.5), relevance_source="clicks")
    assert result.models[1].same_lists
    assert (result.verdict, result.findings) == ("pass", [])
    assert result.verdicts[0].reason.endswith(
        "every user is shown the same lists, so nothing changes."
    )


def test_other_lists_are_not_the_same_and_a_rule_can_be_switched_off():
    found = compare(lists(2), relevance_source="clicks")
    assert not found.models[1].same_lists
    assert "labels_are_clicks" in [f.rule for f in found.findings]
    off = compare(lists(2), relevance_source="clicks", findings={"labels_are_clicks": False})
    assert "labels_are_clicks" not in [f.rule for f in off.findings]
    assert [r.rule for r in off.rules if not r.asked] == ["labels_are_clicks"]
    assert off.audit.config["findings"] == {"labels_are_clicks": False}


def test_unknown_rules_are_refused_before_anything_is_read(tmp_path):
    with pytest.raises(audit.ConfigError, match="Did you mean 'labels_are_clicks'"):
        compare(lists(2), findings={"label_are_clicks": False})
    with pytest.raises(audit.ConfigError, match="findings = 3: give a mapping"):
        compare(lists(2), findings=3)
    path = tmp_path / "audit.toml"
    path.write_text(
        '[models]\nbaseline = "no.csv"\ncandidate = "such.csv"\n[findings]\nstale_feed = { rize = 1 }\n'
    )
    with pytest.raises(
        audit.ConfigError, match=r"stale_feed: unknown option 'rize'\. Did you mean 'rise'"
    ):
        audit.run(path)


def test_a_file_says_that_clicks_were_corrected(tmp_path):
    RELEVANCE.to_csv(tmp_path / "r.csv", index=False)
    for name, seed in (("a", 1), ("b", 2)):
        lists(seed).to_csv(tmp_path / f"{name}.csv", index=False)
    path = tmp_path / "audit.toml"
    for debiased in (True, False):
        path.write_text(
            '[audit]\nmetrics = ["ndcg@10"]\nk = [10]\n[models]\nbaseline = "a.csv"\ncandidate = "b.csv"\n[guardrails]\n'
            f'profile = "none"\n[relevance]\npath = "r.csv"\nsource = "clicks"\ndebiased = {str(debiased).lower()}\n'
        )
        found = [f.rule for f in audit.run(path).findings]
        assert ("labels_are_clicks" in found) is not debiased
