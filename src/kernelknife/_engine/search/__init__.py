"""Loops over solvers: starts, paths, relaxed models, an exact number of features."""

from kernelknife._engine.search.grid import sparsest_state
from kernelknife._engine.search.path import (
    Trace,
    choose_quickly,
    choose_start,
    find_last_penalty,
    follow_path,
    rank_features,
)
from kernelknife._engine.search.starts import (
    Start,
    StartSettings,
    empty_state,
    find_weights,
    make_starts,
    product_rows,
    scaled_weights,
)
from kernelknife._engine.search.variants import (
    equal_weights,
    fixed_weights,
    refit_without_penalty,
    solve_for_count,
    solve_for_support,
)

__all__ = [
    "Start",
    "StartSettings",
    "Trace",
    "choose_quickly",
    "choose_start",
    "empty_state",
    "equal_weights",
    "find_last_penalty",
    "find_weights",
    "fixed_weights",
    "follow_path",
    "make_starts",
    "product_rows",
    "rank_features",
    "refit_without_penalty",
    "scaled_weights",
    "solve_for_count",
    "solve_for_support",
    "sparsest_state",
]
