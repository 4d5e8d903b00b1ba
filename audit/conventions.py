"""The conventions of measurement: each has a default, each is an option, each is printed.

Two libraries that disagree about NDCG usually disagree here.  A convention is chosen in one place and
takes effect in the columns (:mod:`audit.metrics.block`) and vectors, never inside a metric.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from audit.errors import ConfigError, choices


class Conventions(BaseModel):
    """How the conventions of the field are settled in one audit."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    gain: Literal["exponential", "linear"] = Field(
        "exponential", description="gain of a grade in DCG: 2^grade − 1, or the grade itself"
    )
    discount: Literal["log2", "log2_from_2"] = Field(
        "log2", description="discount of a rank in DCG: 1/log2(rank+1), or 1/log2(max(rank, 2))"
    )
    ideal: Literal["achievable", "full_k"] = Field(
        "achievable",
        description="ideal DCG: the best order of min(K, relevant) items, or K items of the top grade",
    )
    ap_denominator: Literal["relevant", "min_k"] = Field(
        "relevant", description="denominator of average precision: relevant items R, or min(R, K)"
    )
    precision_denominator: Literal["k", "list_length"] = Field(
        "k", description="denominator of precision: K, or the number of shown items up to K"
    )
    recall_denominator: Literal["relevant", "min_k"] = Field(
        "relevant", description="denominator of recall: relevant items R, or min(R, K)"
    )
    no_relevant: Literal["leave_out", "zero"] = Field(
        "leave_out",
        description="a user without relevant items: left out of relevance metrics, or 0",
    )
    users: Literal["with_lists", "all_relevant"] = Field(
        "with_lists",
        description="evaluated users: with a list under some model, or also those with relevance only",
    )
    ties: Literal["item_id", "input_order", "error"] = Field(
        "item_id",
        description="order of items with equal scores: by item id, as in the input, or refuse",
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
        "one_user", description="novelty of an item nobody touched: as if one user had, or left out"
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


def conventions(given: str | Mapping[str, Any] | Conventions | None = None) -> Conventions:
    """The conventions meant by ``given``: ``None`` for the defaults, or a mapping of changes."""
    if given is None:
        return Conventions()
    if isinstance(given, Conventions):
        return given
    if isinstance(given, str):
        if given != "default":
            raise ConfigError(choices("conventions preset", given, ["default"]))
        return Conventions()
    try:
        return Conventions(**given)
    except ValidationError as error:
        raise ConfigError(_explain(error)) from None


def _explain(error: ValidationError) -> str:
    sentences = []
    for problem in error.errors():
        name = str(problem["loc"][0])
        if problem["type"] == "extra_forbidden":
            sentences.append(choices("convention", name, list(Conventions.model_fields)))
        else:
            valid = get_args(Conventions.model_fields[name].annotation)
            listed = choices(
                f"value of convention '{name}'", problem["input"], [str(v) for v in valid]
            )
            sentences.append(listed if valid else f"convention '{name}': {problem['msg']}.")
    return "\n".join(sentences)
