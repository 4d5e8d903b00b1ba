"""The values of system functionals on the totals of :mod:`audit.inference.groups`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit.inference.exact import Floats
from audit.inference.groups import AdditiveVector

Functional = Callable[..., ArrayLike]
"""Maps total vectors, float64 ``[c, n]`` (one argument per vector), to ``[c]``, row by row."""

_CHUNK = 2**20
"""Numbers of a vector evaluated at a time (8 MB): sorting and summing stay near the cache."""


@dataclass(frozen=True, eq=False)
class ReplicateValues:
    """A functional's values on the totals of one or more vectors.

    Arithmetic is value by value, with numbers or with other values of the same G: ``b - a``,
    ``b - 0.9 * a``, ``(b / a).map(np.log)``.
    """

    values: Floats
    """``[7·G − 1]``: all; less group 0 … G − 1; for Hadamard rows 1 … G − 1 the half of sign +,
    then that of −; for the four calibration rows, + then −, the half less each of its G/2 groups in
    ascending order."""
    groups: int

    def __post_init__(self) -> None:
        if self.values.shape != (7 * self.groups - 1,):
            raise ValueError(f"{self.groups} groups have {7 * self.groups - 1} values")

    @property
    def all(self) -> float:
        """On all users."""
        return float(self.values[0])

    @property
    def leave_out(self) -> Floats:
        """``[G]``: without each group."""
        return self.values[1 : 1 + self.groups]

    @property
    def halves(self) -> Floats:
        """``[2·(G − 1)]``: rows 1 … G − 1, + and − by turns."""
        return self.values[1 + self.groups : 3 * self.groups - 1]

    @property
    def half_leave_out(self) -> Floats:
        """``[8, G/2]``: halves of the calibration rows without each of their groups."""
        return self.values[3 * self.groups - 1 :].reshape(8, self.groups // 2)

    def map(self, fn: Callable[..., Any], *others: ReplicateValues) -> ReplicateValues:
        """``fn(self.values, other.values, …)``, value by value, as :class:`ReplicateValues`."""
        if any(other.groups != self.groups for other in others):
            raise ValueError("values of different numbers of groups do not combine")
        mapped = fn(self.values, *(other.values for other in others))
        return ReplicateValues(np.asarray(mapped, dtype=np.float64), self.groups)

    def _with(
        self, other: ReplicateValues | float, fn: Callable[[Any, Any], Any]
    ) -> ReplicateValues:
        if isinstance(other, ReplicateValues):
            return self.map(fn, other)
        return self.map(lambda x: fn(x, other))

    def __add__(self, other: ReplicateValues | float) -> ReplicateValues:
        return self._with(other, np.add)

    def __sub__(self, other: ReplicateValues | float) -> ReplicateValues:
        return self._with(other, np.subtract)

    def __mul__(self, other: ReplicateValues | float) -> ReplicateValues:
        return self._with(other, np.multiply)

    def __truediv__(self, other: ReplicateValues | float) -> ReplicateValues:
        return self._with(other, np.divide)

    def __rmul__(self, other: float) -> ReplicateValues:
        return self * other

    def __neg__(self) -> ReplicateValues:
        return self.map(np.negative)


def evaluate(
    vectors: Sequence[AdditiveVector],
    functionals: Mapping[str, Functional],
    *,
    chunk: int | None = None,
) -> dict[str, ReplicateValues]:
    """The values of several functionals on the totals of the same vectors.

    Parameters
    ----------
    vectors
        Of one model, or of both, or of several kinds; all of one G.  Their lengths may differ.
    functionals
        By name; each is called with one float64 ``[c, n_i]`` per vector and returns ``[c]``.  The
        arrays are reused afterwards: a functional neither keeps nor changes them.
    chunk
        Totals per call; by default as many as fit 8 MB of the longest vector, and at least one.
        Values of functionals that work row by row do not depend on it.

    Raises
    ------
    ValueError
        No vector, vectors of different G, or a functional whose result has another shape.
    """
    if len({len(v.groups) for v in vectors}) != 1:
        raise ValueError("vectors of one and the same number of groups are needed")
    g = len(vectors[0].groups)
    number = 7 * g - 1
    longest = max(1, *(len(v.rest) for v in vectors))
    rows = min(number, chunk or max(1, _CHUNK // longest))
    buffers = [np.empty((rows, len(v.rest))) for v in vectors]
    values = {name: np.empty(number) for name in functionals}
    streams = [v.totals() for v in vectors]
    for start in range(0, number, rows):
        c = min(rows, number - start)
        for vector, stream, buffer in zip(vectors, streams, buffers, strict=True):
            for i in range(c):
                np.multiply(next(stream), vector.step, out=buffer[i])
        for name, functional in functionals.items():
            result = np.asarray(functional(*(buffer[:c] for buffer in buffers)), dtype=np.float64)
            if result.shape != (c,):
                raise ValueError(f"functional '{name}' returned shape {result.shape}, not ({c},)")
            values[name][start : start + c] = result
    return {name: ReplicateValues(v, g) for name, v in values.items()}


def replicate_values(
    groups: NDArray[Any],
    rest: NDArray[Any],
    functional: Functional,
    *,
    step: float | Floats = 1.0,
    chunk: int | None = None,
) -> ReplicateValues:
    """The values of one functional on the totals of one vector: see :func:`evaluate`."""
    vector = AdditiveVector(groups, rest, step)
    return evaluate([vector], {"value": functional}, chunk=chunk)["value"]
