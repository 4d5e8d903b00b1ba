"""Coverage of what may be shown, and what is shown although it may not be."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import audit
from audit.conventions import Conventions
from audit.dataset import encode
from audit.errors import ConfigError, InputError
from tests import support

NAMES = ["catalog_coverage", "eligible_coverage", "ineligible_share"]
SHOWN = {1: [1, 2], 2: [1, 3], 3: [4, 9]}
USERS = {1: {"country": "nl"}, 2: {"country": "nl"}, 3: {"country": "de"}}


def rows(*pairs: tuple[Any, ...], by: str | None = None) -> pa.Table:
    table = {"item_id": support.ids(p[0] for p in pairs)}
    if by is not None:
        values = [p[1] for p in pairs]
        table[by] = pa.array(values) if by == "user_id" else pa.array(values, pa.string())
    return pa.table(table)


def values(eligible: pa.Table | None, **more: Any) -> list[float]:
    given = support.inputs(
        model=SHOWN, catalog=range(1, 11), users=USERS, eligible=eligible, **more
    )
    plan, found = support.measured(support.encoded(given, viewport=2), NAMES, [2])
    return support.single.means(support.encoded(given, viewport=2), plan, found)["value"].tolist()


@pytest.mark.parametrize(
    ("eligible", "coverage", "ineligible"),
    [
        # For everybody: 1, 2 and 5; of them 1 and 2 are shown; 3, 4 and 9 are not eligible.
        (rows((1,), (2,), (5,)), 2 / 3, (0 + 1 / 2 + 1) / 3),
        # By user: user 4 has no list, so item 8 does not count.
        (
            rows((1, 1), (2, 1), (1, 2), (3, 2), (4, 3), (7, 3), (8, 4), by="user_id"),
            4 / 5, (0 + 0 + 1 / 2) / 3,
        ),
        # By country: nobody is in France.
        (
            rows((1, "nl"), (2, "nl"), (3, "nl"), (9, "de"), (6, "fr"), by="country"),
            1.0, (0 + 0 + 1 / 2) / 3,
        ),
        (rows(*((i,) for i in range(1, 11))), 0.5, 0),
    ],
)  # fmt: skip
def test_values(eligible, coverage, ineligible):
    assert values(eligible) == pytest.approx([0.5, coverage, ineligible])


def test_without_the_table_the_reason_is_said():
    dataset = support.encoded(support.inputs(model=SHOWN))
    _, found = support.measured(dataset, NAMES[1:], [2])
    assert set(found.unavailable.values()) == {"no table of eligible items was given"}


def test_without_a_catalog_what_may_be_shown_is_known():
    given = support.inputs(model=SHOWN, eligible=rows((1,), (2,), (77,), (78,)))
    dataset = support.encoded(given, viewport=2)
    assert len(dataset.items.catalog) == 7
    plan, found = support.measured(dataset, NAMES, [2])
    assert support.single.means(dataset, plan, found)["value"].tolist()[:2] == [5 / 7, 2 / 4]


def test_an_audience_without_items_may_be_shown_nothing():
    assert values(rows((1, 1), (2, 1), by="user_id"))[2] == pytest.approx((0 + 1 + 1) / 3)


def test_issues():
    given = support.inputs(
        model=SHOWN, catalog=range(1, 11), users=USERS,
        eligible=rows((1, "nl"), (99, "nl"), (2, None), (3, "fr"), by="country"),
    )  # fmt: skip
    _, issues = encode(given, conventions=Conventions(), viewport=2)
    found = {i.check: (i.count, i.total) for i in issues if i.table == "eligible"}
    assert found == {
        "eligible_outside_catalog": (1, 4),
        "users_without_eligible": (1, 3),
        "eligible_for_nobody": (2, 4),
    }


def test_an_attribute_that_users_do_not_have_is_refused():
    given = support.inputs(model=SHOWN, users=USERS, eligible=rows((1, "nl"), by="land"))
    with pytest.raises(ConfigError, match=r"eligible: unknown attribute 'land'.*Valid: country"):
        support.encoded(given)


# ------------------------------------------------------------------------------- as tables


def lists() -> pd.DataFrame:
    return pd.DataFrame(
        [(u, i, r) for u in range(60) for r, i in enumerate([u % 7, 7 + u % 5], 1)],
        columns=["user_id", "item_id", "rank"],
    )


def compare(eligible: Any, **tables: Any) -> audit.AuditResult:
    frame = lists()
    return audit.compare(
        {"baseline": frame, "candidate": frame}, relevance=None, catalog=pd.DataFrame({"item_id": range(40)}),
        eligible=eligible, metrics=["eligible_coverage"], guardrails="none", viewport=2, k=[2], **tables,
    )  # fmt: skip


def test_files_and_frames_agree(tmp_path):
    frame = pd.DataFrame({"movieId": range(24)})
    frame.to_csv(tmp_path / "eligible.csv", index=False)
    for given in (frame, tmp_path / "eligible.csv"):
        result = compare(given)
        assert result.scorecard["candidate"].tolist() == [0.5]
        assert "eligible" in {s.table for s in result.sources}


def test_two_ways_of_saying_for_whom_are_refused():
    table = pd.DataFrame({"item_id": [1], "user_id": [1], "country": ["nl"]})
    with pytest.raises(InputError, match=r"said more than once: by 'user_id', 'country'"):
        compare(table)
