from __future__ import annotations

import pytest

from audit.metrics import REGISTRY
from audit.metrics.registry import FAMILIES
from audit.render.sections.gains import FAMILIES as QUESTIONS


def test_a_metric_is_defined(cli):
    done = cli("explain", "ndcg@10")
    assert done.code == 0
    text = " ".join(done.out.split())
    spec = REGISTRY["ndcg"]
    assert text.startswith(f"ndcg@10: {spec.title} question {spec.question}")
    assert " ".join(spec.formula.split()) in text
    assert "range [0, 1]" in text
    assert "direction higher is better" in text
    assert "needs a relevance table" in text
    assert "gain 2^grade − 1" in text
    assert " ".join(spec.citation.split()) in text


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_every_metric_can_be_explained(cli, name):
    done = cli("explain", name)
    assert done.code == 0
    labels = {line[:12].strip() for line in done.out.splitlines()[2:]}
    assert {"question", "formula", "range", "direction", "level", "needs"} <= labels
    assert "None" not in done.out


def test_a_worked_example(cli):
    text = " ".join(cli("explain", "ndcg@10").out.split())
    assert "example ndcg@3 lists user 1: 5, 6, 7 relevant user 1: 5, 8 (grade 1), 7" in text
    assert "= (1 + 3/2) / (3 + 1*h + 1/2) ≈ 0.605191, where h = 1/log2(3)" in text
    assert "default conventions" not in text


def test_parameters_as_given(cli):
    done = cli("explain", "fresh_share[days=7]@10")
    assert done.out.startswith("fresh_share[days=7]@10: ")
    assert "days = 7" in done.out


def test_all_metrics_by_family(cli):
    done = cli("explain")
    assert done.code == 0
    listed = {line[2:].split()[0]: line[:2] for line in done.out.splitlines() if line[2:].strip()}
    assert {name: listed[name] for name in REGISTRY} == {
        name: "* " if spec.default else "  " for name, spec in REGISTRY.items()
    }
    found = [line for line in done.out.splitlines() if line in FAMILIES]
    assert found == [family for family in QUESTIONS if family in found]  # as the report has them
    assert set(found) == {spec.family for spec in REGISTRY.values()}


def test_an_unknown_metric_names_the_nearest(cli):
    done = cli("explain", "ndgc")
    assert done.code == 2
    assert done.err.startswith("recaudit: unknown metric 'ndgc'. Did you mean 'ndcg'? Valid: ")


def test_a_configurations_conventions_are_in_force(cli, config_file):
    config_file.write_text(config_file.read_text() + '[conventions]\ngain = "linear"\n')
    done = cli("explain", "ndcg", "--config", config_file)
    assert "2^grade" not in done.out
    assert "ndcg@3, under the default conventions" in done.out


def test_a_configurations_plugins_are_known(cli, config_file, monkeypatch):
    monkeypatch.setattr("audit.metrics.registry.REGISTRY", REGISTRY)
    config_file.write_text(
        '[audit]\nplugins = ["explained_plugin"]\n' + config_file.read_text(), encoding="utf-8"
    )
    (config_file.parent / "explained_plugin.py").write_text(
        "from audit.metrics import metric\n\n"
        '@metric(level="list", direction="lower", formula="0", range=(0.0, float("inf")))\n'
        'def explained_zero(b, ks):\n    """Is it zero?"""\n'
    )
    try:
        done = cli("explain", "explained_zero", "--config", config_file)
    finally:
        REGISTRY.pop("explained_zero", None)
    assert done.code == 0, done.err
    assert "Is it zero?" in done.out
    assert "[0, ∞)" in done.out
    assert "lower is better" in done.out
    assert "example" not in done.out


def test_what_looks_at_all_pairs_says_where_it_is_measured(cli):
    assert "up to the viewport unless a K is named" in " ".join(cli("explain", "eild").out.split())
    assert "viewport" not in cli("explain", "ild").out
