"""A virtual environment for each peer, made when it is first asked for.

``peers/<peer>.txt`` pins everything in it, so it is installed without looking for more: what a peer asks for
but its metrics do not use can be left out of the list.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ENVS = HERE / ".envs"


class CannotInstallError(Exception):
    """A peer has no environment here; the message says why."""


def requirements(peer: str) -> Path:
    """The pins of a peer."""
    return HERE / "peers" / f"{peer}.txt"


def python_of(folder: Path) -> Path:
    """The interpreter of a virtual environment."""
    return folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def ensure(peer: str, *, envs: Path = ENVS, timeout: float = 900) -> Path:
    """The interpreter that has the peer; its environment is made where it is missing or has other pins.

    Raises
    ------
    CannotInstallError
        pip could not, or not in time.
    """
    folder, pins = envs / peer, requirements(peer).read_text(encoding="utf-8")
    stamp = folder / "installed.txt"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == pins:
        return python_of(folder)
    _run([sys.executable, "-m", "venv", "--clear", str(folder)], timeout)
    _run(
        [
            str(python_of(folder)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
            "--no-deps", "--requirement", str(requirements(peer)),
        ],
        timeout,
    )  # fmt: skip
    stamp.write_text(pins, encoding="utf-8")
    return python_of(folder)


def _run(command: list[str], timeout: float) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        raise CannotInstallError(f"not installed after {timeout:g} s") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["pip said nothing"]
        raise CannotInstallError(lines[-1])


def pinned(peer: str) -> dict[str, str]:
    """Package → release, as pinned."""
    lines = requirements(peer).read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))
