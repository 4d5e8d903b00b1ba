"""Do the items of one list differ from each other?"""

from __future__ import annotations

from audit.dataset.model import F64, I64
from audit.metrics.block import Block
from audit.metrics.registry import metric


@metric(
    level="list", needs=("embedding",), direction="higher", family="diversity",
    title="intra-list diversity", formula="mean of 1 − cosine(vᵢ, vⱼ) over the list's pairs",
    range=(0.0, 2.0),
    convention=lambda _: "items without an embedding are left out; fewer than two such items: no value",
    citation="Ziegler et al., WWW 2005; Smyth & McClave, ICCBR 2001",
)  # fmt: skip
def ild(b: Block, ks: I64) -> F64:
    """How different are the items of one list from each other?"""
    return 1 - b.pair_similarity(ks)
