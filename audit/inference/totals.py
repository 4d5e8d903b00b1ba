"""System metrics on the jackknife's totals: exactly where vectors are short, by histograms where long."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy import sparse

from audit.compiled import kernel
from audit.dataset.model import F64, I32, I64, Bool, Overview
from audit.inference.histograms import total_histograms
from audit.inference.system import AdditiveVector, ReplicateValues, evaluate
from audit.metrics.registry import MetricRef
from audit.metrics.vectors import VECTORS, Projection, of_catalog

LONG = 5_000
"""Vectors of more items are resampled as histograms, if the metric understands ``times``."""

SHARED_STEPS = 2**10
"""Exposure that creators or categories share is rounded to this part of a step."""


@kernel
def _share_out(start, member, share, x, out):  # type: ignore[no-untyped-def]
    for item in range(len(x)):
        if x[item] != 0:
            for entry in range(start[item], start[item + 1]):
                out[member[entry]] += share[entry] * x[item]


def by_member(matrix: sparse.csr_array, groups: I32, threads: int = 1) -> F64:
    """Vectors over items → vectors over their creators or categories, each summed in the order of the items.

    Parameters
    ----------
    matrix
        ``[items, members]``, such as :func:`audit.metrics.vectors.creator_matrix`.
    groups
        ``[n, items]``.

    Returns
    -------
    ``[n, members]``.
    """
    out = np.zeros((len(groups), matrix.shape[1]))
    start, member = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    share = matrix.data.astype(np.float64)
    with ThreadPoolExecutor(threads) as pool:
        list(
            pool.map(lambda i: _share_out(start, member, share, groups[i], out[i]), range(len(out)))
        )
    return out


class FunctionalTotals:
    """Evaluates system metrics on the 7·G − 1 totals of a model's vectors."""

    def __init__(self, dataset: Overview, projection: Projection) -> None:
        self.d, self.projection = dataset, projection

    def call(self, ref: MetricRef, x: F64, *times: F64) -> F64:
        """The metric's function on vectors of its own axis and items."""
        known = {}
        if VECTORS[str(ref.spec.vector)].axis == "group":
            groups = self.d.creator_groups
            known = {"target": groups.target, "merit": groups.merit}
        return np.asarray(ref.call(x, *times, conventions=self.d.conventions, **known), np.float64)

    def of(
        self, groups: I32, step: float, refs: Sequence[MetricRef]
    ) -> dict[MetricRef, ReplicateValues]:
        """The values of ``refs``, all of one weighting.

        Parameters
        ----------
        groups
            ``[G + 1, items]``: whole steps of each group, and last of the left-over users.
        step
            What a step is worth.
        """
        catalog = of_catalog(self.d, groups)
        long = [r for r in refs if r.symmetric and self.projection.size(r) > LONG]
        found: dict[MetricRef, ReplicateValues] = {}
        items = [r for r in long if VECTORS[str(r.spec.vector)].axis == "item"]
        if items:
            masks = np.stack([self.projection.members(r) for r in items])
            found |= self._by_histogram(catalog, step, items, masks)
        for axis in ("creator", "category"):
            sharing = [
                r for r in long if VECTORS[str(r.spec.vector)].axis == axis and r.spec.items is None
            ]
            if sharing:
                held = self.projection.matrix(axis)
                shared = by_member(held, catalog, os.cpu_count() or 1)
                whole = np.rint(shared * SHARED_STEPS).astype(np.int64)
                masks = np.ones((len(sharing), whole.shape[1]), bool)
                found |= self._by_histogram(whole, step / SHARED_STEPS, sharing, masks)
        grouped = [r for r in refs if VECTORS[str(r.spec.vector)].axis == "group"]
        if grouped:
            vector = self.shared(catalog, step, self.projection.matrix("group"))
            functions = {str(r): lambda x, r=r: self.call(r, x) for r in grouped}
            by_name = {str(r): r for r in grouped}
            found |= {by_name[n]: v for n, v in evaluate([vector], functions).items()}
        short = {str(r): r for r in refs if r not in found}
        if short:
            vector = AdditiveVector(catalog[:-1], catalog[-1], step)
            functions = {
                name: lambda x, ref=ref: self.call(ref, self.projection(ref, x))
                for name, ref in short.items()
            }
            found |= {short[name]: v for name, v in evaluate([vector], functions).items()}
        return found

    @staticmethod
    def shared(catalog: I32, step: float, matrix: sparse.csr_array) -> AdditiveVector:
        """``[G + 1, catalog items]`` shared among groups, before any total is formed: there are few."""
        shared = by_member(matrix, catalog, os.cpu_count() or 1)
        whole = np.rint(shared * SHARED_STEPS).astype(np.int64)
        return AdditiveVector(whole[:-1], whole[-1], step / SHARED_STEPS)

    def _by_histogram(
        self, groups: I32 | I64, step: float, refs: Sequence[MetricRef], masks: Bool
    ) -> dict[MetricRef, ReplicateValues]:
        """One histogram for each kind of item: those that the same metrics look at, ``masks[refs, n]``."""
        code = (masks << np.arange(len(masks))[:, None]).sum(0)
        codes = np.flatnonzero(np.bincount(code))
        count, total = total_histograms(
            groups, np.searchsorted(codes, code), len(codes), threads=os.cpu_count() or 1
        )
        # What no total falls into, which is most, adds nothing to any metric.
        used = count.any(axis=(0, 1))
        count, total = count[..., used], total[..., used]
        found = {}
        for i, ref in enumerate(refs):
            inside = (codes >> i & 1).astype(bool)
            times = count[inside].sum(0).astype(np.float64)
            sums = total[inside].sum(0) * step
            x = np.divide(sums, times, out=np.zeros_like(sums), where=times > 0)
            found[ref] = ReplicateValues(self.call(ref, x, times), len(groups) - 1)
        return found
