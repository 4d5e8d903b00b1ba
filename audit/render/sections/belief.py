"""Can we believe it: who was measured, what was odd, what is missing, what could not be seen."""

from __future__ import annotations

from audit import formatting as fmt
from audit.render.context import Context, split
from audit.render.sections import clicks, findings, robustness
from audit.render.view import Block, Callout, Cell, Column, Heading, Row, Section, Table, Text
from audit.result import Issue, ModelInfo


def build(context: Context) -> Section:
    """Ties and judgments, data issues, gaps and power."""
    blocks: list[Block] = [*findings.of_section(context, "belief")]
    blocks += [_population(context), _models(context)]
    blocks += robustness.blocks(context)
    blocks += clicks.blocks(context)
    blocks.append(Heading(id="issues", text="Data issues"))
    blocks.append(_issues(context))
    blocks.append(Heading(id="unavailable", text="What could not be measured"))
    blocks.append(_unavailable(context))
    blocks.append(Heading(id="power", text="What this many users cannot show"))
    blocks += _power(context)
    return Section(id="belief", title="Can we believe it?", blocks=tuple(blocks))


def _population(context: Context) -> Table:
    p = context.result.population
    facts: list[tuple[str, str, str]] = [
        ("Evaluated users", fmt.count(p.users), "with a list under at least one model"),
        (
            "… with relevant items",
            fmt.count(p.users_with_relevant),
            "relevance measures rest on these",
        ),
    ]
    if p.users_without_lists:
        facts.append(("Users left out", fmt.count(p.users_without_lists), "relevance but no list under any model"))  # fmt: skip
    source = "from the catalog" if p.catalog_given else "no catalog given: items seen in the inputs"
    facts.append(("Items", fmt.count(p.items), source))
    if p.head_items or p.tail_items:
        ties = (
            f"{fmt.counted(p.head_border_ties, 'item')} equally popular at the border"
            if p.head_border_ties > 1
            else ""
        )
        facts.append(
            ("… head, tail", f"{fmt.count(p.head_items)}, {fmt.count(p.tail_items)}", ties)
        )
    if p.tail_relevance_share is not None:
        facts.append(("Tail's share of relevance", fmt.percent(p.tail_relevance_share, 1), "what demand would give the tail"))  # fmt: skip
    if p.creators:
        facts.append(("Creators", fmt.count(p.creators), "of the catalog's items"))
    facts.append(("Relevance", context.result.audit.relevance_source, "where the ground truth comes from"))  # fmt: skip
    if p.embedding_source:
        facts.append(("Embeddings", p.embedding_source, "used for similarity of items"))
    return Table(
        id="population",
        caption="Who and what was measured",
        columns=(Column(title="What", width=2), Column(title="Value"), Column(title="Meaning", width=4)),
        rows=tuple(Row(cells=(Cell(text=a), Cell(text=b), Cell(text=c, tone="muted"))) for a, b, c in facts),
    )  # fmt: skip


def _models(context: Context) -> Table:
    models = context.result.models
    creators = any(m.exposure_without_creator is not None for m in models)

    def row(m: ModelInfo) -> Row:
        return Row(
            cells=(
                Cell(
                    text=m.name,
                    detail=m.role + (f", mean of {m.seeds} seeds" if m.seeds > 1 else ""),
                ),
                Cell(text=fmt.count(m.users), value=m.users),
                Cell(text=fmt.count(m.lists), value=m.lists),
                Cell(text=fmt.count(m.slots), value=m.slots),
                Cell(text=fmt.count(m.short_lists), value=m.short_lists),
                Cell(
                    text=fmt.percent(m.exposure_outside_catalog), value=m.exposure_outside_catalog
                ),
                *(
                    [
                        Cell(
                            text=fmt.percent(m.exposure_without_creator),
                            value=m.exposure_without_creator,
                        )
                    ]
                    if creators
                    else []
                ),
            )
        )

    return Table(
        id="models",
        caption="The models' lists",
        columns=(
            Column(title="Model", width=2),
            Column(title="Users", align="end"),
            Column(title="Lists", align="end"),
            Column(title="Shown items", align="end"),
            Column(title="Short lists", align="end"),
            Column(title="Exposure outside catalog", align="end"),
            *([Column(title="Exposure without creator", align="end")] if creators else []),
        ),
        rows=tuple(row(m) for m in models),
        note=f"Short: fewer than {fmt.counted(context.viewport, 'item')}. Items outside the catalog "
        "and items without a creator are left out of the measures that need them.",
    )


