"""Worked examples: the arithmetic, and the words."""

from __future__ import annotations

import math
import re
import subprocess
import sys

import pytest

from audit.metrics import REGISTRY, metric, parse
from audit.metrics.examples import EXAMPLES, FILES, Example, example_of, worked_out
from audit.metrics.examples.words import given_in_words, working_in_words


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2*3 - 4/8", 6.5),
        ("2**-1 + -(1 - 3)", 2.5),
        ("(7/log2(2) + 3/log2(4)) / (7/log2(2) + 3/log2(3))",
         8.5 / (7 + 3 * math.log(2) / math.log(3))),
        ("sqrt(2)*exp(1) + log(3)", math.sqrt(2) * math.e + math.log(3)),
        ("median(3, 1, 2) + max(1, 2) + min(1, 2) + abs(-1)", 6),
        ("h/2", 0.25),
    ],
)  # fmt: skip
def test_arithmetic(text, value):
    assert worked_out(text, {"h": 0.5}) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    "text",
    ["k", "'a'", "1 // 2", "h.real", "open(1)", "max(key=1)", "[1]", "1 if h else 2", "True"],
)
def test_nothing_else_is_understood(text):
    with pytest.raises(ValueError, match="is no arithmetic"):
        worked_out(text, {"h": 0.5})


def test_parts_may_name_those_before_them():
    example = Example("b - a", {}, {}, where={"a": "1/2", "b": "a + a"})
    assert example.value == 0.5
    assert working_in_words("x@1", example) == "x@1 = b - a = 0.5, where a = 1/2, b = a + a"


@pytest.mark.parametrize(
    ("working", "end"),
    [("1", " = 1"), ("2 / 3", " = 2 / 3 ≈ 0.666667"), ("1 - 0.8", " = 1 - 0.8 = 0.2")],
)
def test_the_value_follows_the_working(working, end):
    assert working_in_words("x@1", Example(working, {}, {})) == "x@1" + end


def test_what_is_given_in_words():
    given = {
        "as_of": 10,
        "conventions": {"gain": "linear"},
        "users": {1: {"age": "old"}, 2: {"age": None}},
        "creators": {"a": {"kind": "x"}},
        "catalog": {
            "items": [5, 6], "categories": {5: ["war", "love"]}, "creators": {5: ["a"], 6: ["a"]},
            "created": {6: 3}, "embedding": {5: [1, 0]},
        },
        "history": {2: [5], 1: [5]},
        "pools": {"model": {1: [5, 6]}},
        "eligible": [6],
        "relevance": {1: {5: 2, 6: 0}, 2: [6]},
        "shown_at": {1: 7},
        "session": {1: 1},
        "baseline": {(1, 3): [6]},
        "shown": {1: [6, 5], 2: [6, 5], 3: [5]},
    }  # fmt: skip
    words = given_in_words(given)
    assert words == {
        "lists": "users 1, 2: 6, 5; user 3: 5",
        "baseline": "user 1 request 3: 6",
        "sessions": "user 1: 1",
        "shown at": "user 1: day 7",
        "relevant": "user 1: 5 (grade 2), 6 (judged not relevant); user 2: 6",
        "pools": "user 1: 5, 6",
        "history": "users 1, 2: 5",
        "catalog": "5, 6",
        "categories": "item 5: war, love",
        "creators": "items 5, 6: a",
        "published": "item 6: day 3",
        "embeddings": "item 5: (1, 0)",
        "eligible": "6",
        "groups": "creator a: kind x",
        "users": "user 1: age old; user 2: age unknown",
        "as of": "day 10",
        "conventions": "gain linear",
    }
    assert list(words)[:2] == ["lists", "baseline"]


def test_what_has_no_words_is_refused():
    with pytest.raises(KeyError, match="weather"):
        given_in_words({"shown": {1: [2]}, "weather": "fine"})


def test_no_two_files_hold_the_same_example():
    assert sum(len(file.EXAMPLES) for file in FILES) == len(EXAMPLES)


@pytest.mark.parametrize("text", EXAMPLES)
def test_all_parts_are_used_and_all_given_has_words(text):
    example = EXAMPLES[text]
    whole = " ".join([example.working, *example.where.values()])
    for part in example.where:
        assert re.search(rf"\b{part}\b", whole), part
    assert given_in_words({**example.given, **example.better})
    assert str(parse(text)) == text


def test_the_example_with_the_same_parameters_comes_first():
    def name(text):
        return str(example_of(parse(text))[0])

    assert name("rbp") == "rbp@3"
    assert name("rbp[p=0.5]@10") == "rbp[p=0.5]@3"
    assert name("rbp[p=0.7]@10") == "rbp@3"


def test_a_metric_of_a_plugin_has_none(monkeypatch):
    monkeypatch.setattr("audit.metrics.registry.REGISTRY", REGISTRY)

    @metric(level="list", direction="lower")
    def without_example(b, ks):
        """Is it?"""

    try:
        assert example_of(parse("without_example")) is None
    finally:
        del REGISTRY["without_example"]


def test_nothing_that_measures_imports_them():
    code = "import sys, audit.api, audit.metrics; print('audit.metrics.examples' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
