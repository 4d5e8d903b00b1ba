"""Groups of too few users: put together or suppressed, and said so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import audit

SIZES = {"DE": 80, "FR": 60, "IT": 30, "AT": 25, "CH": 5}
USERS = sum(SIZES.values()) + 10
"""Ten have no country."""


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(1)
    country = [c for c, n in SIZES.items() for _ in range(n)]
    people = pd.DataFrame({"user_id": range(len(country)), "country": country})
    people["gender"] = ["f" if u % 4 else "m" for u in people["user_id"]]
    people["small"] = ["x" if u < 60 else "yz"[u % 2] if u < 70 else "w" for u in people["user_id"]]
    shown = {
        name: pd.DataFrame(
            [(u, i, r) for u in range(USERS) for r, i in enumerate(rng.choice(30, 5, False), 1)],
            columns=["user_id", "item_id", "rank"],
        )
        for name in ("baseline", "candidate")
    }
    truth = pd.DataFrame(
        [(u, i) for u in range(USERS) for i in rng.choice(30, 4, False)],
        columns=["user_id", "item_id"],
    )
    return {"recommendations": shown, "relevance": truth, "users": people}


def compared(tables, **changes):
    given = {
        "k": [5],
        "viewport": 5,
        "metrics": ["ndcg", "item_gini"],
        "guardrails": "none",
        **tables,
    }
    given |= changes
    return audit.compare(given.pop("recommendations"), **given)


def measured(result, metric="ndcg@5"):
    return {
        m.segment: (m.value, m.n)
        for m in result.measurements
        if m.metric == metric and m.model == "candidate" and m.segment != "all"
    }


def test_small_groups_are_put_together(tables):
    result = compared(tables)
    found = measured(result)
    country = [s for s in found if s.startswith("country=")]
    assert country == ["country=DE", "country=FR", "country=other (4 cells)"]
    # AT, CH, IT and those without a country, as a group that the users table names itself.
    people = tables["users"].assign(
        mine=["kept" if c in ("DE", "FR") else "rest" for c in tables["users"]["country"]]
    )
    rest = pd.DataFrame({"user_id": range(len(people), USERS), "mine": "rest"})
    own = compared(tables, users=pd.concat([people, rest])[["user_id", "mine"]])
    for metric in ("ndcg@5", "item_gini@5"):
        assert measured(result, metric)[country[-1]] == measured(own, metric)["mine=rest"]
    (issue,) = [
        i for i in result.issues if i.check == "small_cells_merged" and i.column == "country"
    ]
    assert (issue.count, issue.total, issue.examples) == (4, 6, ["AT", "CH", "IT"])
    assert "put together as 'other (4 cells)'" in issue.message


def test_what_is_too_small_together_is_suppressed(tables):
    result = compared(tables)
    # y and z: five users each; w and (missing) are large and small.
    (info,) = [s for s in result.segments if s.attributes == ["small"]]
    assert info.cells == {"small=w": 130, "small=x": 60}
    assert info.suppressed == ["small=other (3 cells)"]
    assert not any("other" in s for s in measured(result) if s.startswith("small="))
    issues = {i.column: i.examples for i in result.issues if i.check == "small_cells_suppressed"}
    assert issues == {"small": ["small=other (3 cells)"], "gender": ["gender=(missing)"]}


def test_the_least_cell_can_be_set(tables):
    assert measured(compared(tables, least_cell=1)).keys() >= {
        "country=CH",
        "country=(missing)",
        "small=y",
    }
    assert measured(compared(tables, least_cell=70)).keys() == {
        "country=DE", "country=other (5 cells)", "gender=f", "small=w", "small=other (4 cells)",
    }  # fmt: skip


def test_a_guardrail_on_an_intersection_names_what_is_suppressed(tables):
    guardrails = {
        "profile": "none",
        "ndcg": {"max_drop": 0.9, "relative": True, "segment": ["country", "gender"]},
        "item_gini": {"max_rise": 0.5, "segment": ["country", "gender"]},
    }
    result = compared(tables, guardrails=guardrails)
    women = [u for u in range(200) if u % 4]
    sizes = {c: sum(tables["users"]["country"][u] == c for u in women) for c in ("DE", "FR")}
    assert sizes["DE"] >= 50 > sizes["FR"]
    judged = [g for g in result.guardrail_results if g.metric == "ndcg@5"]
    assert [g.segment for g in judged] == ["country=DE, gender=f"]
    assert judged[0].status == "held"
    suppressed = judged[0].note.removeprefix("suppressed, fewer than 50 users: ").split("; ")
    assert {"country=FR, gender=f", "country=DE, gender=m"} <= set(suppressed)
    # Nothing is measured of those few.
    every = {m.segment for m in result.measurements} | {c.segment for c in result.comparisons}
    assert not every & set(suppressed)
    (info,) = [s for s in result.segments if len(s.attributes) == 2]
    assert set(info.suppressed) == set(suppressed)
    assert min(info.cells.values()) >= 50
    # Judged again from the file, the note is the same.
    assert audit.gate(result).guardrail_results == result.guardrail_results


def test_where_every_cell_is_too_small_the_guardrail_is_undecided(tables):
    guardrails = {"profile": "none", "ndcg": {"max_drop": 0.9, "segment": ["country", "small"]}}
    result = compared(tables, guardrails=guardrails, least_cell=1000)
    (judged,) = result.guardrail_results
    assert judged.status == "undecided"
    assert judged.note.startswith("no cell has 1,000 users; suppressed, fewer than 1,000 users: ")
