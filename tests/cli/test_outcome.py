from __future__ import annotations

import pytest

from audit.cli.outcome import FailOn, exit_code


@pytest.mark.parametrize(
    ("verdict", "fail", "warn", "never"),
    [("pass", 0, 0, 0), ("warn", 0, 1, 0), ("inconclusive", 3, 3, 0), ("fail", 1, 1, 0)],
)
def test_exit_codes(verdict, fail, warn, never):
    codes = [exit_code(verdict, FailOn(name)) for name in ("fail", "warn", "never")]
    assert codes == [fail, warn, never]
