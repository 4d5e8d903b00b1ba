"""What changed between two audits, and what may not be compared."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

from audit.changes import changes
from audit.errors import ConfigError
from audit.render.difference import text
from audit.result import AuditResult
from tests.saved import small_audit


@pytest.fixture(scope="module")
def old() -> AuditResult:
    return small_audit()


@pytest.fixture(scope="module")
def other(old) -> AuditResult:
    """Another baseline, a model less, other guardrails, other versions."""
    new = small_audit(seed=3, guardrails={"profile": "launch", "tail_share": False})
    return new.model_copy(update={"versions": {**new.versions, "numpy": "99.0"}})


def test_an_audit_and_itself(old):
    found = changes(old, old)
    assert not found.any
    assert found.same_inputs
    assert len(found.values) == len(old.measurements)
    assert "Nothing changed." in text(found)


def test_values_move_beyond_chance_only(old, other):
    found = changes(old, other)
    assert not found.same_inputs
    by = {(v.model, v.metric, v.segment): v for v in found.values}
    # The narrow model's lists are the same; its Gini and tail share cannot have moved.
    assert by["narrow", "item_gini@5", "all"].p_value == 1
    assert by["narrow", "item_gini@5", "all"].change == 0
    # Another random baseline is as good as the first: a small change, within chance.
    one = by["baseline", "ndcg@5", "all"]
    assert one.change == pytest.approx(one.new - one.old)
    assert one.change != 0
    assert not one.moved
    # A model that really is another one has moved.
    narrow = small_audit(seed=1)
    swapped = narrow.model_copy(
        update={
            "measurements": [
                m.model_copy(update={"value": m.value + 0.3}) if m.metric == "ndcg@5" and m.model == "narrow" else m
                for m in narrow.measurements
            ],
            "sources": [s.model_copy(update={"fingerprint": "other"}) for s in narrow.sources],
        }
    )  # fmt: skip
    moved = {(v.model, v.metric) for v in changes(old, swapped).moved}
    assert moved == {("narrow", "ndcg@5")}


def test_the_p_of_a_change_is_that_of_two_samples(old, other):
    (value,) = [
        v
        for v in changes(old, other).values
        if (v.model, v.metric, v.segment) == ("baseline", "ndcg@5", "all")
    ]
    errors = [r.comparison("narrow", "ndcg@5").evidence.se[0] for r in (old, other)]
    raw = 2 * stats.norm.sf(abs(value.change) / math.hypot(*errors))
    assert raw <= value.p_value + 1e-12, "adjusted for many"
    assert value.p_value <= 1


def test_with_the_same_inputs_every_change_counts(old):
    nudged = old.model_copy(
        update={
            "measurements": [
                m.model_copy(update={"value": (m.value or 0) + 1e-6}) for m in old.measurements
            ]
        }
    )
    found = changes(old, nudged)
    assert found.same_inputs
    assert len(found.moved) == len(found.values)
    assert "every change counts" in text(found)


def test_verdicts_guardrails_findings_configuration_versions(old, other):
    found = changes(old, other)
    assert {c.name for c in found.guardrails if c.new is None} >= {
        "narrow: tail_share@5 may drop by at most 10\u202f% of the baseline",
        "same: ndcg@5 must be equivalent: within 0.2 of the baseline",
    }
    configuration = {c.name: (c.old, c.new) for c in found.configuration}
    assert configuration["guardrails.tail_share"] == (None, "false")
    assert configuration["guardrails.ndcg entry 1.equivalent"] == ("0.2", None)
    assert configuration["guardrails.declared_by"] == ("Council", None)
    assert {c.name for c in found.inputs} == {
        f"recommendations {name!r}" for name in ("baseline", "same")
    }
    assert [(c.name, c.new) for c in found.versions] == [("numpy", "99.0")]
    failing = old.model_copy(
        update={
            "verdicts": [v.model_copy(update={"verdict": "pass"}) for v in old.verdicts],
            "findings": [],
        }
    )
    found = changes(failing, old)
    assert {(c.name, c.old, c.new) for c in found.verdicts} >= {("narrow", "pass", "fail")}
    assert all(c.old is None for c in found.findings)
    assert len(found.findings) == len({(f.model, f.rule) for f in old.findings})


def test_what_depends_on_the_number_of_users_is_refused(old):
    larger = small_audit(users=120)
    found = changes(old, larger)
    assert {n.metric for n in found.not_compared} == {"item_gini@5"}
    assert "90 and 120" in found.not_compared[0].reason
    assert {v.metric for v in found.values} == {
        "ndcg@5", "novelty@5", "tail_share@5", "catalog_coverage@5"
    }  # fmt: skip
    assert not any("item_gini" in c.name for c in found.readings)
    assert "Not compared" in text(found)


def test_coverage_is_compared_at_the_smaller_number_of_users(old):
    larger = small_audit(users=120)
    for pair, side in (((old, larger), "new"), ((larger, old), "old")):
        covered = [v for v in changes(*pair).values if v.metric == "catalog_coverage@5"]
        assert {v.segment for v in covered} == {"all"}
        for v in covered:
            shown = next(
                s for s in larger.exhibits.users_shown if (s.model, s.what) == (v.model, "items")
            )
            (seed,) = shown.seeds
            counts = np.repeat([int(x) for x in seed], list(seed.values()))
            missed = [math.comb(120 - x, 90) / math.comb(120, 90) for x in counts]
            assert getattr(v, side) == pytest.approx(1 - np.mean(missed), abs=1e-12)
            assert v.p_value is not None


def test_surfaces_do_not_mix(old):
    grid = old.model_copy(update={"audit": old.audit.model_copy(update={"surface": "grid"})})
    with pytest.raises(ConfigError, match="different surfaces, feed and grid"):
        changes(old, grid)


def test_names_are_no_markup(old):
    named = old.model_copy(update={"audit": old.audit.model_copy(update={"name": "# <b>*x*"})})
    shown = text(changes(old, named), markdown=True)
    assert "<b>" not in shown.replace("\\<b\\>", "")
    assert shown.startswith("# Recommender audit")


def test_command(old, other, cli_in, tmp_path):
    for name, result in (("old", old), ("new", other)):
        result.write_json(tmp_path / f"{name}.json")
    paths = (tmp_path / "old.json", tmp_path / "new.json")
    assert cli_in("diff", *paths)[0] == 0
    code, out = cli_in("diff", *paths, "--format", "json", "--exit-code")
    assert code == 1
    assert json.loads(out)["users"] == [90, 90]
    assert cli_in("diff", paths[0], paths[0], "--exit-code") == (
        0,
        "Recommender audit\n\nNothing changed.\n\n",
    )
    assert "## Guardrails" in cli_in("diff", *paths, "--format", "md")[1]


@pytest.fixture
def cli_in(capsys, monkeypatch):
    def run(*arguments):
        from audit.cli import main

        monkeypatch.setattr("sys.argv", ["recaudit", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        return int(caught.value.code or 0), capsys.readouterr().out

    return run
