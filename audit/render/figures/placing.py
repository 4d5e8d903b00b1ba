"""Where names go in a scatter plot: beside their points, clear of one another and of the marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

CHARACTER = 0.56
"""Mean width of a character, in font sizes."""


@dataclass(frozen=True)
class Box:
    """A rectangle in points."""

    left: float
    bottom: float
    right: float
    top: float

    def overlap(self, other: Box) -> float:
        """The area that both cover."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(width, 0.0) * max(height, 0.0)

    def outside(self, frame: Box) -> float:
        """How far this reaches out of ``frame``, summed over the sides."""
        return (
            max(frame.left - self.left, 0.0)
            + max(self.right - frame.right, 0.0)
            + max(frame.bottom - self.bottom, 0.0)
            + max(self.top - frame.top, 0.0)
        )


def around(mark: Box, text: str, size: float) -> list[Box]:
    """Places for ``text`` around ``mark``: right and left, above and below, then further off."""
    width, height = CHARACTER * size * len(text), 1.15 * size
    x, y = (mark.left + mark.right) / 2, (mark.bottom + mark.top) / 2
    places = []
    for step in (0.0, 1.0, 2.0, 3.0):
        for up in (True, False):
            bottom = y + 3 + step * height if up else y - 3 - (step + 1) * height
            for left in (mark.right + 1, x - width / 2, mark.left - 1 - width):
                places.append(Box(left, bottom, left + width, bottom + height))
    return places


def best(places: Sequence[Box], taken: Sequence[Box], frame: Box) -> Box:
    """The first place with the least overlap with ``taken`` that stays in ``frame``."""
    return min(
        places, key=lambda place: sum(place.overlap(b) for b in taken) + 50 * place.outside(frame)
    )
