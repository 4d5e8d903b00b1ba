"""Which blocks stand side by side: the same on screen and on paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from audit.render.view import Block, Figure, KeyNumbers, Table


@dataclass
class RowOfBlocks:
    """Blocks that stand side by side where there is room, or one below the other (no name)."""

    name: Literal["", "first", "pair"]
    blocks: list[Block] = field(default_factory=list)


def rows(blocks: Sequence[Block]) -> list[RowOfBlocks]:
    """Key numbers stand beside the figure that follows; blocks of half width in pairs."""
    found: list[RowOfBlocks] = []
    for block in blocks:
        last = found[-1] if found else None
        if isinstance(block, KeyNumbers):
            found.append(RowOfBlocks("first", [block]))
        elif isinstance(block, Figure) and last and last.name == "first" and len(last.blocks) == 1:
            last.blocks.append(block)
        elif isinstance(block, (Figure, Table)) and block.width == "half":
            if (
                last
                and last.name == "pair"
                and len(last.blocks) == 1
                and last.blocks[0].kind == block.kind
            ):
                last.blocks.append(block)
            else:
                found.append(RowOfBlocks("pair", [block]))
        elif last and last.name == "":
            last.blocks.append(block)
        else:
            found.append(RowOfBlocks("", [block]))
    return found
