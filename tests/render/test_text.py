from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from audit.render.text import breakable, drawable, printable, visible


def test_plain_text_is_untouched():
    for text in ("NDCG@10 \u2212 0.043", "Kieślowski", "Тарковский", "Σ ≤ → ½ ₂", "a\nb\tc"):
        assert visible(text) == text
        assert printable(text) == text


def test_controls_are_named():
    assert visible("a\x00b") == "a[U+0000]b"
    assert visible("\u202egnp.exe") == "[U+202E]gnp.exe"
    assert visible("\u05e9\u05dc\u05d5\u05dd") == "\u05e9\u05dc\u05d5\u05dd"


def test_missing_characters_are_named_in_runs():
    assert printable("宮崎 x") == "[U+5BAE U+5D0E] x"
    assert printable("\U0001f600!") == "[U+1F600]!"


def test_composed_forms_are_tried_first():
    assert printable("e\u0301") == "\u00e9"


def test_fonts_cover_the_reports_own_signs():
    assert all(ord(c) in drawable() for c in "−–→↓≤≥±×·Σ∑∏√∞½²ⁱ₂ᵢⱼ…“”\u202f\u2009\u200b")


@given(st.text())
def test_printable_is_drawable_and_stays_so(text):
    shown = printable(text)
    assert all(ord(c) in drawable() or c in "\n\t" for c in shown)
    assert printable(shown) == shown


@given(st.text())
def test_breakable_only_adds_places_to_break(text):
    cut = breakable(text)
    assert cut.replace("\u200b", "") == text.replace("\u200b", "")
    assert not re.search(r"[^\s\u200b]{25,}", cut)


def test_words_break_at_their_joints_first():
    assert (
        breakable("relevance_gain_starves_tail") == "relevance_\u200bgain_\u200bstarves_\u200btail"
    )
    assert breakable("a" * 30) == "\u200b".join(["a" * 12, "a" * 12, "a" * 6])
    assert breakable("short_name") == "short_name"
