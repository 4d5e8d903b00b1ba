"""``audit.toml``: what may be written in it, and what each key means.

Unknown keys are errors that name the nearest valid one.  Paths are relative to the file.
"""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from audit.conventions import Conventions
from audit.errors import ConfigError
from audit.guardrail import GuardrailValue, check_guardrails
from audit.resources import parse_size
from audit.validation import Place, sentences

Surface = Literal["single_answer", "list", "find_all", "grid", "feed", "candidates"]


class Strict(BaseModel):
    """Base of all sections: an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class AuditSection(Strict):
    """``[audit]``: what is asked."""

    name: str = "Recommender audit"
    surface: Surface = "feed"
    k: list[int] = Field(default=[1, 3, 10], min_length=1)
    viewport: int = Field(default=10, ge=1)
    as_of: dt.date | dt.datetime | None = None
    baseline: str = "baseline"
    metrics: list[str] | None = None
    plugins: list[str] = []
    seed: int = Field(default=0, ge=0)
    least_cell: int = Field(default=50, ge=1)
    """Users that a group needs to be reported: smaller ones are put together or suppressed."""

    @field_validator("k")
    @classmethod
    def _positive(cls, ks: list[int]) -> list[int]:
        if min(ks) < 1:
            raise ValueError("K starts at 1")
        return sorted(set(ks))


class TableSection(Strict):
    """A table: its path and, where they differ from the design's, its column names."""

    path: str


class RelevanceSection(Strict):
    """``[relevance]``: what was relevant to whom, and how its grades are read."""

    source: Literal["judgments", "ratings", "purchases", "clicks"] = "judgments"
    path: str | list[str] | None = Field(default=None, validate_default=True)
    """A file, or several: judgments made later, such as a queue of ``recaudit pool`` that was filled in.  With
    ``source = "clicks"`` it may be absent: what was clicked in ``[impressions]`` is then relevant."""
    debiased: bool = False
    """Clicks that were corrected for where items were shown before they became labels."""
    grades: dict[str, int] | None = None
    threshold: float | None = Field(default=None, allow_inf_nan=False)
    format: Literal["trec"] | None = None
    """The format of files whose suffix does not say it."""
    user_id: str | None = None
    item_id: str | None = None
    grade: str | None = None
    judged_at: str | None = None
    request_id: str | None = None

    @field_validator("path")
    @classmethod
    def _needed(cls, path: str | list[str] | None, info: ValidationInfo) -> str | list[str] | None:
        if path is None and info.data.get("source") != "clicks":
            raise PydanticCustomError("missing", "Field required")
        return path

    @model_validator(mode="after")
    def _one_map(self) -> RelevanceSection:
        if self.grades is not None and self.threshold is not None:
            raise ValueError("give grades or threshold, not both")
        return self


class CatalogSection(TableSection):
    """``[catalog]``: every item that could be shown."""

    item_id: str | None = None
    creator_id: str | None = None
    created_at: str | None = None
    embedding: str | None = None
    embedding_prefix: str | None = None
    embedding_file: str | None = None
    categories: str | None = None
    title: str | None = None


class CreatorsSection(TableSection):
    """``[creators]``: names and attributes of the creators."""

    creator_id: str | None = None
    name: str | None = None
    group: str | None = None
    """The attribute whose groups' exposure is measured; the first where absent."""
    target: Literal["catalog", "relevance"] | dict[str, float] = "catalog"
    """What is due to a group: its share of the catalog, of relevance, or as stated."""


class HistorySection(TableSection):
    """``[history]``: the interactions that the models were trained on."""

    user_id: str | None = None
    item_id: str | None = None
    timestamp: str | None = None
    weight: str | None = None
    segments: list[Literal["activity", "taste"]] = []
    """The segments to make of it, beside those that guardrails name; the users table's go before."""
    cold: int = Field(default=5, ge=1)
    """Users with fewer items in their history are cold."""
    heavy: int = Field(default=50, ge=2)
    """Users with as many or more are heavy; those between are light."""

    @model_validator(mode="after")
    def _apart(self) -> HistorySection:
        if self.heavy <= self.cold:
            raise ValueError("heavy must be more than cold: light users lie between")
        return self


class UsersSection(TableSection):
    """``[users]``: attributes of the users, by which the report is segmented."""

    user_id: str | None = None
    segments: list[str] | None = None
    """The attributes to report by; all of them where absent."""


class EligibleSection(TableSection):
    """``[eligible]``: which items may be shown, and to whom: all, one user, or an attribute's users."""

    item_id: str | None = None
    user_id: str | None = None


class ImpressionsSection(TableSection):
    """``[impressions]``: what was shown at which position, and whether it was clicked."""

    impression_id: str | None = None
    user_id: str | None = None
    context_id: str | None = None
    item_id: str | None = None
    position: str | None = None
    click: str | None = None
    propensity: str | None = None
    policy_id: str | None = None
    timestamp: str | None = None
    randomisation: str | None = None


