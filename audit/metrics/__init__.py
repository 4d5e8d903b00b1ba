"""Measure: columns, metrics, and the one registry of them.  A file holds the metrics of one question."""

from audit.metrics import (  # noqa: I001  importing a file registers its metrics; in the report's order
    relevance,
    browsing,
    pairwise,
    incomplete,
    stages,
    coverage,
    novelty,
    popularity_groups,
    eligible,
    concentration,
    diversity,
    categories,
    serendipity,
    freshness,
    overlap,
    calibration,
    creators,
    sessions,
)
from audit.metrics.registry import REGISTRY, MetricRef, MetricSpec, metric, parse

__all__ = ["REGISTRY", "MetricRef", "MetricSpec", "metric", "parse"]
