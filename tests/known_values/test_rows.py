"""Every row of the collected values, and the test that holds it, or why there is none.

Rows are named as in the collection: letters and numbers for recommenders, sections for rankings.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
FILES = {
    "r": "known_values/test_recommender.py",
    "k": "known_values/test_ranking.py",
    "m": "metrics/test_known_values.py",
    "ties": "metrics/test_ties.py",
    "sessions": "metrics/test_sessions.py",
    "calibration": "metrics/test_calibration.py",
    "gaps": "inference/test_gaps.py",
}

HELD: dict[str, str] = {
    # Accuracy.
    "A1": "r:test_replay m:test_replay_set_per_user", "A2": "r:test_replay m:test_replay_set_per_user",
    "A3": "r:test_replay r:test_recommenders_ndcg m:test_replay_set_per_user",
    "A4": "r:test_lenskit r:test_lenskit_ndcg_per_user", "A5": "r:test_replay m:test_replay_set_per_user",
    "A6": "r:test_rectools_and_recommenders", "A7": "r:test_replay r:test_rectools_and_recommenders",
    "A8": "r:test_replay r:test_rectools_and_recommenders", "A9": "r:test_replay",
    "A10": "r:test_replay r:test_lenskit", "A11": "r:test_replay r:test_lenskit", "A12": "r:test_replay",
    "A13": "r:test_replay", "A14": "r:test_lenskit_rbp", "A19": "m:test_rectools_mrr",
    "A21": "r:test_recommenders_r_precision", "A23": "m:test_wikipedia_example",
    "A24": "r:test_sklearn_example_in_rexmex m:test_scikit_learn", "A25": "m:test_recbole", "A26": "m:test_recbole",
    "A27": "r:test_lenskit_dcg", "A28": "r:test_lenskit_graded_ndcg",
    "A29": "r:test_lenskit_negative_ratings_give_no_gain", "A30": "m:test_lenskit_average_precision",
    "A33": "m:test_rexmex_map",
    # Coverage, concentration.
    "B1": "m:test_catalog_coverage", "B2": "m:test_catalog_coverage", "B3": "m:test_catalog_coverage",
    "B4": "m:test_entropy_recommenders_and_recbole", "B5": "m:test_entropy_of_what_is_shown",
    "B6": "m:test_coverage_of_ranks_with_gaps", "B7": "m:test_catalog_coverage", "B8": "m:test_catalog_coverage",
    "B9": "m:test_catalog_coverage", "B11": "m:test_catalog_coverage", "B12": "m:test_catalog_coverage",
    "B13": "m:test_gini_recbole_and_evidently", "B14": "m:test_entropy_recommenders_and_recbole",
    "B15": "m:test_tail_of_the_least_popular_item", "B16": "m:test_gini_recbole_and_evidently",
    "B19": "m:test_gini_of_the_replay_set", "B20": "m:test_gini_of_counts", "B21": "m:test_gini_of_counts",
    "B22": "m:test_gini_of_counts", "B23": "m:test_gini_recbole_and_evidently", "B24": "m:test_holisticai",
    "B25": "m:test_holisticai", "B26": "m:test_holisticai",
    # Novelty, popularity.
    "C1": "m:test_self_information m:test_mean_self_information", "C2": "m:test_mean_self_information",
    "C3": "m:test_mean_self_information", "C4": "m:test_free_discovery",
    "C5": "r:test_replay_surprisal r:test_replay_surprisal_by_user",
    "C6": "r:test_replay_novelty m:test_share_new_to_the_user", "C7": "r:test_replay_unexpectedness",
    "C8": "r:test_replay_model_of_its_experiment r:test_replay_surprisal_by_user",
    "C11": "m:test_average_popularity m:test_average_popularity_of_known_items",
    "C12": "m:test_average_popularity m:test_average_popularity_of_known_items", "C14": "m:test_novelty_recmetrics",
    "C15": "m:test_novelty_of_what_everybody_or_half_saw", "C19": "m:test_border_of_the_head",
    # Diversity, serendipity.
    "D-4": "m:test_cosine_diversity", "D-7": "m:test_serendipity_by_embedding", "D-9": "m:test_cosine_similarity",
    "D-10": "m:test_cosine_similarity m:test_a_list_of_one_item_stays_in_the_table",
    "D-11": "m:test_mean_of_one_alike_and_one_unlike_list", "D-15": "m:test_serendipity_by_rank",
    "D-16": "m:test_serendipity_by_rank_of_the_replay_set", "D-17": "m:test_distinct_categories_by_k",
    "D-18": "m:test_sums_over_a_list", "D-19": "m:test_entropy_of_equal_categories", "D-20": "m:test_gini_of_counts",
    # Groups.
    "E1": "gaps:test_mean_difference_of_two_groups", "E6": "calibration:test_stecks_measure_of_a_list_of_one_kind",
    "E7": "m:test_average_popularity_of_the_lists_themselves",
    # What libraries got wrong.
    "F1": "m:test_a_repeated_judgment_is_refused_or_counted_once",
    "F2": "m:test_a_repeated_judgment_is_refused_or_counted_once",
    "F3": "m:test_a_list_has_nothing_new_against_itself",
    "F4": "m:test_a_user_whom_the_baseline_left_out_has_no_novelty_against_it",
    "F5": "m:test_surprisal_of_a_short_list_is_that_of_its_items",
    "F6": "m:test_new_to_the_user_where_one_side_is_missing",
    "F7": "m:test_surprisal_of_a_short_list_is_that_of_its_items", "F12": "m:test_all_scores_tied",
    "F14": "m:test_relevant_items_outside_the_candidates_count", "F15": "m:test_catalog_coverage",
    "F16": "m:test_unseen_items_are_the_most_novel", "F17": "m:test_a_list_of_one_item_stays_in_the_table",
    "F20": "m:test_catalog_coverage", "F21": "m:test_one_hit_of_five_relevant",
    "F22": "m:test_coverage_does_not_depend_on_the_call",
    "F23": "m:test_a_list_of_one_item_stays_in_the_table m:test_an_item_that_no_history_holds",
    "F26": "m:test_the_only_relevant_item_at_rank_1", "F27": "m:test_an_item_that_no_history_holds",
    "F28": "m:test_rank_2_is_worth_less_than_rank_1", "F29": "r:test_one_rule_for_empty_truth_and_empty_lists",
    "F30": "m:test_entropy_of_equal_categories", "F31": "m:test_self_information",
    "F32": "k:test_trec_eval_breaks_ties_by_document_id", "F33": "ties:test_scikit_learn_averages_ties",
    # Rankings.
    "2": "k:test_pytrec_eval_readme", "3": "m:test_ranx k:test_ranx_rbp k:test_ranx_bpref",
    "4": "m:test_scikit_learn k:test_scikit_learn_dcg k:test_scikit_learn_ignoring_ties "
    "k:test_scikit_learn_nothing_relevant ties:test_scikit_learn_averages_ties",
    "5": "m:test_torchmetrics m:test_torchmetrics_mean_over_queries", "6": "m:test_rax k:test_rax",
    "9A": "k:test_gain", "9B": "m:test_libraries_disagree", "9C": "m:test_libraries_disagree",
    "9D": "k:test_two_tied_documents ties:test_one_relevant_item_among_equals",
    "9E": "k:test_all_tied_first_relevant ties:test_one_relevant_item_among_equals",
    "9F": "k:test_scores_that_float32_does_not_tell_apart", "9G": "k:test_negative_grades_of_a_pool",
    "9H": "m:test_negative_scores_are_scores", "9I": "k:test_unjudged_items", "9J": "k:test_a_topic_with_nothing_relevant",
    "9K": "k:test_an_unweighted_mean_has_no_weights", "9L": "k:test_two_tied_documents k:test_unjudged_items",
    "9M": "k:test_metrics_of_one_call_have_one_gain", "9N": "m:test_the_order_of_users_does_not_matter",
    "9O": "k:test_ideal_of_fractional_gains_is_out_of_reach", "9P": "k:test_rbp_and_its_residual",
    "9Q": "k:test_rbp_of_grades_stays_within_its_range k:test_bpref_without_a_judged_irrelevant_item",
    "10": "ties:test_published_values", "11": "sessions:test_known_values sessions:test_session_dcg_that_is_not_normalised "
    "sessions:test_srbp_of_one_request_in_full_balance_is_rbp sessions:test_srbp_of_endless_relevance_is_one "
    "k:test_rbp_and_its_residual",
}  # fmt: skip
"""Row → its tests, each ``file:name``; the files are those of :data:`FILES`."""

NOT_HELD = {
    "A35": "NCRR is no metric of the catalogue",
    "C20": "personalisation, of users' lists beside each other, is no metric of the catalogue",
    "C21": "as C20",
    "C22": "the least item promoted by a re-ranking is no metric of the catalogue",
    "C23": "intersection with a reference is no metric of the catalogue, which has Jaccard and RBO",
    "D-1": "Hamming distance is none of the catalogue, which has cosine, Euclidean and Jaccard",
    "D-2": "as D-1; a list of one item has no diversity here, not 0",
    "D-3": "as D-1",
    "D-5": "distance by co-occurrence is none of the catalogue",
    "D-6": "as D-5",
    "D-13": "the collection does not state the data",
    "D-14": "the collection does not state the data",
    "E2": "the distance of two user groups' exposure is no metric of the catalogue",
    "E5": "the collection does not state the ranking",
    "F13": "a library's own label of ranks",
    "F18": "a library beside another release of pandas",
    "G1": "needs a trained model", "G2": "needs trained models and their split", "G3": "needs a trained model",
    "6 weights, losses": "items have no weights, and losses are no metrics of the catalogue",
    "12": "losses; the metrics beside them are in m:test_metric_and_loss_conflict",
}  # fmt: skip


def functions_of(file: str) -> set[str]:
    tree = ast.parse((TESTS / FILES[file]).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(
    "file", sorted({held.split(":")[0] for v in HELD.values() for held in v.split()})
)
def test_the_tests_named_exist(file):
    named = {
        name
        for held in HELD.values()
        for of, name in (one.split(":") for one in held.split())
        if of == file
    }
    assert named <= functions_of(file)


def test_no_row_is_forgotten():
    series = {
        "A": (1, 14), "B": (1, 26), "C": (1, 23), "E": (1, 7), "F": (1, 33), "G": (1, 3),
    }  # fmt: skip
    absent = {  # the collection skips these numbers
        "B10", "B17", "B18", "C9", "C10", "C13", "C16", "C17", "C18", "E3", "E4", "F8", "F9", "F10", "F11", "F19",
        "F24", "F25",
    }  # fmt: skip
    rows = {
        f"{letter}{n}" for letter, (first, last) in series.items() for n in range(first, last + 1)
    }
    rows |= {f"A{n}" for n in (19, 21, *range(23, 31), 33, 35)} | {
        f"9{letter}" for letter in "ABCDEFGHIJKLMNOPQ"
    }
    rows |= {f"D-{n}" for n in (*range(1, 8), 9, 10, 11, *range(13, 21))} | {
        "2",
        "3",
        "4",
        "5",
        "6",
        "10",
        "11",
        "12",
    }
    assert rows - absent <= HELD.keys() | NOT_HELD.keys()
    assert not HELD.keys() & NOT_HELD.keys()
