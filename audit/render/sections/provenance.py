"""What the report was made from: inputs, versions, configuration."""

from __future__ import annotations

import json
import re
from typing import Any

from audit import formatting as fmt
from audit.render.context import Context
from audit.render.view import Block, Cell, Code, Column, Row, Section, Table, Text


def toml(config: dict[str, Any]) -> str:
    """A configuration in TOML, a section a table; what is empty is left out."""
    sections = {k: v for k, v in config.items() if isinstance(v, dict) and v}
    lines = [
        f"{_key(k)} = {_value(v)}"
        for k, v in config.items()
        if k not in sections and v not in ({}, None)
    ]
    for name, section in sections.items():
        lines += [*([""] if lines else []), f"[{_key(name)}]"]
        lines += [f"{_key(k)} = {_value(v)}" for k, v in section.items() if v not in ({}, None)]
    return "\n".join(lines)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None)
        return f"{{ {inside} }}"
    if isinstance(value, list):
        return f"[{', '.join(_value(v) for v in value)}]"
    return json.dumps(value, ensure_ascii=False, default=str)


def build(context: Context) -> Section:
    """Fingerprints that let somebody else check that they have the same audit."""
    result = context.result
    blocks: list[Block] = [
        Table(
            id="sources",
            caption="Inputs as they were read",
            columns=(
                Column(title="Table", width=2),
                Column(title="File", width=2),
                Column(title="Rows", align="end"),
                Column(title="Fingerprint", width=3),
            ),
            rows=tuple(
                Row(
                    cells=(
                        Cell(text=s.table),
                        Cell(text=s.name),
                        Cell(text=fmt.count(s.rows), value=s.rows),
                        Cell(text=s.fingerprint),
                    )
                )
                for s in result.sources
            ),
            note="A fingerprint depends on the content, not on the order of rows or the layout of files.",
        ),
        Table(
            id="versions",
            caption="Versions",
            columns=(Column(title="Part", width=1), Column(title="Version", width=1)),
            rows=tuple(
                Row(cells=(Cell(text=name), Cell(text=version)))
                for name, version in (
                    *result.versions.items(),
                    ("result schema", result.schema_version),
                )
            ),
        ),
    ]
    if result.audit.as_of:
        blocks.append(
            Text(text=f"Ages are counted from {result.audit.as_of} where lists carry no time.")
        )
    blocks.append(Text(text=f"Seed of the random stream: {result.audit.seed}."))
    if result.audit.config:
        blocks.append(
            Code(
                id="config",
                caption="Configuration, defaults filled in",
                text=toml(result.audit.config),
            )
        )
    return Section(id="provenance", title="Provenance", blocks=tuple(blocks))