class ClicksSection(Strict):
    """``[clicks]``: how position is taken out of the clicks of ``[impressions]``."""

    debias: Literal["none", "ips", "clipped_ips", "snips"] = "ips"
    """What the verdict is read from; all are shown."""
    clip: float | None = Field(default=None, ge=1, allow_inf_nan=False)
    """The largest weight of ``clipped_ips``; 10 if absent."""
    propensities: str = "em"
    """A method of ``recaudit clicks propensities``, or a file of position and propensity."""
    depth: int | None = Field(default=None, ge=1)
    """Leave out positions of the log beyond it."""


class RecommendationColumns(Strict):
    """``[recommendations]``: format and column names where they differ, the same for all models."""

    format: Literal["trec"] | None = None
    """The format of files whose suffix does not say it."""
    user_id: str | None = None
    item_id: str | None = None
    items: str | None = None
    rank: str | None = None
    score: str | None = None
    request_id: str | None = None
    session_id: str | None = None
    shown_at: str | None = None


class EngineSection(Strict):
    """``[engine]``: where measuring runs, and what may be used.  No result depends on it, and none keeps it."""

    name: Literal["local", "spark"] = "local"
    master: str | None = None
    """Spark: the cluster, such as ``spark://host:7077`` or ``local[4]``; a running session's, or what
    spark-submit or Spark's own configuration says, if absent."""
    parts: int | None = Field(default=None, ge=1)
    """Spark: parts that users are dealt into; by the number of rows if absent."""

    memory_limit: int | str | None = None
    checkpoint: str | None = None
    threads: int | None = Field(default=None, ge=1)

    @field_validator("memory_limit")
    @classmethod
    def _size(cls, size: int | str | None) -> int | str | None:
        if size is not None:
            parse_size(size)
        return size


class Config(Strict):
    """The whole of ``audit.toml``."""

    audit: AuditSection = AuditSection()
    models: dict[str, str | list[str]]
    """Name → its file, or its files: the seeds of one model."""
    recommendations: RecommendationColumns = RecommendationColumns()
    relevance: RelevanceSection | None = None
    catalog: CatalogSection | None = None
    creators: CreatorsSection | None = None
    history: HistorySection | None = None
    users: UsersSection | None = None
    pools: dict[str, str] = {}
    """Model → the file of what its candidate generator returned, with the columns of recommendations."""
    eligible: EligibleSection | None = None
    impressions: ImpressionsSection | None = None
    clicks: ClicksSection | None = None
    conventions: Conventions = Conventions()
    engine: EngineSection = EngineSection()
    guardrails: dict[str, GuardrailValue] = {"profile": "launch"}
    findings: dict[str, bool | dict[str, float | str]] = {}
    """Rule → ``false`` (never asked), or its options and ``severity``."""

    @model_validator(mode="after")
    def _models(self) -> Config:
        if self.audit.baseline not in self.models:
            raise ValueError(
                f"[models] has no '{self.audit.baseline}', the baseline; it has {', '.join(self.models) or 'nothing'}"
            )
        if len(self.models) < 2:
            raise ValueError("[models] needs the baseline and at least one candidate")
        if self.impressions is None:
            if self.clicks is not None:
                raise ValueError(
                    "[clicks] needs [impressions]: the log that position is taken out of"
                )
            if self.relevance is not None and self.relevance.path is None:
                raise ValueError(
                    "[relevance] needs a path, or [impressions] whose clicks are relevance"
                )
        return self

    @field_validator("guardrails", mode="before")
    @classmethod
    def _bounds(cls, guardrails: object) -> object:
        if isinstance(guardrails, dict):
            check_guardrails(guardrails)
        return guardrails


class GuardrailsFile(BaseModel):
    """The ``[guardrails]`` of a TOML file, whatever else it holds."""

    guardrails: dict[str, GuardrailValue]

    @field_validator("guardrails", mode="before")
    @classmethod
    def _bounds(cls, guardrails: object) -> object:
        if isinstance(guardrails, dict):
            check_guardrails(guardrails)
        return guardrails


def load_guardrails(path: str | Path) -> dict[str, Any]:
    """Read the ``[guardrails]`` of a TOML file: an ``audit.toml``, or one of guardrails alone.

    Raises
    ------
    ConfigError
        As :func:`load_config`, or there is no such section.
    """
    path = Path(path)
    data = _toml(path)
    if "guardrails" not in data:
        raise ConfigError(f"{path}: has no section [guardrails].")
    try:
        return GuardrailsFile.model_validate(data, strict=True).guardrails
    except ValidationError as error:
        problems = sentences(error, data, GuardrailsFile, _toml_place)
        raise ConfigError("\n".join(f"{path}: {problem}" for problem in problems)) from None


