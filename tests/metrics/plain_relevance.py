"""Metrics of relevance by their definitions: one list, plain Python, no column shared with the product."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

NAN = math.nan
PARTS = ("auc_times_items", "auc_items")
"""Metrics that have no value on some lists even where something is relevant."""


def gain(w: Any, grade: int) -> float:
    if w.gain == "binary":
        return float(grade >= w.threshold)
    return 2**grade - 1 if w.gain == "exponential" else grade


def discount(w: Any, rank: int) -> float:
    return 1 / math.log2(rank + 1 if w.discount == "log2" else max(rank, 2))


def relevance(
    w: Any, judged: Mapping[int, int], items: Sequence[int], k: int, highest: int
) -> dict[str, float]:
    """All metrics of one list at K, before what is left out is left out.

    ``w``: the conventions as attributes; ``judged``: item → grade; ``highest``: the highest grade of all.
    """
    return {
        **of_grades(w, judged, items, k, highest), **yes_or_no(w, judged, items, k),
        **of_judgments(w, judged, items, k),
    }  # fmt: skip


def of_grades(
    w: Any, judged: Mapping[int, int], items: Sequence[int], k: int, highest: int
) -> dict[str, float]:
    err, goes_on = 0.0, 1.0
    for rank, item in enumerate(items[:k], 1):
        grade, top = judged.get(item, 0), highest
        if w.gain == "binary":
            grade, top = int(grade >= w.threshold), 1
        satisfied = (2**grade - 1) / 2**top
        err += goes_on * satisfied / rank
        goes_on *= 1 - satisfied
    condensed = [item for item in items if item in judged]
    return {
        "ndcg": ndcg(w, judged, items[:k], k), "ndcg_condensed": ndcg(w, judged, condensed[:k], k),
        "dcg": dcg(w, judged, items[:k]), "err": err,
    }  # fmt: skip


def dcg(w: Any, judged: Mapping[int, int], top: Sequence[int]) -> float:
    return sum(gain(w, judged.get(i, 0)) * discount(w, n) for n, i in enumerate(top, 1))


def ndcg(w: Any, judged: Mapping[int, int], top: Sequence[int], k: int) -> float:
    best = sorted((g for g in judged.values() if g > 0), reverse=True)
    best = best[:1] * k if w.ideal == "full_k" else best[:k]
    ideal = sum(gain(w, g) * discount(w, n) for n, g in enumerate(best, 1))
    return dcg(w, judged, top) / ideal if ideal else NAN


def average_precision(w: Any, relevant: set[int], top: Sequence[int], k: int) -> float:
    hits = [i in relevant for i in top]
    precisions = [sum(hits[:n]) / n for n in range(1, len(top) + 1) if hits[n - 1]]
    limit = {"relevant": math.inf, "min_k": k, "min_length": max(len(top), 1)}[w.ap_denominator]
    return sum(precisions) / min(len(relevant), limit)


def yes_or_no(w: Any, judged: Mapping[int, int], items: Sequence[int], k: int) -> dict[str, float]:
    relevant = {i for i, g in judged.items() if g >= w.threshold}
    r = len(relevant)
    top = items[:k]
    hits = [i in relevant for i in top]
    precision = sum(hits) / (k if w.precision_denominator == "k" else max(len(top), 1))
    found = {
        "precision": precision,
        "mrr": 1 / (hits.index(True) + 1) if any(hits) else 0.0,
        "hit_rate": float(any(hits)),
        "rbp": sum(0.2 * 0.8**n for n, hit in enumerate(hits) if hit),
        **auc(hits),
    }
    if not r:
        return found
    recall = sum(hits) / (min(r, k) if w.recall_denominator == "min_k" else r)
    return found | {
        "map": average_precision(w, relevant, top, k),
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall) if any(hits) else 0.0,
        "r_precision": sum(hits[:r]) / r,
    }


def auc(hits: Sequence[bool]) -> dict[str, float]:
    pairs = [
        (a < b) for a, hit in enumerate(hits) if hit for b, other in enumerate(hits) if not other
    ]
    value = sum(pairs) / len(pairs) if pairs else float(any(hits))
    parts = (value * len(hits), len(hits)) if pairs else (NAN, NAN)
    return {"auc": value, **dict(zip(PARTS, parts, strict=True))}


def of_judgments(
    w: Any, judged: Mapping[int, int], items: Sequence[int], k: int
) -> dict[str, float]:
    relevant = {i for i, g in judged.items() if g >= w.threshold}
    r, irrelevant = len(relevant), len(judged) - len(relevant)
    top = items[:k]
    residual = sum(0.2 * 0.8**n for n, i in enumerate(top) if i not in judged) + 0.8 ** len(top)
    found = {
        "judged": sum(i in judged for i in top) / len(top) if top else NAN,
        "rbp_residual": residual,
    }
    if not r:
        return found
    bpref = infap = 0.0
    for n, item in enumerate(top):
        if item not in relevant:
            continue
        good = sum(i in relevant for i in top[:n])
        bad = sum(i in judged and i not in relevant for i in top[:n])
        bpref += 1 - min(bad, r) / min(r, irrelevant) if bad else 1
        share = (good + 1e-5) / (good + bad + 2e-5)
        infap += (1 + n * share) / (n + 1)
    condensed = [i for i in items if i in judged][:k]
    return found | {
        "bpref": bpref / r, "infap": infap / r,
        "map_condensed": average_precision(w, relevant, condensed, k),
    }  # fmt: skip


GRADED = ("ndcg", "ndcg_condensed", "dcg", "err")
OWN_VALUE = ("dcg", "judged", "rbp_residual")
"""Metrics that have a value where nothing is relevant."""


def settled(w: Any, judged: Mapping[int, int], values: Mapping[str, float]) -> dict[str, float]:
    """What counts of the values of one list: where nothing is relevant, the convention decides."""
    names = {*values, "map", "recall", "f1", "r_precision", "bpref", "infap", "map_condensed"}
    out = {}
    for name in names:
        least = 1 if name in GRADED and w.gain != "binary" else w.threshold
        if any(g >= least for g in judged.values()):
            out[name] = values[name]
        elif w.no_relevant == "leave_out" or (w.no_relevant == "zero_if_judged" and not judged):
            out[name] = NAN
        else:
            out[name] = values[name] if name in OWN_VALUE else 0.0
    return out
