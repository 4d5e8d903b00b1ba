from __future__ import annotations

from typing import Any

import pytest

from audit.inputs.columns import match, nearest_column, recognise
from audit.inputs.log import Log, Scope
from audit.inputs.names import COLUMNS, Kind, canonical


def settle(
    kind: Kind, names: list[str], mapping: dict[str, str] | None = None
) -> tuple[dict[str, str], list[Any]]:
    log = Log()
    columns = recognise(kind, names, mapping or {}, Scope(kind, log, 0, f"[{kind}]"))
    return columns, log.issues


@pytest.mark.parametrize(
    "name",
    ["userId", "user_id", "UserID", "USER_ID", "user id", "User-Id", "query_id", "qid", "topic"],
)
def test_users(name: str) -> None:
    assert settle("users", [name]) == ({"user_id": name}, [])


@pytest.mark.parametrize(
    "name", ["movieId", "doc_id", "docno", "article_id", "ItemID", "ProductId"]
)
def test_items(name: str) -> None:
    assert settle("history", [name, "user"])[0] == {"user_id": "user", "item_id": name}


@pytest.mark.parametrize(
    ("kind", "column", "names"),
    [
        (
            "catalog",
            "created_at",
            ["release_date", "published_at", "publishedAt", "ReleaseDate", "year"],
        ),
        (
            "catalog",
            "creator_id",
            ["director", "author", "artist", "seller", "artist_id", "director_name"],
        ),
        ("catalog", "categories", ["genres", "genre", "category", "tags", "topic"]),
        ("catalog", "title", ["name", "headline", "movieTitle"]),
        ("catalog", "embedding", ["vector", "emb", "itemEmbedding"]),
        ("relevance", "grade", ["rating", "label", "relevance", "rel", "score"]),
        ("relevance", "judged_at", ["timestamp", "ts", "time", "date"]),
        ("history", "timestamp", ["time", "ts", "event_time", "date", "eventTime"]),
        ("recommendations", "rank", ["position", "pos", "Rank"]),
        ("recommendations", "score", ["prediction", "pred", "est"]),
        ("recommendations", "shown_at", ["timestamp", "shownAt", "served_at"]),
        ("recommendations", "items", ["item_ids", "recommendations", "itemList"]),
        ("creators", "name", ["director_name", "full_name", "Name"]),
    ],
)
def test_usual_names(kind: Kind, column: str, names: list[str]) -> None:
    for name in names:
        assert match(kind, [name]).columns == {column: name}


def test_no_name_means_two_columns_of_one_table() -> None:
    for kind, columns in COLUMNS.items():
        for step in ("usual", "weak"):
            seen: dict[str, str] = {}
            for column, known in columns.items():
                for name in map(canonical, getattr(known, step)):
                    assert seen.setdefault(name, column) == column, (kind, name)


def test_a_bare_id_counts_only_where_it_can_mean_one_thing() -> None:
    assert match("catalog", ["id"]).columns == {"item_id": "id"}
    assert match("catalog", ["id", "movie_id"]).columns == {"item_id": "movie_id"}
    assert match("recommendations", ["id"]).columns == {}


def test_the_designs_own_name_comes_first_and_a_note_says_so() -> None:
    columns, (issue,) = settle("relevance", ["user_id", "item_id", "grade", "rating"])
    assert columns["grade"] == "grade"
    assert issue.severity == "info"
    assert "'grade' is used; 'rating' could also be meant" in issue.message
    assert issue.remedy == 'If it is meant, write grade = "rating" in [relevance].'


def test_a_weak_name_beside_a_usual_one_is_no_matter() -> None:
    assert settle("catalog", ["item_id", "release_date", "release_year"])[1] == []


def test_the_same_name_twice_in_other_letters_is_ambiguous() -> None:
    columns, (issue,) = settle("users", ["userId", "user_id"])
    assert columns == {}
    assert (issue.check, issue.severity) == ("ambiguous_columns", "error")
    assert "'userId', 'user_id' could each be 'user_id'" in issue.message


def test_a_mapping_ends_ambiguity_and_frees_the_column() -> None:
    names = ["item_id", "release_date", "published_at", "director"]
    columns, issues = settle("catalog", names, {"created_at": "published_at", "title": "director"})
    assert columns == {"item_id": "item_id", "created_at": "published_at", "title": "director"}
    assert issues == []


def test_a_mapped_column_that_is_not_there() -> None:
    _, (issue,) = settle("catalog", ["item_id", "Director"], {"creator_id": "directer"})
    assert (
        "mapped to 'directer', which is not there; the columns are 'item_id', 'Director'"
        in issue.message
    )
    assert "Did you mean 'Director'?" in issue.remedy


def test_a_mapping_of_no_column() -> None:
    _, (issue,) = settle("users", ["user_id"], {"user": "user_id"})
    assert "unknown column 'user'. Did you mean 'user_id'?" in issue.message


def test_a_missing_column_names_those_there_and_the_nearest_and_the_key() -> None:
    _, (issue,) = settle("history", ["usr_id", "item"])
    assert issue.column == "user_id"
    assert "the columns are 'usr_id', 'item'" in issue.message
    assert (
        issue.remedy
        == "Did you mean 'usr_id'? Map it with user_id = \"usr_id\" in [history], or rename the column."
    )


def test_nothing_near() -> None:
    assert nearest_column("history", "user_id", ["zzz", "qqq"]) is None
    _, (issue,) = settle("users", ["zzz"])
    assert issue.remedy == 'Map it with user_id = "…" in [users], or rename the column.'
