from __future__ import annotations

import gc
import math
import tomllib

import pytest

from audit.render.sections.experience import band
from audit.render.sections.exposure import top_share
from audit.render.view import (
    Callout,
    Code,
    Figure,
    Heading,
    KeyNumbers,
    Pointers,
    Row,
    SignOff,
    Table,
    Text,
    Variants,
    build_view,
    slug,
)
from audit.result import AuditResult, MetricInfo, Series

SECTIONS = [
    "verdict", "gains", "who-pays", "experience", "belief", "methods", "every-number", "provenance",
    "sign-off",
]  # fmt: skip


def table(view, name: str) -> Table:
    return next(t for t in view.tables() if t.id == name)


def row(found: Table, first: str) -> Row:
    return next(r for r in found.rows if r.cells[0].text == first)


@pytest.fixture(params=["full", "minimal", "many"])
def result(request, full_result, minimal_result, many_result) -> AuditResult:
    return {"full": full_result, "minimal": minimal_result, "many": many_result}[request.param]


def test_sections_follow_a_readers_questions(result):
    assert [s.id for s in build_view(result).sections] == SECTIONS


def test_ids_are_unique_and_fit_for_anchors(result):
    view = build_view(result)
    ids = [s.id for s in view.sections]
    ids += [b.id for b in view.blocks() if not isinstance(b, (Text, KeyNumbers))]
    ids += [f.data.id for f in view.figures()]
    ids += [i.table.id for b in view.blocks() if isinstance(b, Variants) for i in b.items]
    assert len(ids) == len(set(ids))
    assert all(name == slug(name) for name in ids)


def test_every_row_has_a_cell_a_column(result):
    for found in build_view(result).tables():
        assert {len(r.cells) for r in found.rows} <= {len(found.columns)}, found.id


def test_figures_have_a_caption_and_an_alternative_that_do_not_repeat_each_other(full_result):
    figures = {f.id: f for f in build_view(full_result).figures()}
    assert list(figures) == [
        "trade-off", "forest", "lorenz-items", "lorenz-creators", "deciles", "categories",
        "movers-items-ease", "movers-items-ials", "movers-creators-ease", "user-changes", "segments-ease",
        "segments-ials", "ages", "at-k",
    ]  # fmt: skip
    for figure in figures.values():
        assert figure.caption
        assert figure.alt
        assert figure.caption not in figure.alt
        assert figure.alt not in figure.caption
        assert figure.data.rows


def test_first_page_decides(full_result):
    view = build_view(full_result)
    first = view.sections[0].blocks
    assert view.verdict == "fail"
    assert view.verdict_label == "Fail"
    assert view.reason == "ease: " + full_result.verdicts[0].reason
    assert isinstance(first[0], KeyNumbers)
    assert [n.label for n in first[0].items] == [
        "NDCG@10", "Tail share@10", "Catalog coverage@10", "Creator coverage@10",
        "Item exposure Gini@10",
    ]  # fmt: skip
    assert isinstance(first[1], Figure)
    assert first[1].id == "trade-off"


def test_key_number_is_formatted_to_its_interval(full_result):
    numbers = build_view(full_result).sections[0].blocks[0]
    assert isinstance(numbers, KeyNumbers)
    headline = numbers.items[0]
    a, b, se = 0.0851, 0.1282, 0.0037
    assert headline.value == f"+{100 * (b / a - 1):.0f}\u202f%"
    assert headline.detail == "0.085 → 0.128"
    low, high = ((b - a - 1.96 * se) / a, (b - a + 1.96 * se) / a)
    assert headline.interval == (
        f"95\u202f% interval +{100 * low:.0f}\u202f% to +{100 * high:.0f}\u202f%"
    )
    assert headline.reading == "better"
    assert headline.tone == "good"
    tail = numbers.items[1]
    assert tail.value.startswith("\u2212")  # a true minus sign
    assert tail.tone == "bad"


def test_trade_off_caption_names_who_starves_the_tail(full_result):
    figure = next(build_view(full_result).figures())
    assert figure.caption == "ease and ials gain relevance by taking exposure from the long tail."
    assert "ease: NDCG@10 +51" in figure.alt


