"""How users fare, winners and losers, categories, and how two changes go together: against plain counting."""

from __future__ import annotations

import numpy as np
import pytest

from audit.engine import make_plan, measure
from audit.exhibits import make_exhibits
from tests.support import catalog, encoded, inputs, known

ITEMS, USERS = 60, 120


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(11)

    def shown(weight):
        p = weight / weight.sum()
        # Every third user has two lists: their values are means over both.
        keys = [(u, r) for u in range(USERS) for r in range(1 + (u % 3 == 0))]
        return {key: rng.choice(ITEMS, 4, replace=False, p=p).tolist() for key in keys}

    rank = np.arange(1, ITEMS + 1)
    models = {"baseline": shown(1 / (rank + 15)), "candidate": shown(1 / rank)}
    relevance = {u: rng.choice(ITEMS, 9, replace=False).tolist() for u in range(USERS - 5)}
    history = {u: range(2 + u % 50) for u in range(USERS)}
    categories = {i: [f"c{i % 20:02}"] + (["odd"] if i % 4 == 1 else []) for i in range(ITEMS - 1)}
    return models, relevance, history, categories


@pytest.fixture(scope="module")
def found(data):
    models, relevance, history, categories = data
    given = inputs(
        models, relevance=relevance, history=known(history),
        catalog=catalog(range(ITEMS), creators={i: [f"m{i % 30}"] for i in range(ITEMS)}, categories=categories),
    )  # fmt: skip
    dataset = encoded(given, viewport=3)
    plan = make_plan(dataset, metrics=None, ks=[3], viewport=3, baseline="baseline")
    one, two = (
        make_exhibits(dataset, plan, measure(dataset, plan, threads=n, block=size), "precision@3")
        for n, size in ((1, 4096), (2, 7))
    )
    assert one == two  # whatever the cut
    return one


def precision(data, model):
    models, relevance, _, _ = data
    by_user: dict[int, list[float]] = {}
    for (user, _), items in models[model].items():
        if user in relevance:
            by_user.setdefault(user, []).append(len(set(items[:3]) & set(relevance[user])) / 3)
    return np.array([np.mean(values) for _, values in sorted(by_user.items())])


def test_users_by_how_they_fare(data, found):
    difference = precision(data, "candidate") - precision(data, "baseline")
    (entry,) = found.user_changes
    assert (entry.model, entry.metric, entry.users) == ("candidate", "precision@3", USERS - 5)
    assert entry.better == pytest.approx((difference > 1e-9).mean())
    assert entry.worse == pytest.approx((difference < -1e-9).mean())
    assert entry.same == pytest.approx((np.abs(difference) < 1e-9).mean())
    assert 0 < entry.worse < 1
    assert len(entry.edges) == len(entry.shares) + 1 == 41
    for low, high, share in zip(entry.edges[:-1], entry.edges[1:], entry.shares, strict=True):
        # A band is closed at its far end: a loss of 0.05 is in the first band below 0.
        tiny = 1e-9
        inside = (
            (difference > max(low, 0) + tiny) & (difference <= high + tiny) if high > 0
            else (difference >= low - tiny) & (difference < min(high, 0) - tiny)
        )  # fmt: skip
        assert share == pytest.approx(inside.mean(), abs=1e-6), (low, high)


def exposure(data, model):
    weight = 1 / np.log2(np.arange(2, 5))
    x = np.zeros(ITEMS)
    for items in data[0][model].values():
        for rank, item in enumerate(items[:3]):
            x[item] += weight[rank] / weight.sum()
    return x


