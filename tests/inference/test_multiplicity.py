from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from audit.inference.multiplicity import HolmStep, benjamini_hochberg, holm

ps = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_holm_by_hand():
    # Levels 0.05/4, /3, /2, /1: 0.005 and 0.01 pass, 0.03 > 0.025 stops, and with it 0.04.
    assert holm([0.01, 0.04, 0.03, 0.005]) == [
        HolmStep(True, 0.05 / 3),
        HolmStep(False, 0.05 / 2),
        HolmStep(False, 0.05 / 2),
        HolmStep(True, 0.05 / 4),
    ]


def test_the_level_of_the_step_that_stops_is_shown_from_there_on():
    # 0.045 is under 0.05/1, but is never tested there.
    steps = holm([0.001, 0.03, 0.045])
    assert [s.rejected for s in steps] == [True, False, False]
    assert [s.alpha for s in steps] == [0.05 / 3, 0.05 / 2, 0.05 / 2]


@pytest.mark.parametrize(
    ("p", "rejected"),
    [([], []), ([0.05], [True]), ([0.0501], [False]), ([0.025, 0.025], [True, True]),
     ([0.02, 0.02, 0.02], [False] * 3), ([0.0, 1.0], [True, False])],
)  # fmt: skip
def test_holm_edges(p, rejected):
    assert [s.rejected for s in holm(p)] == rejected


def test_holm_refuses_nan():
    with pytest.raises(ValueError, match="NaN"):
        holm([0.1, math.nan])


@given(ps, st.floats(0.001, 0.5))
def test_holm_agrees_with_adjusted_p_values(p, level):
    order = sorted(range(len(p)), key=lambda i: p[i])
    running, adjusted = 0.0, {}
    for rank, i in enumerate(order):
        running = max(running, (len(p) - rank) * p[i])
        adjusted[i] = running
    for i, step in enumerate(holm(p, level)):
        if not math.isclose(adjusted[i], level, rel_tol=1e-12):
            assert step.rejected == (adjusted[i] <= level)
        # What is shown agrees with what is decided.
        assert step.rejected == (p[i] <= step.alpha)
        assert level / len(p) <= step.alpha <= level


def test_benjamini_hochberg_by_hand():
    # m·p/rank: 0.04, 0.04, 0.04, 0.20; 0.03·4/2 = 0.06 falls to the next one's 0.04·4/3.
    got = benjamini_hochberg([0.20, 0.01, 0.04, 0.03])
    np.testing.assert_allclose(got, [0.20, 0.04, 0.16 / 3, 0.16 / 3])


@given(ps)
def test_benjamini_hochberg_agrees_with_scipy(p):
    np.testing.assert_allclose(
        benjamini_hochberg(p), stats.false_discovery_control(p), rtol=1e-12, atol=1e-300
    )


def test_benjamini_hochberg_leaves_out_nan():
    got = benjamini_hochberg([0.01, math.nan, 0.04])
    assert math.isnan(got[1])
    np.testing.assert_allclose(got[[0, 2]], [0.02, 0.04])
    assert np.isnan(benjamini_hochberg([math.nan])).all()
    assert len(benjamini_hochberg([])) == 0