def test_scorecard_row(full_result):
    found = row(table(build_view(full_result), "scorecard-ease"), "Item exposure Gini@10")
    texts = [c.text for c in found.cells]
    assert texts == [
        "Item exposure Gini@10", "0.866", "0.946", "+0.080", "+0.074 to +0.085",
        f"+{100 * (0.9457 / 0.8661 - 1):.1f}\u202f%", "<\u202f0.001", "worse",
    ]  # fmt: skip
    assert found.cells[1].value == 0.8661
    assert found.group.startswith("Concentration")


def test_scorecard_holds_the_viewport_weighted_by_exposure(full_result):
    names = [r.cells[0].text for r in table(build_view(full_result), "scorecard-ease").rows]
    assert "NDCG@10" in names
    assert not [n for n in names if "@1 " in n or n.endswith(("@1", "@3")) or "by count" in n]
    every = table(build_view(full_result), "all-values")
    assert [c.title for c in every.columns[3:]] == ["K = 1", "K = 3", "K = 10"]
    values = {
        (r.cells[0].text, r.cells[1].text): [c.value for c in r.cells[3:]] for r in every.rows
    }
    assert values["NDCG", "ease"] == pytest.approx([0.1282 * 0.82, 0.1282 * 0.86, 0.1282])
    assert ("Item exposure Gini, by count", "eigenrec") in values


def test_metrics_of_unknown_families_are_shown_too(full_result):
    info = MetricInfo(
        metric="mine", title="mine", question="Is it mine?", formula="1", unit="", family="strange",
        level="list", direction="higher", range=(0.0, 1.0),
    )  # fmt: skip
    c = full_result.comparisons[0].model_copy(update={"metric": "mine@10"})
    changed = full_result.model_copy(
        update={
            "metrics": [*full_result.metrics, info],
            "comparisons": [*full_result.comparisons, c],
        }
    )
    found = row(table(build_view(changed), "scorecard-ease"), "Mine@10")
    assert found.group == "Strange"


def test_lost_and_gained_stand_beside_chance(full_result):
    found = table(build_view(full_result), "lost-gained").rows[0]
    assert [c.text for c in found.cells] == ["Items", "983", "435", "642", "94", "118"]
    assert found.cells[3].detail == "611 to 673"


def test_demand_is_set_against_supply(full_result):
    pays = build_view(full_result).sections[2]
    lead = pays.blocks[0]
    assert isinstance(lead, Text)
    assert "27.3\u202f%" in lead.text
    assert "ease gives it 0.2\u202f%" in lead.text


def test_a_result_without_families_says_what_is_missing_and_why(minimal_result):
    view = build_view(minimal_result)
    texts = " ".join(b.text for b in view.blocks() if isinstance(b, Text))
    assert "trade-off plane is not drawn" in texts
    assert "needs a history table." in texts
    assert "needs 'creator_id' in the catalog." in texts
    assert "needs 'created_at' in the catalog." in texts
    assert [f.id for f in view.figures()] == ["forest", "at-k"]
    warning = next(b for b in view.blocks() if isinstance(b, Callout))
    assert warning.title == "Only 10 users"
    guardrail = table(view, "guardrails").rows[0]
    assert guardrail.cells[1].text == "not measured"


def test_a_result_without_anything_compared_renders(minimal_result):
    bare = minimal_result.model_copy(
        update={"comparisons": [], "measurements": [], "metrics": [], "guardrail_results": []}
    )
    view = build_view(bare)
    assert isinstance(view.sections[0].blocks[0], Text)
    assert not list(view.figures())


def test_nan_reads_as_missing(full_result):
    comparisons = [c.model_copy(update={"p_value": math.nan}) for c in full_result.comparisons]
    changed = full_result.model_copy(update={"comparisons": comparisons})
    found = row(table(build_view(changed), "scorecard-ease"), "NDCG@10")
    assert found.cells[6].text == "–"


def test_undecided_guardrails_say_how_many_users_would_decide(full_result):
    first = full_result.guardrail_results[0].model_copy(
        update={"status": "undecided", "users_to_decide": 2413}
    )
    changed = full_result.model_copy(update={"guardrail_results": [first]})
    found = table(build_view(changed), "power-table").rows[0]
    assert found.cells[2].text == "2,413"
    assert (
        "2,413 users would decide" in table(build_view(changed), "guardrails").rows[0].cells[5].text
    )


