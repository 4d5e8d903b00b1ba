from __future__ import annotations

import io
import os
import xml.etree.ElementTree as ET

import pytest

from audit.errors import ConfigError
from audit.render import FORMATS, write, write_all
from audit.render.formats import badge
from audit.render.formats.markdown import document as markdown
from audit.render.formats.markdown import escape
from audit.render.notebook import fragment
from audit.render.terminal import scorecard
from audit.result import load_result


def test_formats_and_their_files():
    assert {name: f.filename for name, f in FORMATS.items()} == {
        "html": "report.html", "pdf": "report.pdf", "json": "audit.json", "md": "summary.md",
        "junit": "junit.xml", "badge": "badge.svg",
    }  # fmt: skip
    assert list(FORMATS) == ["html", "pdf", "json", "md", "junit", "badge"]
    assert all(f.description for f in FORMATS.values())


def test_write_all_makes_folders_and_leaves_nothing_else(tmp_path, minimal_result):
    folder = tmp_path / "a" / "b"
    paths = write_all(minimal_result, list(FORMATS), folder)
    assert names(folder) == sorted(p.name for p in paths)
    assert all(p.stat().st_size > 0 for p in paths)
    for path in paths:
        assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def names(folder) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_every_format_gives_the_same_bytes_from_a_saved_result(tmp_path, full_result):
    write(full_result, "json", tmp_path / "audit.json")
    loaded = load_result(tmp_path / "audit.json")
    for f in FORMATS.values():
        assert f.render(loaded) == f.render(full_result), f.name


def test_unknown_format_names_the_valid_ones(tmp_path, minimal_result):
    with pytest.raises(
        ConfigError, match=r"unknown format 'htm'\. Did you mean 'html'\? Valid: html, pdf"
    ):
        write(minimal_result, "htm", tmp_path / "x")
    with pytest.raises(ConfigError, match="unknown format"):
        write_all(minimal_result, ["json", "docx"], tmp_path)
    assert names(tmp_path) == []


def test_a_place_that_cannot_be_written_is_one_message(tmp_path, minimal_result):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match="cannot write"):
        write(minimal_result, "json", tmp_path / "file" / "audit.json")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ConfigError, match="cannot write"):
        write(minimal_result, "json", tmp_path / "folder")
    assert names(tmp_path) == ["file", "folder"]


def test_an_old_file_is_replaced_whole(tmp_path, minimal_result):
    path = tmp_path / "audit.json"
    path.write_text("old")
    write(minimal_result, "json", path)
    assert load_result(path).audit.name == "Small"


# Markdown


def test_markdown_is_short_and_complete(views):
    text = markdown(views["full"])
    assert len(text.encode()) < 20_000
    assert text.startswith("# Home feed, candidate 7: Fail\n")
    assert "| NDCG@10 | +51\u202f% | 0.085 → 0.128 |" in text
    assert "tail\\_share@10 may drop by at most 10\u202f% of the baseline" in text
    assert "Relevance rose while the long tail starved" in text


def test_markdown_of_much_says_what_it_leaves_out(views):
    text = markdown(views["many"])
    assert len(text.encode()) < 20_000
    assert "in the full report" in text


def test_markdown_shows_strings_literally(views):
    text = markdown(views["full"])
    assert "<script>" not in text
    assert "\\<script\\>" in text
    assert escape("a|b\nc") == "a\\|b c"
    assert escape("[x](http://e.example)") == "\\[x\\](http:\u200b//e.example)"
    assert escape("@user") == "@\u200buser"
    assert escape("ndcg@10") == "ndcg@10"
    assert escape("- item") == "\\- item"
    assert escape("1. item") == "\\1. item"


# JUnit


def junit(result) -> ET.Element:
    return ET.fromstring(FORMATS["junit"].render(result))


def test_junit_counts(full_result):
    root = junit(full_result)
    cases = root.findall("testsuite/testcase")
    assert [s.get("name") for s in root.findall("testsuite")] == ["ease", "ials"]
    assert int(root.get("tests", "")) == len(cases) == len(full_result.guardrail_results) + len(full_result.findings)  # fmt: skip
    assert int(root.get("failures", "")) == len(root.findall(".//failure"))
    breached = [
        g for g in full_result.guardrail_results if g.status == "breached" and g.severity == "fail"
    ]
    assert len(root.findall(".//failure[@type='breached']")) == len(breached) == 5
    assert len(root.findall(".//failure[@type='finding']")) == 1
    assert root.get("errors") == "0"


