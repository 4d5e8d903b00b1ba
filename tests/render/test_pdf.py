from __future__ import annotations

import re
import zlib

import pytest

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
