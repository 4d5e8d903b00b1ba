"""What the report shows beside the scorecard: curves, deciles, ages, who lost exposure."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from audit.dataset.ids import Ids
from audit.dataset.model import F64, I64, Overview, Ragged
from audit.engine.changes import STEPS
from audit.engine.memory import exposure_by_k
from audit.engine.partials import Measured
from audit.engine.plan import AGE_BANDS, Plan
from audit.inference.creator_groups import group_exposures
from audit.inference.gaps import between_segments
from audit.inference.histograms import lost_and_gained
from audit.inference.system import combine, count_interval, lost_gained_expected
from audit.inference.together import correlations
from audit.inference.totals import by_member
from audit.metrics.pair_columns import most_shown_twins
from audit.metrics.registry import MetricRef, parse
from audit.metrics.vectors import category_matrix, creator_matrix, of_catalog, rank_weights
from audit.result import (
    Balance,
    CategoryShare,
    Exhibits,
    Fatigue,
    Loser,
    LostGained,
    NearDuplicates,
    Series,
    UserChanges,
    UsersShown,
)

LORENZ_POINTS = 101
LOSERS = 10
CATEGORIES = 15
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
    matrix = creator_matrix(d) if "creator_id" in d.has else None
    by_creator = (
        {} if matrix is None else {m: np.asarray(matrix.T @ x) for m, x in exposure.items()}
    )
    items = Exposed(
        "items", plan.baseline, exposure, d.items.ids, catalog,
        [d.items.titles[i] for i in catalog],
    )  # fmt: skip
    creators = Exposed(
        "creators", plan.baseline, by_creator, d.items.creator_ids,
        np.arange(len(d.items.creator_ids)), list(d.items.creator_names),
    )  # fmt: skip
    gaps, contrasts = (
        ([], []) if headline is None else between_segments(d, plan, measured, headline, seed)
    )
    return Exhibits(
        lorenz_items=_lorenz(exposure),
        lorenz_creators=_lorenz(by_creator),
        deciles=_deciles(d, exposure),
        ages=_ages(d, measured),
        lost_gained={c: _lost_gained(d, plan, measured, c) for c in plan.candidates},
        users_shown=_users_shown(d, plan, measured),
        items_lost={c: items.movers(c, -1) for c in plan.candidates},
        items_gained={c: items.movers(c, 1) for c in plan.candidates},
        creators_lost={c: creators.movers(c, -1) for c in plan.candidates if by_creator},
        creators_gained={c: creators.movers(c, 1) for c in plan.candidates if by_creator},
        balance=[
            balance for c in plan.candidates for one in (items, creators)
            if (balance := one.balance(c)) is not None
        ],
        near_duplicates=_near_duplicates(d, plan, measured),
        gaps=gaps,
        contrasts=contrasts,
        fatigue=_fatigue(d, measured),
        creator_groups=group_exposures(d, plan, measured),
        joint=[] if headline is None else correlations(d, plan, measured, headline),
        user_changes=[] if headline is None else _user_changes(d, measured, headline),
        categories=_categories(d, exposure),
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


@dataclass(frozen=True)
class Exposed:
    """Items or creators with their exposure under each model."""

    what: Literal["items", "creators"]
    baseline: str
    exposure: Mapping[str, F64]
    ids: Ids
    codes: I64
    names: Sequence[str | None]

    def _shares(self, candidate: str) -> tuple[F64, F64] | None:
        """Of all exposure, under the baseline and the candidate."""
        old, new = self.exposure.get(self.baseline), self.exposure.get(candidate)
        if old is None or new is None or old.sum() <= 0 or new.sum() <= 0:
            return None
        return old / old.sum(), new / new.sum()

    def movers(self, candidate: str, sign: int) -> list[Loser]:
        """Those whose share rose (``sign`` 1) or fell (−1) most, ties by id."""
        shares = self._shares(candidate)
        if shares is None:
            return []
        a, b = shares
        order = np.argsort(-sign * (b - a), kind="stable")[:LOSERS]
        chosen = [int(i) for i in order if sign * (b[i] - a[i]) > 0]
        texts = self.ids.text(self.codes[chosen])
        return [
            Loser(
                id=text, name=self.names[i] or text, baseline=float(a[i]), candidate=float(b[i]),
                rank_baseline=int((a > a[i]).sum()) + 1, rank_candidate=int((b > b[i]).sum()) + 1,
            )
            for i, text in zip(chosen, texts, strict=True)
        ]  # fmt: skip

    def balance(self, candidate: str) -> Balance | None:
        """How many have more, how many less."""
        shares = self._shares(candidate)
        if shares is None:
            return None
        more, less = (int((sign * (shares[1] - shares[0]) > 0).sum()) for sign in (1, -1))
        same = len(self.codes) - more - less
        return Balance(model=candidate, what=self.what, more=more, less=less, same=same)


def _user_changes(d: Overview, measured: Measured, headline: str) -> list[UserChanges]:
    """Of the headline at the viewport; seeds of a candidate together."""
    refs = [] if measured.readings is None else list(measured.readings.changes)
    ref = parse(headline)
    base = MetricRef(ref.name, ref.parameters)
    if measured.readings is None or base not in refs:
        return []
    edges = [float(i) / STEPS for i in range(-STEPS, STEPS + 1)]
    found = []
    for model, seeds in d.models.items():
        runs = [(model, s) for s in range(len(seeds)) if (model, s) in measured.partials.changes]
        if not runs:
            continue
        counts = np.sum([measured.partials.changes[r][refs.index(base)] for r in runs], axis=0)
        total = int(counts.sum())
        if not total:
            continue
        shares = counts / total
        found.append(
            UserChanges(
                model=model, metric=str(base.at(int(measured.readings.k[0]))), users=total // len(runs),
                better=float(shares[STEPS + 1 :].sum()), same=float(shares[STEPS]),
                worse=float(shares[:STEPS].sum()), edges=edges,
                shares=[round(float(v), 6) for v in np.delete(shares, STEPS)],
            )
        )  # fmt: skip
    return found


def _categories(d: Overview, exposure: Mapping[str, F64]) -> list[CategoryShare]:
    """An item of m categories gives 1/m to each; the most exposed categories, then all others."""
    if "categories" not in d.has or not len(d.items.category_ids):
        return []
    matrix, catalog = category_matrix(d), d.items.catalog

    def shares(x: npt.NDArray[Any] | None) -> F64 | None:
        by = None if x is None else np.asarray(matrix.T @ x.astype(np.float64))
        return None if by is None or by.sum() <= 0 else by / by.sum()

    parts: dict[str, F64 | None] = {
        "catalog": shares(np.ones(len(catalog))),
        "history": shares(d.items.popularity[catalog]) if "history" in d.has else None,
        "relevance": None if d.relevant is None else shares(d.relevant[catalog]),
    }
    shown = {m: of for m, x in exposure.items() if (of := shares(x)) is not None}
    if parts["catalog"] is None or not shown:
        return []
    most = np.max(list(shown.values()), axis=0)
    chosen = np.argsort(-most, kind="stable")[:CATEGORIES]
    rest = np.setdiff1d(np.arange(len(most)), chosen)
    names = d.items.category_ids.text(chosen)
    groups = [(name, chosen[i : i + 1]) for i, name in enumerate(names)]
    groups += [("", rest)] if len(rest) else []

    def part(of: str, codes: I64) -> float | None:
        found = parts[of]
        return None if found is None else float(found[codes].sum())

    return [
        CategoryShare(
            category=name, categories=len(codes), catalog=part("catalog", codes) or 0.0,
            history=part("history", codes), relevance=part("relevance", codes),
            shown={m: float(of[codes].sum()) for m, of in shown.items()},
        )
        for name, codes in groups
    ]  # fmt: skip
