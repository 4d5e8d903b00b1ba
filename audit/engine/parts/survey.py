"""The second step: what must be known of all users before any can be measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audit.dataset import segments
from audit.dataset.hashing import hash_values
from audit.dataset.model import I64, Bool
from audit.dataset.pools import Depth
from audit.dataset.segments import CellNames
from audit.dataset.stream.assemble import Read, Who, find_users
from audit.engine.parts.ranking import Histogram, Near, cell_of
from audit.engine.parts.reading import PartReader
from audit.inputs.tables import Inputs
from audit.inputs.times import NONE

U64 = npt.NDArray[np.uint64]
Cells = tuple[tuple[str, int], ...]
"""The attributes and the codes of a segment's cell; empty for all users."""


@dataclass
class Survey:
    """Of some users; adds up."""

    users: int
    """Evaluated ones."""
    histogram: Histogram
    popularity: I64
    """``[items]``: distinct users of the history."""
    history_users: int
    newest: int
    """Newest time of the history, microseconds."""
    people: int
    """Rows of the users table."""
    matched: int
    """Those of evaluated users."""
    top_grade: int
    """Of all judgments; 0 without any."""
    values: dict[str, segments.Values] = field(default_factory=dict)
    """By attribute."""
    depths: dict[str, list[Depth]] = field(default_factory=dict)
    """Of each model's seeds."""

    def add(self, other: Survey) -> Survey:
        """Merge in place, and return."""
        self.users += other.users
        self.histogram.add(other.histogram)
        self.popularity += other.popularity
        self.history_users += other.history_users
        self.newest = max(self.newest, other.newest)
        self.people += other.people
        self.matched += other.matched
        self.top_grade = max(self.top_grade, other.top_grade)
        for name, values in other.values.items():
            self.values[name] = self.values[name].joined(values)
        for model, seeds in other.depths.items():
            self.depths[model] = [a + b for a, b in zip(self.depths[model], seeds, strict=True)]
        return self


@dataclass(frozen=True)
class People:
    """How the users table is to be understood."""

    left_out: tuple[str, ...]
    fractions: frozenset[str]
    wanted: tuple[str, ...]
    """Attributes to report by."""


def light(reader: PartReader, people: People, *, all_relevant: bool) -> tuple[Read, Who]:
    """The users of a part and how many lists they have, without their lists."""
    table = reader.people(people.left_out, people.fractions)
    judged = reader.relevance(None)[1] if all_relevant else None
    models = {
        model: [reader.light_lists(t) for t in tables]
        for model, tables in reader.layout.models().items()
    }
    read = Read(Inputs(models={}, users=table), reader.universe, models, judged, None, {}, {})
    return read, find_users(read, all_relevant=all_relevant)


def survey(
    reader: PartReader, people: People, bits: int, viewport: int, *, all_relevant: bool
) -> Survey:
    """Survey a part.

    ``bits``: of the hash that tell a histogram's cell.
    """
    read, who = light(reader, people, all_relevant=all_relevant)
    pairs, groups = reader.history()
    judged = reader.relevance(None)[1] if read.relevance is None else read.relevance
    users = who.users.ids
    popularity = np.zeros(len(reader.universe.items), np.int64)
    if groups is not None:
        popularity[: len(groups.popularity)] = groups.popularity
    table = read.inputs.users
    values: dict[str, segments.Values] = {}
    matched = rows = 0
    if table is not None:
        evaluated = users.codes(table["user_id"]) >= 0
        matched, rows = int(evaluated.sum()), len(table)
        values = {a: segments.values_of(table, a, evaluated) for a in people.wanted}
    return Survey(
        len(users), Histogram.of(hash_values(users.values), np.diff(who.index.user_lists), bits),
        popularity, 0 if groups is None else len(groups.user),
        int(NONE) if pairs is None else pairs.newest_of_all, rows, matched,
        0 if judged is None else int(judged.grades.max(initial=0)), values,
        {
            model: [reader.depth(t, viewport) for t in tables]
            for model, tables in reader.layout.models().items()
        },
    )  # fmt: skip


@dataclass(frozen=True)
class Members:
    """Who is in which cell of the segments, of a part's evaluated users."""

    users: pa.Array
    hashes: U64
    lists: I64
    codes: Mapping[str, I64]

    @classmethod
    def of(
        cls, reader: PartReader, people: People, cells: Mapping[str, CellNames], *, all_relevant: bool
    ) -> Members:  # fmt: skip
        """Of one part; ``cells``: attribute → cell names."""
        read, who = light(reader, people, all_relevant=all_relevant)
        table, ids = read.inputs.users, who.users.ids
        codes = {}
        if table is not None:
            code = ids.codes(table["user_id"])
            codes = {
                a: segments.cell_codes(table, a, code, len(ids), names).astype(np.int64)
                for a, names in cells.items()
            }
        return cls(ids.values, hash_values(ids.values), np.diff(who.index.user_lists), codes)

    def inside(self, cells: Cells) -> Bool:
        """Who is in the cell."""
        inside = np.ones(len(self.users), bool)
        for attribute, code in cells:
            inside &= self.codes[attribute] == code
        return inside

    def combinations(self, attributes: Sequence[str]) -> list[tuple[int, ...]]:
        """The combinations of codes that have users."""
        codes = np.stack([self.codes[a] for a in attributes], axis=1)
        return [tuple(int(code) for code in row) for row in np.unique(codes, axis=0)]


def cell_histograms(
    members: Members, wanted: Sequence[Sequence[str]], bits: int
) -> dict[Cells, Histogram]:
    """A histogram for each cell of these combinations of attributes that has users."""
    found: dict[Cells, Histogram] = {}
    for attributes in wanted:
        for codes in members.combinations(attributes):
            cells = tuple(zip(attributes, codes, strict=True))
            inside = members.inside(cells)
            found[cells] = Histogram.of(members.hashes[inside], members.lists[inside], bits)
    return found


def near_cuts(members: Members, held: Mapping[Cells, Bool]) -> dict[Cells, Near]:
    """The hashes in cells of the histograms that hold a cut, ``held``."""
    found: dict[Cells, Near] = {}
    for cells, holds in held.items():
        bits = len(holds).bit_length() - 1
        inside = members.inside(cells)
        inside &= holds[cell_of(members.hashes, bits)]
        found[cells] = Near(members.hashes[inside], members.lists[inside])
    return found


def users_of(
    members: Members, tied: Mapping[Cells, U64]
) -> dict[tuple[Cells, int], list[tuple[int | str, int]]]:
    """Ids and numbers of lists of the users with these hashes."""
    found: dict[tuple[Cells, int], list[tuple[int | str, int]]] = {}
    for cells, hashes in tied.items():
        for user in np.flatnonzero(members.inside(cells) & np.isin(members.hashes, hashes)):
            one = (members.users[int(user)].as_py(), int(members.lists[user]))
            found.setdefault((cells, int(members.hashes[user])), []).append(one)
    return found
