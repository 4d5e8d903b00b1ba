"""LensKit, by user.  Judgments of grade 0 are no test items of its own; its gains are the ratings.

Importing it imports PyTorch, a large download that its metrics do not use: a stand-in takes its place.
"""

from __future__ import annotations

import math
import sys
from unittest.mock import MagicMock

from shared import KS, answer, cases, relevant

torch = MagicMock()
torch.Tensor = type("Tensor", (), {})
torch.is_tensor = lambda _: False
torch.jit.ignore = lambda function: function
sys.modules["torch"] = torch

from lenskit.data import ItemList  # noqa: E402
from lenskit.metrics import DCG, NDCG, RBP, Hit, Precision, Recall, RecipRank  # noqa: E402
from lenskit.metrics.ranking import AveragePrecision  # noqa: E402

run, qrels = cases()
truth = relevant(qrels)
METRICS = {
    "ndcg": (NDCG, {"gain": "rating"}), "gain=binary ndcg": (NDCG, {}), "dcg": (DCG, {"gain": "rating"}),
    "map": (AveragePrecision, {}), "mrr": (RecipRank, {}), "precision": (Precision, {}),
    "recall": (Recall, {}), "hit_rate": (Hit, {}), "rbp[p=0.85]": (RBP, {}), "rbp[p=0.5]": (RBP, {"patience": 0.5}),
}  # fmt: skip
found: dict[str, dict[str, float]] = {}
tested = {
    topic: ItemList(
        item_ids=list(truth.get(topic, {})), rating=[float(g) for g in truth.get(topic, {}).values()]
    )
    for topic in run
}  # fmt: skip
shown = {}
for topic, scores in run.items():
    best = sorted(scores, key=lambda item: -scores[item])
    shown[topic] = ItemList(item_ids=best, scores=[scores[item] for item in best], ordered=True)
for name, (kind, options) in METRICS.items():
    for k in KS:
        metric, values = kind(n=k, **options), {}
        for topic, items in shown.items():
            if topic in truth:
                values[topic] = float(metric.measure_list(items, tested[topic]))
            else:  # NaN, for which its summary has a default
                values[topic] = float(metric.default)
            assert not math.isnan(values[topic])
        found[f"{name}@{k}"] = values
answer(found)
