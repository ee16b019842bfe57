"""The box-constrained quadratic."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import lsq_linear

from kernelknife._engine.solvers.boxqp import minimize_box_quadratic


@pytest.mark.parametrize(("rows", "columns"), [(30, 8), (8, 30), (12, 12)])
def test_box_quadratic_against_scipy(rows, columns, rng):
    for _ in range(20):
        V, g = rng.normal(size=(rows, columns)), rng.normal(size=columns)
        ridge = 0.1
        lower, upper = -rng.uniform(0, 1, columns), rng.uniform(0, 1, columns)
        d, decrease = minimize_box_quadratic(V, ridge, g, lower, upper)
        # min |A d + c|^2 with A'A = V'V + ridge and A'c = g is the same problem.
        A = np.vstack([V, np.sqrt(ridge) * np.eye(columns)])
        c = np.linalg.lstsq(A.T, g, rcond=None)[0]
        oracle = lsq_linear(A, -c, bounds=(lower, upper), tol=1e-14).x
        Q = V.T @ V + ridge * np.eye(columns)
        assert np.all((lower <= d) & (d <= upper))
        assert_allclose(d, oracle, atol=1e-5)
        assert_allclose(decrease, -(0.5 * d @ Q @ d + g @ d), rtol=1e-9)
