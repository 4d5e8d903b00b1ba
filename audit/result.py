"""The result of an audit: the one source of truth, saved as ``audit.json``.

Everything a report, a gate or a reviewer needs is here, and nothing else is: no user id, no
wall-clock time, nothing that depends on how the work was cut.  Renderers read this and compute
nothing.  Changing a field's meaning changes :data:`SCHEMA_VERSION`.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from audit.click_records import ClickEvidence
from audit.exhibit_records import (
    Balance,
    CategoryShare,
    Exhibits,
    Fatigue,
    GroupExposure,
    Joint,
    Loser,
    LostGained,
    NearDuplicates,
    Reading,
    Record,
    SegmentContrast,
    SegmentGap,
    Series,
    UserChanges,
    UsersShown,
)
from audit.guardrail import Kind
from audit.robustness import Robustness
from audit.tradeoff import ExchangeRate, Standing, Tradeoff

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "READS",
    "SCHEMA_VERSION",
    "AuditInfo",
    "AuditResult",
    "Balance",
    "CategoryShare",
    "Comparison",
    "Declaration",
    "ExchangeRate",
    "Exhibits",
    "Family",
    "Fatigue",
    "Finding",
    "FindingSeverity",
    "GroupExposure",
    "GuardrailResult",
    "Issue",
    "Joint",
    "Loser",
    "LostGained",
    "MeanEvidence",
    "Measurement",
    "MetricInfo",
    "ModelInfo",
    "ModelVerdict",
    "NearDuplicates",
    "Population",
    "Reading",
    "Record",
    "Robustness",
    "RuleInfo",
    "SegmentContrast",
    "SegmentGap",
    "SegmentInfo",
    "Series",
    "Source",
    "Standing",
    "Status",
    "SystemEvidence",
    "Tradeoff",
    "Unavailable",
    "UserChanges",
    "UsersShown",
    "Verdict",
    "json_schema",
    "load_result",
]

SCHEMA_VERSION = "1.2"
READS = ("1.0", "1.1", SCHEMA_VERSION)
"""The versions that can be read: 1.1 added `robustness`, and the exhibits of creator groups, gaps and sessions;
1.2 `declaration`, `segments`, limits, target and evidence of guardrails, least detectable differences, corrections for many questions,
and how many users were shown what, winners beside losers, how users fare, categories, and how two changes go together,
the trade-off, what segments gain beside each other, and the rules that were asked."""

Verdict = Literal["pass", "warn", "inconclusive", "fail"]
Status = Literal["held", "breached", "undecided", "not measured"]
FindingSeverity = Literal["fail", "warn", "info"]


class AuditInfo(Record):
    """What was asked."""

    name: str
    surface: str
    k: list[int]
    viewport: int
    headline: str
    """The relevance metric that the verdict turns on, such as ``ndcg@10``."""
    baseline: str
    candidates: list[str]
    as_of: str | None = None
    """ISO date-time from which ages are counted where lists carry no ``shown_at``."""
    relevance_source: str = "judgments"
    seed: int = 0
    config: dict[str, Any] = {}  # noqa: RUF012  a record copies its defaults
    """The configuration as given, after defaults."""


class Population(Record):
    """Who and what was measured."""

    users: int
    """Evaluated users: with a list under at least one model."""
    users_with_relevant: int
    users_without_lists: int = 0
    """With relevance and no list under any model: left out."""
    items: int
    """Items of the catalog (or known items)."""
    catalog_given: bool
    creators: int = 0
    head_items: int = 0
    tail_items: int = 0
    head_border_ties: int = 0
    """Items as popular as the last head item, that item included."""
    tail_relevance_share: float | None = None
    """The tail's share of the relevant (user, item) pairs in the ground truth."""
    fresh_items: int | None = None
    """Items of the catalog that were fresh (30 days) at ``as_of``; absent without times of creation."""
    embedding_source: str | None = None
    """``given``, or how embeddings were made."""


