"""Was the gain to be had without the harm?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from audit.dataset.model import F64
from audit.metrics.registry import MetricRef
from audit.rerank.sweep import AS_IT_IS, CHOOSE, REPORT, Setting
from audit.result import Comparison, Finding


@dataclass(frozen=True)
class Repair:
    """One way to keep the gain and undo the harm."""

    source: str
    method: str
    strength: float
    """As most splits chose it."""
    kept: float
    """Share of the candidate's gain over the baseline, on the users who did not choose; the mean over splits."""
    undone: float
    """Share of its harm that is gone, likewise; above 1 where the baseline is surpassed."""
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def setting(self) -> Setting:
        """The point it is."""
        return Setting(self.source, self.method, self.strength)

    def with_metrics(
        self, metrics: Mapping[str, float | None], differences: Mapping[tuple[str, str], Comparison], refs: Sequence[MetricRef]
    ) -> Repair:  # fmt: skip
        """With what is measured there, and the intervals of its differences from the baseline."""
        ends = {}
        for ref in refs:
            c = differences.get((self.setting.name, str(ref)))
            if c is not None and c.ci_low is not None and c.ci_high is not None:
                ends[str(ref)] = (c.ci_low, c.ci_high)
        return replace(self, metrics=metrics, intervals=ends)


def repairs(
    points: Sequence[Setting], axes: F64, baseline: str, candidate: str, keep: float
) -> list[Repair]:
    """The best repair of each source and method, the best first; empty where the candidate has no gain, or did no harm.

    Per split, a method's strength is the one that undoes most of the harm among those that keep at least ``keep`` of the gain, on the half that
    chooses.  A method that no strength of which keeps enough there is none.

    Parameters
    ----------
    axes
        ``[points, 2, splits, halves]``: headline and measure, greater is better.
    """
    a, b = points.index(Setting(baseline)), points.index(Setting(candidate))
    whole = axes.mean(-1).mean(-1)
    if whole[b, 0] <= whole[a, 0] or whole[b, 1] >= whole[a, 1]:
        return []
    gain, harm = axes[b, 0] - axes[a, 0], axes[a, 1] - axes[b, 1]  # [splits, halves]
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = (axes[:, 0] - axes[a, 0]) / np.where(gain > 0, gain, np.nan)
        undone = (axes[:, 1] - axes[b, 1]) / np.where(harm > 0, harm, np.nan)
    found: list[tuple[float, Repair]] = []
    ways = dict.fromkeys((p.source, p.method) for p in points if p.method != AS_IT_IS)
    for source, name in ways:
        own = [i for i, p in enumerate(points) if (p.source, p.method) == (source, name)]
        chosen, told = [], []
        for split in range(axes.shape[2]):
            able = [i for i in own if kept[i, split, CHOOSE] >= keep]
            if able:
                best = max(able, key=lambda i: (undone[i, split, CHOOSE], -points[i].strength))
                chosen.append(best)
                told.append(
                    (
                        kept[best, split, REPORT],
                        undone[best, split, REPORT],
                        undone[best, split, CHOOSE],
                    )
                )
        if 2 * len(chosen) < axes.shape[2] or not chosen:
            continue
        usual = max(sorted(set(chosen)), key=chosen.count)
        sound = np.array(told)
        sound = sound[
            np.isfinite(sound).all(1)
        ]  # a half on which the candidate gains nothing tells nothing
        if not len(sound):
            continue
        mean = sound.mean(0)
        if mean[1] > 0:
            repair = Repair(source, name, points[usual].strength, float(mean[0]), float(mean[1]))
            found.append((float(mean[2]), repair))
    return [repair for _, repair in sorted(found, key=lambda pair: -pair[0])]


