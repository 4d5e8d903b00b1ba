"""Every default metric against a second implementation: dictionaries, sorted lists and the definitions.

The data have graded and zero-graded relevance, several requests per user, users absent under a
model, users without relevance, items outside the catalog, items without embedding, creator or date,
shared creators, negative ages, short lists and lists longer than every K.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

import numpy as np
import pytest

from audit import single
from audit.conventions import PRESETS
from audit.metrics import REGISTRY
from tests import support
from tests.metrics import plain_relevance

KS = (1, 2, 3, 5, 10, 40)
ELSEWHERE = ("stages", "overlap", "calibration", "creators", "sessions", "eligible")
"""Modules whose metrics have their reference in a test file of their own."""
HERE = frozenset(
    name
    for name, spec in REGISTRY.items()
    if spec.function.__module__.startswith("audit.")
    and spec.function.__module__.rpartition(".")[2] not in ELSEWHERE
    and (spec.default or spec.family == "relevance")
)
"""The metrics of this file: those measured by default, and all of relevance."""
NAN = math.nan


@dataclass
class World:
    models: dict[str, dict[tuple[int, int], list[int]]]
    relevant: dict[int, dict[int, int]]
    catalog: list[int]
    creators: dict[int, list[str]]
    created: dict[int, float]
    embedding: dict[int, list[float]]
    history: dict[int, list[int]]
    shown_at: dict[tuple[int, int], float]
    as_of: float
    conventions: dict[str, Any] = field(default_factory=dict)
    categories: dict[int, list[str]] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        defaults = {
            "gain": "exponential", "discount": "log2", "ideal": "achievable", "threshold": 1,
            "ap_denominator": "relevant", "precision_denominator": "k",
            "recall_denominator": "relevant", "no_relevant": "leave_out", "users": "with_lists",
            "exposure": "log2", "patience": 0.8, "gini_population": "catalog", "gini_divisor": "n",
            "untouched": "one_user", "head_share": 0.8, "novelty_denominator": "list_length",
        }  # fmt: skip
        return self.conventions.get(name, defaults[name])


def make_world(seed: int) -> World:
    rng = np.random.default_rng(seed)
    everything = [int(i) for i in rng.permutation(np.arange(100, 400))[:70]]
    items, strangers = everything[:64], everything[64:]
    popular = rng.dirichlet(np.full(len(items), 0.3))
    users = [int(u) for u in rng.permutation(1000)[:45]]

    def some(n: int, p: Any = None) -> list[int]:
        return [items[i] for i in rng.choice(len(items), n, replace=False, p=p)]

    models: dict[str, dict[tuple[int, int], list[int]]] = {"a": {}, "b": {}}
    shown_at = {}
    for user in users[:40]:
        for request in range(int(rng.integers(1, 4))):
            for model, lists in models.items():
                if (user in users[:4] and model == "a") or (user in users[4:8] and model == "b"):
                    continue
                if rng.random() < 0.15 and request > 0:
                    continue  # the request was shown under one model only
                chosen = some(int(rng.choice([1, 2, 3, 7, 12, 30])))
                if rng.random() < 0.2:
                    chosen[int(rng.integers(len(chosen)))] = strangers[int(rng.integers(6))]
                lists[user, request] = chosen
                shown_at[user, request] = 1000 + float(rng.integers(0, 400)) / 8
    relevant = {
        user: {
            item: int(rng.integers(0, 4))
            for item in [*some(int(rng.integers(1, 15))), strangers[0]]
        }
        for user in users[3:]
        if rng.random() < 0.9
    }
    return World(
        models=models,
        relevant=relevant,
        catalog=items,
        creators={
            i: [f"c{c}" for c in rng.choice(25, int(rng.integers(1, 4)), replace=False)]
            for i in items
            if rng.random() < 0.85
        },
        created={i: 700 + float(rng.integers(0, 3200)) / 8 for i in items if rng.random() < 0.9},
        embedding={
            i: [float(x) for x in rng.normal(size=5).astype(np.float32)]
            for i in items
            if rng.random() < 0.8
        },
        history={
            int(u): some(int(rng.integers(1, 12)), popular)
            for u in [*users[2:], *range(2000, 2030)]
        },
        shown_at=shown_at,
        as_of=1040.0,
        categories={
            i: [f"g{g}" for g in rng.choice(9, int(rng.integers(1, 4)), replace=False)]
            for i in items
            if rng.random() < 0.85
        },
    )


class Reference:
    def __init__(self, world: World, model: str) -> None:
        self.w, self.model = world, model
        self.popularity = {
            item: sum(item in items for items in world.history.values()) for item in world.catalog
        }
        self.by_popularity = sorted(world.catalog, key=lambda i: (-self.popularity[i], i))
        need = world.head_share * sum(self.popularity.values())
        self.head, mass = set(), 0
        for item in self.by_popularity:
            if mass >= need:
                break
            mass += self.popularity[item]
            self.head.add(item)

    def lists(self) -> dict[int, list[tuple[tuple[int, int], list[int]]]]:
        """User → their lists; the (empty) lists of other models for users whom this one left out."""
        own = self.w.models[self.model]
        keys = sorted({key for lists in self.w.models.values() for key in lists})
        users = sorted({user for user, _ in keys})
        found = {}
        for user in users:
            mine = [key for key in keys if key[0] == user and key in own]
            theirs = mine or [key for key in keys if key[0] == user]
            found[user] = [(key, own.get(key, [])) for key in theirs]
        if self.w.users == "all_relevant":
            for user, grades in self.w.relevant.items():
                if user not in found and any(g > 0 for g in grades.values()):
                    found[user] = [((user, -1), [])]
        return found

    def values(self) -> dict[str, tuple[float, int]]:
        out: dict[str, tuple[float, int]] = {}
        lists = self.lists()
        for k in KS:
            of_users: dict[str, list[float]] = {}
            for user, shown in lists.items():
                each: dict[str, list[float]] = {}
                for key, items in shown:
                    for name, value in self.one_list(user, key, items, k).items():
                        each.setdefault(name, [])
                        if not math.isnan(value):
                            each[name].append(value)
                for name, of_lists in each.items():
                    of_users.setdefault(name, [])
                    if of_lists:
                        of_users[name].append(mean(of_lists))
            for name, found in of_users.items():
                out[f"{name}@{k}"] = (mean(found), len(found))
            value, n = out[f"mrr@{k}"]
            out[f"effective_rank@{k}"] = (1 / value if value else NAN, n)  # 1/NaN is NaN
            (times, n), (shown, _) = (out[f"{part}@{k}"] for part in plain_relevance.PARTS)
            out[f"group_auc@{k}"] = (times / shown if n and shown else NAN, n)
            for name, value in self.systems(k).items():
                out[f"{name}@{k}"] = (value, len(lists))
        return out

    # ------------------------------------------------------------------ of one list

    def attention(self, rank: int) -> float:
        return (
            1 / math.log2(rank + 1) if self.w.exposure == "log2" else self.w.patience ** (rank - 1)
        )

    def one_list(
        self, user: int, key: tuple[int, int], items: list[int], k: int
    ) -> dict[str, float]:
        top = items[:k]
        return {
            **self.relevance(user, items, k), **self.popularities(top, k),
            **self.distances(user, top), **self.ages(key, top),
        }  # fmt: skip

    def relevance(self, user: int, items: list[int], k: int) -> dict[str, float]:
        w = self.w
        judged = w.relevant.get(user, {})
        highest = max([1, *(g for grades in w.relevant.values() for g in grades.values())])
        values = plain_relevance.relevance(w, judged, items, k, highest)
        known = set(w.history.get(user, ()))
        common = [i for i in self.by_popularity if i not in known][:k]
        good = [i for i in items[:k] if judged.get(i, 0) >= w.threshold]
        values["serendipity"] = sum(i not in common for i in good) / k
        return plain_relevance.settled(w, judged, values)

    def popularities(self, top: list[int], k: int) -> dict[str, float]:
        users = len(self.w.history)
        surprise, popular = [], []
        for item in top:
            touched = self.popularity.get(item, 0)
            if touched or self.w.untouched == "one_user":
                surprise.append(-math.log2(max(touched, 1) / users))
                popular.append(touched)
        novelty = mean(surprise)
        if self.w.novelty_denominator == "k" and surprise:
            novelty = sum(surprise) / k
        weights = [self.attention(rank) for rank in range(1, len(top) + 1)]
        tail = [item in self.popularity and item not in self.head for item in top]
        return {
            "novelty": novelty,
            "arp": mean(popular),
            "tail_share": sum(np.multiply(weights, tail)) / sum(weights) if top else NAN,
            "tail_share_by_count": mean(tail),
        }

    def distances(self, user: int, top: list[int]) -> dict[str, float]:
        known = [
            self.w.embedding[i]
            for i in sorted(self.w.history.get(user, ()))
            if i in self.w.embedding
        ]
        vectors = [self.w.embedding[i] for i in top if i in self.w.embedding]
        pairs = [1 - cosine(v, u) for n, v in enumerate(vectors) for u in vectors[n + 1 :]]
        profile = (
            np.mean([np.array(v) / np.linalg.norm(v) for v in known], axis=0) if known else None
        )
        return {
            "ild": mean(pairs),
            "unexpectedness": NAN
            if profile is None or not vectors
            else 1 - mean([cosine(v, profile) for v in vectors]),
        }

    def ages(self, key: tuple[int, int], top: list[int]) -> dict[str, float]:
        now = self.w.shown_at.get(key, self.w.as_of)
        ages = [now - self.w.created[i] for i in top if i in self.w.created]
        ages = [age for age in ages if age >= 0]
        return {
            "mean_age": mean(ages),
            "median_age": median(ages) if ages else NAN,
            "fresh_share": mean([age < 30 for age in ages]),
        }

    # ------------------------------------------------------------------ of all lists

    def systems(self, k: int) -> dict[str, float]:
        w = self.w
        total = sum(self.attention(rank) for rank in range(1, k + 1))
        exposure = dict.fromkeys(w.catalog, 0.0)
        count = dict.fromkeys(w.catalog, 0.0)
        for items in w.models[self.model].values():
            for rank, item in enumerate(items[:k], 1):
                if item in exposure:
                    exposure[item] += self.attention(rank) / total
                    count[item] += 1
        names = sorted({c for of in w.creators.values() for c in of})
        new = [i for i in w.catalog if i in w.created and 0 <= w.as_of - w.created[i] < 30]
        tail = [i for i in w.catalog if i not in self.head]
        found = {
            "catalog_coverage": mean([exposure[i] > 0 for i in w.catalog]),
            "tail_coverage": mean([exposure[i] > 0 for i in tail]),
            "fresh_coverage": mean([exposure[i] > 0 for i in new]),
        }
        for ending, amounts in (("", exposure), ("_by_count", count)):
            creators = dict.fromkeys(names, 0.0)
            for item, of in w.creators.items():
                for creator in of:
                    creators[creator] += amounts[item] / len(of)
            found[f"item_gini{ending}"] = self.gini(list(amounts.values()))
            found[f"creator_gini{ending}"] = self.gini(list(creators.values()))
            shares = [x / sum(amounts.values()) for x in amounts.values() if x > 0]
            entropy = -sum(p * math.log2(p) for p in shares)
            found[f"effective_catalog{ending}"] = 2**entropy if shares else NAN
            top = sorted(creators.values())[-max(1, round(0.01 * len(names))) :]
            total = sum(creators.values())
            found[f"creator_top_share{ending}"] = sum(top) / total if total else NAN
            if not ending:
                found["creator_coverage"] = mean([x > 0 for x in creators.values()])
        return found

    def gini(self, x: list[float]) -> float:
        """Half the mean absolute difference over the mean."""
        if self.w.gini_population == "exposed":
            x = [value for value in x if value > 0]
        n = len(x)
        twice = 2 * (n if self.w.gini_divisor == "n" else n - 1) * sum(x)
        return sum(abs(a - b) for a in x for b in x) / twice if twice else NAN


def mean(values: Any) -> float:
    return sum(values) / len(values) if len(values) else NAN


def cosine(a: Any, b: Any) -> float:
    return float(np.dot(a, b) / np.linalg.norm(a) / np.linalg.norm(b))


def product(
    world: World, model: str, metrics: list[str] | None = None
) -> dict[str, tuple[float, int]]:
    """The same by the product; ``model`` comes alone into ``single.means``, beside the other."""
    other = next(name for name in world.models if name != model)
    tables = {
        name: support.lists(world.models[name], shown_at=world.shown_at) for name in world.models
    }
    given = support.inputs(
        {"model": tables[model], "other": tables[other]},
        relevance=world.relevant,
        history=world.history,
        catalog=support.catalog(
            world.catalog, creators=world.creators, created=world.created,
            embedding=world.embedding, categories=world.categories,
        ),
    )  # fmt: skip
    as_of = support.EPOCH + support.dt.timedelta(days=world.as_of)
    dataset = support.encoded(given, as_of=as_of, **world.conventions)
    plan, found = support.measured(dataset, metrics or sorted(HERE), k=KS)
    frame = single.means(dataset, plan, found)
    return {
        name: (row.value, row.n) for name, row in zip(frame.index, frame.itertuples(), strict=True)
    }


OPTIONS = [
    {}, {"gain": "linear"}, {"discount": "log2_from_2"}, {"ideal": "full_k"},
    {"ap_denominator": "min_k"}, {"precision_denominator": "list_length"},
    {"recall_denominator": "min_k"}, {"no_relevant": "zero"}, {"users": "all_relevant"},
    {"exposure": "geometric"}, {"exposure": "geometric", "patience": 0.5},
    {"gini_population": "exposed"}, {"gini_divisor": "n_minus_1"},
    {"gini_population": "exposed", "gini_divisor": "n_minus_1"}, {"untouched": "drop"},
    {"head_share": 0.5}, {"threshold": 2}, {"threshold": 3, "no_relevant": "zero"},
    {"threshold": 2, "gain": "binary"}, {"ap_denominator": "min_length"},
    {"no_relevant": "zero_if_judged"},
    *(dict(PRESETS[name]) for name in PRESETS if name != "default"),
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("model", ["a", "b"])
def test_all_metrics(model, options):
    world = replace(make_world(7), conventions=options)
    expected, found = Reference(world, model).values(), product(world, model)
    assert {name.split("@")[0] for name in expected} == HERE
    assert expected.keys() == found.keys()
    for name, (value, n) in expected.items():
        assert found[name][1] == n, name
        assert found[name][0] == pytest.approx(value, rel=1e-12, abs=1e-12, nan_ok=True), name


@pytest.mark.parametrize("seed", range(20, 26))
def test_all_metrics_on_other_data(seed):
    world = make_world(seed)
    expected, found = Reference(world, "b").values(), product(world, "b")
    for name, (value, n) in expected.items():
        assert found[name][1] == n, name
        assert found[name][0] == pytest.approx(value, rel=1e-12, abs=1e-12, nan_ok=True), name


def test_the_data_hold_what_they_are_meant_to():
    world = make_world(7)
    shown = {key: lists for model in world.models.values() for key, lists in model.items()}
    users = [{user for user, _ in lists} for lists in world.models.values()]
    assert users[0] - users[1]
    assert users[1] - users[0]
    assert (users[0] | users[1]) - world.relevant.keys()
    assert world.relevant.keys() - (users[0] | users[1])
    grades = [g for of in world.relevant.values() for g in of.values()]
    assert set(grades) == {0, 1, 2, 3}
    assert any(i not in world.catalog for lists in shown.values() for i in lists)
    assert {len(lists) for lists in shown.values()} >= {1, 30}
    assert any(
        world.shown_at[key] < world.created.get(i, 0) for key, lists in shown.items() for i in lists
    )
    assert {len(world.creators.get(i, ())) for i in world.catalog} == {0, 1, 2, 3}
    assert any(i not in world.embedding for i in world.catalog)
    assert any(i not in world.created for i in world.catalog)
    pops = [sum(i in of for of in world.history.values()) for i in world.catalog]
    assert 0 in pops
