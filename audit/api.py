"""The pipeline in one place: read, encode, measure, compare, judge → AuditResult."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import audit.metrics  # noqa: F401  fills the registry
from audit import asking
from audit.ahead import Ahead, steps
from audit.arguments import (
    Guardrails,
    automatic_segments,
    clicks_asked,
    engine_named,
    group_target,
    list_lengths,
    measurable,
    metric_names,
    moment,
    plain_guardrails,
    plain_rules,
    portable,
    relevance_source_of,
    whole_number,
)
from audit.asking import DEFAULT_KS, LEAST_CELL, Progress, Settings
from audit.click_records import ClickEvidence
from audit.conclusion import conclude
from audit.config import ClicksSection, Config, HistorySection, load_config
from audit.conventions import Conventions
from audit.conventions import conventions as settle_conventions
from audit.dataset import Dataset, read_and_encode
from audit.dataset.automatic import NONE_MADE, Automatic
from audit.dataset.stream.encode import encode_inputs
from audit.dataset.stream.estimate import Size
from audit.engine import Outcome, Plan, make_plan, measure
from audit.engine.memory import BLOCK
from audit.errors import ConfigError, DataIssue, choices
from audit.findings import Settings as Rules
from audit.findings import asked as rules_asked
from audit.forecast import Forecast, forecast
from audit.inference.compare import Comparer
from audit.inputs import sources_from_arguments, sources_from_config
from audit.inputs.tables import Inputs, Sources
from audit.metrics.plugins import load_plugins
from audit.metrics.registry import GROUPS, REGISTRY, chosen, parse
from audit.resources import Resources, parse_size
from audit.result import AuditResult
from audit.workspace import Workspace

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def run(
    config: Config | str | Path, *, base: Path | None = None, threads: int | None = None,
    memory_limit: str | int | None = None, checkpoint: str | Path | None = None,
    block: int = BLOCK, progress: Progress | None = None, engine: str | None = None, spark: Any = None,
) -> AuditResult:  # fmt: skip
    """Run the audit that a configuration describes.

    Parameters
    ----------
    config
        ``audit.toml`` or its parsed form.
    base
        The folder that relative paths start from; the file's, or the current one.
    memory_limit
        Such as ``"1.5GB"``, or bytes: long arrays then live in files, beside the checkpoint or in the
        system's folder for temporary files.
    checkpoint
        A folder where finished work is kept until the audit is done: a run that was interrupted goes on
        from there.  These three as in ``[engine]``, which they override.
    threads, block
        How the work is cut.
    engine
        ``local`` or ``spark``, in place of what ``[engine]`` says.
    spark
        The ``SparkSession`` to run in: ``engine`` is then ``spark``.  If absent, the active one, else one
        is made and stopped.  The result depends on none of these.

    Raises
    ------
    ConfigError, InputError
        The configuration or a table cannot be used, or the limit cannot be held; the message says what
        to do.
    """
    if not isinstance(config, Config):
        path = Path(config)
        config, base = load_config(path), path.parent if base is None else base
    resources = resources_of(
        config, base, memory_limit=memory_limit, checkpoint=checkpoint, threads=threads
    )
    workspace = Workspace(resources)
    if engine is not None or spark is not None:
        where = engine_named(config.engine, "spark" if engine is None else engine)
        config = config.model_copy(update={"engine": where})
    result = run_in(workspace, config, base=base, block=block, progress=progress, spark=spark)
    workspace.finish()
    return result


def run_in(
    workspace: Workspace, config: Config, *, base: Path | None = None, block: int = BLOCK,
    progress: Progress | None = None, spark: Any = None,
) -> AuditResult:  # fmt: skip
    """:func:`run` in a workspace, which the caller finishes once the result is written."""
    settings, sources = _settled(config, base)
    return _audit(
        sources, settings, workspace=workspace, block=block, progress=progress, spark=spark
    )


def resources_of(
    config: Config, base: Path | None = None, *, memory_limit: str | int | None = None,
    checkpoint: str | Path | None = None, threads: int | None = None,
) -> Resources:  # fmt: skip
    """What ``[engine]`` and the arguments of a call, which go before it, say together.

    Raises
    ------
    ConfigError
        An argument that cannot be.
    """
    engine = config.engine
    limit = engine.memory_limit if memory_limit is None else memory_limit
    folder = None if checkpoint is None else Path(checkpoint)
    if folder is None and engine.checkpoint is not None:
        folder = (Path() if base is None else base) / engine.checkpoint
    try:
        size = None if limit is None else parse_size(limit)
    except ValueError as error:
        raise ConfigError(f"memory_limit: {error}.") from None
    if threads is not None:
        threads = whole_number("threads", threads, 1)
    return Resources(
        memory_limit=size, checkpoint=folder,
        threads=engine.threads if threads is None else threads,
    )  # fmt: skip


def check(config: Config | str | Path, base: Path | None = None) -> list[DataIssue]:
    """Read and check the inputs of a configuration; measure nothing.

    Returns
    -------
    Warnings and notes; errors are raised as :class:`audit.InputError`.
    """
    settings, sources = _settled(config, base)
    inputs, dataset, issues = _encode(sources, settings)
    _plan(dataset, settings, [m for m in inputs.models if m != settings.baseline])
    return issues


def pool(
    config: Config | str | Path, *, base: Path | None = None, both: bool = False,
    limit: int | None = None, progress: Progress | None = None,
) -> pa.Table:  # fmt: skip
    """The judging queue of a configuration: see :func:`audit.pooling.judging_queue`.

    Raises
    ------
    ConfigError, InputError
        The configuration or a table cannot be used, or there is no relevance.
    """
    from audit.pooling import judging_queue

    settings, sources = _settled(config, base)
    inputs, dataset, _ = _encode(sources, settings, progress=progress)
    candidates = [m for m in inputs.models if m != settings.baseline]
    plan = _plan(dataset, settings, candidates)
    by_request = inputs.relevance is not None and "request_id" in inputs.relevance.column_names
    return judging_queue(
        dataset, plan, parse(settings.headline), by_request=by_request, both=both, limit=limit
    )


def compare(
    recommendations: Mapping[str, Any], *, relevance: Any, baseline: str = "baseline",
    catalog: Any = None, creators: Any = None, history: Any = None, users: Any = None,
    pools: Mapping[str, Any] | None = None, eligible: Any = None,
    creator_group: str | None = None, creator_target: str | Mapping[str, float] = "catalog",
    metrics: Sequence[str] | None = None, k: Sequence[int] = DEFAULT_KS, viewport: int = 10,
    surface: str = "feed", as_of: dt.date | str | None = None,
    conventions: str | Mapping[str, Any] | Conventions | None = None,
    guardrails: str | Guardrails = "launch", seed: int = 0, name: str = "Recommender audit",
    relevance_source: str = "judgments", history_segments: Sequence[str] = (),
    least_cell: int = LEAST_CELL, impressions: Any = None, debias: str = "ips", clip: float | None = None,
    propensities: str | Path = "em",
    findings: Rules | None = None,
) -> AuditResult:  # fmt: skip
    """Compare candidates with the baseline on the same users.

    Parameters
    ----------
    recommendations
        Model name → recommendations: a pandas, polars or Arrow frame, or a path; a list of them are
        seeds of one model.
    relevance, catalog, creators, history, users
        The other tables (see the README); what is absent switches off what needs it.
    pools
        Model name → what its candidate generator returned, as recommendations: for the diagnosis of stages.
    eligible
        Which items may be shown: ``item_id``, and ``user_id`` or one attribute of the users where given.
    creator_group, creator_target
        The attribute of the creators whose groups' exposure is measured (the first where absent), and what is
        due to them: their share of ``"catalog"`` or ``"relevance"``, or a mapping of group to share.
    metrics
        Names such as ``"ndcg"`` or ``"fresh_share[days=7]@10"``; all default metrics if absent, and
        ``"default"`` for these beside others; ``"all"`` for every metric there is.
    k, viewport
        List lengths to measure at; the length that people see without scrolling.
    guardrails
        A profile's name, or a mapping like ``[guardrails]`` of ``audit.toml``.
    history_segments
        Segments to make of the history: ``"activity"``, ``"taste"``.  A guardrail that names one asks for it too.

    least_cell
        Users that a group needs to be reported: smaller ones are put together or suppressed, and it is said so.
    findings
        Rules to switch off or tune, like ``[findings]``: ``{"stale_feed": False, "coverage_collapse": {"fall": 0.5}}``.
    impressions
        What was shown at which position and clicked (:func:`audit.clicks.read_log`): the models are compared by clicks too,
        naive beside debiased.  With ``relevance=None, relevance_source="clicks"`` what was clicked is relevance.
    debias, clip, propensities
        How position is taken out of the clicks: as in :func:`audit.clicks.debias`.

    Returns
    -------
    AuditResult
        With the verdict, the scorecard and the reports.

    Raises
    ------
    InputError, ConfigError
        A table or an argument cannot be used; the message says what to do.
    """
    as_of, metrics, viewport = (
        moment(as_of),
        metric_names(metrics),
        whole_number("viewport", viewport, 1),
    )
    settings = Settings(
        name=name, surface=surface, ks=list_lengths(k), viewport=viewport, as_of=as_of, baseline=baseline,
        metrics=metrics, conventions=settle_conventions(conventions), guardrails=guardrails,
        automatic=Automatic(automatic_segments(history_segments)),
        creator_group=creator_group, creator_target=group_target(creator_target),
        seed=whole_number("seed", seed, 0), clicks=clicks_asked(debias, clip, propensities), least_cell=whole_number("least_cell", least_cell, 1), relevance_source=relevance_source_of(relevance_source),
        rules=plain_rules(findings),
        config={
            "surface": surface, "k": list_lengths(k), "viewport": viewport,
            "as_of": None if as_of is None else as_of.isoformat(),
            "metrics": None if metrics is None else list(metrics),
            "guardrails": plain_guardrails(guardrails), "seed": seed,
            "creator_group": creator_group,
            "creator_target": creator_target if isinstance(creator_target, str) else dict(creator_target),
            "history_segments": list(history_segments), "least_cell": least_cell,
            "findings": plain_rules(findings),
            **({} if impressions is None else {"debias": debias, "clip": clip, "propensities": Path(propensities).name}),
        },
    )  # fmt: skip
    sources = sources_from_arguments(
        models=recommendations, relevance=relevance, catalog=catalog, creators=creators,
        history=history, users=users, pools=pools, eligible=eligible, impressions=impressions,
    )  # fmt: skip
    load_plugins()
    rules_asked(settings.rules)
    return _audit(sources, settings)


def evaluate(
    recommendations: Any, *, relevance: Any = None, catalog: Any = None, creators: Any = None,
    history: Any = None, users: Any = None, pools: Any = None, eligible: Any = None,
    creator_group: str | None = None, creator_target: str | Mapping[str, float] = "catalog",
    metrics: Sequence[str] | None = None, k: Sequence[int] = DEFAULT_KS,
    conventions: str | Mapping[str, Any] | Conventions | None = None, per_list: bool = False,
    as_of: dt.date | str | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Measure one model, without comparison or verdict.

    Parameters
    ----------
    recommendations, relevance, catalog, creators, history, users, eligible, metrics, k, conventions
        As for :func:`compare`, and so are ``creator_group`` and ``creator_target``.
    pools
        What the model's candidate generator returned, one table as recommendations: for the diagnosis of stages.
    per_list
        Return the values of every list instead of their means.

    Returns
    -------
    DataFrame
        Indexed by metric name (``ndcg@10``), columns ``value`` and ``n`` (users with a value); or, per
        list, columns ``user_id``, ``request_id`` (where given) and one per metric of level ``list``.

    Raises
    ------
    InputError, ConfigError
        A table or an argument cannot be used, or a metric named in ``metrics`` cannot be measured of
        one model (or of one list) with these tables.
    """
    from audit import single

    ks, metrics = list_lengths(k), metric_names(metrics)
    settings = Settings(
        ks=ks, viewport=max(ks), baseline="model", metrics=metrics, as_of=moment(as_of),
        conventions=settle_conventions(conventions),
        creator_group=creator_group, creator_target=group_target(creator_target),
    )  # fmt: skip
    sources = sources_from_arguments(
        models={"model": recommendations}, relevance=relevance, catalog=catalog, creators=creators,
        history=history, users=users, pools=None if pools is None else {"model": pools}, eligible=eligible,
    )  # fmt: skip
    load_plugins()
    _, dataset, _ = _encode(sources, settings)
    asked = None if metrics is None else chosen(metrics)
    measurable([*ks, *(r.k for r in asked or () if r.k is not None)])
    plan = make_plan(
        dataset, metrics=asked, ks=ks, viewport=settings.viewport, baseline="model"
    )  # fmt: skip
    if metrics is not None:
        named = [parse(m) for m in metrics if m not in GROUPS]
        single.require(dataset, plan, named, per_list=per_list)
    if per_list:
        return single.per_list(dataset, plan)
    return single.means(dataset, plan, measure(dataset, plan))


