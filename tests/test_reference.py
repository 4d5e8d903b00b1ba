from __future__ import annotations

from pathlib import Path

import pytest

from audit.conventions import Conventions
from audit.metrics import REGISTRY, MetricRef, metric, parse
from audit.reference import by_family, facts, markdown, needs, worked_example

PAGE = Path(__file__).resolve().parents[1] / "docs" / "metrics.md"


def test_the_page_is_that_of_the_registry():
    assert PAGE.read_text(encoding="utf-8") == markdown(), "stale: run `make docs`"


def test_every_metric_has_an_entry_and_an_example():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    built_in = [n for n, spec in REGISTRY.items() if spec.function.__module__.startswith("audit.")]
    headings = [line.removeprefix("### ") for line in lines if line.startswith("### ")]
    assert sorted(headings) == sorted(built_in)
    assert sum(line.startswith("Example: ") for line in lines) == len(built_in)
    assert [name for name in built_in if f"(#{name})" not in "\n".join(lines)] == []


def test_families_stand_together():
    families = by_family()
    assert sum(map(len, families.values())) == len(REGISTRY)
    assert all(spec.family == family for family, of in families.items() for spec in of)


def test_facts_of_a_metric():
    rows = facts(parse("fresh_share[days=7]"), Conventions())
    assert rows["parameters"] == "days = 7"
    assert rows["measured"] == "by default"
    assert rows["range"] == "[0, 1]"
    assert "unit" not in rows
    assert facts(parse("dcg"), Conventions())["measured"] == "where it is named"


def test_a_derived_metric_needs_what_its_parts_need():
    assert needs(REGISTRY["pop_reo"]) == ["history", "relevance"]
    assert "a relevance table" in facts(parse("effective_rank"), Conventions())["needs"]


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_an_example_says_what_the_metric_needs(name):
    label = {"creator_id": "creators", "created_at": "published", "embedding": "embeddings",
             "relevance": "relevant", "pool": "pools", "creator_group": "groups", "session_id": "sessions", "shown_at": "shown at"}  # fmt: skip
    rows = worked_example(MetricRef(name))
    assert {label.get(need, need) for need in needs(REGISTRY[name])} <= rows.keys()
    assert rows["working"].startswith(rows["example"] + " = ")


def test_a_plugins_metric_is_not_on_the_page():
    @metric(level="list", direction="target", target=0.5, family="users", formula="a*b <c>")
    def of_a_plugin(b, ks):
        """Is it *so*?"""

    try:
        assert "of_a_plugin" not in markdown()
        assert worked_example(MetricRef("of_a_plugin")) == {}
        assert facts(MetricRef("of_a_plugin"), Conventions())["direction"] == "best at 0.5"
    finally:
        del REGISTRY["of_a_plugin"]
