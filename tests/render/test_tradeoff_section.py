"""What was traded: models side by side, exchange rates, standings; and the rules that were asked."""

from __future__ import annotations

from audit.findings import asked
from audit.render.view import Table, build_view
from audit.result import ExchangeRate, Standing, Tradeoff


def tables(result):
    return {b.id: b for b in build_view(result).blocks() if isinstance(b, Table)}


def rate(model, change, headline_change, **fields):
    return ExchangeRate(
        model=model,
        metric="tail_share@10",
        headline_change=headline_change,
        change=change,
        **fields,
    )


def test_a_point_given_up_is_told_by_what_it_bought(full_result):
    told = {"rate": -0.05, "ci_low": -0.06, "ci_high": -0.04}
    tradeoff = Tradeoff(
        headline="ndcg@10",
        rates=[rate("ease", -0.1, 0.02, **told), rate("ials", 0.1, -0.02, **told)],
        standings=[
            Standing(model="ease", other="eigenrec", relation="dominates", better=["ndcg@10"], worse=[]),
            Standing(model="eigenrec", other="ease", relation="dominated", better=[], worse=["ndcg@10"]),
        ],
    )  # fmt: skip
    found = tables(full_result.model_copy(update={"tradeoff": tradeoff}))
    cells = {row.group: [c.text for c in row.cells[1:3]] for row in found["exchange-rates"].rows}
    assert cells["ease"] == ["\u22120.050", "\u22120.060 to \u22120.040"]
    assert cells["ials"] == ["+0.050", "+0.040 to +0.060"]
    assert "ials: for each 0.01 given up" in found["exchange-rates"].note
    (row,) = found["standings"].rows  # each pair once
    assert [c.text for c in row.cells[:3]] == ["ease", "dominates", "eigenrec"]
    side = found["side-by-side"]
    assert [c.title for c in side.columns[1:]] == ["eigenrec (baseline)", "ease", "ials"]
    assert side.rows[0].cells[1].value == full_result.comparison("ease", "ndcg@10").baseline


def test_older_results_show_neither(full_result, minimal_result):
    for result in (full_result, minimal_result):
        assert not {"exchange-rates", "standings", "side-by-side", "rules-table"} & set(
            tables(result)
        )


def test_rules_that_were_switched_off_are_said(full_result):
    rules = [rule.info for rule in asked({"stale_feed": False})]
    found = tables(full_result.model_copy(update={"rules": rules}))["rules-table"]
    states = {row.cells[0].detail: row.cells[2].text for row in found.rows}
    assert states["stale_feed"] == "switched off"
    assert len(states) == len(rules)
    assert sum(state == "switched off" for state in states.values()) == 1
