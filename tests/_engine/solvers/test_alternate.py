"""The paper's solver."""

from numpy.testing import assert_allclose

from kernelknife._engine.objective import ExactProblem
from kernelknife._engine.search.starts import scaled_weights
from kernelknife._engine.solvers import Alternate, Eliminate
from kernelknife.datasets import make_sinusoidal
from kernelknife.kernels import RBF
from kernelknife.losses import SquaredLoss


def standardized(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def test_both_solvers_minimize_the_same_objective():
    X, y = make_sinusoidal(80, 3, random_state=0)
    X, y = standardized(X), (y - y.mean()) / y.std()
    problem = ExactProblem(X, y[:, None], RBF(), SquaredLoss())
    start = scaled_weights(problem)
    a = Alternate(tol=1e-8).solve(problem, start, 2.0)
    b = Eliminate(tol=1e-8).solve(problem, start, 2.0)
    assert_allclose(a.objective, b.objective, rtol=1e-3)
    assert_allclose(a.w, b.w, atol=0.02)
    assert b.n_factorizations < a.n_factorizations
