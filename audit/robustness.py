"""The part of a result that says how far it could move: ties, unjudged items, old judgments, an old catalog."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

JudgmentReading = Literal["irrelevant", "condensed", "adverse"]

JUDGMENT_READINGS: dict[JudgmentReading, str] = {
    "irrelevant": "Unjudged items are not relevant",
    "condensed": "Unjudged items are taken out of the lists",
    "adverse": "Unjudged items speak for the baseline and against the candidate",
}
"""Each reading of unjudged items, in words."""


class Part(BaseModel):
    """Base of these records, as of all parts of a result: no unknown fields; NaN is written as null."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelTies(Part):
    """What can be seen of the ties of a model's scores."""

    model: str
    scored: bool
    """Whether the lists came with scores: without them ties cannot be seen."""
    ranked: bool = True
    """Whether ranks order the lists; else a convention orders equal scores."""
    lists: float
    """The share of lists in which scores tie up to the viewport, or across its end."""
    slots: float
    """The share of the shown items up to the viewport whose score another item of the list has."""


class Ends(Part):
    """A value under other orders of equal scores."""

    least: float | None
    expected: float | None
    """Every order equally likely; absent for a metric without a closed form."""
    most: float | None


class ReadDifference(Part):
    """The values and their difference under one reading, with a 95 % interval."""

    baseline: float | None
    candidate: float | None
    difference: float | None
    ci_low: float | None = None
    ci_high: float | None = None


class TieEffect(Part):
    """How far ties could move a metric and the difference between two models."""

    model: str
    """The candidate."""
    metric: str
    baseline: Ends
    candidate: Ends
    expected: ReadDifference | None
    """The difference to expect where every order is equally likely."""
    lowest: float | None
    """The difference with the candidate's ties broken worst and the baseline's best."""
    highest: float | None
    plain: float | None
    """The difference by the conventional order."""

    @property
    def band(self) -> float:
        """The width of the band in which the difference lies; 0 where it has no value."""
        if self.lowest is None or self.highest is None:
            return 0.0
        return self.highest - self.lowest


class JudgmentEffect(Part):
    """A difference under one reading of unjudged items."""

    model: str
    """The candidate."""
    metric: str
    reading: JudgmentReading
    values: ReadDifference


class AgeOfJudgments(Part):
    """Judgments of one band of ages."""

    days: float
    """The band's lower edge: days from the judgment to the newest list that is judged by it."""
    judgments: int
    relevant: int
    shown: dict[str, float]
    """Model → how many of the relevant pairs it shows up to the viewport (mean of seeds)."""


LONG_GAP, USUAL_GAPS = 7, 3
"""A list comes late after the catalog's newest item from more than so many days, and usual gaps, on."""


class Staleness(Part):
    """How old judgments and catalog are, counted from the newest list."""

    newest_list: str | None
    """ISO date of the newest list (or ``as_of``)."""
    newest_judgment: str | None = None
    oldest_judgment: str | None = None
    median_age: float | None = None
    """Days from a judgment to the newest list that is judged by it, over dated judgments of evaluated users."""
    undated: int = 0
    """Judgments of evaluated users without a time."""
    catalog_after: float | None = None
    """The share of the dated catalog items that were published after the newest judgment."""
    exposure_after: dict[str, float] = {}
    """Model → the share of its exposure up to the viewport that goes to such items."""
    by_age: list[AgeOfJudgments] = []
    newest_item: str | None = None
    """ISO date of the catalog's newest item that is not newer than the newest list."""
    catalog_gap: float | None = None
    """Days from the newest item to the newest list."""
    usual_gap: float | None = None
    """Days: the median of the gaps between days on which items were published."""
    late_lists: dict[str, float] = {}
    """Model → the share of its lists that come late after the catalog's newest item (:data:`LONG_GAP`)."""


class Robustness(Part):
    """How far the result could move, were its inputs read otherwise."""

    model_ties: list[ModelTies] = []
    ties: list[TieEffect] = []
    """Relevance metrics at the viewport, where scores tie."""
    judged_apart: bool = False
    """Whether there are judgments of grade 0, so that unjudged items can be told from those not relevant."""
    judged: dict[str, ReadDifference] = {}
    """Candidate → the share of the items up to the viewport that has been judged, of both models."""
    judgments: list[JudgmentEffect] = []
    staleness: Staleness | None = None

    def tie_effect(self, model: str, metric: str) -> TieEffect | None:
        """What ties could do to a candidate's difference on ``metric``."""
        return next((t for t in self.ties if (t.model, t.metric) == (model, metric)), None)

    def readings(self, model: str, metric: str) -> dict[JudgmentReading, ReadDifference]:
        """A candidate's differences on ``metric`` under each reading of unjudged items."""
        return {
            j.reading: j.values for j in self.judgments if (j.model, j.metric) == (model, metric)
        }