class SegmentInfo(Record):
    """Groups of users by an attribute or several: who is reported, and who is too few to be."""

    attributes: list[str]
    least: int
    """Users that a cell needs."""
    cells: dict[str, int]
    """Segments that are reported, such as ``country=DE``, and their evaluated users."""
    suppressed: list[str] = []  # noqa: RUF012  a record copies its defaults
    """Segments with fewer users: nothing is said of them alone."""
    made: dict[str, str] = {}  # noqa: RUF012
    """Attributes that were made of the history, and how: a sentence each."""


class ModelInfo(Record):
    """A model, and how much of it was measured."""

    name: str
    role: Literal["baseline", "candidate"]
    users: int
    lists: int
    slots: int
    """Shown items up to the largest K."""
    short_lists: int
    """Lists shorter than the viewport."""
    seeds: int = 1
    exposure_outside_catalog: float = 0.0
    exposure_without_creator: float | None = None
    same_lists: bool = False
    """A candidate that shows every user just what the baseline shows."""


class MetricInfo(Record):
    """A metric's definition as it was in force."""

    metric: str
    """The name without K, parameters included: ``fresh_share[days=7]``."""
    title: str
    question: str
    formula: str
    unit: str
    family: str
    level: str
    direction: Literal["higher", "lower", "target"]
    range: tuple[float | None, float | None]
    convention: str = ""
    citation: str = ""


class Measurement(Record):
    """One value of one model."""

    model: str
    metric: str
    """Full name with K: ``ndcg@10``."""
    segment: str = "all"
    """``all``, or ``attribute=value``, or ``a=x, b=y``."""
    value: float | None
    n: int
    """Users with a value (system metrics: evaluated users)."""


class MeanEvidence(Record):
    """Joint replicates of a mean: enough to judge it again under other guardrails."""

    kind: Literal["mean"] = "mean"
    users: int
    difference: list[float]
    """Quantiles of candidate − baseline over the replicates, at :data:`audit.inference.means.GRID`."""
    relative: list[float] | None = None
    """Quantiles of candidate / baseline − 1; absent where a baseline replicate is 0."""
    candidate: list[float]
    """Quantiles of the candidate's value."""
    se: tuple[float, float, float]
    """Standard errors of the baseline's and the candidate's value, and their covariance."""


class SystemEvidence(Record):
    """The jackknife's account of a system functional."""

    kind: Literal["system"] = "system"
    users: int
    se: float
    df: int
    geff: float
    relative_se: float | None = None
    """Of log(candidate / baseline); absent where either is 0."""
    relative_geff: float | None = None
    candidate_se: float
    """Of the candidate's value alone."""
    linear: tuple[float, float, float]
    """Jackknife variances of the baseline's and the candidate's value, and their covariance."""
    saturated: bool = False
    approximate: bool = False
    refused: bool = False
    """Too few effective groups: no interval, no p."""


class Comparison(Record):
    """A candidate against the baseline on one metric and segment."""

    model: str
    metric: str
    segment: str = "all"
    baseline: float | None
    candidate: float | None
    difference: float | None
    relative: float | None = None
    """candidate / baseline − 1; absent where the baseline is 0."""
    ci_low: float | None = None
    ci_high: float | None = None
    relative_low: float | None = None
    relative_high: float | None = None
    p_value: float | None = None
    adjusted_p: float | None = None
    """By Benjamini and Hochberg, over all p-values of the candidate's comparisons: at most this share of the
    comparisons with as small a value is expected to be chance.  For what was not declared before looking."""
    least_detectable: float | None = None
    """The size of difference that audits of as many users find with 80 % power at 5 %, two-sided; absent without an
    interval."""
    reading: Reading
    identical: bool = False
    """The two models cannot be told apart by this metric: same values for every user or bucket."""
    note: str = ""
    """Why there is no interval, or what is peculiar about it."""
    evidence: MeanEvidence | SystemEvidence | None = Field(None, discriminator="kind")


