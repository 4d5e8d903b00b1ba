"""From outcomes to rows: coverage, width, false alarms, power and verdicts, each beside what it should be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from audit.inference.power import LEVEL
from benchmarks.simulation.audits import FIELDS, LAUNCH, STATUSES, VERDICTS
from benchmarks.simulation.plan import PLANTED
from benchmarks.simulation.population import DERIVED, MEANS, SYSTEMS
from benchmarks.simulation.run import Result, finite
from benchmarks.simulation.world import K

Z = 1.959964
Row = dict[str, Any]

LIMITS = {"mean": (0.93, 0.97), "derived": (0.93, 0.98), "system": (0.93, 0.98)}
WIDEST = 1.3
EXACT_NULLS = {"same": (*MEANS, *DERIVED, *SYSTEMS), "mirror": SYSTEMS}
"""Candidates whose true difference is 0, and of which metrics."""
FEWEST = 0.5
"""A row in which fewer audits than this have an interval is not judged: its interval is the exception."""


def kind_of(metric: str) -> str:
    """``mean``, ``derived`` or ``system``."""
    name = metric.partition("@")[0]
    return "mean" if name in MEANS else "derived" if name in DERIVED else "system"


def series_record(result: Result) -> Row:
    """What is kept of a series: the settings and the rows."""
    series, setting = result.series, result.setting
    return {
        "name": series.name, "world": series.spec.name, "world_seed": series.spec.seed,
        "users": series.users, "audits": series.audits, "seconds": round(result.seconds, 1),
        "sources": {m: list(s) for m, s in setting.sources.items()},
        "intervals": intervals(result), "verdicts": verdicts(result), "bounds": bounds(result),
    }  # fmt: skip


def intervals(result: Result) -> list[Row]:
    """A row for each candidate, metric and segment."""
    return [_interval(result, i) for i in range(len(result.outcome.keys))
            if result.outcome.keys[i] in result.truth]  # fmt: skip


def _interval(result: Result, i: int) -> Row:
    candidate, metric, segment = result.outcome.keys[i]
    a, b = result.truth[candidate, metric, segment]
    x = dict(zip(FIELDS, result.outcome.values[:, i].T, strict=True))
    true = b - a
    has = np.isfinite(x["low"]) & (x["identical"] == 0)
    sd = float(np.nanstd(x["difference"], ddof=1))
    row: Row = {
        "candidate": candidate, "metric": metric, "segment": segment, "kind": kind_of(metric),
        "baseline": a, "true": true, "sd": sd, "audits": len(has), "with_interval": float(has.mean()),
        "identical": float((x["identical"] == 1).mean()),
        **_coverage("", x["low"][has], x["high"][has], true),
    }  # fmt: skip
    if has.any() and sd > 0:
        # As wide as it would be if the spread of such audits were known.
        row["width"] = float((x["high"] - x["low"])[has].mean() / (2 * Z * sd))
        least = x["least"][has & np.isfinite(x["least"])]
        row["least"] = float(np.median(least)) if len(least) else None
    some = has & (x["relative_low"] > -1) & (x["relative"] > -1)
    if some.any() and a > 0:
        relative = b / a - 1
        row |= _coverage("relative_", x["relative_low"][some], x["relative_high"][some], relative)
        spread = float(np.std(np.log1p(x["relative"][some]), ddof=1)) if some.sum() > 1 else 0.0
        width = np.log1p(x["relative_high"][some]) - np.log1p(x["relative_low"][some])
        row["relative_width"] = finite(float(np.mean(width)) / (2 * Z * spread)) if spread else None
    valued = np.isfinite(x["value_low"])
    if valued.any():
        row |= _coverage("value_", x["value_low"][valued], x["value_high"][valued], b)
    tested = np.isfinite(x["p"])
    row["found"] = float((x["p"][tested] <= LEVEL).mean()) if tested.any() else None
    row["tested"] = float(tested.mean())
    row["null"] = segment == "all" and metric.partition("@")[0] in EXACT_NULLS.get(candidate, ())
    if sd > 0:
        row["expected_power"] = _power(true / sd)
    return row


def _coverage(prefix: str, low: Any, high: Any, true: float) -> Row:
    """How often the interval holds the truth, lies above it, lies below it."""
    if not len(low):
        return {f"{prefix}coverage": None}
    slack = 1e-12 * max(1.0, abs(true))
    above, below = float((low > true + slack).mean()), float((high < true - slack).mean())
    return {
        f"{prefix}coverage": 1 - above - below,
        f"{prefix}above": above,
        f"{prefix}below": below,
    }


def _power(effect: float) -> float:
    """Of a two-sided test at 5 %, if the estimate is normal around ``effect`` standard errors."""
    return sum(0.5 * math.erfc((Z + sign * effect) / math.sqrt(2)) for sign in (1, -1))


def verdicts(result: Result) -> list[Row]:
    """By candidate: the share of each verdict under the guardrails of the launch, and which bounds it truly crosses."""
    rows = []
    for i, candidate in enumerate(result.setting.sources):
        share = np.bincount(result.outcome.verdicts[:, i], minlength=len(VERDICTS))
        crossed = [name for name in LAUNCH if _crosses(result, candidate, name)]
        rows.append(
            {
                "candidate": candidate, "truly_crossed": crossed,
                **dict(zip(VERDICTS, (share / share.sum()).tolist(), strict=True)),
            }
        )  # fmt: skip
    return rows


def _crosses(result: Result, candidate: str, name: str) -> bool:
    a, b = result.truth[candidate, f"{name}@{K}", "all"]
    bound = LAUNCH[name]
    change = b / a - 1 if bound.get("relative") else b - a
    return change < -bound["max_drop"] if "max_drop" in bound else change > bound["max_rise"]


def bounds(result: Result) -> list[Row]:
    """By candidate: how often a guardrail whose bound is the true change is called, one way or the other."""
    rows = []
    for candidate, statuses in result.outcome.on_the_bound.items():
        breached, held = (statuses == STATUSES.index(s) for s in ("breached", "held"))
        rows.append(
            {
                "candidate": candidate, "any_breached": float(breached.any(1).mean()),
                "any_held": float(held.any(1).mean()), "any_called": float((breached | held).any(1).mean()),
                "breached": dict(zip(LAUNCH, breached.mean(0).tolist(), strict=True)),
                "held": dict(zip(LAUNCH, held.mean(0).tolist(), strict=True)),
            }
        )  # fmt: skip
    return rows


def allowance(rate: float, audits: int) -> float:
    """Three standard errors of a share: what the finite number of audits may add."""
    return 3 * math.sqrt(rate * (1 - rate) / audits)


def judged(row: Row) -> bool:
    """Whether the limits are for this row: all users, and an interval in most audits.

    Of ``mirror`` only what the models share is meant: hardly anybody finds anything relevant there.
    """
    if row["candidate"] == "mirror" and row["kind"] != "system":
        return False
    return row["segment"] == "all" and row["with_interval"] >= FEWEST


def failures(found: Row) -> list[str]:
    """What lies outside its limits by more than the number of audits explains."""
    out = []
    for series in found["series"]:
        where = f"{series['world']}, {series['users']:,} users"
        for row in filter(judged, series["intervals"]):
            low, high = LIMITS[row["kind"]]
            n = row["audits"] * row["with_interval"]
            name = f"{where}: {row['candidate']} {row['metric']}"
            for prefix in ("", "relative_", "value_"):
                held = row.get(f"{prefix}coverage")
                if held is not None and not low - allowance(low, n) <= held <= high + allowance(
                    high, n
                ):
                    out.append(f"{name}: {prefix}coverage {held:.3f}, not {low} to {high}")
            # The spread of such audits is itself known to so much.
            if row.get("width", 0) > WIDEST * (1 + 3 / math.sqrt(2 * n)):
                out.append(f"{name}: {row['width']:.2f} times as wide as ideal")
            if (
                row["null"]
                and row["found"] is not None
                and row["found"] > LEVEL + allowance(LEVEL, n)
            ):
                out.append(f"{name}: false alarms {row['found']:.3f}")
            planted = PLANTED.get(row["candidate"]) == row["metric"]
            if planted and abs(row["found"] - row["expected_power"]) > 0.03 + allowance(0.8, n):
                out.append(f"{name}: found {row['found']:.3f}, not {row['expected_power']:.3f}")
        for row in series["verdicts"]:
            if not row["truly_crossed"] and row["fail"] > LEVEL + allowance(
                LEVEL, series["audits"]
            ):
                out.append(
                    f"{where}: {row['candidate']} fails in {row['fail']:.3f}, truly within bounds"
                )
        for row in series["bounds"]:
            if row["any_breached"] > LEVEL + allowance(LEVEL, series["audits"]):
                out.append(
                    f"{where}: {row['candidate']} on the bounds: breached in {row['any_breached']:.3f}"
                )
    return out
