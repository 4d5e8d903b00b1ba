"""How old judgments and catalog are, from dated tables to the records."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import audit
from audit.conventions import Conventions
from audit.dataset import How, read_and_encode
from audit.dataset.stream.pairs import days_of
from audit.inputs import sources_from_arguments
from audit.inputs.times import DAY, NONE
from audit.staleness import staleness_of
from tests.support import catalog, encoded, inputs, judged, lists, measured, times


def dated(relevance, days):
    table = judged(relevance)
    keys = zip(table["user_id"].to_pylist(), table["item_id"].to_pylist(), strict=True)
    return table.append_column("judged_at", times(days.get(key) for key in keys))


def stale(d, k=2):
    plan, found = measured(d, ["recall"], (k,), baseline="baseline")
    return staleness_of(d, plan, found)


def test_by_hand():
    at = {1: 1000, 2: 1000}
    given = inputs(
        {
            "baseline": lists({1: [11, 12], 2: [11, 14]}, shown_at=at),
            "candidate": lists({1: [13, 11], 2: [14, 13]}, shown_at=at),
        },
        relevance=dated(
            {1: {11: 1, 12: 0}, 2: {14: 2, 13: 1}},
            {(1, 11): 990.5, (1, 12): 600, (2, 14): 995, (2, 13): None},
        ),
        catalog=catalog(
            [11, 12, 13, 14, 15], created={11: 100, 12: 200, 13: 996, 14: 995.9, 15: 998}
        ),
    )
    found = stale(encoded(given))
    assert found.newest_list == "1972-09-27"
    assert found.newest_judgment == str(dt.date(1970, 1, 1) + dt.timedelta(days=995))
    assert found.oldest_judgment == str(dt.date(1970, 1, 1) + dt.timedelta(days=600))
    assert found.median_age == 10  # 5, 10 and 400 days
    assert found.undated == 1
    assert found.catalog_after == 2 / 5  # 13 and 15: published on the day itself is not after it
    weight = 1 / np.log2(np.array([2, 3]))
    weight /= weight.sum()
    assert found.exposure_after == pytest.approx({"baseline": 0, "candidate": (weight[0] + weight[1]) / 2})  # fmt: skip
    assert [(b.days, b.judgments, b.relevant) for b in found.by_age] == [(0, 1, 1), (7, 1, 1), (365, 1, 0)]  # fmt: skip
    assert found.by_age[0].shown == {"baseline": 1, "candidate": 1}
    assert found.by_age[1].shown == {"baseline": 1, "candidate": 1}
    assert (found.newest_item, found.catalog_gap) == ("1972-09-25", 2)
    assert found.usual_gap == np.median([100, 795, 1, 2])


@pytest.mark.parametrize(
    ("created", "shares"),
    [
        ({11: 100, 12: 101}, (0.5, 1.0)),  # items come daily: a week is long
        ({11: 108, 12: 109, 13: 110}, (0.0, 0.5)),
        ({11: 70, 12: 101}, (0.0, 0.0)),  # they come monthly
        ({11: 300}, ()),  # newer than all lists: it says nothing of their day
    ],
)
def test_late_lists(created, shares):
    given = inputs(
        {
            "baseline": lists({1: [11], 2: [11]}, shown_at={1: 109.0, 2: 108.9}),
            "candidate": lists({1: [11], 2: [11]}, shown_at={1: 120, 2: 110}),
        },
        relevance={1: [11]}, catalog=catalog(created, created=created),
    )  # fmt: skip
    found = stale(encoded(given), 1)
    assert found.late_lists == dict(zip(("baseline", "candidate"), shares, strict=len(shares) > 0))


def test_an_age_counts_up_to_the_list_that_is_judged():
    given = inputs(
        {m: lists({1: [11], 2: [11]}, shown_at={1: 100, 2: 900}) for m in ("baseline", "candidate")},
        relevance=dated({1: {11: 1}, 2: {11: 1}}, {(1, 11): 95, (2, 11): 898}),
    )  # fmt: skip
    found = stale(encoded(given), 1)
    assert (found.median_age, [(b.days, b.judgments) for b in found.by_age]) == (3.5, [(0, 2)])
    assert found.by_age[0].shown == {"baseline": 2, "candidate": 2}


def test_judgments_made_after_the_lists_are_of_age_0():
    given = inputs(
        {m: lists({1: [11]}, shown_at={1: 100}) for m in ("baseline", "candidate")},
        relevance=dated({1: {11: 1}}, {(1, 11): 120}),
    )
    found = stale(encoded(given), 1)
    assert (found.median_age, [b.days for b in found.by_age]) == (0, [0])


def test_without_dates_there_is_nothing_to_say():
    assert stale(encoded(inputs(baseline={1: [1]}, candidate={1: [2]}, relevance={1: [1]}))) is None


def test_without_a_time_of_the_lists_only_dates_are_told():
    given = inputs(
        baseline={1: [11]}, candidate={1: [12]}, relevance=dated({1: {11: 1}}, {(1, 11): 120}),
        catalog=catalog([11, 12], created={11: 1, 12: 500}),
    )  # fmt: skip
    found = stale(encoded(given), 1)
    assert (found.newest_list, found.median_age, found.by_age) == (None, None, [])
    assert found.exposure_after == {"baseline": 0, "candidate": 1}


def test_days_are_whole_and_kept_within_bounds():
    micros = np.array([NONE, -5 * DAY, 0, DAY - 1, DAY, 10**6 * DAY])
    assert days_of(micros).tolist() == [0, 1, 1, 1, 2, 65535]


@pytest.mark.parametrize("form", ["stream", "table"])
def test_days_stay_beside_their_judgments(tmp_path, form):
    rng = np.random.default_rng(1)
    rows = [
        (u, int(i), int(rng.integers(0, 4)), None if rng.random() < 0.2 else int(rng.integers(0, 20_000)))
        for u in rng.permutation(30)
        for i in rng.choice(50, 7, replace=False)
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["user_id", "item_id", "grade", "day"])
    table = pa.Table.from_pandas(frame[["user_id", "item_id", "grade"]], preserve_index=False)
    table = table.append_column("judged_at", times(None if pd.isna(d) else float(d) for d in frame["day"]))  # fmt: skip
    shown = pd.DataFrame({"user_id": range(30), "item_id": 49, "rank": 1})
    data = table
    if form == "stream":
        import pyarrow.parquet as pq

        pq.write_table(table, tmp_path / "r.parquet", row_group_size=37)
        data = tmp_path / "r.parquet"
    sources = sources_from_arguments(models={"m": shown}, relevance=data)
    d = read_and_encode(sources, How(Conventions(), 1, None, None, 1)).dataset
    users, items = d.users.text(range(len(d.users))), d.items.ids.text(range(len(d.items.ids)))
    start = d.truth.items.start
    found = {
        (users[u], items[d.truth.items.values[at]]): (int(d.truth.grades[at]), int(d.truth.day[at]))
        for u in range(len(users))
        for at in range(start[u], start[u + 1])
    }
    assert found == {(str(u), str(i)): (g, 0 if day is None else day + 1) for u, i, g, day in rows}


def test_findings_end_to_end():
    """Judgments end on day 500; the candidate shows what came later, and of an item nobody knows."""
    users = range(60)
    at = dict.fromkeys(users, 1000)
    result = audit.compare(
        {
            "baseline": lists({u: [1, 2] for u in users}, shown_at=at),
            "candidate": lists({u: [9, 99] for u in users}, shown_at=at),
        },
        relevance=pd.DataFrame(
            {"user_id": list(users), "item_id": 1, "judged_at": pd.Timestamp("1971-05-16", tz="UTC")}
        ),
        catalog=catalog([1, 2, 9], created={1: 10, 2: 20, 9: 600}),
        viewport=2, k=[2], guardrails={"profile": "none", "ndcg@2": {"max_drop": 0.1}},
    )  # fmt: skip
    rules = {f.rule: f for f in result.findings}
    assert {"stale_judgments", "stale_catalog"} <= set(rules)
    assert "Exposure of such items under candidate" in rules["stale_judgments"].evidence
    assert result.robustness.judged_apart is False
    assert result.robustness.judgments == []
    assert '"newest_judgment":"1971-05-16"' in result.to_json()
