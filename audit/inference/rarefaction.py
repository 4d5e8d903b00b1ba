"""Coverage brought to a common number of users, so that audits of different size can be compared.

How much of the catalog an audit covers depends on how many users are audited: one and the same model covers
more with more users.  So two audits are compared at the size of the smaller, at the coverage expected of a
random part of the larger one's users.  For coverage this has a closed form, from how many users were shown
each item; for other functionals of the system (Gini, effective sizes, top shares) there is none, and audits of
different size are not compared on them.

Source: Hurlbert (1971), "The nonconcept of species diversity", Ecology 52, 577–586.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from audit.inference.counts import rarefied_coverage
from audit.metrics.registry import parse
from audit.result import AuditResult

CLOSED_FORMS: Mapping[str, str] = {
    "catalog_coverage": "items",
    "tail_coverage": "tail items",
    "creator_coverage": "creators",
}
"""The metric, and what it is a coverage of."""


class CannotRarefyError(ValueError):
    """A metric of a result cannot be brought to another number of users; the message says why."""


def rarefied(result: AuditResult, model: str, metric: str, users: int) -> float:
    """A model's coverage, expected of a random ``users`` of the users of its audit.

    Parameters
    ----------
    result
        Fresh, or loaded from ``audit.json``.
    metric
        Full name with K, such as ``catalog_coverage@10``.
    users
        At most as many as were audited.

    Returns
    -------
    1 − (1/I) Σᵢ C(n−xᵢ, m)/C(n, m), of n users audited and m ``users``, xᵢ of them shown item i; of several
    seeds, the mean.

    Raises
    ------
    CannotRarefyError
        No closed form for this metric, another K than the viewport, counts that the result does not hold (one
        of before schema 1.2, or a model that is not in it), or more users than were audited.
    """
    n = result.population.users
    why = refusal(result, model, metric)
    if why is None and not 0 < users <= n:
        why = f"an audit of {n} users says nothing of one of {users}"
    if why is not None:
        raise CannotRarefyError(f"{metric} of '{model}' cannot be rarefied: {why}")
    what = CLOSED_FORMS[parse(metric).name]
    (found,) = (s for s in result.exhibits.users_shown if (s.model, s.what) == (model, what))
    each = []
    for seed in found.seeds:
        counts = np.array(list(seed), np.int64)
        items = np.array(list(seed.values()), np.int64)
        each.append(rarefied_coverage(np.repeat(counts, items), n, users))
    return float(np.mean(each))


def refusal(result: AuditResult, model: str, metric: str) -> str | None:
    """Why a metric of a result cannot be rarefied, as a clause; ``None`` where it can."""
    ref = parse(metric)
    if ref.name not in CLOSED_FORMS or ref.parameters:
        known = ", ".join(CLOSED_FORMS)
        return f"it depends on how many users are audited, and only {known} have a closed form"
    if ref.k not in (None, result.audit.viewport):
        return f"how many users were shown what is kept at K = {result.audit.viewport} only"
    if not any(
        s.model == model and s.what == CLOSED_FORMS[ref.name] for s in result.exhibits.users_shown
    ):
        return "the result does not hold how many users were shown what (kept from schema 1.2 on)"
    return None


def depends_on_size(metric: str) -> bool:
    """Whether a metric's expected value depends on how many users are audited."""
    spec = parse(metric).spec
    return spec.level == "system" or any(depends_on_size(part) for part in spec.of)
