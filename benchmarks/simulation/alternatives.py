"""Intervals of means that could have been chosen, on the same audits: why it is the one that it is.

Per-user values only: lists, relevance and segments are left out, and one more measure is brought in that no list
has, an amount spent, lognormal and very skewed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from audit.inference import means
from audit.inference.mean_comparison import Values, compare_means
from audit.metrics.registry import parse
from audit.result import MeanEvidence
from benchmarks.simulation.audits import population
from benchmarks.simulation.population import MEANS
from benchmarks.simulation.world import SMALL, K, Spec

F64 = npt.NDArray[np.float64]
CANDIDATES = ("near", "different")
MEASURES = ("ndcg", "mrr", "tail_share", "spend")
METHODS = {
    "percentile": "percentile",
    "bca": "bias-corrected and accelerated (BCa)",
    "bootstrap_t": "bootstrap-t: each replicate over its own standard error",
    "student": "Student's t",
    "chosen": "percentile, nowhere narrower than Student's (chosen)",
}
BATCH = 20
"""Audits that share their weights."""
Z = 1.959964


@functools.lru_cache(maxsize=1)
def values(spec: Spec = SMALL) -> tuple[Mapping[str, F64], Mapping[str, F64]]:
    """By model ``[users, measures]``: values and whether there is one."""
    p = population(spec)
    n = len(p)
    columns = [MEANS.index(m) for m in MEASURES if m in MEANS]
    one, other = np.exp(_correlated(np.random.default_rng(spec.seed), n // 2))
    spent = {"baseline": np.concatenate([one, other]), "same": np.concatenate([other, one])}
    spent["different"] = 1.2 * spent["same"]
    some = np.random.default_rng(spec.seed + 1).random(n) < 0.1
    spent["near"] = np.where(some, 1.1 * spent["same"], spent["baseline"])
    sums, counts = {}, {}
    for model, extra in spent.items():
        sums[model] = np.column_stack([p.exact[model].sums()[:, columns], extra])
        counts[model] = np.column_stack([p.exact[model].count[:, columns], np.ones(n)])
    return sums, counts


def _correlated(rng: np.random.Generator, n: int) -> F64:
    """``[2, n]``: normal, of variance 1, correlated by 0.64."""
    shared, one, other = rng.standard_normal((3, n))
    return np.stack([0.8 * shared + 0.6 * one, 0.8 * shared + 0.6 * other])


def measure(users: int, seed: int, batches: Sequence[int]) -> dict[tuple[str, str, str], Any]:
    """By candidate, measure and what of it: ``[audits, methods, 2]``, ends less the truth."""
    sums, counts = values()
    found: dict[tuple[str, str, str], list[Any]] = {}
    for batch in batches:
        rng = np.random.default_rng([seed, users, batch])
        # The product's stream of weights, whole: its replicates are made of the same.
        weights = np.concatenate(list(means.poisson_weights(users, means.REPLICATES, batch)))
        for _ in range(BATCH):
            drawn = rng.integers(len(sums["baseline"]), size=users)
            for candidate in CANDIDATES:
                for i, name in enumerate(MEASURES):
                    a, b = sums["baseline"][drawn, i], sums[candidate][drawn, i]
                    c = counts["baseline"][drawn, i]
                    true = [
                        sums[m][:, i].sum() / counts[m][:, i].sum() for m in ("baseline", candidate)
                    ]
                    for what, ends in _ends(a, b, c, weights).items():
                        at = {"difference": true[1] - true[0], "value": true[1]}
                        at["ratio"] = math.log(true[1] / true[0])
                        found.setdefault((candidate, name, what), []).append(ends - at[what])
    return {key: np.array(ends) for key, ends in found.items()}


def _ends(a: F64, b: F64, c: F64, weights: F64) -> dict[str, F64]:
    """By what is estimated: ``[methods, 2]``."""
    total, n = c.sum(), len(c)
    point = a.sum() / total, b.sum() / total
    influence = [(x - c * m) / total * n for x, m in zip((a, b), point, strict=True)]
    joint = [weights @ x / (weights @ c) for x in (a, b)]
    estimates = {
        "difference": (point[1] - point[0], joint[1] - joint[0], influence[1] - influence[0]),
        "value": (point[1], joint[1], influence[1]),
    }
    if min(point) > 0 and min(joint[0].min(), joint[1].min()) > 0:
        ratio = influence[1] / point[1] - influence[0] / point[0]
        estimates["ratio"] = math.log(point[1] / point[0]), np.log(joint[1] / joint[0]), ratio
    chosen = _chosen(point, joint, n)
    return {
        what: np.array([*_others(*estimates[what], weights), ends])
        for what, ends in chosen.items()
        if what in estimates
    }


def _chosen(point: tuple[float, float], joint: Sequence[F64], n: int) -> dict[str, list[float]]:
    """What the product gives."""
    one, other = (Values(np.array([p]), j[None], n) for p, j in zip(point, joint, strict=True))
    found = compare_means(
        parse(f"precision@{K}"),
        "candidate",
        "all",
        one,
        other,
        1.0,
        np.array([point[1] - point[0]]),
    )
    ends: dict[str, list[Any]] = {"difference": [found.ci_low, found.ci_high]}
    if isinstance(found.evidence, MeanEvidence):
        ends["value"] = list(means.grid_interval(found.evidence.candidate, 0.95))
    if found.relative_low is not None and found.relative_low > -1:
        ends["ratio"] = [math.log1p(found.relative_low), math.log1p(found.relative_high or 0.0)]
    return {what: both for what, both in ends.items() if None not in both}


def _others(estimate: float, replicates: F64, influence: F64, weights: F64) -> list[list[float]]:
    n = len(influence)
    square = float((influence**2).sum())
    if square == 0:
        return [[estimate, estimate]] * 4
    se = math.sqrt(square / (n - 1) / n)
    tails = np.array([0.025, 0.975])
    skew = float((influence**3).sum()) / (6 * square**1.5)
    less = (replicates < estimate).mean() + (replicates == estimate).mean() / 2
    bias = float(special.ndtri(np.clip(less, 1e-4, 1 - 1e-4)))
    shifted = bias + special.ndtri(tails)
    bca = special.ndtr(bias + shifted / (1 - skew * shifted))
    drawn = weights.sum(1)
    first, second = (weights @ x / drawn for x in (influence, influence**2))
    spread = np.sqrt(np.maximum(second - first**2, 1e-12 * square / n) / drawn)
    t = np.quantile(first / spread, tails[::-1])
    half = float(special.stdtrit(n - 1, 0.975)) * se
    return [
        list(np.quantile(replicates, tails)), list(np.quantile(replicates, bca)),
        list(estimate - t * se), [estimate - half, estimate + half],
    ]  # fmt: skip


def summed(parts: Sequence[Mapping[tuple[str, str, str], Any]], users: int) -> list[dict[str, Any]]:
    """A row for each candidate, measure and kind of estimate: coverage and width by method."""
    rows = []
    for key in parts[0]:
        ends = np.concatenate([part[key] for part in parts if key in part])
        middle = ends[:, list(METHODS).index("student")].mean(axis=1)
        sd = float(middle.std(ddof=1))
        held = ((ends[..., 0] <= 1e-12) & (ends[..., 1] >= -1e-12)).mean(axis=0)
        width = np.median(ends[..., 1] - ends[..., 0], axis=0) / (2 * Z * sd)
        candidate, measure_, what = key
        rows.append(
            {
                "users": users, "candidate": candidate, "measure": measure_, "of": what,
                "audits": len(ends), "coverage": dict(zip(METHODS, held.tolist(), strict=True)),
                "width": dict(zip(METHODS, width.tolist(), strict=True)),
            }
        )  # fmt: skip
    return rows
