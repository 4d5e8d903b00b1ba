"""The Python API: evaluate, compare, run and check, on frames and files."""

from __future__ import annotations

import datetime as dt
import textwrap

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import audit
from audit.arguments import portable
from audit.asking import Settings
from audit.errors import ConfigError, InputError
from audit.metrics.registry import REGISTRY
from audit.records import versions
from tests.support import judged, lists


@pytest.fixture(autouse=True)
def _registry():
    before = set(REGISTRY)
    yield
    for name in set(REGISTRY) - before:
        del REGISTRY[name]


ITEMS, USERS = 50, 120


def model(seed, top):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        [
            (user, int(item), rank)
            for user in range(USERS)
            for rank, item in enumerate(rng.choice(top, 10, replace=False), start=1)
        ],
        columns=["user_id", "item_id", "rank"],
    )


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(4)
    relevance = pd.DataFrame(
        [
            (u, int(i), int(rng.integers(0, 3)))
            for u in range(USERS)
            for i in rng.choice(ITEMS, 6, False)
        ],
        columns=["user_id", "item_id", "grade"],
    )
    history = pd.DataFrame(
        [(u, int(i)) for u in range(USERS) for i in rng.choice(ITEMS, 4, False, p=weights())],
        columns=["user_id", "item_id"],
    )
    history["timestamp"] = pd.Timestamp("2020-05-01", tz="UTC")
    items = pd.DataFrame(
        {
            "item_id": range(ITEMS),
            "creator_id": [f"c{i % 8}" if i % 9 else None for i in range(ITEMS)],
            "created_at": pd.date_range("2019-01-01", periods=ITEMS, freq="11D"),
            "title": [f"word{i % 5} other{i % 3}" for i in range(ITEMS)],
        }
    )
    users = pd.DataFrame(
        {"user_id": range(USERS), "country": ["SE" if u % 2 else "DE" for u in range(USERS)]}
    )
    return {"relevance": relevance, "history": history, "catalog": items, "users": users}


def weights():
    p = 1 / np.arange(1, ITEMS + 1)
    return p / p.sum()


@pytest.fixture(scope="module")
def models():
    return {"baseline": model(1, ITEMS), "candidate": model(2, 20)}


@pytest.fixture(scope="module")
def result(models, tables):
    return audit.compare(models, **tables)


# --------------------------------------------------------------------------------------- evaluate


def test_evaluate_is_indexed_by_metric(models, tables):
    found = audit.evaluate(
        models["baseline"], metrics=["precision", "recall@4", "item_gini"], k=[2, 5], **tables
    )
    assert list(found.index) == [
        "precision@2", "precision@5", "recall@4", "item_gini@2", "item_gini@5",
    ]  # fmt: skip
    assert found.index.name == "metric"
    assert list(found.columns) == ["value", "n"]
    merged = models["baseline"].query("rank <= 5").merge(tables["relevance"].query("grade > 0"))
    with_relevant = tables["relevance"].query("grade > 0")["user_id"].nunique()
    assert found.loc["precision@5", "value"] == pytest.approx(len(merged) / 5 / with_relevant)
    assert found.loc["precision@5", "n"] == with_relevant
    assert found.loc["item_gini@5", "n"] == USERS


def test_evaluate_measures_what_the_inputs_allow(models):
    found = audit.evaluate(models["baseline"], k=3)
    assert set(found.index) >= {"catalog_coverage@3", "item_gini@3"}
    assert not [name for name in found.index if name.startswith(("ndcg", "tail_share", "creator"))]
    assert found.loc["catalog_coverage@3", "value"] == 1  # of known items


def test_evaluate_agrees_with_compare(models, tables, result):
    found = audit.evaluate(models["candidate"], **tables)
    scorecard = result.scorecard.query("segment == 'all'").set_index("metric")["candidate"]
    shared = found["value"].dropna().index.intersection(scorecard.index)
    assert len(shared) > 60
    pd.testing.assert_series_equal(
        found["value"][shared], scorecard[shared], check_names=False, rtol=1e-12
    )


