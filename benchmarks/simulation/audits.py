"""One audit after another: drawn, compared and judged by the product, and set beside the truth."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audit.findings import Evidence, judge
from audit.inference.mean_comparison import t_quantile
from audit.inference.means import grid_interval
from audit.result import AuditInfo, Comparison, Exhibits, MeanEvidence
from audit.result import Population as People
from benchmarks.simulation import world
from benchmarks.simulation.population import DERIVED, MEANS, SYSTEMS, Population, Sources
from benchmarks.simulation.world import K

FIELDS = (
    "difference", "low", "high", "relative", "relative_low", "relative_high", "p",
    "value_low", "value_high", "least", "identical",
)  # fmt: skip
"""What is kept of a comparison; NaN where it has none."""

LAUNCH: Mapping[str, Any] = {
    "ndcg": {"max_drop": 0.02, "relative": True},
    "tail_share": {"max_drop": 0.10, "relative": True},
    "catalog_coverage": {"max_drop": 0.10, "relative": True},
    "creator_coverage": {"max_drop": 0.10, "relative": True},
    "creator_gini": {"max_rise": 0.02},
    "item_gini": {"max_rise": 0.02},
}
"""The profile ``launch``, but for what needs embeddings and for novelty."""

VERDICTS = ("pass", "warn", "inconclusive", "fail")
STATUSES = ("held", "breached", "undecided")
STREAMS = {"pilot": 1, "truth": 2, "models": 3, "planted": 4, "segments": 5}
HEADLINE = f"ndcg@{K}"


@dataclass(frozen=True)
class Setting:
    """What a run of audits has in common."""

    spec: world.Spec
    users: int
    seed: int
    sources: Sources
    bounds: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By candidate, guardrails whose bounds are the true changes."""
    cells: bool = True
    """Whether segments are compared too."""
    stream: str = "models"
    """Of the users drawn."""


@functools.lru_cache(maxsize=2)
def population(spec: world.Spec) -> Population:
    """A world, drawn and measured: once a process."""
    return Population.of(world.draw(spec))


def _drawn(setting: Setting, stream: str, number: int, *, jackknife: bool) -> Any:
    rng = np.random.default_rng([setting.seed, STREAMS[stream], setting.users, number])
    p = population(setting.spec)
    users, pick = rng.integers(len(p), size=setting.users), rng.random(setting.users)
    return p.sample(
        users, pick, setting.sources, jackknife=jackknife, cells=setting.cells and jackknife
    )


# ------------------------------------------------------------------------------------ points only


def names() -> list[str]:
    """The metrics at K, in the order of every array."""
    return [f"{name}@{K}" for name in (*MEANS, *DERIVED, *SYSTEMS)]


def points(setting: Setting, stream: str, numbers: Sequence[int]) -> Any:
    """``[audits, models, metrics]``: values without intervals, baseline first."""
    out = []
    for number in numbers:
        sample = _drawn(setting, stream, number, jackknife=False)
        comparer = sample.comparer(0)
        systems = comparer.wanted("system")
        assert [str(ref) for ref in systems] == names()[len(MEANS) + len(DERIVED) :]
        each = []
        for model in ("baseline", *setting.sources):
            total = sample.measured.partials.lists[model, 0].total()
            with np.errstate(divide="ignore", invalid="ignore"):
                means = total.sums()[0] / total.count[0]
                rank = 1 / means[MEANS.index("mrr")]
            each.append([*means, rank, *(comparer.exact(model, ref)[0] for ref in systems)])
        out.append(each)
    return np.array(out)


