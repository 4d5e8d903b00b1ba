"""Worked examples of freshness."""

from __future__ import annotations

from audit.metrics.examples.example import Example

# Ages of 10, 30 and 400 days; item 4 has no date and item 5 is not yet published.
_CREATED = {1: 990, 2: 970, 3: 600, 5: 1001, 6: 995}
_GIVEN = {
    "shown": {1: [2, 4, 1, 3, 5]},
    "catalog": {"items": [1, 2, 3, 4, 5, 6], "created": _CREATED},
    "as_of": 1000,
}
_FRESHER = {"shown": {1: [1, 4, 6, 2, 5]}}
_AGES = "Items 2, 1 and 3 are 30, 10 and 400 days old; 4 has no date and 5 is not yet published."
_ATTENTION = {"a1": "1", "a3": "1/log2(4)", "a4": "1/log2(5)"}
_RANKS = _AGES + " a is the attention to a rank."

_WAITING = {
    "catalog": {"items": [1, 2, 3, 4], "created": {1: 990, 2: 992, 3: 984, 4: 900}}, "as_of": 1000,
}  # fmt: skip

EXAMPLES = {
    "mean_age@5": Example("(30 + 10 + 400) / 3", _GIVEN, _FRESHER, note=_AGES),
    "median_age@5": Example("median(30, 10, 400)", _GIVEN, _FRESHER, note=_AGES),
    "discounted_age@5": Example(
        "(a1*30 + a3*10 + a4*400) / (a1 + a3 + a4)", _GIVEN, _FRESHER, where=_ATTENTION, note=_RANKS
    ),
    "fresh_share@5": Example(
        "1 / 3", _GIVEN, _FRESHER, note=_AGES + " An age of 30 days is not less than 30."
    ),
    "fresh_share[days=31]@5": Example("2 / 3", _GIVEN, _FRESHER, note=_AGES),
    "fresh_exposure@5": Example(
        "a3 / (a1 + a3 + a4)", _GIVEN, _FRESHER, where=_ATTENTION, note=_RANKS
    ),
    "fresh_exposure[days=7]@5": Example(
        "0 / (a1 + a3 + a4)", _GIVEN, _FRESHER, where=_ATTENTION, note=_RANKS
    ),
    "stale_exposure@5": Example(
        "a4 / (a1 + a3 + a4)", _GIVEN, _FRESHER, where=_ATTENTION, note=_RANKS
    ),
    "recency@5": Example(
        "(2**(-30/30) + 2**(-10/30) + 2**(-400/30)) / 3", _GIVEN, _FRESHER, note=_AGES
    ),
    "recency[half_life=10]@5": Example(
        "(2**(-30/10) + 2**(-10/10) + 2**(-400/10)) / 3", _GIVEN, _FRESHER, note=_AGES
    ),
    "fresh_coverage@5": Example(
        "1 / 2", _GIVEN, _FRESHER, note="Items 1 and 6 are fresh; 6 is not shown."
    ),
    "time_to_first_exposure@2": Example(
        "((994 - 990) + (1000 - 992)) / 2",
        {**_WAITING, "shown": {1: [3, 1], 2: [4, 3, 2]}, "shown_at": {1: 994, 2: 985}},
        {"shown": {1: [3, 1], 2: [4, 3, 2], 3: [2]}, "shown_at": {1: 994, 2: 985, 3: 999}},
        note="Item 2 is not yet shown up to K; item 3 is older than the first list and item 4 than 30 days.",
    ),
}  # fmt: skip