def test_evaluate_per_list(models, tables):
    found = audit.evaluate(
        models["baseline"], metrics=["precision@5", "tail_share"], k=[1, 5], per_list=True, **tables
    )
    assert list(found.columns) == ["user_id", "precision@5", "tail_share@1", "tail_share@5"]
    assert found["user_id"].tolist() == list(range(USERS))
    means = audit.evaluate(models["baseline"], metrics=["precision@5"], k=5, **tables)
    assert found["precision@5"].mean() == pytest.approx(means.loc["precision@5", "value"])


def test_evaluate_per_list_tells_requests_apart():
    shown = pd.DataFrame(
        {
            "user_id": [1, 1, 2],
            "request_id": ["b", "a", "a"],
            "item_id": [5, 6, 5],
            "rank": [1, 1, 1],
        }
    )
    relevance = pd.DataFrame({"user_id": [1, 2, 3], "item_id": [5, 6, 5]})
    found = audit.evaluate(shown, relevance=relevance, metrics=["hit_rate"], k=1, per_list=True)
    assert found.to_dict("list") == {
        "user_id": [1, 1, 2], "request_id": ["a", "b", "a"], "hit_rate@1": [0.0, 1.0, 0.0],
    }  # fmt: skip
    everyone = audit.evaluate(
        shown, relevance=relevance, metrics=["hit_rate"], k=1, per_list=True,
        conventions={"users": "all_relevant"},
    )  # fmt: skip
    assert everyone["user_id"].tolist() == [1, 1, 2, 3]
    assert everyone["request_id"].isna().tolist() == [False, False, False, True]


def test_evaluate_averages_seeds(models, tables):
    both = audit.evaluate(
        [models["baseline"], models["candidate"]],
        metrics=["ndcg", "item_gini", "effective_rank"],
        k=5,
        **tables,
    )
    each = [
        audit.evaluate(m, metrics=["ndcg", "item_gini", "effective_rank"], k=5, **tables)
        for m in models.values()
    ]
    assert both["value"].to_numpy() == pytest.approx(
        (each[0]["value"] + each[1]["value"]).to_numpy() / 2
    )
    with pytest.raises(ConfigError, match="per_list: give the lists of one seed at a time"):
        audit.evaluate(list(models.values()), per_list=True, **tables)


def test_evaluate_takes_pools_eligible_items_and_groups_of_creators():
    shown = pd.DataFrame({"user_id": [1, 1, 2, 2], "item_id": [1, 2, 3, 1], "rank": [1, 2, 1, 2]})
    pools = pd.DataFrame(
        {"user_id": [1, 1, 1, 2, 2, 2], "item_id": [1, 2, 4, 3, 1, 2], "rank": [1, 2, 3] * 2}
    )
    catalog = pd.DataFrame({"item_id": [1, 2, 3, 4], "creator_id": ["a", "a", "b", "c"]})
    found = audit.evaluate(
        shown, k=2, relevance=pd.DataFrame({"user_id": [1, 2], "item_id": [4, 4]}), catalog=catalog,
        creators=pd.DataFrame({"creator_id": ["a", "b", "c"], "size": ["big", "big", "small"]}),
        pools=pools, eligible=pd.DataFrame({"item_id": [1, 3, 4]}),
        creator_target={"big": 0.5, "small": 0.5},
        metrics=["ndcg_ceiling", "pool_recall", "eligible_coverage", "ineligible_share", "group_exposure_shift"],
    )["value"]  # fmt: skip
    assert found.to_dict() == {
        "ndcg_ceiling@2": 1 / 2,  # user 1's pool holds item 4, user 2's does not
        "pool_recall@2": 1 / 2,
        "eligible_coverage@2": 2 / 3,
        "ineligible_share@2": (1 / 2 + 0) / 2,
        "group_exposure_shift@2": 1 / 2,  # all exposure is of the big ones, half is due
    }


