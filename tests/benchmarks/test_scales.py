from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import cache
from benchmarks.scales import LIST_LENGTH, SCALES, Files, scale_of


def test_the_issues_sizes():
    assert [(s.name, s.users) for s in SCALES.values()][1:] == [
        ("S", 20_000),
        ("M", 200_000),
        ("L", 1_000_000),
    ]
    assert SCALES["L"].items == 500_000
    assert SCALES["L"].rows == 50_000_000


def test_every_catalog_can_be_dealt_out():
    for scale in SCALES.values():
        assert scale.items % LIST_LENGTH == 0


@pytest.mark.parametrize("name", ["S", "M", "L"])
def test_a_plain_name(name):
    assert scale_of(name) is SCALES[name]


def test_another_catalog_at_the_same_users():
    scale = scale_of("S-5000")
    assert (scale.name, scale.users, scale.items) == ("S-5000", 20_000, 5_000)


@pytest.mark.parametrize("text", ["", "XL", "s", "S-", "S-x", "S-50", "S-5001", "S-5000-1"])
def test_what_is_no_scale(text):
    with pytest.raises(ValueError):
        scale_of(text)


def test_files_lie_by_scale_and_kind():
    files = Files.of(Path("data"), SCALES["M"], "string")
    assert files["catalog"] == Path("data/M/string/catalog.parquet")
    assert [path.stem for path in files.audited] == [
        "baseline", "candidate", "relevance", "catalog", "creators", "history",
    ]  # fmt: skip


def test_a_cache_is_used_only_if_it_is_this_one(tmp_path):
    scale = scale_of("XS-1000")
    assert not cache.ready(tmp_path, scale)
    made = cache.stamp_path(tmp_path, scale)
    made.parent.mkdir()
    made.write_text('{"version": 0}', encoding="utf-8")
    assert not cache.ready(tmp_path, scale)
