"""The one registry of metrics: what a metric is, how one is added, how one is named.

A metric is a short pure function with a :class:`MetricSpec`.  It knows no file, thread or cluster.
Its *level* says what it gets and what it returns:

========= ============================================================ ==================================
level     the function gets                                            and returns
========= ============================================================ ==================================
list      ``(b, ks)``: a :class:`~audit.metrics.block.Block` of whole  float64 ``[lists, Ks]``, NaN where
          lists of one model, and the Ks as an int64 array             the list has no value
session   ``(b, ks)``: the same, lists grouped by ``b.sessions``       float64 ``[sessions, Ks]``
pair      ``(a, b, ks)``: the baseline's and the candidate's blocks    float64 ``[lists, Ks]``
          of the same users, list by list
system    ``(x)``: a named additive vector, float64 ``[…, n]``          float64 ``[…]``
derived   the values of the metrics named in ``of``, arrays of one     float64, that shape
          shape
========= ============================================================ ==================================

A system metric that does not care which item has which exposure may take a second argument ``times``
with the default ``None``: then it also understands ascending values with how often each occurs, and
long vectors are resampled as histograms instead of being sorted hundreds of times.

Parameters are keyword arguments of the function; their defaults are the metric's defaults.  A
keyword argument ``conventions`` without a default gets the audit's conventions, and on a vector of
creator groups ``target`` and ``merit`` get the groups' due shares and their shares of relevance.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from dataclasses import fields as dataclass_fields
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np

from audit.dataset.reasons import NEEDS
from audit.errors import ConfigError, choices

Level = Literal["list", "session", "pair", "system", "derived"]
Direction = Literal["higher", "lower", "target"]
Family = Literal[
    "relevance", "stages", "coverage", "concentration", "creators", "diversity", "novelty", "freshness",
    "sessions", "users", "other",
]  # fmt: skip
FAMILIES: tuple[Family, ...] = get_args(Family)
"""In the order of the report, of ``explain`` and of the reference."""


TieTreatment = Literal["expected", "ends", "none"]
UnjudgedTreatment = Literal["irrelevant", "apart"]


@dataclass(frozen=True, kw_only=True)
class MetricSpec:
    """All that is known of a metric; feeds ``explain``, the report, the docs and generated tests."""

    name: str
    title: str
    question: str
    formula: str
    level: Level
    direction: Direction
    function: Callable[..., Any]
    unit: str = ""
    range: tuple[float, float] = (0.0, 1.0)
    """Least and greatest possible value; ``inf`` where there is no bound."""
    family: Family = "other"
    needs: frozenset[str] = frozenset()
    parameters: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    citation: str = ""
    convention: Callable[[Any], str] | None = None
    """Given the :class:`~audit.conventions.Conventions`, the sentence printed beside the number."""
    vector: str | None = None
    """Level ``system``: the additive vector, a name of :data:`audit.metrics.vectors.VECTORS`."""
    items: str | None = None
    """Level ``system``: keep only these items of the vector (:data:`audit.metrics.vectors.ITEMS`)."""
    of: tuple[str, ...] = ()
    """Level ``derived``: the metrics whose values the function gets, of level list, session or system."""
    target: float | None = None
    """Direction ``target``: the value to be near to."""
    all_pairs: bool = False
    """Its cost grows with the square of K: where no K is named, it is measured up to the viewport only."""
    counts_empty: bool = False
    """Level ``list``: a user to whom the model showed nothing has a value, that of an empty list, as
    under every metric that needs relevance."""
    default: bool = True
    """Measured where the user names no metrics."""
    graded: bool = False
    """Needs relevance: gets every positive grade as a hit, not only those from the threshold on."""
    ties: TieTreatment = "ends"
    """Family relevance: what is told of ties of scores.  ``expected``: the value is a sum over hits, so that
    the expected columns (:mod:`audit.metrics.ties`) give its exact expectation; ``ends``: only its values
    with the best item of each tie last, and first; ``none``: they cannot move it in a known direction."""
    unjudged: UnjudgedTreatment = "irrelevant"
    """Family relevance: an unjudged item counts as not relevant, or is told apart from such."""
    defined_without_relevant: bool = False
    """Needs relevance: has a value of its own where nothing is relevant, should such lists count."""


REGISTRY: dict[str, MetricSpec] = {}

Metric = Callable[..., Any]


def metric(
    *,
    level: Level,
    direction: Direction,
    needs: Sequence[str] = (),
    name: str | None = None,
    title: str | None = None,
    question: str | None = None,
    formula: str = "",
    by_count: bool = False,
    **fields: Any,
) -> Callable[[Metric], Metric]:
    """Register a metric.  The function is returned unchanged.

    Parameters
    ----------
    level, direction, needs, formula, **fields
        The fields of :class:`MetricSpec`.
    name
        The function's name where absent; lower case letters, digits and ``_``.
    title, question
        Taken from the docstring where absent: its first line is the question the metric answers.
    by_count
        Level ``system`` on an exposure vector: also register ``<name>_by_count``, the same function
        on the vector of counts.

    Raises
    ------
    ConfigError
        A name that is taken or malformed, an unknown level, direction, need, vector or field, a
        parameter that is not a number; nothing is registered then.
    """

    def register(function: Metric) -> Metric:
        settable = {f.name for f in dataclass_fields(MetricSpec)} - {"function", "parameters"}
        for unknown in sorted(fields.keys() - settable):
            given = name or function.__name__
            raise ConfigError(f"metric '{given}': " + choices("field", unknown, sorted(settable)))
        spec_name = name or function.__name__
        doc = inspect.getdoc(function) or ""
        spec = MetricSpec(
            name=spec_name,
            title=title or spec_name.replace("_", " "),
            question=question or doc.split("\n\n")[0].replace("\n", " "),
            formula=formula,
            level=level,
            direction=direction,
            function=function,
            needs=frozenset(needs),
            parameters=MappingProxyType(_parameters(name or function.__name__, function)),
            **fields,
        )
        specs = _both_weightings(spec) if by_count else [spec]
        for each in specs:
            _check(each)
        REGISTRY.update((each.name, each) for each in specs)
        return function

    return register


def _both_weightings(spec: MetricSpec) -> list[MetricSpec]:
    """By exposure and by count, each with a convention that says so."""
    if spec.level != "system" or not str(spec.vector).endswith("_exposure"):
        raise ConfigError(
            f"metric '{spec.name}': by_count needs level 'system' and an exposure vector."
        )
    twin = replace(
        spec,
        name=f"{spec.name}_by_count",
        title=f"{spec.title}, by count",
        vector=str(spec.vector).replace("exposure", "count"),
    )
    return [
        replace(one, convention=_weighted(spec.convention, weighting))
        for one, weighting in ((spec, "exposure"), (twin, "count"))
    ]


def _weighted(own: Callable[[Any], str] | None, weighting: str) -> Callable[[Any], str]:
    def convention(c: Any) -> str:
        from audit.metrics.vectors import weighting_text  # that module needs this one

        return "; ".join([weighting_text(c, weighting), *([own(c)] if own else [])])

    return convention


def _parameters(name: str, function: Metric) -> dict[str, float]:
    found = {}
    for p in inspect.signature(function).parameters.values():
        if p.kind is not inspect.Parameter.KEYWORD_ONLY:
            continue
        if p.default is not inspect.Parameter.empty:
            if isinstance(p.default, bool) or not isinstance(p.default, (int, float)):
                raise ConfigError(
                    f"metric '{name}': parameter '{p.name}' needs a number as default."
                )
            found[p.name] = p.default
        elif p.name not in ("conventions", "target", "merit"):
            raise ConfigError(f"metric '{name}': parameter '{p.name}' needs a default.")
    return found


GROUPS = ("default", "all")
"""Stand for several metrics where metrics are named: those measured by default, and all there are."""


def chosen(names: Iterable[str]) -> list[MetricRef]:
    """The metrics meant by names, among which may be :data:`GROUPS`; each once.

    Raises
    ------
    ConfigError
        As :func:`parse`.
    """
    found: list[MetricRef] = []
    for name in names:
        if name == "default":
            found += default_metrics()
        elif name == "all":
            found += [MetricRef(metric) for metric in REGISTRY]
        else:
            found.append(parse(name))
    return list(dict.fromkeys(found))


def _check(spec: MetricSpec) -> None:
    if spec.name in GROUPS:
        raise ConfigError(f"metric name '{spec.name}' stands for several metrics; choose another.")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", spec.name):
        raise ConfigError(f"metric name '{spec.name}': use lower case letters, digits and '_'.")
    if spec.name in REGISTRY:
        raise ConfigError(f"metric '{spec.name}' is already registered; choose another name.")
    for what, given, valid in (
        ("level", spec.level, get_args(Level)),
        ("direction", spec.direction, get_args(Direction)),
        ("family", spec.family, get_args(Family)),
        ("treatment of ties", spec.ties, get_args(TieTreatment)),
        ("treatment of unjudged items", spec.unjudged, get_args(UnjudgedTreatment)),
        *(("need", need, tuple(NEEDS)) for need in sorted(spec.needs)),
    ):
        if given not in valid:
            raise ConfigError(f"metric '{spec.name}': " + choices(what, given, valid))
    if spec.direction == "target" and spec.target is None:
        raise ConfigError(
            f"metric '{spec.name}': direction 'target' needs target=, the value to be near to."
        )
    if not spec.range[0] < spec.range[1]:
        raise ConfigError(f"metric '{spec.name}': range {spec.range} is empty.")
    if spec.level == "system":
        _check_vector(spec)
    if spec.level == "derived":
        _check_parts(spec)


def _check_vector(spec: MetricSpec) -> None:
    from audit.metrics.vectors import ITEMS, VECTORS  # that module needs this one

    if spec.vector is None:
        raise ConfigError(
            f"metric '{spec.name}': level 'system' needs vector=, one of {', '.join(VECTORS)}."
        )
    if spec.vector not in VECTORS:
        raise ConfigError(f"metric '{spec.name}': " + choices("vector", spec.vector, list(VECTORS)))
    if spec.items is not None and spec.items not in ITEMS:
        raise ConfigError(f"metric '{spec.name}': " + choices("items", spec.items, list(ITEMS)))
    needs = {f"vector '{spec.vector}'": VECTORS[spec.vector].need}
    if spec.items is not None:
        needs[f"items '{spec.items}'"] = ITEMS[spec.items].need
    for what, need in needs.items():
        if need is not None and need not in spec.needs:
            raise ConfigError(f"metric '{spec.name}': {what} requires needs=('{need}',).")


def _check_parts(spec: MetricSpec) -> None:
    if not spec.of:
        raise ConfigError(
            f"metric '{spec.name}': level 'derived' needs of=(…), the metrics it is made of."
        )
    for part in spec.of:
        if part not in REGISTRY:
            raise ConfigError(f"metric '{spec.name}': " + choices("metric", part, sorted(REGISTRY)))
        if REGISTRY[part].level in ("pair", "derived"):
            raise ConfigError(
                f"metric '{spec.name}': it cannot be derived of '{part}', which is itself of level "
                f"'{REGISTRY[part].level}'; name metrics of level list, session or system."
            )


@functools.cache
def _takes(function: Metric) -> frozenset[str]:
    """Names of a function's parameters: asked for at every block."""
    return frozenset(inspect.signature(function).parameters)


