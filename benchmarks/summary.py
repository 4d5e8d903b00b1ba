"""From runs to what they mean: medians, ratios, exponents, and whether the limits hold."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.scales import SCALES

Record = Mapping[str, Any]
Key = tuple[str, str, str]
"""Scale, task and kind of id."""


@dataclass(frozen=True, kw_only=True)
class Median:
    """Of the rounds of one task."""

    wall: float
    cpu: float
    peak: float
    walls: tuple[float, ...]
    stages: Mapping[str, float]
    """Seconds of each stage of an audit, as medians."""


Medians = Mapping[Key, Median]


def medians(record: Record) -> dict[Key, Median]:
    """Over the rounds that ended well."""
    runs: dict[Key, list[Mapping[str, Any]]] = {}
    for run in record["runs"]:
        if run["error"] is None:
            runs.setdefault((run["scale"], run["task"], run["kind"]), []).append(run)
    return {key: _median(rounds) for key, rounds in runs.items()}


def _median(rounds: Sequence[Mapping[str, Any]]) -> Median:
    def of(name: str) -> float:
        return float(statistics.median(run[name] for run in rounds))

    # A stage may be of some rounds only: loops are compiled where the cache has none.
    names = dict.fromkeys(stage for run in rounds for stage in run["stages"])
    every = {n: statistics.median(run["stages"].get(n, 0.0) for run in rounds) for n in names}
    stages = {name: time for name, time in every.items() if time > 0 or name in rounds[0]["stages"]}
    walls = tuple(run["wall"] for run in rounds)
    return Median(wall=of("wall"), cpu=of("cpu"), peak=of("peak"), walls=walls, stages=stages)


# ---------------------------------------------------------------------------------------- growth


def exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """The slope of a straight line through (size, seconds) on logarithmic axes.

    1 is growth in proportion.  ``None`` with fewer than two sizes.
    """
    if len({size for size, _ in points}) < 2:
        return None
    logs = [(math.log(size), math.log(seconds)) for size, seconds in points]
    xs, ys = zip(*logs, strict=True)
    return statistics.linear_regression(xs, ys).slope


def by_users(found: Medians, task: str, kind: str) -> list[tuple[float, float]]:
    """(users, seconds) of a task at the plain scales."""
    scales = [SCALES[name] for name in ("S", "M", "L")]
    return [
        (s.users, found[s.name, task, kind].wall) for s in scales if (s.name, task, kind) in found
    ]


def by_items(record: Record, found: Medians, users: int) -> list[tuple[float, float]]:
    """(items, seconds) of the full audit with integer ids, at one number of users."""
    points = []
    for name, data in record["data"].items():
        key = name, "full", "integer"
        if data["users"] == users and key in found:
            points.append((data["items"], found[key].wall))
    return sorted(points)


# ---------------------------------------------------------------------------------------- limits


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A bound on what was measured."""

    title: str
    scale: str
    bound: float
    value: Callable[[Medians, str], float | None]
    """Of the medians at a scale; ``None`` where something was not measured."""
    unit: str = "×"


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A limit and what was found."""

    title: str
    scale: str
    bound: float
    unit: str
    value: float | None
    official: bool
    """Measured at the scale that the limit is for."""

    @property
    def status(self) -> str:
        """``holds``, ``broken``, or ``not measured``."""
        if self.value is None:
            return "not measured"
        return "holds" if self.value <= self.bound else "broken"


def _ratio(task: str, other: str, kind: str) -> Callable[[Medians, str], float | None]:
    def value(found: Medians, scale: str) -> float | None:
        a, b = found.get((scale, task, kind)), found.get((scale, other, kind))
        return None if a is None or b is None else a.wall / b.wall

    return value


def _peak(kind: str) -> Callable[[Medians, str], float | None]:
    def value(found: Medians, scale: str) -> float | None:
        median = found.get((scale, "full", kind))
        return None if median is None else median.peak / 1e9

    return value


def _intervals(kind: str) -> Callable[[Medians, str], float | None]:
    def value(found: Medians, scale: str) -> float | None:
        median = found.get((scale, "full", kind))
        if median is None or "comparing" not in median.stages:
            return None
        return median.stages["comparing"] / median.wall

    return value


def _beyond(kind: str) -> Callable[[Medians, str], float | None]:
    def value(found: Medians, scale: str) -> float | None:
        full, accuracy = found.get((scale, "full", kind)), found.get((scale, "accuracy", kind))
        if full is None or accuracy is None:
            return None
        return (full.wall - accuracy.wall) / accuracy.wall

    return value


def _growth(kind: str) -> Callable[[Medians, str], float | None]:
    def value(found: Medians, scale: str) -> float | None:
        largest = SCALES[scale].users
        points = [point for point in by_users(found, "full", kind) if point[0] <= largest]
        reaches = any(users == largest for users, _ in points)
        return exponent(points) if reaches else None

    return value


LIMITS: tuple[Limit, ...] = (
    Limit(
        title="full audit, string ids / ranx", scale="M", bound=0.15,
        value=_ratio("full", "ranx", "string"),
    ),
    Limit(
        title="full audit, string ids / RecTools", scale="M", bound=0.5,
        value=_ratio("full", "rectools", "string"),
    ),
    Limit(
        title="full audit, integer ids / RecTools", scale="M", bound=0.8,
        value=_ratio("full", "rectools", "integer"),
    ),
    *(
        Limit(
            title=f"accuracy at one K, {kind} ids / DuckDB", scale="L", bound=2,
            value=_ratio("accuracy@10", "duckdb", kind),
        )
        for kind in ("integer", "string")
    ),
    Limit(
        title="full audit, integer ids / reading with pyarrow", scale="L", bound=5,
        value=_ratio("full", "pyarrow", "integer"),
    ),
    Limit(
        title="full audit, string ids / reading with pyarrow", scale="L", bound=4,
        value=_ratio("full", "pyarrow", "string"),
    ),
    *(
        Limit(title=f"peak memory, {kind} ids", scale="L", bound=2.5, value=_peak(kind), unit="GB")
        for kind in ("integer", "string")
    ),
    *(
        Limit(
            title=f"comparing (intervals and p-values) / full audit, {kind} ids", scale="L", bound=1 / 3,
            value=_intervals(kind),
        )
        for kind in ("integer", "string")
    ),
    *(
        Limit(
            title=f"exponent of growth with users, {kind} ids", scale="L", bound=1.1, value=_growth(kind),
            unit="",
        )
        for kind in ("integer", "string")
    ),
    *(
        Limit(
            title=f"all beyond accuracy / accuracy at the same Ks, {kind} ids", scale="L", bound=2.5,
            value=_beyond(kind),
        )
        for kind in ("integer", "string")
    ),
)  # fmt: skip


def judge(found: Medians, scale: str | None = None) -> list[Judged]:
    """Every limit at its own scale, or at another one to see how far it is."""
    return [
        Judged(
            title=limit.title, scale=scale or limit.scale, bound=limit.bound, unit=limit.unit,
            value=limit.value(found, scale or limit.scale), official=scale in (None, limit.scale),
        )
        for limit in LIMITS
    ]  # fmt: skip


# ------------------------------------------------------------------------------------- agreement

TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """One value of another program, and ours."""

    task: str
    scale: str
    metric: str
    model: str
    variant: str | None
    theirs: float
    ours: float | None
    """``None`` where we have no such convention."""

    @property
    def agrees(self) -> bool:
        """Within :data:`TOLERANCE`."""
        return self.ours is not None and abs(self.theirs - self.ours) <= TOLERANCE


def agreements(record: Record) -> list[Agreement]:
    """DuckDB's values beside our audit's, and the peers' beside ours under their conventions.

    Programs that ran where ours did not are left out.
    """
    runs = [run for run in record["runs"] if run["values"]]
    audited = {
        (run["scale"], run["kind"]): run["values"] for run in runs if run["task"] == "accuracy@10"
    }
    found = []
    for run in runs:
        where = {"task": run["task"], "scale": run["scale"]}
        if run["task"] == "duckdb":
            ours = audited.get((run["scale"], run["kind"]))
            if ours is None:
                continue
            for model, values in run["values"].items():
                for metric, value in values.items():
                    found.append(
                        Agreement(
                            **where, metric=metric, model=model, variant="default", theirs=value,
                            ours=ours.get(model, {}).get(metric),
                        )
                    )  # fmt: skip
        elif run["task"] not in ("full", "accuracy", "accuracy@10"):
            variants = record["references"].get(run["scale"])
            if variants is None:
                continue
            for metric, (value, variant) in run["values"].items():
                found.append(
                    Agreement(
                        **where, metric=metric, model="baseline", variant=variant, theirs=value,
                        ours=variants.get(variant, {}).get(metric),
                    )
                )  # fmt: skip
    return found
