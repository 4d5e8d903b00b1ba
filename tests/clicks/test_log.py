"""Reading an impression log: every form, the usual names, one order, and each check with its rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import audit
from audit.clicks import read_log
from audit.errors import ConfigError, InputError

LOG = pd.DataFrame(
    {
        "impression_id": ["b", "b", "a", "a", "a"],
        "userId": [7, 7, 9, 9, 9],
        "qid": ["q", "q", "r", "r", "r"],
        "doc_id": ["x", "y", "y", "x", "z"],
        "rank": [1, 2, 1, 2, 3],
        "clicked": [True, False, False, True, False],
        "pscore": [0.5, 0.25, 0.125, 1.0, 0.75],
    }
)


def broken(**columns):
    frame = LOG.assign(**columns)
    with pytest.raises(InputError) as caught:
        read_log(frame)
    return {issue.check: issue for issue in caught.value.issues}


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow", "csv", "parquet"])
def test_a_log_reads_the_same_in_every_form(form, tmp_path):
    data = {
        "pandas": lambda: LOG,
        "polars": lambda: pl.DataFrame(LOG.to_dict("list")),
        "arrow": lambda: pa.table(LOG.to_dict("list")),
        "csv": lambda: LOG.to_csv(tmp_path / "log.csv", index=False) or tmp_path / "log.csv",
        "parquet": lambda: LOG.to_parquet(tmp_path / "log.parquet") or tmp_path / "log.parquet",
    }[form]()
    log = audit.clicks.read_log(data)
    assert log.items.values.to_pylist() == ["x", "y", "z"]
    assert log.users is not None and log.users.values.to_pylist() == [7, 9]
    assert log.contexts is not None and log.contexts.values.to_pylist() == ["q", "r"]
    # By impression ("a" before "b"), then position.
    assert log.impression.tolist() == [0, 0, 0, 1, 1]
    assert log.starts.tolist() == [0, 3, 5]
    assert log.item.tolist() == [1, 0, 2, 0, 1]
    assert log.position.tolist() == [1, 2, 3, 1, 2]
    assert log.click.tolist() == [0, 1, 0, 1, 0]
    assert log.outcome.tolist() == [0, 1, 0, 1, 0]
    assert log.propensity.tolist() == [0.125, 1.0, 0.75, 0.5, 0.25]
    assert read_log(log) is log


def test_the_order_of_rows_does_not_matter_without_impressions_either():
    rng = np.random.default_rng(0)
    n = 500
    frame = pd.DataFrame(
        {"item_id": rng.integers(0, 9, n), "position": rng.integers(1, 4, n), "click": rng.integers(0, 2, n),
         "propensity": rng.uniform(0.1, 1, n)}
    )  # fmt: skip
    logs = [read_log(frame), read_log(frame.sample(frac=1, random_state=1))]
    for name in ("item", "position", "click", "propensity"):
        a, b = (getattr(log, name) for log in logs)
        assert (a == b).all()
    pairs = sorted(zip(logs[0].item, logs[0].position, logs[0].propensity, strict=True))
    assert pairs == sorted(zip(frame.item_id, frame.position, frame.propensity, strict=True))


def test_propensities_are_never_defaulted():
    log = read_log(LOG.assign(pscore=[0.5, None, 0.5, 0.5, 0.5]))
    assert [issue.check for issue in log.issues] == ["missing_propensities"]
    with pytest.raises(
        ConfigError, match=r"'propensity': 1 of 5 rows have none.*Nothing is put in"
    ):
        log.complete("propensity", "to weigh rows")
    with pytest.raises(ConfigError, match=r"no column 'propensity'.*Log it, or name"):
        read_log(LOG.drop(columns="pscore")).complete("propensity", "to weigh rows")


@pytest.mark.parametrize("value", [0.0, -0.1, 1.01, np.inf])
def test_probabilities_lie_in_0_1(value):
    issue = broken(pscore=[0.5, value, 0.5, 0.5, value])["wrong_propensities"]
    assert (issue.column, issue.count, issue.rows) == ("propensity", 2, (2, 5))


def test_positions():
    issue = broken(rank=[0, 1, 0, 1, 2])["wrong_positions"]
    assert issue.rows == (1, 3)
    assert issue.remedy == "They seem to count from 0: add 1."
    assert broken(rank=[1, 1.5, 1, 2, 3])["wrong_positions"].rows == (2,)
    assert broken(rank=[1, None, 1, 2, 3])["missing_positions"].rows == (2,)
    assert broken(rank=[1, 1, 1, 2, 2])["duplicate_positions"].rows == (2, 5)


def test_clicks():
    assert broken(clicked=[2, 0, 0, 1, 0])["wrong_clicks"].rows == (1,)
    assert broken(clicked=[None, 0, 0, 1, 0])["missing_clicks"].rows == (1,)
    assert broken(rank=[None, 2, 1, 2, 3])["clicks_without_impression"].rows == (1,)
    assert broken(impression_id=[None, "b", "a", "a", "a"])["clicks_without_impression"].rows == (
        1,
    )


def test_a_log_of_clicks_alone_is_refused():
    many = pd.DataFrame({"item_id": range(20), "position": [1, 2] * 10, "click": 1})
    with pytest.raises(InputError, match="every row was clicked"):
        read_log(many)
    # Told by the gaps: in impressions that lack positions only clicks are left.
    gaps = pd.DataFrame(
        {"impression_id": [1, 1, *range(2, 13)], "item_id": 5, "position": [1, 2, *[3] * 11],
         "click": [0, 0, *[1] * 11]}
    )  # fmt: skip
    gaps["item_id"] = range(len(gaps))
    with pytest.raises(InputError, match="missing positions hold clicked rows alone") as caught:
        read_log(gaps)
    assert (caught.value.issues[0].count, caught.value.issues[0].total) == (11, 12)


def test_gaps_and_repeated_items_are_told():
    log = read_log(LOG.assign(rank=[1, 3, 1, 2, 3], doc_id=["x", "x", "y", "x", "z"]))
    found = {issue.check: issue for issue in log.issues}
    assert set(found) == {"position_gaps", "repeated_items"}
    assert (found["position_gaps"].count, found["position_gaps"].total) == (1, 2)


def test_rows_of_an_impression_agree():
    assert broken(userId=[7, 8, 9, 9, 9])["mixed_impressions"].rows == (2,)
    assert broken(p_slate=[0.5, 0.4, 0.1, 0.1, 0.1])["mixed_impressions"].column == "p_slate"
    assert broken(p_prefix=[0.5, 0.4, 0.1, 0.2, 0.1])["rising_prefixes"].rows == (4,)


def test_a_missing_column_is_named_with_the_nearest():
    with pytest.raises(
        InputError, match=r"no column 'click'.*(?s:.)*Map it with click = \"clik\" in columns"
    ):
        read_log(LOG.rename(columns={"clicked": "clik"}))
    assert read_log(LOG.rename(columns={"clicked": "hit"}), columns={"click": "hit"}).click.sum() == 2  # fmt: skip


def test_policies_teams_and_times():
    log = read_log(
        LOG.assign(policy="old", team=["A", "B", "B", None, "A"], timestamp="2024-01-02",
                   reward=[2.5, 0, 0, 1, 0])
    )  # fmt: skip
    assert log.policies is not None and log.policies.values.to_pylist() == ["old"]
    assert log.teams == ("A", "B")
    assert log.team.tolist() == [1, -1, 0, 0, 1]
    assert log.timestamp.tolist() == [1704153600_000_000] * 5
    assert log.outcome.tolist() == [0, 1, 0, 2.5, 0]
