"""Names, declarations and the one way to add a metric, from inside or outside."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import audit
from audit.conventions import Conventions
from audit.dataset.model import F64
from audit.dataset.reasons import NEEDS
from audit.errors import ConfigError
from audit.metrics import REGISTRY, MetricRef, metric, parse
from audit.metrics.registry import closure, default_metrics
from audit.metrics.vectors import ITEMS, VECTORS
from audit.render.formats import pdf
from audit.render.view import build_view
from tests import support


@pytest.fixture
def registry():
    """Whatever a test registers is forgotten afterwards, in place: everybody holds the same dict."""
    before = dict(REGISTRY)
    yield REGISTRY
    REGISTRY.clear()
    REGISTRY.update(before)


@pytest.fixture
def zipf(registry):
    @metric(level="list", needs=("relevance",), direction="higher")
    def zipf(b, ks, *, p=0.8, weight=1):
        """How much is seen by a reader of patience p?"""
        return weight * (1 - p) * b.prefix_sum(p ** (b.hit_rank - 1), ks)

    return zipf


# ------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ndcg", MetricRef("ndcg")),
        ("ndcg@10", MetricRef("ndcg", (), 10)),
        ("  ndcg@10 ", MetricRef("ndcg", (), 10)),
        ("zipf", MetricRef("zipf")),
        ("zipf[]", MetricRef("zipf")),
        ("zipf[p=0.5]", MetricRef("zipf", (("p", 0.5),))),
        ("zipf[p=.5]@10", MetricRef("zipf", (("p", 0.5),), 10)),
        ("zipf[ p = 0.5 ]@10", MetricRef("zipf", (("p", 0.5),), 10)),
        ("zipf[p=0.8]@10", MetricRef("zipf", (), 10)),
        ("zipf[p=8e-1]@10", MetricRef("zipf", (), 10)),
        ("zipf[weight=2,p=0.5]@3", MetricRef("zipf", (("p", 0.5), ("weight", 2.0)), 3)),
        ("zipf[p=0.8,weight=2]@3", MetricRef("zipf", (("weight", 2.0),), 3)),
    ],
)
def test_parse(zipf, text, expected):
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("zipf[weight=2, p=0.5]@3", "zipf[p=0.5,weight=2]@3"),
        ("zipf[p=0.80]@010", "zipf@10"),
        ("zipf[weight=1234567.125]", "zipf[weight=1234567.125]"),
        ("zipf[weight=1234568]", "zipf[weight=1234568]"),
        ("zipf[p=0.1]", "zipf[p=0.1]"),
        ("zipf[p=-1e-30]", "zipf[p=-1e-30]"),
    ],
)
def test_a_name_is_printed_as_it_is_read(zipf, text, expected):
    assert str(parse(text)) == expected
    assert parse(expected) == parse(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ncdg@10", "unknown metric 'ncdg'. Did you mean 'ndcg'? Valid: "),
        ("NDCG@10", "unknown metric 'NDCG'. Did you mean 'ndcg'?"),
        ("zipf[q=0.5]", "metric 'zipf': unknown parameter 'q'."),
        ("zipf[weigth=2]", "Did you mean 'weight'? Valid: p, weight."),
        ("ndcg[p=0.5]", "metric 'ndcg': unknown parameter 'p'. Valid: none."),
        ("zipf[p=high]", "'zipf[p=high]': parameter 'p' needs a number, not 'high'."),
        ("zipf[p]", "parameter 'p' needs a number, not ''."),
        ("zipf[p=nan]", "parameter 'p' needs a number, not 'nan'."),
        ("zipf[p=inf]", "parameter 'p' needs a number, not 'inf'."),
        ("zipf[p=0.5,p=0.6]", "parameter 'p' is given twice."),
        ("ndcg@0", "'ndcg@0': K starts at 1."),
        ("ndcg@", "'ndcg@' is not a metric name; write it like ndcg@10 or rbp[p=0.8]@10."),
        ("ndcg@-1", "is not a metric name"),
        ("ndcg@1.5", "is not a metric name"),
        ("ndcg 10", "is not a metric name"),
        ("zipf[p=0.5", "is not a metric name"),
        ("", "'' is not a metric name"),
    ],
)
def test_a_name_that_is_wrong(zipf, text, said):
    with pytest.raises(ConfigError) as caught:
        parse(text)
    assert said in str(caught.value)


def test_every_valid_metric_is_listed():
    with pytest.raises(ConfigError) as caught:
        parse("no_such_thing")
    assert str(caught.value).endswith("Valid: " + ", ".join(sorted(REGISTRY)) + ".")


def test_a_reference_knows_its_values(zipf):
    ref = parse("zipf[p=0.5]@10")
    assert ref.values == {"p": 0.5, "weight": 1}
    assert ref.spec is REGISTRY["zipf"]
    assert ref.at(3) == parse("zipf[p=0.5]@3")


def test_references_sort_by_name_parameters_and_k(zipf):
    names = ["ndcg@1", "ndcg@10", "zipf@3", "zipf[p=0.5]@3"]
    refs = [parse(name) for name in names]
    shuffled = [refs[i] for i in (2, 0, 3, 1)]
    assert sorted(shuffled) == refs


def test_call_passes_parameters_and_conventions(registry):
    @metric(level="system", vector="item_exposure", direction="higher")
    def scaled(x, *, conventions, by=2):
        """Scaled?"""
        return x * by * conventions.patience

    conventions = Conventions(patience=0.5)
    assert parse("scaled").call(3, conventions=conventions) == 3 * 2 * 0.5
    assert parse("scaled[by=4]").call(3, conventions=conventions) == 3 * 4 * 0.5
    assert scaled(3, conventions=conventions, by=1) == 3 * 1 * 0.5
    assert REGISTRY["scaled"].parameters == {"by": 2}


def test_call_reads_division_by_zero_as_no_value(registry):
    @metric(level="derived", of=("mrr",), direction="higher")
    def ratio(x):
        """Ratio?"""
        return x / x

    value = parse("ratio").call(np.array([0.0, 2.0]), conventions=Conventions())
    assert math.isnan(value[0])
    assert value[1] == 1


# ------------------------------------------------------------------------------ declarations


def test_a_metric_declares_itself(registry):
    @metric(
        level="list", needs=("history", "relevance"), direction="target", target=0.5, unit="bits",
        range=(0, 2), family="novelty", formula="x", citation="y", default=False,
        convention=lambda c: c.gain,
    )  # fmt: skip
    def my_new_metric(b, ks):
        """What is the first
        paragraph?

        Not the second.
        """

    spec = REGISTRY["my_new_metric"]
    assert spec.title == "my new metric"
    assert spec.question == "What is the first paragraph?"
    assert (spec.level, spec.direction, spec.target) == ("list", "target", 0.5)
    assert spec.needs == {"history", "relevance"}
    assert (spec.unit, spec.range, spec.family) == ("bits", (0, 2), "novelty")
    assert (spec.formula, spec.citation) == ("x", "y")
    assert spec.convention(Conventions()) == "exponential"
    assert spec.function is my_new_metric
    assert MetricRef("my_new_metric") not in default_metrics()


def test_a_name_title_and_question_of_its_own(registry):
    @metric(level="list", direction="higher", name="other", title="Other", question="Why?")
    def function(b, ks):
        """Ignored."""

    assert (REGISTRY["other"].title, REGISTRY["other"].question) == ("Other", "Why?")
    assert "function" not in REGISTRY


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"name": "Ndcg2"}, "metric name 'Ndcg2': use lower case letters, digits and '_'."),
        ({"name": "2nd"}, "use lower case letters"),
        ({"name": "with-dash"}, "use lower case letters"),
        ({"name": "ndcg"}, "metric 'ndcg' is already registered; choose another name."),
        ({"level": "lists"}, "metric 'mine': unknown level 'lists'. Did you mean 'list'?"),
        ({"direction": "up"}, "unknown direction 'up'. Valid: higher, lower, target."),
        ({"direction": "target"}, "direction 'target' needs target="),
        ({"needs": ("relevanse",)}, "unknown need 'relevanse'. Did you mean 'relevance'?"),
        ({"family": "novel"}, "unknown family 'novel'. Did you mean 'novelty'?"),
        ({"units": "bits"}, "metric 'mine': unknown field 'units'. Did you mean 'unit'?"),
        ({"range": (1, 1)}, "range (1, 1) is empty"),
        ({"level": "system"}, "level 'system' needs vector=, one of item_exposure, item_count, "),
        ({"level": "system", "vector": "item_exposures"}, "Did you mean 'item_exposure'?"),
        ({"level": "system", "vector": "item_count", "items": "tails"}, "Did you mean 'tail'?"),
        (
            {"level": "system", "vector": "item_count", "items": "tail"},
            "items 'tail' requires needs=('history',).",
        ),
        (
            {"level": "system", "vector": "creator_count"},
            "vector 'creator_count' requires needs=('creator_id',).",
        ),
        ({"level": "system", "vector": "item_count", "by_count": True}, "by_count needs level"),
        ({"by_count": True}, "by_count needs level 'system' and an exposure vector."),
        ({"level": "derived"}, "level 'derived' needs of=(…)"),
        ({"level": "derived", "of": ("mmr",)}, "unknown metric 'mmr'. Did you mean 'mrr'?"),
        (
            {"level": "derived", "of": ("effective_rank",)},
            "cannot be derived of 'effective_rank', which is itself of level 'derived'",
        ),
    ],
)
def test_a_declaration_that_is_wrong(registry, declared, said):
    before = dict(REGISTRY)
    fields = {"level": "list", "direction": "higher", "name": "mine", **declared}
    with pytest.raises(ConfigError) as caught:
        metric(**fields)(lambda b, ks: None)
    assert said in str(caught.value)
    assert before == REGISTRY


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda b, ks, *, p: None, "parameter 'p' needs a default."),
        (lambda b, ks, *, p="a": None, "parameter 'p' needs a number as default."),
        (lambda b, ks, *, p=True: None, "parameter 'p' needs a number as default."),
    ],
)
def test_parameters_are_numbers(registry, function, said):
    with pytest.raises(ConfigError, match=f"metric 'mine': {said}"):
        metric(level="list", direction="higher", name="mine")(function)
    assert "mine" not in REGISTRY


def test_by_count_registers_a_twin_on_counts(registry):
    @metric(
        level="system", vector="creator_exposure", needs=("creator_id",), direction="lower",
        by_count=True, title="Most",
    )  # fmt: skip
    def most(x, *, share=0.5):
        """Who?"""
        return x.max(-1)

    spec, twin = REGISTRY["most"], REGISTRY["most_by_count"]
    assert (spec.vector, twin.vector) == ("creator_exposure", "creator_count")
    assert twin.title == "Most, by count"
    assert twin.function is spec.function is most
    assert twin.parameters == {"share": 0.5}
    for field in ("level", "direction", "needs", "family", "question", "range"):
        assert getattr(twin, field) == getattr(spec, field)


def test_a_twin_whose_name_is_taken_registers_neither(registry):
    metric(level="list", direction="higher", name="most_by_count")(lambda b, ks: None)
    with pytest.raises(ConfigError, match="'most_by_count' is already registered"):
        metric(
            level="system", vector="item_exposure", direction="lower", by_count=True, name="most"
        )(lambda x: x)
    assert "most" not in REGISTRY


BUILTIN = [name for name, spec in REGISTRY.items() if spec.function.__module__.startswith("audit.")]


@pytest.mark.parametrize("name", BUILTIN)
def test_every_metric_is_described(name):
    spec = REGISTRY[name]
    assert spec.question.endswith("?")
    assert spec.formula
    assert spec.citation
    assert spec.title != name or "_" not in name
    assert spec.needs <= set(NEEDS)
    assert spec.range[0] < spec.range[1]
    assert spec.family != "other"
    if spec.convention is not None:
        assert spec.convention(Conventions()).strip()
    assert str(parse(f"{name}@10")) == f"{name}@10"


def test_the_metrics_of_the_design():
    design = [
        "ndcg",
        "map",
        "mrr",
        "effective_rank",
        "precision",
        "recall",
        "hit_rate",
        "catalog_coverage",
        "tail_coverage",
        "tail_share",
        "item_gini",
        "effective_catalog",
        "creator_gini",
        "creator_coverage",
        "creator_top_share",
        "ild",
        "novelty",
        "arp",
        "serendipity",
        "unexpectedness",
        "mean_age",
        "median_age",
        "fresh_share",
        "fresh_coverage",
        "item_gini_by_count",
        "effective_catalog_by_count",
        "creator_gini_by_count",
        "tail_share_by_count",
        "creator_top_share_by_count",
    ]
    assert set(design) <= {name for name in BUILTIN if REGISTRY[name].default}


def test_conventions_are_printed_as_chosen():
    usual = Conventions()
    changed = Conventions(
        gain="linear", discount="log2_from_2", ideal="full_k", ap_denominator="min_k",
        precision_denominator="list_length", recall_denominator="min_k", untouched="drop",
        gini_population="exposed", gini_divisor="n_minus_1",
    )  # fmt: skip
    for name in ("ndcg", "map", "precision", "recall", "novelty", "item_gini", "creator_gini"):
        convention = REGISTRY[name].convention
        assert convention(usual) != convention(changed)
    assert REGISTRY["ndcg"].convention(usual) == (
        "gain 2^grade − 1; discount 1/log2(rank+1); ideal: best order of min(K, R) items"
    )
    assert REGISTRY["ndcg"].convention(changed) == (
        "gain grade; discount 1/log2(max(rank, 2)); ideal: K items of the top grade"
    )


def test_weightings_and_borders_are_printed_beside_their_numbers():
    usual = Conventions()
    other = Conventions(exposure="geometric", patience=0.7, head_share=0.9)

    def said(name, conventions):
        return REGISTRY[name].convention(conventions)

    assert said("item_gini", usual) == (
        "exposure: 1/log2(rank+1), divided by its sum over all K ranks; zeros included; divisor n"
    )
    assert said("effective_catalog", other) == (
        "exposure: 0.7^(rank−1), divided by its sum over all K ranks"
    )
    assert said("effective_catalog_by_count", usual) == "each shown item counts 1"
    assert said("tail_share", usual).startswith("attention: 1/log2(rank+1); head: ")
    assert said("tail_share", other).startswith("attention: 0.7^(rank−1); head: ")
    for name in ("tail_share", "tail_share_by_count", "tail_coverage"):
        assert "0.8 of history" in said(name, usual)
        assert "0.9 of history" in said(name, other)


def test_default_metrics_are_in_the_registrys_order():
    defaults = [name for name in BUILTIN if REGISTRY[name].default]
    assert [ref.name for ref in default_metrics() if ref.name in BUILTIN] == defaults


def test_closure_puts_parts_before_what_is_derived_of_them():
    refs = [parse("effective_rank@10"), parse("ndcg"), parse("mrr@10"), parse("effective_rank")]
    assert [str(ref) for ref in closure(refs)] == [
        "mrr@10", "effective_rank@10", "ndcg", "mrr", "effective_rank",
    ]  # fmt: skip


def test_closure_of_nothing_is_nothing():
    assert closure([]) == []


def test_vectors_and_items_name_their_needs():
    assert {vector.need for vector in VECTORS.values()} <= {None, *NEEDS}
    assert {selection.need for selection in ITEMS.values()} <= set(NEEDS)


# ----------------------------------------------------------------------------------- plugins


@pytest.fixture
def plugins(registry):
    """One metric of each level, as somebody outside would write them."""

    @metric(level="list", direction="higher", title="even slots")
    def even_share(b, ks):
        """Which share of the shown items has an even code?"""
        return b.shown_mean((b.item % 2 == 0).astype(float), ks)

    @metric(level="session", direction="lower", range=(0, np.inf), family="sessions")
    def lists_per_session(b, ks):
        """How many lists does a session hold?"""
        return np.broadcast_to(np.diff(b.sessions.start)[:, None], (len(b.sessions.user), len(ks)))

    @metric(level="pair", direction="higher", family="users")
    def overlap(a, b, ks):
        """Which share of the slots shows an item that the other list shows too?"""
        out = np.zeros((b.n, len(ks)))
        for row in range(b.n):
            left = a.item[a.start[row] : a.start[row + 1]]
            right = b.item[b.start[row] : b.start[row + 1]]
            for j, k in enumerate(ks):
                out[row, j] = len(set(left[:k]) & set(right[:k])) / k
        return out

    @metric(level="system", vector="item_exposure", direction="lower", by_count=True)
    def largest(x: F64, *, power: float = 1) -> F64:
        """Which share does the one item with most exposure get?"""
        return x.max(-1) ** power / x.sum(-1) ** power

    @metric(level="derived", of=("mrr", "precision"), direction="higher", range=(0, np.inf))
    def mrr_per_precision(mrr, precision):
        """Ratio?"""
        return mrr / precision

    @metric(level="derived", of=("ndcg", "largest"), direction="higher")
    def ndcg_times_largest(ndcg, largest):
        """Product?"""
        return ndcg * largest

    return [
        "even_share", "lists_per_session", "overlap", "largest", "mrr_per_precision",
        "ndcg_times_largest",
    ]  # fmt: skip


USERS = range(80)
A = {(user, 0): [user % 7, (user + 1) % 7, (user + 2) % 7] for user in USERS}
B = {(user, 0): [user % 5, (user + 1) % 5, 5 + user % 2] for user in USERS}
RELEVANT = {user: sorted({user % 7, user % 5}) for user in USERS}


def with_sessions(shown):
    return support.lists(shown, session={key: key[0] for key in shown}).to_pandas()


def relevance():
    return support.judged(RELEVANT).to_pandas()


def test_a_metric_of_each_level_is_evaluated(plugins):
    names = [name for name in plugins if name != "overlap"]
    found = audit.evaluate(
        with_sessions(B), relevance=relevance(), metrics=[*names, "largest_by_count"], k=(1, 3)
    )["value"]
    codes = {
        key: [sorted({i for of in B.values() for i in of}).index(i) for i in B[key]] for key in B
    }
    assert found["even_share@3"] == pytest.approx(
        sum(sum(c % 2 == 0 for c in of) / 3 for of in codes.values()) / len(B)
    )
    assert found["lists_per_session@3"] == 1
    firsts = [B[key][0] for key in B]
    assert found["largest@1"] == max(firsts.count(i) for i in range(7)) / len(firsts)
    shown = [i for key in B for i in B[key]]
    assert found["largest_by_count@3"] == max(shown.count(i) for i in range(7)) / len(shown)
    assert found["mrr_per_precision@3"] == pytest.approx(found["mrr@3"] / found["precision@3"])
    assert found["ndcg_times_largest@3"] == pytest.approx(found["ndcg@3"] * found["largest@3"])


def test_parameters_reach_a_metric_of_each_level(plugins):
    found = audit.evaluate(
        with_sessions(B), relevance=relevance(), metrics=["largest@3", "largest[power=2]@3"], k=(3,)
    )["value"]
    assert found["largest[power=2]@3"] == pytest.approx(found["largest@3"] ** 2)


def test_a_metric_of_each_level_is_compared(plugins):
    result = audit.compare(
        {"baseline": with_sessions(A), "candidate": with_sessions(B)},
        relevance=relevance(), metrics=plugins, k=(1, 3), viewport=3, guardrails="none",
    )  # fmt: skip
    card = result.scorecard.set_index(["metric", "segment"]).xs("all", level="segment")
    for name in [*plugins]:
        assert f"{name}@3" in card.index
        assert f"{name}@1" in card.index
    same = [len(set(A[key]) & set(B[key])) / 3 for key in A]
    assert card.loc["overlap@3", "candidate"] == pytest.approx(sum(same) / len(same))
    row = card.loc["ndcg_times_largest@3"]
    for model in ("baseline", "candidate"):
        product = card.loc["ndcg@3", model] * card.loc["largest@3", model]
        assert row[model] == pytest.approx(product)
    assert row["ci_low"] < row["difference"] < row["ci_high"]
    ratio = card.loc["mrr_per_precision@3"]
    assert ratio["ci_low"] < ratio["difference"] < ratio["ci_high"]
    assert card.loc["lists_per_session@3", "reading"] == "no change"


def test_identical_models_differ_by_nothing_under_any_plugin(plugins):
    result = audit.compare(
        {"baseline": with_sessions(A), "candidate": with_sessions(A)},
        relevance=relevance(), metrics=plugins, k=(3,), viewport=3, guardrails="none",
    )  # fmt: skip
    card = result.scorecard.set_index("metric")
    for name in plugins:
        if name != "overlap":
            assert card.loc[f"{name}@3", "difference"] == 0
            assert card.loc[f"{name}@3", "reading"] == "no change"
            assert card.loc[f"{name}@3", "p_value"] == 1
    assert card.loc["overlap@3", "candidate"] == 1


def test_plugins_are_in_both_reports(plugins, tmp_path):
    result = audit.compare(
        {"baseline": with_sessions(A), "candidate": with_sessions(B)},
        relevance=relevance(), k=(3,), viewport=3, guardrails="none",
    )  # fmt: skip
    titles = [REGISTRY[name].title for name in plugins]
    result.write_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8").lower()
    assert [title for title in titles if title not in page] == []
    # The PDF's text is compressed; what is set in it is this.
    text = (
        json.dumps(pdf.data(build_view(result)), ensure_ascii=False).replace("\u200b", "").lower()
    )
    assert [title for title in titles if title not in text] == []
    result.write_pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF-")


def test_a_metric_of_the_wrong_shape_is_told_so(registry):
    metric(level="list", direction="higher", name="flat")(lambda b, ks: np.zeros(b.n))
    with pytest.raises(ConfigError) as caught:
        support.scores({1: [1], 2: [2]}, ["flat"], k=(1, 2))
    assert str(caught.value) == (
        "metric 'flat' returned an array of shape (2,); a list metric returns (2, 2): one row per "
        "list, one column per K."
    )


@pytest.mark.parametrize("value", [np.inf, -np.inf, 2.0**40])
def test_a_metric_without_a_finite_value_is_told_so(registry, value):
    metric(level="list", direction="higher", name="endless")(
        lambda b, ks: np.full((b.n, len(ks)), value)
    )
    with pytest.raises(ConfigError, match="metric 'endless' returned an infinite value"):
        support.scores({1: [1], 2: [2]}, ["endless"], k=(1, 2))
