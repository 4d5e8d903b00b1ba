"""The frontier: dominance by definition, halves that never meet, and what is said of a planted harm."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from audit.conventions import Conventions
from audit.dataset import How, read_and_encode
from audit.dataset.candidates import read_candidates
from audit.dataset.reranked import lists_of
from audit.engine.memory import list_values
from audit.errors import ConfigError
from audit.inputs.sources import sources_from_arguments
from audit.metrics import parse
from audit.metrics.block import Block, Shared
from audit.rerank import frontier
from audit.rerank.repairs import repairs
from audit.rerank.sweep import REPORT, Setting, pareto, split_users


def test_pareto_is_its_definition():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 12, (2, 60)).astype(float)
    x[3] = np.nan
    found = set(pareto(x, y))
    kept = set()
    for i in range(60):
        beaten = [
            j for j in range(60) if x[j] >= x[i] and y[j] >= y[i] and (x[j] > x[i] or y[j] > y[i])
        ]
        twin = [j for j in range(i) if (x[j], y[j]) == (x[i], y[i])]
        if not beaten and not twin and np.isfinite(x[i]):
            kept.add(i)
    assert found == kept


def harmful(users=300, width=20, scored=True):
    """A baseline that shows the tail and a candidate that is better and shows none, though its pool has good ones."""
    rng = np.random.default_rng(4)
    head, tail = np.arange(20), np.arange(20, 200)
    rows, judged = [], []
    for user in range(users):
        h, t = rng.permutation(head)[: width // 2], rng.permutation(tail)[: width // 2]
        good = set(h[:2]) | set(t[:1])
        judged += [(user, item, 1) for item in good]
        for model in "ab":
            for item in (*h, *t):
                own = item in good
                score = (
                    rng.normal(0.9 * own, 1.0)
                    if model == "a"
                    else rng.normal(1.5 * own + 1.2 * (item < 20), 0.5)
                )
                rows.append((model, user, item, score))
    frame = pd.DataFrame(rows, columns=["model", "user_id", "item_id", "score"])
    if not scored:
        frame["rank"] = frame.groupby(["model", "user_id"]).score.rank(ascending=False).astype(int)
        frame = frame.drop(columns="score")
    history = pd.DataFrame({
        "user_id": np.repeat(np.arange(users), 20),
        "item_id": np.where(rng.random(20 * users) < 0.75, rng.choice(head, 20 * users), rng.choice(tail, 20 * users)),
    })  # fmt: skip
    sources = sources_from_arguments(
        models={m: own.drop(columns="model") for m, own in frame.groupby("model")},
        relevance=pd.DataFrame(judged, columns=["user_id", "item_id", "grade"]), history=history,
        catalog=pd.DataFrame({"item_id": np.arange(200)}),
    )  # fmt: skip
    d = read_and_encode(sources, How(Conventions(), 5)).dataset
    return d, {m: read_candidates(d, sources, m, Conventions()) for m in "ab"}


@pytest.fixture(scope="module")
def found():
    d, candidates = harmful()
    return d, frontier(
        d, candidates, baseline="a", candidate="b", headline="ndcg", depth=5,
        methods=["popularity_debias", "xquad_tail", "fair"], keep=0.8, splits=1,
    )  # fmt: skip


def test_the_sweep_measures_as_an_audit_does_on_the_half_that_reports(found):
    d, result = found
    halves = split_users(d, 1, 0)
    assert np.bincount(halves.segments["half0"][0]).tolist() == [150, 150]
    report = halves.segments["half0"][0] == REPORT
    for model in "ab":
        point = next(p for p in result.points if (p.source, p.method) == (model, "as it is"))
        block = Block(Shared(d, 0, len(d.users), 5), d.models[model][0])
        for name in ("ndcg", "tail_share"):
            values = list_values(parse(name), d, np.array([5]), block)[:, 0]
            assert point.metrics[f"{name}@5"] == pytest.approx(
                np.nanmean(values[report]), abs=1e-12
            )


def test_a_harm_that_was_not_needed_is_repaired(found):
    _, result = found
    a, b = (next(p for p in result.points if (p.source, p.method) == (m, "as it is")) for m in "ab")
    assert b.metrics["ndcg@5"] > a.metrics["ndcg@5"] + 0.1
    assert b.metrics["tail_share@5"] < a.metrics["tail_share@5"] - 0.2
    best = result.repairs[0]
    point = next(
        p
        for p in result.points
        if (p.source, p.method, p.strength) == (best.source, best.method, best.strength)
    )
    kept = (point.metrics["ndcg@5"] - a.metrics["ndcg@5"]) / (
        b.metrics["ndcg@5"] - a.metrics["ndcg@5"]
    )
    undone = (point.metrics["tail_share@5"] - b.metrics["tail_share@5"]) / (
        a.metrics["tail_share@5"] - b.metrics["tail_share@5"]
    )
    assert (best.kept, best.undone) == pytest.approx((kept, undone))
    assert kept > 0.7
    assert undone > 0.1
    finding = next(f for f in result.findings if f.rule == "cheap_repair")
    assert f"{undone:.0%} of the harm undone" in finding.title
    assert (
        finding.evidence["How"]
        == f"{best.method} of strength {best.strength:g} on its own candidates"
    )


def test_the_frontier_is_not_dominated_and_the_distance_is_from_it(found):
    _, result = found
    assert any(p.on_frontier for p in result.points)
    assert 0 < result.hypervolume["models"] < result.hypervolume["frontier"] <= 1
    b = next(p for p in result.points if (p.source, p.method) == ("b", "as it is"))
    able = [
        p.metrics["tail_share@5"]
        for p in result.points
        if p.on_frontier and p.metrics["ndcg@5"] >= b.metrics["ndcg@5"]
    ]
    most = max([*able, b.metrics["tail_share@5"]])
    assert result.distance["tail_share@5"] == pytest.approx(most - b.metrics["tail_share@5"])


def test_json_says_all_of_it_and_the_same_bytes_again(found, tmp_path):
    d, result = found
    result.write_json(tmp_path / "frontier.json")
    told = json.loads((tmp_path / "frontier.json").read_text())
    assert {"source", "method", "strength", "metrics", "on_frontier"} <= set(told["points"][0])
    assert len(told["points"]) == 2 + 2 * 3 * 8
    assert told["repairs"][0]["method"] == result.repairs[0].method
    _, candidates = harmful()
    again = frontier(
        d, candidates, baseline="a", candidate="b", headline="ndcg", depth=5,
        methods=["popularity_debias", "xquad_tail", "fair"], keep=0.8, splits=1,
    )  # fmt: skip
    assert again.to_dict() == result.to_dict()


def test_a_candidate_that_a_rerank_beats_on_both_is_dominated():
    d, candidates = harmful(users=400)
    # The candidate as shown: of its pool the head first, from the worst to the best.
    pool = candidates["b"]
    key = np.where(d.items.tail[pool.items], 100, 0) + pool.scores
    worst = np.take_along_axis(pool.items, np.argsort(key, axis=1), axis=1)
    worse = replace(d, models={"a": d.models["a"], "b": [lists_of(d.models["b"][0], worst)]})
    asked = {
        "baseline": "a",
        "candidate": "b",
        "headline": "ndcg",
        "depth": 5,
        "methods": ["xquad_tail", "fair"],
    }
    result = frontier(worse, candidates, **asked)
    (finding,) = result.findings  # without a gain there is nothing to repair
    assert finding.rule == "dominated_candidate"
    assert finding.evidence["tail_share@5"].startswith("0.0000 → 0.")
    assert result.distance["ndcg@5"] > 0.1
    tail_first = np.take_along_axis(pool.items, np.argsort(-key, axis=1), axis=1)
    extreme = replace(d, models={"a": d.models["a"], "b": [lists_of(d.models["b"][0], tail_first)]})
    assert all(
        f.rule != "dominated_candidate" for f in frontier(extreme, candidates, **asked).findings
    )


def test_no_repair_without_a_gain_or_without_a_harm():
    points = [Setting("a"), Setting("b"), Setting("b", "m", 0.5)]
    axes = np.zeros((3, 2, 1, 2))
    axes[:, 0, 0] = np.array([0.1, 0.2, 0.19])[:, None]
    axes[:, 1, 0] = np.array([0.5, 0.1, 0.4])[:, None]
    (repair,) = repairs(points, axes, "a", "b", 0.85)
    assert (repair.kept, repair.undone) == pytest.approx((0.9, 0.75))
    assert not repairs(points, axes, "a", "b", 0.95)
    assert not repairs(points, axes, "b", "a", 0.5)  # the other way round nothing is gained
    axes[1, 1] = 0.6
    assert not repairs(points, axes, "a", "b", 0.5)


def test_what_cannot_be_used_is_said():
    d, candidates = harmful(users=60)
    asked = {"baseline": "a", "candidate": "b", "headline": "ndcg"}
    with pytest.raises(ConfigError, match="nothing to choose from"):
        frontier(d, candidates, depth=20, **asked)
    with pytest.raises(ConfigError, match="lists of 5"):
        frontier(d, candidates, depth=5, against="tail_share@3", **asked)
    with pytest.raises(ConfigError, match="'ild' cannot be measured"):
        frontier(d, candidates, depth=5, against="ild", **asked)
    with pytest.raises(ConfigError, match="no_such"):
        frontier(d, candidates, depth=5, methods=["no_such"], **asked)
    ranked = frontier(
        *harmful(users=60, scored=False),
        depth=5,
        methods=["fair"],
        strengths={"fair": [0.3]},
        **asked,
    )
    assert "gave no scores" in ranked.notes[0]
    assert len(ranked.points) == 4
