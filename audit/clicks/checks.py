"""What can be wrong with an impression log.

Each check writes :class:`~audit.errors.DataIssue` objects to the scope of the table; the reader raises the errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit.clicks.reading import whole
from audit.dataset.model import F64, I32
from audit.inputs.keys import Key, repeats
from audit.inputs.log import Scope, as_mask

FEW = 10
"""A log of fewer rows may hold nothing but clicks by chance."""


def clicks_without_impression(
    columns: Mapping[str, pa.ChunkedArray], numbers: Mapping[str, F64], scope: Scope
) -> bool:
    """Clicks on what was never logged as shown: no position, impression or item.  Whether there are any."""
    lost = np.isnan(numbers["position"])
    for name in ("impression_id", "item_id"):
        if name in columns:
            lost |= as_mask(
                pc.is_null(columns[name], nan_is_null=pa.types.is_floating(columns[name].type))
            )
    lost &= numbers["click"] == 1
    if lost.any():
        scope.report(
            "error", "clicks_without_impression", None, "clicks belong to no impression: position, item or impression_id is empty",
            "Join clicks to what was shown, and log what was shown whether clicked or not.", at=lost,
        )  # fmt: skip
    return bool(lost.any())


def positions(position: F64, scope: Scope) -> None:
    """Whole numbers from 1."""
    empty = np.isnan(position)
    if empty.any():
        scope.report(
            "error", "missing_positions", "position", "positions are missing",
            "Log the position at which each item was shown.", at=empty,
        )  # fmt: skip
    wrong = ~empty & ~((position >= 1) & whole(position) & (position < 2**31))
    if wrong.any():
        zero = bool((position[wrong] == 0).all())
        scope.report(
            "error", "wrong_positions", "position", "positions are not whole numbers from 1 on",
            "They seem to count from 0: add 1." if zero else "Count positions from 1.",
            at=wrong, examples=position,
        )  # fmt: skip


def clicks(click: F64, scope: Scope) -> None:
    """0 or 1, and not all of them 1."""
    empty = np.isnan(click)
    if empty.any():
        scope.report(
            "error", "missing_clicks", "click", "it is not said whether these were clicked",
            "Write 0 where something was shown and not clicked.", at=empty,
        )  # fmt: skip
    wrong = ~empty & (click != 0) & (click != 1)
    if wrong.any():
        scope.report(
            "error", "wrong_clicks", "click", "clicks are other than 0 and 1",
            "Give one row per impression and position; several clicks on it are 1, other outcomes go to 'reward'.",
            at=wrong, examples=click,
        )  # fmt: skip
    elif len(click) and (click == 1).all():
        scope.report(
            "error" if len(click) >= FEW else "warning", "missing_unclicked", "click",
            "every row was clicked: what was shown and not clicked is not in the log",
            "Log every item that was shown, clicked or not: without them no click rate is known.",
        )  # fmt: skip


def probabilities(numbers: Mapping[str, F64], scope: Scope) -> None:
    """Propensities in (0, 1], examination in [0, 1]; what is missing stays missing."""
    for name in ("propensity", "p_prefix", "p_slate", "examination"):
        if name not in numbers:
            continue
        values = numbers[name]
        empty = np.isnan(values)
        least = values < 0 if name == "examination" else values <= 0
        wrong = ~empty & (least | (values > 1))
        if wrong.any():
            span = "[0, 1]" if name == "examination" else "(0, 1]"
            scope.report(
                "error", "wrong_propensities", name, f"probabilities lie outside {span}",
                "What was shown had a probability of being shown: log the policy's own, before any clipping.",
                at=wrong, examples=values,
            )  # fmt: skip
        if empty.any():
            scope.report(
                "warning", "missing_propensities", name, "probabilities are missing",
                "Nothing is put in their place: what needs them will be refused.", at=empty,
            )  # fmt: skip


def rewards(numbers: Mapping[str, F64], scope: Scope) -> None:
    """Finite numbers."""
    if "reward" in numbers:
        wrong = ~np.isfinite(numbers["reward"])
        if wrong.any():
            scope.report(
                "error", "wrong_rewards", "reward", "rewards are missing or infinite",
                "Write 0 where there was none.", at=wrong,
            )  # fmt: skip


def impressions(codes: Mapping[str, I32], numbers: Mapping[str, F64], scope: Scope) -> None:
    """What rows of one impression must agree on, and be complete in."""
    if "impression_id" not in codes:
        return
    impression = codes["impression_id"].astype(np.int64)
    position = numbers["position"].astype(np.int64)
    top = int(position.max())
    later = repeats(Key(impression * (top + 1) + position, 2**62))
    if len(later):
        scope.report(
            "error", "duplicate_positions", "position", "an impression shows two items at one position",
            "Give each impression an impression_id of its own, and each position one row.", at=later,
        )  # fmt: skip
        return
    items = codes["item_id"].astype(np.int64)
    again = repeats(Key(impression * (int(items.max()) + 1) + items, 2**62))
    if len(again):
        scope.report(
            "warning", "repeated_items", "item_id", "an impression shows an item more than once",
            "Check that this is meant: each showing counts.", at=again,
        )  # fmt: skip
    for name in ("user_id", "context_id", "policy_id"):
        if name in codes:
            _one_each(impression, codes[name], name, "an impression has more than one value", scope)
    _gaps(impression, position, numbers["click"], scope)
    _slates(impression, position, numbers, scope)


def _gaps(impression: Any, position: Any, click: F64, scope: Scope) -> None:
    """Positions run 1, 2, 3 …; where only clicked rows are left, the others were dropped."""
    shown = np.bincount(impression)
    last = np.zeros(len(shown), np.int64)
    np.maximum.at(last, impression, position)
    gap = (last > shown)[impression]
    if not gap.any():
        return
    number = int((last > shown).sum())
    if len(gap) >= FEW and (click[gap] == 1).all():
        scope.report(
            "error", "missing_unclicked", "click",
            "impressions with missing positions hold clicked rows alone: what was not clicked is not in the log",
            "Log every item that was shown, clicked or not.", at=gap, count=number, total=len(shown),
        )  # fmt: skip
        return
    scope.report(
        "warning", "position_gaps", "position", "impressions lack positions between 1 and their last",
        "Log every position, or say why some hold nothing: a missing row is not an unclicked one.",
        at=gap, count=number, total=len(shown),
    )  # fmt: skip


def _slates(impression: Any, position: Any, numbers: Mapping[str, F64], scope: Scope) -> None:
    """Probabilities of lists are the same along a list, those of prefixes never rise."""
    slate, prefix = numbers.get("p_slate"), numbers.get("p_prefix")
    if slate is not None:
        _one_each(impression, slate, "p_slate", "a list has more than one probability", scope)
    if prefix is None:
        return
    order = np.lexsort((position, impression))
    same = np.diff(impression[order]) == 0
    rises = same & (prefix[order][1:] > prefix[order][:-1] * (1 + 1e-9))
    if rises.any():
        scope.report(
            "error", "rising_prefixes", "p_prefix", "a longer prefix is more probable than a shorter one of the same list",
            "p_prefix is the probability of all items from position 1 to here, in this order.", at=order[1:][rises],
        )  # fmt: skip


def _one_each(impression: Any, values: Any, name: str, message: str, scope: Scope) -> None:
    first = np.zeros(int(impression.max()) + 1, values.dtype)
    first[impression[::-1]] = values[::-1]
    expected = first[impression]
    with np.errstate(invalid="ignore"):
        other = values != expected
        if values.dtype == np.float64:
            other = np.abs(values - expected) > 1e-9 * np.abs(expected)
    if other.any():
        scope.report(
            "error", "mixed_impressions", name, message,
            "Rows of one impression_id were shown together, by one policy: give others an id of their own.", at=other,
        )  # fmt: skip