# --------------------------------------------------------------------------------- the pipeline


def _settled(config: Config | str | Path, base: Path | None) -> tuple[Settings, Sources]:
    if not isinstance(config, Config):
        path = Path(config)
        config, base = load_config(path), path.parent if base is None else base
    load_plugins(config.audit.plugins, base=Path() if base is None else base)
    a = config.audit
    settings = Settings(
        name=a.name, surface=a.surface, ks=list_lengths(a.k), viewport=a.viewport, as_of=a.as_of,
        baseline=a.baseline, metrics=a.metrics, conventions=config.conventions,
        guardrails=config.guardrails, seed=a.seed, least_cell=a.least_cell,
        segments=None if config.users is None else config.users.segments,
        automatic=_automatic(config.history),
        creator_group=None if config.creators is None else config.creators.group,
        creator_target="catalog" if config.creators is None else config.creators.target,
        relevance_source="judgments" if config.relevance is None else config.relevance.source,
        rules=config.findings,
        config=portable(config.model_dump(mode="json", exclude_none=True, exclude={"engine"})),
        engine=config.engine, plugins=a.plugins, base=Path() if base is None else base,
        clicks=config.clicks or ClicksSection(),
    )  # fmt: skip
    rules_asked(settings.rules)
    return settings, sources_from_config(config, settings.base)


