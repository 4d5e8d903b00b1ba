"""What a result holds for its figures and lists: curves, ages, who lost exposure, groups, gaps, sessions.

A part of :mod:`audit.result`, which hands everything here on.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Reading = Literal["better", "worse", "no change", "undecided"]


class Record(BaseModel):
    """Base of all parts of the result: no unknown fields; NaN is written as null."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Series(Record):
    """Numbers behind a figure: one line or one group of bars per model."""

    model: str
    x: list[float]
    y: list[float | None]


class Loser(Record):
    """An item or creator that lost (or won) exposure."""

    id: str
    name: str
    baseline: float
    candidate: float
    """Share of all exposure at the viewport."""
    rank_baseline: int | None = None
    """1 = most exposed; those with equal exposure share the best rank."""
    rank_candidate: int | None = None


class Balance(Record):
    """How many items or creators get more, less or as much of the exposure as before."""

    model: str
    what: Literal["items", "creators"]
    more: int
    less: int
    same: int
    """No exposure under either model, or the same share."""


class Joint(Record):
    """How the relative changes of two measures go together, over audits of other users."""

    model: str
    x: str
    y: str
    correlation: float


class UserChanges(Record):
    """Users by how they fare under a candidate: the difference of their own values of a measure."""

    model: str
    metric: str
    users: int
    """With a value under both models."""
    better: float
    same: float
    worse: float
    """Shares of the users."""
    edges: list[float]
    """The bands' ends, ascending, from −1 to 1."""
    shares: list[float]
    """Of the users, in each band; those of no change at all are in none."""


class CategoryShare(Record):
    """A category: what there is of it, what was asked for, and what each model shows of it."""

    category: str
    """An empty name stands for all others together."""
    categories: int = 1
    """How many the record stands for."""
    catalog: float
    history: float | None = None
    """Of the interactions."""
    relevance: float | None = None
    """Of the relevant (user, item) pairs."""
    shown: dict[str, float]
    """Model → share of the exposure of items with a category, at the viewport."""


class LostGained(Record):
    """Items or creators with exposure under one model and none under the other."""

    what: Literal["items", "creators"]
    baseline: int
    """With exposure under the baseline."""
    candidate: int
    lost: int
    gained: int
    expected: float
    """Lost (and, alike, gained) expected when each user's two lists are swapped at random."""
    lost_low: float | None = None
    lost_high: float | None = None
    gained_low: float | None = None
    gained_high: float | None = None


class UsersShown(Record):
    """How many users were shown each item or creator, up to the viewport: what rarefaction needs."""

    model: str
    what: Literal["items", "tail items", "creators"]
    seeds: list[dict[int, int]]
    """For each seed: number of users → items of the catalog (or creators) shown to that many; 0 included."""


class NearDuplicates(Record):
    """Two items that are nearly the same and stand in one list."""

    model: str
    first: str
    second: str
    """Title where there is one, else id."""
    similarity: float
    """Cosine of the embeddings."""
    lists: int
    """Of those looked at, how many show both up to the viewport."""


class GroupExposure(Record):
    """A group of creators under a candidate and the baseline, at the viewport: shares of exposure."""

    model: str
    attribute: str
    group: str
    creators: int
    catalog: float | None
    """The group's share of the catalog's items."""
    relevance: float | None = None
    """Its share of the relevant (user, item) pairs."""
    target: float | None
    """What is due to it."""
    target_of: str
    """``catalog``, ``relevance`` or ``stated``."""
    baseline: float | None
    candidate: float | None
    difference: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    ratio: float | None = None
    """candidate / target; absent where nothing is due."""
    ratio_low: float | None = None
    ratio_high: float | None = None


class Fatigue(Record):
    """How a model's sessions go on: by the number of the request, up to the viewport."""

    model: str
    requests: list[int]
    """1, 2, 3 …; the last stands for itself and all later ones."""
    lists: list[int]
    relevance: list[float | None]
    """Share of the shown items that are relevant, for users with relevant items."""
    repetition: list[float | None]
    """Share of the shown items that an earlier list of the session showed."""


class SegmentGap(Record):
    """How far apart the cells of an attribute of the users are on a metric, under both models."""

    model: str
    attribute: str
    metric: str
    summary: Literal["worst", "gap", "ratio", "mad"]
    """The worst cell's value; best − worst; worst / best; mean absolute difference over pairs of cells."""
    cells: int
    """Cells of at least 50 users with a value."""
    baseline: float | None
    candidate: float | None
    difference: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    reading: Reading
    worst_baseline: str
    worst_candidate: str


class SegmentContrast(Record):
    """How much more one group of users gains from a candidate than another group of the same attribute."""

    model: str
    attribute: str
    metric: str
    first: str
    second: str
    """Names of the two cells, each of at least 50 users with a value."""
    first_gain: float | None
    second_gain: float | None
    """Candidate − baseline among the users of each."""
    difference: float | None
    """first_gain − second_gain."""
    ci_low: float | None = None
    ci_high: float | None = None


class Exhibits(Record):
    """The data behind the figures and lists of the report."""

    lorenz_items: list[Series] = []
    lorenz_creators: list[Series] = []
    deciles: list[Series] = []
    """Share of exposure by popularity decile of the catalog (1 the most popular tenth), per model;
    and a series of model ``relevance``: each decile's share of the relevant pairs."""
    ages: list[Series] = []
    """Share of shown items by age band: ``x`` the band's lower edge in days."""
    lost_gained: dict[str, list[LostGained]] = {}
    """By candidate."""
    items_lost: dict[str, list[Loser]] = {}
    creators_lost: dict[str, list[Loser]] = {}
    users_shown: list[UsersShown] = []
    """By model: the frequencies from which coverage is brought to another number of users."""
    near_duplicates: list[NearDuplicates] = []
    """Examples, where ``near_duplicates`` was measured: for each model the pairs that most lists show."""
    creator_groups: list[GroupExposure] = []
    """By candidate, attribute of the creators and group."""
    gaps: list[SegmentGap] = []
    """By attribute, metric of relevance (the headline first), candidate and summary."""
    contrasts: list[SegmentContrast] = []
    """By candidate, attribute and pair of cells; of the headline metric."""
    fatigue: list[Fatigue] = []
    """Empty where lists carry no session."""
    items_gained: dict[str, list[Loser]] = {}
    creators_gained: dict[str, list[Loser]] = {}
    balance: list[Balance] = []
    joint: list[Joint] = []
    """Of the headline and each measure that the trade-off plane may set against it."""
    user_changes: list[UserChanges] = []
    categories: list[CategoryShare] = []
    """The categories with most exposure under any model, and all others together."""
