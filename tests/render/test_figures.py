from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.render.figures import dumbbell, fates, forest, heat, lines, lorenz, style, tradeoff
from audit.render.figures.placing import Box, best
from audit.render.figures.style import CANDIDATES, TOKENS, model_styles, spread
from audit.render.figures.svg import themed
from audit.render.view import build_view

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return [e.text or "" for e in ET.fromstring(svg).iter(f"{SVG}text")]


def plane(name: str = "ease", baseline: str = "eigenrec") -> str:
    point = tradeoff.Point(
        model=name, x=0.5, y=-0.98, x_interval=(0.42, 0.59), y_interval=(-0.99, -0.97)
    )
    return tradeoff.draw(
        [point],
        model_styles([baseline, name]),
        baseline=baseline,
        x_label="x, n = 652",
        y_label="y",
    )


def test_figures_are_the_same_bytes_each_time(full_result, views):
    first = [f.svg for f in views["full"].figures()]
    again = [f.svg for f in build_view(full_result.model_copy()).figures()]
    assert first == again


def test_text_is_text():
    found = texts(plane())
    assert "ease" in found
    assert "eigenrec (baseline)" in found
    assert "Starvation: relevance up, tail down" in found
    assert "+20\u2009%" in found
    assert "\u221250\u2009%" in found


def test_no_styles_scripts_or_metadata(views):
    for figure in views["full"].figures():
        root = ET.fromstring(figure.svg)
        tags = {e.tag.removeprefix(SVG) for e in root.iter()}
        assert tags <= {"svg", "g", "defs", "path", "use", "text", "clipPath", "rect"}
        assert not [e for e in root.iter() if "style" in e.attrib]
        values = [
            v for e in root.iter() for name, v in e.attrib.items() if name not in ("id", "data-tip")
        ]
        assert not [v for v in values if re.search(r"\d\.\d{2,}", v)]


@pytest.mark.parametrize(
    "name",
    [
        "_private",
        "$x^2$",
        "a" * 300,
        "<b>&\"'",
        "",
        "\x07bell",
        "\U0001f600",
        "\u05e9\u05dc\u05d5\u05dd",
        "a\nb",
    ],
)
def test_any_name_is_drawn_literally(name):
    shown = " ".join(texts(plane(name)))
    expected = style.name(name).strip("\u200b")
    assert expected in shown
    look = model_styles(["base", name])
    key = texts(
        lines.draw(
            [lines.Line(label=name, look=look[name], y=[0.1, None])],
            ["1", "2"],
            x_label="x",
            y_label="y",
        )
    )
    assert any(expected in text for text in key)


def test_every_axis_has_a_label_with_its_n(views):
    for figure in views["full"].figures():
        assert "n = " in " ".join(texts(figure.svg)), figure.id


@pytest.mark.parametrize("correlation", [-0.9, 0.0, 0.5, 1.0])
def test_an_ellipses_shadows_are_the_intervals(correlation):
    point = tradeoff.Point(
        model="a", x=0.5, y=-0.2, x_interval=(0.3, 0.9), y_interval=(-0.5, -0.1), correlation=correlation
    )  # fmt: skip
    xs, ys = tradeoff.ellipse(point)
    assert (min(xs), max(xs)) == pytest.approx((0.3, 0.9), abs=0.002)
    assert (min(ys), max(ys)) == pytest.approx((-0.5, -0.1), abs=0.002)
    # Where x is at its end, y is as far out as the correlation says.
    at_end = ys[xs.index(max(xs))]
    reach = 0.1 if correlation > 0 else 0.3
    assert at_end == pytest.approx(-0.2 + correlation * reach, abs=0.03)


def test_what_is_0_stands_hollow_at_the_end_of_a_scale_in_powers_of_ten():
    rows = [dumbbell.Row(label="1", values={"a": 0.5, "b": 0.0}, reference=0.02)]
    svg = dumbbell.draw(rows, model_styles(["a", "b"]), x_label="x", reference="demand", log=True)
    assert {"0", "10\u2009%", "demand"} <= set(texts(svg))
    marks = [e for e in ET.fromstring(svg).iter(f"{SVG}use") if e.get("fill-opacity") == "0"]
    assert len(marks) == 1
    full = dumbbell.draw(
        [dumbbell.Row(label="1", values={"a": 0.5, "b": 0.1})],
        model_styles(["a", "b"]),
        x_label="x",
    )
    assert "fill-opacity" not in full


def test_a_suppressed_cell_says_so_and_has_no_colour():
    cells = [heat.Cell("+5\u202f%", "better"), heat.Cell("under 50 users", "", suppressed=True)]
    svg = heat.draw([("all", cells)], ["NDCG", "Tail share"], x_label="x", y_label="y")
    assert {"under 50 users", "better", "NDCG"} <= set(texts(svg))
    assert svg.count(style.GOOD_GROUND) == 1


def test_shares_of_users_are_written_into_the_bar():
    fate = fates.Fate(
        model="b", worse=0.25, same=0.05, better=0.7, edges=[-1, 0, 1], shares=[0.25, 0.7]
    )
    found = texts(fates.draw([fate], model_styles(["a", "b"]), x_label="x", n=1234))
    assert {"25\u202f% worse", "70\u202f% better", "b"} <= set(found)
    assert "5\u202f% same" not in found  # too narrow for words
    assert "Share of users (n = 1,234)" in found


def test_a_lorenz_curve_is_thinned_to_less_than_can_be_seen():
    x = [i / 100 for i in range(101)]
    curve = lorenz.Curve(model="a", label="a", x=x, y=[v**14 for v in x])
    kept = lorenz._corners(curve)
    assert len(kept) < 60
    between = np.interp(x, *zip(*kept, strict=True))
    assert np.abs(between - np.array(curve.y)).max() <= lorenz.HAIR


