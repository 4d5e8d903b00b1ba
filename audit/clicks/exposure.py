"""Beyond accuracy: whom the new policy would show, beside what it would earn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from audit.clicks.distinct import distinct
from audit.clicks.evaluation import Evaluation
from audit.clicks.reading import codes_in
from audit.conventions import Conventions
from audit.dataset.ids import Ids
from audit.dataset.items import head_and_tail
from audit.dataset.model import F64, I64
from audit.errors import ConfigError
from audit.inputs.draft import Draft
from audit.inputs.load import draft_table
from audit.inputs.log import Log
from audit.inputs.names import Kind
from audit.inputs.tables import TableSource
from audit.metrics.distribution import effective_size, gini

if TYPE_CHECKING:
    import pandas as pd


def beyond_accuracy(e: Evaluation, catalog: Any, history: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Exposure of items, of the tail and of creators, as logged and as the target would have it.

    A position's weight is 1/log2(position + 1); the target's exposure is expected: its probabilities, in the contexts of
    the log.  Coverage is the number of items that a policy shows at all.

    Returns
    -------
    measures
        ``logged`` and ``target`` by ``measure``; the tail needs ``history``, creators need ``catalog``.
    exposure
        ``item_id``, ``logged``, ``target``: shares of all exposure.
    """
    import pandas as pd

    names = _items(e)
    logged = np.bincount(
        e.log.item, 1 / np.log2(e.log.position.astype(np.float64) + 1), e.target.items
    ).astype(np.float64)
    target = _expected(e)
    population, place = _population(names, catalog, e)
    both = [_laid(x, place, len(population)) for x in (logged, target)]
    measures: dict[str, list[float]] = {}
    default = Conventions()
    measures["items_shown"] = [_or_nan(x, float((x > 0).sum())) for x in both]
    measures["item_gini"] = [_or_nan(x, float(gini(x, default))) for x in both]
    measures["effective_items"] = [_or_nan(x, float(effective_size(x))) for x in both]
    if history is not None:
        tail = _tail(history, population, default)
        measures["tail_share"] = [_or_nan(x, float(x[tail].sum() / x.sum())) for x in both]
    if catalog is not None:
        creators = _creators(catalog, population)
        if creators is not None:
            item, creator, share, number = creators
            by = [np.bincount(creator, x[item] * share, number).astype(np.float64) for x in both]
            measures["creator_gini"] = [_or_nan(x, float(gini(x, default))) for x in by]
            measures["creators_shown"] = [_or_nan(x, float((x > 0).sum())) for x in by]
    frame = pd.DataFrame.from_dict(measures, orient="index", columns=["logged", "target"])
    shares = [x / x.sum() if x.sum() > 0 else x for x in both]
    exposure = pd.DataFrame({"item_id": population.values.to_pandas(), "logged": shares[0], "target": shares[1]})  # fmt: skip
    return frame.rename_axis("measure"), exposure


def _or_nan(x: F64, value: float) -> float:
    return value if np.isfinite(x).all() and x.sum() > 0 else float("nan")


def _items(e: Evaluation) -> Ids:
    """The items in the order of their codes: the log's, then those that only the target shows."""
    others = e.target.others
    known = e.log.items.values
    return Ids(known if not len(others) else pa.concat_arrays([known, others.cast(known.type)]))


def _expected(e: Evaluation) -> F64:
    """The target's exposure by item; NaN where the target says less than what it would show."""
    t = e.target
    groups, counts, _ = distinct(t.groups_of(e.log))
    if (t.sums(t.value, groups) < 0.9).any():
        return np.full(t.items, np.nan)
    place = np.minimum(np.searchsorted(groups, t.group), len(groups) - 1)
    often = np.where(groups[place] == t.group, counts[place], 0)
    weight = often / np.log2(t.group % t.width + 1.0)
    return np.bincount(t.item, weight * t.value, t.items).astype(np.float64)


def _population(names: Ids, catalog: Any, e: Evaluation) -> tuple[Ids, I64]:
    """The items that count, and each of ours' place among them (−1: outside the catalog)."""
    if catalog is None:
        order = np.argsort(np.asarray(names.values.to_pandas(), dtype=object if pa.types.is_string(names.values.type) else None))  # fmt: skip
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return Ids(names.values.take(pa.array(order))), place
    found = _draft("catalog", catalog)
    known = Ids.of([found.ids["item_id"].values])
    column = found.ids["item_id"]
    place = np.full(e.target.items, -1, np.int64)
    # Codes of the catalog's items among ours, turned round.
    codes = codes_in(names, column)
    own = known.codes(column.values)
    place[codes[codes >= 0]] = own[codes >= 0]
    return known, place


def _laid(x: F64, place: I64, number: int) -> F64:
    kept = place >= 0
    out = np.zeros(number)
    np.add.at(out, place[kept], x[kept])
    return out


def _draft(kind: Kind, data: Any) -> Draft:
    log = Log()
    found = draft_table(kind, kind, TableSource(data=data), Conventions(), log)
    log.finish()
    assert found is not None
    return found


def _tail(history: Any, population: Ids, conventions: Conventions) -> Any:
    """Which items are tail: outside the fewest most popular that make up 80 % of history's distinct pairs."""
    found = _draft("history", history)
    item = codes_in(population, found.ids["item_id"]).astype(np.int64)
    users = Ids.of([found.ids["user_id"].values])
    user = users.codes(found.ids["user_id"].values).astype(np.int64)
    pairs = np.unique((user * len(population) + item)[item >= 0])
    popularity = np.bincount(pairs % len(population), minlength=len(population))
    return head_and_tail(popularity, np.ones(len(population), bool), conventions.head_share)[0]


def _creators(catalog: Any, population: Ids) -> tuple[I64, I64, F64, int] | None:
    """(item, creator, share) of each pair, an item's exposure being split among its creators; and their number."""
    found = _draft("catalog", catalog)
    if "creator_id" not in found.ids:
        return None
    column = found.ids["creator_id"].values
    known = Ids.of([column])
    if not len(known):
        raise ConfigError("catalog: no item has a creator_id.")
    offsets = found.offsets.get("creator_id", np.arange(len(column) + 1))
    number = np.diff(offsets)
    item = np.repeat(population.codes(found.ids["item_id"].values), number).astype(np.int64)
    share = np.repeat(1 / np.maximum(number, 1), number)
    creator = known.codes(column).astype(np.int64)
    there = creator >= 0
    return item[there], creator[there], share[there], len(known)
