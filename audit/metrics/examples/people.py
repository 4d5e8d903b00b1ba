"""Worked examples of how much changes for people, and of the mixes that they see."""

from __future__ import annotations

from audit.metrics.examples.example import Example

# Two lists that share the item 2.
_PAIR = {"shown": {1: [1, 2]}, "baseline": {1: [2, 3]}}
_ALIKE = {"shown": {1: [2, 3]}}
_AGREEMENT = "Agreement is 0 at rank 1, and 1/2 at rank 2 and from there on."

# Half of the history is war, half drama; the list is all war.
_MIX = {
    "shown": {1: [1, 3]},
    "history": {1: [1, 2]},
    "catalog": {"items": [1, 2, 3], "categories": {1: ["war"], 2: ["drama"], 3: ["war"]}},
}
_MIXED = {"shown": {1: [1, 2]}}
_SHARES = "The history is half war (p = 0.5) and half drama, the list all war."
# The JS divergence of (1/2, 1/2) and (1, 0), whose middle is (3/4, 1/4).
_JS = "1/2*(0.5*log2(0.5/0.75) + 0.5*log2(0.5/0.25)) + 1/2*1*log2(1/0.75)"

_PAST = {1: [7], 2: [1, 8], 3: [1, 9], 4: [1, 10], 5: [1]}
_TASTES = {"shown": {1: [1], 2: [1, 8], 3: [1, 9], 4: [1, 8], 5: [1, 7]}, "history": _PAST}
_AS_BEFORE = {"shown": _PAST}
_GROUPS = (
    "Item 1 is the blockbuster, 4 of 8 interactions; 7 to 9 are common and 10 is rare. User 1 has no "
    "blockbuster in the history and is of niche taste, user 5 nothing else; users 2 to 4 are diverse."
)
_NICHE = " User 1 knows common items only and is shown the blockbuster only."
_DIVERSE = " User 4 has a rare item behind them and is shown a common one; nothing else is shared."
_BLOCKBUSTER = " User 5 knows the blockbuster only; half of the list is common."
_UPD = {"niche": "1", "diverse": "(0 + 0 + 1/2) / 3", "blockbuster": _JS}

EXAMPLES = {
    "jaccard@2": Example("1 / 3", _PAIR, _ALIKE, note="Item 2 is in both lists; three items are in either."),
    "rbo@2": Example("(1 - 0.9)/0.9 * 1/2 * 0.9**2 + 1/2 * 0.9**2", _PAIR, _ALIKE, note=_AGREEMENT),
    "rbo[p=0.5]@2": Example(
        "(1 - 0.5)/0.5 * 1/2 * 0.5**2 + 1/2 * 0.5**2", _PAIR, _ALIKE, note=_AGREEMENT
    ),
    "category_kl@2": Example(
        "0.5*log(0.5/war) + 0.5*log(0.5/drama)", _MIX, _MIXED,
        where={"war": "0.99*1 + 0.01*0.5", "drama": "0.99*0 + 0.01*0.5"}, note=_SHARES,
    ),
    "category_js@2": Example(_JS, _MIX, _MIXED, note=_SHARES + " The middle is 0.75 and 0.25."),
    "upd_niche@2": Example(
        "1/2*1*log2(1/0.5) + 1/2*1*log2(1/0.5)", _TASTES, _AS_BEFORE, note=_GROUPS + _NICHE
    ),
    "upd_diverse@2": Example(
        "(0 + 0 + user4) / 3", _TASTES, _AS_BEFORE,
        where={"user4": "1/2*0.5*log2(0.5/0.25) + 1/2*0.5*log2(0.5/0.25)"}, note=_GROUPS + _DIVERSE,
    ),
    "upd_blockbuster@2": Example(_JS, _TASTES, _AS_BEFORE, note=_GROUPS + _BLOCKBUSTER),
    "upd@2": Example(
        "(niche + diverse + blockbuster) / 3", _TASTES, _AS_BEFORE, where=_UPD, note=_GROUPS
    ),
    "upd_gap@2": Example(
        "max(niche, diverse, blockbuster) - min(niche, diverse, blockbuster)",
        _TASTES, _AS_BEFORE, where=_UPD, note=_GROUPS,
    ),
}  # fmt: skip
