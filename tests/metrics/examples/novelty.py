from __future__ import annotations

from math import log2, sqrt

from tests.metrics.example import Example
from tests.support import catalog

H = 1 / log2(3)

# Four history users, eight pairs: popularity 4, 2, 1, 1 of items 1 to 4, and 0 of item 5.
HISTORY = {1: [1, 2], 2: [1, 3], 3: [1, 2], 4: [1, 4]}
ITEMS = [1, 2, 3, 4, 5]
GIVEN = {"shown": {1: [1, 3]}, "history": HISTORY, "catalog": ITEMS}
RARER = {"shown": {1: [3, 4]}}
LIKED = {**GIVEN, "relevance": {1: [3]}}
BOTH = {"relevance": {1: [1, 3]}}

VECTORS = {1: [1, 0], 2: [0, 1], 3: [-2, 0], 4: [1, 1], 5: [0, 0]}
EMBEDDED = {**LIKED, "catalog": catalog(ITEMS, embedding=VECTORS)}
FAR = ((1 + 1) + (1 - 0)) / 2  # item 3 from items 1 and 2, the user's history

# The user's popularity list without their own items 1 and 2 begins with 3; 4 and 5 follow.
UNLIKELY = {"shown": {1: [3, 4]}, "history": HISTORY, "catalog": ITEMS, "relevance": {1: [3, 4]}}

EXAMPLES = {
    "novelty@2": Example((0 + 2) / 2, GIVEN, RARER),
    "arp@2": Example((4 + 1) / 2, GIVEN, RARER),
    "free_discovery@2": Example((log2(8 / 4) + log2(8 / 1)) / 2, GIVEN, RARER),
    "epc@2": Example(H * (1 - 1 / 4) / (1 + H), LIKED, {"shown": {1: [3, 1]}}),
    "epc[background=0.5]@2": Example(
        (1 * 0.5 * 0 + H * (1 - 1 / 4)) / (1 + H), LIKED, {"shown": {1: [3, 1]}}
    ),
    "efd@2": Example(H * 3 / (1 + H), LIKED, BOTH),
    "epd@2": Example(H * FAR / (1 + H), EMBEDDED, BOTH),
    "popularity_lift@2": Example((4 + 1) / 2 / ((4 + 2) / 2) - 1, GIVEN, {"shown": {1: [1, 2]}}),
    "new_to_user@2": Example(1 / 2, GIVEN, RARER),
    # Item 3 is in the popularity list of two, 5 is not.
    "serendipity@2": Example(
        1 / 2,
        {**UNLIKELY, "shown": {1: [3, 5]}, "relevance": {1: [3, 5, 6]}, "catalog": range(1, 7)},
        {"shown": {1: [6, 5]}},
        moves_beyond=True,
    ),
    # Of five items, rank 1 gives 1 and rank 2 0.8; popularities 4, 2, 1 have 1, 0.8, 0.6.
    "serendipity_by_rank@2": Example(
        ((1 - 0.6) + (0.8 - 0.6)) / 2, UNLIKELY, {"shown": {1: [5, 4]}, "relevance": {1: [4, 5]}}
    ),
    "serendipity_by_embedding@2": Example((0 + FAR) / 2, EMBEDDED, {"shown": {1: [3]}}),
    # The mean unit vector of items 1 and 2 is along the diagonal.
    "unexpectedness@2": Example(
        1 - (1 / sqrt(2) - 1 / sqrt(2)) / 2, EMBEDDED, {"shown": {1: [3]}}
    ),
    "new_to_baseline@2": Example(
        1 / 2, {"shown": {1: [1, 3]}, "baseline": {1: [3, 4]}}, {"shown": {1: [1, 2]}}
    ),
    "unexpectedness_to_baseline@2": Example(
        # Items 1 and 2 on the diagonal; 4 lies there, 1 at 45 degrees.
        1 - (1 + 1 / sqrt(2)) / 2,
        {"shown": {1: [4, 1]}, "baseline": {1: [1, 2]}, "catalog": EMBEDDED["catalog"]},
        {"shown": {1: [4, 3]}},
    ),
}  # fmt: skip
