"""Our values under the conventions that the peers follow, to hold theirs against."""

from __future__ import annotations

import json
import sys
from typing import Any

import pyarrow.parquet as pq

from benchmarks.configs import ACCURACY
from benchmarks.scales import LIST_LENGTH, K

VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "linear": {"gain": "linear"},
    "min_k": {"ap_denominator": "min_k"},
    "binary": {},
}
"""Name → our conventions; ``binary`` also takes every grade for 1."""


def main(recommendations: str, relevance: str) -> None:
    """Print ``{variant: {metric@k: value}}``."""
    import audit

    judged = pq.read_table(relevance)
    found = {}
    for name, conventions in VARIANTS.items():
        table = judged.drop_columns(["grade"]) if name == "binary" else judged
        values = audit.evaluate(
            recommendations, relevance=table, metrics=list(ACCURACY), k=(K, LIST_LENGTH),
            conventions=conventions,
        )  # fmt: skip
        found[name] = {metric: float(value) for metric, value in values["value"].items()}
    print(json.dumps({"variants": found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
