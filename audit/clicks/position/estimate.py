"""``audit.clicks.propensities``: one call, any method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.clicks.log import ImpressionLog, read_log
from audit.clicks.position import em, harvesting, rates
from audit.clicks.position.cells import Cells, Units, count
from audit.clicks.position.curve import Curve
from audit.clicks.position.identify import require
from audit.errors import ConfigError, choices

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("em", "regression_em", "pivot", "adjacent_chain", "all_pairs", "randomised", "swap", "naive")  # fmt: skip


def propensities(
    log: Any, *, method: str = "em", columns: Mapping[str, str] | None = None, depth: int | None = None,
    features: Any = None, seed: int = 0,
) -> pd.DataFrame:  # fmt: skip
    """How likely each position is to be looked at, relative to the first.

    Parameters
    ----------
    log
        Impressions as :func:`audit.clicks.read_log` reads them.  Relevance is taken to be the same for one ``item_id``
        in one ``context_id``, or, without contexts, for one ``item_id``.
    method
        ``em``, ``regression_em``, ``pivot``, ``adjacent_chain``, ``all_pairs``, ``randomised``, ``swap`` or ``naive``.
    columns
        Design name → the data's name.
    depth
        Leave out positions beyond it.
    features
        For ``regression_em``: a frame of item_id (and context_id) with numbers that relevance is learned from.
    seed
        Of resampling: users, else impressions, else rows are drawn.

    Returns
    -------
    DataFrame
        Index ``position``; ``propensity`` relative to the first position of the log, ``ci_low`` and ``ci_high`` (95 %),
        ``shown``, ``clicks``.  NaN where the method cannot compare a position with the first.  ``attrs["notes"]`` says
        what else is to be known.

    Raises
    ------
    NotIdentifiable
        The log cannot tell position from relevance.
    ConfigError, InputError
        An argument or the log cannot be used.
    """
    found = curve_of(
        read_log(log, columns=columns), method, depth=depth, features=features, seed=seed
    )
    table = found.table
    table.attrs |= {"method": found.method, "unit": found.unit, "notes": list(found.notes)}
    return table


def curve_of(
    log: ImpressionLog, method: str, *, depth: int | None = None, features: Any = None, seed: int = 0
) -> Curve:  # fmt: skip
    """The curve behind :func:`propensities`."""
    if method not in METHODS:
        raise ConfigError(choices("method", method, METHODS))
    if features is not None and method != "regression_em":
        raise ConfigError(f"features belong to regression_em, not to {method}.")
    log = shallow(log, depth)
    cells, units = count(log), Units.of(log, seed)
    click = log.click.astype(np.float64)
    if method == "naive":
        return rates.naive(cells, units, click, seed)
    if method == "randomised":
        return rates.randomised(log, cells, units, seed)
    if method == "swap":
        return _swap(log, cells, units, seed)
    require(cells)
    if method == "regression_em":
        from audit.clicks.position.regression import curve

        found = curve(log, cells, units, features, seed)
    elif method == "em":
        found = replace(em.curve(cells, units, click), seed=seed)
    else:
        ratios = harvesting.harvested(cells, units, click, _WANTED[method])
        found = harvesting.curve(method, ratios, cells, units, seed)
    if log.context is None:
        told = "the log has no context_id: an item is taken to be equally relevant wherever it was shown"
        found = replace(found, notes=(*found.notes, told))
    return found


_WANTED = {
    "pivot": lambda one, _: one == 0,
    "adjacent_chain": lambda one, two: two == one + 1,
    "all_pairs": lambda one, _: one >= 0,
}


def _swap(log: ImpressionLog, cells: Cells, units: Units, seed: int) -> Curve:
    if log.randomisation is None:
        raise ConfigError(
            "swap needs a column 'randomisation' that marks, with the word swap, the two rows of each impression for which a coin was tossed."
        )
    marked = rates.randomised_rows(log, swaps=True)
    return harvesting.curve("swap", harvesting.swapped(log, cells, units, marked), cells, units, seed)  # fmt: skip


def shallow(log: ImpressionLog, depth: int | None) -> ImpressionLog:
    """Without positions beyond ``depth``."""
    if depth is None:
        return log
    if depth < 1:
        raise ConfigError("depth starts at 1.")
    keep = log.position <= depth
    if not keep.any():
        raise ConfigError(f"depth = {depth}: no row is left.")
    rows = {f.name: getattr(log, f.name) for f in fields(log)}
    kept: dict[str, Any] = {n: v[keep] for n, v in rows.items() if isinstance(v, np.ndarray)}
    return replace(log, **kept)


def read_curve(path: Any, log: ImpressionLog, seed: int = 0) -> Curve:
    """A curve from a table: position, propensity and, if known, ci_low and ci_high.

    Raises
    ------
    ConfigError
        It cannot be read, lacks a position of the log, or holds what is no propensity.
    """
    import pandas as pd

    if isinstance(path, pd.DataFrame):
        frame, name = path.reset_index(), "propensities"
    else:
        from audit.inputs.read import open_table

        opened = open_table(Path(path), "propensities")
        frame, name = opened.read(opened.names).to_pandas(), str(path)
    lost = [c for c in ("position", "propensity") if c not in frame]
    if lost:
        raise ConfigError(f"{name}: has no column {lost[0]}; position and propensity are needed, ci_low and ci_high may be there.")  # fmt: skip
    try:
        position = frame["position"].to_numpy(np.int64)
        value = frame["propensity"].to_numpy(np.float64)
        ends = [frame[c].to_numpy(np.float64) for c in ("ci_low", "ci_high") if c in frame]
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{name}: position, propensity and the ends of intervals are numbers: {error}.") from None  # fmt: skip
    order = np.argsort(position, kind="stable")
    known, of = position[order], value[order]
    seen = np.unique(log.position)
    at = np.minimum(np.searchsorted(known, seen), len(known) - 1) if len(known) else seen
    if not len(known) or (known[1:] == known[:-1]).any() or (known[at] != seen).any():
        missing = np.setdiff1d(seen, known)
        why = f"positions {', '.join(map(str, missing[:8]))} of the log are missing" if len(missing) else "a position is there twice"  # fmt: skip
        raise ConfigError(f"{name}: {why}; give each position of the log one propensity.")
    if not ((of[at] > 0) & np.isfinite(of[at])).all():
        raise ConfigError(f"{name}: propensities are numbers above 0.")
    deviation = None
    if len(ends) == 2:
        with np.errstate(invalid="ignore", divide="ignore"):
            deviation = ((np.log(ends[1]) - np.log(ends[0])) / (2 * 1.959964))[order][at]
    log_value = np.log(of[at])
    rows = np.searchsorted(seen, log.position)
    return Curve(
        "table", seen.astype(np.int32), log_value - log_value[0], None,
        np.bincount(rows, minlength=len(seen)).astype(np.float64), np.bincount(rows, log.click, len(seen)).astype(np.float64), "row", seed, deviation,
        () if deviation is not None else ("the table has no intervals: its propensities are taken as exact",),
    )  # fmt: skip
