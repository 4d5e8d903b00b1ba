"""Popularity, head and tail, novelty, creators, embeddings."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.dataset.embed import make_embeddings
from audit.dataset.items import head_and_tail, popularity_rank, self_information
from audit.errors import InputError
from tests.support import catalog, encoded, inputs, known


def tail(popularity, in_catalog=None, share=0.8):
    popularity = np.array(popularity, np.int64)
    inside = np.ones(len(popularity), bool) if in_catalog is None else np.array(in_catalog)
    found, ties = head_and_tail(popularity, inside, share)
    return found.tolist(), ties


def test_the_item_that_crosses_the_line_is_head():
    # 80 % of 10 is 8: the items of 5 and 2 make 7, the next makes 8.
    assert tail([5, 2, 1, 1, 1]) == ([False, False, False, True, True], 3)
    # 80 % of 11 is 8.8: one more is needed.
    assert tail([5, 2, 1, 1, 1, 1]) == ([False, False, False, False, True, True], 4)


def test_exactly_the_share_is_enough():
    assert tail([8, 1, 1]) == ([False, True, True], 1)
    # 0.7 * 10 is 7.000000000000001 in floating point, and 7 is exactly 70 %.
    assert tail([7, 3], share=0.7) == ([False, True], 1)


def test_ties_go_by_id_and_are_counted():
    assert tail([1, 1, 1, 1, 1]) == ([False, False, False, False, True], 5)
    assert tail([1, 4, 4, 1]) == ([True, False, False, True], 2)


def test_untouched_items_are_tail():
    assert tail([0, 3, 0]) == ([True, False, True], 1)
    assert tail([0, 0]) == ([True, True], 0)
    assert tail([]) == ([], 0)


def test_items_outside_the_catalog_are_neither_head_nor_tail():
    # Without the outsider of 100 the catalog's mass is 10, of which 80 % are the first two.
    found, _ = tail([100, 5, 3, 2], [False, True, True, True])
    assert found == [False, False, False, True]
    assert tail([0, 5], [False, True])[0] == [False, False]


@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=30), st.sampled_from([0.2, 0.5, 0.8, 0.95])
)
def test_the_head_is_the_shortest_prefix_with_the_share(popularity, share):
    found, _ = tail(popularity, share=share)
    order = sorted(range(len(popularity)), key=lambda i: (-popularity[i], i))
    head = [i for i in order if not found[i]]
    assert head == order[: len(head)]
    total = sum(popularity)
    if total == 0:
        assert head == []
        return
    mass = sum(popularity[i] for i in head)
    assert mass >= share * total - 1e-9
    assert mass - popularity[head[-1]] < share * total


def test_popularity_ranks_are_of_the_catalog_with_ties_by_id():
    rank = popularity_rank(np.array([3, 9, 3, 0]), np.array([True, False, True, True]))
    assert rank[[0, 2, 3]].tolist() == [1, 2, 3]
    assert rank[1] > 10**6


def test_self_information_in_bits():
    popularity = np.array([8, 4, 1, 0])
    assert self_information(popularity, 8, "one_user").tolist() == [0.0, 1.0, 3.0, 3.0]
    dropped = self_information(popularity, 8, "drop")
    assert dropped[:3].tolist() == [0.0, 1.0, 3.0]
    assert math.isnan(dropped[3])
    assert np.isnan(self_information(popularity, 0, "one_user")).all()


def test_self_information_counts_all_history_users():
    dataset = encoded(inputs(baseline={1: [1, 2]}, history=known({1: [1], 2: [1], 3: [1], 4: [2]})))
    assert dataset.items.self_information.tolist() == [-math.log2(3 / 4), 2.0]


def creators_of(dataset):
    ragged = dataset.items.creators
    return {
        item: dataset.items.creator_ids.text(
            ragged.values[ragged.start[row] : ragged.start[row + 1]]
        )
        for row, item in enumerate(dataset.items.ids.values.to_pylist())
    }


def test_creators_of_each_item_whatever_the_order_of_rows():
    table = catalog([3, 1, 2, 4], creators={1: ["b"], 3: ["c", "a"], 2: []})
    dataset = encoded(inputs(baseline={1: [9]}, catalog=table))
    assert creators_of(dataset) == {1: ["b"], 2: [], 3: ["a", "c"], 4: [], 9: []}
    assert "creator_id" in dataset.has


def test_null_creators_are_none_and_names_come_from_the_creators_table():
    table = catalog([1, 2]).append_column(
        "creator_id", pa.array([None, ["a", "b"]], pa.list_(pa.string()))
    )
    creators = pa.table({"creator_id": ["b", "z"], "name": ["Bea", "Zoe"]})
    dataset = encoded(inputs(baseline={1: [1]}, catalog=table, creators=creators))
    assert creators_of(dataset) == {1: [], 2: ["a", "b"]}
    assert dataset.items.creator_names == [None, "Bea"]


def test_embeddings_given():
    table = catalog([3, 1, 2], embedding={3: [3.0, 4.0], 2: [0.0, 0.0]}, title={3: "three"})
    dataset = encoded(inputs(baseline={1: [1, 8]}, catalog=table))
    assert dataset.items.vectors.tolist() == [[0, 0], [0, 0], [3, 4], [0, 0]]
    assert dataset.items.inverse_norm.tolist() == [0.0, 0.0, 1 / 5, 0.0]
    assert dataset.embedding_source == "given"
    assert dataset.items.titles == [None, None, "three", None]


def test_missing_embeddings_can_be_an_error():
    table = catalog([3, 1, 2], embedding={3: [3.0, 4.0], 2: [0.0, 0.0]})
    with pytest.raises(InputError) as caught:
        encoded(inputs(baseline={1: [1, 8]}, catalog=table), missing_embedding="error")
    (issue,) = caught.value.issues
    assert (issue.check, issue.count, issue.total) == ("missing_embedding", 2, 3)
    assert issue.examples == ("1", "2")
    whole = catalog([3, 1], embedding={3: [3.0, 4.0], 1: [1.0, 0.0]})
    encoded(inputs(baseline={1: [1]}, catalog=whole), missing_embedding="error")


def test_embeddings_that_are_all_missing_say_so():
    table = catalog([3, 1], embedding={3: [0.0, 0.0]})
    dataset = encoded(inputs(baseline={1: [1]}, catalog=table))
    assert "embedding" not in dataset.has
    assert "embedding" in dataset.reasons


CATEGORIES = {
    1: ["war"], 2: ["war"], 3: ["love"], 4: ["love", "war"], 5: [], 6: ["space", "love"], 7: ["space"],
}  # fmt: skip


def cosine(a, b):
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_embeddings_made_from_categories():
    vectors, sentence = make_embeddings(catalog(CATEGORIES, categories=CATEGORIES))
    assert sentence == "made from categories: TF-IDF, truncated SVD with 2 dimensions"
    assert vectors.shape == (7, 2)
    assert vectors.dtype == np.float32
    assert not vectors[4].any()
    assert cosine(vectors[0], vectors[1]) == pytest.approx(1)
    # All categories but two dimensions: near kin stay nearer than strangers.
    assert cosine(vectors[0], vectors[3]) > cosine(vectors[0], vectors[2])


def test_made_embeddings_are_unit_tf_idf_vectors_along_the_leading_directions():
    documents = {1: ["a"], 2: ["b"], 3: ["a", "b"], 4: ["a"], 5: ["b"]}
    vectors, _ = make_embeddings(catalog(documents, categories=documents))
    # Two words leave one dimension, by symmetry (1, 1)/sqrt(2).  Both words are in three documents,
    # so the unit vectors are (1, 0), (0, 1) and (1, 1)/sqrt(2), whose parts along it are 1/sqrt(2) and 1.
    assert vectors.shape == (5, 1)
    assert abs(vectors[:, 0]) == pytest.approx(np.sqrt([0.5, 0.5, 1, 0.5, 0.5]), rel=1e-5)


def test_embeddings_made_from_titles_are_of_words_whatever_the_case():
    titles = {1: "The War", 2: "the war", 3: "A Love Story", 4: "love STORY", 5: "The Love War"}
    table = catalog(titles, title=titles)
    vectors, sentence = make_embeddings(table)
    assert sentence.startswith("made from titles: TF-IDF, truncated SVD")
    assert cosine(vectors[0], vectors[1]) == pytest.approx(1)
    assert cosine(vectors[0], vectors[2]) < 0.5
    dataset = encoded(inputs(baseline={1: [1]}, catalog=table))
    assert dataset.embedding_source == sentence
    assert "embedding" in dataset.has


def test_categories_come_before_titles_and_given_before_both():
    titles = dict.fromkeys(CATEGORIES, "one title for all")
    both = catalog(CATEGORIES, categories=CATEGORIES, title=titles)
    assert make_embeddings(both)[1].startswith("made from categories")
    given_ = catalog(CATEGORIES, categories=CATEGORIES, embedding={1: [1.0]})
    assert encoded(inputs(baseline={1: [1]}, catalog=given_)).embedding_source == "given"


@given(st.permutations(list(CATEGORIES)))
def test_made_embeddings_do_not_depend_on_the_order_of_rows(order):
    expected = encoded(
        inputs(baseline={1: [1]}, catalog=catalog(CATEGORIES, categories=CATEGORIES))
    ).items.vectors
    mixed = encoded(
        inputs(baseline={1: [1]}, catalog=catalog(order, categories=CATEGORIES))
    ).items.vectors
    assert (mixed == expected).all()


@pytest.mark.parametrize(
    "table",
    [
        catalog([1, 2]),
        catalog([1, 2], categories={}),
        catalog([1, 2], categories={1: ["a"], 2: ["a"]}),
        catalog([1], categories={1: ["a", "b"]}),
        catalog([1, 2], title={1: "word"}),
    ],
)
def test_nothing_to_make_embeddings_from(table):
    assert make_embeddings(table) is None
    dataset = encoded(inputs(baseline={1: [1]}, catalog=table))
    assert dataset.embedding_source is None
    assert dataset.reasons["embedding"] == (
        "the catalog has no embedding, categories or titles to use"
    )


def test_embeddings_of_documents_that_are_all_alike_warn_of_nothing():
    same = {item: ["a", "b"] for item in [1, 2, 3]}
    vectors, _ = make_embeddings(catalog(same, categories=same))
    assert cosine(vectors[0], vectors[2]) == pytest.approx(1)


def test_categories_are_encoded_once_each_and_in_order():
    table = catalog(
        [1, 2, 3, 4], categories={1: ["war", "drama", "war"], 2: ["drama"], 4: ["comedy", "war"]}
    )
    items = encoded(inputs({"m": {1: [1, 9]}}, catalog=table)).items
    assert items.category_ids.values.to_pylist() == ["comedy", "drama", "war"]
    rows = [
        items.categories.values[items.categories.start[i] : items.categories.start[i + 1]].tolist()
        for i in range(len(items.ids))
    ]
    assert rows == [[1, 2], [1], [], [0, 2], []]


def test_categories_that_are_missing():
    null = pa.array([None, ["a"]], pa.list_(pa.string()))
    table = pa.table({"item_id": [1, 2], "categories": null})
    items = encoded(inputs({"m": {1: [1]}}, catalog=table)).items
    assert items.categories.lengths.tolist() == [0, 1]
    none = encoded(inputs({"m": {1: [1]}}, catalog=[1, 2]))
    assert "categories" not in none.has
    assert none.reasons["categories"] == "the catalog has no 'categories'"
    empty = encoded(inputs({"m": {1: [1]}}, catalog=catalog([1], categories={1: []})))
    assert empty.reasons["categories"] == "the catalog's 'categories' names no category"
    assert encoded(inputs({"m": {1: [1]}})).reasons["categories"] == "no catalog was given"
    assert "categories" in encoded(inputs({"m": {1: [1]}}, catalog=table)).has


def test_levels_of_popularity():
    items = encoded(inputs({"m": {1: [1, 4]}}, history={1: [1, 2], 2: [1, 3], 3: [1, 2]})).items
    assert items.popularity_level.tolist() == [1, 2, 3, 0]
    assert items.interactions == 6
