"""Loops over solvers: starts, paths, relaxed machines, an exact number of features.

They know problems and solvers, and nothing of estimators.
"""

from kernelknife._search.count import solve_for_count, solve_for_support
from kernelknife._search.grid import sparsest_state
from kernelknife._search.path import Trace, choose_start, follow_path
from kernelknife._search.relaxation import equal_weights, fixed_weights, refit_without_penalty
from kernelknife._search.starts import (
    Start,
    StartSettings,
    empty_state,
    find_weights,
    make_starts,
    scaled_weights,
)

__all__ = [
    "Start",
    "StartSettings",
    "Trace",
    "choose_start",
    "empty_state",
    "equal_weights",
    "find_weights",
    "fixed_weights",
    "follow_path",
    "make_starts",
    "refit_without_penalty",
    "scaled_weights",
    "solve_for_count",
    "solve_for_support",
    "sparsest_state",
]
