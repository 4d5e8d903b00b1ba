"""The usual names of columns, table by table: data, to be read and added to.

Names are compared by their letters and digits only, so ``userId``, ``User ID`` and ``user_id`` are one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "recommendations", "relevance", "catalog", "creators", "history", "users", "eligible",
    "impressions", "policy",
]  # fmt: skip
"""The last two are read by :mod:`audit.clicks`: what was shown and clicked, and what another policy would show."""


@dataclass(frozen=True)
class Names:
    """The names that one column of the design goes by."""

    usual: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    """Names that mean it only where no usual name is there."""


_USER = Names(
    ("user", "uid", "query_id", "qid", "query", "topic", "topic_id", "customer_id", "customer", "client_id",
     "account_id", "member_id", "visitor_id", "profile_id", "person_id", "reader_id", "reviewer_id")
)  # fmt: skip
_ITEM = Names(
    ("item", "iid", "movie_id", "doc_id", "docno", "document_id", "article_id", "product_id", "sku", "asin",
     "parent_asin", "track_id", "song_id", "book_id", "isbn", "video_id", "news_id", "content_id", "listing_id",
     "post_id", "show_id", "game_id", "app_id", "job_id", "hotel_id", "business_id", "recipe_id", "poi_id"),
    ("movie", "document", "article", "product", "track", "song", "book", "video"),
)  # fmt: skip
_CREATORS = ("creator", "director", "author", "artist", "seller", "provider", "supplier", "merchant", "vendor",
             "uploader", "channel", "publisher", "brand", "producer")  # fmt: skip
_CREATOR = Names(
    tuple(f"{who}_id" for who in _CREATORS), (*_CREATORS, *(f"{w}_name" for w in _CREATORS))
)
_TIMES = ("timestamp", "time", "ts", "datetime", "date_time", "event_time", "event_timestamp")
_REQUEST = Names(("request", "req_id", "list_id", "slate_id", "impression_id"))
_CONTEXTS = ("query_id", "qid", "query", "topic", "topic_id")
_CONTEXT = Names(("context", "page_id", *_CONTEXTS))
_VISITOR = Names(tuple(name for name in _USER.usual if name not in _CONTEXTS))
_POSITION = Names(("pos", "rank", "ranking", "place", "slot"))

COLUMNS: dict[Kind, dict[str, Names]] = {
    "recommendations": {
        "user_id": _USER,
        "item_id": _ITEM,
        "items": Names(("item_ids", "recommendations", "recommended_items", "recommended", "recs", "ranked_items",
                        "item_list", "ranked_list")),
        "rank": Names(("position", "pos", "ranking", "place", "slot")),
        "score": Names(("prediction", "predicted_score", "predicted_rating", "predicted_relevance", "pred", "est",
                        "similarity", "sim", "relevance_score", "probability", "prob", "logit")),
        "request_id": _REQUEST,
        "session_id": Names(("session", "sess_id", "visit_id")),
        "shown_at": Names(("shown", "served_at", "recommended_at", "request_time", "impression_time", *_TIMES),
                          ("date", "created_at", "generated_at")),
    },
    "relevance": {
        "user_id": _USER,
        "item_id": _ITEM,
        "grade": Names(("relevance", "rel", "label", "rating", "relevance_grade", "judgment", "judgement", "gain",
                        "stars"), ("score", "value", "target")),
        "judged_at": Names(("rated_at", "purchased_at", "clicked_at", "interaction_time", *_TIMES),
                           ("date", "created_at")),
        "request_id": _REQUEST,
    },
    "catalog": {
        "item_id": Names(_ITEM.usual, ("id", *_ITEM.weak)),
        "creator_id": _CREATOR,
        "created_at": Names(("release_date", "released_at", "published_at", "publish_date", "published_date",
                             "publication_date", "pub_date", "publish_time", "upload_date", "uploaded_at",
                             "added_at", "date_added", "listed_at", "listing_date", "launch_date"),
                            ("release", "released", "published", "first_seen_at", "release_year", "year",
                             "publication_year", "date", *_TIMES)),
        "embedding": Names(("embeddings", "emb", "item_embedding", "vector", "item_vector")),
        "categories": Names(("category", "genre", "genres", "tags", "tag"), ("topics", "topic")),
        "title": Names(("item_title", "movie_title", "product_title", "book_title", "track_title", "headline",
                        "item_name", "product_name", "track_name"), ("name",)),
    },
    "creators": {
        "creator_id": Names(_CREATOR.usual, ("id", *_CREATORS)),
        "name": Names(tuple(f"{who}_name" for who in _CREATORS), ("full_name", "display_name", "title")),
    },
    "history": {
        "user_id": _USER,
        "item_id": _ITEM,
        "timestamp": Names(("interaction_time", "rated_at", "purchased_at", "clicked_at", *_TIMES[1:]),
                           ("date", "created_at")),
        "weight": Names(("count", "plays", "play_count", "strength", "confidence")),
    },
    "users": {"user_id": Names(_USER.usual, ("id",))},
    "eligible": {"item_id": Names(_ITEM.usual, ("id", *_ITEM.weak)), "user_id": _USER},
    "impressions": {
        "impression_id": Names(("impression", "request_id", *(n for n in _REQUEST.usual if n != "impression_id"))),
        "user_id": _VISITOR,
        "context_id": _CONTEXT,  # a query says what is relevant, so it is the context, not the user
        "item_id": Names((*_ITEM.usual, "action", "action_id")),
        "position": _POSITION,
        "click": Names(("clicked", "clicks", "is_click", "is_clicked", "was_clicked"), ("label",)),
        "reward": Names(("rewards", "payoff", "revenue", "gain"), ("value",)),
        "timestamp": Names(("shown_at", "served_at", "impression_time", "request_time", *_TIMES[1:]),
                           ("date", "created_at")),
        "policy_id": Names(("policy", "policy_name", "logging_policy", "arm", "variant")),
        "propensity": Names(("propensity_score", "pscore", "p_slot", "p_item", "pscore_item_position",
                             "action_probability"), ("probability", "prob")),
        "p_prefix": Names(("pscore_cascade", "prefix_propensity", "propensity_prefix")),
        "p_slate": Names(("pscore_slate", "slate_propensity", "propensity_slate")),
        "examination": Names(("examined", "examination_probability", "p_examine")),
        "randomisation": Names(("randomization", "randomised", "randomized", "exploration")),
        "team": Names(("interleaving_team", "team_id", "ranker", "ranker_id")),
        "credit": Names(("credits", "interleaving_credit")),
        "rank_a": Names(),
        "rank_b": Names(),
    },
    "policy": {
        "item_id": Names((*_ITEM.usual, "action", "action_id")),
        "position": _POSITION,
        "probability": Names(("prob", "propensity", "action_probability", "pi", "p"), ("weight",)),
        "context_id": _CONTEXT,
        "impression_id": Names(("impression", "request_id", *(n for n in _REQUEST.usual if n != "impression_id"))),
        "p_prefix": Names(("pscore_cascade", "prefix_propensity", "propensity_prefix")),
        "p_slate": Names(("pscore_slate", "slate_propensity", "propensity_slate")),
    },
}  # fmt: skip

REQUIRED: dict[Kind, tuple[str, ...]] = {
    "recommendations": ("user_id",),  # and the items: see audit.inputs.recommendations
    "relevance": ("user_id", "item_id"),
    "catalog": ("item_id",),
    "creators": ("creator_id",),
    "history": ("user_id", "item_id"),
    "users": ("user_id",),
    "eligible": ("item_id",),
    "impressions": ("item_id", "position", "click"),
    "policy": ("item_id", "position", "probability"),
}


def canonical(name: str) -> str:
    """``User ID``, ``userId``, ``user_id`` → ``userid``."""
    return "".join(character for character in name.casefold() if character.isalnum())