def _encode(
    sources: Sources, settings: Settings, workspace: Workspace | None = None,
    progress: Progress | None = None, ahead: Ahead | None = None,
) -> tuple[Inputs, Dataset, list[DataIssue]]:  # fmt: skip
    how = asking.how(settings, progress)
    if ahead is not None:
        how = replace(how, opened=ahead.opened)
    if workspace is not None:

        def forecast(size: Size) -> int | None:
            workspace.forecast(_forecast(size, settings))
            return workspace.threads

        how = replace(
            how, threads=workspace.threads, scratch=workspace.scratch, forecast=forecast,
            checkpoint=workspace.checkpoint, note=workspace.note,
        )  # fmt: skip
    found = read_and_encode(sources, how)
    return found.inputs, found.dataset, found.issues


def _ahead(
    settings: Settings, candidates: Sequence[str], progress: Progress | None
) -> Ahead:  # fmt: skip
    """What compiles ahead: the same audit with our own metrics, since a plugin's may do anything."""
    asked = chosen(["default"] if settings.metrics is None else settings.metrics)
    own = [str(ref) for ref in asked if ref.spec.function.__module__.startswith("audit.")]
    small = replace(settings, metrics=own, guardrails="none")
    how = replace(asking.how(small), threads=1)
    return Ahead(
        steps(
            lambda inputs: encode_inputs(inputs, how).dataset,
            lambda dataset: _plan(dataset, small, candidates),
            lambda dataset, plan: measure(dataset, plan, threads=1),
            lambda dataset, plan, measured: Comparer(dataset, plan, measured, small.seed).all(),
        ),
        progress,
    )


