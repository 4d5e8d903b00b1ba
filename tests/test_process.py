"""A process of our own leaves out collections that free nothing."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import atexit, gc
atexit.register(lambda: print(gc.get_freeze_count() > 1000))  # registered first, so called last
from audit.process import YOUNG, own_process
own_process()
print(gc.isenabled(), gc.get_threshold()[0] == YOUNG, gc.get_freeze_count())
class Ring:
    alive = 0
    def __init__(self): self.me = self; Ring.alive += 1
    def __del__(self): Ring.alive -= 1
for _ in range(4 * YOUNG): Ring()
print(Ring.alive < 2 * YOUNG)
"""


def test_cycles_are_still_collected_and_none_looked_for_at_the_end():
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines() == ["True True 0", "True", "True"]


def test_a_library_leaves_the_collector_alone():
    program = "import gc; before = gc.get_threshold(); import audit.api; print(gc.get_threshold() == before)"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout == "True\n"
