"""What the parameters of an estimator ask a search for: the solver, the starts, the penalty."""

from typing import Any

import numpy as np

from kernelknife._engine.fitting.job import Job
from kernelknife._engine.search import StartSettings
from kernelknife._engine.solvers import SOLVERS, Solver
from kernelknife._utils.checks import check_number

__all__ = ["STARTS", "make_solver", "make_start_settings", "resolved_sparsity"]

STARTS = ("auto", "scaled", "laplace")
# The penalty of "auto" per row. On Friedman's first function with 50 columns every penalty between
# 0.011 and 0.25 per row keeps the five columns that matter and no noise, from 250 to 2,000 rows
# (benchmarks/penalty_scale.py); this is the middle of that range on a logarithmic scale.
AUTO_SPARSITY = 0.05


def make_solver(estimator: Any) -> Solver:
    """Return the solver that the parameters ask for."""
    if estimator.solver not in SOLVERS:
        known = ", ".join(sorted(SOLVERS))
        raise ValueError(f"Unknown solver {estimator.solver!r}. Known names: {known}.")
    check_number(estimator.tol, "tol", strict=True)
    options: dict[str, Any] = {"tol": estimator.tol}
    if estimator.max_iter is not None:
        check_number(estimator.max_iter, "max_iter", low=1, integer=True)
        options["max_iter"] = estimator.max_iter
    return SOLVERS[estimator.solver](**options)


def make_start_settings(estimator: Any, job: Job) -> StartSettings:
    """Return which starts to try, checked."""
    check_number(estimator.n_starts, "n_starts", integer=True)
    start = estimator.start
    if not isinstance(start, str):
        start = _given_start(np.asarray(start, dtype=float), job)
    elif start not in STARTS:
        raise ValueError(
            f"Unknown start {start!r}. Known names: {', '.join(STARTS)}; or give the "
            "starting weights themselves."
        )
    return StartSettings(start, estimator.n_starts, job.seed)


def _given_start(start: np.ndarray, job: Job) -> np.ndarray:
    """Return starting weights of the problem from those of the user's columns."""
    p = job.prepared.n_features
    if start.shape not in ((), (p,)):
        raise ValueError(
            f"start must be a number or one weight per column ({p}), got shape {start.shape}."
        )
    start = np.broadcast_to(start, (p,))
    if not ((start > 0) & (start <= 1)).all():
        raise ValueError(
            "Starting weights must lie in (0, 1]: zero would never move for a non-linear "
            f"kernel. Got values from {start.min():g} to {start.max():g}."
        )
    return job.prepared.weight_values(start)


def resolved_sparsity(estimator: Any, job: Job) -> float:
    """Return the penalty on the weights as a number.

    With a convex kernel, a penalty ``sparsity`` on the weights is one of ``2 sqrt(alpha sparsity)``
    on the size of a column's coefficient, and of p columns of noise the largest gets through up to
    ``2 sqrt(2 n log(p) s)``, with ``s`` the share of the target's variance that is left. "auto" is
    where both are equal for a share of one half.
    """
    if estimator.sparsity != "auto":
        return float(estimator.sparsity)
    problem = job.problem
    if problem.convex:
        return max(1.0, np.log(problem.n_weights)) * problem.total_weight / estimator.alpha
    return AUTO_SPARSITY * problem.total_weight