def test_users_that_would_decide_a_segment_are_the_segments(full_result):
    first = full_result.guardrail_results[0].model_copy(
        update={"status": "undecided", "users_to_decide": 440, "segment": "country=DE"}
    )
    changed = full_result.model_copy(update={"guardrail_results": [first]})
    cells = table(build_view(changed), "guardrails").rows[0].cells
    assert "about 440 users of country=DE would decide" in cells[5].text


def test_loaded_results_give_the_same_view(full_result):
    loaded = AuditResult.model_validate_json(full_result.to_json())
    assert build_view(loaded) == build_view(full_result)


def test_the_latest_view_is_shared_and_does_not_keep_the_result_alive(minimal_result):
    copy = minimal_result.model_copy()
    view = build_view(copy)
    assert build_view(copy) is view
    other = minimal_result.model_copy()
    del copy
    gc.collect()
    assert build_view(other) is not view


def test_headings_come_inside_sections(result):
    for section in build_view(result).sections:
        for heading in (b for b in section.blocks if isinstance(b, Heading)):
            assert heading.text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.0, 7.0, "0–7 d"),
        (90.0, 365.0, "90–365 d"),
        (0.0, 365.25, "0–1 y"),
        (365.0, 730.0, "1–2 y"),
        (20 * 365.0, 40 * 365.0, "20–40 y"),
        (40 * 365.0, None, "40 y +"),
        (400.0, None, "400 d +"),
    ],
)
def test_age_bands(low, high, text):
    assert band(low, high) == text


def test_top_share_of_a_lorenz_curve():
    equal = Series(model="m", x=[0.0, 0.5, 1.0], y=[0.0, 0.5, 1.0])
    assert top_share(equal, 0.1) == pytest.approx(0.1)
    one_has_all = Series(model="m", x=[0.0, 0.9, 1.0], y=[0.0, 0.0, 1.0])
    assert top_share(one_has_all, 0.1) == pytest.approx(1.0)
    assert top_share(one_has_all, 0.05) == pytest.approx(0.5)


def test_winners_and_losers_by_rank_with_the_balance(full_result):
    view = build_view(full_result)
    figure = next(f for f in view.figures() if f.id == "movers-creators-ease")
    assert (
        "281 creators get a smaller share of exposure, 71 a larger one and 152 the same"
        in figure.caption
    )
    assert figure.caption.endswith("Krzysztof Kieślowski loses most and Hayao Miyazaki gains most.")
    winner = figure.data.rows[-1]
    assert winner.group == "Gained most"
    assert [c.text for c in winner.cells[1:]] == ["1.01\u202f%", "5.44\u202f%", "+4.43", "9 → 1"]


def test_users_by_how_they_fare_are_said_in_words_and_numbers(full_result):
    figure = next(f for f in build_view(full_result).figures() if f.id == "user-changes")
    assert (
        "More users are better off than worse off under ease, but many pay for it."
        in figure.caption
    )
    assert "About as many users are better off as worse off under ials." in figure.caption
    assert "ease: 37.0\u202f% better, 42.0\u202f% the same, 21.0\u202f% worse" in figure.alt


def test_small_segments_are_suppressed_and_counted(full_result):
    few = [
        m.model_copy(update={"n": 49}) if m.segment == "taste=niche" else m
        for m in full_result.measurements
    ]
    view = build_view(full_result.model_copy(update={"measurements": few}))
    figure = next(f for f in view.figures() if f.id == "segments-ease")
    assert "1 segment of fewer than 50 users" in figure.caption
    assert "taste: niche (n = 49): NDCG@10 under 50 users" in figure.alt


