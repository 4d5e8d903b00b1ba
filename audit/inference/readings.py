"""Compare the models under other readings of their lists: of ties, and of unjudged items.

The same inference as for the plain reading: one drawing of weights for all columns, so that replicates are
joint, and an interval for each difference.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from audit.dataset.model import F64
from audit.engine.partials import ExactSums, Run
from audit.engine.readings import (
    JUDGED,
    LISTS,
    SLOTS,
    TIED_LISTS,
    TIED_SLOTS,
    UNRANKED,
    UNSCORED,
)
from audit.inference.compare import Comparer, Seeds
from audit.inference.mean_comparison import Values, compare_means
from audit.inference.reading import number
from audit.metrics.registry import MetricRef
from audit.metrics.ties import READINGS
from audit.robustness import (
    Ends,
    JudgmentEffect,
    JudgmentReading,
    ModelTies,
    ReadDifference,
    TieEffect,
)


class Reader:
    """Turns the engine's partials of other readings into records."""

    def __init__(self, comparer: Comparer) -> None:
        self.c = comparer
        self.plan, self.m = comparer.plan, comparer.m
        self.all = np.ones(len(self.plan.rows.bucket), bool)

    def model_ties(self) -> list[ModelTies]:
        """What can be seen of each model's ties; seeds together."""
        found = []
        for model in self.c.d.models:
            counts = np.sum([self.m.partials.tied[run] for run in self.c.runs(model)], axis=0)
            found.append(
                ModelTies(
                    model=model, scored=not counts[UNSCORED], ranked=not counts[UNRANKED],
                    lists=float(counts[TIED_LISTS] / max(counts[LISTS], 1)),
                    slots=float(counts[TIED_SLOTS] / max(counts[SLOTS], 1)),
                )
            )  # fmt: skip
        return found

    # -------------------------------------------------------------------- ties

    def ties(self) -> list[TieEffect]:
        """How far ties could move each metric; none where nothing ties."""
        refs = [] if self.m.readings is None else list(self.m.readings.ties)
        if not refs or not self.m.partials.ties:
            return []
        plain = self._plain(refs)
        sums = {m: self._read(self.m.partials.ties, m, plain[m], 3) for m in self.c.d.models}
        values = self.c.values(sums)
        points = {model: _points(seeds) for model, seeds in plain.items()}
        found = []
        for candidate in self.plan.candidates:
            effects, counted = self.c.effects(sums[self.plan.baseline], sums[candidate])
            for i, ref in enumerate(refs):
                at = {reading: place * len(refs) + i for place, reading in enumerate(READINGS)}
                middle = at["expected"]
                own = effects[counted[:, middle], middle]
                difference = points[candidate][i] - points[self.plan.baseline][i]
                found.append(self._tie_effect(candidate, ref, at, values, own, difference))
        return found

    def _tie_effect(
        self, candidate: str, ref: MetricRef, at: Mapping[str, int],
        values: Mapping[str, list[Values]], effects: F64, plain: float,
    ) -> TieEffect:  # fmt: skip
        """``at``: the column of each reading; ``effects``: the parts of the expected difference."""
        baseline = self.plan.baseline

        def ends(model: str) -> Ends:
            found = {r: values[model][column] for r, column in at.items()}
            expected = number(found["expected"].point) if ref.spec.ties == "expected" else None
            return Ends(
                least=number(found["least"].point), expected=expected,
                most=number(found["most"].point),
            )  # fmt: skip

        a, b = ends(baseline), ends(candidate)
        expected = None
        if ref.spec.ties == "expected":
            old, new = (values[model][at["expected"]] for model in (baseline, candidate))
            expected = self._difference(ref, candidate, old, new, effects)
        return TieEffect(
            model=candidate, metric=str(ref.at(self.plan.viewport)), baseline=a, candidate=b,
            expected=expected, lowest=_minus(b.least, a.most), highest=_minus(b.most, a.least),
            plain=number(plain),
        )  # fmt: skip

    def _read(
        self, partials: Mapping[Run, ExactSums], model: str, plain: Seeds, times: int,
        first: int = 0,
    ) -> Seeds:  # fmt: skip
        """Per seed the columns of ``times`` readings: the plain ones and, from column ``first`` on, by how much
        they differ.
        """
        found = []
        for run, (s, c) in zip(self.c.runs(model), plain, strict=True):
            sums, counts = np.tile(s, (1, times)), np.tile(c, (1, times))
            if run in partials:
                more, _ = self.c.sums_of(partials[run], self.all)
                sums = sums + more[:, first : first + sums.shape[1]]
            found.append((sums, counts))
        return found

    def _plain(self, refs: list[MetricRef]) -> dict[str, Seeds]:
        columns = [self.m.column(ref.at(self.plan.viewport), self.m.list_refs) for ref in refs]
        lists = self.m.partials.lists
        return {m: self.c.sums(lists, m, self.all, columns) for m in self.c.d.models}

    # ---------------------------------------------------------------- judgments

    def judgments(self) -> list[JudgmentEffect]:
        """Each candidate's differences under three readings; none where they cannot be told apart."""
        refs = [] if self.m.readings is None else list(self.m.readings.unjudged)
        if not refs or not self.judged_apart:
            return []
        n, p, baseline = len(refs), self.m.partials, self.plan.baseline
        plain = self._plain(refs)
        found = []
        for candidate in self.plan.candidates:
            of = (baseline, candidate)
            condensed = [self._read(p.condensed, m, plain[m], 1) for m in of]
            adverse = self._adverse(candidate, plain, n)
            pairs: dict[JudgmentReading, tuple[Seeds, Seeds]] = {
                "irrelevant": (plain[baseline], plain[candidate]),
                "condensed": (condensed[0], condensed[1]),
                "adverse": adverse,
            }
            seeds = {f"{r}\0{side}": pair[side] for r, pair in pairs.items() for side in (0, 1)}
            values = self.c.values(seeds)
            for reading, pair in pairs.items():
                effects, counted = self.c.effects(*pair)
                for i, ref in enumerate(refs):
                    a, b = (values[f"{reading}\0{side}"][i] for side in (0, 1))
                    own = effects[counted[:, i], i]
                    found.append(
                        JudgmentEffect(
                            model=candidate, metric=str(ref.at(self.plan.viewport)), reading=reading,
                            values=self._difference(ref, candidate, a, b, own),
                        )
                    )  # fmt: skip
        return found

    def _adverse(self, candidate: str, plain: Mapping[str, Seeds], n: int) -> tuple[Seeds, Seeds]:
        """Both models' columns, by the candidate's seeds: the baseline's are those it is paired with."""
        p, baseline = self.m.partials, self.plan.baseline
        last = len(self.c.runs(baseline)) - 1
        paired = [plain[baseline][min(run[1], last)] for run in self.c.runs(candidate)]
        return (
            self._read(p.adverse, candidate, paired, 1),
            self._read(p.adverse, candidate, plain[candidate], 1, n),
        )

    @property
    def judged_apart(self) -> bool:
        """Whether anything was judged and found not relevant."""
        return bool(self.m.partials.judged_zero[0])

    def judged(self) -> dict[str, ReadDifference]:
        """Candidate → the share of the items up to the viewport that has been judged, of both models."""
        if not (self.m.readings and self.m.readings.unjudged and self.judged_apart):
            return {}
        sums: dict[str, Seeds] = {}
        for model in self.c.d.models:
            of = [
                self.c.sums_of(self.m.partials.condensed[r], self.all) for r in self.c.runs(model)
            ]
            sums[model] = [(s[:, -1:], c[:, -1:]) for s, c in of]
        values = self.c.values(sums)
        found = {}
        for candidate in self.plan.candidates:
            effects, counted = self.c.effects(sums[self.plan.baseline], sums[candidate])
            a, b = values[self.plan.baseline][0], values[candidate][0]
            found[candidate] = self._difference(JUDGED, candidate, a, b, effects[counted[:, 0], 0])
        return found

    def _difference(
        self, ref: MetricRef, candidate: str, a: Values, b: Values, effects: F64
    ) -> ReadDifference:
        at = ref.at(self.plan.viewport)
        found = compare_means(at, candidate, "all", a, b, None, effects)
        return ReadDifference(
            baseline=found.baseline, candidate=found.candidate, difference=found.difference,
            ci_low=found.ci_low, ci_high=found.ci_high,
        )  # fmt: skip


def _points(seeds: Seeds) -> F64:
    """``[columns]``: the mean of the seeds' means."""
    with np.errstate(divide="ignore", invalid="ignore"):  # nobody has a value
        return np.asarray(np.mean([s.sum(0) / c.sum(0) for s, c in seeds], axis=0))


def _minus(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a - b