def test_junit_fails_exactly_where_the_verdict_does(minimal_result):
    base = minimal_result.guardrail_results[0]
    cases = {
        ("held", "fail"): None,
        ("breached", "fail"): "failure",
        ("breached", "warn"): None,
        ("undecided", "fail"): "failure",
        ("undecided", "warn"): None,
        ("not measured", "fail"): "skipped",
    }
    for (status, severity), tag in cases.items():
        g = base.model_copy(
            update={"status": status, "severity": severity, "observed": 0.1, "note": "why"}
        )
        case = junit(minimal_result.model_copy(update={"guardrail_results": [g]})).find(
            ".//testcase"
        )
        assert case is not None
        found = [child.tag for child in case if child.tag != "system-out"]
        assert found == ([tag] if tag else []), (status, severity)
        if tag == "failure":
            assert case[0].get("type") == status


def test_junit_keeps_hostile_strings(full_result, hostile):
    names = [c.get("name", "") for c in junit(full_result).iter("testcase")]
    assert any(hostile["typst"] in name for name in names)


# Terminal


def printed(result, width: int = 100) -> str:
    from rich.console import Console

    console = Console(width=width, record=True, file=io.StringIO(), force_terminal=False)
    console.print(scorecard(result))
    return console.export_text()


def test_terminal_has_the_verdict_the_numbers_and_the_guardrails(full_result, minimal_result):
    text = printed(full_result)
    assert "FAIL" in text
    assert "rose by 51" in text
    assert "\u221298.4\u202f%" in text
    assert "catalog_coverage@10 may drop" in text
    assert "ials: 8 of 8 held" in text
    assert "[U+" not in text
    assert "INCONCLUSIVE" in printed(minimal_result)


def test_terminal_fits_eighty_columns(full_result):
    lines = printed(full_result, width=80).splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) < 45


def test_terminal_does_not_read_markup(minimal_result):
    audit = minimal_result.audit.model_copy(update={"name": "[red]x[/red] \x1b[31m"})
    text = printed(minimal_result.model_copy(update={"audit": audit}))
    assert "[red]x[/red] [U+001B][31m" in text


# Notebook


def test_notebook_fragment_is_self_contained(full_result, minimal_result):
    text = fragment(full_result)
    assert "Fail" in text
    assert "<svg" in text
    for bad in ("<script", "<html", "src=", "url(http", "<link", "<img"):
        assert bad not in text.replace("url(#", "")
    assert fragment(minimal_result)


def test_junit_says_whose_users_would_decide(minimal_result):
    g = minimal_result.guardrail_results[0].model_copy(
        update={"status": "undecided", "severity": "fail", "observed": 0.1, "users_to_decide": 440}
    )
    for segment, text in (
        ("all", "about 440 users would"),
        ("tier=a", "about 440 users of tier=a would"),
    ):
        result = minimal_result.model_copy(
            update={"guardrail_results": [g.model_copy(update={"segment": segment})]}
        )
        failure = junit(result).find(".//failure")
        assert failure is not None
        assert text in failure.get("message", "")


def test_a_badge_says_the_verdict_in_words_and_not_by_colour_alone(full_result, minimal_result):
    for result, words in (
        (full_result, "recaudit: fail"),
        (minimal_result, "recaudit: inconclusive"),
    ):
        root = ET.fromstring(FORMATS["badge"].render(result))
        assert root.get("aria-label") == words
        assert root.find("{*}title").text == words
        texts = root.findall(".//{*}text")
        assert ": ".join(t.text for t in texts) == words
        # Each text stands within its field.
        fields = root.findall("{*}g/{*}rect")
        for text, field in zip(texts, fields, strict=True):
            start = float(text.get("x")) - float(field.get("x", "0"))
            assert start > 0
            assert start + float(text.get("textLength")) < float(field.get("width"))
        assert sum(float(f.get("width")) for f in fields) == float(root.get("width"))


def test_every_colour_of_a_badge_can_be_read_on():
    """Contrast to white of at least 4.5 : 1 (WCAG 2.1, 1.4.3)."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for colour in (*badge.COLOURS.values(), badge.LABEL):
        assert 1.05 / (luminance(colour) + 0.05) >= 4.5, colour


def test_what_a_badge_says_is_text_and_no_markup():
    root = ET.fromstring(badge.svg('<b>"&', "a\u202eb", "#000000"))
    assert root.get("aria-label").startswith('<b>"&: a')
