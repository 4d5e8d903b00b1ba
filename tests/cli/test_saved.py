from __future__ import annotations


def test_render_writes_beside_the_result(cli, result_of, tmp_path):
    (tmp_path / "audit.json").write_text(result_of("warn").to_json(), encoding="utf-8")
    done = cli("render", tmp_path / "audit.json", "--format", "html")
    assert done.code == 0, done.err
    assert done.out == f"wrote {tmp_path / 'report.html'}\n"
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_render_of_json_gives_the_same_bytes(cli, result_of, tmp_path):
    (tmp_path / "audit.json").write_text(result_of("fail").to_json(), encoding="utf-8")
    done = cli("render", tmp_path / "audit.json", "--format", "json", "--out", tmp_path / "new")
    assert done.code == 0, done.err
    written = (tmp_path / "new" / "audit.json").read_bytes()
    assert written == (tmp_path / "audit.json").read_bytes()


def test_what_is_no_result_is_refused(cli, tmp_path):
    (tmp_path / "audit.json").write_text("{}")
    done = cli("render", tmp_path / "audit.json")
    assert done.code == 2
    assert "is not an audit result" in done.err
    assert cli("render", tmp_path / "absent.json").code == 2