def test_a_finding_stands_where_its_question_is_answered_and_is_named_on_the_first_page(
    full_result,
):
    first, *_ = full_result.findings
    others = [
        first.model_copy(update={"rule": rule, "severity": severity, "title": rule})
        for rule, severity in (
            ("stale_catalog", "warn"),
            ("a_new_rule", "info"),
            ("fine_per_list_repetitive_per_session", "warn"),
        )
    ]
    view = build_view(full_result.model_copy(update={"findings": [first, *others]}))
    place = {b.title: s.id for s in view.sections for b in s.blocks if isinstance(b, Callout)}
    assert {name.removeprefix("ease: "): where for name, where in place.items()} == {
        first.title: "verdict",
        "stale_catalog": "belief",
        "a_new_rule": "gains",
        "fine_per_list_repetitive_per_session": "experience",
    }
    (pointers,) = [b for b in view.sections[0].blocks if isinstance(b, Pointers)]
    anchors = {b.id for b in view.blocks() if isinstance(b, Callout)}
    assert [p.target in anchors for p in pointers.items] == [True] * 4
    assert [p.label for p in pointers.items] == ["Fail", "Warning", "Note", "Warning"]


def test_scorecards_at_every_k_are_variants_and_paper_shows_those_at_the_viewport(
    full_result, many_result
):
    (found,) = [b for b in build_view(full_result).blocks() if isinstance(b, Variants)]
    assert found.axes == ("Candidate", "K")
    assert {i.labels for i in found.items} == {
        (m, k) for m in ("ease", "ials") for k in ("1", "3", "10")
    }
    assert [t.id for t in found.main] == ["scorecard-ease", "scorecard-ials"]
    at_3 = next(i.table for i in found.items if i.labels == ("ease", "3"))
    assert row(at_3, "NDCG@3").cells[2].value == pytest.approx(0.1282 * 0.86)
    (many,) = [b for b in build_view(many_result).blocks() if isinstance(b, Variants)]
    assert {i.labels[1] for i in many.items} == {
        "10"
    }  # eight candidates at three Ks would be 24 tables


def test_with_more_models_than_ks_every_number_has_a_column_a_model(many_result):
    found = table(build_view(many_result), "all-values")
    assert [c.title for c in found.columns[2:]] == ["eigenrec", *many_result.audit.candidates]
    assert row(found, "NDCG@3").cells[2].value == pytest.approx(0.0851 * 0.86)


def test_the_last_section_is_to_be_signed(full_result):
    last = build_view(full_result).sections[-1]
    (form,) = [b for b in last.blocks if isinstance(b, SignOff)]
    assert ("Verdict", "Fail") in form.facts
    assert {name for name, _ in form.fields} == {
        "Conditions",
        "Reviewer and role",
        "Date",
        "Signature",
    }


def test_the_configuration_is_toml_that_reads_as_it_was_given(full_result, hostile):
    view = build_view(full_result)
    text = next(b.text for b in view.blocks() if isinstance(b, Code))
    assert tomllib.loads(text) == full_result.audit.config


def test_slug():
    assert slug("Scorecard", "Ä <b>") == "scorecard-b"
    assert slug("漢字") == "part"
    assert len(slug("x" * 500)) == 60


def test_captions_speak_of_like_candidates_together(many_result):
    forest = next(f for f in build_view(many_result).figures() if f.id == "forest")
    assert forest.caption.count("cross the guardrails of") == 1
    assert forest.caption.count("cross no guardrail; their largest clear change is in") == 1


def test_the_verdict_is_not_said_twice(minimal_result):
    verdict = minimal_result.verdicts[0].model_copy(
        update={"reason": "Inconclusive: no user decides: too few."}
    )
    changed = minimal_result.model_copy(update={"verdicts": [verdict]})
    assert build_view(changed).reason == "No user decides: too few."


def test_a_relative_change_without_limits_gives_way_to_the_difference(full_result):
    changed = full_result.model_copy(
        update={
            "comparisons": [
                c.model_copy(update={"relative_low": None, "relative_high": None})
                if c.metric == "tail_share@10"
                else c
                for c in full_result.comparisons
            ]
        }
    )
    view = build_view(changed)
    numbers = view.sections[0].blocks[0]
    assert isinstance(numbers, KeyNumbers)
    assert numbers.items[1].value == "\u22120.136"
    assert numbers.items[1].interval == "95\u202f% interval \u22120.145 to \u22120.126"
    plane = next(view.figures())
    assert plane.caption == "ease and ials gain relevance by taking exposure from the long tail."
