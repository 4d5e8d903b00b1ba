"""The estimators of off-policy evaluation: one file a family, one table of all of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from audit.clicks.estimators import doubly_robust as robust
from audit.clicks.estimators import slates, weighting
from audit.clicks.evaluation import Evaluation
from audit.clicks.resample import Estimate, ratio
from audit.clicks.tuning import How, chosen
from audit.dataset.model import F64
from audit.errors import ConfigError, choices

Needs = Literal["weights", "model", "categories", "lists"]
Parameter = float | How | None


@dataclass(frozen=True)
class Estimator:
    """One estimator: what it needs, and how it is made of an evaluation and its parameter."""

    make: Callable[[Evaluation, float | None], Estimate]
    title: str
    parameter: str | None = None
    """What its number is called, in brackets: ``switch_dr[tau=5]``."""
    default: Callable[[Evaluation], float | None] = lambda _: None
    """Where no number is given."""
    tuned: Callable[[Evaluation, float], tuple[F64, F64]] | None = None
    """Number → rows and weights, for :mod:`audit.clicks.tuning`."""
    lists: bool = False
    """The value is the reward of one list, not of one slot."""
    top: float = np.inf
    """The largest parameter there is."""


def _ips_rows(e: Evaluation, clip: float) -> tuple[F64, F64]:
    v = weighting.clipped(e.w, clip)
    return v * e.r, v


def _switch_rows(e: Evaluation, tau: float) -> tuple[F64, F64]:
    v = np.where(e.w <= tau, e.w, 0.0)
    return e.d + v * (e.r - e.q), v


def _dros_rows(e: Evaluation, lam: float) -> tuple[F64, F64]:
    v = e.w if np.isinf(lam) else lam * e.w / (e.w**2 + lam)
    return e.d + v * (e.r - e.q), v


def _number(value: float | None) -> float:
    assert value is not None
    return value


def _pseudo_inverse(e: Evaluation, *, normalised: bool) -> Estimate:
    w, total = e.list_weights, e.list_rewards
    rows = slates.first_rows(e.log)
    above, below = np.zeros(len(e.log)), np.zeros(len(e.log))
    above[rows], below[rows] = w * total, w if normalised else 1.0
    return ratio(above, below, w)


def _lambda(e: Evaluation) -> float:
    return weighting.sub_gaussian_lambda(e.w)


ESTIMATORS: dict[str, Estimator] = {
    "ips": Estimator(lambda e, c: weighting.ips(e.w, e.r, c), "inverse propensity score", "clip", tuned=_ips_rows),
    "clipped_ips": Estimator(
        lambda e, c: weighting.ips(e.w, e.r, c), "clipped IPS", "clip",
        lambda e: chosen("slope", lambda c: _ips_rows(e, c), e.w, e.r), _ips_rows,
    ),
    "snips": Estimator(lambda e, c: weighting.snips(e.w, e.r, c), "self-normalised IPS", "clip"),
    "sub_gaussian": Estimator(
        lambda e, x: weighting.sub_gaussian(e.w, e.r, _number(x)), "sub-Gaussian IPS", "lambda", _lambda, top=1.0,
    ),
    "control_variate": Estimator(lambda e, _: weighting.control_variate(e.w, e.r), "IPS with a control variate"),
    "dm": Estimator(lambda e, _: robust.dm(e.d, e.model.influence), "direct method"),
    "dr": Estimator(lambda e, c: robust.dr(e.w, e.r, e.q, e.d, c), "doubly robust", "clip"),
    "sndr": Estimator(lambda e, c: robust.sndr(e.w, e.r, e.q, e.d, c), "self-normalised DR", "clip"),
    "switch_dr": Estimator(
        lambda e, t: robust.switch_dr(e.w, e.r, e.q, e.d, _number(t)), "Switch-DR", "tau",
        lambda e: chosen("slope", lambda t: _switch_rows(e, t), e.w, e.r - e.q), _switch_rows,
    ),
    "dros": Estimator(
        lambda e, x: robust.dros(e.w, e.r, e.q, e.d, _number(x)), "DR with optimistic shrinkage", "lambda",
        lambda e: chosen("slope", lambda x: _dros_rows(e, x), e.w, e.r - e.q), _dros_rows,
    ),
    "sub_gaussian_dr": Estimator(
        lambda e, x: robust.sub_gaussian_dr(e.w, e.r, e.q, e.d, _number(x)), "sub-Gaussian DR", "lambda", _lambda, top=1.0,
    ),
    "mips": Estimator(lambda e, c: weighting.ips(e.category_w, e.r, c), "marginalised IPS", "clip"),
    "snmips": Estimator(lambda e, c: weighting.snips(e.category_w, e.r, c), "self-normalised MIPS", "clip"),
    "sips": Estimator(lambda e, _: slates.by_list(e.log, e.slate_w, e.r), "standard IPS of lists", lists=True),
    "iips": Estimator(lambda e, _: slates.by_list(e.log, e.w, e.r, slots=True), "independent IPS", lists=True),
    "rips": Estimator(lambda e, _: slates.by_list(e.log, e.prefix_w, e.r), "reward interaction IPS", lists=True),
    "snsips": Estimator(lambda e, _: slates.by_position(e.log, e.slate_w, e.r), "self-normalised SIPS", lists=True),
    "sniips": Estimator(lambda e, _: slates.by_position(e.log, e.w, e.r, slots=True), "self-normalised IIPS", lists=True),
    "snrips": Estimator(lambda e, _: slates.by_position(e.log, e.prefix_w, e.r), "self-normalised RIPS", lists=True),
    "cascade_dr": Estimator(
        lambda e, _: slates.cascade_dr(e.log, e.prefix_w, e.r, e.q, e.d), "cascade doubly robust", lists=True
    ),
    "pseudo_inverse": Estimator(lambda e, _: _pseudo_inverse(e, normalised=False), "pseudo-inverse", lists=True),
    "sn_pseudo_inverse": Estimator(
        lambda e, _: _pseudo_inverse(e, normalised=True), "self-normalised pseudo-inverse", lists=True
    ),
}  # fmt: skip
OTHER_NAMES = {
    "ipw": "ips", "clipped": "clipped_ips", "cips": "clipped_ips", "snipw": "snips", "switch": "switch_dr",
    "sub_gaussian_ips": "sub_gaussian", "sgips": "sub_gaussian", "sgipw": "sub_gaussian", "sgdr": "sub_gaussian_dr",
    "mipw": "mips", "snmipw": "snmips", "standard_ips": "sips", "slate_ips": "sips", "independent_ips": "iips",
    "cascade_ips": "rips", "direct_method": "dm", "doubly_robust": "dr", "pi": "pseudo_inverse", "snpi": "sn_pseudo_inverse",
}  # fmt: skip
_FORM = re.compile(r"^([a-zA-Z_\-]+)(?:\[(?:([a-z]+)=)?([^\]]+)\])?$")
_ANY = ("clip", "tau", "lambda", "lam")


def parse(text: str, clip: Parameter) -> tuple[Estimator, Parameter]:
    """``switch_dr[tau=5]`` → the estimator and its parameter; without brackets it is ``clip``.

    Raises
    ------
    ConfigError
        An unknown estimator, or a parameter that it does not take.
    """
    form = _FORM.match(text)
    name = (form[1] if form else text).lower().replace("-", "_")
    name = OTHER_NAMES.get(name, name)
    if form is None or name not in ESTIMATORS:
        raise ConfigError("estimators: " + choices("estimator", text, list(ESTIMATORS)))
    spec = ESTIMATORS[name]
    if form[3] is None:
        return spec, clip if spec.parameter else None
    if spec.parameter is None or (form[2] is not None and form[2] not in _ANY):
        takes = "no parameter" if spec.parameter is None else f"'{spec.parameter}'"
        raise ConfigError(f"estimators: '{text}': {name} takes {takes}.")
    if form[3] in ("slope", "mse"):
        return spec, "slope" if form[3] == "slope" else "mse"
    try:
        return spec, float(form[3])
    except ValueError:
        raise ConfigError(f"estimators: '{text}': '{form[3]}' is no number.") from None


def settled(spec: Estimator, text: str, parameter: Parameter, e: Evaluation) -> float | None:
    """The number that an estimator runs with.

    Raises
    ------
    ConfigError
        A number that it cannot take.
    """
    if spec.parameter is None:
        return None
    if parameter is None:
        return spec.default(e)
    if isinstance(parameter, str):
        if spec.tuned is None:
            raise ConfigError(
                f"estimators: {text}: its {spec.parameter} cannot be tuned; give a number."
            )
        miss = e.r if spec.tuned is _ips_rows else e.r - e.q
        tuned = spec.tuned
        return chosen(parameter, lambda x: tuned(e, x), e.w, miss)
    if not 0 < parameter <= spec.top:
        raise ConfigError(
            f"estimators: {text}: {spec.parameter} = {parameter:g} lies outside (0, {spec.top:g}]; "
            f"write such as {text.split('[', maxsplit=1)[0]}[{spec.parameter}={min(spec.top, 10) / 10:g}]."
        )
    return parameter
