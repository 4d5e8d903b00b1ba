from __future__ import annotations

import sys
import time
from pathlib import Path

from benchmarks.process import measure

ROOT = Path(__file__).parents[2]


def run(tmp_path, code, **options):
    return measure([sys.executable, "-c", code], cwd=tmp_path, **{"timeout": 30, **options})


def test_the_answer_is_the_last_line(tmp_path):
    usage = run(tmp_path, "print('reading'); print('{\"a\": 1}')")
    assert usage.error is None
    assert usage.answer == {"a": 1}


def test_processor_time(tmp_path):
    code = """
import time
end = time.process_time() + 0.3
while time.process_time() < end:
    pass
print("{}")
"""
    usage = run(tmp_path, code)
    assert usage.error is None
    assert 0.3 <= usage.cpu <= usage.wall * 2


def test_peak_memory(tmp_path):
    # In a process of its own, because a child's peak starts from the size of what forked it.
    code = f"""
import json, sys
from pathlib import Path
from benchmarks.process import measure
inner = "block = bytearray(80_000_000)\\nfor i in range(0, len(block), 4096): block[i] = 1\\nprint('{{}}')"
usage = measure([sys.executable, "-c", inner], cwd=Path({str(tmp_path)!r}), timeout=30)
print(json.dumps({{"peak": usage.peak, "error": usage.error}}))
"""
    answer = measure([sys.executable, "-c", code], cwd=ROOT, timeout=60).answer
    assert answer["error"] is None
    assert 80e6 < answer["peak"] < 130e6


def test_the_process_that_measures_stays_small(tmp_path):
    code = """
import json, sys
import benchmarks.__main__
print(json.dumps({"heavy": sorted({"numpy", "pandas", "pyarrow", "audit"} & set(sys.modules))}))
"""
    assert measure([sys.executable, "-c", code], cwd=ROOT, timeout=60).answer == {"heavy": []}


def test_waiting_takes_no_processor(tmp_path):
    usage = run(tmp_path, "import time; time.sleep(0.4); print('{}')")
    assert usage.wall >= 0.4
    assert usage.cpu < usage.wall


def test_children_count(tmp_path):
    inner = "import time\\nend = time.process_time() + 0.3\\nwhile time.process_time() < end: pass"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', '''{inner}''']); print('{{}}')"
    assert run(tmp_path, code).cpu >= 0.3


def test_a_failure_is_told_with_its_last_line(tmp_path):
    usage = run(tmp_path, "print('{}'); raise ValueError('out of luck')")
    assert usage.error == "exit code 1: ValueError: out of luck"


def test_no_answer_is_an_error(tmp_path):
    assert run(tmp_path, "print('done')").error == "its last line is no JSON object"
    assert run(tmp_path, "print('[1]')").error == "its last line is no JSON object"
    assert run(tmp_path, "pass").error == "its last line is no JSON object"


def test_what_takes_too_long_is_killed_with_its_children(tmp_path):
    code = """
import pathlib, subprocess, sys, time
late = "import time, pathlib; time.sleep(1.5); pathlib.Path('late').touch()"
subprocess.Popen([sys.executable, "-c", late])
time.sleep(30)
"""
    start = time.perf_counter()
    usage = run(tmp_path, code, timeout=0.7)
    assert usage.error == "not done after 0.7 s"
    assert time.perf_counter() - start < 10
    time.sleep(1.5)
    assert not (tmp_path / "late").exists()


def test_the_environment_is_added_to(tmp_path):
    code = "import json, os; print(json.dumps({'a': os.environ['ADDED'], 'path': 'PATH' in os.environ}))"
    assert run(tmp_path, code, env={"ADDED": "yes"}).answer == {"a": "yes", "path": True}