def load_config(path: str | Path) -> Config:
    """Read ``audit.toml``.  Relative paths in it stay as they are: the caller knows the folder.

    Raises
    ------
    ConfigError
        The file is missing, is not TOML, or holds what it may not: an unknown section or key (with
        the nearest valid one), a value of the wrong kind.  One sentence for each problem.
    """
    path = Path(path)
    data = _toml(path)
    try:
        # Strict: in a file "10" is not a number and true is not 1.
        return Config.model_validate(data, strict=True)
    except ValidationError as error:
        problems = sentences(error, data, Config, _toml_place)
        raise ConfigError("\n".join(f"{path}: {problem}" for problem in problems)) from None


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: there is no such file. 'recaudit init DIR' writes a configuration for the files in DIR."
        ) from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 text (byte {error.start + 1}).") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: is not valid TOML: {error}.") from None


def _toml_place(place: Place) -> str:
    """``("guardrails", "ndcg@10", "min")`` → ``[guardrails] "ndcg@10" min``."""
    section, *rest = place or ("",)
    parts = [f"[{section}]"]
    for part in rest:
        if isinstance(part, int):
            parts.append(f"entry {part + 1}")
        else:
            parts.append(part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else f'"{part}"')
    return " ".join(parts)


def config_from_arguments(
    *,
    baseline: str,
    candidates: Sequence[str],
    relevance: str | None = None,
    catalog: str | None = None,
    creators: str | None = None,
    history: str | None = None,
    users: str | None = None,
    eligible: str | None = None,
    pools: Sequence[str] = (),
    guardrails: str | None = None,
    **settings: Any,
) -> Config:
    """The configuration that the options of ``recaudit run`` describe.

    Parameters
    ----------
    baseline, candidates
        ``path`` or ``name=path``.  Without a name the baseline is ``baseline``, a single candidate
        ``candidate``, and one of several is called like its file.
    relevance, catalog, creators, history, users, eligible
        Paths.
    pools
        ``model=path`` each.
    guardrails
        A profile's name.
    **settings
        Fields of :class:`AuditSection`; ``as_of`` also as ISO text; ``None`` for the default.

    Raises
    ------
    ConfigError
        Two models of one name, or a setting that cannot be followed, named as an option.
    """
    baseline_name, baseline_path = _named(baseline, "baseline")
    models = {baseline_name: baseline_path}
    for text in candidates:
        own_name = "candidate" if len(candidates) == 1 else _stem(text)
        name, path = _named(text, own_name)
        if name in models:
            raise ConfigError(
                f"--candidate {text}: there is a model '{name}' already; give it a name: "
                f"--candidate NAME={path}. Seeds of one model are lists in audit.toml."
            )
        models[name] = path
    if isinstance(settings.get("as_of"), str):
        settings["as_of"] = _moment(settings["as_of"])
    tables = {
        "relevance": relevance,
        "catalog": catalog,
        "creators": creators,
        "history": history,
        "users": users,
        "eligible": eligible,
    }
    pool_of: dict[str, str] = {}
    for text in pools:
        name, path = _named(text, "")
        if name not in models or name in pool_of:
            raise ConfigError(
                f"--pool {text}: name a model and the file of its pool, once each: --pool NAME=PATH. "
                f"The models are {', '.join(models)}."
            )
        pool_of[name] = path
    data: dict[str, Any] = {
        "audit": {"baseline": baseline_name}
        | {key: value for key, value in settings.items() if value is not None},
        "models": models,
        **{name: {"path": path} for name, path in tables.items() if path is not None},
        **({"pools": pool_of} if pool_of else {}),
        **({} if guardrails is None else {"guardrails": {"profile": guardrails}}),
    }
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        problems = sentences(error, data, Config, _option_place)
        raise ConfigError("\n".join(problems)) from None


def _option_place(place: Place) -> str:
    """``("audit", "as_of")`` → ``--as-of``."""
    name = next((str(part) for part in reversed(place) if isinstance(part, str)), "")
    return "--" + name.replace("_", "-")


def _named(text: str, default: str) -> tuple[str, str]:
    """``name=path`` → its parts; a path alone gets the default name."""
    match = re.fullmatch(r"([^=/\\]+)=(.+)", text)
    # A folder of a partitioned data set may be called day=1.
    if match is None or Path(text).exists():
        return default, text
    return match[1], match[2]


def _stem(text: str) -> str:
    """``runs/ease.csv.gz`` → ``ease``."""
    return Path(text).name.split(".")[0]


def _moment(text: str) -> dt.date | dt.datetime:
    try:
        return dt.date.fromisoformat(text) if len(text) <= 10 else dt.datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(
            f"--as-of {text}: write a date such as 2013-07-15, or a time such as 2013-07-15T12:00:00+00:00."
        ) from None