class GuardrailResult(Record):
    """A bound that a difference must not cross, and what came of it."""

    guardrail: str
    """Readable: ``tail_share@10 may drop by at most 10 % of the baseline``."""
    model: str
    metric: str
    segment: str = "all"
    kind: Kind
    relative: bool
    bound: float
    """As declared: 0.10 for ten per cent."""
    lower: float | None = None
    """Below this it is breached, on the scale of ``observed``; absent where there is no such limit."""
    upper: float | None = None
    """Above this it is breached."""
    target: float | None = None
    """What the candidate is compared with in place of the baseline."""
    evidence: Literal["interval", "point"] = "interval"
    severity: Literal["fail", "warn"]
    origin: Literal["profile", "user"]
    observed: float | None
    """On the bound's scale, signed as a change (or the value itself for ``min`` and ``max``)."""
    ci_low: float | None = None
    ci_high: float | None = None
    level: float | None = None
    """The interval's level: that of this guardrail's Holm step."""
    p_value: float | None = None
    status: Status
    note: str = ""
    users_to_decide: int | None = None

    @property
    def about_change(self) -> bool:
        """Whether what is observed is a change, and not the value itself."""
        return self.kind not in ("min", "max")


class Declaration(Record):
    """Who settled the guardrails, and when: for the page that is signed."""

    profile: str
    declared_by: str | None = None
    declared_on: str | None = None
    """The ISO day that ``[guardrails] declared_on`` states; nothing here reads a clock."""
    guardrails_hash: str
    """Of the guardrails as they were judged, profile and own together: 16 hexadecimal digits of SHA-256."""
    config_hash: str
    """Of the whole configuration, guardrails included; paths count by name, the engine does not."""


class Family(Record):
    """Questions that were asked together of one candidate, and how their number was corrected for."""

    model: str
    family: Literal["guardrails", "exploration"]
    """Declared before looking, or everything that was compared."""
    method: Literal["holm", "benjamini_hochberg"]
    level: float
    """Of the chance of any false rejection (Holm), or of the expected share of false ones (Benjamini–Hochberg)."""
    tested: int
    rejected: int


class Finding(Record):
    """What a rule found, for whom it matters, and what to try."""

    rule: str
    severity: FindingSeverity
    model: str
    title: str
    question: str
    condition: str
    evidence: dict[str, str]
    """Label → formatted number with its interval."""
    meaning: str
    advice: str


class RuleInfo(Record):
    """A rule as it was asked, whether or not it found anything."""

    rule: str
    severity: FindingSeverity
    """At most, unless a finding says otherwise."""
    consequence: str
    question: str
    condition: str
    asked: bool = True
    """Not where the configuration switched it off."""
    options: dict[str, float | str] = {}  # noqa: RUF012  a record copies its defaults


class ModelVerdict(Record):
    """What was decided about one candidate."""

    model: str
    verdict: Verdict
    reason: str
    """One sentence."""


class Issue(Record):
    """A :class:`audit.errors.DataIssue` as it is kept: without rows and users."""

    check: str
    severity: Literal["warning", "info"]
    table: str
    column: str | None = None
    count: int
    total: int | None = None
    message: str
    remedy: str
    examples: list[str] = []  # noqa: RUF012  a record copies its defaults


class Unavailable(Record):
    """A metric that could not be measured, and why."""

    metric: str
    reason: str


class Source(Record):
    """An input as it was read."""

    table: str
    name: str
    """File name as given, or ``data frame``."""
    rows: int
    fingerprint: str
    """Of the content: independent of row order and file layout."""


