"""Write recommendations and relevance as TREC's run and qrels, for the tools that read these."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from audit.conventions import Conventions
from audit.conventions import conventions as _settled
from audit.errors import ConfigError
from audit.inputs.files import refuse
from audit.inputs.load import load
from audit.inputs.sources import source_of
from audit.inputs.tables import Sources, TableSource


def write_trec_run(
    recommendations: Any, path: str | Path, *, tag: str = "recaudit",
    conventions: str | Mapping[str, Any] | Conventions | None = None,
) -> None:  # fmt: skip
    """Write the lists of one model as a TREC run: topic, Q0, document, rank, score, tag.

    Tools that read runs go by the score, and each breaks ties in its own way.  Of a table with ranks the
    score written is the number of items from there to the end of the list, so that every tool sees the
    audit's order.  Of a table with scores only they are written as they are, ties too.

    Parameters
    ----------
    recommendations
        As for :func:`audit.evaluate`, one list a user.
    path
        The file; compressed where it ends in ``.gz`` or another known compression.
    tag
        The name of the run, without blanks.
    conventions
        ``duplicates`` and ``ties`` take effect: ties put rows in order, they change no score.

    Raises
    ------
    InputError
        The table cannot be read, has several lists of a user, or ids that hold a blank.
    ConfigError
        The tag holds a blank.
    """
    settled = _settled(conventions)
    if not tag or tag.split() != [tag]:
        raise ConfigError(f"tag {tag!r}: give one word without blanks.")
    name = "recommendations"
    source = _source(name, recommendations)
    table = load(Sources(models={"model": [source]}), settled).models["model"][0]
    _without_requests(table, name)
    if "rank" in table.column_names:
        keys = [("user_id", "ascending"), ("rank", "ascending")]
    else:
        keys = [("user_id", "ascending"), ("score", "descending")]
        table = table.append_column("_tie", _places(table["item_id"], settled.ties))
        keys.append(("_tie", "ascending"))
    table = table.take(pc.sort_indices(table, sort_keys=keys))
    first = np.flatnonzero(_new(table["user_id"]))
    length = np.diff(np.append(first, len(table)))
    rank = np.arange(len(table)) - np.repeat(first, length) + 1
    score = (
        table["score"] if "rank" not in table.column_names else np.repeat(length, length) - rank + 1
    )
    fields = [
        _words(table, "user_id", name), pa.repeat("Q0", len(table)), _words(table, "item_id", name),
        pa.array(rank), score, pa.repeat(tag, len(table)),
    ]  # fmt: skip
    _write(fields, path)


def write_trec_qrels(
    relevance: Any, path: str | Path, *,
    conventions: str | Mapping[str, Any] | Conventions | None = None,
) -> None:  # fmt: skip
    """Write judgments as TREC qrels: topic, 0, document, grade.

    Parameters
    ----------
    relevance
        As for :func:`audit.evaluate`, without ``request_id``.
    path
        The file; compressed where it ends in ``.gz`` or another known compression.
    conventions
        ``duplicates`` takes effect.

    Raises
    ------
    InputError
        The table cannot be read, has judgments of single requests, or ids that hold a blank.
    """
    source = _source("relevance", relevance)
    table = load(Sources(models={}, relevance=source), _settled(conventions)).relevance
    assert table is not None
    _without_requests(table, "relevance")
    keys = [("user_id", "ascending"), ("item_id", "ascending")]
    table = table.take(pc.sort_indices(table, sort_keys=keys))
    fields = [
        _words(table, "user_id", "relevance"), pa.repeat("0", len(table)),
        _words(table, "item_id", "relevance"), table["grade"],
    ]  # fmt: skip
    _write(fields, path)


def _source(what: str, data: Any) -> TableSource:
    source = source_of(what, data)
    if source is None:
        raise ConfigError(f"{what}: give a path or a frame, not None.")
    return source


def _without_requests(table: pa.Table, name: str) -> None:
    if "request_id" in table.column_names:
        raise refuse(
            name, "several_lists", "TREC knows one list a topic, and the table has 'request_id'",
            "Give the lists or judgments of one request a user, without that column.", column="request_id",
        )  # fmt: skip


def _places(items: pa.ChunkedArray, ties: str) -> pa.Array:
    """The place of each row among rows of one list and score."""
    if ties in ("input_order", "error"):
        return pa.array(np.arange(len(items)))
    if ties == "item_text_descending":
        items = items.cast(pa.string())
    places = pc.rank(items.combine_chunks(), "ascending", tiebreaker="dense")
    return places if ties == "item_id" else pc.negate(places.cast(pa.int64()))


def _new(users: pa.ChunkedArray) -> np.ndarray:
    """Whether each row is the first of its user, of rows sorted by user."""
    one = users.combine_chunks()
    differs = pc.not_equal(one[1:], one[:-1]).to_numpy(zero_copy_only=False)
    return np.append(True, differs)


def _words(table: pa.Table, column: str, name: str) -> pa.ChunkedArray:
    """Ids as text that holds no blank."""
    words = table[column].cast(pa.string())
    torn = pc.match_substring_regex(words, r"\s")
    wrong = pc.sum(torn).as_py() or 0
    if wrong:
        raise refuse(
            name, "blanks_in_ids", "ids hold blanks, which part the fields of TREC's formats",
            "Replace the blanks, such as with '_'.", column=column, count=wrong,
        )  # fmt: skip
    return words


def _write(fields: list[Any], path: str | Path) -> None:
    table = pa.table({str(place): field for place, field in enumerate(fields)})
    options = pyarrow.csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
    with pa.output_stream(str(path), compression="detect") as stream:
        pyarrow.csv.write_csv(table, stream, options)
