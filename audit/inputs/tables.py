"""What the input room hands on: Arrow tables with settled column names and types.

========== =============================================================================================
table      columns (``?`` optional)
========== =============================================================================================
models     user_id, item_id, and rank (int32) or score (float64) or both; request_id?, session_id?,
           shown_at?.  One table per seed.  Rows stay in input order.
relevance  user_id, item_id, grade (int16 ≥ 0); judged_at?, request_id?
catalog    item_id; creator_id? (list of ids, each row's ids distinct, empty where unknown), created_at?,
           embedding? (list<float32> of one length, null where missing), categories? (list<string>),
           title? (string)
creators   creator_id; name? (string); any attribute (string)
history    user_id, item_id; timestamp?, weight? (float64)
users      user_id; any attribute (string)
pools      as models: what a model's candidate generator returned, one table a model
eligible   item_id; user_id?, or one attribute of the users (string)
========== =============================================================================================

Ids are int64 or string, the same type for one kind of id in every table.  Times are
``timestamp[us, UTC]``.  Required columns hold no nulls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from audit.errors import DataIssue


@dataclass(frozen=True, kw_only=True)
class TableSource:
    """Where a table comes from and how its columns are to be understood."""

    data: Any
    """A path (file, folder, glob; str or Path), or a pandas, polars or Arrow frame."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """The design's column name → the column's name in the data."""
    grades: Mapping[str, int] | None = None
    """Relevance: value in the data (as text) → grade."""
    threshold: float | None = None
    """Relevance: values of at least this are grade 1, others 0."""
    embedding_prefix: str | None = None
    """Catalog: the embedding is spread over columns with this prefix."""
    embedding_file: Any = None
    """Catalog: an ``.npy`` of shape [items, dimensions], rows in the catalog's order."""
    attributes: Sequence[str] | None = None
    """Users and creators: the attributes to read; all of them where absent."""
    format: Literal["trec"] | None = None
    """The format of the files, where their suffix does not say it."""
    name: str | None = None
    """The file name as the user gave it, where ``data`` is a path made from it."""
    more: Sequence[TableSource] = ()
    """Relevance: further files or frames of the table (:mod:`audit.inputs.joined`)."""


@dataclass(frozen=True, kw_only=True)
class Sources:
    """All the inputs of an audit, unread."""

    models: Mapping[str, Sequence[TableSource]]
    """Model name → its seeds, usually one; the order is the order of the report."""
    relevance: TableSource | None = None
    catalog: TableSource | None = None
    creators: TableSource | None = None
    history: TableSource | None = None
    users: TableSource | None = None
    pools: Mapping[str, TableSource] = field(default_factory=dict)
    """Model name → what its candidate generator returned."""
    eligible: TableSource | None = None
    """Which items may be shown, and to whom."""
    impressions: TableSource | None = None
    """What was shown and clicked; read by :mod:`audit.clicks`."""


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """All the inputs of an audit, read, renamed and checked."""

    models: Mapping[str, Sequence[pa.Table]]
    relevance: pa.Table | None = None
    catalog: pa.Table | None = None
    creators: pa.Table | None = None
    history: pa.Table | None = None
    users: pa.Table | None = None
    pools: Mapping[str, pa.Table] = field(default_factory=dict)
    eligible: pa.Table | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    """Table → file name as given, or ``data frame``: ``relevance``, ``recommendations 'candidate'``."""
    issues: Sequence[DataIssue] = ()
    """Warnings and notes; errors were raised."""
