from __future__ import annotations

import tomllib
from pathlib import Path

from audit.config import load_config
from benchmarks.configs import ACCURACY, audit_toml
from benchmarks.scales import AS_OF, KS, Files, K

FILES = Files(Path("data") / 'a "quoted" folder')


def loaded(tmp_path, **asked):
    path = tmp_path / "audit.toml"
    path.write_text(audit_toml(FILES, **asked), encoding="utf-8")
    return load_config(path)


def test_the_full_audit_has_every_input_and_the_default_guardrails(tmp_path):
    config = loaded(tmp_path)
    assert config.audit.metrics is None
    assert (config.audit.k, config.audit.viewport) == (list(KS), K)
    assert str(config.audit.as_of) == AS_OF
    assert list(config.models) == ["baseline", "candidate"]
    assert config.models["candidate"] == str(FILES["candidate"])
    for table in ("relevance", "catalog", "creators", "history"):
        assert getattr(config, table).path == str(FILES[table])
    assert config.users is None
    assert config.guardrails == {"profile": "launch"}


def test_accuracy_reads_lists_and_relevance_only(tmp_path):
    config = loaded(tmp_path, metrics=ACCURACY, ks=(K,), everything=False)
    assert config.audit.metrics == list(ACCURACY)
    assert config.audit.k == [K]
    assert config.catalog is None
    assert config.history is None
    assert config.guardrails == {"profile": "none"}


def test_more_models_and_segments(tmp_path):
    config = loaded(tmp_path, models=4, segments=True)
    assert list(config.models) == ["baseline", "candidate", "candidate2", "candidate3"]
    assert config.models["candidate3"] == config.models["candidate"]
    assert config.users.path == str(FILES["users"])


def test_it_is_plain_toml():
    assert tomllib.loads(audit_toml(FILES))["audit"]["name"] == "Benchmark"
