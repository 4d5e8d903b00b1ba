from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from audit.render.formats.html import document, template
from audit.render.text import visible
from audit.render.view import build_view

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """What a test asks of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.inline: dict[str, str] = {}
        self.cells: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("style", "script"):
            self.inline[self.open[-1]] = self.inline.get(self.open[-1], "") + data
        else:
            self.texts.append(data)
            if {"td", "th"} & set(self.open):
                self.cells[-1] += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]

    @property
    def text(self) -> str:
        return "".join(self.texts)


@pytest.fixture(scope="module", params=["full", "minimal", "many"])
def which(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def page_text(which, views) -> str:
    return document(views[which])


@pytest.fixture(scope="module")
def page(page_text) -> Page:
    return Page(page_text)


def test_is_small(which, page_text):
    # Of two models; each of eight candidates adds its own tables.
    assert len(page_text.encode()) < (500_000 if which == "many" else 400_000)


def test_is_well_formed(page):
    assert page.open == []


def test_makes_no_request(page):
    for tag, attrs in page.tags:
        assert tag not in (
            "link",
            "img",
            "iframe",
            "object",
            "embed",
            "base",
            "form",
            "video",
            "audio",
        )
        assert "src" not in attrs
        assert "style" not in attrs
        assert not any(name.startswith("on") for name in attrs)
        for name in ("href", "xlink:href"):
            assert (attrs.get(name) or "#").startswith("#")
    css = page.inline["style"]
    assert "url(" not in css
    assert "@import" not in css


def test_policy_forbids_requests_and_allows_the_pages_own_style_and_script(page):
    policies = [a["content"] for a in page.all("meta") if a.get("http-equiv")]
    assert len(policies) == 1
    policy = policies[0]
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for kind in ("style", "script"):
        digest = hashlib.sha256(page.inline[kind].encode()).digest()
        assert f"{kind}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy


def test_script_is_small():
    assert len(template("report.js").encode()) < 6_500


def test_anchors_lead_somewhere_and_ids_are_unique(page):
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for attrs in page.all("a") + page.all("use"):
        assert (attrs["href"] or "")[1:] in ids


def test_figures_have_alternative_text(page):
    drawings = page.all("svg")
    assert len(drawings) == len(page.all("figure"))
    for attrs in drawings:
        assert attrs["role"] == "img"
        assert attrs["aria-label"]


def test_headings_do_not_skip_a_level(page):
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_tables_have_a_caption_and_header_cells_a_scope(page):
    assert len(page.all("caption")) == len(page.all("table"))
    assert {attrs.get("scope") for attrs in page.all("th")} <= {"col", "row", "rowgroup"}


def test_language_and_skip_link(page):
    assert page.all("html")[0]["lang"] == "en"
    assert page.all("a")[0] == {"class": "skip", "href": "#main"}


def test_hostile_strings_are_shown_literally(views, hostile):
    text = document(views["full"])
    page = Page(text)
    assert "<script>alert" not in text
    assert "<img" not in text
    assert len(page.all("script")) == 1
    shown = page.text
    for name in ("script", "template", "typst", "long", "emoji", "cjk", "quotes"):
        assert hostile[name] in shown, name
    assert "[U+202E]gnp.exe" in shown
    assert "bell[U+0007]null[U+0000]tab" in shown
    assert "49" not in [cell.strip() for cell in page.cells]


def test_shows_every_cell_of_every_table(page, which, views):
    view = views[which]
    shown = {" ".join(cell.split()) for cell in page.cells}
    for table in view.tables():
        for row in table.rows:
            for cell in row.cells:
                assert " ".join(visible(f"{cell.text} {cell.detail}").split()) in shown


def test_same_view_same_bytes(full_result, views):
    assert document(views["full"]) == document(build_view(full_result.model_copy()))


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_contrast_is_at_least_aa(mode):
    blocks = re.findall(r":root \{(.*?)\}", template("report.css"), re.DOTALL)
    tokens = dict(re.findall(r"--([\w-]+): (#\w{6})", blocks[0 if mode == "light" else 1]))
    pairs = [(name, "page") for name in ("ink", "muted", "link", "good", "bad", "caution")]
    pairs += [(f"m{i}", "page") for i in range(9)]
    pairs += [(tone, f"{tone}-bg") for tone in ("good", "bad", "caution", "muted")]
    pairs += [("muted", f"{tone}-bg") for tone in ("good", "bad", "caution")]
    pairs += [("ink", f"{tone}-bg") for tone in ("good", "bad", "caution", "muted")]
    pairs += [("band-ink", "band"), ("ink", "panel"), ("link", "muted-bg")]
    for text, ground in pairs:
        assert contrast(tokens[text], tokens[ground]) >= 4.5, (mode, text, ground)
    for mark in ("reference",):
        assert contrast(tokens[mark], tokens["page"]) >= 3, (mode, mark)
