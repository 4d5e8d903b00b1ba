"""Results made by hand: one with everything (and hostile strings), one with next to nothing."""

from __future__ import annotations

import math

import pytest

from audit.render.view import ReportView, build_view
from audit.result import (
    AuditInfo,
    AuditResult,
    Balance,
    CategoryShare,
    Comparison,
    Exhibits,
    Finding,
    GuardrailResult,
    Issue,
    Joint,
    Loser,
    LostGained,
    MeanEvidence,
    Measurement,
    MetricInfo,
    ModelInfo,
    ModelVerdict,
    Population,
    Series,
    Source,
    SystemEvidence,
    Unavailable,
    UserChanges,
)
from audit.robustness import (
    AgeOfJudgments,
    Ends,
    JudgmentEffect,
    ModelTies,
    ReadDifference,
    Robustness,
    Staleness,
    TieEffect,
)

HOSTILE = {
    "script": "<script>alert('x')</script>",
    "template": "{{ 7 * 7 }} {% raw %}",
    "typst": '#panic("x") $x^2$ *bold* _it_ @ref <label> \\ `raw`',
    "long": "a" * 500,
    "rtl": "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u202egnp.exe",
    "emoji": "\U0001f600\U0001f469\u200d\U0001f52c",
    "cjk": "\u5bae\u5d0e\u99ff",
    "quotes": "\"><img src=http://evil.example/x onerror='y'> & ]]>",
    "control": "bell\x07null\x00tab\tline\nend",
}

CANDIDATES = ("ease", "ials")

#      metric, title, family, unit, direction, level, values of eigenrec, ease, ials, standard error
METRICS = (
    ("ndcg", "NDCG", "relevance", "", "higher", "list", (0.0851, 0.1282, 0.0921), 0.0037),
    ("map", "MAP", "relevance", "", "higher", "list", (0.0383, 0.0642, 0.0411), 0.0025),
    ("mrr", "MRR", "relevance", "", "higher", "list", (0.1802, 0.2471, 0.1893), 0.0094),
    ("precision", "precision", "relevance", "", "higher", "list", (0.0693, 0.0962, 0.0741), 0.0031),
    ("recall", "recall", "relevance", "", "higher", "list", (0.0922, 0.1413, 0.0961), 0.0052),
    ("hit_rate", "hit rate", "relevance", "", "higher", "list", (0.3911, 0.4816, 0.4003), 0.0161),
    ("effective_rank", "effective rank", "relevance", "rank", "lower", "derived", (5.55, 4.05, 5.28), 0.29),
    ("tail_share", "tail share", "coverage", "", "higher", "list", (0.1380, 0.0022, 0.1291), 0.0049),
    ("catalog_coverage", "catalog coverage", "coverage", "", "higher", "system", (0.4092, 0.1811, 0.3921), 0.0098),
    ("tail_coverage", "tail coverage", "coverage", "", "higher", "system", (0.2764, 0.0122, 0.2601), 0.0101),
    ("item_gini", "item exposure Gini", "concentration", "", "lower", "system", (0.8661, 0.9457, 0.8702), 0.0028),
    ("item_gini_by_count", "item exposure Gini, by count", "concentration", "", "lower", "system", (0.8546, 0.9393, 0.8591), 0.0027),
    ("effective_catalog", "effective catalog size", "concentration", "items", "higher", "system", (404.2, 151.7, 391.0), 9.1),
    ("creator_gini", "creator exposure Gini", "creators", "", "lower", "system", (0.7844, 0.8827, 0.7881), 0.0051),
    ("creator_coverage", "creator coverage", "creators", "", "higher", "system", (0.6984, 0.4008, 0.6865), 0.0143),
    ("creator_top_share", "top creators' share", "creators", "", "lower", "system", (0.1712, 0.2533, 0.1743), 0.0049),
    ("ild", "intra-list diversity", "diversity", "", "higher", "list", (0.5511, 0.5308, 0.5493), 0.0032),
    ("novelty", "novelty", "novelty", "bits", "higher", "list", (3.912, 2.604, 3.853), 0.021),
    ("arp", "popularity of what is shown", "novelty", "users", "lower", "list", (61.4, 121.9, 63.1), 0.9),
    ("serendipity", "serendipity", "novelty", "", "higher", "list", (0.0611, 0.0602, 0.0644), 0.0028),
    ("mean_age", "mean age", "freshness", "days", "target", "list", (5123.0, 4632.0, 5067.0), 41.0),
    ("median_age", "median age", "freshness", "days", "target", "list", (4380.0, 4011.0, 4377.0), 39.0),
    ("fresh_share", "fresh share", "freshness", "", "higher", "list", (0.0, 0.0, 0.0), 0.0),
)  # fmt: skip

