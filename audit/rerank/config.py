"""The frontier of an audit's configuration, and one rerank for real."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from audit.config import Config, load_config
from audit.dataset import Dataset, How, read_and_encode
from audit.dataset.candidates import read_candidates
from audit.errors import ConfigError, choices
from audit.inputs.sources import sources_from_arguments, sources_from_config
from audit.rerank.pool import Pool
from audit.rerank.registry import method_named, rerank
from audit.rerank.search import Frontier, frontier
from audit.surfaces import SURFACES, headline_k

if TYPE_CHECKING:
    from audit.rerank.sweep import Progress


def frontier_of(
    config: Config | str | Path, *, base: Path | None = None, candidate: str | None = None, against: str = "tail_share",
    methods: Sequence[str] | None = None, keep: float = 0.9, splits: int | None = None, reference: bool | None = None,
    progress: Progress | None = None,
) -> Frontier:  # fmt: skip
    """The frontier of the audit that a configuration describes.

    Parameters
    ----------
    candidate
        One of its models; the first that is not the baseline if absent.
    against, methods, keep, splits
        As for :func:`audit.rerank.frontier`.
    reference
        Train the reference ranker for the table of headroom; where LightGBM is installed if absent.

    Raises
    ------
    InputError, ConfigError
        The configuration or a table cannot be used, or there is nothing to choose from.
    """
    from dataclasses import replace

    if not isinstance(config, Config):
        base = Path(config).parent if base is None else base
        config = load_config(Path(config))
    a, conventions = config.audit, config.conventions
    sources = sources_from_config(config, Path() if base is None else base)
    others = [m for m in sources.models if m != a.baseline]
    if candidate is not None and candidate not in others:
        raise ConfigError(choices("candidate", candidate, others))
    if sources.relevance is None:
        raise ConfigError(
            "there is no [relevance]: a frontier is of relevance against something else."
        )
    chosen = candidate or others[0]
    creators = config.creators
    how = How(
        conventions, a.viewport, a.as_of, [],
        creator_group=None if creators is None else creators.group,
        creator_target="catalog" if creators is None else creators.target,
    )  # fmt: skip
    d = read_and_encode(sources, how).dataset
    if a.baseline not in d.models:
        raise ConfigError(choices("baseline", a.baseline, list(d.models)))
    candidates = {m: read_candidates(d, sources, m, conventions) for m in (a.baseline, chosen)}
    k = headline_k(a.surface, a.k, a.viewport)
    headline = SURFACES[a.surface].metric
    found = frontier(
        d, candidates, baseline=a.baseline, candidate=chosen, headline=headline, depth=min(k, a.viewport), against=against,
        methods=methods, keep=keep, splits=splits, seed=a.seed, progress=progress,
    )  # fmt: skip
    from audit.learning.lost import headroom

    trained = _lightgbm_is_there() if reference is None else reference
    table = headroom(
        d,
        candidates,
        ks=[n for n in a.k if n <= a.viewport],
        viewport=a.viewport,
        reference=trained,
        seed=a.seed,
    )
    return replace(found, headroom=table.table, findings=[*found.findings, *table.findings])


def _lightgbm_is_there() -> bool:
    from importlib.util import find_spec

    return find_spec("lightgbm") is not None


def rerank_table(
    recommendations: Any, method: str, strength: float, *, k: int | None = None, catalog: Any = None, history: Any = None,
    creators: Any = None, relevance: Any = None, seed: int = 0, parameters: Mapping[str, Any] | None = None,
) -> pa.Table:  # fmt: skip
    """Rerank lists for real.

    Parameters
    ----------
    recommendations
        Candidates with ``score`` or ``rank``, as for :func:`audit.compare`.
    method, strength, parameters
        As for :func:`audit.rerank.rerank`.
    k
        Length of the lists that are made; all candidates if absent.
    catalog, history, creators, relevance
        What the method needs of them; relevance is for a method that learns.
    seed
        Of what is left to chance.

    Returns
    -------
    Table
        ``user_id``, ``request_id`` where given, ``item_id``, ``rank``; by user, request and rank.

    Raises
    ------
    InputError, ConfigError
        A table, the method or its strength cannot be used.
    """
    method_named(method)
    from audit.conventions import Conventions

    conventions = Conventions()
    sources = sources_from_arguments(
        models={"recommendations": recommendations},
        relevance=relevance,
        catalog=catalog,
        history=history,
        creators=creators,
    )
    d = read_and_encode(sources, How(conventions, k or 1)).dataset
    candidates = read_candidates(d, sources, "recommendations", conventions)
    depth = k or candidates.items.shape[1]
    pool = Pool(d, candidates, d.models["recommendations"][0].time, depth, seed)
    return _as_table(d, rerank(pool, method, strength, **(parameters or {})))


def _as_table(d: Dataset, items: np.ndarray) -> pa.Table:
    shown = items >= 0
    row, place = np.nonzero(shown)
    columns = {"user_id": d.users.values.take(pa.array(d.list_user[row]))}
    if len(d.requests):
        columns["request_id"] = d.requests.values.take(pa.array(d.list_request[row]))
    columns["item_id"] = d.items.ids.values.take(pa.array(items[shown]))
    columns["rank"] = pa.array(place + 1, pa.int32())
    return pa.table(columns)