def test_evaluate_refuses_what_cannot_be_had_by_name(models, tables):
    shown = models["baseline"]
    with pytest.raises(ConfigError, match=r"unknown metric 'ndgc'\. Did you mean 'ndcg'\?"):
        audit.evaluate(shown, metrics=["ndgc"], **tables)
    with pytest.raises(
        ConfigError, match=r"'ndcg' cannot be measured: no relevance table was given\."
    ):
        audit.evaluate(shown, metrics=["item_gini", "ndcg"])
    with pytest.raises(
        ConfigError, match=r"'item_gini' .* level 'system' has no value for a single list"
    ):
        audit.evaluate(shown, metrics=["item_gini"], per_list=True)
    with pytest.raises(ConfigError, match=r"none of .* has a value for a single list"):
        audit.evaluate(shown, per_list=True)

    with pytest.raises(ConfigError, match=r"K = 100,000 is too large: .* up to K = 10,000\."):
        audit.evaluate(shown, k=100_000)
    with pytest.raises(ConfigError, match=r"K = 100,000 is too large"):
        audit.evaluate(shown, metrics=["recall@100000"], **tables)

    @audit.metric(level="pair", direction="higher")
    def same(a, b, ks):
        raise AssertionError

    with pytest.raises(
        ConfigError, match="metric 'same' cannot be measured: it compares two models"
    ):
        audit.evaluate(shown, metrics=["same"], **tables)


def test_conventions_are_taken_as_names(models, tables):
    def ndcg(conventions):
        found = audit.evaluate(
            models["baseline"], metrics=["ndcg"], k=5, conventions=conventions, **tables
        )
        return found.loc["ndcg@5", "value"]

    assert (
        ndcg(None) == ndcg("default") == ndcg({"gain": "exponential"}) == ndcg(audit.Conventions())
    )
    assert ndcg({"gain": "linear"}) != ndcg(None)
    with pytest.raises(
        ConfigError, match=r"unknown value of convention 'gain' 'linaer'.*Did you mean 'linear'"
    ):
        ndcg({"gain": "linaer"})
    with pytest.raises(ConfigError, match=r"unknown convention 'gian'.*Did you mean 'gain'"):
        ndcg({"gian": "linear"})
    with pytest.raises(ConfigError, match="conventions preset 'rectool'"):
        ndcg("rectool")


# ---------------------------------------------------------------------------------------- compare


def test_compare_answers_with_a_whole_result(result):
    assert result.verdict == "fail"
    assert list(result.scorecard.columns) == [
        "model", "metric", "segment", "baseline", "candidate", "difference", "relative", "ci_low",
        "ci_high", "p_value", "reading",
    ]  # fmt: skip
    c = result.comparison("candidate", "catalog_coverage@10")
    assert (c.baseline, c.candidate) == (1.0, 0.4)
    p = result.population
    assert (p.users, p.items, p.creators, p.catalog_given) == (USERS, ITEMS, 8, True)
    assert p.head_items + p.tail_items == ITEMS
    assert p.embedding_source.startswith("made from titles")
    assert {s.segment for s in result.comparisons} == {"all", "country=DE", "country=SE"}
    assert result.audit.headline == "ndcg@10"
    assert result.audit.as_of == "2020-05-01T00:00:00+00:00"  # the newest history time
    assert [m.role for m in result.models] == ["baseline", "candidate"]
    assert {s.table for s in result.sources} >= {"recommendations 'candidate'", "catalog"}
    assert all(s.name == "data frame" for s in result.sources)
    assert result.versions == versions()


