"""Sources from a configuration or from the arguments of a call."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from audit.config import Config, RelevanceSection, TableSection
from audit.errors import ConfigError, choices
from audit.inputs.joined import joined
from audit.inputs.tables import Sources, TableSource

_SETTINGS = {
    "cold",
    "heavy",
    "path",
    "source",
    "format",
    "grades",
    "debiased",
    "threshold",
    "embedding_prefix",
    "embedding_file",
    "segments",
    "group",
    "target",
}
"""Keys of a section that name no column."""


def sources_from_config(config: Config, base: Path) -> Sources:
    """The sources that ``audit.toml`` names.

    Parameters
    ----------
    config
        The configuration.
    base
        The folder that its paths start from, the one it lies in.
    """
    columns = _columns(config.recommendations)
    judged = config.relevance
    models = {
        name: [
            TableSource(
                data=base / path,
                name=_shown(path),
                columns=columns,
                format=config.recommendations.format,
            )
            for path in ([paths] if isinstance(paths, str) else paths)
        ]
        for name, paths in config.models.items()
    }
    for name, seeds in models.items():
        if not seeds:
            raise ConfigError(f"[models] '{name}' names no file.")
    _known_models(config.pools, models)
    users, creators = config.users, config.creators
    return Sources(
        models=models,
        relevance=None if judged is None or judged.path is None else _judgments(judged, base),
        catalog=_table(
            config.catalog,
            base,
            embedding_prefix=getattr(config.catalog, "embedding_prefix", None),
            embedding_file=_beside(getattr(config.catalog, "embedding_file", None), base),
        ),
        creators=_table(creators, base),
        history=_table(config.history, base),
        users=_table(users, base, attributes=None if users is None else users.segments),
        pools={
            name: TableSource(data=base / path, name=_shown(path), columns=columns)
            for name, path in config.pools.items()
        },
        eligible=_table(config.eligible, base),
        impressions=_table(config.impressions, base),
    )


def sources_from_arguments(
    models: Mapping[str, Any],
    *,
    relevance: Any = None,
    catalog: Any = None,
    creators: Any = None,
    history: Any = None,
    users: Any = None,
    pools: Mapping[str, Any] | None = None,
    eligible: Any = None,
    impressions: Any = None,
) -> Sources:
    """The sources that a call names.

    Parameters
    ----------
    models
        Model name → a path, a frame or a :class:`~audit.inputs.tables.TableSource`, or a list of these:
        the seeds of one model.
    relevance, catalog, creators, history, users, eligible, impressions
        One path, frame or source each.
    pools
        Model name → what its candidate generator returned: one path, frame or source each.

    Raises
    ------
    ConfigError
        ``models`` is no mapping or names none, a model has no seed, a pool is of no model, or something
        is no path or frame.
    """
    if not isinstance(models, Mapping):
        raise ConfigError(
            f'give recommendations as a mapping of model name to data, such as {{"baseline": a, "candidate": b}}, '
            f"not as {_kind(models)}."
        )
    if not models:
        raise ConfigError("there are no recommendations: give at least one model.")
    if pools is not None and not isinstance(pools, Mapping):
        raise ConfigError(
            f'give pools as a mapping of model name to data, such as {{"candidate": b}}, not as {_kind(pools)}.'
        )
    given_pools = {
        str(name): source_of(f"pool of '{name}'", p) for name, p in (pools or {}).items()
    }
    _known_models(given_pools, [str(name) for name in models])
    return Sources(
        models={str(name): _seeds(str(name), given) for name, given in models.items()},
        relevance=_all_of("relevance", relevance),
        catalog=source_of("catalog", catalog),
        creators=source_of("creators", creators),
        history=source_of("history", history),
        users=source_of("users", users),
        pools={name: pool for name, pool in given_pools.items() if pool is not None},
        eligible=source_of("eligible", eligible),
        impressions=source_of("impressions", impressions),
    )


def _all_of(what: str, data: Any) -> TableSource | None:
    """One source, or the first of several with the others within."""
    if not isinstance(data, (list, tuple)):
        return source_of(what, data)
    found = [one for one in (source_of(what, part) for part in data) if one is not None]
    if not found or len(found) < len(data):
        raise ConfigError(f"{what}: the list names nothing, or holds None.")
    return joined(found)


def _known_models(pools: Iterable[str], models: Iterable[str]) -> None:
    """Refuse a pool of a model that there is not."""
    for name in pools:
        if name not in models:
            raise ConfigError("pools: " + choices("model", name, list(models)))


def _seeds(name: str, given: Any) -> list[TableSource]:
    many = given if isinstance(given, (list, tuple)) else [given]
    if not many:
        raise ConfigError(f"model '{name}' has no recommendations: the list is empty.")
    seeds = [source_of(f"recommendations of '{name}'", one) for one in many]
    if None in seeds:
        raise ConfigError(f"model '{name}' has no recommendations: None was given.")
    return [seed for seed in seeds if seed is not None]


def source_of(what: str, data: Any) -> TableSource | None:
    """One table of a call; ``None`` where it is not given.

    Raises
    ------
    ConfigError
        It is no path or frame; ``what`` names it.
    """
    if data is None or isinstance(data, TableSource):
        return data
    if isinstance(data, Path) or (isinstance(data, str) and data):
        return TableSource(data=data)
    if (
        hasattr(data, "__arrow_c_stream__")
        or hasattr(data, "__arrow_c_array__")
        or hasattr(data, "columns")
    ):
        return TableSource(data=data)  # whether it is a frame after all, reading will tell
    raise ConfigError(
        f"{what}: give a path, or a pandas, polars or Arrow frame, not {_kind(data)}."
    )


def _kind(data: object) -> str:
    return "an empty text" if isinstance(data, str) and not data else type(data).__name__


def _table(section: TableSection | None, base: Path, **settings: Any) -> TableSource | None:
    if section is None:
        return None
    return TableSource(
        data=base / section.path, name=_shown(section.path), columns=_columns(section), **settings
    )


def _judgments(section: RelevanceSection, base: Path) -> TableSource:
    """One source for each file, the further ones within the first."""
    paths = [section.path] if isinstance(section.path, str) else section.path or []
    if not paths:
        raise ConfigError("[relevance] path names no file.")
    return joined(
        [
            TableSource(
                data=base / path, name=_shown(path), columns=_columns(section),
                grades=section.grades, threshold=section.threshold,
                # Beside qrels, a queue is still a CSV.
                format=None if n and path.casefold().endswith(".csv") else section.format,
            )
            for n, path in enumerate(paths)
        ]
    )  # fmt: skip


def _columns(section: Any) -> dict[str, str]:
    given = section.model_dump(exclude_none=True)
    return {name: column for name, column in given.items() if name not in _SETTINGS}


def _shown(path: str) -> str:
    """A path as given; of an absolute one only the last part (it says nothing elsewhere)."""
    absolute = Path(path).is_absolute() or path.startswith("~") or re.match(r"[A-Za-z]:[\\/]", path)
    return Path(path).name if absolute else path


def _beside(path: str | None, base: Path) -> Path | None:
    return None if path is None else base / path
