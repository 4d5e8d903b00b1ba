"""Other readings of the lists, as columns of exact sums."""

from __future__ import annotations

import numpy as np
import pytest

from audit.engine import make_plan, measure
from audit.inference.compare import Comparer
from audit.inference.readings import Reader
from audit.metrics import parse
from tests.support import encoded, inputs, lists, measured


def tied_inputs(users=60, *, requests=False, relevance=None):
    rng = np.random.default_rng(7)
    keys = [(u, r) if requests else u for u in range(users) for r in range(2 if requests else 1)]
    tables = {}
    for model in ("baseline", "candidate"):
        shown, scores = {}, {}
        for key in keys:
            shown[key] = [int(i) for i in rng.choice(40, 8, replace=False)]
            tie = model == "candidate" and rng.random() < 0.5
            scores[key] = list(-np.sort(-rng.integers(0, 3, 8).astype(float))) if tie else list(range(8, 0, -1))  # fmt: skip
        tables[model] = lists(shown, scores=scores)
    if relevance is None:
        relevance = {
            u: {int(i): int(rng.integers(0, 3)) for i in rng.choice(40, 12, replace=False)}
            for u in range(users)
        }
    return inputs(tables, relevance=relevance)


def reader(d, plan, found):
    return Reader(Comparer(d, plan, found, seed=0))


METRICS = ["ndcg", "map", "mrr", "err", "auc", "judged", "bpref"]


@pytest.mark.parametrize("requests", [False, True])
def test_the_cut_changes_nothing(requests):
    d = encoded(tied_inputs(requests=requests), viewport=5)
    plan = make_plan(
        d, metrics=[parse(m) for m in METRICS], ks=[3], viewport=5, baseline="baseline"
    )
    one, many = measure(d, plan, threads=1), measure(d, plan, threads=2, block=7)
    for part in ("ties", "condensed", "adverse"):
        assert getattr(one.partials, part).keys() == getattr(many.partials, part).keys()
        for run, sums in getattr(one.partials, part).items():
            for limb in ("whole", "upper", "lower", "count"):
                a, b = getattr(sums, limb), getattr(getattr(many.partials, part)[run], limb)
                assert (a == b).all(), (part, limb)
    assert all((one.partials.tied[r] == many.partials.tied[r]).all() for r in one.partials.tied)


def test_only_what_ties_is_measured_again_and_only_what_is_judged_apart():
    d = encoded(tied_inputs())
    plan, found = measured(d, METRICS, (5,), baseline="baseline")
    assert reader(d, plan, found).judged_apart
    assert list(found.partials.ties) == [("candidate", 0)]
    assert {str(r) for r in found.readings.ties} == set(METRICS) - {"judged"}
    assert {str(r) for r in found.readings.unjudged} == {"ndcg", "map", "mrr", "err", "auc"}
    d = encoded(inputs(baseline={1: [1, 2]}, candidate={1: [2, 1]}, relevance={1: [1]}))
    plan, found = measured(d, METRICS, (5,), baseline="baseline")
    assert not found.partials.ties
    assert not found.partials.condensed
    assert not found.partials.adverse
    assert not reader(d, plan, found).judged_apart
    assert reader(d, plan, found).ties() == []
    assert reader(d, plan, found).judgments() == []


def test_records_by_hand():
    """Ten users alike: the candidate ties its two items, one of which is relevant."""
    users = range(10)
    tables = {
        "baseline": lists({u: [3, 1] for u in users}),
        "candidate": lists({u: [1, 2] for u in users}, scores={u: [1.0, 1.0] for u in users}),
    }
    d = encoded(inputs(tables, relevance={u: {1: 1, 3: 0} for u in users}))
    plan, found = measured(d, ["mrr"], (2,), baseline="baseline")
    read = reader(d, plan, found)
    [effect] = read.ties()
    assert (effect.baseline.least, effect.baseline.expected, effect.baseline.most) == (
        0.5,
        0.5,
        0.5,
    )
    assert (effect.candidate.least, effect.candidate.expected, effect.candidate.most) == (
        0.5,
        0.75,
        1,
    )
    assert (effect.lowest, effect.plain, effect.highest, effect.band) == (0, 0.5, 0.5, 0.5)
    assert effect.expected.difference == 0.25
    ties = {m.model: m for m in read.model_ties()}
    assert (ties["baseline"].scored, ties["candidate"].scored) == (False, True)
    assert (ties["candidate"].lists, ties["candidate"].slots) == (1, 1)
    by_reading = {j.reading: j.values for j in read.judgments()}
    assert by_reading["irrelevant"].difference == 0.5
    assert by_reading["condensed"].difference == 0.5
    # Item 2 is the candidate's alone, and the baseline shows nothing unjudged.
    assert by_reading["adverse"].difference == 0.5


def test_the_adversary_is_never_kinder_than_the_plain_reading():
    d = encoded(tied_inputs(users=80))
    plan, found = measured(d, ["ndcg", "map", "precision", "recall", "mrr"], (5,), baseline="baseline")  # fmt: skip
    effects = reader(d, plan, found).judgments()
    plain = {e.metric: e.values for e in effects if e.reading == "irrelevant"}
    adverse = {e.metric: e.values for e in effects if e.reading == "adverse"}
    for metric, values in adverse.items():
        assert values.difference <= plain[metric].difference
        assert values.ci_low < values.difference < values.ci_high


def test_seeds_are_averaged():
    one, two = tied_inputs(users=60), tied_inputs(users=60)
    tables = {
        "baseline": [*one.models["baseline"], *two.models["candidate"]],
        "candidate": [*one.models["candidate"], *two.models["baseline"]],
    }
    judgments = one.relevance
    d = encoded(inputs(tables, relevance=judgments))
    plan, found = measured(d, ["ndcg"], (5,), baseline="baseline")
    [effect] = reader(d, plan, found).ties()
    # The two models are the same pair of lists, once each way.
    assert effect.expected.difference == pytest.approx(0, abs=1e-15)
    assert effect.baseline == effect.candidate
