"""Runs the series on several processes; what comes out depends on neither their number nor their order."""

from __future__ import annotations

import functools
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np

from benchmarks.simulation.alternatives import BATCH, measure, summed
from benchmarks.simulation.audits import LAUNCH, Outcome, Setting, audits, names, points, true_means
from benchmarks.simulation.plan import (
    MAIN,
    OTHER_USERS,
    OTHERS,
    PILOT,
    PLANTED,
    SEED,
    TRUTH,
    Series,
)
from benchmarks.simulation.population import PLAIN, SYSTEMS, Sources
from benchmarks.simulation.world import K

MANY = 10_000
CHUNK = 20
"""Audits a task."""
POWER = 1.959964 + 0.841621
"""Standard errors that an effect has to measure to be found at 5 % (two-sided) with 80 % power."""
STRENGTHS = (0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.6, 1.0)


@dataclass(frozen=True)
class Result:
    """All outcomes of a series, and the truth."""

    series: Series
    setting: Setting
    truth: dict[tuple[str, str, str], tuple[float, float]]
    """By candidate, metric and segment: the baseline's true value and the candidate's."""
    outcome: Outcome
    seconds: float


Say = Callable[[str], None]
Keep = Callable[[dict[str, Any]], None]


def run(
    series: Sequence[Series], *, processes: int = 2, seed: int = SEED, truth: int = TRUTH,
    pilot: int = PILOT, others: int = OTHERS, before: Mapping[str, Any] | None = None,
    keep: Keep = lambda _: None, say: Say = lambda _: None,
) -> dict[str, Any]:  # fmt: skip
    """Simulate every series.

    Parameters
    ----------
    truth, pilot
        Further audits, without intervals.
    others
        Audits by which other intervals are held against ours.
    before
        The record of an earlier run: what it holds is not simulated again.
    keep
        Called with the record so far, after each series.

    Returns
    -------
    The record: see :mod:`benchmarks.simulation.summary`.
    """
    from benchmarks.simulation.summary import series_record

    done = {_key(s): s for s in (before or {}).get("series", [])}
    found: dict[str, Any] = {
        "seed": seed, "alternatives": (before or {}).get("alternatives", []), "series": [],
    }  # fmt: skip
    if before is not None and before["seed"] != seed:
        raise ValueError(f"the earlier run's seed was {before['seed']}, not {seed}")
    with _pool(processes) as pool:
        if others and not found["alternatives"]:
            found["alternatives"] = _alternatives(pool, seed, others, say)
            keep(found)
        for one in series:
            key = (one.name, one.spec.name, one.users, one.audits)
            if key not in done:
                done[key] = series_record(_series(pool, one, seed, truth, pilot, say))
            found["series"].append(done[key])
            keep(found)
    return found


def _key(record: Mapping[str, Any]) -> tuple[str, str, int, int]:
    return record["name"], record["world"], record["users"], record["audits"]


@contextmanager
def _pool(processes: int) -> Iterator[Executor | None]:
    """``None``: in this process."""
    if processes == 1:
        yield None
        return
    # One thread for each process: they are as many as there are processors.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield pool


