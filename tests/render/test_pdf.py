from __future__ import annotations

import re
import zlib

import pytest

from audit.errors import ConfigError
from audit.render.formats.html import template
from audit.render.formats.pdf import DOWNGRADE_NOTE, data, document
from audit.render.text import ZERO_WIDTH_SPACE, drawable, printable
from audit.render.view import build_view


@pytest.fixture(scope="session")
def pdf(views) -> bytes:
    return document(views["full"])


def unpacked(pdf: bytes) -> bytes:
    """The document with its streams inflated."""
    parts = [pdf]
    for match in re.finditer(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL):
        try:
            parts.append(zlib.decompress(match[1]))
        except zlib.error:
            continue  # a stream that is not deflated, such as metadata
    return b"\n".join(parts)


def strings(value) -> list[str]:
    if isinstance(value, dict):
        return [s for part in value.values() for s in strings(part)]
    if isinstance(value, list):
        return [s for part in value for s in strings(part)]
    return [value] if isinstance(value, str) else []


def test_is_tagged_and_claims_pdf_ua_1(pdf):
    text = unpacked(pdf)
    assert pdf.startswith(b"%PDF-")
    assert b"/MarkInfo" in text
    assert b"/StructTreeRoot" in text
    assert b"pdfuaid" in text
    assert b"/Lang(en)" in text
    assert b"/S/Figure" in text or b"/S /Figure" in text
    assert b"/Outlines" in text  # bookmarks
    assert b"CreationDate" not in text


def test_is_the_same_bytes_each_time(full_result, pdf):
    assert document(build_view(full_result.model_copy())) == pdf


def test_uses_the_shipped_fonts_only(pdf):
    fonts = set(re.findall(rb"/FontName/\w{6}\+([\w-]+)", unpacked(pdf)))
    assert fonts <= {
        b"NotoSans-Regular",
        b"NotoSans-Bold",
        b"NotoSansMono-Regular",
        b"NotoSansMath-Regular",
    }
    assert b"NotoSans-Regular" in fonts


def test_letter_and_archive_are_options(views, monkeypatch):
    view = views["minimal"]
    sizes = {}
    for paper in ("a4", "letter"):
        found = unpacked(document(view, paper))
        sizes[paper] = set(re.findall(rb"/MediaBox ?\[([^\]]+)\]", found))
        assert b"pdfaid" not in found
    assert sizes == {"a4": {b"0 0 595.2756 841.8898"}, "letter": {b"0 0 612 792"}}
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    both = unpacked(document(view, archive=True))
    assert both == unpacked(document(view, archive=True))
    assert b"2023-11-14" in both
    assert b"pdfaid:part>2<" in both
    assert b"pdfuaid" in both
    with pytest.raises(ConfigError, match=r"paper 'a5'.*a4"):
        document(view, "a5")


def test_the_header_says_audit_verdict_and_fingerprint_on_every_page(views):
    """In the template, once: typst repeats a header by itself."""
    source = template("report.typ")
    header = source[source.index("header: context") : source.index("footer:")]
    for part in ("view.header", "view.verdict_label", "view.fingerprint", "counter(page).final()"):
        assert part in header


@pytest.mark.parametrize("which", ["minimal", "many"])
def test_compiles_with_little_and_with_much(which, views):
    assert document(views[which]).startswith(b"%PDF-")


def test_any_title_compiles(minimal_result, hostile):
    for text in (*hostile.values(), "", "\u0301", "\u200b"):
        audit = minimal_result.audit.model_copy(update={"name": text, "baseline": "a"})
        changed = minimal_result.model_copy(update={"audit": audit})
        assert document(build_view(changed)).startswith(b"%PDF-")


def test_any_model_name_compiles(minimal_result, hostile):
    for text in hostile.values():
        raw = minimal_result.model_dump()

        def renamed(value, text=text):
            if isinstance(value, dict):
                return {key: renamed(part) for key, part in value.items()}
            if isinstance(value, list):
                return [renamed(part) for part in value]
            return text if value == "b" else value

        changed = type(minimal_result).model_validate(renamed(raw))
        assert document(build_view(changed)).startswith(b"%PDF-")


def test_shows_the_texts_of_the_view(views):
    """HTML and PDF cannot disagree: every cell of every table reaches the template as it stands."""
    view = views["full"]
    shown = {s.replace(ZERO_WIDTH_SPACE, "") for s in strings(data(view))}
    for block in view.blocks():
        for row in getattr(block, "rows", ()):
            for cell in row.cells:
                assert printable(cell.text) in shown
                assert printable(cell.detail) in shown


def test_hostile_strings_stay_values(views, hostile):
    shown = {s.replace(ZERO_WIDTH_SPACE, "") for s in strings(data(views["full"]))}
    assert any(hostile["typst"] in s for s in shown)
    for name in ("script", "template", "long"):
        assert any(hostile[name] in s for s in shown), name


def test_what_the_fonts_lack_is_named_and_noted(views):
    found = data(views["full"])
    texts = strings(found)
    assert "[U+5BAE U+5D0E U+99FF]" in texts
    assert all(ord(c) in drawable() or c in "\n\t" for text in texts for c in text)
    methods = next(s for s in found["sections"] if s["id"] == "methods")
    assert DOWNGRADE_NOTE in strings(methods)
    assert DOWNGRADE_NOTE not in strings(data(views["minimal"]))
