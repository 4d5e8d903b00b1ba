"""What each part of an audit adds: metrics one by one, Ks, models, segments; many audits in one process."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from audit.metrics import REGISTRY
from audit.reference import needs
from benchmarks.configs import RICHER, audit_toml
from benchmarks.scales import KS, Files, K
from benchmarks.workers.richer import enrich

BASE = "ndcg"
"""Measured in every audit of the feed, so it stands for an audit of nothing else."""
PLAIN = {"relevance", "history", "embedding", "creator_id", "created_at", "pool"}
"""What the plain files meet of the metrics' needs."""


def cases(metrics: list[str]) -> dict[str, dict[str, Any]]:
    """Name → what is asked of :func:`benchmarks.configs.audit_toml`; ``richer`` where other files are needed."""
    found: dict[str, dict[str, Any]] = {"base": {"metrics": [BASE], "ks": [K]}}
    richer = {"metrics": [BASE], "ks": [K], "richer": True}
    for metric in metrics:
        if metric != BASE and PLAIN.issuperset(needs(REGISTRY[metric])):
            found[f"metric {metric}"] = {"metrics": [BASE, metric], "ks": [K]}
    for metric in metrics:
        if not PLAIN.issuperset(needs(REGISTRY[metric])):
            found[RICHER] = richer
            found[f"metric {metric}"] = {**richer, "metrics": [BASE, metric]}
    for count in range(1, len(KS) + 1):
        ks = sorted({K, *KS[:count]})
        found[f"Ks {','.join(map(str, ks))}"] = {"ks": ks}
    found |= {f"models {count}": {"models": count} for count in (2, 3, 4)}
    found["models 2, segments"] = {"segments": True}
    return found


def built_in() -> list[str]:
    """All metrics that are ours."""
    return [n for n, spec in REGISTRY.items() if spec.function.__module__.startswith("audit.")]


def main(folder: str, repeat: str) -> None:
    """Print ``{"wall": {case: seconds}, "cpu": {case: seconds}, "richer": [case], "unmeasured": {metric: why}}``.

    Seconds are medians of rounds.  Processor time is what a part is judged by: other work on the machine moves
    it less.  All built-in metrics are tried, those measured by default or not; those that no files have the
    inputs for are named.  ``richer``: the cases that stand beside :data:`RICHER`, not beside the base.
    """
    import audit

    files = Files(Path(folder))
    asked = cases(built_in())
    wall: dict[str, list[float]] = {case: [] for case in asked}
    cpu: dict[str, list[float]] = {case: [] for case in asked}
    with tempfile.TemporaryDirectory() as out:
        configs = {}
        more = enrich(files, Path(out)) if RICHER in asked else files
        for number, (case, wanted) in enumerate(asked.items()):
            configs[case] = Path(out) / f"{number}.toml"
            read = more if wanted.get("richer") else files
            configs[case].write_text(audit_toml(read, **wanted), encoding="utf-8")
        unmeasured = {}
        for case, config in configs.items():  # compile, and fill the caches
            found = {gone.metric: gone.reason for gone in audit.run(config).unavailable}
            if (metric := case.removeprefix("metric ")) != case and metric in found:
                unmeasured[metric] = found[metric]
        for metric in unmeasured:
            for made in (configs, wall, cpu):
                del made[f"metric {metric}"]
        for _ in range(int(repeat)):
            for case, config in configs.items():
                start, used = time.perf_counter(), time.process_time()
                audit.run(config)
                wall[case].append(time.perf_counter() - start)
                cpu[case].append(time.process_time() - used)
    medians = {
        name: {case: statistics.median(times) for case, times in rounds.items()}
        for name, rounds in (("wall", wall), ("cpu", cpu))
    }
    richer = [case for case in medians["wall"] if case != RICHER and asked[case].get("richer")]
    print(json.dumps({**medians, "richer": richer, "unmeasured": unmeasured}))


if __name__ == "__main__":
    main(*sys.argv[1:])
