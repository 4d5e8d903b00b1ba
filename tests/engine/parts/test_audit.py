"""An audit in parts gives the bytes of the local engine, whatever the tables are like."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audit import api, asking
from audit.config import load_config
from audit.conventions import conventions
from audit.dataset import hashing
from audit.engine import plan
from audit.engine.parts import ranking, survey
from audit.engine.parts.audit import audit_parts
from audit.engine.parts.serial import Serial
from audit.errors import ConfigError, InputError
from audit.inputs.chunks import NotClean
from tests.layouts import Shape, sources
from tests.test_determinism import CONFIG, tables

pytestmark = pytest.mark.slow  # whole audits, by the dozen

METRICS = (
    "ndcg",
    "map",
    "ndcg_ceiling",
    "ild",
    "tail_share",
    "item_gini",
    "catalog_coverage",
    "mean_age",
    "novelty",
)


def in_parts(sources, settings, monkeypatch, *, parts=3, tasks=2):
    """The audit's bytes, measured in parts."""
    candidates = [model for model in sources.models if model != settings.baseline]
    outcome = audit_parts(
        sources,
        asking.how(settings),
        asking.asked(settings, candidates),
        Serial(tasks),
        parts=parts,
    )
    with monkeypatch.context() as patched:
        patched.setattr(api, "_measure_here", lambda *_: outcome)
        return api._audit(sources, settings).to_json()


def difference(one: str, other: str) -> str:
    a, b = json.loads(one), json.loads(other)
    return ", ".join(key for key in a if a[key] != b[key]) or "nothing but the layout"


def same(sources, settings, monkeypatch, **how):
    expected = api._audit(sources, settings).to_json()
    got = in_parts(sources, settings, monkeypatch, **how)
    assert got == expected, difference(got, expected)


