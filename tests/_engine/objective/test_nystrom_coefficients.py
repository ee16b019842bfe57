"""Newton's method on centers, against an independent minimizer."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from kernelknife import KnifeClassifier, KnifeRegressor
from kernelknife._engine.fitting import prepare_job
from kernelknife._engine.objective import centered_coefficients


def centered_problem(rng, loss):
    X = rng.normal(size=(120, 4))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=120)
    kind, y = (KnifeRegressor, y) if loss == "squared" else (KnifeClassifier, y > 0)
    return prepare_job(kind(loss=loss, alpha=0.5, n_centers=12, random_state=0), X, y).problem


@pytest.mark.parametrize("loss", ["squared", "squared_hinge", "logistic"])
def test_the_coefficients_are_the_minimum(rng, loss):
    problem, w = centered_problem(rng, loss), np.array([0.9, 0.7, 0.2, 0.0])
    state = problem.solve(w, tol=1e-9)

    def value(c):
        return problem.value(w, c[:-1, None], c[-1:], 0.0)

    found = np.append(state.inner.C, state.inner.b)
    lowest = minimize(value, 0.0 * found, method="BFGS", options={"gtol": 1e-6}).fun
    assert_allclose(state.smooth, value(found), rtol=1e-9)
    assert state.smooth <= lowest * (1.0 + 1e-9)


def test_a_quadratic_takes_one_pass(rng):
    assert centered_problem(rng, "squared").solve(np.full(4, 0.5)).inner.factorizations == 1


def test_no_more_passes_than_allowed(rng, monkeypatch):
    monkeypatch.setattr(centered_coefficients, "NEWTON_PASSES", 2)
    problem = centered_problem(rng, "logistic")
    state = problem.solve(np.full(4, 0.9), tol=1e-9)
    assert state.inner.factorizations <= 3
    assert state.inner.residual > 1e-12