def _alternatives(pool: Executor | None, seed: int, number: int, say: Say) -> list[dict[str, Any]]:
    begun = time.perf_counter()
    task = functools.partial(measure, OTHER_USERS, seed)
    batches = [[i] for i in range(-(-number // BATCH))]
    rows = summed(list(_map(pool, task, batches)), OTHER_USERS)
    say(f"other intervals: {time.perf_counter() - begun:.0f} s")
    return rows


def _map(pool: Executor | None, task: Callable[[Any], Any], parts: Sequence[Any]) -> Iterator[Any]:
    return map(task, parts) if pool is None else pool.map(task, parts)


def _series(
    pool: Executor | None, series: Series, seed: int, truth: int, pilot: int, say: Say
) -> Result:
    begun = time.perf_counter()
    sources = _planted(pool, series, seed, pilot) if series.planted else MAIN
    setting = Setting(series.spec, series.users, seed, sources)
    # Of many users an audit varies little, and takes long.
    true = _truth(pool, setting, truth if series.users < MANY else truth // 4)
    bounds = {c: _bounds(true, c) for c in ("near", "different") if series.name == "models"}
    setting = Setting(
        series.spec,
        series.users,
        seed,
        sources,
        bounds,
        cells=not series.planted,
        stream=series.name,
    )
    parts = list(_each(pool, functools.partial(audits, setting), series.audits))
    outcome = Outcome(
        parts[0].keys,
        np.concatenate([p.values for p in parts]),
        np.concatenate([p.verdicts for p in parts]),
        {c: np.concatenate([p.on_the_bound[c] for p in parts]) for c in bounds},
    )
    seconds = time.perf_counter() - begun
    say(f"{series.key}: {series.audits} audits, {seconds:.0f} s")
    return Result(series, setting, true, outcome, seconds)


def _each(pool: Executor | None, task: Callable[[range], Any], number: int) -> Iterator[Any]:
    chunks = [range(at, min(at + CHUNK, number)) for at in range(0, number, CHUNK)]
    return _map(pool, task, chunks)


def is_null(model: str) -> bool:
    """Whether a model has the baseline's distribution of every measure of concentration and coverage."""
    return model in ("same", "mirror")


def _planted(pool: Executor | None, series: Series, seed: int, pilot: int) -> Sources:
    """``mirror``, and for each planted metric the mixture in which it moves by what is found with 80 % power."""
    tried: Sources = {f"{s:g}": ("different", "same", s) for s in STRENGTHS}
    setting = Setting(series.spec, series.users, seed, tried)
    values = np.concatenate(list(_each(pool, functools.partial(points, setting, "pilot"), pilot)))
    moved = values[:, 1:] - values[:, :1]
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.abs(moved.mean(0)) / moved.std(0, ddof=1)
    planted: dict[str, tuple[str, str, float]] = {"mirror": PLAIN["mirror"]}
    for name, metric in PLANTED.items():
        found = size[:, names().index(metric)]
        usable = np.isfinite(found) & (found > 0)
        # Through noise a line: the effect grows with the share, its noise hardly.
        scale = float(np.median(found[usable] / np.array(STRENGTHS)[usable])) if usable.any() else 0
        share = min(1.0, POWER / scale) if scale > 0 else 1.0
        planted[name] = ("different", "same", float(f"{share:.3g}"))
    return planted


def _truth(
    pool: Executor | None, setting: Setting, number: int
) -> dict[tuple[str, str, str], tuple[float, float]]:
    """Means of the whole population; of system functionals, the mean over further audits of this size."""
    means = true_means(setting)
    found = {
        (model, metric, segment): (means["baseline", metric, segment], value)
        for (model, metric, segment), value in means.items()
        if model != "baseline"
    }
    values = np.concatenate(list(_each(pool, functools.partial(points, setting, "truth"), number)))
    expected = values.mean(0)
    for i, metric in enumerate(names()):
        if metric.partition("@")[0] not in SYSTEMS:
            continue
        for j, model in enumerate(setting.sources, start=1):
            a, b = float(expected[0, i]), float(expected[j, i])
            found[model, metric, "all"] = ((a + b) / 2,) * 2 if is_null(model) else (a, b)
    return found


def _bounds(
    truth: dict[tuple[str, str, str], tuple[float, float]], candidate: str
) -> dict[str, dict[str, Any]]:
    """The guardrails of the launch, with the true change as the bound: there errors are most likely."""
    found = {}
    for name, guardrail in LAUNCH.items():
        a, b = truth[candidate, f"{name}@{K}", "all"]
        relative = bool(guardrail.get("relative"))
        change = b / a - 1 if relative else b - a
        kind = "max_drop" if change < 0 else "max_rise"
        found[name] = {kind: abs(change), **({"relative": True} if relative else {})}
    return found


def finite(x: float) -> float | None:
    """For JSON."""
    return float(x) if math.isfinite(x) else None
