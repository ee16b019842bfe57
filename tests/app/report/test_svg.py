"""Axes of drawings, and cells that fill them."""

import re
from itertools import pairwise

import numpy as np
import pytest

from kernelknife.app.report.svg import Axis, Chart


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3.2, 17), (1e-6, 2e-6), (5, 5), (-1e9, 1e9)])
def test_ticks_are_round_and_inside(low, high):
    axis = Axis(low, high)
    assert 2 <= len(axis.ticks) <= 8
    assert all(axis.low - 1e-9 <= value <= axis.high * (1 + 1e-9) + 1e-9 for value, _ in axis.ticks)


def test_cells_fill_the_chart_and_each_has_its_shade(rng):
    x, y = np.array([0.0, 1.0, 1.5, 4.0]), np.linspace(-1, 1, 6)
    steps = rng.integers(0, 9, size=(3, 5))
    chart = Chart(Axis(0.0, 4.0), Axis(-1.0, 1.0), "cells")
    chart.cells(x, y, steps)
    area = dict.fromkeys(range(9), 0.0)
    rectangle = r"M([\d.]+) ([\d.]+)H([\d.]+)V([\d.]+)H"
    for step, path in re.findall(r'class="cell h(\d)" d="([^"]+)"', chart.render()):
        for left, top, right, bottom in np.array(re.findall(rectangle, path), dtype=float):
            area[int(step)] += (right - left) * (bottom - top)
    width, height = chart.px(4.0) - chart.px(0.0), chart.inner_height
    cell = np.outer(np.diff(x) / 4.0, np.diff(y) / 2.0) * width * height
    # Corners are written with one decimal.
    for step, total in area.items():
        assert total == pytest.approx(cell[steps == step].sum(), rel=0.01)


def test_names_of_ticks_do_not_overlap():
    ticks = [(float(i), f"category {i}") for i in range(30)]
    chart = Chart(Axis(0.0, 29.0, ticks=ticks), Axis(0.0, 1.0), "many levels", width=320)
    places = [
        (float(x), len(name))
        for x, name in re.findall(r'class="tick" x="([\d.]+)"[^>]*"middle">(.*?)<', chart.render())
    ]
    assert 2 <= len(places) < 30
    for (left, n), (right, m) in pairwise(places):
        assert right - left >= 6 * (n + m) / 2
