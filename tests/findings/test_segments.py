from __future__ import annotations

from typing import Any

import pytest

from audit.findings.segments import attributes, cells, split


@pytest.mark.parametrize(
    ("segment", "names"),
    [
        ("country=DE", ("country",)),
        ("country=DE, gender=f", ("country", "gender")),
        ("gender=f, country=DE", ("gender", "country")),
        ("country=Korea, Republic of", ("country",)),
        ("country=Korea, Republic of, gender=f", ("country", "gender")),
        ("taste=a=b", ("taste",)),
        ("a.b=1, country=x", ("a.b", "country")),
    ],
)
def test_split(segment: str, names: tuple[str, ...]) -> None:
    assert split(segment, {"country", "gender", "taste", "a.b"}) == names


def test_cells_come_in_the_audits_order(lab: Any) -> None:
    for segment in ("country=FR", "gender=f", "country=DE", "country=DE, gender=f"):
        lab.mean("ndcg@10", 0.3, 0.3, 0.001, segment=segment)
    lab.mean("map@10", 0.3, 0.3, 0.001, segment="country=IT")
    evidence = lab.evidence()
    assert attributes(evidence, ["age"]) == {"age", "country", "gender"}
    assert cells(evidence, "candidate", "ndcg@10", ["country"]) == ["country=FR", "country=DE"]
    assert cells(evidence, "candidate", "ndcg@10", ["age"]) == []
    assert cells(evidence, "other", "ndcg@10", ["country"]) == []


def test_another_order_of_attributes_means_the_same_cells(lab: Any) -> None:
    lab.mean("ndcg@10", 0.3, 0.3, 0.001, segment="country=DE, gender=f")
    wanted = ["gender", "country"]
    assert cells(lab.evidence(), "candidate", "ndcg@10", wanted) == ["country=DE, gender=f"]
    lab.mean("ndcg@10", 0.3, 0.3, 0.001, segment="gender=f, country=DE")
    assert cells(lab.evidence(), "candidate", "ndcg@10", wanted) == ["gender=f, country=DE"]
