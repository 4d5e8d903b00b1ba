"""The short form of the simulation: known error rates, on so few audits that only gross errors show."""

from __future__ import annotations

import pytest

from benchmarks.simulation.plan import SMALL, Series
from benchmarks.simulation.run import run
from benchmarks.simulation.summary import failures, judged

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found():
    series = (
        Series("models", SMALL, 200, 160),
        Series("models", SMALL, 2_000, 60),
        Series("planted", SMALL, 200, 100),
        Series("segments", SMALL, 2_000, 20),
    )
    return run(series, processes=2, truth=160, pilot=60, others=0)


def test_nothing_lies_outside_its_limits_by_more_than_chance(found):
    assert failures(found) == []


def test_hardly_anything_was_left_out(found):
    rows = [row for s in found["series"] for row in s["intervals"] if row["segment"] == "all"]
    assert sum(map(judged, rows)) > 0.7 * len(rows)


def test_equal_models_are_told_apart_in_no_more_than_the_stated_share(found):
    for series in found["series"]:
        equal = [v for v in series["verdicts"] if v["candidate"] == "same"]
        assert all(v["fail"] <= 0.05 + 0.05 for v in equal)
        different = [v for v in series["verdicts"] if v["candidate"] == "different"]
        assert all(v["fail"] > 0.9 for v in different)
