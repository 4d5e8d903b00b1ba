"""Judge a saved result again: the same evidence, the same guardrails or others, nothing measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audit.arguments import Guardrails, plain_guardrails
from audit.errors import ConfigError
from audit.findings import Evidence, judge
from audit.findings.families import families
from audit.metrics.plugins import load_plugins
from audit.result import SCHEMA_VERSION, AuditResult, load_result


def gate(
    result: AuditResult | str | Path, guardrails: str | Guardrails | None = None
) -> AuditResult:
    """Judge a result again under the same guardrails or others; measure nothing.

    Parameters
    ----------
    result
        A result, or the path of its ``audit.json``.
    guardrails
        A profile's name, or a mapping like ``[guardrails]`` of ``audit.toml``; those that the result was
        judged by if absent.

    Returns
    -------
    AuditResult
        The same evidence with guardrails, findings and verdicts judged anew.  Under unchanged guardrails, and by
        the version of recaudit that wrote it, the same bytes.

    Raises
    ------
    ConfigError
        A guardrail names no metric, or what the result does not hold.
    InputError
        The file is no result.
    """
    found = result if isinstance(result, AuditResult) else load_result(result)
    folder = None if isinstance(result, AuditResult) else Path(result).parent
    _plugins(found.audit.config, [folder, Path()])
    info = found.audit
    given = guardrails
    if given is None:
        given = info.config.get("guardrails", "launch")
    else:
        config = {**info.config, "guardrails": plain_guardrails(given)}
        info = info.model_copy(update={"config": config})
    parts: dict[str, Any] = {name: getattr(found, name) for name in AuditResult.model_fields}
    parts |= {"audit": info, "schema_version": SCHEMA_VERSION}
    judgment = judge(Evidence.of(AuditResult(**parts)), given)
    if found.families:  # absent in results before 1.2
        parts["families"] = families(
            found.audit.candidates, found.comparisons, judgment.guardrail_results
        )
    return AuditResult(**parts | vars(judgment))


def _plugins(config: dict[str, Any], folders: Sequence[Path | None]) -> None:
    """Load the plugins that the audit had, where they can be found.

    One that cannot is not missed unless a guardrail names a metric of it, and then the metric is unknown.
    """
    load_plugins()
    named = config.get("plugins") or config.get("audit", {}).get("plugins", [])
    for plugin in named:
        for folder in folders:
            try:
                load_plugins([plugin], base=folder)
                break
            except ConfigError:
                continue