def true_means(setting: Setting) -> dict[tuple[str, str, str], float]:
    """By model, metric and segment: the mean over the whole population, mixtures included."""
    p = population(setting.spec)
    cells = {"all": np.ones(len(p), bool)}
    for code, name in enumerate(p.overview.cells["activity"][1]):
        cells[f"activity={name}"] = p.activity == code
    found = {}
    for model, (one, other, share) in {
        "baseline": ("baseline", "baseline", 1.0),
        **setting.sources,
    }.items():
        for segment, inside in cells.items():
            sums, counts = (
                share * a + (1 - share) * b
                for a, b in zip(*(_of(p.exact[m], inside) for m in (one, other)), strict=True)
            )
            for metric, value in zip(MEANS, sums / counts, strict=True):
                found[model, f"{metric}@{K}", segment] = float(value)
            found[model, f"effective_rank@{K}", segment] = 1 / found[model, f"mrr@{K}", segment]
    return found


def _of(exact: Any, inside: Any) -> tuple[Any, Any]:
    return exact.sums()[inside].sum(0), exact.count[inside].sum(0)


# ------------------------------------------------------------------------------------ whole audits


@dataclass
class Outcome:
    """What came of some audits."""

    keys: list[tuple[str, str, str]]
    """Candidate, metric and segment."""
    values: Any
    """``[audits, keys, FIELDS]``."""
    verdicts: Any
    """``[audits, candidates]``: position in :data:`VERDICTS`, under the guardrails of :data:`LAUNCH`."""
    on_the_bound: dict[str, Any]
    """By candidate ``[audits, guardrails]``: position in :data:`STATUSES`."""


def audits(setting: Setting, numbers: Sequence[int]) -> Outcome:
    """Draw, compare and judge; audit ``number`` is the same whichever process draws it."""
    values, verdicts = [], []
    bounds: dict[str, list[list[int]]] = {c: [] for c in setting.bounds}
    keys: list[tuple[str, str, str]] = []
    for number in numbers:
        sample = _drawn(setting, setting.stream, number, jackknife=True)
        measurements, comparisons = sample.comparer(number).all()
        keys = [(c.model, c.metric, c.segment) for c in comparisons]
        values.append([_fields(c) for c in comparisons])
        evidence = _evidence(list(setting.sources), setting.users, measurements, comparisons)
        judged = judge(evidence, {"profile": "none", **LAUNCH})
        verdicts.append([VERDICTS.index(v.verdict) for v in judged.verdicts])
        for candidate, guardrails in setting.bounds.items():
            one = _evidence([candidate], setting.users, measurements, comparisons)
            results = judge(one, {"profile": "none", **guardrails}).guardrail_results
            bounds[candidate].append([STATUSES.index(g.status) for g in results])
    return Outcome(
        keys, np.array(values), np.array(verdicts), {c: np.array(b) for c, b in bounds.items()}
    )


def _fields(c: Comparison) -> list[float]:
    value: tuple[float | None, float | None] = (None, None)
    if isinstance(c.evidence, MeanEvidence):
        value = grid_interval(np.asarray(c.evidence.candidate), 0.95)
    elif c.evidence is not None and c.candidate is not None:
        half = t_quantile(c.evidence.df) * c.evidence.candidate_se
        value = c.candidate - half, c.candidate + half
    found = [
        c.difference, c.ci_low, c.ci_high, c.relative, c.relative_low, c.relative_high, c.p_value,
        *value, c.least_detectable, float(c.identical),
    ]  # fmt: skip
    return [math.nan if x is None else float(x) for x in found]


def _evidence(
    candidates: list[str], users: int, measurements: Any, comparisons: Sequence[Comparison]
) -> Evidence:
    info = AuditInfo(
        name="simulation", surface="feed", k=[K], viewport=K, headline=HEADLINE, baseline="baseline",
        candidates=candidates,
    )  # fmt: skip
    people = People(users=users, users_with_relevant=users, items=1, catalog_given=True)
    chosen = [c for c in comparisons if c.model in candidates]
    return Evidence(
        audit=info, population=people, models=[], metrics=[], measurements=measurements,
        comparisons=chosen, exhibits=Exhibits(), issues=[], unavailable=[],
    )  # fmt: skip