def test_the_tails_share_of_relevance(result, tables):
    popularity = (
        tables["history"]
        .groupby("item_id")["user_id"]
        .nunique()
        .reindex(range(ITEMS), fill_value=0)
    )
    order = popularity.reset_index().sort_values(["user_id", "item_id"], ascending=[False, True])
    mass = order["user_id"].cumsum()
    head = set(order["item_id"][(mass.shift(fill_value=0) < 0.8 * mass.iloc[-1])])
    relevant = tables["relevance"].query("grade > 0")["item_id"]
    assert result.population.head_items == len(head)
    assert result.population.tail_relevance_share == pytest.approx((~relevant.isin(head)).mean())
    assert (
        result.population.users_with_relevant
        == tables["relevance"].query("grade > 0")["user_id"].nunique()
    )


def test_exposure_that_counts_for_nobody_is_weighted_by_attention():
    shown = pd.DataFrame({"user_id": [1] * 3, "item_id": [1, 2, 9], "rank": [1, 2, 3]})
    items = pd.DataFrame({"item_id": [1, 2], "creator_id": ["a", None]})
    relevance = pd.DataFrame({"user_id": [1], "item_id": [1]})
    found = audit.compare(
        {"baseline": shown, "candidate": shown}, relevance=relevance, catalog=items, viewport=3, k=3,
        guardrails="none",
    ).models[0]  # fmt: skip
    w = 1 / np.log2([2, 3, 4])
    assert found.exposure_outside_catalog == pytest.approx(w[2] / w.sum())
    assert found.exposure_without_creator == pytest.approx((w[1] + w[2]) / w.sum())
    assert (found.users, found.lists, found.slots, found.short_lists) == (1, 1, 3, 0)


@pytest.mark.parametrize(
    "convert",
    [
        lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
        pl.from_pandas,
        lambda frame: frame.sample(frac=1, random_state=0),
        lambda frame: frame.convert_dtypes(),
    ],
    ids=["arrow", "polars", "shuffled", "nullable"],
)
def test_frames_of_every_kind_give_the_same_bytes(models, tables, result, convert):
    other = audit.compare(
        {name: convert(frame) for name, frame in models.items()},
        **{name: convert(frame) for name, frame in tables.items()},
    )
    assert other.to_json() == result.to_json()


def test_json_comes_back_as_the_same_result(result, tmp_path):
    result.write_json(tmp_path / "audit.json")
    assert audit.load_result(tmp_path / "audit.json") == result
    text = (tmp_path / "audit.json").read_text(encoding="utf-8")
    assert "NaN" not in text
    assert "Infinity" not in text


def test_the_parameters_of_an_audit_are_kept(models, tables):
    found = audit.compare(
        models, **tables, k=[5, 2], viewport=5, surface="single_answer", as_of="2020-06-01",
        metrics=["fresh_share[days=7]", "mrr@3"], guardrails={"profile": "none", "mrr": {"max_drop": 0.5}},
        seed=3, name="mine", relevance_source="clicks", conventions={"gain": "linear"},
    )  # fmt: skip
    info = found.audit
    assert (info.name, info.surface, info.k, info.viewport) == ("mine", "single_answer", [2, 5], 5)
    assert (info.headline, info.as_of, info.seed) == ("mrr@5", "2020-06-01", 3)
    assert info.relevance_source == "clicks"
    assert info.config["guardrails"] == {"profile": "none", "mrr": {"max_drop": 0.5}}
    assert found.conventions["gain"] == "linear"
    measured = {c.metric for c in found.comparisons if c.segment == "all"}
    assert measured == {
        "fresh_share[days=7]@2", "fresh_share[days=7]@5", "mrr@3", "mrr@5",
    }  # fmt: skip
    assert [g.guardrail for g in found.guardrail_results] == ["mrr@5 may drop by at most 0.5"]


def test_what_guardrails_need_is_measured_though_not_asked_for(models, tables):
    found = audit.compare(models, **tables, metrics=["precision@3"])
    names = {c.metric for c in found.comparisons if c.segment == "all"}
    assert names == {
        "precision@3", "ndcg@10", "tail_share@10", "catalog_coverage@10", "creator_coverage@10",
        "creator_gini@10", "item_gini@10", "ild@10", "novelty@10",
    }  # fmt: skip


