"""pytrec_eval (terrier's): trec_eval's measures, by topic."""

from __future__ import annotations

import pytrec_eval
from shared import KS, answer, cases

run, qrels = cases()
CUTS = ",".join(map(str, KS))
MEASURES = {
    f"ndcg_cut.{CUTS}", f"map_cut.{CUTS}", f"P.{CUTS}", f"recall.{CUTS}", f"success.{CUTS}",
    "recip_rank", "Rprec", "bpref", "set_F", "num_ret", "num_rel_ret", "num_nonrel_judged_ret",
}  # fmt: skip
NAMES = {
    "ndcg_cut": "ndcg",
    "map_cut": "map",
    "P": "precision",
    "recall": "recall",
    "success": "hit_rate",
}
WHOLE = {
    "recip_rank": "mrr", "Rprec": "r_precision", "bpref": "bpref",
    "set_F": "precision_denominator=list_length f1",
}  # fmt: skip


def by_name(level: int) -> dict[str, dict[str, float]]:
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, MEASURES, relevance_level=level)
    found: dict[str, dict[str, float]] = {}
    for topic, values in evaluator.evaluate(run).items():
        shown = values.pop("num_ret")
        judged = values.pop("num_rel_ret") + values.pop("num_nonrel_judged_ret")
        found.setdefault("judged@100", {})[topic] = judged / shown
        for measure, value in values.items():
            name, _, k = measure.rpartition("_")
            ours = f"{NAMES[name]}@{k}" if name in NAMES else f"{WHOLE[measure]}@100"
            found.setdefault(ours, {})[topic] = value
    return found


# For infAP every shown document is in the pool: unjudged ones get grade -1.
pooled = {q: {**dict.fromkeys(run.get(q, ()), -1), **of} for q, of in qrels.items()}
inferred = pytrec_eval.RelevanceEvaluator(pooled, {"infAP"}).evaluate(run)
found = by_name(1)
found["infap@100"] = {topic: values["infAP"] for topic, values in inferred.items()}
found |= {f"threshold=2 {name}": values for name, values in by_name(2).items()}
# The condensed lists are the run without unjudged documents.
condensed = {
    q: {i: s for i, s in of.items() if i in qrels[q]} for q, of in run.items() if q in qrels
}
evaluator = pytrec_eval.RelevanceEvaluator(qrels, {f"ndcg_cut.{CUTS}", f"map_cut.{CUTS}"})
for topic, values in evaluator.evaluate({q: of for q, of in condensed.items() if of}).items():
    for measure, value in values.items():
        name, _, k = measure.rpartition("_")
        found.setdefault(f"{NAMES[name]}_condensed@{k}", {})[topic] = value
answer(found)