GROWTH = {1: 0.82, 3: 0.86, 10: 1.0}


def _value(metric: str, at_viewport: float, k: int) -> float:
    return at_viewport if metric.startswith(("mean_age", "ild")) else at_viewport * GROWTH[k]


def _comparison(model: str, metric: str, level: str, a: float, b: float, se: float) -> Comparison:
    identical = a == b
    lower = metric.partition("@")[0] in ("item_gini", "item_gini_by_count", "creator_gini", "arp", "effective_rank", "creator_top_share")  # fmt: skip
    difference = b - a
    low, high = difference - 1.96 * se, difference + 1.96 * se
    relative = None if a == 0 else b / a - 1
    if identical or (relative is not None and max(abs(low / a), abs(high / a)) <= 0.01):
        reading = "no change"
    elif low > 0 or high < 0:
        reading = "better" if (difference > 0) is not lower else "worse"
    else:
        reading = "undecided"
    evidence: MeanEvidence | SystemEvidence
    if level == "list":
        evidence = MeanEvidence(
            users=652, difference=[low, difference, high], candidate=[b], se=(se, se, 0.0)
        )
    else:
        evidence = SystemEvidence(
            users=652, se=se, df=63, geff=21.5, candidate_se=se, linear=(se * se, se * se, 0.0)
        )
    return Comparison(
        model=model, metric=metric, baseline=a, candidate=b, difference=difference, relative=relative,
        ci_low=low, ci_high=high,
        relative_low=None if a == 0 else max(-1.0, low / a), relative_high=None if a == 0 else high / a,
        p_value=1.0 if identical else math.erfc(abs(difference / se) / math.sqrt(2)),
        reading=reading, identical=identical, evidence=evidence,
        note="few effective groups: approximate" if metric.startswith("creator_top_share") else "",
    )  # fmt: skip


def _guardrails(comparisons: list[Comparison], model: str) -> list[GuardrailResult]:
    found = []
    for base, kind, relative, bound, severity in (
        ("ndcg", "max_drop", True, 0.02, "fail"),
        ("tail_share", "max_drop", True, 0.10, "fail"),
        ("catalog_coverage", "max_drop", True, 0.10, "fail"),
        ("creator_coverage", "max_drop", True, 0.10, "fail"),
        ("item_gini", "max_rise", False, 0.02, "fail"),
        ("creator_gini", "max_rise", False, 0.02, "fail"),
        ("ild", "max_drop", True, 0.05, "warn"),
        ("novelty", "max_drop", True, 0.05, "warn"),
    ):
        metric = f"{base}@10"
        c = next(c for c in comparisons if c.model == model and c.metric == metric)
        observed, low, high = (
            (c.relative, c.relative_low, c.relative_high)
            if relative
            else (c.difference, c.ci_low, c.ci_high)
        )
        edge = -bound if kind == "max_drop" else bound
        crossed = [v < edge if kind == "max_drop" else v > edge for v in (low, high)]
        status = "breached" if all(crossed) else "undecided" if any(crossed) else "held"
        verb = "drop" if kind == "max_drop" else "rise"
        amount = f"{100 * bound:g}\u202f% of the baseline" if relative else f"{bound:g}"
        found.append(
            GuardrailResult(
                guardrail=f"{metric} may {verb} by at most {amount}", model=model, metric=metric, kind=kind,
                relative=relative, bound=bound, severity=severity, origin="profile", observed=observed,
                ci_low=low, ci_high=high, level=0.99375, p_value=0.0002, status=status,
                users_to_decide=2413 if status == "undecided" else None,
            )
        )  # fmt: skip
    return found


def _series(model: str, power: float) -> Series:
    xs = [i / 100 for i in range(101)]
    return Series(model=model, x=xs, y=[x**power for x in xs])