def test_a_guardrail_by_segment_is_judged_in_every_cell(models, tables):
    found = audit.compare(
        models, **tables, metrics=["item_gini"],
        guardrails={
            "profile": "none",
            "item_gini": {"max_rise": 0.02, "segment": "country"},
            "ndcg": [{"max_drop": 0.5, "segment": ["country"]}, {"min": 0.0001}],
        },
    )  # fmt: skip
    cells = found.guardrails.set_index(["guardrail", "model"])
    assert len(cells) == 5
    gini = [g for g in found.guardrail_results if g.metric == "item_gini@10"]
    assert [g.segment for g in gini] == ["country=DE", "country=SE"]
    assert {g.status for g in gini} == {"breached"}
    assert all(
        g.observed == found.comparison("candidate", "item_gini@10", g.segment).difference
        for g in gini
    )


def test_several_candidates(models, tables):
    found = audit.compare(
        {**models, "other": models["baseline"]}, **tables, metrics=["ndcg"], guardrails="none"
    )
    assert found.audit.candidates == ["candidate", "other"]
    assert found.comparison("other", "ndcg@10").identical
    assert [v.model for v in found.verdicts] == ["candidate", "other"]


def test_identical_models_pass_with_every_guardrail_held(models, tables):
    found = audit.compare(
        {"baseline": models["baseline"], "candidate": models["baseline"]}, **tables
    )
    # History and relevance of this toy overlap: an issue, but none that could move a difference of nothing.
    assert [i.check for i in found.issues if i.severity == "warning"]
    assert (found.verdict, found.findings) == ("pass", [])
    assert set(found.guardrails["status"]) == {"held"}
    card = found.scorecard.dropna(subset=["difference"])
    assert (card["difference"] == 0).all()
    assert (card["p_value"].dropna() == 1).all()
    viewport = card[card["metric"].str.endswith("@10") & (card["segment"] == "all")]
    assert set(viewport["reading"]) == {"no change"}


def test_a_metric_of_ones_own_is_in_the_scorecard(models, tables):
    @audit.metric(level="list", direction="higher")
    def first_rank(b, ks):
        """Is there a list at all?"""
        return b.shown(ks) / ks

    found = audit.compare(models, **tables, metrics=["first_rank"], guardrails="none")
    c = found.comparison("candidate", "first_rank@10")
    assert (c.baseline, c.candidate, c.reading) == (1.0, 1.0, "no change")
    assert [m.question for m in found.metrics if m.metric == "first_rank"] == [
        "Is there a list at all?"
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"baseline": "basline"}, r"unknown baseline 'basline'\. Did you mean 'baseline'\? Valid: baseline, candidate"),
        ({"metrics": ["ndcg", "gini"]}, r"unknown metric 'gini'\. Did you mean '\w*gini'\?"),
        ({"metrics": []}, "metrics is empty"),
        ({"metrics": [3]}, "metrics: 3 is no name"),
        ({"metrics": ["ndcg@0"]}, "K starts at 1"),
        ({"as_of": "tomorrow"}, r"as_of 'tomorrow' is no date; write it like 2013-07-15\."),
        ({"as_of": 20130715}, r"as_of 20130715 is no date"),
        ({"k": []}, r"k = \[\]: give one or more list lengths"),
        ({"k": [0, 5]}, r"k = \[0, 5\]"),
        ({"k": [2.5]}, r"k = \[2\.5\]"),
        ({"k": "10"}, "k = '10'"),
        ({"k": None}, "k = None"),
        ({"viewport": 0}, "viewport = 0: give a whole number from 1"),
        ({"viewport": "10"}, "viewport = '10'"),
        ({"seed": -1}, "seed = -1: give a whole number from 0"),
        ({"surface": "fed"}, r"unknown surface 'fed'\. Did you mean 'feed'\?"),
        ({"relevance_source": "click"}, r"unknown relevance_source 'click'\. Did you mean 'clicks'\?"),
        ({"conventions": {"gain": "cubic"}}, "convention 'gain'"),
        ({"guardrails": "lunch"}, r"unknown guardrail profile 'lunch'\. Did you mean 'launch'\?"),
        ({"guardrails": None}, r"guardrails = None: give a profile's name"),
        ({"guardrails": {"ndcg": {"max_drop": float("inf")}}}, "guardrail 'ndcg': max_drop: .*finite"),
        ({"guardrails": {"recall@10000000": {"max_drop": 1}}}, r"K = 10,000,000 is too large"),
        ({"viewport": 10**12}, r"K = 1,000,000,000,000 is too large: lists are measured up to K = 10,000\."),
        ({"guardrails": {"ndgc@10": {"max_drop": 1}}}, r"unknown metric 'ndgc'\. Did you mean 'ndcg'\?"),
        ({"guardrails": {"ndcg": {"max_drop": 1, "segment": "contry"}}}, "unknown segment attribute 'contry'"),
    ],
)  # fmt: skip
def test_calls_that_cannot_be_followed(models, tables, change, message):
    with pytest.raises(ConfigError, match=message):
        audit.compare(models, **{**tables, **change})


