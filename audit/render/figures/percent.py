"""Axes in per cent, with true minus signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axis import Axis


def percent_axis(axis: Axis, *, sign: bool = True, ticks: int = 6) -> None:
    """Write the ticks of ``axis``, which are ratios, in per cent; ``sign``: ``+`` where positive."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    def write(value: float, _position: int | None) -> str:
        text = f"{100 * value:g}".replace("-", "\u2212")
        plus = "+" if sign and value > 0 else ""
        return f"{plus}{text}\u2009%"

    axis.set_major_locator(MaxNLocator(nbins=ticks, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(write))
