from __future__ import annotations

from typing import Any

import pytest

from audit.findings import wording
from audit.formatting import MINUS, SPACE
from audit.result import GuardrailResult

P = f"{SPACE}%"


def result(**fields: Any) -> GuardrailResult:
    defaults: dict[str, Any] = {
        "guardrail": "g",
        "model": "candidate",
        "metric": "tail_share@10",
        "kind": "max_drop",
        "relative": True,
        "bound": 0.1,
        "severity": "fail",
        "origin": "profile",
        "observed": -0.984,
        "status": "breached",
    }
    return GuardrailResult(**{**defaults, **fields})


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, f"tail_share@10 falls by 98{P}"),
        ({"segment": "country=DE"}, f"tail_share@10 for country=DE falls by 98{P}"),
        ({"observed": 0.031}, f"tail_share@10 rises by 3.1{P}"),
        ({"observed": 0.0}, "tail_share@10 does not change"),
        ({"observed": None, "kind": "max_rise"}, "tail_share@10 rises from 0"),
        # Never the same digits as the bound that was crossed.
        ({"observed": -0.1004}, f"tail_share@10 falls by 10.04{P}"),
        ({"observed": -0.1000004}, f"tail_share@10 falls by 10.00004{P}"),
        ({"observed": -0.1000000001}, f"tail_share@10 falls by 10{P}"),  # but not for ever
        ({"observed": -0.9997}, f"tail_share@10 falls by 99.97{P}"),
        (
            {"relative": False, "observed": -0.0983, "ci_low": -0.107, "ci_high": -0.089},
            "tail_share@10 falls by 0.098",
        ),
        ({"relative": False, "observed": -0.0983}, "tail_share@10 falls by 0.0983"),
        (
            {"relative": False, "observed": -0.1003, "ci_low": -0.12, "ci_high": -0.1001},
            "tail_share@10 falls by 0.1003",
        ),
        ({"relative": False, "kind": "min", "observed": 0.05}, "tail_share@10 is 0.0500"),
        ({"relative": False, "kind": "max", "observed": None}, "tail_share@10 has no value"),
        ({"relative": False, "kind": "min", "observed": -2.5}, f"tail_share@10 is {MINUS}2.500"),
    ],
)
def test_moved(fields: dict[str, Any], text: str) -> None:
    assert wording.moved(result(**fields)) == text


@pytest.mark.parametrize(
    ("fields", "allowed", "crosses"),
    [
        ({}, f"at most 10{P} allowed", f"falls by more than the allowed 10{P}"),
        (
            {"kind": "max_rise", "relative": False, "bound": 0.02},
            "at most 0.02 allowed",
            "rises by more than the allowed 0.02",
        ),
        (
            {"kind": "min", "relative": False},
            "at least 0.1 required",
            "is below the required 0.1",
        ),
        ({"kind": "max", "relative": False}, "at most 0.1 allowed", "is above the allowed 0.1"),
    ],
)
def test_bounds(fields: dict[str, Any], allowed: str, crosses: str) -> None:
    assert wording.allowed(result(**fields)) == allowed
    assert wording.crosses(result(**fields)) == f"tail_share@10 {crosses}"


def test_observed() -> None:
    shown = {"ci_low": -0.9872, "ci_high": -0.981, "level": 0.99375}
    assert wording.observed(result(**shown)) == (
        f"{MINUS}98.40{P} (99.4{P} interval {MINUS}98.72{P} to {MINUS}98.10{P})"
    )
    of_the_value = {
        "kind": "min",
        "relative": False,
        "observed": 0.3,
        "ci_low": 0.2,
        "ci_high": 0.4,
    }
    assert wording.observed(result(level=0.95, **of_the_value), brackets=False) == (
        f"0.30, 95{P} interval 0.20 to 0.40"
    )


def test_shares_keep_what_there_is() -> None:
    assert wording.share(0.273) == f"27.3{P}"
    assert wording.share(0.0022) == f"0.2{P}"
    assert wording.share(0.00003) == f"0.003{P}"


def test_from_to(lab: Any) -> None:
    assert wording.from_to(lab.mean("ndcg@10", 0.0851, 0.1282, 0.004)) == "0.0851 \u2192 0.1282"