def _robustness(models: tuple[str, ...]) -> Robustness:
    """One model's scores tie, some items are unjudged, judgments are dated."""
    baseline, *candidates = models
    same = Ends(least=0.0851, expected=0.0851, most=0.0851)

    def values(a: float, b: float) -> ReadDifference:
        low, high = b - a - 0.004, b - a + 0.004
        return ReadDifference(baseline=a, candidate=b, difference=b - a, ci_low=low, ci_high=high)

    return Robustness(
        model_ties=[
            ModelTies(model=baseline, scored=False, lists=0, slots=0),
            *(ModelTies(model=m, scored=True, ranked=False, lists=0.4, slots=0.12) for m in candidates),
        ],
        ties=[
            TieEffect(
                model=m, metric=metric, baseline=same, candidate=Ends(least=0.08, expected=expected, most=0.131),
                expected=None if expected is None else values(0.0851, expected), lowest=-0.0051, highest=0.0459,
                plain=0.0431,
            )
            for m in candidates
            for metric, expected in (("ndcg@10", 0.12), ("map@10", None))
        ],
        judged_apart=True,
        judgments=[
            JudgmentEffect(model=m, metric=metric, reading=reading, values=values(a, b))
            for m in candidates
            for metric, reading, a, b in (
                ("ndcg@10", "irrelevant", 0.0851, 0.1282), ("ndcg@10", "condensed", 0.21, 0.23),
                ("ndcg@10", "adverse", 0.4, 0.11), ("map@10", "irrelevant", 0.03, 0.04),
            )
        ],
        staleness=Staleness(
            newest_list="2013-07-15", newest_judgment="2013-07-01", oldest_judgment="2012-01-01", median_age=77,
            undated=3, catalog_after=0.02, exposure_after=dict.fromkeys(models, 0.01),
            by_age=[
                AgeOfJudgments(days=7, judgments=100, relevant=40, shown=dict.fromkeys(models, 11.5)),
                AgeOfJudgments(days=365, judgments=10, relevant=0, shown=dict.fromkeys(models, 0.0)),
            ],
            newest_item="2013-06-30", catalog_gap=15, usual_gap=2,
        ),
    )  # fmt: skip


