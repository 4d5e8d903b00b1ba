"""What each part of an audit adds: metrics one by one, Ks, models, segments; many audits in one process."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.configs import audit_toml
from benchmarks.scales import KS, Files, K

BASE = "ndcg"
"""Measured in every audit of the feed, so it stands for an audit of nothing else."""


def cases(metrics: list[str]) -> dict[str, dict[str, Any]]:
    """Name → what is asked of :func:`benchmarks.configs.audit_toml`."""
    found: dict[str, dict[str, Any]] = {"base": {"metrics": [BASE], "ks": [K]}}
    for metric in metrics:
        if metric != BASE:
            found[f"metric {metric}"] = {"metrics": [BASE, metric], "ks": [K]}
    for count in range(1, len(KS) + 1):
        ks = sorted({K, *KS[:count]})
        found[f"Ks {','.join(map(str, ks))}"] = {"ks": ks}
    found |= {f"models {count}": {"models": count} for count in (2, 3, 4)}
    found["models 2, segments"] = {"segments": True}
    return found


def built_in() -> list[str]:
    """All metrics that are ours."""
    from audit.metrics import REGISTRY

    return [n for n, spec in REGISTRY.items() if spec.function.__module__.startswith("audit.")]


def main(folder: str, repeat: str) -> None:
    """Print ``{"wall": {case: seconds}, "cpu": {case: seconds}, "unmeasured": {metric: why}}``, medians of rounds.

    Processor time is what a part is judged by: other work on the machine moves it less.  All built-in metrics
    are tried, those measured by default or not; those that the data has no inputs for are named.
    """
    import audit

    files = Files(Path(folder))
    asked = cases(built_in())
    wall: dict[str, list[float]] = {case: [] for case in asked}
    cpu: dict[str, list[float]] = {case: [] for case in asked}
    with tempfile.TemporaryDirectory() as out:
        configs = {}
        for number, (case, wanted) in enumerate(asked.items()):
            configs[case] = Path(out) / f"{number}.toml"
            configs[case].write_text(audit_toml(files, **wanted), encoding="utf-8")
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
    print(json.dumps({**medians, "unmeasured": unmeasured}))


if __name__ == "__main__":
    main(*sys.argv[1:])
