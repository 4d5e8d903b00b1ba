"""What the report shows beside the scorecard: curves, deciles, ages, who lost exposure."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

import numpy as np

from audit.dataset.ids import Ids
from audit.dataset.model import F64, I64, Overview, Ragged
from audit.engine.memory import exposure_by_k
from audit.engine.partials import Measured
from audit.engine.plan import AGE_BANDS, Plan
from audit.inference.creator_groups import group_exposures
from audit.inference.gaps import segment_gaps
from audit.inference.histograms import lost_and_gained
from audit.inference.system import combine, count_interval, lost_gained_expected
from audit.inference.totals import by_member
from audit.metrics.pair_columns import most_shown_twins
from audit.metrics.vectors import creator_matrix, of_catalog, rank_weights
from audit.result import (
    Exhibits,
    Fatigue,
    Loser,
    LostGained,
    NearDuplicates,
    Series,
    UsersShown,
)

LORENZ_POINTS = 101
LOSERS = 10
TWINS = 5
LOOKED_AT = 20_000
"""Lists searched for examples of near-duplicates, the first of each model."""


def lorenz(x: F64) -> tuple[list[float], list[float]]:
    """The share of the total that the least exposed share of n has, at 101 places."""
    total = x.sum()
    if len(x) == 0 or total <= 0:
        return [], []
    cumulative = np.concatenate([[0.0], np.cumsum(np.sort(x))]) / total
    at = np.linspace(0, 1, LORENZ_POINTS)
    y = np.interp(at * len(x), np.arange(len(x) + 1), cumulative)
    return [round(float(v), 4) for v in at], [round(float(v), 6) for v in y]


def make_exhibits(
    dataset: Overview, plan: Plan, measured: Measured, headline: str | None = None, seed: int = 0
) -> Exhibits:
    """All exhibits that the data allow; seeds of a model are averaged.

    Parameters
    ----------
    headline
        The metric at K on which, and on other metrics of relevance, segments are held against each other;
        none if absent.
    seed
        That of the audit: intervals are resampled as all others.
    """
    d, p = dataset, measured.partials
    weights = rank_weights(d.conventions, "exposure", plan.viewport)
    catalog = d.items.catalog
    exposure = {
        model: np.mean(
            [exposure_by_k(p.shown[model, s], weights)[catalog] for s in range(len(seeds))], axis=0
        )
        for model, seeds in d.models.items()
    }
    creators = creator_matrix(d) if "creator_id" in d.has else None
    by_creator = (
        {} if creators is None else {m: np.asarray(creators.T @ x) for m, x in exposure.items()}
    )
    return Exhibits(
        lorenz_items=_lorenz(exposure),
        lorenz_creators=_lorenz(by_creator),
        deciles=_deciles(d, exposure),
        ages=_ages(d, measured),
        lost_gained={c: _lost_gained(d, plan, measured, c) for c in plan.candidates},
        items_lost={
            c: _losers(
                exposure[plan.baseline], exposure[c], d.items.ids, catalog,
                [d.items.titles[i] for i in catalog],
            )
            for c in plan.candidates
        },
        creators_lost={
            c: _losers(
                by_creator[plan.baseline], by_creator[c], d.items.creator_ids,
                np.arange(len(d.items.creator_ids)), list(d.items.creator_names),
            )
            for c in plan.candidates if by_creator
        },
        users_shown=_users_shown(d, plan, measured),
        near_duplicates=_near_duplicates(d, plan, measured),
        gaps=[] if headline is None else segment_gaps(d, plan, measured, headline, seed),
        fatigue=_fatigue(d, measured),
        creator_groups=group_exposures(d, plan, measured),
    )  # fmt: skip


def _lorenz(exposure: dict[str, F64]) -> list[Series]:
    curves = ((model, *lorenz(x)) for model, x in exposure.items())
    return [Series(model=model, x=x, y=list(y)) for model, x, y in curves if x]


def _deciles(d: Overview, exposure: dict[str, F64]) -> list[Series]:
    """Shares of exposure, and of the relevant pairs, by popularity decile of the catalog."""
    if "history" not in d.has:
        return []
    catalog = d.items.catalog
    decile = np.minimum((d.items.popularity_rank[catalog] - 1) * 10 // len(catalog), 9)
    series = [(m, np.bincount(decile, weights=x, minlength=10)) for m, x in exposure.items()]
    if d.relevant is not None:
        relevant = np.bincount(decile, weights=d.relevant[catalog], minlength=10)
        series.append(("relevance", relevant))
    return [
        Series(
            model=m, x=[float(i) for i in range(1, 11)], y=[float(v) for v in total / total.sum()]
        )
        for m, total in series
        if total.sum() > 0
    ]


def _ages(d: Overview, measured: Measured) -> list[Series]:
    if "created_at" not in d.has:
        return []
    found = []
    for model, seeds in d.models.items():
        counts = np.sum([measured.partials.ages[model, s] for s in range(len(seeds))], axis=0)[:-1]
        if counts.sum():
            found.append(
                Series(model=model, x=list(AGE_BANDS), y=[float(v) for v in counts / counts.sum()])
            )
    return found


def _fatigue(d: Overview, measured: Measured) -> list[Fatigue]:
    """By the number of the request; seeds of a model together."""
    found = []
    for model, seeds in d.models.items():
        runs = [(model, seed) for seed in range(len(seeds))]
        counts = [measured.partials.requests[r] for r in runs if r in measured.partials.requests]
        if not counts:
            continue
        lists, slots, again, judged, hits = np.sum(counts, axis=0)
        last = int(np.flatnonzero(lists).max(initial=-1)) + 1
        found.append(
            Fatigue(
                model=model, requests=list(range(1, last + 1)),
                lists=[int(n) // len(runs) for n in lists[:last]],
                relevance=_ratios(hits[:last], judged[:last]), repetition=_ratios(again[:last], slots[:last]),
            )
        )  # fmt: skip
    return found


def _ratios(part: I64, whole: I64) -> list[float | None]:
    return [float(a / b) if b else None for a, b in zip(part, whole, strict=True)]


def _lost_gained(d: Overview, plan: Plan, measured: Measured, candidate: str) -> list[LostGained]:
    """Of the first seed: items and creators with exposure under one model only."""
    p = measured.partials
    baseline, run = (plan.baseline, 0), (candidate, 0)
    creators = creator_matrix(d) if "creator_id" in d.has else None
    users: dict[Literal["items", "creators"], I64] = {
        "items": p.users_items[run][:, d.items.catalog]
    }
    if creators is not None:
        users["creators"] = p.users_creators[run]
    jackknife: dict[str, tuple[float, float]] = {}
    if plan.groupings[0].groups:
        shown = [
            of_catalog(d, p.groups[r][plan.groupings[0].key]["count"]) for r in (baseline, run)
        ]
        vectors = {"items": shown}
        if creators is not None:
            held = (creators > 0).astype(np.float64)
            vectors["creators"] = [
                by_member(held, x, os.cpu_count() or 1).astype(np.int64) for x in shown
            ]
        for what, (a, b) in vectors.items():
            both = lost_and_gained(a, b, threads=os.cpu_count() or 1)
            for name, values in zip(("lost", "gained"), both, strict=True):
                jackknife[f"{what} {name}"] = combine(values).interval(0.95)
    return [_changed(what, by, jackknife) for what, by in users.items()]


def _users_shown(d: Overview, plan: Plan, measured: Measured) -> list[UsersShown]:
    """The engine counts users by pairs of runs: of the baseline's seeds, those that a candidate is paired with."""
    p = measured.partials
    last = len(d.models[plan.baseline]) - 1
    by_run: dict[tuple[str, int], tuple[I64, I64]] = {}
    for model, seed in sorted(p.users_items):
        for side, run in ((0, (plan.baseline, min(seed, last))), (1, (model, seed))):
            by_run[run] = tuple(
                users[model, seed][side] + users[model, seed][2]
                for users in (p.users_items, p.users_creators)
            )
    found = []
    for model, seeds in d.models.items():
        runs = [by_run[model, s] for s in range(len(seeds)) if (model, s) in by_run]
        kinds: list[tuple[Literal["items", "tail items", "creators"], list[I64]]] = [
            ("items", [of_catalog(d, items) for items, _ in runs])
        ]
        if "history" in d.has:
            tail = d.items.tail & d.items.in_catalog
            kinds.append(("tail items", [items[tail] for items, _ in runs]))
        if "creator_id" in d.has:
            kinds.append(("creators", [creators for _, creators in runs]))
        found += [
            UsersShown(model=model, what=what, seeds=[_frequencies(x) for x in each])
            for what, each in kinds
        ]
    return found