def better_on_both(
    points: Sequence[Setting], axes: F64, candidate: Setting, most: int = 3
) -> list[Setting]:
    """The reranks that beat the candidate on both measures on the half that chooses: those that do so by most, first."""
    choose, whole = axes[..., CHOOSE].mean(-1), axes.mean((-1, -2))
    b = points.index(candidate)
    ahead = ((choose - choose[b]) / np.maximum(np.abs(whole[b]), 1e-12)).min(1)
    able = [i for i, p in enumerate(points) if p.method != AS_IT_IS and ahead[i] > 0]
    return [points[i] for i in sorted(able, key=lambda i: -ahead[i])[:most]]


def findings(
    two: Sequence[MetricRef], baseline: str, candidate: str, ranked: Sequence[Repair], rivals: Sequence[Setting],
    beside: Mapping[tuple[str, str], Comparison],
) -> list[Finding]:  # fmt: skip
    """``cheap_repair`` and ``dominated_candidate``, where there is something to say.

    Parameters
    ----------
    rivals
        Of :func:`better_on_both`.
    beside
        How they differ from the candidate on the half that reports.
    """
    found = []
    if ranked:
        found.append(_cheap_repair(ranked[0], two, candidate, baseline))
    certain = [point for point in rivals if _certain(point, two, beside)]
    if certain:
        found.append(_dominated(certain[0], two, candidate, beside))
    return found


def _certain(
    point: Setting, two: Sequence[MetricRef], beside: Mapping[tuple[str, str], Comparison]
) -> bool:
    """On the users who did not choose: better on both, and the intervals say so."""
    for ref in two:
        c = beside.get((point.name, str(ref)))
        if c is None or c.ci_low is None or c.ci_high is None:
            return False
        if not (c.ci_low > 0 if ref.spec.direction == "higher" else c.ci_high < 0):
            return False
    return True


def _cheap_repair(
    repair: Repair, two: Sequence[MetricRef], candidate: str, baseline: str
) -> Finding:
    headline, against = (ref.spec.title for ref in two)
    whose = "its own" if repair.source == candidate else f"'{repair.source}''s"
    return Finding(
        rule="cheap_repair", severity="warn", model=candidate,
        question="Was the gain to be had without the harm?",
        condition="A rerank keeps the stated share of the candidate's gain on the half of the users that chose its strength, and undoes harm on the other half.",
        title=f"{repair.kept:.0%} of the gain was to be had with {repair.undone:.0%} of the harm undone",
        evidence={
            "How": f"{repair.method} of strength {repair.strength:g} on {whose} candidates",
            f"{headline} gained over '{baseline}' and kept": f"{repair.kept:.0%}",
            f"{against} lost and won back": f"{repair.undone:.0%}",
        },
        meaning="The harm is not the price of the gain. Launching the candidate as it is takes from the tail what nobody needed to lose.",
        advice=f"Rerank before launch: recaudit rerank --method {repair.method} --strength {repair.strength:g}; then audit the result as a candidate of its own.",
    )  # fmt: skip


def _dominated(
    point: Setting,
    two: Sequence[MetricRef],
    candidate: str,
    beside: Mapping[tuple[str, str], Comparison],
) -> Finding:
    evidence = {
        "How": f"{point.method} of strength {point.strength:g} on the candidates of '{point.source}'"
    }
    for ref in two:
        c = beside[point.name, str(ref)]
        evidence[str(ref)] = (
            f"{c.baseline:.4f} → {c.candidate:.4f} (95 % interval of the difference {c.ci_low:.4f} to {c.ci_high:.4f})"
        )
    return Finding(
        rule="dominated_candidate", severity="warn", model=candidate,
        question="Is there a list that is better on both?",
        condition="A rerank, chosen on half of the users, is better than the candidate on both measures for the other half, and both 95 % intervals exclude 0.",
        title=f"A rerank of '{point.source}' is better than '{candidate}' on both measures", evidence=evidence,
        meaning="There is nothing to trade: the candidate gives up one thing and gets nothing for it that a rerank would not give as well.",
        advice="Do not launch it as it is; audit the rerank instead.",
    )  # fmt: skip
