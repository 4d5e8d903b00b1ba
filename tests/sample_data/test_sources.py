import json
import pickle

import pandas as pd
import pytest
from sources import match_films, read_films, read_ratings, slug, title_key


class TestTitleKey:
    @pytest.mark.parametrize(
        ("in_ratings", "in_films"),
        [
            ("Wash, The", "The Wash"),
            ("Bug's Life, A", "A Bug's Life"),
            ("American Werewolf in London, An", "An American Werewolf In London"),
            ("Good, the Bad and the Ugly, The", "The Good, the Bad & the Ugly"),
            ("Postman, The (Postino, Il)", "The Postman"),
            ("Pokémon 3: The Movie", "Pokemon 3: The Movie"),
            ("Charlie's Angels: Full Throttle", "charlies angels - full throttle"),
            ("(500) Days of Summer", "Days of Summer"),
        ],
    )
    def test_two_spellings_of_one_title_are_one_key(self, in_ratings, in_films):
        assert title_key(in_ratings) == title_key(in_films) != ""

    @pytest.mark.parametrize(
        ("title", "key"),
        [
            ("Fast & Furious", "fastandfurious"),
            ("AT&T", "atandt"),
            ("Mariachi, El", "mariachiel"),  # only English articles are moved
            ("Bye Bye, Love", "byebyelove"),
            ("The Wash", "thewash"),
            ("300", "300"),
        ],
    )
    def test_key(self, title, key):
        assert title_key(title) == key

    @pytest.mark.parametrize("title", [None, float("nan"), "", "(untitled)", "!!!"])
    def test_no_title_is_no_key(self, title):
        assert title_key(title) == ""


def movies(*rows):
    return pd.DataFrame(rows, columns=["item_id", "title", "year"])


def films(*rows):
    """Rows of title, year, votes and director."""
    frame = pd.DataFrame(rows, columns=["film_title", "year", "votes", "director"])
    return frame.assign(created_at=pd.to_datetime(frame.pop("year").astype(str), utc=True))


def directors(left, right):
    matched = match_films(left, right)
    return dict(zip(matched["item_id"], matched["director"], strict=True))


class TestMatchFilms:
    def test_years_one_apart_match_and_two_apart_do_not(self):
        shelf = films(("Alpha", 1999, 5, "a"), ("Beta", 2002, 5, "b"), ("Gamma", 2046, 5, "c"))
        wanted = movies((1, "Alpha", 2000), (2, "Beta", 2000), (3, "Gamma", 1946))
        assert directors(wanted, shelf) == {1: "a"}

    def test_the_closest_year_wins_over_votes(self):
        shelf = films(("Alpha", 2001, 900, "popular"), ("Alpha", 2000, 1, "closest"))
        assert directors(movies((1, "Alpha", 2000)), shelf) == {1: "closest"}

    def test_then_the_most_voted(self):
        shelf = films(("Alpha", 2001, 7, "few"), ("Alpha", 1999, 9, "most"), ("Alpha", 1999, 8, ""))
        assert directors(movies((1, "Alpha", 2000)), shelf) == {1: "most"}

    def test_unknown_votes_are_the_fewest(self):
        shelf = films(("Alpha", 2000, None, "unknown"), ("Alpha", 2000, 3, "known"))
        assert directors(movies((1, "Alpha", 2000)), shelf) == {1: "known"}

    def test_then_the_first_in_the_file(self):
        shelf = films(("Alpha", 2000, 3, "first"), ("Alpha", 2000, 3, "second"))
        assert directors(movies((1, "Alpha", 2000)), shelf) == {1: "first"}

    def test_movies_come_by_id_and_one_film_may_serve_two(self):
        shelf = films(("Alpha", 2000, 3, "a"))
        wanted = movies((9, "Alpha", 2000), (2, "Alpha", 2001), (5, "Beta", 2000))
        assert list(directors(wanted, shelf).items()) == [(2, "a"), (9, "a")]

    def test_titles_without_a_key_match_nothing(self):
        assert directors(movies((1, "!!!", 2000)), films(("???", 2000, 3, "a"))) == {}

    def test_a_movie_without_a_year_matches_nothing(self):
        assert directors(movies((1, "Alpha", None)), films(("Alpha", 2000, 3, "a"))) == {}


def test_slug_reads_like_the_name():
    assert slug("Joseph McGinty Nichol") == "joseph-mcginty-nichol"
    assert slug("Miramax/Dimension ") == "miramax-dimension"
    assert slug("Pedro Almodóvar") == "pedro-almodovar"


def test_ratings_are_read_from_csv(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(
        "rownames,movieId,title,year,genres,userId,rating,timestamp\n"
        "1,31,Dangerous Minds,1995,Drama,7,2.5,86400\n"
    )
    (row,) = read_ratings(path).to_dict("records")
    assert row == {
        "user_id": 7,
        "item_id": 31,
        "rating": 2.5,
        "timestamp": pd.Timestamp("1970-01-02", tz="UTC"),
        "title": "Dangerous Minds",
        "year": 1995,
        "genres": "Drama",
    }


class Trap:
    """Fails the test where it is unpickled."""

    def __reduce__(self):
        return pytest.fail, ("the pickle was read",)


def test_another_pickle_is_refused_unread(tmp_path):
    path = tmp_path / "movielens.pkl.compress"
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ValueError, match="not the dslabs/movielens file"):
        read_ratings(path)


def test_film_titles_are_text_and_may_be_missing(tmp_path):
    names = ("Director", "Distributor", "Creative Type", "Source", "MPAA Rating", "IMDB Votes")
    rows = [
        {"Title": title, "Release Date": "Mar 09 2007"} | dict.fromkeys(names)
        for title in (300, "Alpha", None)
    ]
    path = tmp_path / "films.json"
    path.write_text(json.dumps(rows))
    read = read_films(path)
    assert [title_key(title) for title in read["film_title"]] == ["300", "alpha", ""]
    assert set(read["created_at"]) == {pd.Timestamp("2007-03-09", tz="UTC")}
