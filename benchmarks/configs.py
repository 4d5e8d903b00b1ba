"""The configurations that are audited."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from benchmarks.scales import AS_OF, KS, MODELS, Files, K

ACCURACY = ("ndcg", "map", "mrr", "precision", "recall", "hit_rate")
"""Six metrics that every library has, by our names."""

RICHER = "base, richer"
"""The case of the costs that stands for an audit of nothing else, on the files of :mod:`benchmarks.workers.richer`."""


def audit_toml(
    files: Files, *, metrics: Sequence[str] | None = None, ks: Sequence[int] = KS, everything: bool = True,
    models: int = 2, segments: bool = False, richer: bool = False,
) -> str:  # fmt: skip
    """``audit.toml`` for the files.

    Parameters
    ----------
    metrics
        All defaults where absent.
    everything
        With catalog, creators and history and the default guardrails; otherwise lists and relevance only,
        and no guardrails.
    models
        From the third on they are the candidate's file again, under other names.
    segments
        With the users' attributes.
    richer
        With what may be shown to whom, of files that hold it.
    """
    audit: dict[str, Any] = {"name": "Benchmark", "k": list(ks), "viewport": K}
    if metrics is not None:
        audit["metrics"] = list(metrics)
    names = [*MODELS, *(f"candidate{n}" for n in range(2, models))]
    sections = {
        "audit": audit,
        "models": {name: str(files[name if name in MODELS else "candidate"]) for name in names},
        "relevance": {"path": str(files["relevance"])},
    }
    tables = ["catalog", "creators", "history"] if everything else []
    for table in [*tables, *(["users"] if segments else []), *(["eligible"] if richer else [])]:
        sections[table] = {"path": str(files[table])}
    sections["guardrails"] = {"profile": "launch" if everything else "none"}
    text = "\n".join(_section(name, keys) for name, keys in sections.items())
    return text.replace("[audit]\n", f"[audit]\nas_of = {AS_OF}\n", 1)


def _section(name: str, keys: dict[str, Any]) -> str:
    # JSON's texts, numbers and lists of them are TOML's too.
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in keys.items()]
    return "\n".join([f"[{name}]", *lines, ""])
