"""The losses by name, and one call for all of them."""

from __future__ import annotations

import difflib
import inspect

import numpy.typing as npt

from audit.errors import ConfigError
from audit.learning.batch import F64, Loss, batch_of
from audit.learning.listwise import approx_ndcg, listmle, listnet, softmax
from audit.learning.pairwise import grade_difference, lambdaloss, lambdarank, ndcg_loss2, ranknet

LOSSES: dict[str, Loss] = {
    "ranknet": ranknet,
    "grade_difference": grade_difference,
    "lambdarank": lambdarank,
    "ndcg_loss2": ndcg_loss2,
    "lambdaloss": lambdaloss,
    "softmax": softmax,
    "listnet": listnet,
    "listmle": listmle,
    "approx_ndcg": approx_ndcg,
}
"""Name → the function of a :class:`~audit.learning.batch.Batch`, whose docstring has the formula and the source."""


def loss(
    name: str, scores: npt.ArrayLike, grades: npt.ArrayLike, *, gain: str = "exponential", k: int | None = None,
    **parameters: float,
) -> tuple[F64, F64]:  # fmt: skip
    """The value of a loss for each list, and its gradient by the scores.

    Parameters
    ----------
    name
        One of :data:`LOSSES`.
    scores, grades
        ``[lists, items]``, or ``[items]`` for one list.  A shorter list ends in grades of NaN.  Equal scores
        rank in the order given.
    gain
        ``exponential`` (2^grade − 1) or ``linear``, for the losses that weigh by NDCG.
    k
        The training truncation: NDCG@k in ``lambdarank``, ``ndcg_loss2`` and ``lambdaloss``, the first k places of
        ``listmle``, the ideal of ``approx_ndcg``; the other losses take the whole list.
    parameters
        ``sigma`` of the pairwise losses, ``mu`` of ``lambdaloss``, ``alpha`` of ``approx_ndcg``.

    Returns
    -------
    value, gradient
        ``[lists]``, summed over the pairs or items of a list, not averaged; and ``[lists, items]``, 0 at padding.

    Raises
    ------
    ConfigError
        There is no such loss or parameter, or the arrays cannot be used.

    Examples
    --------
    >>> value, gradient = loss("ranknet", [1.2, 0.4, 1.9], [1, 2, 0])
    >>> round(float(value[0]), 10)
    3.9756999928
    """
    function = loss_named(name)
    known = [p for p in inspect.signature(function).parameters if p != "b"]
    for given in parameters:
        if given not in known:
            raise ConfigError(
                f"the loss '{name}' has no parameter '{given}'; it has {', '.join(known) or 'none'}."
            )
    return function(batch_of(scores, grades, gain=gain, k=k), **parameters)


def loss_named(name: str) -> Loss:
    """The function of a loss.

    Raises
    ------
    ConfigError
        There is none of that name; says which there are.
    """
    if name not in LOSSES:
        near = difflib.get_close_matches(name, LOSSES, 1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise ConfigError(f"there is no loss '{name}'.{hint} There are {', '.join(LOSSES)}.")
    return LOSSES[name]
