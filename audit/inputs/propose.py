"""Writing a commented ``audit.toml`` from what was found in a folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from audit.inputs.names import COLUMNS, Kind

if TYPE_CHECKING:
    from audit.inputs.detect import Found, Proposal

_ABSENT: dict[Kind, tuple[str, str]] = {
    "relevance": ("relevance.parquet", "who found what relevant; without it no relevance metric"),
    "catalog": (
        "catalog.parquet",
        "every item that could be shown; without it coverage is of known items",
    ),
    "history": (
        "history.parquet",
        "training interactions; without them no popularity, head and tail",
    ),
    "creators": ("creators.parquet", "names of creators"),
    "users": ("users.parquet", "attributes of users: segments"),
    "eligible": (
        "eligible.parquet",
        "items that may be shown, and to whom; without it coverage blames for all others too",
    ),
}


def write_config(proposal: Proposal) -> str:
    """The text of an ``audit.toml`` for what was found.

    It is valid; what could not be told from the files stands in comments, beginning with ``# ?`` where
    an answer is needed.
    """
    sections = [
        list(_audit(proposal)),
        list(_models(proposal)),
        list(_recommendations(proposal)),
        list(_pools(proposal)),
        *(list(_table(kind, proposal)) for kind in _ABSENT),
        list(_guardrails()),
        list(_rest(proposal)),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _audit(proposal: Proposal) -> Iterator[str]:
    yield "# Written by 'recaudit init': read it, answer what is marked '# ?', then run 'recaudit check audit.toml'."
    yield ""
    yield "[audit]"
    yield 'name = "Recommender audit"'
    yield 'surface = "feed"              # single_answer, list, find_all, grid, feed or candidates'
    yield "k = [1, 3, 10]                # list lengths to measure at"
    yield "viewport = 10                 # the headline K: what a person sees without scrolling"
    yield "# as_of = 2024-01-31          # ages are counted from here where lists carry no shown_at"
    if proposal.baseline is None and proposal.models:
        yield "# ? Which model runs today? No file name says so; it must be one of [models]."
    yield f"baseline = {_quoted(_baseline(proposal))}"


def _baseline(proposal: Proposal) -> str:
    return proposal.baseline or next(iter(proposal.models), "baseline")


def _models(proposal: Proposal) -> Iterator[str]:
    yield "[models]                      # name = file, or a list of files: seeds of one model"
    baseline = _baseline(proposal)
    order = sorted(proposal.models, key=lambda name: name != baseline)
    for name in order:
        yield f"{_key(name)} = {_quoted(proposal.models[name].path)}"
    if len(order) < 2:
        yield "# ? An audit compares two models, and not so many recommendation files were found: columns user_id,"
        yield "# ? item_id and rank or score (or items, a list)."
        if not order:
            yield 'baseline = "baseline.parquet"'
        yield 'candidate = "candidate.parquet"'


def _recommendations(proposal: Proposal) -> Iterator[str]:
    files = list(proposal.models.values())
    if files:
        yield "[recommendations]             # column names, the same for all models"
        shared = {name for name in files[0].names if all(name in f.names for f in files)}
        yield from _columns(files[0], shared)


def _pools(proposal: Proposal) -> Iterator[str]:
    if not proposal.pools:
        yield "# [pools]                     # not found: what each candidate generator returned, for the diagnosis of stages"
        yield f'# {_key(_baseline(proposal))} = "pool.parquet"'
        return
    yield "[pools]                       # model = what its candidate generator returned"
    for name, found in proposal.pools.items():
        yield f"{_key(name)} = {_quoted(found.path)}"


def _table(kind: Kind, proposal: Proposal) -> Iterator[str]:
    found = proposal.tables.get(kind)
    if found is None:
        path, why = _ABSENT[kind]
        yield f"# [{kind}]                     # not found: {why}"
        yield f'# path = "{path}"'
        return
    yield f"[{kind}]"
    paths = (
        [found.path, *(f.path for f in proposal.queues)] if kind == "relevance" else [found.path]
    )
    if len(paths) == 1:
        yield f"path = {_quoted(found.path)}"
    else:
        yield f"path = [{', '.join(map(_quoted, paths))}]   # with judging queues, filled in or not yet"
    if kind == "relevance":
        yield 'source = "judgments"          # judgments, ratings, purchases or clicks'
        yield from _grades(found)
    yield from _columns(found)
    if kind == "users":
        yield '# segments = ["…"]            # the attributes to report by; all of them if absent'
    if kind == "history":
        yield 'segments = ["activity", "taste"]   # made of it: cold, light and heavy users; niche, diverse, blockbuster'
    for other in proposal.others:
        if other.kind == kind:
            yield f"# path = {_quoted(other.path)}   # could be meant too"


def _grades(found: Found) -> Iterator[str]:
    if found.threshold is None:
        yield '# grades = { "5" = 3, "4" = 2 } # value in the data = grade, or: threshold = 4'
        return
    yield f"# ? {found.recognised.columns['grade']} does not look like grades (0, 1, 2, 3); what counts as relevant?"
    yield f"threshold = {found.threshold:g}"
    yield '# grades = { "5" = 3, "4" = 2 }'


def _columns(found: Found, shared: set[str] | None = None) -> Iterator[str]:
    """One line a column of the design; a name that not all files share is left to recognition."""
    for column in COLUMNS[found.kind]:
        if column in found.recognised.ambiguous:
            several = found.recognised.ambiguous[column]
            others = ", ".join(_quoted(name) for name in several[1:])
            yield f"{column} = {_quoted(several[0])}   # ? or {others}"
        elif column in found.recognised.columns:
            given = found.recognised.columns[column]
            if shared is not None and given not in shared:
                yield f"# {column}: recognised in each file"
            elif given != column:
                yield f"{column} = {_quoted(given)}"
        else:
            yield f'# {column} = "…"'
    unused = _unused(found)
    if unused and found.kind not in ("users", "creators", "eligible"):
        yield f"# Columns without a use so far: {_comment(', '.join(unused))}"


def _unused(found: Found) -> list[str]:
    used = {*found.recognised.columns.values()}
    used |= {name for several in found.recognised.ambiguous.values() for name in several}
    return [name for name in found.names if name not in used][:20]


def _guardrails() -> Iterator[str]:
    yield "[guardrails]"
    yield 'profile = "launch"             # recaudit explain --profiles lists all'
    yield '# declared_by = "…"            # who settled them, and when, before looking'
    yield "# declared_on = 2024-05-17"
    yield '# "tail_share@10" = { max_drop = 0.10, relative = true }'


def _rest(proposal: Proposal) -> Iterator[str]:
    if proposal.unknown:
        yield "# Files that fit no table:"
        yield from (f"#   {_comment(line)}" for line in proposal.unknown)


def _quoted(text: str) -> str:
    """A TOML basic string: JSON's escapes are valid in it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _comment(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)
