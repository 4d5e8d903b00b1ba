"""Weights of categories in place of items: MIPS.

Where what matters about an item is its category, ``w(c) = π(c | position) / π_log(c | position)`` has the same mean and a
far smaller variance (Saito & Joachims, ICML 2022).  Biased where items of one category differ.

Several columns of categories are taken jointly: a product of the weights of each, as one library has it for its
self-normalised form, is another estimand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from audit.clicks.distinct import distinct, firsts
from audit.clicks.log import ImpressionLog
from audit.clicks.reading import codes_in, refuse
from audit.clicks.target import Cells
from audit.dataset.model import F64, I64
from audit.errors import ConfigError
from audit.inputs.ids import read_ids
from audit.inputs.log import Log, Scope
from audit.inputs.read import open_table

EXACT = 1e-6


def categories_of(data: Any, log: ImpressionLog, target: Cells) -> I64:
    """The category of each item of the log, then of those that only the target shows: ``[items]``.

    Parameters
    ----------
    data
        A table with ``item_id``; all its other columns together are the category.

    Raises
    ------
    InputError, ConfigError
        An item without a category, or with two.
    """
    if data is None:
        raise ConfigError("mips needs categories: a table of item_id and what defines a category.")
    opened = open_table(data, "categories")
    notes = Log()
    scope = Scope("categories", notes, 0, "columns", untyped=opened.untyped)
    if "item_id" not in opened.names or len(opened.names) < 2:
        raise refuse(scope, "missing_column", "item_id", "item_id and a column of categories are needed", "Name them so.")  # fmt: skip
    table = opened.read(opened.names)
    scope.total = table.num_rows
    named = read_ids(table.column("item_id"), "item_id", "item", scope)
    notes.finish()
    assert named is not None
    joint = np.zeros(table.num_rows, np.int64)
    for name in opened.names:
        if name != "item_id":
            codes = np.unique(table.column(name).cast("string").fill_null("").to_numpy(), return_inverse=True)[1]  # fmt: skip
            joint = np.unique(joint * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    item = codes_in(log.items, named).astype(np.int64)
    from audit.dataset.ids import Ids

    strange = codes_in(Ids(target.others), named).astype(np.int64)
    item = np.where((item < 0) & (strange >= 0), strange + len(log.items), item)
    found = np.full(target.items, -1, np.int64)
    here = item >= 0
    found[item[here]] = joint[here]
    twice = here & (found[np.maximum(item, 0)] != joint)
    if twice.any():
        scope.report("error", "two_categories", None, "an item has two categories", "Keep one row for each item.", at=twice)  # fmt: skip
    lost = np.flatnonzero(found < 0)
    if len(lost):
        scope.report(
            "error", "missing_categories", "item_id", "items have no category", "Give every item that is shown one.",
            count=len(lost), total=target.items,
        )  # fmt: skip
    notes.finish()
    return found


def marginal_weights(log: ImpressionLog, target: Cells, category: I64, w: F64) -> F64:
    """``π(c | context, position) / π_log(c | context, position)`` of each row's category.

    The log's share of a category is the sum of its items' propensities where each item at a position has one propensity and
    these add up to 1; else the mean of the plain weights of the rows of that category, which estimates the same ratio.
    """
    number = int(category.max()) + 1
    group = target.groups_of(log)
    known, _, of = distinct(group)
    row = of.astype(np.int64) * number + category[log.item]
    size = len(known) * number
    shown = _propensities(log, group, known, category, number)
    if shown is None:
        rows = np.bincount(row, minlength=size)
        return np.asarray((np.bincount(row, w, size) / np.maximum(rows, 1))[row])
    place = np.searchsorted(known, target.group)
    place[place == len(known)] = 0
    there = known[place] == target.group
    wanted = np.bincount((place * number + category[target.item])[there], target.value[there], size)
    return np.asarray(wanted[row] / shown[row])


def _propensities(
    log: ImpressionLog, group: I64, known: I64, category: I64, number: int
) -> F64 | None:  # fmt: skip
    """The log's probability of each (group, category), or ``None`` where the log does not say it."""
    p = log.propensity
    assert p is not None
    cell = group * len(log.items) + log.item
    key, first = firsts(cell)
    same = p[first][distinct(cell)[2]]
    if (np.abs(p - same) > EXACT * p).any():
        return None
    place = np.searchsorted(known, key // len(log.items))
    if (np.abs(np.bincount(place, p[first]) - 1) > 1e-3).any():
        return None
    of_category = place * number + category[key % len(log.items)]
    return np.bincount(of_category, p[first], len(known) * number).astype(np.float64)
