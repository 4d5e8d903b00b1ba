"""Beside seven libraries on thousands of random cases: equal to 1e-12, or the difference is named here.

Each library has an environment of its own, as in the benchmark (``benchmarks/environments.py``); where
they are is told by ``RECAUDIT_PEER_ENVS``.  Run by ``make test-peers``.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import audit
from benchmarks.environments import ENVS, ensure

pytestmark = pytest.mark.peers

HERE = Path(__file__).parent
TOPICS = 2500
KS = (1, 3, 10, 30)
Cases = dict[str, dict[str, dict[str, float]]]
ITEMS = [f"d{n:02d}" for n in range(70)]


def make_cases(seed: int, *, tied: bool) -> Cases:
    """Lists of 1 to 30 items; grades 0 to 3, unjudged items, topics without relevance or without a list."""
    rng = np.random.default_rng(seed)
    cases: Cases = {"run": {}, "qrels": {}}
    for n in range(TOPICS):
        topic = f"q{n:04d}"
        size = int(rng.integers(1, 31))
        shown = [ITEMS[i] for i in rng.permutation(len(ITEMS))[:size]]
        # Exact in 32 bits, which pytrec_eval reads scores in.
        values = rng.integers(0, 5, size) / 4 if tied else rng.permutation(4096)[:size] / 64
        judged = [ITEMS[i] for i in rng.permutation(len(ITEMS))[: rng.integers(1, 40)]]
        odds = rng.dirichlet([3, 1, 1, 1]) if rng.random() < 0.9 else [1, 0, 0, 0]
        grades = rng.choice(4, len(judged), p=odds)
        if rng.random() < 0.96:
            cases["run"][topic] = {item: float(v) for item, v in zip(shown, values, strict=True)}
        if rng.random() < 0.96:
            cases["qrels"][topic] = {item: int(g) for item, g in zip(judged, grades, strict=True)}
    return cases


def with_history(cases: Cases, seed: int) -> Cases:
    """The cases and a skewed history, which some users have none of; every user has a list, of two models."""
    rng = np.random.default_rng(seed)
    chance = 1 / np.arange(1, len(ITEMS) - 4)  # the last items are in nobody's
    history = {
        topic: {ITEMS[i]: 1 for i in rng.choice(len(chance), rng.integers(1, 20), False, chance / chance.sum())}
        for topic in cases["run"]
        if rng.random() < 0.9
    }  # fmt: skip
    baseline = {
        topic: {ITEMS[i]: -float(place) for place, i in enumerate(rng.permutation(len(ITEMS))[: rng.integers(1, 31)])}
        for topic in cases["run"]
    }  # fmt: skip
    return {**cases, "history": history, "baseline": baseline}


def known(cases: Cases) -> pd.DataFrame:
    """The history."""
    rows = [(user, item) for user, of in cases["history"].items() for item in of]
    return pd.DataFrame(rows, columns=["user_id", "item_id"])


def same(mine: dict[str, float], theirs: dict[str, float], name: str) -> None:
    """Fails where a value differs, or where one side has none."""
    mine = {topic: value for topic, value in mine.items() if not math.isnan(value)}
    assert mine.keys() == theirs.keys(), name
    wrong = [
        (topic, value, theirs[topic])
        for topic, value in mine.items()
        if not math.isclose(value, theirs[topic], rel_tol=1e-12, abs_tol=1e-12)
    ]
    assert not wrong, f"{name}: {len(wrong)} of {len(mine)} differ, such as {wrong[:5]}"
    assert len(mine) > TOPICS / 2


def of_peer(peer: str, cases: Cases, folder: Path) -> dict[str, dict[str, float] | float]:
    """What the peer's script answers."""
    path = folder / "cases.json"
    path.write_text(json.dumps(cases), encoding="utf-8")
    python = ensure(peer, envs=Path(os.environ.get("RECAUDIT_PEER_ENVS", ENVS)))
    done = subprocess.run(
        [str(python), str(HERE / f"run_{peer}.py"), str(path)],
        capture_output=True, text=True, timeout=1800, check=False,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def frames(cases: Cases) -> tuple[pd.DataFrame, pd.DataFrame]:
    def flat(nested: dict, name: str) -> pd.DataFrame:
        rows = [(user, item, value) for user, of in nested.items() for item, value in of.items()]
        return pd.DataFrame(rows, columns=["user_id", "item_id", name])

    return flat(cases["run"], "score"), flat(cases["qrels"], "grade")


def ours(cases: Cases, names: list[str], preset: dict[str, str]) -> pd.DataFrame:
    """By topic and metric; a name may begin with ``convention=value`` words."""
    recommendations, relevance = frames(cases)
    by_options: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        *options, metric = name.split()
        by_options.setdefault(tuple(options), []).append(metric)
    found = []
    for options, metrics in by_options.items():
        given = dict(option.split("=") for option in options)
        frame = audit.evaluate(
            recommendations, relevance=relevance, metrics=metrics, per_list=True, k=1,
            conventions=preset | {k: int(v) if v.isdigit() else v for k, v in given.items()},
        ).set_index("user_id")  # fmt: skip
        found.append(frame.rename(columns=lambda metric: " ".join([*options, metric])))  # noqa: B023
    return pd.concat(found, axis=1)


def compare(
    peer: str, cases: Cases, folder: Path, preset: dict[str, str], *,
    but: Callable[[str, str], bool] = lambda name, topic: False,
) -> pd.DataFrame:  # fmt: skip
    """Compare every value that the peer has; fails where one differs and ``but`` does not name it.

    Returns our values of all cases.
    """
    theirs = of_peer(peer, cases, folder)
    found = ours(cases, list(theirs), preset)
    for name, values in theirs.items():
        mine = found[name].dropna()
        assert len(mine) > TOPICS / 2
        if not isinstance(values, dict):
            if not but(name, ""):
                assert values == pytest.approx(mine.mean(), rel=1e-12, abs=1e-12), name
            continue
        compared = {topic for topic in mine.index if not but(name, topic)}
        assert compared == {topic for topic in values if not but(name, topic)}, name
        wrong = [
            (topic, mine[topic], values[topic])
            for topic in sorted(compared)
            if not math.isclose(mine[topic], values[topic], rel_tol=1e-12, abs_tol=1e-12)
        ]
        assert not wrong, f"{name}: {len(wrong)} of {len(compared)} differ, such as {wrong[:5]}"
        assert len(compared) > TOPICS / 2
    return found


@pytest.mark.parametrize("tied", [False, True])
def test_pytrec_eval(tmp_path, tied):
    cases = make_cases(1, tied=tied)

    def empty(name: str, topic: str) -> bool:
        # A list without a judged item is empty when condensed: no topic of the run there, 0 here.
        judged = cases["run"].get(topic, {}).keys() & cases["qrels"].get(topic, {}).keys()
        return "condensed" in name and not judged

    compare("pytrec_eval", cases, tmp_path, {"preset": "trec_eval"}, but=empty)


def test_ranx(tmp_path):
    cases = make_cases(2, tied=False)  # its order of ties depends on how many there are

    def one_kind(name: str, topic: str) -> bool:
        # Its bpref divides by zero where all judged items are relevant, or none is.  Its RBP is asked
        # for the same topics.
        kinds = {grade > 0 for grade in cases["qrels"].get(topic, {}).values()}
        return name.startswith(("bpref", "rbp")) and len(kinds) < 2

    compare("ranx", cases, tmp_path, {"no_relevant": "zero_if_judged"}, but=one_kind)


def test_rectools(tmp_path):
    compare("rectools", make_cases(3, tied=False), tmp_path, {"preset": "rectools"})


def test_rectools_beyond_relevance(tmp_path):
    cases = with_history(make_cases(8, tied=False), 8)
    recommendations, relevance = frames(cases)
    relevance = relevance[relevance["grade"] > 0]  # its catalog is told from relevant items only
    history = known(cases)
    catalog = {*history["item_id"], *recommendations["item_id"], *relevance["item_id"]}
    given = {
        "relevance": relevance, "history": history, "catalog": pd.DataFrame({"item_id": sorted(catalog)}),
        "k": KS, "conventions": "rectools",
    }  # fmt: skip
    theirs = of_peer("rectools", cases, tmp_path)
    names = ["novelty", "arp", "serendipity_by_rank"]
    mine = audit.evaluate(recommendations, metrics=names, per_list=True, **given)
    mine = mine.set_index("user_id")
    coverage = audit.evaluate(recommendations, metrics=["catalog_coverage"], **given)["value"]
    for name, values in theirs.items():
        if name in coverage:
            assert coverage[name] == pytest.approx(values, rel=1e-12)
            continue
        if name.startswith("serendipity"):
            # It counts everybody with a list, and 0 without test items; not those with test items only.
            tested = {*relevance["user_id"]}
            assert not any(value for topic, value in values.items() if topic not in tested)
            theirs_of = {topic: value for topic, value in values.items() if topic in tested}
            unlisted = mine.index.difference(list(cases["run"]))
            assert not mine.loc[unlisted, name].any()
            same(mine[name].drop(unlisted).to_dict(), theirs_of, name)
        else:
            same(mine[name].to_dict(), values, name)


@pytest.mark.parametrize("tied", [False, True])
def test_replay(tmp_path, tied):
    compare("replay", make_cases(4, tied=tied), tmp_path, {"preset": "replay"})


def test_replay_beyond_relevance(tmp_path):
    cases = with_history(make_cases(9, tied=True), 9)
    recommendations, _ = frames(cases)
    history = known(cases)
    given = {
        "history": history, "catalog": history[["item_id"]].drop_duplicates(), "k": KS,
        "conventions": "replay",
    }  # fmt: skip
    theirs = of_peer("replay", cases, tmp_path)
    names = ["surprisal", "new_to_user"]
    mine = audit.evaluate(recommendations, metrics=names, per_list=True, **given)
    mine = mine.set_index("user_id")
    coverage = audit.evaluate(recommendations, metrics=["catalog_coverage"], **given)["value"]
    baseline = frames({**cases, "run": cases["baseline"]})[0]
    pair = audit.compare(
        {"baseline": baseline, "candidate": recommendations}, relevance=None, metrics=["new_to_baseline"],
        guardrails="none", **given,
    ).scorecard.set_index("metric")["candidate"]  # fmt: skip
    for name, values in theirs.items():
        if name in coverage:
            assert coverage[name] == pytest.approx(values, rel=1e-12)
        elif name in pair:
            assert pair[name] == pytest.approx(np.mean(list(values.values())), rel=1e-12), name
        else:
            found = mine[name]
            if name.startswith("new_to_user"):  # it drops users without a history
                found = found[[topic for topic in found.index if topic in cases["history"]]]
            same(found.to_dict(), values, name)


def test_lenskit(tmp_path):
    compare("lenskit", make_cases(7, tied=False), tmp_path, {"preset": "lenskit"})


@pytest.mark.parametrize("tied", [False, True])
def test_recommenders(tmp_path, tied):
    cases = make_cases(5, tied=tied)
    conditional = lambda name, topic: name.startswith("r_precision")  # noqa: E731
    found = compare("recommenders", cases, tmp_path, {"preset": "recommenders"}, but=conditional)
    theirs = of_peer("recommenders", cases, tmp_path)
    for k in (1, 3, 10, 30):
        mine = found[f"r_precision@{k}"]
        assert theirs[f"r_precision@{k}"] == pytest.approx(mine[mine > 0].mean(), rel=1e-12)


def test_scikit_learn():
    from sklearn.metrics import average_precision_score, dcg_score, ndcg_score, roc_auc_score

    rng = np.random.default_rng(6)
    cases: Cases = {"run": {}, "qrels": {}}
    arrays = {}
    for n in range(TOPICS):
        size = int(rng.integers(2, 31))
        grades, values = rng.integers(0, 4, size), rng.permutation(4096)[:size] / 64
        if not 0 < (grades > 0).sum() < size:
            continue  # it has no AUC there
        arrays[f"q{n:04d}"] = grades, values
        cases["run"][f"q{n:04d}"] = dict(zip(ITEMS, map(float, values), strict=False))
        cases["qrels"][f"q{n:04d}"] = dict(zip(ITEMS, map(int, grades), strict=False))
    names = [
        "map@40",
        "auc@40",
        *(f"gain=linear {name}@{k}" for name in ("dcg", "ndcg") for k in KS),
    ]
    found = ours(cases, names, {})
    for topic, (grades, values) in arrays.items():
        mine = found.loc[topic]
        relevant, one, of = grades > 0, grades[None], values[None]
        theirs = {
            "map@40": average_precision_score(relevant, values),
            "auc@40": roc_auc_score(relevant, values),
        }
        for k in KS:
            theirs[f"gain=linear dcg@{k}"] = dcg_score(one, of, k=k, ignore_ties=True)
            theirs[f"gain=linear ndcg@{k}"] = ndcg_score(one, of, k=k, ignore_ties=True)
        for name, value in theirs.items():
            assert mine[name] == pytest.approx(value, rel=1e-12, abs=1e-12), (topic, name)