def _forecast(size: Size, settings: Settings) -> Forecast:
    names = {ref.name for ref in chosen(settings.metrics or ["default"])}
    means = sum(REGISTRY[name].level in ("list", "session", "pair") for name in names)
    ks = {*settings.ks, settings.viewport}
    return forecast(size, ks=len(ks), viewport=settings.viewport, kmax=max(ks), metrics=means)


def _plan(dataset: Dataset, settings: Settings, candidates: Sequence[str]) -> Plan:
    """The plan of what :func:`audit.asking.asked` says."""
    return make_plan(dataset, **vars(asking.asked(settings, candidates)))


def _automatic(history: HistorySection | None) -> Automatic:
    if history is None:
        return NONE_MADE
    return Automatic(tuple(dict.fromkeys(history.segments)), history.cold, history.heavy)


def _measure_on_spark(
    sources: Sources, settings: Settings, candidates: Sequence[str], progress: Progress | None, session: Any
) -> Outcome | None:  # fmt: skip
    from audit.engine.spark import measure_on_spark

    return measure_on_spark(
        sources, asking.how(settings, progress), asking.asked(settings, candidates), settings.engine, session=session,
        plugins=settings.plugins, base=settings.base,
    )  # fmt: skip


def _measure_here(
    sources: Sources, settings: Settings, candidates: Sequence[str], workspace: Workspace, block: int,
    progress: Progress | None, ahead: Ahead,
) -> Outcome:  # fmt: skip
    inputs, dataset, issues = _encode(sources, settings, workspace, progress, ahead)
    plan = _plan(dataset, settings, candidates)
    measured = measure(
        dataset, plan, threads=workspace.threads, block=block, progress=progress,
        checkpoint=workspace.checkpoint,
    )  # fmt: skip
    return Outcome(inputs, dataset, issues, plan, measured)


