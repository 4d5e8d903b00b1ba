"""Diversity, novelty, coverage and freshness against a second implementation, as test_reference.py."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit import single
from tests import support
from tests.metrics import plain_relevance
from tests.metrics.test_properties import worlds
from tests.metrics.test_reference import KS, NAN, Reference, cosine, make_world, mean, product

PAIRWISE = ("ild_euclidean", "ild_jaccard", "eild", "eild[background=0.4]", "near_duplicates[threshold=0.41]")  # fmt: skip
LISTS = (
    *PAIRWISE,
    "category_count", "category_entropy", "subtopic_recall", "alpha_ndcg", "alpha_ndcg[alpha=0.9]", "err_ia",
    "free_discovery", "epc", "epc[background=0.3]", "efd", "epd", "aplt", "aclt", "popularity_lift", "new_to_user",
    "surprisal",
    "serendipity_by_rank", "serendipity_by_embedding", "user_coverage[least=3]", "full_lists",
    "discounted_age", "fresh_exposure", "stale_exposure[days=90]", "recency", "head_shown", "head_candidates",
    "tail_candidates", "head_hits", "tail_hits", "head_relevant", "tail_relevant",
)  # fmt: skip
SYSTEMS = (
    "category_coverage", *(
        name + ending
        for name in ("item_entropy", "item_hhi", "item_top_share", "creator_entropy",
                     "effective_creators", "creator_hhi")
        for ending in ("", "_by_count")
    ),
)  # fmt: skip
DERIVED = ("pop_rsp", "pop_reo")


def ratio(a, b):
    return a / b if b else NAN


class Beyond(Reference):
    def values(self):
        found = {name: v for name, v in super().values().items() if name.split("@")[0] in ASKED}
        for k in KS:
            for name, parts in (
                ("pop_rsp", ("head_shown", "head_candidates", "aclt", "tail_candidates")),
                ("pop_reo", ("head_hits", "head_relevant", "tail_hits", "tail_relevant")),
            ):
                of = [found[f"{part}@{k}"] for part in parts]
                h, t = ratio(of[0][0], of[1][0]), ratio(of[2][0], of[3][0])
                apart = ratio(np.std([h, t]), np.mean([h, t]))
                found[f"{name}@{k}"] = apart, min(n for _, n in of)
        return found

    def one_list(self, user, key, items, k):
        self.k = k  # the ideal of α-NDCG ends there
        top = items[:k]
        shown = {
            **self.distances(user, top), **self.of_categories(user, top), **self.novel(user, top, k),
            **self.aged(key, top),
        }  # fmt: skip
        relevant = {**self.liked(user, top), **self.subtopics(user, top)}
        for name in relevant:
            least = 1 if name == "err_ia" else self.w.threshold
            if not any(g >= least for g in self.w.relevant.get(user, {}).values()):
                relevant[name] = 0.0 if self.w.no_relevant == "zero" else NAN
        if not items:
            shown = dict.fromkeys(shown, NAN)
        own = {"user_coverage[least=3]": len(top) >= 3, "full_lists": len(top) >= k}
        # Of these the first class derives others.
        return {**shown, **relevant, **own, **dict.fromkeys(("mrr", *plain_relevance.PARTS), 0.5)}

    def grade(self, user, item):
        return self.w.relevant.get(user, {}).get(item, 0)

    def vectors(self, items):
        """Rank and unit vector of the items that have an embedding."""
        known = [(n, i) for n, i in enumerate(items, 1) if i in self.w.embedding]
        return [(n, i, np.array(self.w.embedding[i])) for n, i in known]

    def distances(self, user, top):
        known = self.vectors(top)
        pairs = list(combinations([v for _, _, v in known], 2))
        sets = [set(self.w.categories[i]) for i in top if i in self.w.categories]
        return {
            "ild_euclidean": mean([math.dist(a, b) for a, b in pairs]),
            "near_duplicates[threshold=0.41]": sum(cosine(a, b) > 0.41 for a, b in pairs)
            if pairs
            else NAN,
            "ild_jaccard": mean([1 - len(a & b) / len(a | b) for a, b in combinations(sets, 2)]),
        }

    def of_categories(self, user, top):
        weights = Counter()
        for item in top:
            for category in self.w.categories.get(item, ()):
                weights[category] += 1 / len(self.w.categories[item])
        total = sum(weights.values())
        return {
            "category_count": len(weights) or NAN,
            "category_entropy": -sum(w / total * math.log2(w / total) for w in weights.values())
            if weights
            else NAN,
        }

    def novel(self, user, top, k):
        known = self.w.history.get(user, [])
        pops = [self.popularity.get(i, 0) for i in top]
        own = mean([self.popularity[i] for i in known])
        tail = [i in self.popularity and i not in self.head for i in top]
        return {
            "free_discovery": mean([d for d in map(self.discovery, top) if not math.isnan(d)]),
            "aplt": mean(tail),
            "aclt": sum(tail),
            "popularity_lift": (mean(pops) - own) / own,
            "surprisal": self.popularities(top, k)["novelty"]
            / (math.log2(len(self.w.history)) or 1),
            "new_to_user": mean([i not in known for i in top]),
            "head_shown": sum(i in self.head for i in top),
            "head_candidates": len(self.head - set(known)),
            "tail_candidates": len(set(self.w.catalog) - self.head - set(known)),
        }

    def discovery(self, item):
        touched = self.popularity.get(item, 0)
        if not touched and self.w.untouched == "drop":
            return NAN
        return -math.log2(max(touched, 1) / sum(map(len, self.w.history.values())))

    def from_history(self, user, item):
        known = [v for _, _, v in self.vectors(self.w.history.get(user, []))]
        if item not in self.w.embedding:
            return NAN
        return mean([1 - cosine(self.w.embedding[item], v) for v in known])

    def liked(self, user, top):
        like = [self.grade(user, i) >= self.w.threshold for i in top]
        users, n = len(self.w.history), len(self.w.catalog)
        levels = sorted({p for p in self.popularity.values() if p}, reverse=True)
        expected = [
            (n - levels.index(self.popularity[i])) / n if self.popularity.get(i) else 0 for i in top
        ]
        gained = [max((n + 1 - r) / n - e, 0) for r, e in enumerate(expected, 1)]
        seen = [1 - self.popularity.get(i, 0) / users for i in top]
        far = [(self.from_history(user, i), y) for i, y in zip(top, like, strict=True)]
        far = [d * y for d, y in far if not math.isnan(d)]
        relevant = self.relevant_from(user, self.w.threshold)
        tail = set(self.w.catalog) - self.head
        return {
            "epc": self.seen_and_liked(like, seen, 0),
            "epc[background=0.3]": self.seen_and_liked(like, seen, 0.3),
            "efd": self.seen_and_liked(like, [self.discovery(i) for i in top], 0),
            "epd": self.seen_and_liked(like, [self.from_history(user, i) for i in top], 0),
            "eild": self.eild(like, top, 0),
            "eild[background=0.4]": self.eild(like, top, 0.4),
            "serendipity_by_rank": mean([y * g for y, g in zip(like, gained, strict=True)])
            if top
            else 0,
            "serendipity_by_embedding": mean(far) if top else 0,
            "head_hits": sum(i in self.head for i in top if i in relevant),
            "tail_hits": sum(i in tail for i in top if i in relevant),
            "head_relevant": sum(i in self.head for i in relevant),
            "tail_relevant": sum(i in tail for i in relevant),
        }

    def seen_and_liked(self, like, novel, background):
        rows = [
            (self.attention(r), 1 if y else background, x)
            for r, (y, x) in enumerate(zip(like, novel, strict=True), 1)
            if not math.isnan(x)
        ]
        if not like:
            return 0
        return sum(a * p * x for a, p, x in rows) / sum(a for a, _, _ in rows) if rows else NAN

    def eild(self, like, top, background):
        rows = [(n, 1 if like[n - 1] else background, v) for n, _, v in self.vectors(top)]
        if not top:
            return 0
        if len(rows) < 2:
            return NAN
        total = 0.0
        for k, p, v in rows:
            others = [
                (self.attention(max(1, n - k)) * q, 1 - cosine(v, u)) for n, q, u in rows if n != k
            ]
            weight = sum(w for w, _ in others)
            total += self.attention(k) * p * (sum(w * d for w, d in others) / weight if weight else 0)  # fmt: skip
        return total / sum(self.attention(k) for k, _, _ in rows)

    def relevant_from(self, user, least):
        return [i for i, g in self.w.relevant.get(user, {}).items() if g >= least]

    def subtopics(self, user, top):
        of, graded = (
            {i: self.w.categories.get(i, []) for i in self.relevant_from(user, least)}
            for least in (self.w.threshold, 1)
        )
        wanted = {c for categories in of.values() for c in categories}
        found = {c for i in top for c in of.get(i, ())}
        ideals = {alpha: self.greedy(of, alpha)[: self.k] for alpha in (0.5, 0.9)}
        return {
            "subtopic_recall": ratio(len(found), len(wanted)),
            "err_ia": self.err_ia(user, top, graded),
            **{
                name: ratio(self.alpha_dcg(top, of, a), self.alpha_dcg(ideals[a], of, a))
                for name, a in (("alpha_ndcg", 0.5), ("alpha_ndcg[alpha=0.9]", 0.9))
            },
        }

    def err_ia(self, user, top, of):
        grades = [g for grades in self.w.relevant.values() for g in grades.values()]
        most = max([1, *grades])
        wanted = {c for categories in of.values() for c in categories}
        err = 0.0
        for category in wanted:
            left = 1.0
            for rank, item in enumerate(top, 1):
                stop = (2 ** self.grade(user, item) - 1) / 2**most
                if category in of.get(item, ()):
                    err += left * stop / rank
                    left *= 1 - stop
        return ratio(err, len(wanted))

    def alpha_gain(self, item, before, of, alpha):
        return sum((1 - alpha) ** sum(c in of.get(i, ()) for i in before) for c in of.get(item, ()))

    def alpha_dcg(self, top, of, alpha):
        return sum(
            self.alpha_gain(item, top[: r - 1], of, alpha) * plain_relevance.discount(self.w, r)
            for r, item in enumerate(top, 1)
        )

    def greedy(self, of, alpha):
        chosen = []
        left = sorted(of)
        while left:
            gains = [self.alpha_gain(i, chosen, of, alpha) for i in left]
            chosen.append(left.pop(int(np.argmax(np.round(gains, 12)))))
        return chosen

    def aged(self, key, top):
        now = self.w.shown_at.get(key, self.w.as_of)
        ages = [
            (self.attention(n), now - self.w.created[i])
            for n, i in enumerate(top, 1)
            if i in self.w.created and now >= self.w.created[i]
        ]
        total = sum(a for a, _ in ages) or NAN
        return {
            "discounted_age": sum(a * age for a, age in ages) / total,
            "fresh_exposure": sum(a for a, age in ages if age < 30) / total,
            "stale_exposure[days=90]": sum(a for a, age in ages if age >= 90) / total,
            "recency": mean([0.5 ** (age / 30) for _, age in ages]),
        }

    def systems(self, k):
        w = self.w
        found = {}
        total = sum(self.attention(rank) for rank in range(1, k + 1))
        for ending, weight in (("", lambda r: self.attention(r) / total), ("_by_count", lambda r: 1)):  # fmt: skip
            x = Counter()
            for items in w.models[self.model].values():
                for rank, item in enumerate(items[:k], 1):
                    x[item] += weight(rank) if item in w.catalog else 0
            creators, categories = Counter(), Counter()
            for item, amount in x.items():
                for of, out in ((w.creators, creators), (w.categories, categories)):
                    for member in of.get(item, ()):
                        out[member] += amount / len(of[item])
            for name, amounts in (("item", x), ("creator", creators)):
                p = [a / sum(amounts.values()) for a in amounts.values() if a]
                found[f"{name}_entropy{ending}"] = -sum(q * math.log2(q) for q in p) if p else NAN
                found[f"{name}_hhi{ending}"] = sum(q * q for q in p) if p else NAN
            found[f"effective_creators{ending}"] = 2 ** found[f"creator_entropy{ending}"]
            n = max(1, round(0.01 * len(w.catalog)))
            found[f"item_top_share{ending}"] = ratio(sum(sorted(x.values())[-n:]), sum(x.values()))
            if not ending:
                every = {c for of in w.categories.values() for c in of}
                found["category_coverage"] = mean([categories[c] > 0 for c in every])
        return found


ASKED = {*LISTS, *SYSTEMS}


OPTIONS = [
    {}, {"exposure": "geometric", "patience": 0.85}, {"discount": "log2_from_2"}, {"untouched": "drop"},
    {"no_relevant": "zero"}, {"users": "all_relevant"}, {"head_share": 0.5}, {"threshold": 2},
    {"novelty_denominator": "k"},
]  # fmt: skip


@pytest.mark.parametrize(
    ("seed", "options"), [(20, {}), *((7, options) for options in OPTIONS)], ids=str
)
def test_as_the_reference(options, seed):
    world = replace(make_world(seed), conventions=options)
    names = [f"{name}@{k}" for name in PAIRWISE for k in KS]
    names += [*(set(LISTS) - set(PAIRWISE)), *SYSTEMS, *DERIVED]
    expected, found = Beyond(world, "b").values(), product(world, "b", names)
    assert {n.split("@")[0] for n in found} == {*LISTS, *SYSTEMS, *DERIVED}
    for name, (value, n) in found.items():
        assert n == expected[name][1], name
        assert value == pytest.approx(expected[name][0], rel=1e-12, abs=1e-12, nan_ok=True), name


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(worlds(), st.sampled_from(OPTIONS), st.sampled_from("ab"))
def test_as_the_reference_on_any_data(world, options, model):
    world = replace(world, conventions=options)
    names = [f"{name}@{k}" for name in PAIRWISE for k in KS]
    names += [*(set(LISTS) - set(PAIRWISE)), *SYSTEMS, *DERIVED]
    expected, found = Beyond(world, model).values(), product(world, model, names)
    for name, (value, n) in found.items():
        assert n == expected[name][1], name
        assert value == pytest.approx(expected[name][0], rel=1e-11, abs=1e-11, nan_ok=True), name


@pytest.mark.parametrize("seed", [7, 20, 21])
def test_pairs_of_lists(seed):
    world = make_world(seed)
    tables = {name: support.lists(shown) for name, shown in world.models.items()}
    catalog = support.catalog(world.catalog, embedding=world.embedding)
    dataset = support.encoded(support.inputs(tables, catalog=catalog))
    names = ["new_to_baseline", "unexpectedness_to_baseline"]
    _, found = support.measured(dataset, names, KS, baseline="a")
    total = found.partials.pairs["b", 0].total()
    for k in KS:
        by_user = {name: {} for name in names}
        for key, other in world.models["a"].items():
            mine = world.models["b"].get(key, [])
            if not mine:
                continue
            top = mine[:k]
            new = by_user[names[0]].setdefault(key[0], [])
            new.append(sum(i not in other[:k] for i in top) / len(top))
            unit = [
                [np.array(world.embedding[i]) for i in of[:k] if i in world.embedding]
                for of in (other, top)
            ]
            if all(unit):
                mean_other = np.mean([v / np.linalg.norm(v) for v in unit[0]], axis=0)
                far = by_user[names[1]].setdefault(key[0], [])
                far.append(1 - mean([cosine(v, mean_other) for v in unit[1]]))
        for name, ref in zip(names, found.pair_refs, strict=True):
            column = found.column(ref.at(k), found.pair_refs)
            values = [mean(of) for of in by_user[name].values()]
            assert total.count[0, column] == len(values)
            assert total.sums()[0, column] / len(values) == pytest.approx(mean(values), rel=1e-12)


def test_measured_alone_by_the_public_function_too():
    world = make_world(7)
    dataset = support.encoded(support.inputs({"model": world.models["a"]}, relevance=world.relevant,
                                             catalog=support.catalog(world.catalog, categories=world.categories)))  # fmt: skip
    plan, _ = support.measured(dataset, ["ild_jaccard", "alpha_ndcg"], (1, 3))
    frame = single.per_list(dataset, plan)
    assert {"ild_jaccard@1", "ild_jaccard@3", "alpha_ndcg@3"} <= set(frame)
