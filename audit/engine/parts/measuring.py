"""The last step: a part's users are encoded and measured by the code that measures all users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from audit.conventions import Conventions
from audit.dataset.hashing import hash_values
from audit.dataset.model import Bool, Dataset
from audit.dataset.stream import assemble
from audit.dataset.stream.assemble import World
from audit.dataset.stream.how import How
from audit.engine import memory
from audit.engine.parts.ranking import U64, Ranking
from audit.engine.parts.reading import PartReader
from audit.engine.parts.survey import Cells, People
from audit.engine.parts.total import Total
from audit.engine.plan import Grouping, Plan, make_rows
from audit.inference.system import bucket_of_rank
from audit.inputs.tables import Inputs
from audit.metrics.vectors import VECTORS


@dataclass(frozen=True)
class Work:
    """All that measuring a part takes beside its rows."""

    plan: Plan
    """Without rows, and with groupings that place nobody."""
    world: World
    rankings: Mapping[Cells, Ranking]
    people: People
    conventions: Conventions
    viewport: int

    @property
    def how(self) -> How:
        """How parts are encoded: on one thread, since tasks run side by side."""
        return How(self.conventions, self.viewport, threads=1)


def measure_part(reader: PartReader, work: Work) -> Total:
    """Measure a part's users.

    Raises
    ------
    NotClean
        Anything that the thorough path would speak of.
    ConfigError
        A metric returned what it may not.
    """
    table = reader.people(work.people.left_out, work.people.fractions)
    read = reader.read(Inputs(models={}, users=table))
    who = assemble.find_users(read, all_relevant=work.conventions.users == "all_relevant")
    items = assemble.kind_of(reader.universe.items)
    dataset, facts = assemble.encode_users(read, who, items, work.world, work.how)
    plan = place_users(dataset, work)
    measured = memory.measure(dataset, plan, threads=1, whole=False)
    # Made now, for the data set stays here; by exposure only if a system metric asks for it.
    weightings = {"count", *(VECTORS[str(r.spec.vector)].weighting for r in plan.level("system"))}
    if dataset.creator_groups.attributes:
        weightings.add("exposure")
    for of in measured.partials.groups.values():
        for key, by in of.items():
            of[key] = {weighting: by[weighting] for weighting in by if weighting in weightings}
    rows = replace(plan.rows, row_of_user=plan.rows.row_of_user[:0])
    return Total(measured.partials, rows, facts)


def place_users(dataset: Dataset, work: Work) -> Plan:
    """The plan with a row and groups for each of a part's users."""
    hashes = hash_values(dataset.users.values) if len(dataset.users) else np.zeros(0, np.uint64)
    everyone = work.rankings[()]
    rows = make_rows(dataset, everyone.of(dataset.users.values, hashes), everyone.users)
    groupings = []
    for grouping in work.plan.groupings:
        members = np.ones(len(dataset.users), bool)
        for attribute, code in grouping.cells:
            members &= dataset.segments[attribute][0] == code
        groupings.append(_placed(grouping, dataset, members, hashes, work.rankings[grouping.cells]))
    return replace(work.plan, rows=rows, groupings=groupings)


def _placed(
    grouping: Grouping, dataset: Dataset, members: Bool, hashes: U64, ranking: Ranking
) -> Grouping:  # fmt: skip
    users = np.flatnonzero(members)
    group = np.full(len(members), -1, np.int32)
    group[users] = 0
    if grouping.groups:
        rank = ranking.of(dataset.users.values.take(users), hashes[users])
        found = bucket_of_rank(rank, grouping.users, grouping.groups)
        group[users] = np.where(found < 0, grouping.groups, found)
    return replace(grouping, group_of_user=group)
