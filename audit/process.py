"""What a process of our own does that a library must not do in somebody else's."""

from __future__ import annotations

import atexit
import gc

YOUNG = 20_000
"""Objects made since the last collection before the next; Python's own 700 collects 400 times an audit."""


def own_process() -> None:
    """Collect garbage seldom, and not at all at the end, in a process that does one thing and exits.

    Nearly all objects are modules, functions and types that live until the end: looking through them again
    and again is a tenth of a short audit, and the interpreter's last looks as much again.  What is
    no longer referred to is freed at once all the same: only cycles wait.
    """
    gc.set_threshold(YOUNG, 10, 10)
    atexit.register(gc.freeze)
