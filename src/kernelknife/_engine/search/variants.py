"""Models beside those of a path: refitted, of equal weights, with an exact number of features.

The penalty on the weights selects features and shrinks the weights of those that it keeps. Refitted
without it, the model keeps the selection and loses the shrinkage.
"""

from dataclasses import replace

import numpy as np

from kernelknife._engine.objective import Problem
from kernelknife._engine.search.path import Trace
from kernelknife._engine.search.starts import RELAX_TOL, scaled_weights
from kernelknife._engine.solvers import Outcome, Solution, Solver

__all__ = [
    "equal_weights",
    "fixed_weights",
    "refit_without_penalty",
    "solve_for_count",
    "solve_for_support",
]

LEAST_START = 1e-2  # smallest starting weight of a feature that is asked to stay
PENALTY_FACTOR = 4.0  # by which the penalty is lowered until all of them stay
NO_PENALTY = 1e-6  # share of the constant model's objective below which it becomes zero


def refit_without_penalty(problem: Problem, solver: Solver, w: np.ndarray) -> Solution:
    """Return the model of the selected features alone, solved without the weight penalty.

    Parameters
    ----------
    w : ndarray of shape (n_weights,)
        Only weights that are positive here take part, and they start here; a weight may still reach
        zero on the way.
    """
    kept = np.flatnonzero(w)
    if not len(kept):
        return fixed_weights(problem, w)
    if problem.convex:
        # Without a penalty, weights at 1 are the minimum.
        return fixed_weights(problem, (w > 0).astype(float))
    few = problem.restricted(kept)
    end = solver.with_tolerance(RELAX_TOL).solve(few, w[kept], 0.0)
    everywhere = np.zeros(problem.n_weights)
    everywhere[kept] = end.w
    return replace(end.without_state(), w=everywhere, left_at=None)


def fixed_weights(problem: Problem, w: np.ndarray) -> Solution:
    """Return the model of given weights, which nothing moves."""
    state = problem.solve(w)
    factorizations = (state.inner.factorizations,)
    return Solution.at(state, 0.0, state.smooth, factorizations=factorizations).without_state()


def equal_weights(problem: Problem) -> Solution:
    """Return the model of all features with equal weights."""
    return fixed_weights(problem, scaled_weights(problem))


def solve_for_count(problem: Problem, solver: Solver, trace: Trace, n_select: int) -> Solution:
    """Return a solution with exactly ``n_select`` weights.

    Where the path skips that number, the largest weights of a point with the next larger
    number are solved for alone, with the penalty lowered until all of them stay.
    """
    counts = np.array([np.count_nonzero(point.w) for point in trace.points])
    exact = np.flatnonzero(counts == n_select)
    if len(exact):
        return trace.points[int(exact[0])]
    # As with an exact number, the smallest penalty at which that many are left.
    more = counts[counts > n_select]
    origin = trace.points[int(np.argmax(counts == more.min())) if len(more) else 0]
    # Features that the path does not have are added in the order in which they are ranked.
    order = np.lexsort((-trace.tie_break, -origin.w, problem.lowest == 0))
    kept = order[:n_select]
    start = np.zeros_like(origin.w)
    start[kept] = np.maximum(origin.w[kept], LEAST_START)
    return solve_for_support(problem, solver, start, origin.sparsity)


def solve_for_support(
    problem: Problem, solver: Solver, start: np.ndarray, sparsity: float
) -> Solution:
    """Return a solution that has exactly the weights that are positive at the start.

    The penalty is lowered until all of them stay.
    """
    kept = np.flatnonzero(start)
    solution = _keep_all(problem.restricted(kept), solver, start[kept], sparsity)
    w = np.zeros_like(start)
    w[kept] = solution.w
    return replace(solution, w=w, warm=None, left_at=None)


def _keep_all(problem: Problem, solver: Solver, start: np.ndarray, sparsity: float) -> Solution:
    """Solve with a penalty low enough that no weight becomes zero."""
    loose = solver.loosened(solver.tol)
    while True:
        solution = loose.solve(problem, start, sparsity)
        if solution.w.all():
            return solution
        if sparsity == 0.0:
            break
        lower = sparsity > NO_PENALTY * problem.null_value
        sparsity = sparsity / PENALTY_FACTOR if lower else 0.0
    # Even without a penalty one of them is useless; it stays at its starting weight.
    state = problem.solve(np.where(solution.w > 0, solution.w, start))
    gradient = problem.gradient(state)
    everything = np.arange(problem.n_weights)
    return replace(
        solution.moved(state, state.smooth),
        history=(state.smooth,),
        factorizations=(solution.n_factorizations + state.inner.factorizations,),
        kkt_residual=problem.optimality(state.w, everything, gradient),
        outcome=Outcome.TOO_FEW,
    )