def test_there_must_be_something_to_compare(models, tables):
    with pytest.raises(ConfigError, match="give the baseline and at least one candidate"):
        audit.compare({"baseline": models["baseline"]}, **tables)
    with pytest.raises(ConfigError, match="mapping of model name to data"):
        audit.compare(models["baseline"], **tables)
    with pytest.raises(InputError, match="item_id"):
        audit.compare(
            {**models, "candidate": models["candidate"].drop(columns="item_id")}, **tables
        )


def test_a_guardrail_of_ones_own_without_its_inputs_is_an_error(models, tables):
    with pytest.raises(
        ConfigError, match=r"tail_share@10 .* cannot be judged: no history table was given"
    ):
        audit.compare(
            models, relevance=tables["relevance"], guardrails={"tail_share@10": {"max_drop": 0.1}}
        )
    found = audit.compare(models, relevance=tables["relevance"])  # the profile's
    status = {g.metric: g.status for g in found.guardrail_results}
    assert (
        status["tail_share@10"] == status["creator_gini@10"] == status["ild@10"] == "not measured"
    )
    assert status["item_gini@10"] == "breached"
    assert found.verdict in ("fail", "inconclusive", "warn")
    assert {u.metric for u in found.unavailable} >= {"tail_share", "creator_gini", "ild"}


def test_others_may_be_named_beside_the_default_ones(models, tables):
    usual = audit.evaluate(models["baseline"], k=10, **tables)["value"]
    more = audit.evaluate(
        models["baseline"], k=10, metrics=["default", "rbp", "rbp[p=0.5]"], **tables
    )["value"]
    assert more[usual.index].equals(usual)
    assert set(more.index) - set(usual.index) == {"rbp@10", "rbp[p=0.5]@10"}
    every = audit.evaluate(models["baseline"], k=10, metrics="all", **tables)["value"]
    assert {*more.index} - {*every.index} == {"rbp[p=0.5]@10"}
    assert {"dcg@10", "surprisal@10", "upd_gap@10"} <= {*every.index}
    result = audit.compare(
        models,
        k=[10],
        metrics=["default", "f1"],
        surface="single_answer",
        guardrails="none",
        **tables,
    )
    assert {"mrr@10", "ndcg@1", "f1@10"} <= {
        *result.scorecard["metric"]
    }  # the surface's own among them
    with pytest.raises(ConfigError, match="stands for several metrics"):
        audit.metric(level="list", direction="higher", name="all")(lambda b, ks: ks)


def test_one_metric_and_one_k_may_be_given_bare(models, tables):
    assert list(audit.evaluate(models["baseline"], metrics="ndcg", k=4, **tables).index) == [
        "ndcg@4"
    ]


