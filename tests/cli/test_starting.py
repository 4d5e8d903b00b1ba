from __future__ import annotations

from audit.errors import DataIssue


def test_check_says_what_there_is_to_note(cli, config_file, monkeypatch):
    issue = DataIssue("short_lists", "warning", "recommendations 'b'", None, 3, "short", "Look.")
    seen = []

    def found(config, *, base=None):
        seen.append(base)
        return [issue]

    monkeypatch.setattr("audit.api.check", found)
    done = cli("check", config_file)
    assert done.code == 0
    assert done.out == (
        "warning: recommendations 'b': short (3)\n  Look.\n"
        f"{config_file}: the inputs can be audited; 1 thing to note.\n"
    )
    assert seen == [config_file.parent]


def test_check_with_nothing_to_note(cli, config_file, monkeypatch):
    monkeypatch.setattr("audit.api.check", lambda config, *, base=None: [])
    assert cli("check", config_file).out == (
        f"{config_file}: the inputs can be audited; nothing to note.\n"
    )


def test_init_writes_a_configuration(cli, tmp_path, monkeypatch):
    monkeypatch.setattr("audit.inputs.detect.detect", lambda folder: folder)
    monkeypatch.setattr("audit.inputs.detect.write_config", lambda proposal: f"# {proposal}\n")
    done = cli("init", tmp_path)
    assert done.code == 0, done.err
    assert (tmp_path / "audit.toml").read_text() == f"# {tmp_path}\n"
    assert f"recaudit check {tmp_path / 'audit.toml'}" in done.out


def test_init_replaces_nothing_unasked(cli, config_file, monkeypatch):
    monkeypatch.setattr("audit.inputs.detect.detect", lambda folder: folder)
    monkeypatch.setattr("audit.inputs.detect.write_config", lambda proposal: "# new\n")
    before = config_file.read_text()
    done = cli("init", config_file.parent)
    assert done.code == 2
    assert "exists already; --force replaces it" in done.err
    assert config_file.read_text() == before
    assert cli("init", config_file.parent, "--force").code == 0
    assert config_file.read_text() == "# new\n"


def test_init_needs_a_folder(cli, tmp_path):
    done = cli("init", tmp_path / "absent")
    assert done.code == 2
    assert done.err == f"recaudit: {tmp_path / 'absent'}: is not a folder.\n"
