from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

from audit.inference import system
from audit.inference.system import (
    AdditiveVector,
    ReplicateValues,
    SystemEstimate,
    bucket_of_rank,
    combine,
    covariance,
    evaluate,
    groups_for,
    half_calibrated_jackknife,
    replicate_values,
)


def coverage(x: np.ndarray) -> np.ndarray:
    return (x > 0).mean(axis=-1)


def gini(x: np.ndarray) -> np.ndarray:
    x, n = np.sort(x, axis=-1), x.shape[-1]
    return (x * (2 * np.arange(1, n + 1) - n - 1)).sum(axis=-1) / (n * x.sum(axis=-1))


def exposure(rng: np.random.Generator, users: int, p: np.ndarray, k: int = 5) -> np.ndarray:
    """Counts ``[users, items]`` of k draws a user."""
    cumulative = np.cumsum(p)
    items = np.searchsorted(cumulative / cumulative[-1], rng.random((users, k)), side="right")
    out = np.zeros((users, len(p)), dtype=np.int32)
    np.add.at(out, (np.arange(users)[:, None], items), 1)
    return out


def grouped(lists: np.ndarray) -> AdditiveVector:
    """The users' order stands for the hash."""
    n, g = len(lists), groups_for(len(lists))
    size = n // g
    bucket = bucket_of_rank(np.arange(n), n, g)
    groups = lists[bucket >= 0].reshape(g, size, -1).sum(axis=1)
    return AdditiveVector(groups, lists[bucket < 0].sum(axis=0))


