"""Guessing what the files of a folder are, for ``recaudit init``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.compute as pc

from audit.errors import DataIssue, InputError
from audit.inputs.columns import Recognised, match
from audit.inputs.files import as_part
from audit.inputs.joined import is_queue
from audit.inputs.names import Kind, canonical
from audit.inputs.numbers import parse_numbers
from audit.inputs.propose import write_config
from audit.inputs.read import Opened, open_table

_HINTS: dict[Kind, str] = {
    "recommendations": r"rec|pred|run|rank|list|slate|top",
    "relevance": r"relevan|truth|qrel|test|judg|label|held|eval|target|purchas|click",
    "history": r"hist|train|interact|event|log|rating|view|play",
    "catalog": r"catalog|item|movie|film|product|article|doc|track|song|book|video|content|inventory",
    "creators": r"creator|director|author|artist|seller|vendor|provider|publisher|brand",
    "users": r"user|customer|member|profile|account|segment",
    "eligible": r"eligib|allow|servable|whitelist",
}
_POOL = re.compile(r"(^|[^a-z])(pools?|retriev(al|ed)|candidate_?sets?)([^a-z]|$)")
_ALONE: tuple[tuple[Kind, str], ...] = (
    ("catalog", "item_id"),
    ("creators", "creator_id"),
    ("users", "user_id"),
)
_BASELINE = re.compile(
    r"(^|[^a-z])(baseline|base|production|prod|control|current|champion|incumbent|live)([^a-z]|$)"
)


@dataclass(frozen=True)
class Found:
    """A file and what it seems to be."""

    path: str
    """Relative to the folder, with ``/``."""
    kind: Kind
    names: Sequence[str]
    """Its columns."""
    recognised: Recognised
    threshold: float | None = None
    """Relevance: grades need a map or a threshold, and this one could do."""


@dataclass(frozen=True)
class Proposal:
    """What ``recaudit init`` will write."""

    models: dict[str, Found] = field(default_factory=dict)
    baseline: str | None = None
    """Told by its name; ``None`` where no name tells."""
    tables: dict[Kind, Found] = field(default_factory=dict)
    pools: dict[str, Found] = field(default_factory=dict)
    """Model → what its candidate generator returned."""
    queues: Sequence[Found] = ()
    """Judging queues of ``recaudit pool``."""
    others: Sequence[Found] = ()
    """Files that could be a table for which another was chosen."""
    unknown: Sequence[str] = ()
    """Files that fit no table, or cannot be read, with the reason."""


def detect(folder: str | Path) -> Proposal:
    """Look at the files of a folder and of the folders in it, and guess what each is.

    A folder whose files are all called ``part…`` is one table.

    Raises
    ------
    InputError
        There is no file that could be a table.
    """
    root = Path(folder)
    found: list[Found] = []
    unknown: list[str] = []
    paths = _candidates(root)
    for path in paths:
        name = path.relative_to(root).as_posix()
        try:
            opened = open_table(path, name)
            guess = _guess(name, opened)
        except InputError as error:
            unknown.append(f"{name}: {error.issues[0].message}")
            continue
        if guess is None:
            unknown.append(f"{name}: has the columns {', '.join(opened.names[:12])}")
        else:
            found.append(guess)
    if not paths:
        raise InputError(
            DataIssue(
                check="no_files",
                severity="error",
                table=root.name,
                column=None,
                count=0,
                message="the folder holds no table",
                remedy="Put the recommendations of two models there, and what goes with them.",
            )
        )
    queues = [f for f in found if is_queue(f.names)]
    lists = [f for f in found if f.kind == "recommendations" and f not in queues]
    generated = [f for f in lists if _POOL.search(_spelled(f.path))]
    tables, others = _one_each([f for f in found if f not in lists and f not in queues])
    if queues and "relevance" not in tables:
        tables["relevance"] = queues.pop(0)
    models = _models([f for f in lists if f not in generated])
    pools = _pools(generated, models)
    unknown += [
        f"{f.path}: the pool of a model, by its name, but not of which; see [pools]"
        for f in generated
        if f not in pools.values()
    ]
    named = [name for name in models if _BASELINE.search(name.lower())]
    baseline = named[0] if len(named) == 1 else None
    return Proposal(models, baseline, tables, pools, queues, others, unknown)


def _candidates(root: Path) -> list[Path]:
    def files(folder: Path) -> list[Path]:
        return sorted(p for p in folder.iterdir() if p.is_file() and as_part(p) is not None)

    found = files(root)
    for inner in sorted(p for p in root.iterdir() if p.is_dir() and p.name[0] not in "._"):
        inside = files(inner)
        if inside and all(p.name.startswith("part") for p in inside):
            found.append(inner)
        else:
            found += inside
    return found


def _guess(path: str, opened: Opened) -> Found | None:
    kind = _kind(path, opened.names)
    if kind is None:
        return None
    recognised = match(kind, opened.names)
    threshold = _threshold(recognised, opened) if kind == "relevance" else None
    return Found(path, kind, opened.names, recognised, threshold)


def _kind(path: str, names: Sequence[str]) -> Kind | None:
    """The table that the columns make possible and the name makes likely."""

    def has(kind: Kind, *columns: str) -> bool:
        seen = match(kind, names)
        return all(column in seen.columns or column in seen.ambiguous for column in columns)

    if {"click", "position"} <= {canonical(name) for name in names}:
        return None  # impressions: no table of this configuration
    if is_queue(names):
        return "relevance"
    if (
        _hint(path, "eligible")
        and has("eligible", "item_id")
        and not has("recommendations", "rank")
    ):
        return "eligible"
    if has("recommendations", "user_id") and (
        has("recommendations", "items")
        or has("recommendations", "item_id", "rank")
        or (has("recommendations", "item_id", "score") and not _hint(path, "relevance", "history"))
    ):
        return "recommendations"
    if has("relevance", "user_id", "item_id"):
        if _hint(path, "relevance"):
            return "relevance"
        return "history" if _hint(path, "history") or not has("relevance", "grade") else "relevance"
    possible = [kind for kind, column in _ALONE if has(kind, column)]
    likely = [kind for kind in possible if _hint(path, kind)]
    # A bare 'id' could be any of them: then only the file's name tells.
    strict = [kind for kind in possible if not _only_id(kind, names)]
    return next(iter([k for k in likely if k in strict] or strict or likely), None)


def _only_id(kind: Kind, names: Sequence[str]) -> bool:
    column = {"catalog": "item_id", "creators": "creator_id"}.get(kind, "user_id")
    return match(kind, names).columns.get(column, "").lower() == "id"


def _hint(path: str, *kinds: Kind) -> bool:
    stem = path.lower().rsplit("/", 1)[-1].split(".")[0]
    return any(re.search(_HINTS[kind], stem) for kind in kinds)


def _threshold(recognised: Recognised, opened: Opened) -> float | None:
    """Where grades are no small whole numbers: four fifths of the largest, as four of five stars."""
    column = recognised.columns.get("grade")
    if column is None:
        return None
    values = opened.read([column]).column(column)
    try:
        numbers = parse_numbers(values.cast("string"))[0].drop_null()
    except (TypeError, ValueError, NotImplementedError):
        return None
    if not len(numbers):
        return None
    whole = pc.all(pc.equal(numbers, pc.floor(numbers))).as_py()
    low, high = pc.min(numbers).as_py(), pc.max(numbers).as_py()
    small = whole and low >= 0 and high <= (3 if "rating" in column.lower() else 30)
    return None if small else round(0.8 * high, 2)


def _one_each(found: Sequence[Found]) -> tuple[dict[Kind, Found], list[Found]]:
    """For each table the file whose name says most; the others beside."""
    tables: dict[Kind, Found] = {}
    others: list[Found] = []
    for guess in sorted(
        found, key=lambda f: (not _hint(f.path, f.kind), f.path.count("/"), f.path)
    ):
        if guess.kind in tables:
            others.append(guess)
        else:
            tables[guess.kind] = guess
    return tables, others


def _models(found: Sequence[Found]) -> dict[str, Found]:
    names = [_model_name(f.path) for f in found]
    models: dict[str, Found] = {}
    for name, guess in zip(names, found, strict=True):
        unique = name if names.count(name) == 1 else guess.path.split(".")[0].replace("/", "-")
        if unique in models:
            unique = guess.path
        models[unique] = guess
    return models


def _pools(found: Sequence[Found], models: Mapping[str, Found]) -> dict[str, Found]:
    """``pool_ease.parquet`` and ``pools/ease.parquet`` are of the model ``ease``."""
    pools: dict[str, Found] = {}
    for guess in found:
        own = re.sub(_POOL, r"\g<1>\g<4>", _spelled(_model_name(guess.path))).strip("_- ")
        of = [name for name in models if _spelled(name) == own]
        if len(of) == 1 and of[0] not in pools:
            pools[of[0]] = guess
    return pools


def _spelled(text: str) -> str:
    return text.lower().split(".")[0].replace(" ", "_")


def _model_name(path: str) -> str:
    """``recs_ease.parquet`` → ``ease``."""
    stem = path.rsplit("/", 1)[-1].split(".", maxsplit=1)[0]
    short = re.sub(
        r"(?i)^(recs?|recommendations?|preds?|predictions?|runs?|lists?)[_\- ]+"
        r"|[_\- ]+(recs?|recommendations?|preds?|predictions?|runs?|lists?)$",
        "",
        stem,
    )
    return short or stem


__all__ = ["Found", "Proposal", "detect", "write_config"]
