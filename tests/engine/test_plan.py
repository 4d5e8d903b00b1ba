"""What will be measured, buckets of the bootstrap and groups of the jackknife."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from audit.dataset.ids import Ids
from audit.engine.plan import BUCKETS, SMALL, bucket_of, hash_ranks, make_plan
from audit.errors import ConfigError
from audit.metrics.registry import REGISTRY, MetricRef, parse
from audit.metrics.vectors import rank_weights
from tests.support import encoded, inputs, people


@pytest.fixture(scope="module")
def small():
    return encoded(inputs(baseline={1: [1, 2]}, candidate={1: [2]}), viewport=2)


def plan_of(dataset, metrics=None, ks=(1, 3), viewport=2, **rest):
    named = None if metrics is None else [parse(m) for m in metrics]
    return make_plan(dataset, metrics=named, ks=ks, viewport=viewport, baseline="baseline", **rest)


def wanted(plan):
    return {str(ref) for ref in plan.wanted}


def test_metrics_without_k_are_wanted_at_every_k_and_the_viewport(small):
    plan = plan_of(small, ["ndcg", "recall@7"])
    assert wanted(plan) == {"ndcg@1", "ndcg@2", "ndcg@3", "recall@7"}
    assert plan.ks.tolist() == [1, 2, 3, 7]
    assert plan.kmax == 7
    assert [str(ref) for ref in plan.refs] == ["ndcg", "recall"]
    assert plan.candidates == ["candidate"]


def test_a_derived_metric_brings_its_parts_at_the_same_k(small):
    plan = plan_of(small, ["effective_rank@5"])
    assert [str(ref) for ref in plan.refs] == ["mrr", "effective_rank"]
    assert wanted(plan) == {"mrr@5", "effective_rank@5"}
    plan = plan_of(small, ["effective_rank", "mrr@9"])
    assert wanted(plan) == {f"{m}@{k}" for m in ("mrr", "effective_rank") for k in (1, 2, 3)} | {
        "mrr@9"
    }


def test_parameters_make_metrics_of_their_own(small):
    plan = plan_of(
        small, ["fresh_share[days=7]", "fresh_share[days=30]", "fresh_share"], ks=[1], viewport=1
    )
    assert wanted(plan) == {"fresh_share[days=7]@1", "fresh_share@1"}  # 30 is the default


def test_default_metrics(small):
    plan = plan_of(small)
    assert {ref.name for ref in plan.refs} >= {n for n, spec in REGISTRY.items() if spec.default}
    assert set(plan.level("system")) == {
        MetricRef(n) for n, s in REGISTRY.items() if s.level == "system" and s.default
    }


def test_hash_ranks_are_a_permutation_that_depends_on_the_ids_alone():
    ids = Ids.of([pa.array(range(100))])
    rank = hash_ranks(ids)
    assert sorted(rank) == list(range(100))
    assert rank.tolist() != list(range(100))
    half = hash_ranks(Ids.of([pa.array(range(0, 100, 2))]))
    # The order of the even ids among themselves stays.
    assert np.argsort(half).tolist() == np.argsort(rank[::2]).tolist()
    assert len(hash_ranks(Ids.of([]))) == 0


def test_each_user_is_a_bucket_up_to_the_limit():
    rank = np.arange(SMALL)[::-1]
    bucket, n = bucket_of(rank, SMALL)
    assert n == SMALL
    assert (bucket == rank).all()


@pytest.mark.parametrize("users", [SMALL + 1, 50_000])
def test_beyond_buckets_are_slices_of_the_rank(users):
    bucket, n = bucket_of(np.arange(users), users)
    assert n == BUCKETS == 4096
    assert bucket.tolist() == [rank * 4096 // users for rank in range(users)]
    sizes = np.bincount(bucket, minlength=n)
    assert sizes.max() - sizes.min() <= 1


def test_rows_above_the_limit_are_shared():
    users = SMALL + 1
    shown = pa.table(
        {
            "user_id": pa.array(range(users)),
            "item_id": pa.array([1] * users),
            "rank": pa.array([1] * users, pa.int32()),
        }
    )
    dataset = encoded(inputs(baseline=shown))
    plan = plan_of(dataset, ["catalog_coverage"], ks=[1], viewport=1)
    rank = hash_ranks(dataset.users)
    rows = plan.rows
    assert rows.buckets == BUCKETS
    assert (rows.bucket[rows.row_of_user] == rank * BUCKETS // users).all()
    group = rank // (users // 64)
    assert (rows.group[rows.row_of_user] == np.where(group < 64, group, -1)).all()
    # A row for each bucket, two where a bucket lies across the edge of two groups.
    assert BUCKETS <= len(rows.bucket) <= BUCKETS + 64


def test_rows_tell_segments_apart():
    n = 300
    attributes = {user: {"a": "xyz"[user % 3], "b": "uv"[user % 2]} for user in range(n)}
    dataset = encoded(inputs(baseline={u: [1] for u in range(n)}, users=people(attributes)))
    rows = plan_of(dataset).rows
    for name, (cell, _) in dataset.segments.items():
        assert (rows.cells[name][rows.row_of_user] == cell).all()
    assert (rows.bucket[rows.row_of_user] == hash_ranks(dataset.users)).all()


@pytest.mark.parametrize(("users", "groups"), [(49, 0), (50, 16), (99, 16), (130, 32), (201, 64)])
def test_groups_by_number_of_users_with_the_left_over_ones_apart(users, groups):
    dataset = encoded(inputs(baseline={u: [1] for u in range(users)}))
    (grouping,) = plan_of(dataset).groupings
    assert (grouping.segment, grouping.users, grouping.groups) == ("all", users, groups)
    sizes = np.bincount(grouping.group_of_user, minlength=groups + 1)
    if not groups:
        assert sizes.tolist() == [users]
        return
    assert (sizes[:groups] == users // groups).all()
    assert sizes[groups] == users % groups
    rank = hash_ranks(dataset.users)
    expected = np.minimum(rank // (users // groups), groups)
    assert (grouping.group_of_user == expected).all()


def test_attention_in_whole_steps_is_fine_and_fits():
    lists_each = {(u, r): [1, 2, 3] for u in range(64) for r in range(5)}
    dataset = encoded(inputs(baseline=lists_each), viewport=3)
    (grouping,) = plan_of(dataset, viewport=3).groupings
    weights = rank_weights(dataset.conventions, "exposure", 3)
    assert grouping.exposure * grouping.step == pytest.approx(weights, rel=2**-20)
    fullest = 5 * (64 // 16)  # lists of the fullest group
    assert fullest * grouping.exposure.max() < 2**31
    assert fullest * grouping.exposure.max() > 2**28  # and no bit is given away


def segmented(values):
    users = {user: {"a": a, "b": b} for user, (a, b) in enumerate(values)}
    return encoded(inputs(baseline={u: [1] for u in users}, users=people(users)))


def test_cells_of_a_guardrails_segment_are_ranked_anew():
    dataset = segmented([("x", "u")] * 60 + [("y", "u")] * 49 + [("y, b=v", "v")] * 70)
    plan = plan_of(dataset, segments=[("a",)])
    assert [g.segment for g in plan.groupings] == ["all", "a=x", "a=y, b=v"]  # 49 are too few
    x = plan.groupings[1]
    assert x.cells == (("a", 0),)
    assert (x.users, x.groups) == (60, 16)
    assert (x.group_of_user[60:] == -1).all()
    rank = hash_ranks(dataset.users)[:60]
    within = np.argsort(np.argsort(rank))
    assert (x.group_of_user[:60] == np.minimum(within // (60 // 16), 16)).all()


def test_combined_cells_are_all_there_small_ones_without_groups():
    dataset = segmented([("x", "u")] * 60 + [("x", "v")] * 10)
    plan = plan_of(dataset, segments=[("b", "a")])
    found = {g.segment: (g.cells, g.users, g.groups) for g in plan.groupings[1:]}
    assert found == {
        "b=u, a=x": ((("b", 0), ("a", 0)), 60, 16),
        "b=v, a=x": ((("b", 1), ("a", 0)), 10, 0),
    }


def test_an_unknown_attribute_is_an_error_that_names_the_nearest(small):
    dataset = segmented([("x", "u")] * 3)
    with pytest.raises(ConfigError, match=r"unknown segment attribute 'c'\..*Valid: a, b\."):
        plan_of(dataset, segments=[("c",)])
    with pytest.raises(ConfigError, match=r"Valid: none\."):
        plan_of(small, segments=[("c",)])


def test_metrics_of_all_pairs_are_wanted_up_to_the_viewport_or_as_named(small):
    plan = plan_of(small, ["near_duplicates", "ndcg", "ild_jaccard@9"])
    assert wanted(plan) == {
        "near_duplicates@1", "near_duplicates@2", "ild_jaccard@9", "ndcg@1", "ndcg@2", "ndcg@3",
    }  # fmt: skip
    assert plan.ks.tolist() == [1, 2, 3, 9]
    ks = {ref.name: plan.ks_of(ref).tolist() for ref in plan.refs}
    assert ks == {"near_duplicates": [1, 2], "ild_jaccard": [9], "ndcg": [1, 2, 3, 9]}
    assert MetricRef("near_duplicates", (), 3) not in plan.wanted