def naive_estimate(lists_a, lists_b, functional, g):  # type: ignore[no-untyped-def]
    """statistics.md's formulas in plain loops over users and groups."""
    n = len(lists_a)
    size = n // g
    group = [u // size if u // size < g else -1 for u in range(n)]

    def t(users: list[int]) -> float:
        return float(
            functional(lists_b[users].sum(axis=0)) - functional(lists_a[users].sum(axis=0))
        )

    d_all = t(list(range(n)))
    leave = [t([u for u in range(n) if group[u] != k]) for k in range(g)]
    mean = sum(leave) / g
    v_j = (g - 1) / g * sum((x - mean) ** 2 for x in leave)
    half = {}
    for r in range(g):
        for sign in (1, -1):
            half[r, sign] = [k for k in range(g) if (-1) ** (r & k).bit_count() == sign]
    v_s = 0.0
    for r in range(1, g):
        plus, minus = (t([u for u in range(n) if group[u] in half[r, s]]) for s in (1, -1))
        v_s += 0.5 * (plus - minus) ** 2 / (g - 1)
    v_half = []
    for q in range(4):
        for sign in (1, -1):
            members = half[(1 + 7 * q) % g, sign]
            without = [
                t([u for u in range(n) if group[u] in members and group[u] != k]) for k in members
            ]
            middle = sum(without) / (g / 2)
            v_half.append((g / 2 - 1) / (g / 2) * sum((x - middle) ** 2 for x in without))
    v_j_half = sum(v_half) / 8
    rho = min(1, v_s / v_j_half) if v_j_half > 0 else 1
    d = [x - mean for x in leave]
    geff = sum(x**2 for x in d) ** 2 / sum(x**4 for x in d)
    return d_all, math.sqrt(rho * v_j), geff, rho


@pytest.mark.parametrize(("users", "g"), [(53, 16), (131, 32), (201, 64)])
@pytest.mark.parametrize("functional", [coverage, gini])
def test_the_formulas_in_plain_loops(users, g, functional):
    rng = np.random.default_rng(users)
    p = 1 / np.arange(1, 61)
    lists_a, lists_b = exposure(rng, users, p), exposure(rng, users, p**1.5)
    a, b = (
        replicate_values(v.groups, v.rest, functional) for v in map(grouped, (lists_a, lists_b))
    )
    got = combine(b - a)
    difference, se, geff, rho = naive_estimate(lists_a, lists_b, functional, g)
    assert got.df == g - 1
    np.testing.assert_allclose(
        [got.difference, got.se, got.geff, got.rho], [difference, se, geff, rho], rtol=1e-9
    )


def test_one_call_gives_the_same():
    rng = np.random.default_rng(0)
    p = 1 / np.arange(1, 41)
    a, b = grouped(exposure(rng, 200, p)), grouped(exposure(rng, 200, p**2))
    once = half_calibrated_jackknife([a, b], lambda x, y: gini(y) - gini(x))
    parts = (replicate_values(v.groups, v.rest, gini) for v in (b, a))
    assert once == combine(next(parts) - next(parts))


def test_a_linear_functional_has_the_plain_jackknife_variance():
    # A sum over users has no interactions: V_S(n/2) and V_J(n/2) agree in expectation.
    rng = np.random.default_rng(1)
    x = rng.integers(0, 1000, size=(64 * 50, 1)).astype(np.int32)
    got = combine(replicate_values(*_parts(grouped(x)), lambda t: t[:, 0]))
    assert got.se == pytest.approx(math.sqrt(len(x)) * x.std(), rel=0.2)
    assert 0.7 < got.rho <= 1


def _parts(vector: AdditiveVector) -> tuple[np.ndarray, np.ndarray]:
    return vector.groups, vector.rest


def constant(value: float, g: int = 64) -> ReplicateValues:
    return ReplicateValues(np.full(7 * g - 1, value), g)


def test_identical_models():
    rng = np.random.default_rng(2)
    v = grouped(exposure(rng, 220, 1 / np.arange(1, 300)))
    t = replicate_values(*_parts(v), gini)
    got = combine(t - t)
    assert (got.difference, got.se) == (0, 0)
    assert got.status() == "identical"
    assert got.status(saturated=True) == "identical"
    assert got.p_value() == 1
    assert got.interval(0.95) == (0, 0)
    assert math.isnan(got.p_value(0.1))


def test_no_variance_with_a_difference_is_saturated():
    # A value that sums of 64 do not hold exactly: the variance is 0 all the same.
    got = combine(constant(0.1))
    assert got == SystemEstimate(0.1, 0.0, 63, 64.0)
    assert got.status() == "saturated"
    assert math.isnan(got.p_value())
    assert all(math.isnan(end) for end in got.interval())


def test_undefined_values_are_refused():
    values = np.zeros(447)
    values[300] = math.nan
    got = combine(ReplicateValues(values, 64))
    assert math.isnan(got.se)
    assert got.geff == 0
    assert got.status() == "refused"
    assert math.isnan(got.p_value())


def test_one_wild_group_is_refused():
    values = np.zeros(447)
    values[5] = 1.0
    got = combine(ReplicateValues(values, 64))
    assert got.geff == pytest.approx(1, abs=0.1)
    assert got.rho == 1
    assert got.status() == "refused"
    assert all(math.isnan(end) for end in got.interval())
    assert math.isnan(got.p_value())


@pytest.mark.parametrize(
    ("g", "geff", "status"),
    [(64, 5.9, "refused"), (64, 6, "approximate"), (64, 11.9, "approximate"), (64, 12, "ok"),
     (16, 1.4, "refused"), (16, 1.5, "approximate"), (16, 3, "ok"), (32, 2.9, "refused"),
     (32, 5.9, "approximate"), (32, 6.0, "ok")],
)  # fmt: skip
def test_status_by_effective_groups(g, geff, status):
    estimate = SystemEstimate(0.1, 0.02, g - 1, geff)
    assert estimate.status() == status
    assert estimate.status(saturated=True) == "saturated"


def test_no_difference_but_variance_is_not_identical():
    estimate = SystemEstimate(0.0, 0.02, 63, 22.0)
    assert estimate.status() == "ok"
    assert estimate.p_value() == 1


@pytest.mark.parametrize("df", [15, 31, 63])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.9987])
def test_interval_and_p_are_student_s_and_agree(df, level):
    estimate = SystemEstimate(-0.31, 0.12, df, df / 3)
    low, high = estimate.interval(level)
    expected = stats.t(df, loc=-0.31, scale=0.12).interval(level)
    np.testing.assert_allclose((low, high), expected, rtol=1e-9)
    for null in (low, high):
        assert estimate.p_value(null) == pytest.approx(1 - level, rel=1e-9)
    assert estimate.p_value() == pytest.approx(2 * stats.t(df).sf(0.31 / 0.12), rel=1e-9)
    with pytest.raises(ValueError, match="level"):
        estimate.interval(95)


