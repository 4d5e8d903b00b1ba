"""The key measures at every K: does the picture hold beyond what people see at once?"""

from __future__ import annotations

import functools

from audit import formatting as fmt
from audit.render.context import Context, listing, split
from audit.render.figures import panels, style
from audit.render.view import Block, Cell, Column, Figure, Row, Table, Text

PANELS = 6
MANY_MODELS = 4
"""With more, half as many panels are drawn: nine lines in each of six cannot be told apart."""


def build(context: Context) -> Block:
    """A panel a measure, a line a model; the sentence that says why not where the headline is missing."""
    headline = split(context.result.audit.headline)[0]
    bases = dict.fromkeys([headline, *(split(m)[0] for m in context.key_metrics)])
    most = PANELS if len(context.models) <= MANY_MODELS else PANELS // 2
    found = {base: values for base in list(bases)[:most] if (values := _values(context, base))}
    if headline not in found:
        title = context.title(headline)
        why = context.why_missing(headline)
        return Text(text=f"{title} was not measured. {why}".rstrip(), style="note")
    ks = sorted({k for of in found.values() for values in of.values() for k in values})
    models = [m for m in context.models if any(m in of for of in found.values())]
    drawn = [_panel(context, base, of, ks) for base, of in found.items()]
    draw = functools.partial(
        panels.draw,
        drawn,
        [str(k) for k in ks],
        style.model_styles(context.models),
        x_label=f"K (n = {context.result.population.users:,} users)",
    )
    numbers = "; ".join(
        f"{context.title(base)} under {model}: "
        + ", ".join(f"{fmt.number(v, 4)} at {k}" for k, v in of[model].items())
        for base, of in found.items()
        for model in of
    )
    hollow = any(panel.unsure for panel in drawn)
    return Figure(
        id="at-k",
        draw=draw,
        alt=f"Values at each K. {numbers}.",
        caption=_caption(context, found[headline], headline)
        + (" Hollow: cannot be told from the baseline." if hollow else ""),
        data=Table(
            id="at-k-data",
            caption="The key measures at each K",
            columns=(
                Column(title="Measure", width=2),
                Column(title="Model", width=1),
                *(Column(title=f"K = {k}", align="end") for k in ks),
            ),
            rows=tuple(
                Row(
                    cells=(
                        Cell(text=context.title(base)),
                        Cell(text=model),
                        *(
                            Cell(text=fmt.number(of[model].get(k), 4), value=of[model].get(k))
                            for k in ks
                        ),
                    )
                )
                for base, of in found.items()
                for model in models
                if model in of
            ),
        ),
    )


def _values(context: Context, base: str) -> dict[str, dict[int, float]]:
    """Model → K → value over all users."""
    found: dict[str, dict[int, float]] = {}
    for m in context.result.measurements:
        name, k = split(m.metric)
        if m.segment == "all" and name == base and k is not None and m.value is not None:
            found.setdefault(m.model, {})[k] = m.value
    return {model: dict(sorted(found[model].items())) for model in context.models if model in found}


def _panel(
    context: Context, base: str, found: dict[str, dict[int, float]], ks: list[int]
) -> panels.Panel:
    info = context.infos.get(base)
    unsure = {
        (model, i)
        for model in found
        for i, k in enumerate(ks)
        if (c := context.comparison(model, f"{base}@{k}")) is not None
        and c.ci_low is not None
        and c.ci_high is not None
        and c.ci_low <= 0 <= c.ci_high
    }
    title = context.title(base)
    return panels.Panel(
        title=title + (f" ({info.unit})" if info and info.unit not in ("", "share") else ""),
        values={model: [of.get(k) for k in ks] for model, of in found.items()},
        percent=False,
        unsure=frozenset(unsure),
    )


def _caption(context: Context, found: dict[str, dict[int, float]], headline: str) -> str:
    """For each candidate, whether it is above the baseline at every K."""
    baseline, title = context.result.audit.baseline, context.title(headline)
    reference = found.get(baseline)
    sentences = []
    for model, values in found.items():
        if model == baseline or reference is None:
            continue
        both = [k for k in values if k in reference]
        above = [k for k in both if values[k] > reference[k]]
        if above == both:
            sentences.append(f"{title} under {model} lies above {baseline} at every K.")
        elif not above:
            sentences.append(f"{title} under {model} does not lie above {baseline} at any K.")
        else:
            at = listing([str(k) for k in above])
            sentences.append(f"{title} under {model} lies above {baseline} at K = {at} only.")
    return " ".join(sentences) or "Only one model has values."
