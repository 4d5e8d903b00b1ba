"""``[guardrails]`` of ``audit.toml``: what may be written of a bound, and who settled it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Discriminator, Field, Tag, field_validator, model_validator

Kind = Literal["max_drop", "max_rise", "min", "max", "non_inferior", "superior", "equivalent"]
KINDS: tuple[Kind, ...] = get_args(Kind)

EVERY = "*"
"""As a segment: each attribute that the audit is reported by."""


class Guardrail(BaseModel, extra="forbid", frozen=True):
    """One bound on one metric: exactly one of the first seven keys, which ``docs/guardrails.md`` explains."""

    max_drop: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    max_rise: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    min: float | None = Field(default=None, allow_inf_nan=False)
    max: float | None = Field(default=None, allow_inf_nan=False)
    non_inferior: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """The margin by which the candidate may be worse, in the metric's own direction."""
    superior: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """The margin by which the candidate must be better; ``true`` for any."""
    equivalent: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """The margin within which the candidate must stay on either side."""
    relative: bool = False
    target: float | None = Field(default=None, allow_inf_nan=False)
    """A fixed value to compare with, in place of the baseline's."""
    severity: Literal["fail", "warn"] = "fail"
    segment: str | list[str] | None = None
    evidence: Literal["interval", "point"] = "interval"
    """What decides: the interval, as all guardrails of a candidate share it, or the estimate alone."""

    @field_validator("superior", mode="before")
    @classmethod
    def _any_margin(cls, margin: object) -> object:
        if margin is False:
            raise ValueError("superior is true, or the margin by which it must be better")
        return 0.0 if margin is True else margin

    @field_validator("segment")
    @classmethod
    def _attributes(cls, segment: str | list[str] | None) -> str | list[str] | None:
        if isinstance(segment, list) and (not segment or len(set(segment)) < len(segment)):
            raise ValueError("segment names one attribute, or several different ones")
        return segment

    @model_validator(mode="after")
    def _one_bound(self) -> Guardrail:
        given = [name for name in KINDS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"give exactly one of {', '.join(KINDS)}")
        if given[0] in ("min", "max"):
            if self.relative:
                raise ValueError(f"{given[0]} bounds the value itself and cannot be relative")
            if self.target is not None:
                raise ValueError(f"{given[0]} bounds the value itself and has no target")
        if self.relative and self.target == 0:
            raise ValueError("nothing is relative to a target of 0; leave out relative")
        return self


Entry = Guardrail | list[Guardrail] | bool
"""What ``[guardrails]`` may say of a metric: a bound, several, or ``false`` for none of the profile's."""


def _meant(value: object) -> str:
    match value:
        case bool():
            return "off"
        case str():
            return "text"
        case dt.date():
            return "day"
        case list():
            return "bounds"
        case _:
            return "bound"


GuardrailValue = Annotated[
    Annotated[Guardrail, Tag("bound")]
    | Annotated[list[Guardrail], Tag("bounds")]
    | Annotated[bool, Tag("off")]
    | Annotated[str, Tag("text")]
    | Annotated[dt.date, Tag("day")],
    Discriminator(_meant),
]
"""The same as it is validated, and what the keys of :data:`DECLARATION` hold: one kind is meant, and one is refused."""

DECLARATION = ("profile", "declared_by", "declared_on")
"""The keys of ``[guardrails]`` that are no metric's name."""


def check_guardrails(guardrails: Mapping[str, Any]) -> None:
    """Refuse what a section of guardrails may not hold beside its bounds.

    Raises
    ------
    ValueError
        A clause without a full stop.
    """
    for key, value in guardrails.items():
        if key == "profile" and not isinstance(value, str):
            raise ValueError('profile is a name, such as "launch"')
        if key == "declared_by" and not (isinstance(value, str) and value.strip()):
            raise ValueError("declared_by is a name in quotes: who settled the guardrails")
        if key == "declared_on" and _day(value) is None:
            raise ValueError("declared_on is a day, such as 2013-07-15: when they were settled")
        if key not in DECLARATION and isinstance(value, (str, dt.date)):
            raise ValueError(f'"{key}" needs a bound, such as {{ max_drop = 0.1 }}')
        if key not in DECLARATION and value is True:
            raise ValueError(f'"{key}" needs a bound; false leaves out those of the profile')


def _day(value: object) -> dt.date | None:
    """A day, also from ISO text as a saved result keeps it."""
    if isinstance(value, dt.datetime):
        return None
    if isinstance(value, str):
        try:
            return dt.date.fromisoformat(value)
        except ValueError:
            return None
    return value if isinstance(value, dt.date) else None
