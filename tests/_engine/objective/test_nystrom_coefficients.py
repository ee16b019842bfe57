"""Newton's method on centers, against an independent minimizer."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from kernelknife import KnifeClassifier, KnifeRegressor
from kernelknife._engine.objective import nystrom_coefficients


@pytest.fixture
def problem_of_loss(rng, setup_of):
    """Return a function that makes a problem on 12 centers for a loss."""

    def make(loss):
        X = rng.normal(size=(120, 4))
        y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=120)
        kind, y = (KnifeRegressor, y) if loss == "squared" else (KnifeClassifier, y > 0)
        return setup_of(kind(loss=loss, alpha=0.5, n_centers=12, random_state=0), X, y).problem

    return make


@pytest.mark.parametrize("loss", ["squared", "squared_hinge", "logistic"])
def test_the_coefficients_are_the_minimum(problem_of_loss, loss):
    problem, w = problem_of_loss(loss), np.array([0.9, 0.7, 0.2, 0.0])
    state = problem.solve(w, tol=1e-9)

    def value(c):
        return problem.value(w, c[:-1, None], c[-1:, None], 0.0)

    found = np.append(state.inner.C, state.inner.b)
    lowest = minimize(value, 0.0 * found, method="BFGS", options={"gtol": 1e-6}).fun
    assert_allclose(state.smooth, value(found), rtol=1e-9)
    assert state.smooth <= lowest * (1.0 + 1e-9)


def test_a_quadratic_takes_one_pass(problem_of_loss):
    assert problem_of_loss("squared").solve(np.full(4, 0.5)).inner.factorizations == 1


def test_a_solve_ends_at_its_limit_of_passes_and_reports_what_is_left(problem_of_loss, monkeypatch):
    problem, w = problem_of_loss("logistic"), np.full(4, 0.9)
    full = problem.solve(w, tol=1e-9).inner
    monkeypatch.setattr(nystrom_coefficients, "NEWTON_PASSES", 2)
    short = problem_of_loss("logistic").solve(w, tol=1e-9).inner
    assert short.factorizations < full.factorizations
    assert short.residual > full.residual
