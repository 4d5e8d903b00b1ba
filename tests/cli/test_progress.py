from __future__ import annotations

import io
import sys

from audit.cli.progress import progress_display


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_drawn_where_nobody_watches(capsys):
    with progress_display() as report:
        assert report is None
    assert capsys.readouterr() == ("", "")


def test_a_bar_is_drawn_for_each_stage_on_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress_display() as report:
        assert report is not None
        report("reading", 0, 2)
        report("reading", 2, 2)
        report("measuring", 1, 1200)
    seen = terminal.getvalue()
    assert "reading" in seen
    assert "2/2" in seen
    assert "measuring" in seen
    assert "1/1,200" in seen
