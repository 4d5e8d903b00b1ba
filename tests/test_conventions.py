"""Conventions: presets, what is laid over them, and what is said of a wrong one."""

from __future__ import annotations

import pytest

from audit.config import load_config
from audit.conventions import PRESETS, Conventions, conventions
from audit.errors import ConfigError


def changed(preset):
    given, usual = conventions(preset), Conventions()
    return {
        name: getattr(given, name)
        for name in Conventions.model_fields
        if getattr(given, name) != getattr(usual, name)
    }


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_what_it_lists(name):
    assert changed(name) == dict(PRESETS[name])


def test_every_library_of_the_design_has_one():
    assert list(PRESETS) == [
        "default",
        "trec_eval",
        "rectools",
        "replay",
        "lenskit",
        "recommenders",
    ]


def test_a_field_is_laid_over_a_preset():
    settled = conventions({"preset": "rectools", "ideal": "achievable", "head_share": 0.5})
    assert (settled.gain, settled.ideal, settled.head_share) == ("binary", "achievable", 0.5)
    assert conventions(settled) is settled
    assert Conventions(preset="rectools") == conventions("rectools")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("rectool", "unknown conventions preset 'rectool'. Did you mean 'rectools'? Valid: default,"),
        ({"preset": "lensket"}, "Did you mean 'lenskit'?"),
        ({"preset": ["replay"]}, "unknown conventions preset '['replay']'"),
        ({"presett": "replay"}, "unknown convention 'presett'. Did you mean 'preset'?"),
        ({"gain": "cubic"}, "unknown value of convention 'gain' 'cubic'"),
        ({"threshold": 0}, "convention 'threshold': Input should be greater than or equal to 1"),
    ],
)  # fmt: skip
def test_what_is_wrong(given, said):
    with pytest.raises(ConfigError) as told:
        conventions(given)
    assert said in str(told.value)


TOML = '[models]\nbaseline = "a.run"\ncandidate = "b.run"\n[conventions]\n'


def test_a_preset_in_the_configuration(tmp_path):
    path = tmp_path / "audit.toml"
    path.write_text(f'{TOML}preset = "trec_eval"\nthreshold = 2\n', encoding="utf-8")
    assert load_config(path).conventions == conventions({"preset": "trec_eval", "threshold": 2})
    path.write_text(f'{TOML}preset = "trec"\n', encoding="utf-8")
    with pytest.raises(ConfigError) as told:
        load_config(path)
    assert "[conventions]: unknown conventions preset 'trec'. Did you mean 'trec_eval'?" in str(
        told.value
    )