def test_the_plane_counts_the_users_with_a_headline_value(full_result):
    headline = full_result.audit.headline
    changed = full_result.model_copy(
        update={
            "comparisons": [
                c.model_copy(update={"evidence": c.evidence.model_copy(update={"users": 61})})
                if c.metric == headline and c.evidence is not None else c
                for c in full_result.comparisons
            ]
        }
    )  # fmt: skip
    figure = next(f for f in build_view(changed).figures() if f.id == "trade-off")
    assert "n = 61 users" in " ".join(texts(figure.svg))


def test_themed_has_no_colour_of_its_own(views):
    for figure in views["full"].figures():
        page = themed(figure.svg, figure.id, figure.alt)
        root = ET.fromstring(page)
        colors = {e.get(a) for e in root.iter() for a in ("fill", "stroke") if e.get(a)}
        assert colors <= {"none"}
        ids = [e.get("id") for e in root.iter() if e.get("id")]
        assert all(str(i).startswith(figure.id) for i in ids)
        assert root.get("aria-label") == figure.alt


def test_models_look_different_in_more_than_colour():
    looks = [style.BASELINE, *CANDIDATES]
    assert len({look.color for look in looks}) == len(looks)
    assert len({look.marker for look in looks}) == len(looks)
    assert len({look.dash for look in looks}) == len(looks)
    assert len(TOKENS) == len(set(TOKENS.values()))


def test_a_model_has_one_look_whatever_is_left_out():
    everyone = model_styles(["base", "a", "b", "c"])
    assert everyone["base"] == style.BASELINE
    assert everyone["b"] == CANDIDATES[1]
    many = model_styles([str(i) for i in range(12)])
    assert many["9"] == CANDIDATES[0]


def test_colours_are_far_apart_for_the_colour_blind():
    """Under simulated deuteranopia and protanopia, neighbours among the first four stay apart."""
    matrices = (
        ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
        ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    )  # Machado, Oliveira & Fernandes 2009, severity 1.0

    def seen(color, matrix):
        rgb = [(int(color[i : i + 2], 16) / 255) ** 2.2 for i in (1, 3, 5)]
        return [
            max(sum(m * c for m, c in zip(line, rgb, strict=True)), 0) ** (1 / 2.2)
            for line in matrix
        ]

    colors = [style.BASELINE.color, *(c.color for c in CANDIDATES[:2])]
    for matrix in matrices:
        for i, a in enumerate(colors):
            for b in colors[i + 1 :]:
                pair = zip(seen(a, matrix), seen(b, matrix), strict=True)
                assert sum((x - y) ** 2 for x, y in pair) ** 0.5 > 0.2


def test_settings_of_matplotlib_are_left_alone():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    plane()
    assert dict(mpl.rcParams) == before


def test_pyplot_is_not_imported():
    import subprocess
    import sys

    code = (
        "import sys; from audit.render.figures import lorenz, style; "
        "c = lorenz.Curve(model='a', label='a', x=[0, 1], y=[0, 1]); "
        "lorenz.draw([c], style.model_styles(['a']), what='items', n=3); "
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_matplotlib_is_imported_only_to_draw():
    import subprocess
    import sys

    code = (
        "import sys, audit.render, audit.render.sections, audit.render.terminal; "
        "assert 'matplotlib' not in sys.modules; assert 'typst' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_lorenz_labels_carry_the_gini():
    curve = lorenz.Curve(model="a", label="a, Gini 0.500", x=[0, 0.5, 1], y=[0, 0.1, 1])
    found = texts(lorenz.draw([curve], model_styles(["a"]), what="items", n=2402))
    assert "a, Gini 0.500" in found
    assert "Items, least exposed first (n = 2,402)" in found


def test_forest_marks_guardrails_and_survives_missing_intervals():
    line = forest.Line(model="b", change=0.5, low=None, high=None)
    group = forest.Group(label="NDCG", lines=[line], bound=-0.02)
    found = texts(forest.draw([group], model_styles(["a", "b"]), x_label="x"))
    assert {"NDCG", "b", "guardrail"} <= set(found)


@given(st.lists(st.floats(0, 500), max_size=12))
def test_spread_keeps_the_order_and_the_gap(positions):
    positions = sorted(positions)
    placed = spread(positions, 12.0)
    assert len(placed) == len(positions)
    assert all(b - a >= 12.0 - 1e-6 for a, b in pairwise(placed))


def test_spread_leaves_what_has_room():
    assert spread([0.0, 50.0, 100.0], 12.0) == [0.0, 50.0, 100.0]
    assert spread([10.0, 10.0], 12.0) == [4.0, 16.0]


def test_best_place_is_free_and_inside():
    frame = Box(0, 0, 100, 100)
    taken = [Box(0, 0, 50, 10)]
    places = [Box(10, 2, 30, 8), Box(95, 50, 120, 60), Box(60, 20, 80, 30), Box(60, 40, 80, 50)]
    assert best(places, taken, frame) == places[2]


def test_forest_writes_what_is_off_its_scale():
    lines_of = [
        forest.Line(model="b", change=10.03, low=None, high=None),
        forest.Line(model="c", change=0.1, low=0.05, high=9.0),
    ]
    groups = [forest.Group(label="Tail share", lines=lines_of, bound=-0.1)]
    found = texts(forest.draw(groups, model_styles(["a", "b", "c"]), x_label="x"))
    assert "+1,003\u202f% →" in found
    assert {"b", "c"} <= set(found)
    assert not [t for t in found if "1000" in t or "+500" in t]
