"""What the report says of stages, changes, creators' groups, gaps and sessions, from tables to text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import audit
from audit.render.formats import html
from audit.render.view import Figure, ReportView, Table, Text, build_view

USERS = 120


def lists(depth: int, *, sessions: bool, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = [
        (u, f"r{r}", f"s{u % 2}", int(i), rank)
        for u in range(USERS)
        for r in range(3)
        for rank, i in enumerate(rng.choice(40, depth, replace=False), 1)
    ]
    frame = pd.DataFrame(rows, columns=["user_id", "request_id", "session_id", "item_id", "rank"])
    return frame if sessions else frame.drop(columns="session_id")


def compare(depth: int = 8, *, sessions: bool = True, groups: bool = True) -> audit.AuditResult:
    rng = np.random.default_rng(0)
    creators = pd.DataFrame({"creator_id": [f"c{i}" for i in range(9)]})
    if groups:
        creators["kind"] = ["x", "y", "z"] * 3
    return audit.compare(
        {
            "baseline": lists(depth, sessions=sessions, seed=1),
            "candidate": lists(depth, sessions=sessions, seed=2),
        },
        relevance=pd.DataFrame(
            [(u, int(i)) for u in range(USERS) for i in rng.choice(40, 5, replace=False)],
            columns=["user_id", "item_id"],
        ),
        catalog=pd.DataFrame(
            {"item_id": range(40), "creator_id": [f"c{i % 9}" for i in range(40)]}
        ),
        creators=creators,
        users=pd.DataFrame({"user_id": range(USERS), "country": ["nl", "de"] * (USERS // 2)}),
        viewport=4, k=[1, 4], guardrails="none",
    )  # fmt: skip


@pytest.fixture(scope="module")
def whole() -> audit.AuditResult:
    return compare()


@pytest.fixture(scope="module")
def view(whole: audit.AuditResult) -> ReportView:
    return build_view(whole)


def test_gaps_of_the_headline_whole_and_of_other_metrics_the_gap(view, whole):
    tables = blocks(view)
    headline = whole.audit.headline
    assert [row.cells[0].text for row in tables["gaps-candidate"].rows] == [
        "Worst group", "Gap, best to worst", "Ratio, worst to best", "Mean difference of pairs",
    ]  # fmt: skip
    others = tables["gaps-others-candidate"].rows
    gaps = {g.metric: g for g in whole.exhibits.gaps if g.summary == "gap"}
    assert len(others) == len(gaps) - 1 >= 4
    assert [row.cells[2].value for row in others] == [
        g.candidate for m, g in gaps.items() if m != headline
    ]


def test_calibration_by_kind_of_taste():
    rng = np.random.default_rng(5)
    chance = 1 / np.arange(1, 41)
    history = [
        (u, int(i)) for u in range(USERS) for i in rng.choice(40, 8, False, chance / chance.sum())
    ]
    result = audit.compare(
        {m: lists(4, sessions=False, seed=s) for m, s in (("baseline", 1), ("candidate", 2))},
        relevance=pd.DataFrame({"user_id": range(USERS), "item_id": 1}),
        history=pd.DataFrame(history, columns=["user_id", "item_id"]),
        catalog=pd.DataFrame({"item_id": range(40), "categories": [["xyz"[i % 3]] for i in range(40)]}),
        metrics=["upd", "category_kl", "category_js"], viewport=4, k=[4], guardrails="none",
    )  # fmt: skip
    table = blocks(build_view(result))["calibration-candidate"]
    names = [
        "category_kl@4",
        "category_js@4",
        "upd_niche@4",
        "upd_diverse@4",
        "upd_blockbuster@4",
        "upd@4",
    ]
    assert len(table.rows) == len(names)  # what UPD is derived of is shown with it
    assert table.rows[0].cells[1].text == "Category miscalibration (KL)@4 (nats)"
    scores = result.scorecard.set_index("metric")
    for row, name in zip(table.rows, names, strict=True):
        assert row.cells[2].value == scores.loc[name, "baseline"]
        assert row.cells[4].value == scores.loc[name, "difference"]
        assert bool(row.cells[4].detail) == np.isfinite(scores.loc[name, "ci_low"])


def blocks(view: ReportView) -> dict[str, Any]:
    return {
        block.id: block
        for section in view.sections
        for block in section.blocks
        if isinstance(block, (Table, Figure))
    }


def texts(view: ReportView) -> str:
    return " ".join(b.text for s in view.sections for b in s.blocks if isinstance(b, Text))


def test_stages(whole, view):
    table = blocks(view)["stages"]
    assert [row.cells[0].text for row in table.rows] == ["baseline", "candidate"] * 2
    ndcg, ceiling, efficiency = (cell.value for cell in table.rows[1].cells[1:4])
    assert ndcg == pytest.approx(ceiling * efficiency)
    assert [row.group for row in table.rows[::2]] == ["The first position", "The first 4 positions"]


def test_changes(whole, view):
    table = blocks(view)["changes"]
    assert [row.cells[1].text for row in table.rows] == [
        "Lists' overlap (Jaccard)@4", "Lists' overlap by rank (RBO)@4",
    ]  # fmt: skip
    # Pair metrics have no better and worse, so the scorecard does not count them.
    assert all("overlap" not in row.cells[0].text for row in blocks(view)["forest"].data.rows)
    assert whole.comparison("candidate", "rbo@4") is not None


def test_creators(whole, view):
    table = blocks(view)["creator-groups-candidate-kind"]
    assert [row.cells[0].text for row in table.rows] == ["x", "y", "z"]
    assert sum(row.cells[4].value for row in table.rows) == pytest.approx(1)
    assert all(row.cells[5].detail and row.cells[6].detail for row in table.rows)


def test_gaps(view):
    table = blocks(view)["gaps-candidate"]
    assert [row.cells[0].text for row in table.rows] == [
        "Worst group", "Gap, best to worst", "Ratio, worst to best", "Mean difference of pairs",
    ]  # fmt: skip
    assert {row.group for row in table.rows} == {"country (2 groups)"}
    assert table.rows[0].cells[1].detail in ("nl", "de")


def test_sessions(view):
    figure = blocks(view)["session-repetition"]
    assert [row.cells[0].text for row in figure.data.rows] == ["1", "2", "3"]
    assert figure.data.rows[0].cells[1].value == 0
    assert "<svg" in figure.svg
    assert "session-relevance" in blocks(view)


def test_the_headline_is_explained(view):
    assert (
        "The surface is “feed”, so the verdict turns on NDCG@4: K = 4 is what people see"
        in texts(view)
    )


def test_what_cannot_be_seen_is_said():
    poor = build_view(compare(depth=4, sessions=False, groups=False))
    said = texts(poor)
    assert "Sessions could not be seen: no 'session_id' in" in said
    assert "Retrieval and ranking cannot be told apart: no pool" in said
    assert "its lists end at the viewport of 4" in said
    assert "Creators have no groups here" in said
    assert not {"stages", "session-repetition"} & set(blocks(poor))


def test_the_page_shows_them(whole):
    view = build_view(whole)
    page = html.document(view)
    for words in (
        "finding the items, or putting them in order",
        "Exposure by kind of the creator",
        "How much changes",
    ):
        assert words in page
