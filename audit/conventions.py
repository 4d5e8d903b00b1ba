"""The conventions of measurement: each has a default, each is an option, each is printed.

Two libraries that disagree about NDCG usually disagree here.  A convention is chosen in one place and
takes effect in the columns (:mod:`audit.metrics.block`) and vectors, never inside a metric.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from audit.errors import ConfigError, choices

PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "default": {},
        # Grades are gains; ties by document id as text, the last first; a judged topic counts even
        # where nothing is relevant, an unjudged one does not.
        "trec_eval": {
            "gain": "linear", "ties": "item_text_descending", "no_relevant": "zero_if_judged",
        },
        # Relevance has no grades; the ideal list is K relevant items, however few there are; whoever
        # has test items counts, and without a list as 0.
        "rectools": {"gain": "binary", "ideal": "full_k", "users": "all_relevant"},
        # Relevance has no grades; ties by item id, the last first; users as RecTools'; the places that a
        # short list leaves empty hold nothing surprising, and nothing of the baseline's.
        "replay": {
            "gain": "binary", "ap_denominator": "min_k", "ties": "item_id_descending",
            "users": "all_relevant", "novelty_denominator": "k",
        },
        # Ratings are gains; rank 2 is not discounted; short lists are judged by their own length; a
        # list without test items is 0 in its summary.
        "lenskit": {
            "gain": "linear", "discount": "log2_from_2", "ap_denominator": "min_length",
            "precision_denominator": "list_length", "recall_denominator": "min_k",
            "no_relevant": "zero",
        },
        # Relevance has no grades by default; equal scores keep their order.
        "recommenders": {"gain": "binary", "ties": "input_order"},
    }
)  # fmt: skip
"""Name → the conventions that differ from the defaults: those of the library of that name."""


class Conventions(BaseModel):
    """How the conventions of the field are settled in one audit.

    ``preset`` may stand beside the fields: the conventions of a library (:data:`PRESETS`), over which
    the other fields are laid.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    threshold: int = Field(
        1,
        ge=1,
        description="the least grade that counts as relevant where relevance is yes or no",
    )
    gain: Literal["exponential", "linear", "binary"] = Field(
        "exponential",
        description="gain of a grade in DCG: 2^grade − 1, the grade itself, or 1 if it is relevant",
    )
    discount: Literal["log2", "log2_from_2"] = Field(
        "log2", description="discount of a rank in DCG: 1/log2(rank+1), or 1/log2(max(rank, 2))"
    )
    ideal: Literal["achievable", "full_k"] = Field(
        "achievable",
        description="ideal DCG: the best order of min(K, relevant) items, or K items of the top grade",
    )
    ap_denominator: Literal["relevant", "min_k", "min_length"] = Field(
        "relevant",
        description="denominator of average precision: relevant items R, min(R, K), or min(R, shown items)",
    )
    precision_denominator: Literal["k", "list_length"] = Field(
        "k", description="denominator of precision: K, or the number of shown items up to K"
    )
    recall_denominator: Literal["relevant", "min_k"] = Field(
        "relevant", description="denominator of recall: relevant items R, or min(R, K)"
    )
    no_relevant: Literal["leave_out", "zero", "zero_if_judged"] = Field(
        "leave_out",
        description="a user without relevant items: left out of relevance metrics, 0, or 0 only if "
        "anything was judged for them",
    )
    users: Literal["with_lists", "all_relevant"] = Field(
        "with_lists",
        description="evaluated users: with a list under some model, or also those with relevance only",
    )
    ties: Literal[
        "item_id", "item_id_descending", "item_text_descending", "input_order", "error"
    ] = Field(
        "item_id",
        description="order of items with equal scores: by item id (also descending, or descending as "
        "text even where ids are numbers), as in the input, or refuse",
    )
    duplicates: Literal["error", "keep_first"] = Field(
        "error",
        description="an item twice in a list or a judgment twice: refuse, or keep the first",
    )
    exposure: Literal["log2", "geometric"] = Field(
        "log2", description="attention to a rank: 1/log2(rank+1), or patience^(rank−1)"
    )
    patience: float = Field(
        0.8, gt=0, lt=1, description="the chance of going on to the next rank (geometric exposure)"
    )
    gini_population: Literal["catalog", "exposed"] = Field(
        "catalog",
        description="Gini over the whole catalog (or all its creators), or the exposed only",
    )
    gini_divisor: Literal["n", "n_minus_1"] = Field(
        "n", description="Gini Σ(2i−n−1)xᵢ / (n·Σx), or with n−1 in place of n"
    )
    untouched: Literal["one_user", "drop"] = Field(
        "one_user",
        description="an item nobody touched: as novel as if one user had, and of popularity 0; or left out of both",
    )
    novelty_denominator: Literal["list_length", "k"] = Field(
        "list_length",
        description="denominator of novelty, surprisal and what is new against the baseline: the shown items up "
        "to K, or K, also for short lists",
    )
    missing_embedding: Literal["leave_out", "error"] = Field(
        "leave_out", description="an item without an embedding: left out of its metrics, or refuse"
    )
    head_share: float = Field(
        0.8,
        gt=0,
        lt=1,
        description="the head: fewest most-popular items with this share of history",
    )

    @model_validator(mode="before")
    @classmethod
    def _lay_over_preset(cls, given: Any) -> Any:
        if not isinstance(given, Mapping) or "preset" not in given:
            return given
        name = given["preset"]
        if name not in list(PRESETS):  # it may be anything, such as a list
            raise ValueError(choices("conventions preset", name, list(PRESETS)).rstrip("."))
        return {**PRESETS[name], **{key: v for key, v in given.items() if key != "preset"}}


def conventions(given: str | Mapping[str, Any] | Conventions | None = None) -> Conventions:
    """The conventions meant by ``given``.

    Parameters
    ----------
    given
        ``None`` for the defaults; a preset's name (:data:`PRESETS`); or a mapping of changes, to the
        defaults or to the preset that it names as ``preset``.

    Raises
    ------
    ConfigError
        There is no such preset, convention or value; the message lists those there are.
    """
    if given is None:
        return Conventions()
    if isinstance(given, Conventions):
        return given
    try:
        return Conventions.model_validate({"preset": given} if isinstance(given, str) else given)
    except ValidationError as error:
        raise ConfigError(_explain(error)) from None


def _explain(error: ValidationError) -> str:
    sentences = []
    for problem in error.errors():
        if problem["type"] == "value_error":
            sentences.append(f"{problem['ctx']['error']}.")
            continue
        name = str(problem["loc"][0])
        if problem["type"] == "extra_forbidden":
            sentences.append(choices("convention", name, [*Conventions.model_fields, "preset"]))
        else:
            valid = get_args(Conventions.model_fields[name].annotation)
            listed = choices(
                f"value of convention '{name}'", problem["input"], [str(v) for v in valid]
            )
            sentences.append(listed if valid else f"convention '{name}': {problem['msg']}.")
    return "\n".join(sentences)
