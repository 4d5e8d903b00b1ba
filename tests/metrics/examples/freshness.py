from __future__ import annotations

from math import log2
from statistics import median

from tests import support
from tests.metrics.example import Example
from tests.support import EPOCH, catalog, dt

H = 1 / log2(3)

# Ages of 10, 30 and 400 days; item 4 has no date and item 5 is not yet published.
TABLE = catalog([1, 2, 3, 4, 5, 6], created={1: 990, 2: 970, 3: 600, 5: 1001, 6: 995})
AS_OF = EPOCH + dt.timedelta(days=1000)
GIVEN = {"shown": {1: [2, 4, 1, 3, 5]}, "catalog": TABLE, "as_of": AS_OF}
FRESHER = {"shown": {1: [1, 4, 6, 2, 5]}}
WAITING = {
    "catalog": catalog([1, 2, 3, 4], created={1: 990, 2: 992, 3: 984, 4: 900}), "as_of": AS_OF
}  # fmt: skip
A = [1, 1 / 2, 1 / log2(5)]  # attention to ranks 1, 3 and 4

EXAMPLES = {
    "mean_age@5": Example((30 + 10 + 400) / 3, GIVEN, FRESHER),
    "median_age@5": Example(median([30, 10, 400]), GIVEN, FRESHER),
    "discounted_age@5": Example((A[0] * 30 + A[1] * 10 + A[2] * 400) / sum(A), GIVEN, FRESHER),
    "fresh_share@5": Example(1 / 3, GIVEN, FRESHER),  # 30 days are not less than 30
    "fresh_share[days=31]@5": Example(2 / 3, GIVEN, FRESHER),
    "fresh_exposure@5": Example(A[1] / sum(A), GIVEN, FRESHER),
    "fresh_exposure[days=7]@5": Example(0, GIVEN, FRESHER),
    "stale_exposure@5": Example(A[2] / sum(A), GIVEN, FRESHER),
    "recency@5": Example((1 / 2 + 2 ** (-1 / 3) + 2 ** (-40 / 3)) / 3, GIVEN, FRESHER),
    "recency[half_life=10]@5": Example((1 / 8 + 1 / 2 + 2**-40) / 3, GIVEN, FRESHER),
    "fresh_coverage@5": Example(1 / 2, GIVEN, FRESHER),  # of items 1 and 6
    "time_to_first_exposure@2": Example(
        # Item 1 after 4 days, item 2 not yet after 8, though beyond rank 2; item 3 is older than the lists.
        (4 + 8) / 2,
        {**WAITING, "shown": support.lists({1: [3, 1], 2: [4, 3, 2]}, shown_at={1: 994, 2: 985})},
        {
            "shown": support.lists(
                {1: [3, 1], 2: [4, 3, 2], 3: [2]}, shown_at={1: 994, 2: 985, 3: 999}
            )
        },
    ),
}
