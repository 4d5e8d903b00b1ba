import numpy as np
import pandas as pd
import pytest
from tables import (
    film_tokens,
    genre_list,
    grade,
    head_items,
    make_creators,
    make_users,
    split_by_time,
    thirds,
)


def rated(user, items, times):
    return pd.DataFrame({"user_id": user, "item_id": items, "timestamp": times})


class TestSplitByTime:
    @pytest.mark.parametrize(("ratings", "known"), [(10, 8), (11, 8), (14, 11), (15, 12)])
    def test_the_first_four_fifths_rounded_down_are_history(self, ratings, known):
        times = np.arange(ratings)[::-1]  # the highest item id was rated first
        history, held_out = split_by_time(rated(1, np.arange(ratings), times))
        assert list(history["item_id"]) == list(range(ratings))[::-1][:known]
        assert list(held_out["item_id"]) == list(range(ratings))[::-1][known:]

    def test_one_moment_is_ordered_by_item_id(self):
        _, held_out = split_by_time(rated(1, [5, 9, 1, 8, 3, 0, 2, 7, 4, 6], 0))
        assert list(held_out["item_id"]) == [8, 9]

    def test_users_with_fewer_than_ten_ratings_are_left_out(self):
        both = pd.concat([rated(1, range(9), range(9)), rated(2, range(10), range(10))])
        history, held_out = split_by_time(both)
        assert set(history["user_id"]) == set(held_out["user_id"]) == {2}


def test_grade():
    stars = [0.5, 3.0, 3.5, 4.0, 4.5, 5.0]
    assert list(grade(stars)) == [0, 0, 1, 2, 2, 3]


def history_of(**popularity):
    """A history in which as many users saw each item as said."""
    pairs = [
        (user, int(item[1:])) for item, users in popularity.items() for user in range(1, users + 1)
    ]
    return pd.DataFrame(pairs, columns=["user_id", "item_id"])


class TestHeadItems:
    def test_the_item_that_crosses_the_line_is_head(self):
        assert head_items(history_of(i1=5, i2=2, i3=2, i4=1)) == {1, 2, 3}

    def test_the_line_itself_is_enough(self):
        assert head_items(history_of(i1=5, i2=3, i3=1, i4=1)) == {1, 2}

    def test_ties_go_to_the_lower_id(self):
        assert head_items(history_of(i9=2, i1=6, i3=2)) == {1, 3}


class TestThirds:
    names = ("low", "middle", "high")

    def test_three_equal_thirds(self):
        assert list(thirds(np.array([5.0, 1, 3, 6, 2, 4]), self.names)) == [
            *("high", "low", "middle", "high", "low", "middle")
        ]

    def test_equal_values_stay_together_below_the_cut(self):
        named = thirds(np.array([1.0, 1, 1, 2, 3, 4]), self.names)
        assert list(named) == ["low", "low", "low", "middle", "high", "high"]


def test_groups_of_users():
    # Items 1 and 2 have 10 of the 12 pairs and make the head; item 1 alone has half.
    users = make_users(history_of(i1=6, i2=4, i3=2)).set_index("user_id")
    assert list(users["history"]) == [3, 3, 2, 2, 1, 1]
    assert list(users["activity"]) == ["heavy", "heavy", "medium", "medium", "light", "light"]
    assert list(users["head_share"]) == [2 / 3, 2 / 3, 1, 1, 1, 1]
    assert list(users["taste"]) == ["niche"] * 2 + ["diverse"] * 4


def test_genres():
    assert genre_list("Comedy|Drama") == ["Comedy", "Drama"]
    assert genre_list("(no genres listed)") == []


def test_tokens_share_fantasy_and_tell_the_rest_apart():
    film = {
        "categories": ["Sci-Fi", "Fantasy"],
        "creative_type": "Fantasy",
        "story_source": "Based on TV",
        "mpaa_rating": None,
        "release_year": 1999,
    }
    assert film_tokens(film) == ["scifi", "fantasy", "fantasy", "sourcebasedontv", "d1990"]


def test_creators_are_counted_in_the_catalog():
    films = [("ann", 1), ("bea", 2), ("cyn", 4), ("dot", 5)]
    catalog = pd.DataFrame(
        [
            {"creator_id": name, "director": name.title(), "item_id": i, "release_year": 1979 + i}
            for name, count in films
            for i in range(count)
        ]
        + [{"creator_id": None, "director": None, "item_id": 99, "release_year": 1930}]
    )
    creators = make_creators(catalog)
    assert list(creators["creator_id"]) == ["ann", "bea", "cyn", "dot"]
    assert list(creators["name"]) == ["Ann", "Bea", "Cyn", "Dot"]
    assert list(creators["catalogue_size"]) == [
        *("one film", "two to four", "two to four", "five or more")
    ]
    assert set(creators["first_decade"]) == {"1970s"}
