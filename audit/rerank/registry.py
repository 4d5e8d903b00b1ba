"""Ways to rerank: what one is, how one is added, and how one is asked for.

A method is one decorated function in one file of :mod:`audit.rerank.methods`.  It gets the pool of one model and a strength, and gives
the places of the pool that each list shows, best first::

    @method(
        name="freshness", needs=("created_at",), strengths=(0.05, 0.1, 0.2, 0.5),
        strength="what an item of today gains over an old one, in the list's range of scores", source="…",
    )
    def freshness(pool, strength, *, half_life=30.0):
        \"\"\"score + strength · 0.5^(age / half-life).\"\"\"

Strength 0 changes nothing; more of it asks for more of what the method is after.
"""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from audit.dataset.model import I32, Dataset
from audit.dataset.reasons import NEEDS
from audit.errors import ConfigError, choices
from audit.rerank.pool import Pool

Reranker = Callable[..., I32]


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to rerank."""

    name: str
    function: Reranker
    strength: str
    """What the strength is, in words and units."""
    strengths: Sequence[float]
    """Those that a sweep tries, ascending."""
    most: float = math.inf
    """The greatest strength that means something."""
    needs: Sequence[str] = ()
    """As :data:`audit.dataset.reasons.NEEDS`."""
    source: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Name → default."""
    learns: bool = False
    """It is trained on the relevance it is to serve, cross-fitted; no sweep takes it unless it is named."""

    @property
    def formula(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.function) or "").split("\n", 1)[0]

    def lacks(self, d: Dataset) -> str:
        """What would have to be given first; empty where nothing is missing."""
        return "; ".join(NEEDS[need] for need in self.needs if need not in d.has)


_METHODS: dict[str, Method] = {}


def method(
    *, name: str, strength: str, strengths: Sequence[float], source: str, most: float = math.inf,
    needs: Sequence[str] = (), learns: bool = False,
) -> Callable[[Reranker], Reranker]:  # fmt: skip
    """Register a way to rerank; see the module."""

    def register(function: Reranker) -> Reranker:
        parameters = {
            p.name: p.default for p in inspect.signature(function).parameters.values()
            if p.kind is inspect.Parameter.KEYWORD_ONLY
        }  # fmt: skip
        _METHODS[name] = Method(
            name=name, function=function, strength=strength, strengths=tuple(strengths), most=most, needs=tuple(needs),
            source=source, parameters=parameters, learns=learns,
        )  # fmt: skip
        return function

    return register


@cache
def methods() -> Mapping[str, Method]:
    """All of them, by name."""
    import audit.rerank.methods as home

    for module in sorted(pkgutil.iter_modules(home.__path__), key=lambda m: m.name):
        importlib.import_module(f"{home.__name__}.{module.name}")
    return dict(sorted(_METHODS.items()))


def method_named(name: str) -> Method:
    """One of them.

    Raises
    ------
    ConfigError
        There is none of that name; says which there are.
    """
    if name not in methods():
        raise ConfigError(choices("method", name, list(methods())))
    return methods()[name]


def rerank(pool: Pool, name: str, strength: float, **parameters: Any) -> I32:
    """``[lists, depth]``: item codes of the lists that a method makes, best first, −1 beyond a short pool.

    Raises
    ------
    ConfigError
        The method, its strength or a parameter cannot be used, or the data lack what it needs.
    """
    found = method_named(name)
    if not 0 <= strength <= found.most:
        limit = "" if math.isinf(found.most) else f" to {found.most:g}"
        raise ConfigError(
            f"strength = {strength} of method '{name}': give a number from 0{limit} ({found.strength})."
        )
    for given in parameters:
        if given not in found.parameters:
            raise ConfigError(
                choices(f"parameter of method '{name}'", given, list(found.parameters))
            )
    if lacking := found.lacks(pool.d):
        raise ConfigError(f"method '{name}' needs {lacking}.")
    places = found.function(pool, float(strength), **parameters)
    return np.where(
        places >= 0, np.take_along_axis(pool.items, np.maximum(places, 0), axis=1), -1
    ).astype(np.int32)