def test_winners_with_their_ranks_and_the_balance(data, found):
    a, b = (
        np.bincount(np.arange(ITEMS) % 30, weights=exposure(data, m))
        for m in ("baseline", "candidate")
    )
    a, b = a / a.sum(), b / b.sum()
    winners = found.creators_gained["candidate"]
    assert len(winners) == min(10, int((b > a).sum()))
    for entry in winners:
        i = int(entry.id.removeprefix("m"))
        assert entry.candidate == pytest.approx(b[i])
        assert entry.rank_baseline == 1 + sum(x > a[i] + 1e-12 for x in a)
        assert entry.rank_candidate == 1 + sum(x > b[i] + 1e-12 for x in b)
    gains = [e.candidate - e.baseline for e in winners]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] == pytest.approx((b - a).max())
    items, creators = found.balance
    assert (creators.what, creators.more, creators.less) == ("creators", (b > a).sum(), (b < a).sum())  # fmt: skip
    assert items.more + items.less + items.same == ITEMS


def test_categories_share_an_items_weight_equally(data, found):
    _, relevance, history, categories = data
    demand = np.bincount([i for of in relevance.values() for i in of], minlength=ITEMS)
    popular = np.bincount([i for of in history.values() for i in of], minlength=ITEMS)

    def by(x):
        total: dict[str, float] = {}
        for item, of in categories.items():
            for name in of:
                total[name] = total.get(name, 0.0) + x[item] / len(of)
        return {name: value / sum(total.values()) for name, value in total.items()}

    parts = {m: by(exposure(data, m)) for m in ("baseline", "candidate")}
    *named, others = found.categories
    assert len(named) == 15
    assert (others.category, others.categories) == ("", 6)
    for entry in named:
        assert entry.relevance == pytest.approx(by(demand)[entry.category])
        assert entry.history == pytest.approx(by(popular)[entry.category])
        assert entry.catalog == pytest.approx(by(np.ones(ITEMS))[entry.category])
        for model, of in parts.items():
            assert entry.shown[model] == pytest.approx(of[entry.category])
    most = [max(e.shown.values()) for e in named]
    assert most == sorted(most, reverse=True)
    for model in parts:
        assert sum(e.shown[model] for e in found.categories) == pytest.approx(1)


def test_the_correlation_is_that_of_resampled_users(data, found):
    """Against a plain bootstrap of users, which draws them anew and divides the means."""
    models, _, history, _ = data
    popularity = np.bincount([i for of in history.values() for i in of], minlength=ITEMS)
    order = np.lexsort((np.arange(ITEMS), -popularity))
    reach = np.cumsum(popularity[order])
    tail = set(order[int(np.searchsorted(reach, 0.8 * reach[-1])) + 1 :].tolist())
    weight = 1 / np.log2(np.arange(2, 5))

    def tail_share(model):
        by_user: dict[int, list[float]] = {}
        for (user, _), items in models[model].items():
            share = sum(weight[r] for r, i in enumerate(items[:3]) if i in tail) / weight.sum()
            by_user.setdefault(user, []).append(share)
        return np.array([np.mean(v) for _, v in sorted(by_user.items())])

    y = [tail_share(m) for m in ("baseline", "candidate")]
    x = [np.append(precision(data, m), np.full(5, np.nan)) for m in ("baseline", "candidate")]
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, USERS, (20_000, USERS))
    change = [np.nanmean(b[drawn], axis=1) / np.nanmean(a[drawn], axis=1) - 1 for a, b in (x, y)]
    (entry,) = found.joint
    assert (entry.x, entry.y) == ("precision@3", "tail_share@3")
    assert entry.correlation == pytest.approx(np.corrcoef(*change)[0, 1], abs=0.03)


def test_what_the_data_do_not_allow_is_left_out(data):
    given = inputs({m: {k: v for k, v in of.items() if k[0] < 20} for m, of in data[0].items()})
    dataset = encoded(given, viewport=3)
    plan = make_plan(dataset, metrics=None, ks=[3], viewport=3, baseline="baseline")
    found = make_exhibits(dataset, plan, measure(dataset, plan, threads=1), "precision@3")
    assert found.user_changes == found.categories == found.joint == []
    assert [b.what for b in found.balance] == ["items"]
