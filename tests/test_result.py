"""The saved result: its published schema, its round trip, its refusals."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import audit
from audit.result import SCHEMA_VERSION, AuditResult, json_schema
from tests.support import judged, lists

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def result() -> AuditResult:
    users = [f"u{n:03d}" for n in range(60)]
    return audit.compare(
        {
            "baseline": lists({u: ["a", "b", "c"] for u in users}),
            "candidate": lists({u: ["b", "a", "d"] for u in users}),
        },
        relevance=judged({u: {"b": 2, "d": 1} for u in users}),
        viewport=3,
    )


def test_the_published_schema_is_that_of_the_code() -> None:
    assert (ROOT / "docs" / "audit.schema.json").read_text(encoding="utf-8") == json_schema()


def test_a_result_obeys_the_schema(result: AuditResult) -> None:
    jsonschema.validate(json.loads(result.to_json()), json.loads(json_schema()))


def test_saved_and_loaded_results_are_equal(result: AuditResult, tmp_path: Path) -> None:
    result.write_json(tmp_path / "audit.json")
    loaded = audit.load_result(tmp_path / "audit.json")
    assert loaded == result
    assert loaded.to_json() == result.to_json()


def test_no_user_id_is_saved(result: AuditResult) -> None:
    assert "u001" not in result.to_json()


def test_a_missing_file_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(audit.InputError, match="cannot be read"):
        audit.load_result(tmp_path / "nothing.json")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema_version": "1.0"}', "not json"])
def test_what_is_no_result_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "audit.json").write_text(text, encoding="utf-8")
    with pytest.raises(audit.InputError, match="is not an audit result"):
        audit.load_result(tmp_path / "audit.json")


def test_another_schema_version_is_refused(result: AuditResult, tmp_path: Path) -> None:
    changed = {**json.loads(result.to_json()), "schema_version": "0.1"}
    (tmp_path / "audit.json").write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(audit.InputError, match=f"schema version 0.1.*reads {SCHEMA_VERSION}"):
        audit.load_result(tmp_path / "audit.json")


def test_the_verdict_is_the_worst_of_the_verdicts(result: AuditResult) -> None:
    order = ["pass", "warn", "inconclusive", "fail"]
    assert result.verdict == max((v.verdict for v in result.verdicts), key=order.index)


def test_notebooks_show_the_verdict(result: AuditResult) -> None:
    html = result._repr_html_()
    assert result.verdicts[0].reason.split(": ")[0].lower() in html.lower()
    assert "<script" not in html
