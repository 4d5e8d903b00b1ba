"""Sizes as people write them, and what [engine] and arguments say together."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.api import resources_of
from audit.config import Config, load_config
from audit.errors import ConfigError
from audit.resources import parse_size, size_text


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1.5GB", 1_500_000_000), ("1.5 gb", 1_500_000_000), ("2G", 2 * 10**9), ("1GiB", 2**30),
        ("512MiB", 2**29), ("800MB", 8 * 10**8), ("64kB", 64_000), ("1TB", 10**12), ("123", 123),
        (123, 123), ("10B", 10),
    ],
)  # fmt: skip
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "GB", "-1GB", "1.GB", "1,5GB", "1XB", "0", 0, "0.1B", "1 2GB"]
)
def test_no_sizes(text):
    with pytest.raises(ValueError, match=r"size|memory"):
        parse_size(text)


def test_sizes_in_words():
    assert [size_text(n) for n in (1.46e9, 999.6e6, 608e6, 2e6)] == [
        "1.5 GB", "1.0 GB", "608 MB", "2 MB",
    ]  # fmt: skip


def config(**engine):
    return Config.model_validate({"models": {"baseline": "a", "b": "b"}, "engine": engine})


def test_arguments_go_before_the_configuration():
    given = config(memory_limit="2GB", checkpoint="kept", threads=3)
    found = resources_of(given, Path("folder"))
    assert found.memory_limit == 2 * 10**9
    assert (found.checkpoint, found.threads) == (Path("folder/kept"), 3)
    found = resources_of(given, Path("folder"), memory_limit=5, checkpoint="x", threads=1)
    assert (found.memory_limit, found.checkpoint, found.threads) == (5, Path("x"), 1)
    assert resources_of(config()).memory_limit is None


def test_arguments_that_cannot_be():
    with pytest.raises(ConfigError, match="memory_limit: 'much' is no size"):
        resources_of(config(), memory_limit="much")
    with pytest.raises(ConfigError, match="threads = 0: give a whole number from 1"):
        resources_of(config(), threads=0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('memory_limit = "much"', "[engine] memory_limit"),
        ("memory_limit = true", "[engine] memory_limit"),
        ("threads = 0", "[engine] threads"),
        ('memory = "1GB"', "memory_limit"),
    ],
)
def test_what_may_not_stand_in_the_file(tmp_path, line, message):
    path = tmp_path / "audit.toml"
    path.write_text(f'[models]\nbaseline = "a"\nb = "b"\n[engine]\n{line}\n', encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert message in str(caught.value)
