from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit import formatting as f

S = "\u202f"
M = "\u2212"
finite = st.floats(-1e9, 1e9, allow_nan=False)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0851, "0.0851"),
        (0.12824, "0.1282"),
        (1.5, "1.500"),
        (12.345678, "12.35"),
        (123.456, "123.5"),
        (9724, "9,724"),
        (1234567.8, "1,234,568"),
        (-3.2, f"{M}3.200"),
        (0, "0"),
        (-0.0, "0"),
        (0.00012, "0.00012"),
        (-0.0000213, f"{M}0.000021"),
        (2.13e-7, f"2.1e{M}7"),
        (-2.13e-12, f"{M}2.1e{M}12"),
        (None, "\u2013"),
        (math.nan, "\u2013"),
        (math.inf, "\u221e"),
        (-math.inf, f"{M}\u221e"),
    ],
)
def test_number_by_size(value: float | None, text: str) -> None:
    assert f.number(value) == text


def test_number_with_digits_has_no_minus_zero() -> None:
    assert f.number(-0.0004, 3) == "0.000"
    assert f.number(-0.0006, 3) == f"{M}0.001"
    assert f.signed(0.0004, 3) == "0.000"
    assert f.signed(0.0006, 3) == "+0.001"
    assert f.signed(-1.25, 1) == f"{M}1.2"
    assert f.signed(math.inf) == "+\u221e"
    assert f.signed(None) == "\u2013"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.984, f"98{S}%"),
        (0.1, f"10{S}%"),
        (0.0234, f"2.3{S}%"),
        (0.0, f"0{S}%"),
        (1.0, f"100{S}%"),
        (0.9996, f"99.96{S}%"),  # not the round 100 it is not
        (0.0004, f"0.04{S}%"),  # nor the round 0
        (-0.5, f"{M}50{S}%"),
        (12.3, f"1,230{S}%"),
        (None, "\u2013"),
        (math.nan, "\u2013"),
    ],
)
def test_percent(value: float | None, text: str) -> None:
    assert f.percent(value) == text


def test_percent_with_digits_and_sign() -> None:
    assert f.percent(0.2731, 1) == f"27.3{S}%"
    assert f.percent(0.05, 0, sign=True) == f"+5{S}%"
    assert f.percent(-0.05, 0, sign=True) == f"{M}5{S}%"


def test_declared_numbers_are_not_padded() -> None:
    assert f.exact(0.02) == "0.02"
    assert f.exact(-5) == f"{M}5"
    assert f.exact(1000) == "1,000"
    assert f.exact_percent(0.1) == f"10{S}%"
    assert f.exact_percent(0.07) == f"7{S}%"  # 100 · 0.07 is 7.000000000000001
    assert f.exact_percent(0.025) == f"2.5{S}%"


def test_counted() -> None:
    assert f.counted(1, "guardrail") == "1 guardrail"
    assert f.counted(2000, "guardrail") == "2,000 guardrails"
    assert f.counted(2, "item lost", "items lost") == "2 items lost"


@pytest.mark.parametrize(
    ("low", "high", "digits"),
    [
        (0.0362, 0.0512, 3),  # width 0.015: its two digits end at the third decimal
        (0.0, 0.1, 2),
        (0.0, 0.099, 3),
        (-120, 310, 0),
        (0, 1e-9, 6),
        (1, 1, None),
        (None, 1, None),
        (-math.inf, 1, None),
        (math.nan, 1, None),
    ],
)
def test_decimals_from_the_width(low: float | None, high: float | None, digits: int | None) -> None:
    assert f.decimals(low, high) == digits


def test_intervals() -> None:
    assert f.interval(0.0362, 0.0512) == "0.036 to 0.051"
    assert f.interval(-0.022, 0.013, sign=True) == f"{M}0.022 to +0.013"
    assert f.interval(0.31, 0.42, as_percent=True) == f"31{S}% to 42{S}%"
    assert f.interval(1030.4, 1072.2, 0) == "1,030 to 1,072"
    assert f.interval(None, None) == "\u2013"
    assert f.interval(0.5, None) == "0.5000 to \u2013"


def test_estimates() -> None:
    assert f.estimate(0.0431, 0.0362, 0.0512) == f"+0.043 (95{S}% interval +0.036 to +0.051)"
    assert (
        f.estimate(0.0431, 0.0362, 0.0512, sign=False) == f"0.043 (95{S}% interval 0.036 to 0.051)"
    )
    assert f.estimate(0.0431, 0.0362, 0.0512, brackets=False) == (
        f"+0.043, 95{S}% interval +0.036 to +0.051"
    )
    assert f.estimate(-0.5, -0.61, -0.4, 0.99, as_percent=True) == (
        f"{M}50{S}% (99{S}% interval {M}61{S}% to {M}40{S}%)"
    )
    assert f.estimate(-0.9841, -0.9872, -0.981, as_percent=True) == (
        f"{M}98.41{S}% (95{S}% interval {M}98.72{S}% to {M}98.10{S}%)"
    )
    assert f.estimate(0.25, None, None) == "+0.2500"
    assert f.estimate(None, None, None) == "\u2013"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.95, "95"), (0.99375, "99.4"), (0.9999, "99.99"), (1 - 1e-7, "99.99999"), (1.0, "100")],
)
def test_levels_never_round_to_certainty(value: float, text: str) -> None:
    assert f.level(value) == f"{text}{S}%"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.34, "0.34"), (0.0124, "0.012"), (1e-9, f"<{S}0.001"), (1.0, "1.00"), (None, "\u2013")],
)
def test_p_values(value: float | None, text: str) -> None:
    assert f.p_value(value) == text


@given(finite)
def test_number_says_what_it_was_given(value: float) -> None:
    read = float(f.number(value).replace(",", "").replace(M, "-"))
    # Two digits at least, or half a unit of the fourth decimal.
    assert read == pytest.approx(value, rel=0.051, abs=0)
    assert "-" not in f.number(value)


@given(finite, st.integers(0, 6))
def test_signs_are_shown_exactly_where_digits_are(value: float, digits: int) -> None:
    text = f.signed(value, digits)
    zero = not any(c in "123456789" for c in text)
    assert (text[0] in f"+{M}") == (not zero)


@given(st.floats(0, 1), st.floats(0, 1))
def test_both_ends_have_the_same_decimals(a: float, b: float) -> None:
    low, high = sorted((a, b))
    if f.decimals(low, high) is not None:
        ends = f.interval(low, high).split(" to ")
        assert len({len(end.partition(".")[2]) for end in ends}) == 1
