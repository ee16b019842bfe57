"""Models beside those of a path: refitted on a selection, and with equal weights.

The penalty on the weights selects features and shrinks the weights of those that it keeps. Refitted
without it, the model keeps the selection and loses the shrinkage.
"""

from dataclasses import replace

import numpy as np

from kernelknife._engine.objective import Problem
from kernelknife._engine.search.starts import RELAX_TOL, scaled_weights
from kernelknife._engine.solvers import Solution, Solver

__all__ = ["equal_weights", "fixed_weights", "refit_without_penalty"]


def refit_without_penalty(problem: Problem, solver: Solver, w: np.ndarray) -> Solution:
    """Return the model of the selected features alone, solved without the weight penalty.

    Parameters
    ----------
    problem : Problem
    solver : Solver
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
