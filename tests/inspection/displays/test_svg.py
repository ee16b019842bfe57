"""Charts as SVG: small, the same every time, colored by a page, and harmless with every name."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from kernelknife.inspection.displays import charts, save_figure, to_svg
from kernelknife.inspection.displays.style import (
    COLORS,
    DIVERGING,
    ORDERED,
    THEME,
    in_look,
    new_axes,
)

HOSTILE = (
    "<script>alert(1)</script>\"'&",
    "a$\\frac{1}{0}$ and $",
    "=cmd|' /C calc'!A0",
    "x" * 3000,
    "\u05e9\u05dc\u05d5\u05dd \u202e\u0645\u0631",
    "\U0001f9ec\U0001f52a",
    "line\nbreak\ttab\x00\x07",
)


@pytest.fixture(autouse=True)
def look():
    with in_look():
        yield


def paths_of(names, **options):
    ax = new_axes(right=150)
    weights = np.outer(np.linspace(1.0, 0.0, 6), np.linspace(1.0, 0.3, len(names)))
    charts.draw_paths(ax, np.geomspace(0.1, 10, 6), weights, names, **options)
    return ax.figure


def test_every_color_is_a_variable_with_a_color_behind_it():
    svg = to_svg(paths_of(list("abcdefghijkl"), chosen=1.0))
    assert not re.search(r"(?<!,)#[0-9a-f]{6}(?!\))", svg)
    assert f"var(--c0,{COLORS[0]})" in svg
    plain = to_svg(paths_of(list("abcdefghijkl"), chosen=1.0), theme=False)
    assert "var(" not in plain
    assert COLORS[0] in plain
    assert len(set(THEME.values())) == len(THEME), "a color stands for one variable"


def test_texts_are_texts_and_names_are_tooltips():
    root = ElementTree.fromstring(to_svg(paths_of(["ab", "y" * 50])))
    texts = [item.text for item in root.iter("{http://www.w3.org/2000/svg}text")]
    titles = [item.text for item in root.iter("{http://www.w3.org/2000/svg}title")]
    assert "ab" in texts
    assert any(text.endswith("\N{HORIZONTAL ELLIPSIS}") and len(text) == 20 for text in texts)
    assert "y" * 50 in titles


def test_the_same_figure_gives_the_same_text_and_two_figures_share_no_identifier():
    one, same, other = (to_svg(paths_of(["a"]), salt) for salt in ("one", "one", "other"))
    assert one == same
    assert not set(re.findall(r'id="(.*?)"', one)) & set(re.findall(r'id="(.*?)"', other))


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_no_name_breaks_a_chart(name, tmp_path):
    figure = paths_of([name, "b"])
    effect = {"column": name, "values": [name, "u"], "curves": {name: np.array([0.0, 1.0])}}
    ax = new_axes()
    charts.draw_effect(ax, effect, label=name)
    confusion = new_axes()
    charts.draw_confusion(confusion, [name, "b"], np.eye(2))
    errors = new_axes()
    charts.draw_errors(errors, [{"of": name, "mean": 1.0, "standard_error": None}], name)
    for drawn in (figure, ax.figure, confusion.figure, errors.figure):
        svg = to_svg(drawn, title=name)
        ElementTree.fromstring(svg)
        assert "<script" not in svg
        assert len(svg) < 60_000
    save_figure(figure, tmp_path / "figure.pdf")
    save_figure(figure, tmp_path / "figure.png")


def test_a_picture_is_small():
    rng = np.random.default_rng(0)
    ax = new_axes()
    charts.draw_dots(ax, *rng.normal(size=(2, 300)), COLORS[:2] * 150)
    assert len(to_svg(ax.figure)) < 20_000
    ax = new_axes()
    edges = [np.linspace(0, 1, 25)] * 2
    values = np.add.outer(*[np.linspace(-1, 1, 24)] * 2)
    values[:5, :5] = np.nan
    charts.draw_surface(ax, edges, values, ("a", "b"), largest=2.0)
    assert len(to_svg(ax.figure)) < 30_000
    drawn = np.concatenate([p.get_path().vertices for p in ax.patches])
    here = [p.get_path().contains_point((0.1, 0.1)) for p in ax.patches]
    assert not any(here), "no color where there are no rows"
    assert drawn.max() == 1.0


# Matrices of Machado, Oliveira and Fernandes (2009) for linear RGB, full severity.
DEFICIENCIES = {
    "normal": np.eye(3),
    "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deutan": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritan": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]


def lab(colors, deficiency):
    """Return CIE Lab coordinates of colors as somebody sees them."""
    rgb = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in colors])
    linear = np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
    seen = np.clip(linear @ np.transpose(DEFICIENCIES[deficiency]), 0.0, 1.0)
    x, y, z = (seen @ np.transpose(XYZ) / [0.9505, 1.0, 1.089]).T
    f = [np.where(v > 0.008856, np.cbrt(v), 7.787 * v + 16 / 116) for v in (x, y, z)]
    return np.transpose([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize("palette", [COLORS, ORDERED, DIVERGING], ids=["colors", "fifths", "cells"])
def test_everybody_can_tell_the_colors_apart(palette, deficiency):
    seen = lab(palette, deficiency)
    apart = np.linalg.norm(seen[:, None] - seen, axis=2)
    assert apart[~np.eye(len(palette), dtype=bool)].min() > (10.0 if palette is COLORS else 8.0)