def _issues(context: Context) -> Block:
    issues = sorted(context.result.issues, key=lambda i: i.severity != "warning")
    if not issues:
        return Text(text="No check of the inputs found anything to report.")

    def row(issue: Issue) -> Row:
        where = issue.table if issue.column is None else f"{issue.table}, {issue.column}"
        of = "" if issue.total is None else f"of {fmt.count(issue.total)}"
        seen = f" Such as {', '.join(issue.examples)}." if issue.examples else ""
        warning = issue.severity == "warning"
        return Row(
            cells=(
                Cell(text=issue.message, detail=where),
                Cell(text="warning" if warning else "note", tone="caution" if warning else "muted"),
                Cell(text=fmt.count(issue.count), value=issue.count, detail=of),
                Cell(text=f"{issue.remedy}{seen}"),
            )
        )

    return Table(
        id="issues-table",
        caption="What the checks of the inputs found",
        columns=(
            Column(title="Found", width=3),
            Column(title="Severity"),
            Column(title="Count", align="end"),
            Column(title="What to do", width=3),
        ),
        rows=tuple(row(i) for i in issues),
    )


def _unavailable(context: Context) -> Block:
    if not context.result.unavailable:
        return Text(text="Every measure that was asked for could be measured.")
    reasons: dict[str, dict[str, None]] = {}
    for entry in context.result.unavailable:
        name = entry.metric if "@" in entry.metric else split(entry.metric)[0]
        reasons.setdefault(entry.reason, {})[name] = None
    return Table(
        id="unavailable-table",
        caption="Measures without a value, and why",
        columns=(Column(title="Why", width=2), Column(title="Measures", width=3)),
        rows=tuple(
            Row(cells=(Cell(text=reason), Cell(text=", ".join(metrics))))
            for reason, metrics in reasons.items()
        ),
    )


def _power(context: Context) -> list[Block]:
    users = context.result.population.users
    undecided = [g for g in context.result.guardrail_results if g.status == "undecided"]
    blocks: list[Block] = []
    if users < 50:
        blocks.append(
            Callout(
                id="few-users",
                tone="caution",
                label="Warning",
                title=f"Only {fmt.counted(users, 'user')}",
                paragraphs=(
                    ("", "Below 50 users no guardrail is decided and no verdict is given."),
                ),
            )
        )
    if undecided:
        rows = [
            Row(
                cells=(
                    Cell(text=g.guardrail if g.segment == "all" else f"{g.guardrail}, {g.segment}"),
                    Cell(text=g.model),
                    Cell(text=fmt.MISSING if g.users_to_decide is None else fmt.count(g.users_to_decide), value=g.users_to_decide),
                    Cell(text=g.note),
                )
            )
            for g in undecided
        ]  # fmt: skip
        blocks.append(
            Table(
                id="power-table",
                caption="Undecided guardrails, and how many users would decide them",
                columns=(
                    Column(title="Guardrail", width=3),
                    Column(title="Candidate", width=1),
                    Column(title="Users needed", align="end"),
                    Column(title="Note", width=2),
                ),
                rows=tuple(rows),
                note=f"This audit has {fmt.counted(users, 'user')}. The number needed assumes that the "
                "difference stays as observed.",
            )
        )
    notes: dict[str, dict[str, None]] = {}
    for c in context.result.comparisons:
        if c.note and c.segment == "all" and split(c.metric)[1] in (None, context.viewport):
            notes.setdefault(c.note, {})[c.metric] = None
    if notes:
        blocks.append(
            Table(
                id="notes",
                caption="Remarks on single intervals",
                columns=(Column(title="Remark", width=3), Column(title="Measures", width=2)),
                rows=tuple(Row(cells=(Cell(text=n), Cell(text=", ".join(ms)))) for n, ms in notes.items()),
            )
        )  # fmt: skip
    if not blocks:
        blocks.append(Text(text="Every guardrail was decided, and no interval calls for a remark."))
    return blocks
