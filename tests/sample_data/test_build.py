"""The committed files say what the README says, and a build from sources writes such files."""

import json
import math
import tomllib
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from build import LIST_LENGTH, SCHEMAS, as_table, main
from models import MODELS, best_items
from tables import embed

# NDCG and catalog coverage by counts at 10, as published with the data that the build follows.
PUBLISHED = {
    "popularity": (0.074385, 0.041632),
    "itemknn": (0.102069, 0.094505),
    "puresvd": (0.118056, 0.216486),
    "eigenrec": (0.085085, 0.409242),
    "ials": (0.109401, 0.260616),
    "ease": (0.128241, 0.181099),
    "ease_debiased": (0.120508, 0.291007),
}
each_model = pytest.mark.parametrize("model", PUBLISHED)


def pairs(frame):
    return set(zip(frame["user_id"], frame["item_id"], strict=True))


def test_the_folder_is_small(sample):
    films = [*sample.glob("*.parquet"), *sample.glob("models/*.parquet")]
    sizes = {path.name: path.stat().st_size for path in films}
    assert len(sizes) == 12
    assert max(sizes.values()) < 1_000_000
    assert sum(sizes.values()) < 5_000_000


def test_the_config_names_files_that_exist(sample):
    config = tomllib.loads((sample / "audit.toml").read_text(encoding="utf-8"))
    sections = ("relevance", "catalog", "creators", "history", "users")
    paths = [*config["models"].values(), *(config[section]["path"] for section in sections)]
    assert all((sample / path).is_file() for path in paths)


class TestCatalog:
    def test_counts(self, table):
        catalog = table("catalog")
        assert len(catalog) == 2402
        assert catalog["item_id"].is_monotonic_increasing and catalog["item_id"].is_unique
        assert catalog["created_at"].dt.year.max() == 2010

    def test_the_director_is_known_for_most(self, table):
        known = table("catalog").set_index("item_id")["creator_id"].notna()
        ratings = pd.concat([table("history"), table("relevance")])
        assert known.mean() == pytest.approx(0.66, abs=0.005)
        assert known.loc[ratings["item_id"]].mean() == pytest.approx(0.86, abs=0.005)

    def test_it_holds_every_item(self, table):
        items = set(table("catalog")["item_id"])
        for name in ("history", "relevance", *(f"models/{model}" for model in MODELS)):
            assert set(table(name)["item_id"]) <= items

    def test_embeddings_are_unit_vectors_that_follow_from_the_rows(self, table):
        vectors = np.stack(table("catalog")["embedding"])
        assert vectors.shape == (2402, 24)
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(2402), abs=5e-4)
        assert embed(table("catalog")) == pytest.approx(vectors, abs=1e-3)


def test_creators_are_those_of_the_catalog(table):
    films = table("catalog").groupby("creator_id").size()
    creators = table("creators").set_index("creator_id")
    assert list(creators.index) == sorted(films.index)
    sizes = ["one film" if n == 1 else "two to four" if n < 5 else "five or more" for n in films]
    assert list(creators["catalogue_size"]) == sizes


class TestSplit:
    def test_each_users_first_four_fifths_are_history(self, table):
        known = table("history").groupby("user_id").size()
        held_out = table("relevance").groupby("user_id").size()
        assert list(known.index) == list(held_out.index)
        assert (known + held_out).min() >= 10
        assert (known == (0.8 * (known + held_out)).astype(int)).all()
        assert len(known) == 667 and known.sum() == 47_170 and held_out.sum() == 12_143

    def test_history_comes_before_what_is_held_out(self, table):
        last = table("history").groupby("user_id")[["timestamp", "item_id"]].last()
        first = table("relevance").groupby("user_id")[["judged_at", "item_id"]].first()
        later = first["judged_at"] > last["timestamp"]
        at_once = first["judged_at"] == last["timestamp"]
        assert (later | (at_once & (first["item_id"] > last["item_id"]))).all()

    def test_no_pair_is_both(self, table):
        assert not pairs(table("history")) & pairs(table("relevance"))

    def test_grades(self, table):
        counts = table("relevance")["grade"].value_counts().to_dict()
        assert counts == {0: 4946, 1: 1543, 2: 4160, 3: 1494}


class TestUsers:
    def assert_thirds(self, values, named, names):
        """Each name is an interval, and holds a third but for values equal to a cut."""
        for name, after in pairwise(names):
            assert values[named == name].max() < values[named == after].min()
        for share, name in zip((1 / 3, 2 / 3), names[:2], strict=True):
            cut = values[named == name].max()
            assert (values <= cut).mean() >= share > (values < cut).mean()

    def test_activity_is_thirds_of_history(self, table):
        users = table("users").set_index("user_id")
        size = table("history").groupby("user_id").size()
        self.assert_thirds(size, users["activity"], ["light", "medium", "heavy"])
        assert [size[users["activity"] == name].max() for name in ("light", "medium")] == [24, 61]

    def test_taste_is_thirds_of_the_share_of_head_items(self, table):
        users, history = table("users").set_index("user_id"), table("history")
        popularity = history.groupby("item_id")["user_id"].nunique()
        head, covered = set(), 0
        for item in sorted(popularity.index, key=lambda item: (-popularity[item], item)):
            if covered >= 0.8 * len(history):
                break
            head.add(item)
            covered += popularity[item]
        assert len(head) == 658
        share = history["item_id"].isin(head).groupby(history["user_id"]).mean()
        self.assert_thirds(share, users["taste"], ["niche", "diverse", "blockbuster"])


