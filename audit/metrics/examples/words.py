"""A worked example in words: what is given, and the working."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from audit.metrics.examples.example import Example


def given_in_words(given: Mapping[str, Any]) -> dict[str, str]:
    """Label → text, in the order of reading: the lists, what is relevant, what else matters.

    Raises
    ------
    KeyError
        Something is given for which there are no words.
    """
    for name in given:
        _GIVEN[name]
    words: dict[str, str] = {}
    for name, say in _GIVEN.items():
        if name in given:
            words |= say(given[name])
    return words


def working_in_words(name: str, example: Example) -> str:
    """``ndcg@3 = (1 + 3/2) / (3 + 1*h + 1/2) ≈ 0.605191, where h = 1/log2(3)``."""
    text = f"{name} = {example.working}{_equals(example.working, example.value)}"
    if not example.where:
        return text
    return f"{text}, where " + ", ".join(f"{part} = {of}" for part, of in example.where.items())


def _equals(working: str, value: float) -> str:
    """What follows the working: nothing where it is the number itself."""
    short = f"{value:.6g}"
    if short == working:
        return ""
    return f" {'=' if math.isclose(float(short), value, rel_tol=1e-12) else '≈'} {short}"


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(map(str, names))


def _rows(of: Mapping[Any, Any], say: Callable[[Any], str], noun: str) -> str:
    """``users 1, 2: 5, 6; user 3: 7``: keys that say the same stand together."""
    alike: dict[str, list[Any]] = {}
    for key, value in of.items():
        alike.setdefault(say(value), []).append(key)
    return "; ".join(f"{_keys(keys, noun)}: {text}" for text, keys in alike.items())


def _keys(keys: Sequence[Any], noun: str) -> str:
    keys = sorted(keys)
    if isinstance(keys[0], tuple):
        return _listed(f"{noun} {user} request {request}" for user, request in keys)
    return f"{noun}{'s' if len(keys) > 1 else ''} {_listed(keys)}"


def _lists(shown: Mapping[Any, Sequence[Any]]) -> str:
    return _rows(shown, _listed, "user")


def _grades(items: Iterable[Any] | Mapping[Any, int]) -> str:
    if not isinstance(items, Mapping):
        return _listed(items)
    by_grade: dict[int, list[Any]] = {}
    for item, grade in items.items():
        by_grade.setdefault(grade, []).append(item)
    return ", ".join(
        f"{_listed(of)} ({f'grade {grade}' if grade else 'judged not relevant'})"
        for grade, of in by_grade.items()
    )


def _days(of: Mapping[Any, Any], noun: str) -> str:
    return _rows(of, lambda day: f"day {day}", noun)


def _catalog(catalog: Iterable[Any] | Mapping[str, Any]) -> dict[str, str]:
    if not isinstance(catalog, Mapping):
        return {"catalog": _listed(catalog)}
    words = {"catalog": _listed(catalog["items"])}
    for name, label, say in (
        ("categories", "categories", _listed),
        ("creators", "creators", _listed),
        ("created", "published", lambda day: f"day {day}"),
        ("embedding", "embeddings", lambda vector: f"({_listed(vector)})"),
    ):
        if name in catalog:
            words[label] = _rows(catalog[name], say, "item")
    return words


def _attributes(of: Mapping[Any, Mapping[str, Any]], noun: str) -> str:
    def say(values: Mapping[str, Any]) -> str:
        return ", ".join(
            f"{name} {'unknown' if value is None else value}" for name, value in values.items()
        )

    return _rows(of, say, noun)


_GIVEN: Mapping[str, Callable[[Any], dict[str, str]]] = {
    "shown": lambda shown: {"lists": _lists(shown)},
    "baseline": lambda shown: {"baseline": _lists(shown)},
    "session": lambda of: {"sessions": _rows(of, str, "user")},
    "shown_at": lambda of: {"shown at": _days(of, "user")},
    "relevance": lambda of: {"relevant": _rows(of, _grades, "user")},
    "pools": lambda pools: {"pools": "; ".join(map(_lists, pools.values()))},
    "history": lambda of: {"history": _rows(of, _listed, "user")},
    "catalog": _catalog,
    "eligible": lambda items: {"eligible": _listed(items)},
    "creators": lambda of: {"groups": _attributes(of, "creator")},
    "users": lambda of: {"users": _attributes(of, "user")},
    "as_of": lambda day: {"as of": f"day {day}"},
    "conventions": lambda of: {
        "conventions": ", ".join(f"{name} {value}" for name, value in of.items())
    },
}
"""In the order of reading."""