def _frequencies(users: I64) -> dict[int, int]:
    counts, items = np.unique(users, return_counts=True)
    return dict(zip(counts.tolist(), items.tolist(), strict=True))


def _changed(
    what: Literal["items", "creators"], users: I64, jackknife: Mapping[str, tuple[float, float]]
) -> LostGained:
    """``users``: ``[3, n]``, users shown each by the baseline only, the candidate only, both."""
    a, b, both = users
    old, new = (a + both) > 0, (b + both) > 0
    lost, gained = int((old & ~new).sum()), int((new & ~old).sum())
    ends: list[float | None] = [None] * 4
    if jackknife:
        intervals = (
            *count_interval(lost, jackknife[f"{what} lost"]),
            *count_interval(gained, jackknife[f"{what} gained"]),
        )
        ends = [float(end) if np.isfinite(end) else None for end in intervals]
    return LostGained(
        what=what, baseline=int(old.sum()), candidate=int(new.sum()), lost=lost, gained=gained,
        expected=lost_gained_expected(a, b, both), lost_low=ends[0], lost_high=ends[1],
        gained_low=ends[2], gained_high=ends[3],
    )  # fmt: skip


def _near_duplicates(d: Overview, plan: Plan, measured: Measured) -> list[NearDuplicates]:
    """Examples from the first lists of each model's first seed, at the threshold first asked for."""
    asked = [ref.values["threshold"] for ref in plan.refs if ref.name == "near_duplicates"]
    if not asked or "embedding" not in d.has:
        return []

    def name(code: int) -> str:
        return d.items.titles[code] or d.items.ids.text([code])[0]

    return [
        NearDuplicates(
            model=model, first=name(a), second=name(b), similarity=cosine, lists=lists
        )
        for model, shown in measured.lists.items()
        for a, b, cosine, lists in most_shown_twins(
            Ragged(shown.start[: LOOKED_AT + 1], shown.values), d.items, asked[0], plan.viewport, TWINS
        )
    ]  # fmt: skip


def _losers(old: F64, new: F64, ids: Ids, codes: I64, names: list[str | None]) -> list[Loser]:
    """Those whose share of all exposure fell most, ties by id."""
    if old.sum() <= 0 or new.sum() <= 0:
        return []
    a, b = old / old.sum(), new / new.sum()
    order = np.argsort(b - a, kind="stable")[:LOSERS]
    chosen = [int(i) for i in order if b[i] < a[i]]
    texts = ids.text(codes[chosen])
    return [
        Loser(id=text, name=names[i] or text, baseline=float(a[i]), candidate=float(b[i]))
        for i, text in zip(chosen, texts, strict=True)
    ]
