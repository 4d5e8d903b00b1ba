"""What was noticed of tables that belong together, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from audit.dataset import checks, pools
from audit.dataset.facts import Facts
from audit.dataset.model import Items
from audit.errors import DataIssue, InputError
from audit.inputs.load import model_tables


def word_issues(
    facts: Facts, noticed: Sequence[DataIssue], items: Items, models: Mapping[str, Sequence[object]],
    viewport: int,
) -> list[DataIssue]:  # fmt: skip
    """What the tables say about each other.

    Parameters
    ----------
    noticed
        When segments and groups of creators were made.
    models
        Model → its seeds.

    Raises
    ------
    InputError
        Tables share no id.
    """
    tables = [name for model, seeds in models.items() for name in model_tables(model, len(seeds))]
    issues: list[DataIssue] = []
    for name in tables:
        lists = facts.lists[name]
        issues += checks.short_lists(name, lists.short, lists.shown, viewport)
    for name, pool in facts.pools.items():
        issues += pools.check_pool(name, pool)
    issues += noticed
    matches = list(checks.check_matches(facts, items))
    errors = [issue for issue in matches if issue.severity == "error"]
    if errors:
        raise InputError(errors)
    issues += matches
    for name in tables:
        issues += checks.check_lists(name, facts.lists[name], items.ids, facts.listed)
    if facts.judged is not None:
        issues += checks.check_relevance(facts.judged, facts.without_lists, items.ids)
    return issues