SHAPES = {
    "integers": Shape(),
    "strings that lie apart": Shape(text=True, scattered=True),
    "requests, sessions and seconds": Shape(requests=True, times="seconds"),
    "strings, requests, ties, times, apart": Shape(
        text=True, requests=True, scattered=True, scores=True, times="timestamp"
    ),
    "no catalog, ties": Shape(catalog=False, scores=True),
    "no catalog, strings": Shape(catalog=False, text=True),
    "text formats": Shape(formats=("csv", "csv.gz", "jsonl", "arrow")),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("seed", [2])
def test_drawn_audits(shape, seed, tmp_path, monkeypatch):
    given = sources(tmp_path, shape, seed)
    settings = asking.Settings(ks=[1, 5], viewport=5, metrics=METRICS, guardrails="none")
    # More parts than some have users: a few are empty.
    same(given, settings, monkeypatch, parts=[1, 3, 40][seed % 3], tasks=seed)


@pytest.mark.parametrize(
    "chosen",
    [
        {"users": "all_relevant"},
        {"ties": "input_order"},
        {"no_relevant": "zero", "untouched": "drop"},
    ],
    ids=str,
)
def test_conventions(chosen, tmp_path, monkeypatch):
    given = sources(tmp_path, Shape(scores=True, scattered=True), 5)
    settings = asking.Settings(
        ks=[3], viewport=3, metrics=METRICS, guardrails="none", conventions=conventions(chosen)
    )
    same(given, settings, monkeypatch)


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """Requests, sessions, seeds, segments, guardrails on them; rows in any order, in small row groups."""
    folder = tmp_path_factory.mktemp("everything")
    rng = np.random.default_rng(3)
    for name, table in tables().items():
        mixed = table.take(rng.permutation(table.num_rows))
        pq.write_table(mixed, folder / f"{name}.parquet", row_group_size=97)
    config = CONFIG.replace(
        "[audit]", '[audit]\nmetrics = ["ndcg", "item_gini", "ild", "mean_age"]'
    )
    (folder / "audit.toml").write_text(config, encoding="utf-8")
    settings, given = api._settled(folder / "audit.toml", None)
    return settings, given, api._audit(given, settings).to_json()


@pytest.mark.parametrize(("parts", "tasks"), [(5, 3)])
def test_everything_an_audit_can_read(everything, parts, tasks, monkeypatch):
    settings, given, expected = everything
    got = in_parts(given, settings, monkeypatch, parts=parts, tasks=tasks)
    assert got == expected, difference(got, expected)


def test_users_of_one_hash(everything, monkeypatch):
    """Hashes of text may be equal; then the id decides on which side of a cut a user is."""
    settings, given, _ = everything

    def coarse(column):
        return hashing.mix(hashing.hash_strings(column) % np.uint64(23))

    real = hashing.hash_values

    def few(column):
        texts = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        users = pa.types.is_string(texts.type) and len(texts) and str(texts[0]).startswith("u")
        return coarse(texts) if users else real(column)

    monkeypatch.setattr("audit.engine.plan.hashing.hash_values", few)
    for module in (survey, __import__("audit.engine.parts.measuring", fromlist=["x"])):
        monkeypatch.setattr(module, "hash_values", few)
    same(given, settings, monkeypatch)


def many(folder: Path, users: int) -> asking.Settings:
    """More users than each can have a bucket of their own; users table with numbers, gaps and names."""
    rng = np.random.default_rng(0)
    for name, skew in (("baseline", 1.0), ("candidate", 2.0)):
        items = (rng.random((users, 4)) ** skew * 40).astype(int) * 4 + np.arange(4)
        pq.write_table(
            pa.table(
                {
                    "user_id": np.repeat(rng.permutation(users), 4),
                    "item_id": items.reshape(-1),
                    "rank": np.tile(np.arange(1, 5), users),
                }
            ),
            folder / f"{name}.parquet",
            row_group_size=users,
        )
    relevance = {"user_id": rng.permutation(users), "item_id": rng.integers(0, 160, users)}
    pq.write_table(pa.table(relevance), folder / "relevance.parquet")
    frame = pd.DataFrame({"user_id": rng.permutation(2 * users)})
    frame["country"] = np.array(["DE", "SE", None])[frame.user_id % 3]
    frame.loc[frame.user_id % 97 == 0, "country"] = "FI"  # too few each, and together
    frame.loc[frame.user_id % 89 == 0, "country"] = "NO"
    frame["height"] = frame.user_id / 7
    frame["year"] = np.where(frame.user_id % 5 == 0, np.nan, frame.user_id % 4)
    frame["name"] = frame.user_id.astype(str)
    pq.write_table(pa.Table.from_pandas(frame), folder / "users.parquet", row_group_size=1000)
    (folder / "audit.toml").write_text(
        '[audit]\nk = [4]\nviewport = 4\nmetrics = ["ndcg", "item_gini"]\n[models]\n'
        'baseline = "baseline.parquet"\ncandidate = "candidate.parquet"\n[relevance]\n'
        'path = "relevance.parquet"\n[users]\npath = "users.parquet"\n[guardrails]\n'
        '"item_gini@4" = { max_rise = 0.1, segment = ["country", "year"] }\n',
        encoding="utf-8",
    )


def test_equal_buckets_of_many_users(tmp_path, monkeypatch):
    for module in (plan, ranking):  # as if these were many
        monkeypatch.setattr(module, "SMALL", 200)
        monkeypatch.setattr(module, "BUCKETS", 64)
    many(tmp_path, 701)
    settings, given = api._settled(tmp_path / "audit.toml", None)
    expected = api._audit(given, settings)
    got = in_parts(given, settings, monkeypatch, parts=4)
    assert got == expected.to_json(), difference(got, expected.to_json())
    checks = {issue.check for issue in expected.issues}
    assert {"attributes_left_out", "too_many_cells"} <= checks
    assert {"small_cells_merged", "small_cells_suppressed"} <= checks


def test_three_candidates_and_users_on_one_side(tmp_path, monkeypatch):
    given = sources(tmp_path, Shape(), 9)
    models = dict(given.models)
    for n, seed in enumerate((21, 22)):
        (tmp_path / str(n)).mkdir()
        models[f"other{n}"] = sources(tmp_path / str(n), Shape(), seed).models["candidate"]
    given = type(given)(**{**vars(given), "models": models})
    settings = asking.Settings(ks=[3], viewport=3, metrics=METRICS, guardrails="none")
    expected = api._audit(given, settings)
    assert in_parts(given, settings, monkeypatch) == expected.to_json()
    assert "users_on_one_side" in {issue.check for issue in expected.issues}


def test_tables_that_share_no_item_are_the_same_error(tmp_path, monkeypatch):
    many(tmp_path, 60)
    pq.write_table(pa.table({"item_id": [900, 901]}), tmp_path / "catalog.parquet")
    text = (tmp_path / "audit.toml").read_text()
    (tmp_path / "audit.toml").write_text(text + '[catalog]\npath = "catalog.parquet"\n')
    settings, given = api._settled(tmp_path / "audit.toml", None)
    with pytest.raises(InputError) as expected:
        api._audit(given, settings)
    with pytest.raises(InputError) as got:
        in_parts(given, settings, monkeypatch)
    assert str(got.value) == str(expected.value)


def test_a_segment_that_is_none(tmp_path, monkeypatch):
    many(tmp_path, 60)
    text = (tmp_path / "audit.toml").read_text().replace('"country", "year"', '"planet"')
    (tmp_path / "audit.toml").write_text(text)
    settings, given = api._settled(tmp_path / "audit.toml", None)
    with pytest.raises(ConfigError, match="unknown segment attribute 'planet'"):
        in_parts(given, settings, monkeypatch)


def broken(tables: dict[str, pa.Table]) -> dict[str, dict[str, pa.Table]]:
    lists, judged = tables["baseline"], tables["relevance"]
    doubled = pa.concat_tables([judged, judged.slice(0, 1)])
    return {
        "a pair judged twice": {"relevance": doubled},
        "an item twice in a list": {"baseline": pa.concat_tables([lists, lists.slice(0, 1)])},
        "a missing id": {"relevance": judged.append_column(
            "x", pa.nulls(len(judged))).set_column(0, "user_id", pa.nulls(len(judged), pa.int64()))},
        "nothing relevant": {"relevance": judged.append_column("grade", pa.array([0] * len(judged)))},
        "lists in a column": {"baseline": pa.table({"user_id": [1], "items": [[1, 2]]})},
        "a user in two rows": {"users": pa.concat_tables([tables["users"], tables["users"].slice(0, 1)])},
        "no rows": {"relevance": judged.slice(0, 0)},
    }  # fmt: skip


@pytest.mark.parametrize("case", ["a pair judged twice", "an item twice in a list", "a missing id",
                                  "nothing relevant", "lists in a column", "a user in two rows", "no rows"])  # fmt: skip
def test_what_the_thorough_path_must_read_is_not_clean(case, tmp_path, monkeypatch):
    many(tmp_path, 60)
    names = ("baseline", "relevance", "users")
    for name, table in broken({n: pq.read_table(tmp_path / f"{n}.parquet") for n in names})[
        case
    ].items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    settings, given = api._settled(tmp_path / "audit.toml", None)
    with pytest.raises(NotClean):
        in_parts(given, settings, monkeypatch)


def test_the_configuration_names_the_engine(tmp_path):
    many(tmp_path, 60)
    text = (tmp_path / "audit.toml").read_text()
    (tmp_path / "audit.toml").write_text(
        text + '[engine]\nname = "spark"\nmaster = "local[2]"\nparts = 3\n'
    )
    config = load_config(tmp_path / "audit.toml")
    assert (config.engine.name, config.engine.parts) == ("spark", 3)
    settings, _ = api._settled(config, tmp_path)
    assert "engine" not in settings.config  # where it ran is no part of a result


@pytest.mark.parametrize("kind", ["pools", "eligible"])
def test_what_needs_all_users_is_left_to_the_local_engine(kind, tmp_path):
    given = sources(tmp_path, Shape(), 1)
    more = {"pools": {"baseline": given.models["baseline"][0]}, "eligible": given.relevance}
    settings = asking.Settings(ks=[3], viewport=3, metrics=METRICS, guardrails="none")
    with pytest.raises(NotClean, match=f"{kind} needs all users at hand"):
        audit_parts(
            replace(given, **{kind: more[kind]}),
            asking.how(settings),
            asking.asked(settings, ["candidate"]),
            Serial(2),
        )


def test_segments_made_of_the_history_need_all_users(tmp_path):
    given = sources(tmp_path, Shape(), 1)
    guardrails = {"profile": "none", "ndcg": {"max_drop": 1, "segment": "taste"}}
    settings = asking.Settings(ks=[3], viewport=3, metrics=METRICS, guardrails=guardrails)
    with pytest.raises(NotClean, match="taste needs all users at hand"):
        audit_parts(given, asking.how(settings), asking.asked(settings, ["candidate"]), Serial(2))
