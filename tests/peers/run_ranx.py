"""ranx, by topic.  Its binary metrics take a level of relevance.

Its RBP adds grades up and its bpref sees no hit but those of grade 1, so these two get plain relevance.
"""

from __future__ import annotations

from ranx import Qrels, Run, evaluate
from shared import KS, answer, cases

run, qrels = cases()
run = {q: of for q, of in run.items() if q in qrels}
qrels = {q: of for q, of in qrels.items() if q in run}
CUT = ("map", "mrr", "precision", "recall", "hit_rate", "f1")
NAMES = {f"{name}@{k}": f"{name}@{k}" for name in CUT for k in KS}
NAMES |= {"r-precision": "r_precision@100"}
LEVEL = {f"{name}-l2": f"threshold=2 {ours}" for name, ours in NAMES.items()}
GRADED = {f"ndcg@{k}": f"gain=linear ndcg@{k}" for k in KS} | {
    f"ndcg_burges@{k}": f"ndcg@{k}" for k in KS
}
plain = {q: {i: int(g > 0) for i, g in of.items()} for q, of in qrels.items()}


def values(truth: dict[str, dict[str, int]], names: dict[str, str]) -> dict[str, dict[str, float]]:
    found = Run({q: run[q] for q in truth})
    evaluate(Qrels(truth), found, list(names))
    return {
        ours: {q: float(v) for q, v in found.scores[name].items()} for name, ours in names.items()
    }


# Its bpref divides by zero on a topic of one kind of judgment, and leaves the topics after it at 0.
both = {q: of for q, of in plain.items() if len(set(of.values())) == 2}
answer(
    values(qrels, NAMES | LEVEL | GRADED)
    | values(both, {"rbp.50": "rbp[p=0.5]@100", "rbp.80": "rbp@100", "bpref": "bpref@100"})
)
