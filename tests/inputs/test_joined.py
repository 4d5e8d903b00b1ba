"""Relevance in several files, a judging queue among them."""

from __future__ import annotations

import pandas as pd
import pytest

from audit.config import Config
from audit.conventions import Conventions
from audit.errors import ConfigError, InputError
from audit.inputs import load, sources_from_arguments, sources_from_config

LISTS = pd.DataFrame({"user_id": [1, 2], "item_id": [5, 6], "rank": [1, 1]})
QUEUE = "user_id,item_id,model,rank,potential,grade,judged_at\n"


def relevance(*tables, **conventions):
    sources = sources_from_arguments(models={"a": LISTS}, relevance=list(tables))
    return load(sources, Conventions(**conventions))


def rows(inputs):
    return sorted(
        zip(*(inputs.relevance[n].to_pylist() for n in ("user_id", "item_id", "grade")), strict=True)
    )  # fmt: skip


def queue(folder, *lines):
    path = folder / "queue.csv"
    path.write_text(QUEUE + "".join(f"{line}\n" for line in lines))
    return path


FIRST = pd.DataFrame({"user_id": [1, 2], "item_id": [5, 6], "grade": [1, 0]})


def test_further_judgments_are_laid_beside_the_first():
    found = relevance(FIRST, pd.DataFrame({"user_id": [1], "item_id": [7], "grade": [2]}))
    assert rows(found) == [(1, 5, 1), (1, 7, 2), (2, 6, 0)]


def test_of_a_queue_only_what_was_filled_in_counts(tmp_path):
    path = queue(tmp_path, "1,8,b,1,0.5,3,2024-01-05", "2,9,b,2,0.1,,", "2,7,b,2,0.1, ,", "1,9,b,3,0.1,0,")  # fmt: skip
    found = relevance(FIRST, path)
    assert rows(found) == [(1, 5, 1), (1, 8, 3), (1, 9, 0), (2, 6, 0)]
    [issue] = [i for i in found.issues if i.check == "queue_not_judged"]
    assert (issue.severity, issue.count, issue.total) == ("info", 2, 4)
    times = dict(zip(found.relevance["item_id"].to_pylist(), found.relevance["judged_at"].to_pylist(), strict=True))  # fmt: skip
    assert str(times[8].date()) == "2024-01-05"
    assert times[5] is None


def test_a_queue_that_nobody_filled_in_adds_nothing(tmp_path):
    assert rows(relevance(FIRST, queue(tmp_path, "1,8,b,1,0.5,,"))) == [(1, 5, 1), (2, 6, 0)]


@pytest.mark.parametrize("settings", [{"grades": {"5": 3, "1": 0}}, {"threshold": 4}])
def test_a_queue_holds_grades_whatever_the_ratings_need(tmp_path, settings):
    LISTS.to_csv(tmp_path / "a.csv", index=False)
    ratings = FIRST.assign(stars=[5, 1]).drop(columns="grade")
    ratings.to_csv(tmp_path / "ratings.csv", index=False)
    queue(tmp_path, "1,8,b,1,0.5,2,", "2,8,b,1,0.5,0,")
    config = Config(
        models={"baseline": "a.csv", "b": "a.csv"},
        relevance={"path": ["ratings.csv", "queue.csv"], "grade": "stars", **settings},
    )
    found = load(sources_from_config(config, tmp_path), Conventions())
    best = 3 if "grades" in settings else 1
    assert rows(found) == [(1, 5, best), (1, 8, 2), (2, 6, 0), (2, 8, 0)]
    assert found.names["relevance"] == "ratings.csv, queue.csv"


def test_ids_of_text_files_and_typed_ones_are_one(tmp_path):
    path = queue(tmp_path, "1,8,b,1,0.5,1,")
    assert relevance(FIRST, path).relevance["item_id"].type == "int64"
    text = FIRST.astype({"item_id": str}).replace({"item_id": {"5": "x5"}})
    lists = LISTS.astype({"item_id": str})
    sources = sources_from_arguments(models={"a": lists}, relevance=[text, path])
    found = load(sources, Conventions())
    assert sorted(found.relevance["item_id"].to_pylist()) == ["6", "8", "x5"]


def test_a_pair_judged_in_two_files_is_an_error_or_the_first_counts(tmp_path):
    path = queue(tmp_path, "1,5,b,1,0.5,0,")
    with pytest.raises(InputError, match="judged more than once"):
        relevance(FIRST, path)
    assert rows(relevance(FIRST, path, duplicates="keep_first")) == [(1, 5, 1), (2, 6, 0)]


def test_requests_in_some_files_only_are_an_error():
    other = pd.DataFrame({"user_id": [1], "item_id": [7], "grade": [2], "request_id": [1]})
    with pytest.raises(InputError, match="some files of the relevance have request_id"):
        relevance(FIRST, other)


def test_errors_of_every_file_are_told(tmp_path):
    bad = pd.DataFrame({"user_id": [1], "item_id": [7], "grade": [-2]})
    with pytest.raises(InputError) as caught:
        relevance(bad, queue(tmp_path, "1,8,b,1,0.5,half,"))
    assert {i.check for i in caught.value.issues} == {"grades_negative", "grades_not_whole"}
    with pytest.raises(InputError, match="no file"):
        relevance(FIRST, tmp_path / "absent.csv")


def test_an_empty_list_of_files_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="names nothing"):
        relevance()
    config = Config(models={"baseline": "a", "b": "b"}, relevance={"path": []})
    with pytest.raises(ConfigError, match="names no file"):
        sources_from_config(config, tmp_path)


def test_a_queue_beside_qrels(tmp_path):
    LISTS.to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "judged").write_text("1 0 5 1\n2 0 6 0\n")
    queue(tmp_path, "1,8,b,1,0.5,2,")
    config = Config(
        models={"baseline": "a.csv", "b": "a.csv"},
        relevance={"path": ["judged", "queue.csv"], "format": "trec"},
    )
    found = load(sources_from_config(config, tmp_path), Conventions())
    assert rows(found) == [(1, 5, 1), (1, 8, 2), (2, 6, 0)]