def test_dates_are_kept_as_they_were_given(models, tables):
    def as_of(given):
        return audit.compare(models, **tables, metrics=["mean_age"], guardrails="none", as_of=given)

    day = as_of("2021-01-01")
    assert day.audit.as_of == "2021-01-01"
    assert as_of(dt.date(2021, 1, 1)).to_json() == day.to_json()
    noon = as_of("2021-01-01T12:00:00")
    assert noon.comparison("candidate", "mean_age@10").baseline == pytest.approx(
        day.comparison("candidate", "mean_age@10").baseline + 0.5
    )
    # No ages, no time that they are counted from.
    plain = audit.compare(
        models, relevance=tables["relevance"], history=tables["history"], guardrails="none"
    )
    assert plain.audit.as_of is None


@pytest.mark.parametrize(
    ("surface", "headline", "beside"),
    [
        ("single_answer", "mrr@6", ["ndcg@1"]), ("list", "ndcg@6", []), ("find_all", "map@6", []),
        ("grid", "precision@6", []), ("feed", "ndcg@6", []), ("candidates", "recall@50", ["hit_rate@50"]),
    ],
)  # fmt: skip
def test_surfaces(surface, headline, beside):
    settings = Settings(surface=surface, viewport=6, ks=[1, 50])
    assert (settings.headline, settings.beside) == (headline, beside)


def test_a_surface_has_its_headline():
    assert Settings(surface="grid", viewport=6).headline == "precision@6"


# --------------------------------------------------------------------------------------------- run


@pytest.fixture
def folder(tmp_path, models, tables):
    for name, frame in {**models, **tables}.items():
        frame.to_parquet(tmp_path / f"{name}.parquet")
    (tmp_path / "audit.toml").write_text(
        textwrap.dedent("""
        [audit]
        k = [1, 3, 10]
        [models]
        baseline = "baseline.parquet"
        candidate = "candidate.parquet"
        [relevance]
        path = "relevance.parquet"
        [catalog]
        path = "catalog.parquet"
        [history]
        path = "history.parquet"
        [users]
        path = "users.parquet"
        """),
        encoding="utf-8",
    )
    return tmp_path


def test_run_says_the_same_as_compare(folder, result):
    seen = []
    found = audit.run(folder / "audit.toml")
    assert found.comparisons == result.comparisons
    assert found.exhibits == result.exhibits
    assert found.guardrail_results == result.guardrail_results
    assert {s.table: s.fingerprint for s in found.sources} == {
        s.table: s.fingerprint for s in result.sources
    }
    assert {s.table: s.name for s in found.sources}["catalog"] == "catalog.parquet"
    again = audit.run(folder / "audit.toml", progress=lambda *step: seen.append(step))
    assert again.to_json() == found.to_json()
    stages = list(dict.fromkeys(stage for stage, _, _ in seen))
    assert stages == ["reading", "measuring", "comparing"]
    assert all(done <= total for _, done, total in seen)


def test_run_takes_a_parsed_configuration(folder):
    from audit.config import load_config

    config = load_config(folder / "audit.toml")
    assert audit.run(config, base=folder).to_json() == audit.run(folder / "audit.toml").to_json()


def test_check_reads_and_measures_nothing(folder, models):
    found = {issue.check: issue for issue in audit.check(folder / "audit.toml")}
    assert "recommended_from_history" in found
    assert found["relevance_in_history"].severity == "warning"
    models["candidate"].head(7).to_parquet(folder / "candidate.parquet")
    assert "users_on_one_side" in {issue.check for issue in audit.check(folder / "audit.toml")}
    models["candidate"].drop(columns="rank").to_parquet(folder / "candidate.parquet")
    with pytest.raises(InputError, match="neither 'rank' nor 'score'"):
        audit.check(folder / "audit.toml")


def add(folder, section, line):
    text = (folder / "audit.toml").read_text(encoding="utf-8")
    header = f"[{section}]"
    new = (
        text.replace(header, f"{header}\n{line}")
        if header in text
        else f"{text}\n{header}\n{line}\n"
    )
    (folder / "audit.toml").write_text(new, encoding="utf-8")


