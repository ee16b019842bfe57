"""Dropping weak features."""

from dataclasses import replace

import numpy as np

from kernelknife._engine.objective import ExactProblem
from kernelknife._engine.search.starts import StartSettings, make_starts, scaled_weights, solve_from
from kernelknife._engine.solvers import Eliminate
from kernelknife.datasets import make_sinusoidal, make_skin_of_orange
from kernelknife.kernels import RBF
from kernelknife.losses import SquaredHinge, SquaredLoss


def standardized(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def test_a_drop_that_failed_waits_until_it_may_pay():
    """A path that remembers which drops have failed ends as low and tries fewer."""
    X, y = make_sinusoidal(100, 25, random_state=1)
    problem = ExactProblem(standardized(X), standardized(y[:, None]), RBF(), SquaredLoss())
    here = Eliminate().solve(problem, scaled_weights(problem), 0.5)
    remembering = forgetful = here
    counts = np.zeros(2, dtype=int)
    for sparsity in 5.0 * 1.12 ** np.arange(35):
        remembering = Eliminate().solve(problem, remembering, sparsity)
        forgetful = replace(forgetful, warm=replace(forgetful.warm, drop_thresholds={}))
        forgetful = Eliminate().solve(problem, forgetful, sparsity)
        counts += remembering.n_factorizations, forgetful.n_factorizations
        assert remembering.objective <= 1.001 * forgetful.objective
    assert counts[0] < counts[1]


def test_pruning_only_ever_lowers_the_objective():
    X, y = make_skin_of_orange(100, 46, random_state=3)
    problem = ExactProblem(standardized(X), 2.0 * y[:, None] - 1.0, RBF(), SquaredHinge())
    start = make_starts(problem, StartSettings("scaled"))[0]
    with_it = solve_from(problem, Eliminate(prune=True), start, 2.0)
    without = solve_from(problem, Eliminate(prune=False), start, 2.0)
    assert with_it.objective <= without.objective * (1 + 1e-12)
    assert np.count_nonzero(with_it.w) <= np.count_nonzero(without.w)
