"""What a worked example is, and what its working comes to.

A working is arithmetic as it stands in the text: numbers, names of parts, ``+ - * / **``, and the
functions of :data:`FUNCTIONS`.  It reads as Python, but nothing else of Python is understood.
"""

from __future__ import annotations

import ast
import math
import operator
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "abs": abs,
    "exp": math.exp,
    "log": math.log,
    "log2": math.log2,
    "max": max,
    "median": lambda *values: statistics.median(values),
    "min": min,
    "sqrt": math.sqrt,
}
_BINARY: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


@dataclass(frozen=True)
class Example:
    """A metric's value of a few small tables, worked out by hand.

    ``given`` and ``better`` are plain data, by what they stand for; users and items are integers,
    times are days.

    ==================== =====================================================================
    ``shown``            the lists: user (or (user, request)) → items, best first
    ``baseline``         another model's lists beside them
    ``shown_at``         by the keys of both: when
    ``session``          by the keys of both: in which session
    ``relevance``        user (or (user, request)) → relevant items, or item → grade
    ``history``          user → items
    ``catalog``          items, or what is known of them: ``items``, and by item ``categories``,
                         ``creators``, ``created``, ``embedding``
    ``creators``         creator → attribute → value
    ``users``            user → attribute → value
    ``pools``            model → user → items
    ``eligible``         items that may be shown
    ``as_of``            the time of the audit
    ``conventions``      those that differ from the defaults
    ==================== =====================================================================
    """

    working: str
    """The value as arithmetic: ``"(1 + 3/2) / (3 + h + 1/2)"``."""
    given: Mapping[str, Any]
    better: Mapping[str, Any]
    """What changes in ``given`` so that the metric gets better in its sense."""
    where: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Parts that the working names, as arithmetic; each may name those before it."""
    note: str = ""
    """What a reader would otherwise have to find out; whole sentences."""
    moves_beyond: bool = False
    """Whether the metric moves with K where all lists are shorter than K: it divides by K, say."""
    looks_beyond: bool = False
    """Whether items beyond K matter."""

    @property
    def value(self) -> float:
        """What the working comes to."""
        names: dict[str, float] = {}
        for name, part in self.where.items():
            names[name] = worked_out(part, names)
        return worked_out(self.working, names)


def worked_out(text: str, names: Mapping[str, float] = MappingProxyType({})) -> float:
    """The value of arithmetic.

    Raises
    ------
    ValueError
        Anything else than numbers, ``names``, the four operations, powers and :data:`FUNCTIONS`.
    """

    def value(node: ast.expr) -> float:
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return number
            case ast.Name(id=name) if name in names:
                return names[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return _BINARY[type(op)](value(left), value(right))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
                return FUNCTIONS[name](*map(value, args))
        raise ValueError(f"'{ast.unparse(node)}' in '{text}' is no arithmetic.")

    return float(value(ast.parse(text, mode="eval").body))
