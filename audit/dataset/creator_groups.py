"""Creators by attribute: the groups whose share of exposure is held against a target.

An item is shared equally among its creators, and a creator is in one group of an attribute; creators for
whom the attribute is not known are a group of their own.  Shares are of what has a creator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from audit.dataset.ids import Ids
from audit.dataset.model import F64, I32, I64, Bool, Items
from audit.dataset.segments import MAX_CELLS
from audit.errors import ConfigError, DataIssue, choices

MISSING = "(missing)"

Target = str | Mapping[str, float]
"""``catalog``, ``relevance``, or a share for each group."""


@dataclass(frozen=True, eq=False)
class CreatorGroups:
    """The attributes that make groups, and the one that metrics are about."""

    attributes: Mapping[str, tuple[I32, Sequence[str]]] = field(default_factory=dict)
    """Attribute → (group of each creator code, names of the groups)."""
    chosen: str | None = None
    catalog: Mapping[str, F64] = field(default_factory=dict)
    """Attribute → ``[groups]``: shares of the catalog's items."""
    relevance: Mapping[str, F64] = field(default_factory=dict)
    """Attribute → ``[groups]``: shares of the relevant (user, item) pairs; empty without relevance."""
    stated: F64 | None = None
    """``[groups]`` of the chosen attribute."""
    target_of: str = "catalog"
    """``catalog``, ``relevance`` or ``stated``."""

    @property
    def of_creator(self) -> I32:
        """``[creators]``: the group in the chosen attribute."""
        assert self.chosen is not None
        return np.asarray(self.attributes[self.chosen][0])

    @property
    def n(self) -> int:
        """Groups of the chosen attribute."""
        return 0 if self.chosen is None else len(self.attributes[self.chosen][1])

    @property
    def target(self) -> F64:
        """``[groups]``: what the chosen attribute's groups are held against."""
        assert self.chosen is not None
        if self.stated is not None:
            return self.stated
        return (self.relevance if self.target_of == "relevance" else self.catalog)[self.chosen]

    @property
    def merit(self) -> F64 | None:
        """``[groups]``: the chosen attribute's shares of relevance."""
        return self.relevance.get(self.chosen or "")


def group_creators(
    creators: pa.Table | None, items: Items, chosen: str | None, target: Target
) -> tuple[CreatorGroups, list[DataIssue]]:
    """The groups of a catalog's creators, before anything is known of relevance.

    Parameters
    ----------
    chosen
        The attribute that metrics are about; the first that makes groups where absent.

    Raises
    ------
    ConfigError
        ``chosen`` makes no groups, or a stated target names no group or does not add up to 1.
    """
    ids = items.creator_ids
    if creators is None or not len(ids):
        return CreatorGroups(), []
    attributes, issues = _attributes(creators, ids)
    if chosen is not None and chosen not in attributes:
        raise ConfigError("[creators] group: " + choices("attribute", chosen, list(attributes)))
    if chosen is None:
        chosen = next(iter(attributes), None)
    if chosen is None:
        return CreatorGroups(), issues
    names = attributes[chosen][1]
    stated = None if isinstance(target, str) else _stated(target, names)
    catalog = {a: _shares(items, *of, items.in_catalog) for a, of in attributes.items()}
    return CreatorGroups(
        attributes, chosen, catalog, {}, stated, target if isinstance(target, str) else "stated"
    ), issues  # fmt: skip


def with_relevance(groups: CreatorGroups, items: Items, relevant: I64 | None) -> CreatorGroups:
    """The groups with their shares of relevance.  ``relevant``: :attr:`Overview.relevant`."""
    if relevant is None:
        return groups
    shares = {a: _shares(items, *of, relevant) for a, of in groups.attributes.items()}
    return replace(groups, relevance=shares)


def _attributes(
    creators: pa.Table, ids: Ids
) -> tuple[dict[str, tuple[I32, list[str]]], list[DataIssue]]:
    code = ids.codes(creators["creator_id"])
    known = code >= 0
    found: dict[str, tuple[I32, list[str]]] = {}
    issues = []
    for attribute in creators.column_names:
        if attribute in ("creator_id", "name"):
            continue
        column = creators[attribute].cast(pa.string())
        values = Ids.of([column.filter(pa.array(known))])
        if len(values) > MAX_CELLS:
            issues.append(
                DataIssue(
                    check="too_many_groups", severity="info", table="creators", column=attribute,
                    count=len(values), message=f"the attribute has more than {MAX_CELLS} values; no groups are made of it",
                    remedy="Group its values, such as regions instead of cities.",
                )
            )  # fmt: skip
            continue
        group = np.full(len(ids), -1, np.int32)
        group[code[known]] = values.codes(column)[known]
        names = values.text(range(len(values)))
        if (group < 0).any():
            missing = MISSING
            while missing in names:
                missing = f"({missing})"
            group[group < 0] = len(names)
            names = [*names, missing]
        found[attribute] = (group, names)
    return found, issues


def _stated(target: Mapping[str, float], names: Sequence[str]) -> F64:
    for name in target:
        if name not in names:
            raise ConfigError("[creators] target: " + choices("group", name, list(names)))
    shares = np.array([float(target.get(name, 0.0)) for name in names])
    if (shares < 0).any() or abs(shares.sum() - 1) > 1e-6:
        raise ConfigError(
            f"[creators] target: shares from 0 that add up to 1 are wanted; these add up to {shares.sum():g}."
        )
    return np.asarray(shares / shares.sum())


def _shares(items: Items, group: I32, names: Sequence[str], weight: Bool | I64) -> F64:
    """Of what has a creator, each group's share; NaN where nothing has."""
    lengths: I64 = items.creators.lengths
    each = np.repeat(weight / np.maximum(lengths, 1), lengths)
    total = np.bincount(group[items.creators.values], weights=each, minlength=len(names))
    whole = total.sum()
    return np.asarray(total / whole if whole > 0 else np.full(len(names), np.nan))


def why_no_groups(
    creators: pa.Table | None, found: CreatorGroups, *, judged: bool
) -> str | None:  # fmt: skip
    """Why there are no groups of creators, or ``None`` where there are.

    ``judged``: whether there is relevance.
    """
    if found.chosen is None:
        if creators is None:
            return "no creators table was given"
        return "no attribute of the creators makes groups"
    if found.stated is None and found.target_of == "relevance" and not judged:
        return "the creators' target is their share of relevance, and no relevance table was given"
    return None
