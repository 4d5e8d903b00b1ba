"""Which stage holds a model back: found, or ranked?  One table, or the sentence that says why not."""

from __future__ import annotations

from audit import formatting as fmt
from audit.render.context import Context
from audit.render.view import Block, Cell, Column, Row, Table, Text

MEASURES = (
    ("ndcg", "NDCG"),
    ("ndcg_ceiling", "Ceiling"),
    ("ranking_efficiency", "Efficiency"),
    ("pool_recall", "Pool recall"),
    ("pool_hit_rate", "Pool hit rate"),
)


def build(context: Context) -> Block:
    """NDCG at the top slot and at the viewport as ceiling × efficiency, for each model."""
    ks = list(dict.fromkeys((1, context.viewport)))
    rows = [
        row for k in ks for model in context.models if (row := _row(context, model, k)) is not None
    ]
    if not rows:
        why = context.why_missing("ndcg_ceiling") or "it was not asked for."
        return Text(text=f"Retrieval and ranking cannot be told apart: {why}", style="note")
    return Table(
        id="stages",
        caption="What holds each model back: finding the items, or putting them in order",
        columns=(
            Column(title="Model", width=1),
            *(Column(title=title, align="end") for _, title in MEASURES),
        ),
        rows=tuple(rows),
        note="NDCG = ceiling × efficiency. The ceiling is the NDCG of the pool in its best order: what lies above it "
        "only better retrieval can win, what lies below it only better ranking.",
    )


def _row(context: Context, model: str, k: int) -> Row | None:
    found = [context.measurement(model, f"{name}@{k}") for name, _ in MEASURES]
    if found[1] is None or found[1].value is None:
        return None
    values = [None if m is None else m.value for m in found]
    return Row(
        group="The first position" if k == 1 else f"The first {fmt.counted(k, 'position')}",
        cells=(
            Cell(text=model),
            *(Cell(text=fmt.number(v, 3), value=v) for v in values),
        ),
    )