@dataclass(frozen=True, order=True)
class MetricRef:
    """A metric with its parameters and, once measured, its K: ``fresh_share[days=7]@10``."""

    name: str
    parameters: tuple[tuple[str, float], ...] = ()
    """Those that differ from the defaults, sorted by name."""
    k: int | None = None

    @property
    def spec(self) -> MetricSpec:
        """What is registered under the name."""
        return REGISTRY[self.name]

    @property
    def values(self) -> dict[str, float]:
        """All parameters with their values."""
        return {**self.spec.parameters, **dict(self.parameters)}

    def call(self, *args: Any, conventions: Any, **known: Any) -> Any:
        """The metric's function on ``args``, with its parameters; 0/0 is NaN: no value.

        Of ``conventions`` and ``known`` it gets what it has a keyword argument for.
        """
        function = self.spec.function
        given: dict[str, Any] = dict(self.values)
        known["conventions"] = conventions
        asked = _takes(function)
        given.update((name, value) for name, value in known.items() if name in asked)
        with np.errstate(divide="ignore", invalid="ignore"):
            return function(*args, **given)

    @property
    def symmetric(self) -> bool:
        """Level ``system``: whether the function understands ``times``."""
        return "times" in _takes(self.spec.function)

    def at(self, k: int) -> MetricRef:
        """The same metric at K."""
        return MetricRef(self.name, self.parameters, k)

    def __str__(self) -> str:
        inside = ",".join(f"{name}={_short(value)}" for name, value in self.parameters)
        return (
            self.name + (f"[{inside}]" if inside else "") + ("" if self.k is None else f"@{self.k}")
        )


