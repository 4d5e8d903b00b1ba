from __future__ import annotations

import sys
from importlib.metadata import EntryPoint

import pytest

from audit.errors import ConfigError
from audit.metrics import REGISTRY, plugins
from audit.metrics.plugins import load_plugins

SOURCE = """
from audit.metrics import metric

@metric(level="list", direction="higher")
def {name}(b, ks):
    "What is it?"
"""


@pytest.fixture
def plugin(tmp_path):
    """Write a module that registers a metric of its own name; forget both afterwards."""
    written = []

    def write(name: str, source: str = SOURCE) -> None:
        written.append(name)
        (tmp_path / f"{name}.py").write_text(source.format(name=name))

    yield write
    for name in written:
        REGISTRY.pop(name, None)
        sys.modules.pop(name, None)


def test_a_module_beside_the_configuration(plugin, tmp_path):
    plugin("beside_metric")
    path = list(sys.path)
    load_plugins(["beside_metric"], base=tmp_path)
    load_plugins(["beside_metric"], base=tmp_path)
    assert REGISTRY["beside_metric"].question == "What is it?"
    assert sys.path == path


def test_an_installed_package_registers_by_entry_point(plugin, tmp_path, monkeypatch):
    plugin("installed_metric")
    monkeypatch.syspath_prepend(tmp_path)
    asked = []

    def installed(*, group):
        asked.append(group)
        return [EntryPoint("mine", "installed_metric", group)]

    monkeypatch.setattr(plugins, "entry_points", installed)
    load_plugins()
    assert asked == ["recaudit.metrics"]
    assert "installed_metric" in REGISTRY


@pytest.mark.parametrize("name", ["no_such_module", "no_such_package.module"])
def test_a_module_that_is_not_there(tmp_path, name):
    with pytest.raises(ConfigError) as caught:
        load_plugins([name], base=tmp_path)
    assert str(caught.value) == (
        f"[audit] plugins: no module '{name}' in {tmp_path} and among the installed packages."
    )


def test_a_module_that_imports_what_is_not_there(plugin, tmp_path):
    plugin("broken_metric", "import no_such_thing")
    with pytest.raises(ConfigError) as caught:
        load_plugins(["broken_metric"], base=tmp_path)
    assert str(caught.value) == (
        "[audit] plugins: module 'broken_metric' needs the module 'no_such_thing', which is not installed."
    )


def test_a_name_that_is_taken(plugin, tmp_path):
    plugin("taken_metric", SOURCE.replace("{name}", "ndcg"))
    with pytest.raises(ConfigError, match="metric 'ndcg' is already registered"):
        load_plugins(["taken_metric"], base=tmp_path)
