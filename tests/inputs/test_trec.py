"""TREC runs and qrels: read like any other table, and written so that TREC's tools see the same."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import audit
from audit.conventions import Conventions
from audit.errors import ConfigError, InputError
from audit.inputs import Sources, TableSource, load
from tests.support import judged, lists

RUN = "301 Q0 d1 7 2.5 bm25\n301\tQ0  d2 8 2.5 bm25 \r\n\n301 Q0 d3 9 9.5 bm25\n302 Q0 d9 1 -1e-3 bm25\n"
QRELS = "301 0 d1 1\n301 0 d2 0\n301 0 d3 -2\n302 0 d9 2\n"


def read(run=None, qrels=None, **source):
    models = {} if run is None else {"m": [TableSource(data=run, **source)]}
    relevance = None if qrels is None else TableSource(data=qrels, **source)
    return load(Sources(models=models, relevance=relevance), Conventions())


def files(folder, run="a.run", qrels="a.qrels"):
    for name, text in ((run, RUN), (qrels, QRELS)):
        opener = gzip.open if name.endswith(".gz") else open
        with opener(folder / name, "wt", encoding="utf-8", newline="") as file:
            file.write(text)
    return folder / run, folder / qrels


@pytest.mark.parametrize(
    "names", [("a.run", "a.qrels"), ("a.trec", "b.trec.gz"), ("a.txt", "a.txt.gz"), ("run.bm25", "qrels")]
)  # fmt: skip
def test_a_run_and_qrels_by_suffix_or_content(tmp_path, names):
    names = (names[0], "b-" + names[1])
    found = read(*files(tmp_path, *names))
    assert found.models["m"][0].to_pydict() == {
        "user_id": [301, 301, 301, 302],
        "item_id": ["d1", "d2", "d3", "d9"],
        "score": [2.5, 2.5, 9.5, -1e-3],  # no rank: trec_eval does not read it either
    }
    assert found.relevance.to_pydict() == {
        "user_id": [301, 301, 302], "item_id": ["d1", "d2", "d9"], "grade": [1, 0, 2],
    }  # fmt: skip
    assert [(i.check, i.count, i.total, i.rows) for i in found.issues] == [
        ("negative_grades", 1, 4, (3,))
    ]


def test_format_in_the_configuration(tmp_path):
    run, qrels = files(tmp_path, "run.csv", "qrels.csv")
    (tmp_path / "audit.toml").write_text(
        '[models]\nbaseline = "run.csv"\ncandidate = "run.csv"\n[recommendations]\nformat = "trec"\n'
        '[relevance]\npath = "qrels.csv"\nformat = "trec"\n[conventions]\npreset = "trec_eval"\n',
        encoding="utf-8",
    )
    audit.check(tmp_path / "audit.toml")
    assert len(read(run, qrels, format="trec").relevance) == 3
    with pytest.raises(InputError):
        read(run)


def test_ids_that_are_numbers_and_zeros_in_front(tmp_path):
    run = tmp_path / "a.run"
    run.write_text("1 Q0 12 1 1 x\n1 Q0 7 2 .5 x\n")
    assert read(run).models["m"][0]["item_id"].to_pylist() == [12, 7]
    run.write_text("1 Q0 012 1 1 x\n1 Q0 7 2 .5 x\n")
    assert read(run).models["m"][0]["item_id"].to_pylist() == ["012", "7"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("1 0 a 1\n1 0 b\n", "lines of 'a.qrels' have another number of fields"),
        ("1 0 a\n", "its first line has 3 fields"),
        ("1 0 a good\n", "grades are text"),
        ("1 0 a 0.5\n", "grades are fractions"),
        ("", "is empty"),
    ],
)
def test_what_is_no_qrels(tmp_path, text, what):
    (tmp_path / "a.qrels").write_text(text)
    with pytest.raises(InputError, match=what):
        read(qrels=tmp_path / "a.qrels")


def test_other_text_is_not_taken_for_it(tmp_path):
    for text in ("hello world\n", "a b c d\n", "1 2 3 4 5 6 7\n", "\n", "1 Q0 a first 1.0 x\n"):
        (tmp_path / "notes.txt").write_text(text)
        with pytest.raises(InputError, match="suffix that says no known format"):
            read(tmp_path / "notes.txt")
    (tmp_path / "notes.txt").write_bytes(b"\xff\xfe1 0 a 1\n")
    with pytest.raises(InputError, match="suffix"):
        read(tmp_path / "notes.txt")


def test_qrels_are_no_run(tmp_path):
    _, qrels = files(tmp_path)
    with pytest.raises(InputError, match="neither 'rank' nor 'score'"):
        read(qrels)


# -------------------------------------------------------------------------------------- writing


def test_ranks_are_written_as_falling_scores(tmp_path):
    table = pd.DataFrame({"user_id": ["b", "a", "a"], "item_id": [5, 6, 4], "rank": [1, 2, 1]})
    audit.write_trec_run(table, tmp_path / "x.run", tag="mine")
    assert (tmp_path / "x.run").read_text() == (
        "a Q0 4 1 2 mine\na Q0 6 2 1 mine\nb Q0 5 1 1 mine\n"
    )


@pytest.mark.parametrize(
    ("ties", "order"),
    [
        ("item_id", [8, 9, 10, 11]), ("item_id_descending", [8, 11, 10, 9]),
        ("item_text_descending", [8, 9, 11, 10]), ("input_order", [8, 10, 9, 11]),
    ],
)  # fmt: skip
def test_scores_are_written_as_they_are(tmp_path, ties, order):
    shown = lists({1: [10, 9, 8, 11]}, scores={1: [0.1, 0.1, 0.3, 0.1]})
    audit.write_trec_run(shown, tmp_path / "x.run", conventions={"ties": ties})
    rows = [line.split() for line in (tmp_path / "x.run").read_text().splitlines()]
    assert [int(row[2]) for row in rows] == order
    assert [float(row[4]) for row in rows] == [0.3, 0.1, 0.1, 0.1]
    found = audit.evaluate(
        tmp_path / "x.run", relevance=judged({1: [9]}), metrics=["mrr"], k=4, conventions={"ties": ties}
    )  # fmt: skip
    assert found.loc["mrr@4", "value"] == 1 / (1 + order.index(9)) or ties == "input_order"


def test_what_is_written_is_read_again(tmp_path):
    rng = np.random.default_rng(3)
    shown = {u: [f"i{i}" for i in rng.permutation(50)[: rng.integers(1, 9)]] for u in range(30)}
    values = {u: [float(x) for x in rng.normal(size=len(of))] for u, of in shown.items()}
    truth = {u: {f"i{i}": int(g) for i, g in enumerate(rng.integers(0, 4, 50))} for u in range(30)}
    for table in (lists(shown), lists(shown, scores=values)):
        audit.write_trec_run(table, tmp_path / "x.run.gz")
        audit.write_trec_qrels(judged(truth), tmp_path / "x.qrels")
        given = {"metrics": ["ndcg", "map", "bpref", "judged"], "per_list": True}
        direct = audit.evaluate(table, relevance=judged(truth), **given)
        again = audit.evaluate(tmp_path / "x.run.gz", relevance=tmp_path / "x.qrels", **given)
        pd.testing.assert_frame_equal(direct, again, check_exact=True)


def test_what_trec_cannot_hold(tmp_path):
    several = lists({(1, 1): [2], (1, 2): [3]})
    with pytest.raises(InputError, match="one list a topic"):
        audit.write_trec_run(several, tmp_path / "x.run")
    with pytest.raises(InputError, match="one list a topic"):
        audit.write_trec_qrels(judged({(1, 1): [2]}), tmp_path / "x.qrels")
    with pytest.raises(InputError, match="hold blanks") as told:
        audit.write_trec_run(lists({"a": ["x y", "z"]}), tmp_path / "x.run")
    assert told.value.issues[0].count == 1
    with pytest.raises(ConfigError, match="one word"):
        audit.write_trec_run(lists({"a": ["z"]}), tmp_path / "x.run", tag="my run")
    with pytest.raises(ConfigError, match="not None"):
        audit.write_trec_qrels(None, tmp_path / "x.qrels")
    assert not list(tmp_path.iterdir())


def test_an_arrow_table_of_several_chunks(tmp_path):
    whole = lists({1: [5, 6], 2: [7]})
    audit.write_trec_run(pa.concat_tables([whole.slice(0, 1), whole.slice(1)]), tmp_path / "x.run")
    assert len((tmp_path / "x.run").read_text().splitlines()) == 3