def _short(value: float) -> str:
    """The shortest text that reads as the same number."""
    return repr(float(value)).removesuffix(".0")


_NAME = re.compile(r"(?P<name>[A-Za-z0-9_]+)(\[(?P<inside>[^\]]*)\])?(@(?P<k>[0-9]+))?")


def parse(text: str) -> MetricRef:
    """``"rbp[p=0.5]@10"`` → a :class:`MetricRef`; parameters equal to the default are dropped.

    Raises
    ------
    ConfigError
        An unknown metric or parameter (naming the nearest), or a malformed name.
    """
    match = _NAME.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"'{text}' is not a metric name; write it like ndcg@10 or rbp[p=0.8]@10.")
    if match["name"] not in REGISTRY:
        raise ConfigError(choices("metric", match["name"], sorted(REGISTRY)))
    spec = REGISTRY[match["name"]]
    given: dict[str, float] = {}
    for part in filter(None, (match["inside"] or "").split(",")):
        key, _, value = (piece.strip() for piece in part.partition("="))
        if key not in spec.parameters:
            listed = choices("parameter", key, list(spec.parameters) or ["none"])
            raise ConfigError(f"metric '{spec.name}': {listed}")
        if key in given:
            raise ConfigError(f"'{text}': parameter '{key}' is given twice.")
        given[key] = _number(text, key, value)
    changed = sorted((key, value) for key, value in given.items() if value != spec.parameters[key])
    k = int(match["k"]) if match["k"] else None
    if k == 0:
        raise ConfigError(f"'{text}': K starts at 1.")
    return MetricRef(spec.name, tuple(changed), k)


def _number(text: str, key: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ConfigError(f"'{text}': parameter '{key}' needs a number, not '{value}'.")
    return number


def default_metrics() -> list[MetricRef]:
    """The metrics measured where the user names none, in the order of the registry."""
    return [MetricRef(name) for name, spec in REGISTRY.items() if spec.default]


def closure(refs: Iterable[MetricRef]) -> list[MetricRef]:
    """``refs`` and, before each derived metric, the metrics that it is derived of; no repeats."""
    found: dict[MetricRef, None] = {}

    def visit(ref: MetricRef) -> None:
        for name in ref.spec.of:
            visit(MetricRef(name, (), ref.k))
        found.setdefault(ref)

    for ref in refs:
        visit(ref)
    return list(found)
