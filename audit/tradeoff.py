"""The trade-off as one object: what each measure beside relevance costs, and how models stand to each other.

A part of :mod:`audit.result`, which hands everything here on.
"""

from __future__ import annotations

from typing import Literal

from audit.exhibit_records import Record

POINT = 0.01
"""A point of the headline metric: the unit that exchange rates are given in."""

MEASURES = (
    "tail_share", "catalog_coverage", "creator_coverage", "creator_gini", "item_gini", "ild", "novelty",
)  # fmt: skip
"""What models are held against each other by, beside the headline: one measure for each question of ``launch``."""

Relation = Literal["dominates", "dominated", "trades", "not told apart"]


class ExchangeRate(Record):
    """How much of a measure comes with a point of the headline, under a candidate against the baseline."""

    model: str
    metric: str
    headline_change: float
    """Candidate − baseline, of the headline metric."""
    change: float
    """Candidate − baseline, of this one."""
    rate: float | None = None
    """Change of the measure per :data:`POINT` of the headline: ``POINT · change / headline_change``; absent, as
    are the others, where the headline's interval contains 0: there is then nothing that the change was
    exchanged for."""
    ci_low: float | None = None
    ci_high: float | None = None
    """The 95 % interval, by Fieller's theorem from the joint variance of both changes."""
    relative_rate: float | None = None
    """Change of the measure in per cent of the baseline's, per one per cent of the headline."""
    relative_low: float | None = None
    relative_high: float | None = None
    note: str = ""
    """Why there is no rate, or no interval."""


class Standing(Record):
    """A model beside another, on the headline and :data:`MEASURES`, by 95 % intervals of the differences."""

    model: str
    other: str
    relation: Relation
    """``dominates``: better on some and worse on none; ``dominated``: the other way round; ``trades``: better on
    some and worse on others; ``not told apart``: neither."""
    better: list[str]
    """Where ``model`` is better."""
    worse: list[str]


class Tradeoff(Record):
    """All exchange rates and standings of an audit."""

    headline: str = ""
    rates: list[ExchangeRate] = []  # noqa: RUF012  a record copies its defaults
    """By candidate and measure, at the viewport."""
    standings: list[Standing] = []  # noqa: RUF012  a record copies its defaults
    """Of every ordered pair of models."""

    def rate(self, model: str, metric: str) -> ExchangeRate | None:
        """The exchange rate of ``metric`` under ``model``, or ``None`` where there is none."""
        return next((r for r in self.rates if (r.model, r.metric) == (model, metric)), None)
