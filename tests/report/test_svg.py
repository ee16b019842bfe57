"""Axes of drawings."""

import pytest

from kernelknife.report.svg import Axis


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3.2, 17), (1e-6, 2e-6), (5, 5), (-1e9, 1e9)])
def test_ticks_are_round_and_inside(low, high):
    axis = Axis(low, high)
    assert 2 <= len(axis.ticks) <= 8
    assert all(axis.low - 1e-9 <= value <= axis.high * (1 + 1e-9) + 1e-9 for value, _ in axis.ticks)
