"""Labels by formula, features by hand, and a learned order that finds what was planted."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

from audit.conventions import Conventions
from audit.dataset import How, read_and_encode
from audit.dataset.candidates import Candidates, grades_of, read_candidates
from audit.errors import ConfigError
from audit.inputs.sources import sources_from_arguments
from audit.learning.features import features
from audit.learning.labels import as_labels, combined_gain
from audit.learning.lost import headroom
from audit.learning.reference import reference_order


def test_gain_is_relevance_times_what_else_counts():
    grades = np.array([[2, 1, 0], [1, 0, 1]])
    tail, fresh = np.array([[1, 0, 1], [0, 0, 1]]), np.full((2, 3), 0.5)
    found = combined_gain(grades, {"tail": (tail, 2.0), "fresh": (fresh, 1.0)})
    np.testing.assert_allclose(found, (2.0**grades - 1) * (1 + 2 * tail + 0.5))
    np.testing.assert_allclose(combined_gain(grades, {}, gain="linear"), grades)
    with pytest.raises(ConfigError, match="outside 0 to 1"):
        combined_gain(grades, {"tail": (tail * 2, 1.0)})
    with pytest.raises(ConfigError, match=r"has the weight -1"):
        combined_gain(grades, {"tail": (tail, -1)})
    with pytest.raises(ConfigError, match="has the shape"):
        combined_gain(grades, {"tail": (tail[0], 1)})


def test_labels_stand_for_gains():
    gains = np.array([[0.0, 1.5], [3.0, 1.5]])
    labels, worth = as_labels(gains)
    assert labels.tolist() == [[0, 1], [2, 1]]
    assert worth == [0, 1.5, 3]
    many = np.append(np.random.default_rng(0).gamma(1, 1, 5_000), 0.0)
    labels, worth = as_labels(many)
    assert labels[-1] == 0
    assert (labels[:-1] > 0).all()
    assert len(worth) <= 1_000
    assert (np.diff(worth) >= 0).all()
    np.testing.assert_allclose(np.array(worth)[labels].sum(), many.sum(), rtol=1e-9)


def planted(users=240, width=20):
    """Two models; relevance follows the age of the item, which neither model's order knows."""
    rng = np.random.default_rng(1)
    items = np.arange(100)
    created = pd.Timestamp("2020-01-01", tz="UTC") + pd.to_timedelta(rng.permutation(100), "D")
    shown = np.concatenate([rng.choice(items, width, replace=False) for _ in range(users)])
    frame = pd.DataFrame({"user_id": np.repeat(np.arange(users), width), "item_id": shown})
    a = frame.assign(score=rng.normal(size=len(frame)))
    b = frame.assign(score=rng.normal(size=len(frame)))
    newest = np.argsort(created)[-25:]
    relevance = frame[frame.item_id.isin(newest) & (rng.random(len(frame)) < 0.8)].assign(grade=1)
    catalog = pd.DataFrame({"item_id": items, "created_at": created})
    history = pd.DataFrame({"user_id": rng.integers(0, users, 800), "item_id": rng.integers(0, 100, 800),
                            "timestamp": pd.Timestamp("2020-06-01", tz="UTC")})  # fmt: skip
    sources = sources_from_arguments(
        models={"a": a, "b": b}, relevance=relevance, catalog=catalog, history=history
    )
    d = read_and_encode(sources, How(Conventions(), 5)).dataset
    return d, {m: read_candidates(d, sources, m, Conventions()) for m in "ab"}


def test_features_are_what_the_audit_knows():
    d, candidates = planted(users=12, width=4)
    x, names = features(d, candidates["a"], {"b": candidates["b"]}, d.models["a"][0].time)
    column = {name: x[:, at].reshape(12, 4) for at, name in enumerate(names)}
    own, other = candidates["a"], candidates["b"]
    spread = (own.scores - own.scores.mean(1, keepdims=True)) / own.scores.std(1, keepdims=True)
    np.testing.assert_allclose(column["score"], spread, rtol=1e-5)
    assert column["rank"].tolist() == [[1, 2, 3, 4]] * 12
    for row in range(12):  # both models order the same items
        place = {item: at for at, item in enumerate(other.items[row].tolist(), 1)}
        assert column["rank of b"][row].tolist() == [place[i] for i in own.items[row].tolist()]
    np.testing.assert_allclose(
        column["popularity"], np.log1p(d.items.popularity[own.items]), rtol=1e-6
    )
    day = (pd.Timestamp("2020-06-01") - pd.Timestamp("1970-01-01")).days
    np.testing.assert_allclose(column["age"], day - d.items.created[own.items], rtol=1e-5)


def test_a_planted_signal_is_learned_across_folds_and_the_loss_is_split():
    d, candidates = planted()
    found = headroom(d, candidates, ks=[1, 5], viewport=5)
    table = found.table.set_index(["model", "k"])
    for model in "ab":
        row = table.loc[model, 5]
        assert row.gain_low > 0.2  # age is nearly all there is to know
        assert row.reference < row.oracle <= 1
        assert row.current + row.ranking_loss + row.retrieval_loss == pytest.approx(1)
        assert row.oracle == pytest.approx(1)  # every relevant item is among the candidates
    assert {(f.rule, f.model) for f in found.findings} == {
        ("learned_order_beats_model", m) for m in "ab"
    }
    same = headroom(d, candidates, ks=[5], viewport=5)
    pd.testing.assert_frame_equal(
        same.table, found.table[found.table.k == 5].reset_index(drop=True)
    )


def test_nothing_is_learned_where_there_is_nothing():
    d, candidates = planted()
    rng = np.random.default_rng(2)
    grades = (rng.random(candidates["a"].items.shape) < 0.2).astype(float)
    noise = rng.normal(size=(grades.size, 3)).astype(np.float32)
    order = reference_order(candidates["a"], noise, grades, d.list_user, k=5)
    assert (np.sort(order, 1) == np.sort(candidates["a"].items, 1)).all()
    gained = np.take_along_axis(grades, np.argsort(candidates["a"].items, 1), 1)
    top = np.take_along_axis(gained, np.argsort(np.argsort(order, 1), 1), 1)[:, :5].mean()
    assert abs(top - 0.2) < 0.05  # no better than chance on users who were not seen
    with pytest.raises(ConfigError, match="nothing for the reference ranker to learn from"):
        reference_order(candidates["a"], noise, grades * 0, d.list_user)


def test_oracle_alone_needs_no_lightgbm(monkeypatch):
    d, candidates = planted(users=60)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    table = headroom(d, candidates, ks=[5], viewport=5, reference=False).table
    assert table.reference.isna().all()
    with pytest.raises(ConfigError, match=r"pip install 'recaudit\[learning\]'"):
        headroom(d, candidates, ks=[5], viewport=5)


def test_grades_beside_padding():
    d, candidates = planted(users=12, width=4)
    short = candidates["a"].items.copy()
    short[:, 3] = -1
    assert (grades_of(d, Candidates(short, candidates["a"].scores, scored=True))[:, 3] == -1).all()