def _audit(
    sources: Sources, settings: Settings, *, workspace: Workspace | None = None, block: int = BLOCK,
    progress: Progress | None = None, spark: Any = None,
) -> AuditResult:  # fmt: skip
    workspace = Workspace() if workspace is None else workspace

    def step(stage: str, done: int, total: int) -> None:
        if progress is not None:
            progress(stage, done, total)

    if settings.baseline not in sources.models:
        raise ConfigError(choices("baseline", settings.baseline, list(sources.models)))
    candidates = [m for m in sources.models if m != settings.baseline]
    if not candidates:
        raise ConfigError(
            "there is nothing to compare: give the baseline and at least one candidate."
        )
    sources, clicks = _clicks(sources, settings)
    with _ahead(settings, candidates, progress) as ahead:
        found = None
        if settings.engine.name == "spark":
            found = _measure_on_spark(sources, settings, candidates, progress, spark)
        if found is None:
            workspace.open(sources, {**asking.of_checkpoint(settings), "block": block})
            found = _measure_here(sources, settings, candidates, workspace, block, progress, ahead)
        step("comparing", 0, 1)
        comparer = Comparer(found.overview, found.plan, found.measured, settings.seed)
        measurements, comparisons = comparer.all()
        step("comparing", 1, 1)
    return conclude(settings, candidates, found, comparer, measurements, comparisons, clicks)


def _clicks(sources: Sources, settings: Settings) -> tuple[Sources, ClickEvidence | None]:
    """The models by clicks, and, where clicks are all the relevance there is, labels made of them."""
    if sources.impressions is None:
        return sources, None
    from audit.clicks import audited

    log = audited.read_impressions(sources.impressions)
    found = audited.evidence(
        log, sources.models, settings.clicks, baseline=settings.baseline, headline=settings.headline, base=settings.base,
        seed=settings.seed,
    )  # fmt: skip
    if sources.relevance is None and settings.relevance_source == "clicks":
        sources = replace(sources, relevance=audited.labels(log, sources.impressions))
    return sources, found