def full() -> AuditResult:
    """Two candidates, every family, findings, issues, hostile strings."""
    models = ("eigenrec", *CANDIDATES)
    infos = [
        MetricInfo(
            metric=name, title=title, question=f"What does {title} tell?", formula="Σ(2ᵍ − 1)/log₂(r + 1) ≤ 1",
            unit=unit, family=family, level=level, direction=direction,
            range=(0.0, None if unit else 1.0), convention="best achievable at min(K, relevant)",
            citation="Järvelin & Kekäläinen, ACM TOIS 20(4), 2002",
        )
        for name, title, family, unit, direction, level, _, _ in METRICS
    ]  # fmt: skip
    measurements, comparisons = [], []
    for name, _, _, _, _, level, values, se in METRICS:
        for k in (1, 3, 10):
            scaled = [_value(name, v, k) for v in values]
            for model, value in zip(models, scaled, strict=True):
                measurements.append(
                    Measurement(model=model, metric=f"{name}@{k}", value=value, n=652)
                )
            for model, value in zip(CANDIDATES, scaled[1:], strict=True):
                spread = se * (0.35 if model == "ials" else 1.0)
                comparisons.append(
                    _comparison(model, f"{name}@{k}", level, scaled[0], value, spread)
                )
    for segment, n, factor in (
        ("taste=blockbuster", 215, 1.1),
        ("taste=diverse", 240, 1.0),
        ("taste=niche", 197, 0.9),
    ):
        for name, _, _, _, _, level, values, se in METRICS:
            if name not in ("ndcg", "tail_share", "catalog_coverage"):
                continue
            metric = f"{name}@10"
            for model, value in zip(models, values, strict=True):
                measurements.append(
                    Measurement(
                        model=model, metric=metric, segment=segment, value=value * factor, n=n
                    )
                )
            for model, value in zip(CANDIDATES, values[1:], strict=True):
                c = _comparison(model, metric, level, values[0] * factor, value * factor, se * 1.7)
                comparisons.append(c.model_copy(update={"segment": segment}))
    guardrails = [g for model in CANDIDATES for g in _guardrails(comparisons, model)]
    findings = [
        Finding(
            rule="relevance_gain_starves_tail", severity="fail", model="ease",
            title="Relevance rose while the long tail starved",
            question="Does the gain in relevance come out of the long tail's exposure?",
            condition="ndcg@10 lies above 0 and tail_share@10 is breached.",
            evidence={
                "Gain in NDCG@10": "+0.043 (95\u202f% interval +0.036 to +0.050)",
                "Change of tail share": "\u22120.136 (95\u202f% interval \u22120.145 to \u22120.126)",
                "Exchange rate": "3.2 points of tail share lost for each point of NDCG gained",
                "Items that lost all exposure": "642, where 118 would by chance",
                "Tail's share of relevance": "27.3\u202f%, of exposure 13.8\u202f% before and 0.2\u202f% after",
            },
            meaning="Demand for the tail exists: 27.3\u202f% of what people found relevant lies there. "
            "The candidate does not follow demand, it withdraws supply.",
            advice="Rerank with a floor for tail exposure, or divide scores by popularity to the power 0.2.",
        ),
        Finding(
            rule="input_quality", severity="info", model="ials", title=HOSTILE["typst"],
            question="Is anything odd?", condition=HOSTILE["script"], evidence={HOSTILE["cjk"]: HOSTILE["emoji"]},
            meaning=HOSTILE["quotes"], advice=HOSTILE["template"],
        ),
    ]  # fmt: skip
    losers = [
        ("d1", "Krzysztof Kie\u015blowski", 0.0121, 0.0004),
        ("d2", HOSTILE["cjk"], 0.0093, 0.0),
        ("d3", HOSTILE["script"], 0.0081, 0.0011),
        ("d4", HOSTILE["long"], 0.0077, 0.0003),
        ("d5", HOSTILE["rtl"], 0.0065, 0.0),
        ("d6", HOSTILE["control"], 0.0051, 0.0),
        ("d7", "\u0410\u043d\u0434\u0440\u0435\u0439 \u0422\u0430\u0440\u043a\u043e\u0432\u0441\u043a\u0438\u0439", 0.0045, 0.0002),
    ]  # fmt: skip
    lost = [Loser(id=i, name=n, baseline=b, candidate=c) for i, n, b, c in losers]
    ages = [0.0, 365.25, 730.5, 1826.25, 3652.5, 7305.0, 14610.0]
    exhibits = Exhibits(
        lorenz_items=[_series(m, p) for m, p in zip(models, (14.0, 35.0, 14.4), strict=True)],
        lorenz_creators=[_series(m, p) for m, p in zip(models, (8.3, 16.0, 8.5), strict=True)],
        deciles=[
            Series(model=m, x=[float(i) for i in range(1, 11)], y=ys)
            for m, ys in (
                ("eigenrec", [0.58, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005, 0.003, 0.002]),
                ("ease", [0.93, 0.06, 0.008, 0.002, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
                ("ials", [0.60, 0.2, 0.1, 0.04, 0.02, 0.02, 0.01, 0.006, 0.003, 0.001]),
                ("relevance", [0.47, 0.2, 0.12, 0.07, 0.05, 0.035, 0.025, 0.015, 0.01, 0.005]),
            )
        ],
        ages=[
            Series(model=m, x=ages, y=ys)
            for m, ys in (
                ("eigenrec", [0.01, 0.02, 0.12, 0.25, 0.36, 0.17, 0.07]),
                ("ease", [0.02, 0.03, 0.15, 0.32, 0.35, 0.1, 0.03]),
                ("ials", [0.01, 0.02, 0.13, 0.26, 0.36, 0.16, 0.06]),
            )
        ],
        lost_gained={
            model: [
                LostGained(what="items", baseline=983, candidate=c, lost=lost_n, gained=g, expected=118.2, lost_low=lost_n - 31, lost_high=lost_n + 31, gained_low=g - 9, gained_high=g + 9),
                LostGained(what="creators", baseline=352, candidate=cc, lost=lc, gained=gc, expected=31.4),
            ]
            for model, c, lost_n, g, cc, lc, gc in (("ease", 435, 642, 94, 202, 171, 21), ("ials", 942, 151, 110, 346, 34, 28))
        },
        items_lost={"ease": lost[:3], "ials": lost[3:5]},
        creators_lost={"ease": lost},
        creators_gained={
            "ease": [Loser(id="d9", name="Hayao Miyazaki", baseline=0.0101, candidate=0.0544, rank_baseline=9, rank_candidate=1)]
        },
        balance=[Balance(model="ease", what="creators", more=71, less=281, same=152)],
        joint=[Joint(model=m, x="ndcg@10", y="tail_share@10", correlation=-0.4) for m in CANDIDATES],
        user_changes=[
            UserChanges(
                model=m, metric="ndcg@10", users=652, better=b, same=round(1 - b - w, 6), worse=w, edges=[-1.0, -0.5, 0.0, 0.5, 1.0],
                shares=[0.0, w, b, 0.0],
            )
            for m, b, w in (("ease", 0.37, 0.21), ("ials", 0.3, 0.28))
        ],
        categories=[
            CategoryShare(category=name, catalog=c, history=h, relevance=h, categories=n, shown=dict(zip(models, shown, strict=True)))
            for name, n, c, h, shown in (
                (HOSTILE["script"], 1, 0.5, 0.55, (0.6, 0.8, 0.6)),
                ("Drama", 1, 0.3, 0.3, (0.3, 0.2, 0.3)),
                ("", 7, 0.2, 0.15, (0.1, 0.0, 0.1)),
            )
        ],
    )  # fmt: skip
    return AuditResult(
        audit=AuditInfo(
            name="Home feed, candidate 7", surface="feed", k=[1, 3, 10], viewport=10, headline="ndcg@10",
            baseline="eigenrec", candidates=list(CANDIDATES), as_of="2013-07-15T00:00:00Z",
            config={"audit": {"name": "Home feed, candidate 7", "k": [1, 3, 10]}, "odd": HOSTILE},
        ),
        population=Population(
            users=652, users_with_relevant=652, users_without_lists=12, items=2402, catalog_given=True,
            creators=504, head_items=611, tail_items=1791, head_border_ties=7, tail_relevance_share=0.273,
            embedding_source="TF-IDF over categories and titles, truncated SVD to 24 dimensions",
        ),
        models=[
            ModelInfo(
                name=m, role="baseline" if m == "eigenrec" else "candidate", users=652, lists=652, slots=6520,
                short_lists=0, exposure_without_creator=0.13, exposure_outside_catalog=0.0004,
            )
            for m in models
        ],
        conventions={"gain": "exponential", "discount": "log2", "ties": "input_order", "head_share": 0.8},
        metrics=infos,
        measurements=measurements,
        comparisons=comparisons,
        guardrail_results=guardrails,
        findings=findings,
        verdicts=[
            ModelVerdict(
                model="ease", verdict="fail",
                reason="NDCG@10 rose by 51\u202f%, but tail share fell by 98\u202f%, and five other guardrails are breached.",
            ),
            ModelVerdict(model="ials", verdict="inconclusive", reason="Two guardrails are undecided with 652 users."),
        ],
        exhibits=exhibits,
        robustness=_robustness(models),
        issues=[
            Issue(
                check="no_creator", severity="warning", table="catalog", column="creator_id", count=817, total=2402,
                message="Items have no creator.", remedy="Fill in the creator, or read creator measures with care.",
                examples=[HOSTILE["script"], HOSTILE["emoji"], "tt0111161"],
            ),
            Issue(check="short", severity="info", table="recommendations 'ease'", count=3, message="Lists are short.", remedy="Nothing."),
        ],
        unavailable=[
            Unavailable(metric="session_ild", reason="needs 'session_id' in the recommendations"),
            Unavailable(metric="session_repeat", reason="needs 'session_id' in the recommendations"),
        ],
        sources=[
            Source(table="catalog", name="catalog.parquet", rows=2402, fingerprint="9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
            Source(table="relevance", name=HOSTILE["quotes"], rows=9724, fingerprint="60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"),
        ],
        versions={"recaudit": "0.1.0", "python": "3.11", "numpy": "2.4.1"},
    )  # fmt: skip


def minimal() -> AuditResult:
    """One candidate, two metrics, no catalog, no creators, no history, ten users."""
    comparisons = [
        Comparison(model="b", metric="ndcg@5", baseline=0.2, candidate=0.3, difference=0.1, relative=0.5, reading="undecided", note="fewer than 50 users: no interval"),
        Comparison(model="b", metric="catalog_coverage@5", baseline=None, candidate=None, difference=None, reading="undecided"),
    ]  # fmt: skip
    return AuditResult(
        audit=AuditInfo(name="Small", surface="list", k=[5], viewport=5, headline="ndcg@5", baseline="a", candidates=["b"]),
        population=Population(users=10, users_with_relevant=9, items=31, catalog_given=False),
        models=[
            ModelInfo(name=m, role=r, users=10, lists=10, slots=50, short_lists=1)  # type: ignore[arg-type]
            for m, r in (("a", "baseline"), ("b", "candidate"))
        ],
        conventions={"gain": "exponential"},
        metrics=[
            MetricInfo(metric="ndcg", title="NDCG", question="Is the order good?", formula="DCG / ideal DCG", unit="", family="relevance", level="list", direction="higher", range=(0.0, 1.0)),
        ],
        measurements=[
            Measurement(model=m, metric="ndcg@5", value=v, n=9) for m, v in (("a", 0.2), ("b", 0.3))
        ],
        comparisons=comparisons,
        guardrail_results=[
            GuardrailResult(
                guardrail="tail_share@5 may drop by at most 10\u202f% of the baseline", model="b", metric="tail_share@5", kind="max_drop",
                relative=True, bound=0.1, severity="fail", origin="profile", observed=None, status="not measured", note="needs a history table",
            )
        ],
        findings=[],
        verdicts=[ModelVerdict(model="b", verdict="inconclusive", reason="Ten users decide nothing.")],
        exhibits=Exhibits(),
        issues=[],
        unavailable=[
            Unavailable(metric="tail_share", reason="needs a history table"),
            Unavailable(metric="item_gini", reason="needs a catalog"),
            Unavailable(metric="creator_gini", reason="needs 'creator_id' in the catalog"),
            Unavailable(metric="mean_age", reason="needs 'created_at' in the catalog"),
            Unavailable(metric="ild", reason="needs item embeddings"),
        ],
        sources=[],
        versions={"recaudit": "0.1.0"},
    )  # fmt: skip


@pytest.fixture(scope="session")
def full_result() -> AuditResult:
    """See :func:`full`."""
    return full()


@pytest.fixture(scope="session")
def minimal_result() -> AuditResult:
    """See :func:`minimal`."""
    return minimal()


def many(n: int = 8) -> AuditResult:
    """:func:`full` with ``n`` candidates: those of the full result under other names."""
    base = full()
    names = [f"candidate {i} of a long series" for i in range(1, n + 1)]
    source = {name: CANDIDATES[i % 2] for i, name in enumerate(names)}

    def spread(entries: list) -> list:
        kept = [e for e in entries if e.model not in CANDIDATES]
        return kept + [
            e.model_copy(update={"model": name})
            for name, original in source.items()
            for e in entries
            if e.model == original
        ]

    by_model = {
        field: {name: getattr(base.exhibits, field).get(old, []) for name, old in source.items()}
        for field in ("lost_gained", "items_lost", "creators_lost")
    }
    series = {
        f: spread(getattr(base.exhibits, f))
        for f in ("lorenz_items", "lorenz_creators", "deciles", "ages")
    }
    infos = [base.models[0]]
    infos += [base.models[1].model_copy(update={"name": name}) for name in names]
    return base.model_copy(
        update={
            "audit": base.audit.model_copy(update={"candidates": names}),
            "models": infos,
            "exhibits": Exhibits(**series, **by_model),
            **{
                field: spread(getattr(base, field))
                for field in (
                    "measurements",
                    "comparisons",
                    "guardrail_results",
                    "findings",
                    "verdicts",
                )
            },
        }
    )


@pytest.fixture(scope="session")
def many_result() -> AuditResult:
    """See :func:`many`."""
    return many()


@pytest.fixture(scope="session")
def views(full_result, minimal_result, many_result) -> dict[str, ReportView]:
    """The views of the three results; their figures are drawn once."""
    found = {"full": full_result, "minimal": minimal_result, "many": many_result}
    return {name: build_view(result) for name, result in found.items()}


@pytest.fixture(scope="session")
def hostile() -> dict[str, str]:
    """Strings that a careless renderer would obey."""
    return HOSTILE
