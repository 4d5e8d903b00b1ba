"""Run a process and say what it took."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024
"""``ru_maxrss`` is in bytes on macOS, in kilobytes elsewhere."""
_POLL = 0.005


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What a process took, and what it answered."""

    wall: float
    """Seconds from its start to its end."""
    cpu: float
    """Seconds of processors, in user and in system mode, children included."""
    peak: int
    """Bytes: the largest resident set of it or of one of its children."""
    answer: Mapping[str, Any] = field(default_factory=dict)
    """The JSON object in the last line that it printed."""
    error: str | None = None
    """Why it did not end well."""


def measure(
    command: Sequence[str | Path], *, cwd: Path, timeout: float,
    env: Mapping[str, str] | None = None,
) -> Usage:  # fmt: skip
    """Run ``command`` and wait for it.

    Its resources come from ``wait4``: they are its own and those of the children that it waited for.

    Parameters
    ----------
    timeout
        Seconds; then it is killed, with all that it started, and that is the error.
    env
        Added to this process's environment.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        child = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=cwd,
            env={**os.environ, **(env or {})}, start_new_session=True,
        )  # fmt: skip
        status, rusage, late = _wait(child, start + timeout)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        answer, error = _answer(_text(out)), None
        if late:
            error = f"not done after {timeout:g} s"
        elif child.returncode != 0:
            error = f"exit code {child.returncode}: {_last_line(_text(err))}"
        elif answer is None:
            error = "its last line is no JSON object"
    return Usage(
        wall=wall, cpu=rusage.ru_utime + rusage.ru_stime, peak=rusage.ru_maxrss * _PEAK_UNIT,
        answer=answer or {}, error=error,
    )  # fmt: skip


def _wait(child: subprocess.Popen[bytes], deadline: float) -> tuple[int, Any, bool]:
    while True:
        pid, status, rusage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            return status, rusage, False
        if time.perf_counter() > deadline:
            os.killpg(child.pid, signal.SIGKILL)
            _, status, rusage = os.wait4(child.pid, 0)
            return status, rusage, True
        time.sleep(_POLL)


def _text(stream: Any) -> str:
    stream.seek(0)
    return str(stream.read().decode("utf-8", errors="replace"))


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def _answer(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(_last_line(text))
    except json.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None
