"""One model's values, without comparison: what :func:`audit.evaluate` returns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from audit.dataset.model import F64, Dataset
from audit.engine import Measured, Plan
from audit.engine.memory import planned_values, unavailable
from audit.errors import ConfigError
from audit.inference.compare import Comparer
from audit.metrics.block import Block, Shared
from audit.metrics.registry import MetricRef


def require(dataset: Dataset, plan: Plan, asked: Sequence[MetricRef], *, per_list: bool) -> None:
    """Check that every metric that was asked for by name can be had of one model, or of one list.

    Raises
    ------
    ConfigError
        One cannot; the message says why.
    """
    reasons = unavailable(dataset, plan)
    for ref in asked:
        reason = reasons.get(MetricRef(ref.name, ref.parameters))
        if ref.spec.level == "pair":
            reason = "it compares two models' lists with each other"
        elif per_list and ref.spec.level != "list":
            reason = f"a metric of level '{ref.spec.level}' has no value for a single list"
        if reason is not None:
            raise ConfigError(f"metric '{ref}' cannot be measured: {reason}.")


def means(dataset: Dataset, plan: Plan, measured: Measured) -> pd.DataFrame:
    """Indexed by metric name: ``value``, and ``n``, the users with a value.

    The one model of the data set is called ``model``; its seeds are averaged.
    """
    comparer = Comparer(dataset, plan, measured, seed=0)
    totals = [measured.partials.lists[run].total() for run in comparer.runs("model")]
    found: dict[MetricRef, tuple[F64, int]] = {}
    for ref in comparer.wanted("list") + comparer.wanted("session"):
        column = measured.column(ref, measured.list_refs)
        n = np.array([total.count[0, column] for total in totals])
        sums = np.array([total.sums()[0, column] for total in totals])
        found[ref] = (
            np.divide(sums, n, out=np.full(len(n), np.nan), where=n > 0),
            int(n.sum()) // len(n),
        )
    for ref in comparer.wanted("system"):
        found[ref] = np.array(comparer.exact("model", ref)), len(dataset.users)
    for ref in comparer.wanted("derived"):
        parts = [found[MetricRef(name, (), ref.k)] for name in ref.spec.of]
        found[ref] = comparer.derive(ref, [values for values, _ in parts]), min(n for _, n in parts)
    order = [ref.at(int(k)) for ref in plan.refs for k in plan.ks if ref.at(int(k)) in found]
    return pd.DataFrame(
        {"value": [float(found[r][0].mean()) for r in order], "n": [found[r][1] for r in order]},
        index=pd.Index([str(r) for r in order], name="metric"),
    )


def per_list(dataset: Dataset, plan: Plan) -> pd.DataFrame:
    """One row per list: ``user_id``, ``request_id`` (where given), and each metric of level ``list``.

    Raises
    ------
    ConfigError
        No metric of the plan has a value for a single list, or the model has several seeds.
    """
    if len(dataset.models["model"]) > 1:
        raise ConfigError("per_list: give the lists of one seed at a time.")
    shared = Shared(dataset, 0, len(dataset.users), plan.kmax)
    b = Block(shared, dataset.models["model"][0])
    frame: dict[str, object] = {"user_id": dataset.users.values.take(b.user).to_pandas()}
    if len(dataset.requests):
        # Code −1: the empty list of a user who was shown none.
        code = pa.array(dataset.list_request, mask=dataset.list_request < 0)
        frame["request_id"] = dataset.requests.values.take(code).to_pandas()
    missing = unavailable(dataset, plan)
    refs = [r for r in plan.level("list") if r not in missing]
    if not refs:
        names = ", ".join(str(r) for r in plan.refs)
        raise ConfigError(f"per_list: none of {names} has a value for a single list.")
    for ref in refs:
        values = planned_values(ref, dataset, plan, b)
        for j, k in enumerate(plan.ks):
            if ref.at(int(k)) in plan.wanted:
                frame[str(ref.at(int(k)))] = values[:, j]
    return pd.DataFrame(frame)