class TestLists:
    @each_model
    def test_every_list_is_whole_and_in_order(self, table, model):
        lists = table(f"models/{model}")
        by_user = lists.groupby("user_id", sort=False)
        assert lists["user_id"].is_monotonic_increasing and lists["user_id"].nunique() == 652
        assert (by_user["rank"].agg(list).map(tuple) == tuple(range(1, 101))).all()
        assert (by_user["item_id"].nunique() == 100).all()
        falls = by_user["score"].diff()
        tied_in_order = (falls == 0) & (by_user["item_id"].diff() > 0)
        assert (falls.isna() | (falls < 0) | tied_in_order).all()

    @each_model
    def test_nothing_known_is_recommended(self, table, model):
        assert not pairs(table(f"models/{model}")) & pairs(table("history"))

    @each_model
    def test_shown_at_is_the_first_held_out_rating(self, table, model):
        shown = table(f"models/{model}")[["user_id", "shown_at"]].drop_duplicates()
        first = table("relevance").groupby("user_id")["judged_at"].min()
        assert len(shown) == 652
        assert (shown["shown_at"].array == first.loc[shown["user_id"]].array).all()

    @each_model
    def test_users_are_those_with_something_relevant(self, table, model):
        relevance = table("relevance")
        wanted = relevance.loc[relevance["grade"] > 0, "user_id"]
        assert set(table(f"models/{model}")["user_id"]) == set(wanted)

    @pytest.mark.parametrize("model", ["popularity", "eigenrec", "ease"])
    def test_lists_follow_from_the_committed_history(self, table, history_matrix, model):
        lists, users = table(f"models/{model}"), table("users")["user_id"]
        rows = np.searchsorted(users, lists["user_id"].unique())
        again, _ = best_items(MODELS[model](history_matrix)[rows], history_matrix[rows], 100)
        items = table("catalog")["item_id"].to_numpy()
        # Another machine's rounding may swap items whose scores meet in the last digit.
        assert (items[again].ravel() == lists["item_id"]).mean() > 0.99


class TestPublishedNumbers:
    @each_model
    def test_ndcg(self, table, model):
        """Gain 2^grade - 1, best order at min(10, relevant), mean over users."""
        relevance, lists = table("relevance"), table(f"models/{model}")
        grades = {
            user: dict(zip(rows["item_id"], rows["grade"].map(int), strict=True))
            for user, rows in relevance.groupby("user_id")
        }
        values = []
        for user, items in lists[lists["rank"] <= 10].groupby("user_id")["item_id"]:
            shown = [grades[user].get(item, 0) for item in items]
            best = sorted(grades[user].values(), reverse=True)[:10]
            values.append(discounted(shown) / discounted(best))
        assert np.mean(values) == pytest.approx(PUBLISHED[model][0], abs=1e-6)

    @each_model
    def test_coverage(self, table, model):
        lists = table(f"models/{model}")
        shown = lists.loc[lists["rank"] <= 10, "item_id"].nunique()
        assert shown / 2402 == pytest.approx(PUBLISHED[model][1], abs=1e-6)


def discounted(grades):
    return sum((2**grade - 1) / math.log2(place + 1) for place, grade in enumerate(grades, 1))


@pytest.fixture
def sources(tmp_path):
    """A ratings file and a films file of 150 films and 60 users who rated 20 of them each."""
    rng = np.random.default_rng(1)
    genres = ["Action", "Comedy", "Crime", "Drama", "Horror", "Mystery", "Romance", "War"]
    films = [
        {
            "Title": f"Film {i}",
            "Release Date": f"Jan 01 {1950 + i % 60}",
            "Director": f"Director {i // 4}" if i % 3 else None,
            "Distributor": f"Studio {i % 7}",
            "Creative Type": f"Type {i % 5}",
            "Source": f"Source {i % 6}" if i % 4 else None,
            "MPAA Rating": ["G", "PG", "R", None][i % 4],
            "IMDB Votes": i,
        }
        for i in range(150)
    ]
    rows = [
        {
            "movieId": i,
            "title": f"Film {i}",
            "year": 1950 + i % 60,
            "genres": "|".join(sorted(rng.choice(genres, 2, replace=False))),
            "userId": user,
            "rating": rng.integers(1, 11) / 2,
            "timestamp": 10**9 + int(rng.integers(10**6)),
        }
        for user in range(1, 61)
        for i in rng.choice(150, 20, replace=False)
    ]
    ratings_path, films_path = tmp_path / "ratings.csv", tmp_path / "films.json"
    pd.DataFrame(rows).to_csv(ratings_path, index=False)
    films_path.write_text(json.dumps(films))
    return ["--ratings", str(ratings_path), "--films", str(films_path)]


def test_two_builds_write_the_same_bytes(sources, tmp_path, capsys):
    for out in ("one", "two"):
        main([*sources, "--out", str(tmp_path / out)])
    written = sorted(
        path.relative_to(tmp_path / "one") for path in tmp_path.glob("one/**/*.parquet")
    )
    assert len(written) == 12
    for path in written:
        assert (tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes()
    lists = pd.read_parquet(tmp_path / "one" / "models" / "ease.parquet")
    assert set(lists.groupby("user_id").size()) == {LIST_LENGTH}
    assert "models/ease.parquet" in capsys.readouterr().out


def test_a_table_keeps_its_columns_only():
    frame = pd.DataFrame(
        {"user_id": [1], "taste": ["niche"], "activity": ["light"], "history": [3]}
    )
    table = as_table(frame, SCHEMAS["users"])
    assert table.column_names == ["user_id", "activity", "taste"]
    assert table.schema.metadata is None
