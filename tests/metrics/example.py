"""From the worked examples of the package (``audit/metrics/examples/``) to what is measured of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audit import single
from audit.metrics.registry import MetricRef, parse
from tests import support


def value(text: str, given: Mapping[str, Any]) -> float:
    """One metric's value of what an example gives."""
    ref = parse(text)
    found = values(given, [text], [int(ref.k or 0)])
    return found[str(ref)][0]


def values(
    given: Mapping[str, Any], metrics: list[str], ks: list[int], **how: Any
) -> dict[str, tuple[float, int]]:
    """Value and number of users, by metric at K; fails where a metric could not be measured."""
    given = tables(given)
    models = {"baseline": given.pop("baseline")} if "baseline" in given else {}
    models["model"] = given.pop("shown")
    conventions, as_of = given.pop("conventions", {}), given.pop("as_of", None)
    dataset = support.encoded(support.inputs(models, **given), as_of=as_of, **conventions)
    plan, measured = support.measured(dataset, metrics, ks, **how)
    assert dict(measured.unavailable) == {}
    frame = single.means(dataset, plan, measured)
    found = {
        name: (float(row.value), int(row.n))
        for name, row in zip(frame.index, frame.itertuples(), strict=True)
    }
    if measured.pair_refs:
        total = measured.partials.pairs["model", 0].total()
        for ref in measured.pair_refs:
            for k in plan.ks_of(ref):
                column = measured.column(
                    MetricRef(ref.name, ref.parameters, int(k)), measured.pair_refs
                )
                n = int(total.count[0, column])
                mean = float(total.sums()[0, column]) / n if n else float("nan")
                found[str(ref.at(int(k)))] = mean, n
    return found


def tables(given: Mapping[str, Any]) -> dict[str, Any]:
    """What an example gives as plain data, as :func:`tests.support.inputs` takes it."""
    made = dict(given)
    beside = {name: made.pop(name) for name in ("shown_at", "session") if name in made}
    for name in ("shown", "baseline"):
        if beside and name in made:
            made[name] = support.lists(made[name], **beside)
    if isinstance(made.get("catalog"), Mapping):
        made["catalog"] = support.catalog(**made["catalog"])
    if isinstance(made.get("creators"), Mapping):
        table = support.people(made["creators"])
        made["creators"] = table.rename_columns(["creator_id", *table.column_names[1:]])
    if isinstance(made.get("eligible"), list):
        made["eligible"] = support.pa.table({"item_id": support.ids(made["eligible"])})
    if isinstance(made.get("as_of"), int):
        made["as_of"] = support.EPOCH + support.dt.timedelta(days=made["as_of"])
    return made
