"""How old judgments are, when lists were shown, and what of the judgments the models show."""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import F64, I32, I64, Dataset
from audit.engine.exposure import runs_of
from audit.engine.partials import Partials
from audit.metrics.block import Block

JUDGMENT_BANDS = (0.0, 7.0, 30.0, 90.0, 365.0, 2 * 365.0, 5 * 365.0)
"""Lower edges in days; what was judged after the user's list was shown has the age 0."""
BANDS = len(JUDGMENT_BANDS)


def judgment_clock(d: Dataset) -> F64 | None:
    """``[contexts]``: the day of the newest list that is judged by each row of the truth, NaN where unknown;
    ``None`` where no age can be told.
    """
    if d.truth is None or d.truth.day is None or not (d.truth.day > 0).any():
        return None
    clock = np.full(len(d.truth.items) + 1, -np.inf)  # the last: of lists without judgments
    for seeds in d.models.values():
        for lists in seeds:
            known = lists.present & np.isfinite(lists.time)
            np.maximum.at(clock, d.list_context[known], lists.time[known])
    clock = np.where(np.isfinite(clock), np.floor(clock), np.nan)[:-1]
    return None if np.isnan(clock).all() else clock


def ages_of(day: I32, clock: F64) -> F64:
    """Days from each judgment to the list that it judges, at least 0; NaN where unknown."""
    return np.where(day > 0, np.maximum(clock - (day - 1), 0), np.nan)


def bands_of(age: F64) -> I64:
    """The band of each age; −1 where it is unknown."""
    band = np.searchsorted(JUDGMENT_BANDS, np.nan_to_num(age), side="right") - 1
    return np.where(np.isnan(age), -1, band)


def count_days(d: Dataset, clock: F64 | None) -> Partials:
    """Judgments by day and by age, and lists by day."""
    p = Partials()
    for model, seed in runs_of(d):
        lists = d.models[model][seed]
        known = lists.time[lists.present & np.isfinite(lists.time)]
        p.list_days[model, seed] = _counted(np.floor(known).astype(np.int64))
    if d.truth is None:
        return p
    p.judged_zero += int((d.truth.grades == 0).sum())
    if d.truth.day is None:
        return p
    p.judgment_days = _counted(d.truth.day.astype(np.int64))
    if clock is None:
        return p
    age = ages_of(d.truth.day, np.repeat(clock, d.truth.items.lengths))
    known = ~np.isnan(age)
    relevant = d.truth.grades >= d.conventions.threshold
    days, place = np.unique(age[known].astype(np.int64), return_inverse=True)
    place = place.reshape(-1)
    both = np.stack([np.bincount(place), np.bincount(place, weights=relevant[known])], axis=1)
    p.judgment_ages = {int(day): row for day, row in zip(days, both.astype(np.int64), strict=True)}
    return p


def _counted(days: I64) -> dict[int, I64]:
    found, counts = np.unique(days, return_counts=True)
    return {int(day): np.array([n]) for day, n in zip(found, counts, strict=True)}


def shown_by_age(b: Block, d: Dataset, clock: F64, viewport: int) -> I64:
    """``[bands]``: the relevant items that a block shows up to the viewport, by the age of the judgment."""
    truth = d.truth
    assert truth is not None and truth.day is not None
    near = b.hit_rank <= viewport
    rows = b.shared.context[b.hit_list[near]]
    days = np.empty(len(rows), np.int32)
    _days(rows, b.hit_item[near], truth.items.start, truth.items.values, truth.day, days)
    band = bands_of(ages_of(days, clock[rows]))
    return np.bincount(band[band >= 0], minlength=BANDS)


@kernel
def _days(contexts, items, truth_start, truth_items, day, out):  # type: ignore[no-untyped-def]
    """The day on which each item was judged in its context, where it was judged."""
    for hit in range(len(contexts)):
        low, high = truth_start[contexts[hit]], truth_start[contexts[hit] + 1]
        while low < high:
            middle = (low + high) >> 1
            if truth_items[middle] < items[hit]:
                low = middle + 1
            else:
                high = middle
        out[hit] = day[low]