class AuditResult(Record):
    """An audit: see the module's docstring.  Write it with ``write_*``, read it with ``load_result``."""

    schema_version: str = SCHEMA_VERSION
    audit: AuditInfo
    population: Population
    models: list[ModelInfo]
    conventions: dict[str, Any]
    metrics: list[MetricInfo]
    measurements: list[Measurement]
    comparisons: list[Comparison]
    guardrail_results: list[GuardrailResult]
    findings: list[Finding]
    verdicts: list[ModelVerdict]
    exhibits: Exhibits
    issues: list[Issue]
    unavailable: list[Unavailable]
    sources: list[Source]
    versions: dict[str, str]
    robustness: Robustness = Robustness()
    declaration: Declaration | None = None
    """Absent in results before 1.2."""
    segments: list[SegmentInfo] = []  # noqa: RUF012  a record copies its defaults
    families: list[Family] = []  # noqa: RUF012  a record copies its defaults
    """By candidate: the guardrails, then the exploration."""
    tradeoff: Tradeoff = Tradeoff()
    rules: list[RuleInfo] = []  # noqa: RUF012  a record copies its defaults
    """Absent in results before 1.2, as is the trade-off."""
    clicks: ClickEvidence | None = None
    """The models by the clicks of ``[impressions]``; absent without them."""

    @property
    def verdict(self) -> Verdict:
        """The worst of :attr:`verdicts`."""
        order: tuple[Verdict, ...] = ("pass", "warn", "inconclusive", "fail")
        return max((v.verdict for v in self.verdicts), key=order.index)

    @functools.cached_property
    def scorecard(self) -> pd.DataFrame:
        """One row per candidate, metric and segment (design section 6's columns)."""
        import pandas as pd

        columns = ["model", "metric", "segment", "baseline", "candidate", "difference", "relative",
                   "ci_low", "ci_high", "p_value", "reading"]  # fmt: skip
        rows = [{name: getattr(c, name) for name in columns} for c in self.comparisons]
        return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[3:10], "float64"))

    @functools.cached_property
    def guardrails(self) -> pd.DataFrame:
        """One row per guardrail, candidate and segment cell."""
        import pandas as pd

        columns = ["guardrail", "model", "bound", "observed", "ci_low", "ci_high", "status"]
        rows = [{name: getattr(g, name) for name in columns} for g in self.guardrail_results]
        return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[2:6], "float64"))

    def comparison(self, model: str, metric: str, segment: str = "all") -> Comparison | None:
        """The comparison of ``model`` on ``metric``, or ``None`` where it was not measured."""
        return self._by_key.get((model, metric, segment))

    @functools.cached_property
    def _by_key(self) -> dict[tuple[str, str, str], Comparison]:
        return {(c.model, c.metric, c.segment): c for c in self.comparisons}

    def to_json(self) -> str:
        """The result as ``audit.json``: keys in the order of the schema, NaN as null."""
        return self.model_dump_json() + "\n"

    def write_json(self, path: str | Path) -> None:
        """Write ``audit.json``."""
        self._render("json", path)

    def write_html(self, path: str | Path) -> None:
        """Write the report as one HTML file without external requests."""
        self._render("html", path)

    def write_pdf(
        self, path: str | Path, *, paper: Literal["a4", "letter"] = "a4", archive: bool = False
    ) -> None:
        """Write the report as a tagged PDF (PDF/UA-1); with ``archive`` as PDF/A-2a too."""
        self._render("pdf", path, paper=paper, archive=archive)

    def _repr_html_(self) -> str:
        from audit.render.notebook import fragment

        return fragment(self)

    def _render(self, fmt: str, path: str | Path, **options: object) -> None:
        from audit.render import write

        write(self, fmt, Path(path), **options)


def json_schema() -> str:
    """The JSON schema of ``audit.json``, as published in ``docs/audit.schema.json``."""
    schema = AuditResult.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = f"recaudit audit.json {SCHEMA_VERSION}"
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def load_result(path: str | Path) -> AuditResult:
    """Read a saved ``audit.json``.

    Raises
    ------
    InputError
        The file is missing, is no audit result, or has another schema version.
    """
    from pydantic import ValidationError

    from audit.errors import DataIssue, InputError

    def refuse(message: str, remedy: str) -> InputError:
        return InputError(DataIssue("audit_json", "error", str(path), None, 1, message, remedy))

    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise refuse(
            f"cannot be read: {error.strerror}", "Give the path of an audit.json."
        ) from None
    try:
        result = AuditResult.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise refuse(
            f"is not an audit result: {where}: {first['msg']}",
            f"This version reads schema {SCHEMA_VERSION}; write the result again with 'recaudit run'.",
        ) from None
    if result.schema_version not in READS:
        raise refuse(
            f"has schema version {result.schema_version}, this version reads {SCHEMA_VERSION}",
            "Write the result again with 'recaudit run'.",
        )
    return result