def test_geff_is_free_of_scale():
    rng = np.random.default_rng(3)
    t = ReplicateValues(rng.normal(size=447), 64)
    reference = combine(t)
    for scale in (1e-120, 1e120):
        assert combine(t * scale).geff == pytest.approx(reference.geff)


def test_covariance_gives_back_the_difference():
    rng = np.random.default_rng(4)
    p = 1 / np.arange(1, 201)
    shared = exposure(rng, 300, p, k=3)
    a, b = (grouped(shared + exposure(rng, 300, p**e, k=4)) for e in (1, 1.3))
    ta, tb = (replicate_values(*_parts(v), coverage) for v in (a, b))
    var_a, var_b, cov = covariance(ta, tb)
    assert var_a == combine(ta).se ** 2
    assert var_b == combine(tb).se ** 2
    assert var_a + var_b - 2 * cov == pytest.approx(combine(tb - ta).se ** 2)
    for x in (0.0, 0.5, 0.9, 1.1):
        linear = var_b + x**2 * var_a - 2 * x * cov
        assert math.sqrt(linear) == pytest.approx(combine(tb - x * ta).se, rel=0.15)


def test_covariance_keeps_variances_positive():
    rng = np.random.default_rng(5)
    for _ in range(50):
        t = ReplicateValues(rng.normal(size=447), 64)
        noise = ReplicateValues(rng.normal(size=447), 64)
        var_a, var_b, cov = covariance(t, 1.7 * t + 0.05 * noise)
        assert abs(cov) <= math.sqrt(var_a * var_b)
        for x in np.linspace(-3, 3, 61):
            assert var_b + x**2 * var_a - 2 * x * cov >= -1e-12
    var_a, var_b, cov = covariance(t, t)
    assert cov == pytest.approx(var_a)
    assert math.isnan(covariance(t, t * math.nan)[2])


# Coverage of the intervals: 130 users, five items each out of 350, different models.


@cache
def simulation() -> dict[str, float]:
    """How often, in 300 audits, intervals held the truth; and false alarms of one model with itself."""
    rng = np.random.default_rng(6)
    n, items, repeats = 130, 350, 300
    models = [1 / np.arange(1, items + 1) ** power for power in (0.3, 1.2)]
    functionals = {"coverage": coverage, "gini": gini}
    totals = [rng.multinomial(n * 5, p / p.sum(), size=3000).astype(float) for p in models]
    truth = {name: float((f(totals[1]) - f(totals[0])).mean()) for name, f in functionals.items()}
    hits = {
        f"{name} {what}": 0 for name in functionals for what in ("jackknife", "bootstrap", "null")
    }
    last: dict[str, ReplicateValues] = {}
    for repeat in range(repeats):
        lists = [exposure(rng, n, p) for p in models]
        a, b = (evaluate([grouped(x)], functionals) for x in lists)
        for name, f in functionals.items():
            low, high = combine(b[name] - a[name]).interval(0.95)
            hits[f"{name} jackknife"] += low <= truth[name] <= high
            if last:  # two audits of one model
                hits[f"{name} null"] += combine(b[name] - last[name]).p_value() <= 0.05
            if repeat % 3 == 0:
                draw = rng.multinomial(n, np.full(n, 1 / n), size=100).astype(float)
                x, y = (f(draw @ users) for users in lists)
                low, high = np.quantile(y - x, [0.025, 0.975])
                hits[f"{name} bootstrap"] += 3 * int(low <= truth[name] <= high)
        last = b
    return {name: count / repeats for name, count in hits.items()}


@pytest.mark.parametrize("functional", ["coverage", "gini"])
def test_jackknife_intervals_cover_and_the_bootstrap_s_do_not(functional):
    shares = simulation()
    assert 0.90 <= shares[f"{functional} jackknife"] <= 0.99
    assert shares[f"{functional} bootstrap"] < 0.5
    assert 0.01 <= shares[f"{functional} null"] <= 0.10


def test_everything_public_is_exported():
    assert sorted(system.__all__) == system.__all__
    assert all(hasattr(system, name) for name in system.__all__)
