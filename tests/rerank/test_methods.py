"""Each method beside its formula, written out plainly; and what holds for all of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom

from audit.errors import ConfigError
from audit.rerank import Pool, methods, rerank
from audit.rerank.methods.fair import least_protected
from audit.rerank.pool import permuted
from tests.rerank.pools import CATEGORIES, made

DEPTH = 6
PLAIN = [name for name, found in methods().items() if not found.learns]


@pytest.fixture(scope="module")
def pool() -> Pool:
    return made(users=25, width=14, items=60, depth=DEPTH)


def greedy(pool, row, value):
    """The places that a plain greedy choice makes; ``value(chosen, place)`` is to be greatest, ties by place."""
    chosen: list[int] = []
    for _ in range(min(DEPTH, pool.lengths[row])):
        left = [p for p in range(pool.lengths[row]) if p not in chosen]
        chosen.append(max(left, key=lambda p: (value(chosen, p), -p)))
    return pool.items[row, chosen].tolist()


def expect(pool, name, strength, value_of_row, **parameters):
    found = rerank(pool, name, strength, **parameters)
    for row in range(len(pool.items)):
        n = min(DEPTH, pool.lengths[row])
        assert found[row, :n].tolist() == greedy(pool, row, value_of_row(row)), row


def rel(pool, row, place):
    return float(pool.relevance[row, place])


@pytest.mark.parametrize("name", PLAIN)
def test_strength_0_changes_nothing_and_every_strength_permutes(pool, name):
    n = np.minimum(pool.lengths, DEPTH)
    top = np.where(np.arange(DEPTH) < n[:, None], pool.items[:, :DEPTH], -1)
    np.testing.assert_array_equal(rerank(pool, name, 0), top)
    for strength in methods()[name].strengths:
        places = methods()[name].function(pool, strength)
        assert permuted(places, pool.lengths).all(), strength
    assert (rerank(pool, name, methods()[name].strengths[-1]) != top).any()


@pytest.mark.parametrize("name", PLAIN)
def test_the_same_seed_gives_the_same_lists_and_the_registry_is_whole(pool, name):
    found = methods()[name]
    a, b = (rerank(pool, name, found.strengths[2]) for _ in range(2))
    np.testing.assert_array_equal(a, b)
    assert found.source
    assert found.strength
    assert found.formula.endswith(".") or found.formula
    assert list(found.strengths) == sorted(found.strengths)


def unit(pool, row, place):
    return pool.unit_vectors[pool.items[row, place]].astype(float)


def test_mmr(pool):
    def value(row):
        def of(chosen, place):
            near = max((unit(pool, row, place) @ unit(pool, row, c) for c in chosen), default=0)
            return 0.6 * rel(pool, row, place) - 0.4 * near

        return of

    expect(pool, "mmr", 0.4, value)


def test_dpp(pool):
    def value(row):
        def of(chosen, place):
            both = np.stack([unit(pool, row, p) for p in (*chosen, place)])
            s = (1 + both @ both.T) / 2
            np.fill_diagonal(s, 1)
            before = np.linalg.slogdet(s[:-1, :-1])[1] if chosen else 0.0
            return 0.7 * rel(pool, row, place) + 0.3 * (np.linalg.slogdet(s)[1] - before)

        return of

    expect(pool, "dpp", 0.3, value)


def kinds(pool, row, place):
    members = pool.d.items.categories
    item = pool.items[row, place]
    own = members.values[members.start[item] : members.start[item + 1]]
    shares = np.zeros(CATEGORIES)
    shares[own] = 1 / max(len(own), 1)
    return shares


def wanted(pool, row):
    """P(c | user): of the history, counted plainly."""
    d = pool.d
    user = d.list_user[row]
    history = d.history.values[d.history.start[user] : d.history.start[user + 1]]
    mix = np.zeros(CATEGORIES)
    for item in history:
        own = d.items.categories.values[
            d.items.categories.start[item] : d.items.categories.start[item + 1]
        ]
        mix[own] += 1 / len(own)
    assert mix.sum() > 0
    return mix / mix.sum()


def test_xquad(pool):
    def value(row):
        p = wanted(pool, row)

        def of(chosen, place):
            missing = np.prod([1 - kinds(pool, row, c) for c in chosen], axis=0)
            return 0.5 * rel(pool, row, place) + 0.5 * (p * kinds(pool, row, place) * missing).sum()

        return of

    expect(pool, "xquad", 0.5, value)


def test_pm2(pool):
    def value(row):
        p = wanted(pool, row)

        def of(chosen, place):
            seats = sum((kinds(pool, row, c) for c in chosen), np.zeros(CATEGORIES))
            due = p / (2 * seats + 1)
            star = int(np.argmax(due))
            weight = np.where(np.arange(CATEGORIES) == star, 0.8, 0.2)
            seat = (weight * due * kinds(pool, row, place)).sum() / due[star]
            return rel(pool, row, place) * (0.3 + 0.7 * seat)

        return of

    expect(pool, "pm2", 0.7, value, lam=0.8)


def test_calibration(pool):
    def value(row):
        p = wanted(pool, row)

        def of(chosen, place):
            q = np.mean([kinds(pool, row, c) for c in (*chosen, place)], axis=0)
            mixed = 0.99 * q + 0.01 * p
            kl = sum(a * math.log(a / b) for a, b in zip(p, mixed, strict=True) if a > 0)
            return 0.3 * rel(pool, row, place) - 0.7 * kl

        return of

    expect(pool, "calibration", 0.7, value)


def test_xquad_tail(pool):
    d = pool.d

    def value(row):
        user = d.list_user[row]
        history = d.history.values[d.history.start[user] : d.history.start[user + 1]]
        tail = d.items.tail[history].mean()

        def of(chosen, place):
            mine = d.items.tail[pool.items[row, place]]
            same = np.mean([d.items.tail[pool.items[row, c]] == mine for c in chosen] or [0])
            return 0.4 * rel(pool, row, place) + 0.6 * np.float32(tail if mine else 1 - tail) * (
                1 - same
            )

        return of

    expect(pool, "xquad_tail", 0.6, value)


def test_popularity_and_freshness(pool):
    popularity, created = pool.d.items.popularity, pool.d.items.created

    def damped(row):
        return lambda _, p: rel(pool, row, p) / (popularity[pool.items[row, p]] + 5) ** 0.4

    def fresh(row):
        return lambda _, p: (
            rel(pool, row, p)
            + 0.5 * 0.5 ** (max(pool.time[row] - created[pool.items[row, p]], 0) / 30)
        )

    expect(pool, "popularity_debias", 0.4, damped)
    expect(pool, "freshness", 0.5, fresh)


def test_creator_caps_hold_where_they_can(pool):
    creators = pool.d.items.creators
    found = rerank(pool, "creator_cap", 1.0)
    for row in range(len(found)):

        def makers(items):
            return [
                creators.values[creators.start[i]]
                for i in items
                if creators.start[i] < creators.start[i + 1]
            ]

        offered = pool.items[row, : pool.lengths[row]]
        free = len(offered) - len(makers(offered))
        shown = makers(found[row][found[row] >= 0])
        if len(set(makers(offered))) + free >= DEPTH:
            assert len(shown) == len(set(shown))


def test_fair_quantiles_and_their_effect(pool):
    for p in (0.2, 0.5, 0.7):
        least = least_protected(p, 0.1, DEPTH)
        for i, m in enumerate(least, 1):
            assert binom.cdf(m, i, p) > 0.1
            assert m == 0 or binom.cdf(m - 1, i, p) <= 0.1
    # Zehlike et al. 2017, table 2: p = 0.5, α = 0.1.
    assert least_protected(0.5, 0.1, 12).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4]
    least = least_protected(0.7, 0.1, DEPTH)
    found = rerank(pool, "fair", 0.7)
    tail = pool.d.items.tail
    for row in range(len(found)):
        offered = int(tail[pool.items[row, : pool.lengths[row]]].sum())
        for i in range(1, min(DEPTH, pool.lengths[row]) + 1):
            assert tail[found[row, :i]].sum() >= min(least[i - 1], offered)


def test_amortised_exposure_list_after_list(pool):
    tail, d = pool.d.items.tail.astype(int), pool.d
    due = np.bincount(tail[d.items.in_catalog], minlength=2) / d.items.in_catalog.sum()
    had = np.zeros(2)
    found = rerank(pool, "amortised_exposure", 1.5)
    for row in range(len(pool.items)):
        lag = np.maximum(0, due - had / had.sum()) if had.sum() else np.zeros(2)
        order = sorted(
            range(pool.lengths[row]), key=lambda p: (-(rel(pool, row, p) + 1.5 * lag[tail[pool.items[row, p]]]), p)
        )[:DEPTH]  # fmt: skip
        assert found[row, : len(order)].tolist() == pool.items[row, order].tolist()
        for slot, place in enumerate(order):
            had[tail[pool.items[row, place]]] += 1 / math.log2(slot + 2)


def test_epsilon_is_chance(pool):
    wide = made(users=400, width=14, items=60, depth=DEPTH, seed=3)
    found = rerank(wide, "epsilon", 0.3)
    first = (found[:, 0] != wide.items[:, 0]).mean()
    expected = 0.3 * (1 - (1 / wide.lengths).mean())
    assert first == pytest.approx(expected, abs=3 * math.sqrt(0.3 * 0.7 / 400))


def test_allocation_nears_the_linear_program():
    pool = made(users=30, width=10, items=25, depth=3, seed=5)
    found = rerank(pool, "allocation", 0.4)
    valid = pool.candidates.valid
    row, place = np.nonzero(valid)
    item = pool.items[valid]
    offered = np.bincount(item, minlength=25)
    equal = np.minimum(pool.lengths, 3).sum() / (offered > 0).sum()
    least = np.minimum(np.floor(0.4 * equal), offered)
    of_list, of_item = (
        np.arange(n)[:, None] == x[None] for n, x in ((len(pool.items), row), (25, item))
    )
    best = linprog(
        -pool.relevance[valid], A_ub=np.vstack([of_list, -of_item.astype(float)]),
        b_ub=np.concatenate([np.minimum(pool.lengths, 3), -least]), bounds=(0, 1),
    )  # fmt: skip
    shown = np.bincount(found[found >= 0], minlength=25)
    assert np.maximum(least - shown, 0).sum() <= 0.05 * least.sum()
    kept = sum(
        pool.relevance[r, p]
        for r, p in zip(row, place, strict=True)
        if pool.items[r, p] in found[r].tolist()
    )
    assert kept >= 0.97 * -best.fun


def test_what_cannot_be_used_is_said(pool):
    with pytest.raises(ConfigError, match="xquad"):
        rerank(pool, "xquadd", 0.1)
    with pytest.raises(ConfigError, match=r"give a number from 0 to 1 \(the weight of unlikeness"):
        rerank(pool, "mmr", 1.5)
    with pytest.raises(ConfigError, match="half_life"):
        rerank(pool, "freshness", 0.5, halflife=3)
    with pytest.raises(ConfigError, match="needs groups of creators"):
        rerank(pool, "fair", 0.5, protected="women")
    bare = made(users=4, width=5, items=9, depth=2, bare=True)
    with pytest.raises(ConfigError, match="method 'mmr' needs item embeddings"):
        rerank(bare, "mmr", 0.5)
