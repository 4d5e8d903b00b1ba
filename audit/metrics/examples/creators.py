"""Worked examples of what groups of creators are due, and of creators within a list."""

from __future__ import annotations

from audit.metrics.examples.example import Example

_GIVEN = {
    "shown": {1: [1, 3], 2: [1, 2]},
    "relevance": {1: [1, 3, 4]},
    "catalog": {"items": [1, 2, 3, 4], "creators": {1: ["p"], 2: ["p"], 3: ["q"], 4: ["q"]}},
    "creators": {"p": {"kind": "a"}, "q": {"kind": "b"}},
}
_TURNED = {"shown": {1: [3, 1], 2: [4, 2]}}

_RANKS = {"top": "1 / (1 + 1/log2(3))", "next": "1 - top"}
_P = {**_RANKS, "a": "(top + 1) / 2", "b": "next / 2"}
_EXPOSURE = (
    "Of a list's exposure 1, rank 1 has top and rank 2 next; of user 1's group a has top and b next, of "
    "user 2's a has all."
)
_DUE = _EXPOSURE + " Both groups have half of the catalog."
_MERIT = _EXPOSURE + " Of three relevant items one is a's and two are b's."

EXAMPLES = {
    "group_exposure_kl@2": Example(
        "a*log(a/(1/2)) + b*log(b/(1/2))", _GIVEN, _TURNED, where=_P, note=_DUE
    ),
    "group_exposure_shift@2": Example(
        "1/2 * (abs(a - 1/2) + abs(b - 1/2))", _GIVEN, _TURNED, where=_P, note=_DUE
    ),
    "worst_group_exposure@2": Example(
        "min(a/(1/2), b/(1/2))", _GIVEN, _TURNED, where=_P, note=_DUE
    ),
    "exposure_equity@2": Example(
        "min(a/(1/3), b/(2/3)) / max(a/(1/3), b/(2/3))", _GIVEN, _TURNED, where=_P, note=_MERIT
    ),
    "ee_d@2": Example("a**2 + b**2", _GIVEN, _TURNED, where=_P, note=_EXPOSURE),
    "ee_r@2": Example("a*1/3 + b*2/3", _GIVEN, _TURNED, where=_P, note=_MERIT),
    "ee_l@2": Example("(a - 1/3)**2 + (b - 2/3)**2", _GIVEN, _TURNED, where=_P, note=_MERIT),
    "awrf@2": Example(
        "(1/2*(abs(top - 1/2) + abs(next - 1/2)) + 1/2*(abs(1 - 1/2) + abs(0 - 1/2))) / 2",
        _GIVEN, _TURNED, where=_RANKS, note=_DUE,
    ),
    "ndkl@2": Example(
        "((1*log(2) + h*0)/(1 + h) + (1*log(2) + h*log(2))/(1 + h)) / 2", _GIVEN, _TURNED,
        where={"h": "1/log2(3)"},
        note="All of one group is log(2) from halves: user 1's first item, and both prefixes of user 2's list.",
    ),
    "creator_repeats@2": Example(
        "(0 + 1/2) / 2", _GIVEN, _TURNED, note="User 2 is shown creator p twice."
    ),
}  # fmt: skip
