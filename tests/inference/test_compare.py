"""The whole comparison: small inputs in, measurements and comparisons out, against pandas and NumPy."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from audit.engine import make_plan, measure
from audit.engine.plan import hash_ranks
from audit.inference import means
from audit.inference.compare import Comparer
from audit.metrics.registry import REGISTRY, metric, parse
from tests.support import EPOCH, catalog, encoded, inputs, known, lists, people


@pytest.fixture
def register():
    """Register metrics for one test."""
    before = set(REGISTRY)
    yield metric
    for name in set(REGISTRY) - before:
        del REGISTRY[name]


class Compared:
    """All records of one comparison, by name."""

    def __init__(
        self, given, metrics=None, ks=(5,), viewport=5, segments=(), seed=0, **conventions
    ):
        self.dataset = encoded(given, viewport=viewport, **conventions)
        named = None if metrics is None else [parse(m) for m in metrics]
        self.plan = make_plan(
            self.dataset, metrics=named, ks=list(ks), viewport=viewport, baseline="baseline",
            segments=segments,
        )  # fmt: skip
        measured = measure(self.dataset, self.plan, threads=1)
        comparer = Comparer(self.dataset, self.plan, measured, seed)
        self.measurements, self.comparisons = comparer.all()

    def __call__(self, metric, segment="all", model="candidate"):
        (found,) = [
            c for c in self.comparisons
            if (c.metric, c.segment, c.model) == (metric, segment, model)
        ]  # fmt: skip
        return found

    def value(self, model, metric, segment="all"):
        (found,) = [
            m for m in self.measurements
            if (m.metric, m.segment, m.model) == (metric, segment, model)
        ]  # fmt: skip
        return found.value, found.n


ITEMS, USERS, K = 400, 300, 5


@pytest.fixture(scope="module")
def frames():
    """Lists of K items each for 300 users: the candidate is better and shows fewer items."""
    rng = np.random.default_rng(3)
    rows, truth = [], {}
    for user in range(USERS):
        relevant = rng.choice(ITEMS, 8, replace=False)
        truth[user] = {int(i) for i in relevant}
        for model, share, top in (("baseline", 0.1, ITEMS), ("candidate", 0.25, 100)):
            good = [i for i in relevant if rng.random() < share]
            rest = [i for i in rng.permutation(top) if i not in good]
            for rank, item in enumerate(rng.permutation([*good, *rest][:K]), start=1):
                rows.append((model, user, rank, int(item)))
    return pd.DataFrame(rows, columns=["model", "user", "rank", "item"]), truth


def shown(frame, model, users=range(USERS)):
    chosen = frame[(frame.model == model) & frame.user.isin(users)]
    return chosen.groupby("user")["item"].apply(list).to_dict()


@pytest.fixture(scope="module")
def given(frames):
    frame, truth = frames
    return inputs(
        baseline=shown(frame, "baseline"),
        candidate=shown(frame, "candidate"),
        relevance=truth,
        history=known({1000 + u: list(range(max(1, ITEMS - 10 * u))) for u in range(40)}),
        catalog=catalog(range(ITEMS), creators={i: [f"c{i // 4}"] for i in range(ITEMS)}),
        users=people({u: {"a": "xy"[u % 2], "b": "p" if u < 220 else "q"} for u in range(USERS)}),
    )


METRICS = [
    "precision", "mrr", "effective_rank", "tail_share", "catalog_coverage", "item_gini",
    "item_gini_by_count", "creator_coverage",
]  # fmt: skip


@pytest.fixture(scope="module")
def compared(given):
    return Compared(given, METRICS, ks=(2, 5), segments=[("a",), ("a", "b")])


@pytest.fixture(scope="module")
def per_user(frames):
    """Precision at K and reciprocal rank by user and model."""
    frame, truth = frames
    frame = frame.assign(hit=[i in truth[u] for u, i in zip(frame.user, frame.item, strict=True)])
    precision = frame.groupby(["user", "model"])["hit"].mean().unstack()
    frame["rr"] = frame["hit"] / frame["rank"]
    return precision, frame.groupby(["user", "model"])["rr"].max().unstack()


def gini(x):
    x = np.sort(np.asarray(x, float))
    n = len(x)
    return float(((2 * np.arange(1, n + 1) - n - 1) * x).sum() / (n * x.sum()))


def exposure(frame, model, users):
    """By item, with the attention of each rank normalised over K."""
    weight = 1 / np.log2(np.arange(1, K + 1) + 1)
    weight = weight / weight.sum()
    chosen = frame[(frame.model == model) & frame.user.isin(users)]
    return np.bincount(chosen.item, weights=weight[chosen["rank"] - 1], minlength=ITEMS)


# ------------------------------------------------------------------------------------------ means


def test_values_are_means_over_users(compared, per_user):
    for name, table in zip(("precision@5", "mrr@5"), per_user, strict=True):
        c = compared(name)
        assert c.baseline == pytest.approx(table["baseline"].mean(), abs=1e-14)
        assert c.candidate == pytest.approx(table["candidate"].mean(), abs=1e-14)
        assert c.difference == pytest.approx(
            (table["candidate"] - table["baseline"]).mean(), abs=1e-14
        )
        assert c.relative == pytest.approx(c.candidate / c.baseline - 1, abs=1e-14)
        assert compared.value("candidate", name) == (c.candidate, USERS)


def test_the_bootstrap_is_as_wide_as_the_paired_standard_error(compared, per_user):
    for name, table in zip(("precision@5", "mrr@5"), per_user, strict=True):
        c = compared(name)
        differences = table["candidate"] - table["baseline"]
        se = differences.std(ddof=1) / math.sqrt(USERS)
        assert c.ci_high - c.ci_low == pytest.approx(2 * 1.96 * se, rel=0.05)
        assert (c.ci_low + c.ci_high) / 2 == pytest.approx(c.difference, abs=0.2 * se)
        for model, error in zip(("baseline", "candidate"), c.evidence.se, strict=False):
            own = table[model].std(ddof=1) / math.sqrt(USERS)
            assert error == pytest.approx(own, rel=0.05)
        assert c.evidence.se[2] == pytest.approx(table.cov().iloc[0, 1] / USERS, abs=0.05 * se**2)


def test_p_values_are_adjusted_for_all_that_were_compared(compared):
    own = [c for c in compared.comparisons if c.p_value is not None]
    expected = stats.false_discovery_control([c.p_value for c in own], method="bh")
    assert [c.adjusted_p for c in own] == pytest.approx(expected, rel=1e-6)
    assert {c.segment for c in own} > {"all", "a=x"}
    assert all(c.adjusted_p is None for c in compared.comparisons if c.p_value is None)


def test_what_could_have_been_detected(compared, per_user):
    mean, system, without = (
        compared(m) for m in ("precision@5", "item_gini@5", "catalog_coverage@2")
    )
    differences = per_user[0]["candidate"] - per_user[0]["baseline"]
    se = differences.std(ddof=1) / math.sqrt(USERS)
    # Found by a two-sided test at 5 % with 80 % power: 1.96 + 0.84 standard errors.
    assert mean.least_detectable == pytest.approx(2.80 * se, rel=0.03)
    t = stats.t(system.evidence.df)
    assert system.least_detectable == pytest.approx(
        (t.ppf(0.975) + t.ppf(0.8)) * system.evidence.se, rel=1e-9
    )
    assert without.ci_low is None
    assert without.least_detectable is None


def test_the_candidate_is_better(compared):
    c = compared("precision@5")
    assert c.reading == "better"
    assert c.p_value == 1 / 10_001
    assert c.evidence.users == USERS


def test_a_derived_metric_is_recomputed_on_the_joint_replicates(compared, per_user):
    c = compared("effective_rank@5")
    _, reciprocal = per_user
    assert c.baseline == pytest.approx(1 / reciprocal["baseline"].mean())
    assert c.candidate == pytest.approx(1 / reciprocal["candidate"].mean())
    bucket = hash_ranks(compared.dataset.users)
    sums = np.zeros((USERS, 2))
    sums[bucket] = reciprocal[["baseline", "candidate"]].to_numpy()
    joint = 1 / means.ratio_replicates(sums, np.ones((USERS, 2)), seed=0)
    own = joint[:, 1] - joint[:, 0]
    grid = means.quantile_grid(own[:, None])[:, 0]
    # Nowhere narrower than Student's, its standard error from the middle of the replicates.
    middle = np.quantile(own, stats.norm.cdf([-1, 1]))
    se = (middle[1] - middle[0]) / 2 * math.sqrt(USERS / (USERS - 1))
    student = c.difference + se * stats.t(USERS - 1).ppf(means.GRID)
    lower = np.array(means.GRID) < 0.5
    outer = np.where(lower, np.minimum(grid, student), np.maximum(grid, student))
    grid = np.where(np.array(means.GRID) == 0.5, grid, outer)
    assert (c.ci_low, c.ci_high) == pytest.approx(means.grid_interval(grid, 0.95), rel=1e-9)
    assert c.p_value == pytest.approx(means.two_sided(*means.grid_tail(grid, 0.0)), rel=1e-6)
    assert c.reading == "better"  # lower is better


def test_users_without_a_value_are_in_neither_mean(register, frames):
    @register(level="list", direction="higher")
    def first_item(b, ks):
        # No value for lists that begin with an even item.
        first = b.item[b.start[:-1]].astype(float)
        return np.where(first % 2 == 1, first, np.nan)[:, None] * np.ones(len(ks))

    frame, _ = frames
    c = Compared(
        inputs(
            baseline=shown(frame, "baseline"),
            candidate=shown(frame, "candidate"),
            catalog=catalog(range(ITEMS)),  # so that an item's code is its id
        ),
        ["first_item"],
    )
    top = frame[frame["rank"] == 1]
    odd = top[top.item % 2 == 1].groupby("model")["item"]
    for model in ("baseline", "candidate"):
        assert c.value(model, "first_item@5") == (
            pytest.approx(odd.mean()[model]),
            odd.count()[model],
        )
    assert c("first_item@5").evidence.users == odd.count().min()


# ---------------------------------------------------------------------------------------- systems


def test_system_metrics_at_every_k_with_intervals_at_the_viewport(compared, frames):
    frame, _ = frames
    users = range(USERS)
    for model in ("baseline", "candidate"):
        x = exposure(frame, model, users)
        assert compared.value(model, "catalog_coverage@5") == (pytest.approx((x > 0).mean()), USERS)
        assert compared.value(model, "item_gini@5")[0] == pytest.approx(gini(x), abs=1e-12)
        counts = Counter(frame[frame.model == model].item)
        by_count = gini([counts[i] for i in range(ITEMS)])
        assert compared.value(model, "item_gini_by_count@5")[0] == pytest.approx(
            by_count, abs=1e-12
        )
        creators = {i // 4 for i in counts}
        assert compared.value(model, "creator_coverage@5")[0] == len(creators) / 100
    c = compared("item_gini@2")
    assert c.difference is not None
    assert (c.ci_low, c.note) == (None, "interval at the viewport only, unless a guardrail asks")
    c = compared("catalog_coverage@5")
    assert c.reading == "worse"
    assert c.evidence.df == 63


def jackknife(users, ids, functional):
    """The half-calibrated group jackknife to the letter of its formulas, on sets of users."""
    rank = np.empty(len(users), int)
    rank[np.argsort(hash_ranks(ids)[users])] = np.arange(len(users))
    g = 64 if len(users) >= 200 else 32 if len(users) >= 100 else 16
    group = rank // (len(users) // g)
    rest = users[group >= g]
    members = [users[group == i] for i in range(g)]

    def t(groups, with_rest):
        return functional(
            np.concatenate([*(members[i] for i in groups), *([rest] if with_rest else [])])
        )

    def variance(values, n):
        values = np.array(values)
        return (n - 1) / n * ((values - values.mean()) ** 2).sum()

    sign = np.array([[(-1) ** (r & c).bit_count() for c in range(g)] for r in range(g)])
    v_n = variance([t([j for j in range(g) if j != i], True) for i in range(g)], g)
    halves = [[np.flatnonzero(sign[r] == s) for s in (1, -1)] for r in range(g)]
    v_s = sum((t(a, False) - t(b, False)) ** 2 / 2 for a, b in halves[1:]) / (g - 1)
    chosen = [half for q in range(4) for half in halves[(1 + 7 * q) % g]]
    v_half = np.mean([variance([t(h[h != i], False) for i in h], g // 2) for h in chosen])
    rho = min(1.0, v_s / v_half) if v_half > 0 else 1.0
    return math.sqrt(rho * v_n), g - 1


def differences(frame):
    """Of coverage and of the item Gini, as functions of a set of users."""
    weight = 1 / np.log2(np.arange(1, K + 1) + 1)
    table = {
        model: np.stack(
            [
                np.bincount(d["item"], weights=weight[d["rank"] - 1], minlength=ITEMS)
                for _, d in frame[frame.model == model].groupby("user")
            ]
        )
        for model in ("baseline", "candidate")
    }

    def of(functional):
        return lambda users: (
            functional(table["candidate"][users].sum(0))
            - functional(table["baseline"][users].sum(0))
        )

    return {"catalog_coverage@5": of(lambda x: (x > 0).mean()), "item_gini@5": of(gini)}


@pytest.mark.parametrize("name", ["catalog_coverage@5", "item_gini@5"])
def test_the_jackknife_through_the_whole_pipeline(compared, frames, name):
    frame, _ = frames
    se, df = jackknife(np.arange(USERS), compared.dataset.users, differences(frame)[name])
    c = compared(name)
    assert c.evidence.se == pytest.approx(se, rel=1e-4)
    half = stats.t.ppf(0.975, df) * se
    assert (c.ci_low, c.ci_high) == pytest.approx(
        (c.difference - half, c.difference + half), rel=1e-4
    )


def test_a_derived_metric_with_a_system_part_is_wholly_by_the_jackknife(
    register, given, frames, per_user
):
    @register(level="derived", direction="higher", of=("precision", "catalog_coverage"))
    def balance(precision, catalog_coverage):
        return precision * catalog_coverage

    c = Compared(given, ["balance"], ks=(2, 5))
    frame, _ = frames
    precision, _ = per_user

    def value(model):
        table = precision[model].to_numpy()
        sets = shown(frame, model)
        return lambda users: table[users].mean() * len({i for u in users for i in sets[u]}) / ITEMS

    users = np.arange(USERS)
    old, new = value("baseline"), value("candidate")
    found = c("balance@5")
    assert found.baseline == pytest.approx(old(users))
    assert found.candidate == pytest.approx(new(users))
    se, _ = jackknife(users, c.dataset.users, lambda u: new(u) - old(u))
    assert found.evidence.se == pytest.approx(se, rel=1e-6)
    assert found.evidence.kind == "system"
    assert c("balance@2").note == "interval at the viewport only, unless a guardrail asks"
    # Its parts are there too, means by the bootstrap.
    assert c("precision@5").evidence.kind == "mean"


def test_coverage_of_nearly_everything_is_saturated():
    rng = np.random.default_rng(0)
    shown_ = {
        m: {u: rng.choice(8, 3, False).tolist() for u in range(80)}
        for m in ("baseline", "candidate")
    }
    c = Compared(inputs(shown_), ["catalog_coverage", "item_gini"], viewport=3)(
        "catalog_coverage@3"
    )
    # Every item by many users under both models: no totals differ at all.
    assert (c.difference, c.p_value, c.reading, c.identical) == (0, 1, "no change", True)
    shown_["candidate"] = {
        u: [i if i != 7 else 0 for i in v] for u, v in shown_["candidate"].items()
    }
    shown_["candidate"] = {u: sorted(set(v)) for u, v in shown_["candidate"].items()}
    c = Compared(inputs(shown_), ["catalog_coverage"], viewport=3)("catalog_coverage@3")
    assert c.difference == pytest.approx(-1 / 8)
    assert c.note == "saturated: no interval can be given"


# --------------------------------------------------------------------------------------- segments


def test_segments_have_points_and_means_have_intervals(compared, per_user, frames):
    frame, _ = frames
    precision, _ = per_user
    inside = [u for u in range(USERS) if u >= 220]
    c = compared("precision@5", "b=q")
    table = precision.loc[inside]
    assert c.baseline == pytest.approx(table["baseline"].mean())
    se = (table["candidate"] - table["baseline"]).std(ddof=1) / math.sqrt(len(inside))
    assert c.ci_high - c.ci_low == pytest.approx(2 * 1.96 * se, rel=0.08)
    assert c.evidence.users == compared.value("baseline", "precision@5", "b=q")[1] == 80
    c = compared("item_gini@5", "b=q")
    assert c.baseline == pytest.approx(gini(exposure(frame, "baseline", inside)), abs=1e-12)
    assert (c.ci_low, c.note) == (None, "no interval: no guardrail names this segment")
    assert compared.value("candidate", "item_gini@5", "b=q")[1] == 80


def test_a_guardrails_segment_has_exact_points_and_intervals_of_its_users_ranked_anew(
    compared, frames
):
    frame, _ = frames
    inside = np.arange(1, USERS, 2)
    c = compared("item_gini@5", "a=y")
    assert c.baseline == pytest.approx(gini(exposure(frame, "baseline", inside)), abs=1e-14)
    assert c.candidate == pytest.approx(gini(exposure(frame, "candidate", inside)), abs=1e-14)
    se, df = jackknife(inside, compared.dataset.users, differences(frame)["item_gini@5"])
    assert df == c.evidence.df == 31
    assert c.evidence.se == pytest.approx(se, rel=1e-4)
    assert c.evidence.users == 150


def test_combined_segments(compared, frames, per_user):
    frame, _ = frames
    precision, _ = per_user
    inside = np.array([u for u in range(USERS) if u % 2 == 0 and u < 220])
    c = compared("precision@5", "a=x, b=p")
    assert c.candidate == pytest.approx(precision.loc[inside, "candidate"].mean())
    c = compared("catalog_coverage@5", "a=x, b=p")
    assert c.candidate == (exposure(frame, "candidate", inside) > 0).mean()
    assert c.evidence.users == 110
    gini_ = compared("item_gini@5", "a=x, b=p")
    assert gini_.candidate == pytest.approx(gini(exposure(frame, "candidate", inside)), rel=1e-6)
    small = compared("item_gini@5", "a=x, b=q")  # 40 users
    assert (small.ci_low, small.note) == (None, "only 40 users: no interval")
    assert compared("precision@5", "a=x, b=q").note == "only 40 users: no verdict"


def test_names_of_cells_may_hold_anything(given):
    users = people(
        {u: {"a": "Korea, Republic of" if u % 2 else "x=1, b=q", "b": "q"} for u in range(USERS)}
    )
    odd = inputs(given.models, relevance=given.relevance, users=users)
    odd = inputs({m: s[0] for m, s in given.models.items()}, relevance=given.relevance, users=users)
    c = Compared(odd, ["precision", "item_gini"], segments=[("a",), ("b", "a")])
    for segment in ("a=Korea, Republic of", "b=q, a=Korea, Republic of", "a=x=1, b=q"):
        assert c("item_gini@5", segment).evidence.users == 150
        assert c("precision@5", segment).evidence.users == 150


def test_a_cell_without_any_value(given):
    users = people({u: {"a": "none" if u == 7 else "some"} for u in range(USERS)})
    one = {m: s[0] for m, s in given.models.items()}
    relevance = {u: [0] for u in range(USERS) if u != 7}
    c = Compared(inputs(one, relevance=relevance, users=users), ["precision", "effective_rank"])
    assert c("precision@5", "a=none").note == "no user has a value"
    assert c.value("baseline", "precision@5", "a=none") == (None, 0)
    assert c("effective_rank@5", "a=none").reading == "undecided"


def test_users_absent_under_one_model_count_as_zero_in_their_segment():
    relevance = {u: [1] for u in range(120)}
    users = people({u: {"a": "x" if u < 60 else "y"} for u in range(120)})
    given_ = inputs(
        baseline={u: [1] for u in range(120)},
        candidate={u: [1] for u in range(90)},
        relevance=relevance, users=users, history=known({u: [2] for u in range(120)} | {999: [1]}),
    )  # fmt: skip
    c = Compared(given_, ["hit_rate", "tail_share"], viewport=1, ks=[1])
    assert c("hit_rate@1", "a=x").identical
    y = c("hit_rate@1", "a=y")
    assert (y.baseline, y.candidate) == (1.0, 0.5)
    assert c.value("candidate", "hit_rate@1", "a=y")[1] == 60
    assert c.value("candidate", "tail_share@1", "a=y") == (1.0, 30)
    assert c("hit_rate@1").candidate == 0.75
    assert c("tail_share@1", "a=y").note == "only 30 users: no verdict"


# --------------------------------------------------------------------------------- other situations


def test_identical_models_differ_by_nothing(frames):
    frame, truth = frames
    same = shown(frame, "baseline")
    given_ = inputs(
        baseline=same, candidate=same, relevance=truth, users=people({u: {"a": "xy"[u % 2]} for u in range(USERS)}),
        history=known({u: [u % ITEMS, 3] for u in range(USERS)}, timestamp={(0, 0): 50}),
        catalog=catalog(
            range(ITEMS), creators={i: [i % 9] for i in range(ITEMS)}, created={i: i % 40 for i in range(ITEMS)},
            embedding={i: [1.0, i, i % 3] for i in range(ITEMS)},
        ),
    )  # fmt: skip
    c = Compared(given_, segments=[("a",)])
    assert len(c.comparisons) > 80
    for found in c.comparisons:
        if found.baseline is None:  # such as the fresh share where nothing is fresh
            continue
        assert found.difference == 0
        if found.evidence is not None:
            assert (found.p_value, found.reading, found.identical) == (1, "no change", True)
            assert (found.ci_low, found.ci_high) == (0, 0)


def test_fewer_than_fifty_users(frames, per_user):
    frame, truth = frames
    users = range(30)
    few = inputs(
        baseline=shown(frame, "baseline", users), candidate=shown(frame, "candidate", users),
        relevance={u: truth[u] for u in users},
    )  # fmt: skip
    c = Compared(few, ["precision", "item_gini", "effective_rank"])
    precision, _ = per_user
    d = (precision["candidate"] - precision["baseline"]).iloc[:30]
    half = stats.t.ppf(0.975, 29) * d.std(ddof=1) / math.sqrt(30)
    found = c("precision@5")
    assert (found.ci_low, found.ci_high) == pytest.approx((d.mean() - half, d.mean() + half))
    assert found.note == "only 30 users: no verdict"
    assert c("item_gini@5").note == "only 30 users: no interval"
    assert c("effective_rank@5").ci_low is None


def test_seeds_are_averaged(frames, per_user):
    frame, truth = frames
    rng = np.random.default_rng(8)

    def reshuffled():
        return {u: rng.permutation(v).tolist() for u, v in shown(frame, "candidate").items()}

    seeds = [reshuffled() for _ in range(3)]
    base = shown(frame, "baseline")

    def compared(candidate):
        return Compared(
            inputs(baseline=base, candidate=candidate, relevance=truth),
            ["mrr", "item_gini", "effective_rank"],
        )

    together, alone = compared(seeds), [compared(seed) for seed in seeds]
    for name in ("mrr@5", "item_gini@5", "effective_rank@5"):
        each = [c(name).candidate for c in alone]
        found = together(name)
        assert found.candidate == pytest.approx(np.mean(each), abs=1e-13)
        widths = [c(name).ci_high - c(name).ci_low for c in alone]
        extra = np.var(each, ddof=1) / 3
        assert found.ci_high - found.ci_low > 2 * 1.9 * math.sqrt(extra)
        assert found.ci_high - found.ci_low < 2 * max(widths)
    found = together("mrr@5")
    assert found.p_value < 0.05
    assert together.value("candidate", "mrr@5")[1] == USERS


def test_a_seed_that_says_the_same_widens_nothing(frames):
    frame, truth = frames
    base, new = shown(frame, "baseline"), shown(frame, "candidate")
    metrics = ["precision", "item_gini"]
    one = Compared(inputs(baseline=base, candidate=new, relevance=truth), metrics)
    two = Compared(inputs(baseline=base, candidate=[new, new], relevance=truth), metrics)
    for name in ("precision@5", "item_gini@5"):
        assert two(name).ci_low == pytest.approx(one(name).ci_low, rel=1e-9)
        assert two(name).p_value == pytest.approx(one(name).p_value, rel=1e-6)


def test_pair_and_session_metrics(register, frames):
    @register(level="pair", direction="higher")
    def agreement(a, b, ks):
        out = np.zeros((b.n, len(ks)))
        for row in range(b.n):
            one, two = (set(x.item[x.start[row] : x.start[row + 1]].tolist()) for x in (a, b))
            out[row] = len(one & two) / len(one | two)
        return out

    @register(level="session", direction="lower")
    def items_in_session(b, ks):
        s = b.sessions
        n = np.add.reduceat(b.length[s.lists], s.start[:-1])
        return n[:, None] * np.ones(len(ks))

    frame, _ = frames
    models = {}
    for model in ("baseline", "candidate"):
        of = {(u, 0): v for u, v in shown(frame, model).items()}
        if model == "candidate":
            of = {k: v if k[0] % 2 else v[:3] for k, v in of.items()}
        models[model] = lists(of, session={k: k[0] for k in of})
    c = Compared(inputs(models), ["agreement", "items_in_session"])
    expected = [
        len(set(a) & set(b)) / len(set(a) | set(b))
        for a, b in (
            (shown(frame, "baseline")[u], shown(frame, "candidate")[u][: None if u % 2 else 3])
            for u in range(USERS)
        )
    ]
    pair = c("agreement@5")
    assert pair.candidate == pytest.approx(np.mean(expected))
    assert pair.ci_high - pair.ci_low == pytest.approx(
        2 * 1.96 * np.std(expected, ddof=1) / math.sqrt(USERS), rel=0.05
    )
    assert (pair.baseline, pair.difference, pair.reading) == (None, None, "undecided")
    assert [m.model for m in c.measurements if m.metric == "agreement@5"] == ["candidate"]
    session = c("items_in_session@5")
    assert (session.baseline, session.candidate, session.reading) == (5, 4, "better")


def test_a_metric_with_a_target(register, frames):
    @register(level="list", direction="target", target=0.3, needs=("relevance",))
    def hits_of_five(b, ks):
        return b.hits(ks) / 5

    frame, truth = frames
    given_ = inputs(
        baseline=shown(frame, "baseline"), candidate=shown(frame, "candidate"), relevance=truth
    )
    found = Compared(given_, ["hits_of_five"])("hits_of_five@5")
    nearer = abs(found.candidate - 0.3) < abs(found.baseline - 0.3)
    assert found.ci_low > 0
    assert found.reading == ("better" if nearer else "worse")


def test_several_candidates_and_the_order_of_records(given):
    base, new = (given.models[m][0] for m in ("baseline", "candidate"))
    users = given.users
    c = Compared(
        inputs(first=new, baseline=base, last=base, relevance=given.relevance, users=users),
        ["item_gini", "precision"], ks=(2, 5), segments=[("a",)],
    )  # fmt: skip
    assert c("precision@5", model="last").identical
    assert not c("precision@5", model="first").identical
    keys = [(x.segment, x.model, x.metric) for x in c.comparisons]
    assert len(set(keys)) == len(keys)
    assert keys[:8] == [
        ("all", model, name)
        for model in ("first", "last")
        for name in ("item_gini@2", "item_gini@5", "precision@2", "precision@5")
    ]
    assert list(dict.fromkeys(k[0] for k in keys)) == ["all", "a=x", "a=y", "b=p", "b=q"]
    points = [(m.segment, m.metric, m.model) for m in c.measurements]
    assert len(set(points)) == len(points)
    assert points[:4] == [
        ("all", "item_gini@2", "first"), ("all", "item_gini@2", "baseline"),
        ("all", "item_gini@2", "last"), ("all", "item_gini@5", "first"),
    ]  # fmt: skip


def test_another_seed_moves_intervals_and_no_points(given):
    one, other = (Compared(given, ["precision", "item_gini"], seed=s) for s in (0, 1))
    assert one("precision@5").ci_low != other("precision@5").ci_low
    for name in ("precision@5", "item_gini@5"):
        assert one(name).difference == other(name).difference
    assert one("item_gini@5") == other("item_gini@5")  # the jackknife draws nothing
    assert one.measurements == other.measurements


def test_long_vectors_of_categories_are_resampled_as_histograms_of_categories(monkeypatch):
    rng = np.random.default_rng(5)
    shown = [{u: rng.choice(60, 5, replace=False).tolist() for u in range(300)} for _ in range(2)]
    kinds = {i: [f"c{c}" for c in rng.choice(80, 2, replace=False)] for i in range(60)}
    given = inputs(
        baseline=shown[0], candidate=shown[1], catalog=catalog(range(60), categories=kinds)
    )
    usual = Compared(given, ["category_coverage"])("category_coverage@5")
    monkeypatch.setattr("audit.inference.totals.LONG", 10)
    long = Compared(given, ["category_coverage"])("category_coverage@5")
    assert (long.baseline, long.candidate) == (usual.baseline, usual.candidate)
    assert long.reading == usual.reading
    assert long.ci_low == usual.ci_low and long.ci_high == usual.ci_high


def test_the_wait_of_new_items_by_segment_and_without_an_interval():
    created = {1: 90, 2: 92, 3: 20}
    shown = {1: [1, 3], 2: [2], 3: [3, 2], 4: [3]}
    when = {
        "baseline": {1: 80, 2: 95, 3: 96, 4: 97},
        "candidate": {1: 91, 2: 95, 3: 93, 4: 97},
    }
    given = inputs(
        {name: lists(shown, shown_at=days) for name, days in when.items()},
        catalog=catalog([1, 2, 3], created=created),
        users=people({user: {"sex": "fm"[user % 2], "age": "y"} for user in shown}),
    )
    days = [parse("time_to_first_exposure")]
    dataset = encoded(given, viewport=1, as_of=EPOCH + dt.timedelta(days=100))
    both = (("sex", "age"),)
    plan = make_plan(
        dataset, metrics=days, ks=[1, 2], viewport=1, baseline="baseline", segments=both,
        also=[((), 2)],
    )  # fmt: skip
    measurements, comparisons = Comparer(dataset, plan, measure(dataset, plan), 0).all()
    value = {(m.model, m.metric[-2:], m.segment): m.value for m in measurements}
    # Item 1 was shown before it existed under the baseline: its 10 days count until as_of.
    assert value["baseline", "@1", "all"] == (10 + 3) / 2
    assert value["candidate", "@1", "all"] == (1 + 3) / 2
    assert value["candidate", "@2", "all"] == (1 + 1) / 2
    assert value["candidate", "@1", "sex=f"] == value["candidate", "@1", "sex=f, age=y"] == (10 + 3) / 2  # fmt: skip
    assert value["candidate", "@1", "sex=m"] == (1 + 8) / 2
    assert {c.ci_low for c in comparisons} == {None}
    assert {c.note for c in comparisons} == {
        "no interval: when an item is first shown is no sum over users"
    }


def test_without_shown_at_nobody_knows_how_long_an_item_waited():
    given = inputs(
        baseline={1: [1]}, candidate=lists({1: [1]}, shown_at={1: 5}), catalog=catalog([1], created={1: 4})
    )  # fmt: skip
    dataset = encoded(given, as_of=EPOCH + dt.timedelta(days=6))
    plan = make_plan(
        dataset, metrics=[parse("time_to_first_exposure")], ks=[1], viewport=1, baseline="baseline"
    )
    (why,) = measure(dataset, plan).unavailable.values()
    assert why == "no 'shown_at' in the recommendations of baseline"
