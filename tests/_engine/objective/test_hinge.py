"""Support vector machines on a given kernel matrix: at their minimum, whatever alpha is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from kernelknife._engine.objective.hinge import refit_hinge, relative_gap
from kernelknife.kernels import RBF


def instance(rng, n=40):
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    return RBF()(X, X, np.full(3, 0.3)), y, rng.uniform(0.5, 2.0, size=n)


@pytest.mark.parametrize("alpha", [1e-5, 1e-3, 0.1, 10.0])
def test_the_duality_gap_closes(alpha, rng):
    K, y, s = instance(rng)
    C, b = refit_hinge(K, y[:, None], s, alpha)
    assert relative_gap(K, y[:, None], s, alpha, C, b) < 1e-6


def test_the_model_is_that_of_an_independent_solver(rng):
    """The dual by SLSQP: maximize sum u - u'Qu / (4 alpha) with 0 <= u <= s and y'u = 0."""
    K, y, s = instance(rng, n=20)
    alpha = 0.2
    Q = np.multiply.outer(y, y) * K
    dual = minimize(
        lambda u: u @ Q @ u / (4 * alpha) - u.sum(),
        np.full(20, 0.1),
        jac=lambda u: Q @ u / (2 * alpha) - 1.0,
        bounds=[(0.0, weight) for weight in s],
        constraints={"type": "eq", "fun": lambda u: y @ u, "jac": lambda u: y},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    C, b = refit_hinge(K, y[:, None], s, alpha)
    Kc = K @ C[:, 0]
    primal = s @ np.maximum(1 - y * (Kc + b[0]), 0) + alpha * C[:, 0] @ Kc
    assert_allclose(primal, -dual.fun, rtol=1e-6)


def test_a_wrong_model_has_a_gap(rng):
    K, y, s = instance(rng)
    C, b = refit_hinge(K, y[:, None], s, 0.1)
    assert relative_gap(K, y[:, None], s, 0.1, 0.9 * C, b) > 1e-3
