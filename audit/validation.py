"""What pydantic found, in sentences a person can act on.

A model says what may be written; this module says what was written instead: where, what is expected
there, what was found.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from audit.errors import choices

Place = tuple[str | int, ...]
"""The keys and list positions that lead to a value."""

_EXPECTED = {
    "bool_type": "true or false",
    "date_type": "a date without quotes, such as 2013-07-15",
    "datetime_type": "a date without quotes, such as 2013-07-15",
    "dict_type": "a table",
    "float_type": "a number",
    "int_type": "a whole number",
    "list_type": "a list in [ ]",
    "model_type": "a table",
    "string_type": "text in quotes",
}


def sentences(
    error: ValidationError,
    data: Mapping[str, Any],
    model: type[BaseModel],
    name: Callable[[Place], str],
) -> list[str]:
    """One sentence for each problem, in the order of the model's fields.

    Parameters
    ----------
    error
        What validating ``data`` as ``model`` raised.
    data
        What was validated.
    model
        Names the valid keys where one is unknown.
    name
        The words for a place, such as ``[audit] viewport``.
    """
    found: dict[Place, list[dict[str, Any]]] = {}
    for problem in error.errors():
        place = _place(data, problem["loc"], missing=problem["type"] == "missing")
        found.setdefault(place, []).append({**problem})
    unknown = {
        place for place, problems in found.items() if problems[0]["type"] == "extra_forbidden"
    }
    return [
        sentence
        for place, problems in found.items()
        if not _misspelt(place, problems, unknown)
        for sentence in _at(place, problems, found, model, name)
    ]


def _place(data: Any, location: Place, *, missing: bool) -> Place:
    """``location`` without the tags that pydantic adds for the members of a union."""
    place: list[str | int] = []
    for index, part in enumerate(location):
        entry = isinstance(data, list) and isinstance(part, int)
        if entry or (isinstance(data, Mapping) and part in data):
            data = data[part]
        elif not (missing and index == len(location) - 1):
            continue
        place.append(part)
    return tuple(place)


def _misspelt(place: Place, problems: list[dict[str, Any]], unknown: set[Place]) -> bool:
    """Whether a missing key is there under a name so near that the unknown key's hint says it all."""
    if not place or problems[0]["type"] != "missing":
        return False
    siblings = [str(other[-1]) for other in unknown if other[:-1] == place[:-1]]
    return any("Did you mean" in choices("key", other, [str(place[-1])]) for other in siblings)


def _at(
    place: Place,
    problems: list[dict[str, Any]],
    found: Mapping[Place, object],
    model: type[BaseModel],
    name: Callable[[Place], str],
) -> Iterator[str]:
    expected = [_EXPECTED[p["type"]] for p in problems if p["type"] in _EXPECTED]
    # A union reports each member that did not fit: what lies deeper is about the one that was meant.
    deeper = any(len(other) > len(place) and other[: len(place)] == place for other in found)
    others = [p for p in problems if p["type"] not in _EXPECTED]
    if expected and not deeper and not others:
        wanted = " or ".join(dict.fromkeys(expected))
        yield f"{name(place)}: expected {wanted}; found {shown(problems[0]['input'])}."
    for problem in others:
        match problem["type"]:
            case "extra_forbidden":
                valid = list(_model_at(model, place[:-1]).model_fields)
                what = "key" if place[:-1] else "section"
                where = f"{name(place[:-1])}: " if place[:-1] else ""
                yield where + choices(what, place[-1], valid)
            case "missing":
                yield f"{name(place)} is missing."
            case "literal_error":
                valid = re.findall(r"'([^']*)'", problem["ctx"]["expected"])
                yield f"{name(place)}: " + choices("value", problem["input"], valid)
            case "too_short":
                yield f"{name(place)}: needs at least {problem['ctx']['min_length']}; found none."
            case "value_error":
                where = f"{name(place)}: " if place else ""
                yield f"{where}{problem['ctx']['error']}."
            case _:
                wanted = problem["msg"].removeprefix("Input ")
                yield f"{name(place)}: {wanted}; found {shown(problem['input'])}."


def _model_at(model: type[BaseModel], place: Place) -> type[BaseModel]:
    """The model that validates the table at ``place``."""
    for part in place:
        field = model.model_fields.get(str(part))
        if field is not None:
            annotation = field.annotation
        # Within a mapping or list the model is among the arguments of the field's type.
        inner = next(_models(annotation), None)
        if inner is not None:
            model = inner
    return model


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


def shown(value: object) -> str:
    """A value as TOML writes it; a table or list by its kind."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case dt.date() | dt.time():
            return value.isoformat()
        case Mapping():
            return "a table"
        case list():
            return "a list"
        case _:
            return str(value)
