"""Loops over solvers: starts, paths, an exact number of features.

They know problems and solvers, and nothing of estimators.
"""

from kernelknife._search.count import solve_for_count
from kernelknife._search.path import Trace, choose_start, follow_path
from kernelknife._search.starts import (
    Start,
    StartSettings,
    empty_state,
    find_weights,
    make_starts,
)

__all__ = [
    "Start",
    "StartSettings",
    "Trace",
    "choose_start",
    "empty_state",
    "find_weights",
    "follow_path",
    "make_starts",
    "solve_for_count",
]
