"""From what was measured and compared to the result: what is told beside the numbers, and the judgment."""

from __future__ import annotations

from collections.abc import Sequence

from audit.asking import Settings, as_of, info, with_guardrails
from audit.click_records import ClickEvidence
from audit.engine import Outcome
from audit.exhibits import make_exhibits
from audit.findings import Evidence, judge
from audit.findings.families import families
from audit.inference.compare import Comparer
from audit.inference.readings import Reader
from audit.inference.tradeoff import tradeoff_of
from audit.records import (
    issue_of,
    metric_of,
    model_of,
    ordered,
    population_of,
    sources_of,
    versions,
)  # fmt: skip
from audit.result import AuditResult, Comparison, Measurement, Unavailable
from audit.robustness import Robustness
from audit.segments import segments_of, small_cells
from audit.staleness import staleness_of


def conclude(
    settings: Settings, candidates: Sequence[str], found: Outcome, comparer: Comparer,
    measurements: list[Measurement], comparisons: list[Comparison], clicks: ClickEvidence | None,
) -> AuditResult:  # fmt: skip
    """Add what a reader needs beside the numbers, and judge.

    Parameters
    ----------
    comparer, measurements, comparisons
        Of what was measured, and all that it made.
    clicks
        The models by clicks, where there is a log.
    """
    inputs, dataset, plan, measured = found.inputs, found.overview, found.plan, found.measured
    reader = Reader(comparer)
    segments = segments_of(inputs, dataset, plan, with_guardrails(settings))
    noticed = [*found.issues, *small_cells(segments, inputs.names)]
    evidence = Evidence(
        audit=info(settings, candidates, as_of(settings, dataset)),
        population=population_of(inputs, dataset, measured),
        models=[model_of(name, dataset, plan, measured) for name in dataset.models],
        metrics=[
            metric_of(ref, settings.conventions)
            for ref in plan.refs
            if ref not in measured.unavailable
        ],
        measurements=measurements,
        comparisons=comparisons,
        exhibits=make_exhibits(dataset, plan, measured, settings.headline, settings.seed),
        issues=[issue_of(i) for i in ordered(noticed)],
        unavailable=[
            Unavailable(metric=str(r), reason=why) for r, why in measured.unavailable.items()
        ],
        robustness=Robustness(
            model_ties=reader.model_ties(), ties=reader.ties(),
            judged_apart=reader.judged_apart, judged=reader.judged(), judgments=reader.judgments(),
            staleness=staleness_of(dataset, plan, measured),
        ),
        by=segments,
        tradeoff=tradeoff_of(comparer, comparisons, settings.headline),
    )  # fmt: skip
    judgment = judge(evidence, settings.guardrails, settings.rules)
    return AuditResult(
        audit=evidence.audit, population=evidence.population, models=list(evidence.models),
        conventions=settings.conventions.model_dump(mode="json"), metrics=list(evidence.metrics),
        measurements=measurements, comparisons=comparisons,
        guardrail_results=judgment.guardrail_results, findings=judgment.findings,
        verdicts=judgment.verdicts, exhibits=evidence.exhibits, issues=list(evidence.issues),
        unavailable=list(evidence.unavailable), sources=sources_of(inputs, dataset), versions=versions(),
        robustness=evidence.robustness, declaration=judgment.declaration, segments=segments,
        families=families(candidates, comparisons, judgment.guardrail_results), clicks=clicks,
        tradeoff=evidence.tradeoff, rules=judgment.rules,
    )  # fmt: skip
