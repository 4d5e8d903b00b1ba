"""What is known about the films, their directors and their viewers, as the tables of the audit."""

import re
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize
from sources import slug

EMBEDDING_SIZE = 24
LEAST_RATINGS = 10  # A user with fewer says too little to learn from or to be judged by.
HISTORY_SHARE = 0.8
HEAD_SHARE = 0.8


def make_catalog(matched: pd.DataFrame) -> pd.DataFrame:
    """One row per film; a director's id is the name in a form fit for an id."""
    catalog = matched.assign(
        release_year=matched["year"].astype("int64"),
        creator_id=matched["director"].map(slug, na_action="ignore"),
        publisher_id=matched["distributor"].map(slug, na_action="ignore"),
        categories=matched["genres"].map(genre_list),
    )
    return catalog.assign(embedding=list(embed(catalog)))


def genre_list(genres: str) -> list[str]:
    """The genres that MovieLens joins by bars."""
    return [] if genres == "(no genres listed)" else genres.split("|")


def embed(catalog: pd.DataFrame) -> NDArray[np.float32]:
    """A unit vector per film: truncated SVD of TF-IDF over what its catalog row says.

    Rounded to four decimals, beyond which it would depend on the machine.
    """
    documents = [film_tokens(film) for film in catalog.to_dict("records")]
    weights = TfidfVectorizer(analyzer=list).fit_transform(documents)
    vectors = TruncatedSVD(EMBEDDING_SIZE, random_state=0).fit_transform(weights)
    return np.asarray(np.round(normalize(vectors), 4), dtype=np.float32)


def film_tokens(film: Mapping[Hashable, Any]) -> list[str]:
    """Genres, creative type, source, MPAA rating and decade, in lower-case letters and digits.

    The genre Fantasy and the creative type Fantasy are one token; the others say where they come
    from.  The names of tokens matter: they set the order of columns, and with it the random
    vectors that each column meets in the SVD.
    """
    named = [
        ("", film["creative_type"]),
        ("source", film["story_source"]),
        ("mpaa", film["mpaa_rating"]),
        ("d", str(film["release_year"] // 10 * 10)),
    ]
    known = [prefix + value for prefix, value in named if isinstance(value, str)]
    words = [*film["categories"], *known]
    return [re.sub(r"[^a-z0-9]", "", word.lower()) for word in words]


def make_creators(catalog: pd.DataFrame) -> pd.DataFrame:
    """One row per known director, with two groups counted from the catalog itself."""
    by_director = catalog.dropna(subset=["creator_id"]).groupby("creator_id")
    creators = by_director.agg(
        name=("director", "first"), films=("item_id", "size"), first=("release_year", "min")
    ).reset_index()
    bands = pd.cut(
        creators["films"], [0, 1, 4, np.inf], labels=["one film", "two to four", "five or more"]
    )
    decades = [f"{year // 10 * 10}s" for year in creators["first"]]
    return creators.assign(catalogue_size=bands.astype(str), first_decade=decades)


def split_by_time(ratings: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """History and held-out ratings: of each user's n ratings in time, the first int(0.8 n) and the rest."""
    by_user = ratings.groupby("user_id")["item_id"]
    ratings = ratings[by_user.transform("size") >= LEAST_RATINGS]
    ratings = ratings.sort_values(["user_id", "timestamp", "item_id"], ignore_index=True)
    by_user = ratings.groupby("user_id")["item_id"]
    known = by_user.cumcount() < (HISTORY_SHARE * by_user.transform("size")).astype("int64")
    return ratings[known], ratings[~known]


def grade(ratings: ArrayLike) -> NDArray[np.int64]:
    """Stars as grades of relevance: 5 is 3; 4 and 4.5 are 2; 3.5 is 1; lower is 0, not relevant."""
    return np.searchsorted([3.5, 4.0, 5.0], ratings, side="right")


def head_items(history: pd.DataFrame) -> set[int]:
    """The fewest most-popular items that make up 80 % of the history; ties by item id.

    The item that crosses the line is head.
    """
    popularity = history.groupby("item_id").size().sort_values(ascending=False, kind="stable")
    before = popularity.cumsum() - popularity
    return set(popularity.index[before < HEAD_SHARE * len(history)])


def make_users(history: pd.DataFrame) -> pd.DataFrame:
    """One row per user with a history, in a third by how much and a third by how popular it is."""
    in_head = history["item_id"].isin(head_items(history))
    by_user = in_head.groupby(history["user_id"])
    size, head_share = by_user.size(), by_user.mean()
    users = pd.DataFrame({"user_id": size.index, "history": size.array})
    return users.assign(
        head_share=head_share.array,
        activity=thirds(np.asarray(size, np.float64), ("light", "medium", "heavy")),
        taste=thirds(np.asarray(head_share, np.float64), ("niche", "diverse", "blockbuster")),
    )


def thirds(values: NDArray[np.float64], names: tuple[str, str, str]) -> NDArray[np.str_]:
    """Name each value by its third.

    The cuts are values that occur, and a value equal to a cut lies below it: equal values never
    part, so the thirds are of about equal size, not exactly.
    """
    cuts = np.quantile(values, [1 / 3, 2 / 3], method="inverted_cdf")
    return np.asarray(names)[np.searchsorted(cuts, values, side="left")]