def test_plugins_beside_the_configuration_are_loaded(folder):
    (folder / "own_metrics_of_test_api.py").write_text(
        textwrap.dedent('''
        import numpy as np
        from audit import metric

        @metric(level="system", vector="item_count", direction="higher", formula="max x")
        def busiest(x):
            """How often is the most shown item shown?"""
            return x.max(-1)
        '''),
        encoding="utf-8",
    )
    add(folder, "audit", 'plugins = ["own_metrics_of_test_api"]\nmetrics = ["busiest", "ndcg"]')
    add(folder, "guardrails", 'profile = "none"')
    found = audit.run(folder / "audit.toml")
    c = found.comparison("candidate", "busiest@10")
    shown = pd.read_parquet(folder / "candidate.parquet")
    assert c.candidate == shown["item_id"].value_counts().max()
    assert c.evidence.kind == "system"


def test_a_plugin_that_is_not_there(folder):
    add(folder, "audit", 'plugins = ["no_such_module_anywhere"]')
    with pytest.raises(ConfigError, match="no module 'no_such_module_anywhere'"):
        audit.run(folder / "audit.toml")


def test_segments_of_the_configuration_must_exist(folder):
    add(folder, "users", 'segments = ["contry"]')
    with pytest.raises(audit.AuditError, match="contry"):
        audit.run(folder / "audit.toml")


def test_a_guardrail_on_a_system_metric_at_another_k_gets_its_interval():
    users = range(120)
    baseline = lists({u: [u % 11, 11 + u % 7, 18] for u in users})
    candidate = lists({u: [u % 5, 11 + u % 3, 18] for u in users})
    asked = {"profile": "none", "item_gini@2": {"max_rise": 0.5}}
    result = audit.compare(
        {"baseline": baseline, "candidate": candidate}, relevance=judged({u: [u % 5] for u in users}),
        viewport=3, k=[1, 3], guardrails=asked,
    )  # fmt: skip
    (row,) = result.guardrails.itertuples()
    assert row.status in ("held", "breached")
    at = {m: result.comparison("candidate", f"item_gini@{m}") for m in (1, 2, 3)}
    assert at[1].ci_low is None
    assert at[2].ci_low < at[2].difference < at[2].ci_high
    assert at[3].ci_low is not None


def test_no_folder_of_this_machine_is_kept(folder):
    here = portable({"models": {"a": str(folder / "a.parquet"), "b": ["x/b.parquet"]}, "k": [1]})
    assert here == {"models": {"a": "a.parquet", "b": ["x/b.parquet"]}, "k": [1]}


def test_seeds_of_a_model_keep_their_file_names(tmp_path):
    paths = []
    for n in (1, 2):
        paths.append(tmp_path / f"seed{n}.parquet")
        pq.write_table(lists({u: [u % 7, 7 + n] for u in range(60)}), paths[-1])
    result = audit.compare(
        {"baseline": lists({u: [1, 2] for u in range(60)}), "candidate": paths},
        relevance=judged({u: [1] for u in range(60)}), viewport=2,
    )  # fmt: skip
    named = {s.table: s.name for s in result.sources if "candidate" in s.table}
    assert named == {
        "recommendations 'candidate' (seed 1)": "seed1.parquet",
        "recommendations 'candidate' (seed 2)": "seed2.parquet",
    }


def test_a_missing_file_does_not_hide_the_errors_of_other_tables(tmp_path):
    with pytest.raises(InputError) as refused:
        audit.compare(
            {
                "baseline": pa.table({"user_id": [1, 1], "item_id": [5, 5], "rank": [1, 2]}),
                "candidate": tmp_path / "nowhere.parquet",
            },
            relevance=judged({1: [5]}),
        )
    assert {issue.table for issue in refused.value.issues} == {
        "recommendations 'baseline'", "recommendations 'candidate'",
    }  # fmt: skip
