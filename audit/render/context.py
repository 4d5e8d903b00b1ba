"""What every section needs to know about a result: names, order, digits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from audit import formatting as fmt
from audit.render.view import Cell, KeyNumber, Tone
from audit.result import (
    AuditResult,
    Comparison,
    GuardrailResult,
    Measurement,
    MetricInfo,
    ModelVerdict,
    Reading,
    Status,
    Verdict,
)

VERDICT_LABELS: dict[Verdict, str] = {
    "pass": "Pass",
    "warn": "Pass with warnings",
    "inconclusive": "Inconclusive",
    "fail": "Fail",
}
VERDICT_TONES: dict[Verdict, Tone] = {
    "pass": "good",
    "warn": "caution",
    "inconclusive": "muted",
    "fail": "bad",
}
READING_TONES: dict[Reading, Tone] = {
    "better": "good",
    "worse": "bad",
    "no change": "",
    "undecided": "muted",
}
STATUS_TONES: dict[Status, Tone] = {
    "held": "good",
    "breached": "bad",
    "undecided": "caution",
    "not measured": "muted",
}
SEVERITY_ORDER: tuple[Verdict, ...] = ("fail", "inconclusive", "warn", "pass")


def split(metric: str) -> tuple[str, int | None]:
    """``ndcg@10`` → ``("ndcg", 10)``."""
    base, at, k = metric.rpartition("@")
    return (base, int(k)) if at and k.isdigit() else (metric, None)


def shorten(text: str, limit: int = 24) -> str:
    """``text`` on one line, cut with an ellipsis where it is longer than ``limit`` characters."""
    line = re.sub(r"[ \t\r\n\f\v\u2028\u2029]+", " ", text).strip()
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


@dataclass(frozen=True)
class Context:
    """A result with look-ups; built once for a report."""

    result: AuditResult

    @cached_property
    def models(self) -> list[str]:
        """The baseline, then the candidates in the order of the audit."""
        audit = self.result.audit
        return [audit.baseline, *audit.candidates]

    @cached_property
    def lead(self) -> ModelVerdict:
        """The candidate that decides the verdict: the first of the worst."""
        return min(self.result.verdicts, key=lambda v: SEVERITY_ORDER.index(v.verdict))

    @cached_property
    def infos(self) -> dict[str, MetricInfo]:
        """Metric without K → its definition."""
        return {info.metric: info for info in self.result.metrics}

    @cached_property
    def viewport(self) -> int:
        """The K of the report."""
        return self.result.audit.viewport

    @cached_property
    def _measured(self) -> dict[tuple[str, str, str], Measurement]:
        return {(m.model, m.metric, m.segment): m for m in self.result.measurements}

    def reason(self, verdict: ModelVerdict) -> str:
        """The reason without the verdict's name before it, which stands beside it anyway."""
        first, colon, rest = verdict.reason.partition(": ")
        named = first.lower() in (verdict.verdict, VERDICT_LABELS[verdict.verdict].lower())
        if not (colon and named):
            return verdict.reason
        word = rest.split(" ", 1)[0]
        return rest[:1].upper() + rest[1:] if word.isalpha() else rest

    def at(self, base: str) -> str:
        """``base`` at the viewport."""
        return f"{base}@{self.viewport}"

    def title(self, metric: str) -> str:
        """``ndcg@10`` → ``NDCG@10``; a metric without a title goes by its name."""
        base, k = split(metric)
        info = self.infos.get(base)
        title = (info.title if info else "") or base
        title = title[:1].upper() + title[1:]
        return title if k is None else f"{title}@{k}"

    def measurement(self, model: str, metric: str, segment: str = "all") -> Measurement | None:
        """What was measured, or ``None``."""
        return self._measured.get((model, metric, segment))

    def comparison(self, model: str, metric: str, segment: str = "all") -> Comparison | None:
        """A comparison that has both values, or ``None``."""
        found = self.result.comparison(model, metric, segment)
        if found is None or found.baseline is None or found.candidate is None:
            return None
        return found

    def guardrails(self, model: str) -> list[GuardrailResult]:
        """The guardrails of ``model``, worst first."""
        order: tuple[Status, ...] = ("breached", "undecided", "not measured", "held")
        mine = [g for g in self.result.guardrail_results if g.model == model]
        return sorted(mine, key=lambda g: (order.index(g.status), g.severity != "fail"))

    def why_missing(self, base: str) -> str:
        """Why ``base`` was not measured, as a sentence, or an empty string."""
        for entry in self.result.unavailable:
            if split(entry.metric)[0] == base:
                return entry.reason.rstrip(".") + "."
        return ""

    def digits(self, c: Comparison) -> int | None:
        """Decimals for the values of one comparison: those of its interval, or of its larger value."""
        width = fmt.decimals(c.ci_low, c.ci_high)
        if width is not None:
            return width
        largest = max(abs(v) for v in (c.baseline or 0.0, c.candidate or 0.0))
        shown = fmt.number(largest)
        return len(shown.partition(".")[2]) if "e" not in shown and largest else None

    def key_number(self, c: Comparison) -> KeyNumber:
        """``c`` as a tile: the change, from what to what, and how it reads."""
        digits = self.digits(c)
        unbounded = c.relative_low is None and c.ci_low is not None
        if c.relative is None or unbounded:
            change = fmt.signed(c.difference, digits)
            spread = fmt.interval(c.ci_low, c.ci_high, digits, sign=True)
        else:
            change = relative_change(c)
            spread = fmt.interval(c.relative_low, c.relative_high, as_percent=True, sign=True)
        return KeyNumber(
            label=self.title(c.metric),
            value=change,
            interval="" if spread == fmt.MISSING else f"95{fmt.SPACE}% interval {spread}",
            detail=f"{fmt.number(c.baseline, digits)} → {fmt.number(c.candidate, digits)}",
            reading=c.reading,
            tone=READING_TONES[c.reading],
        )

    @cached_property
    def key_metrics(self) -> list[str]:
        """Up to five metrics that carry the verdict: the headline, then guardrails, worst first."""
        usual = [self.at(b) for b in ("tail_share", "catalog_coverage", "item_gini", "creator_gini",
                                      "creator_coverage", "ild", "novelty", "mean_age")]  # fmt: skip
        wanted = [self.result.audit.headline]
        wanted += [self.at("tail_share")]
        wanted += [g.metric for g in self.guardrails(self.lead.model) if g.status != "not measured"]
        wanted += usual
        found = dict.fromkeys(
            m for m in wanted if self.comparison(self.lead.model, m) and not m.count("_by_count")
        )
        return list(found)[:5]


def reading_cell(c: Comparison) -> Cell:
    """How a comparison reads, as a cell."""
    return Cell(text=c.reading, tone=READING_TONES[c.reading])


def relative_change(c: Comparison) -> str:
    """The relative change in per cent, to its interval's digits."""
    if c.relative is None:
        return fmt.MISSING
    low, high = c.relative_low, c.relative_high
    digits = None if low is None or high is None else fmt.decimals(100 * low, 100 * high)
    return fmt.percent(c.relative, digits, sign=True)


def listing(names: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(names) < 2:
        return "".join(names)
    return ", ".join(names[:-1]) + " and " + names[-1]
