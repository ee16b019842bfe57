"""Models of the hinge and of quantiles on a given kernel: at their minimum, for any alpha."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from kernelknife._engine.objective.corner import refit_corner, relative_gap
from kernelknife.kernels import RBF
from kernelknife.losses import Hinge, QuantileLoss

CORNERS = [Hinge(), QuantileLoss(0.5), QuantileLoss(0.9)]


def instance(rng, loss, n=40):
    X = rng.normal(size=(n, 3))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n)
    if loss.task == "classification":
        y = np.where(y > 0, 1.0, -1.0)
    return RBF()(X, X, np.full(3, 0.3)), y, rng.uniform(0.5, 2.0, size=n)


@pytest.mark.parametrize("columns", [0, 1, 3])
@pytest.mark.parametrize("alpha", [1e-5, 1e-3, 0.1, 10.0])
@pytest.mark.parametrize("loss", CORNERS, ids=repr)
def test_the_duality_gap_closes(loss, alpha, columns, rng):
    K, y, s = instance(rng, loss)
    U = np.column_stack([rng.normal(size=(40, 2)), np.ones(40)])[:, 3 - columns :]
    data = K, loss, y[:, None], s, alpha, U
    assert relative_gap(*data, *refit_corner(*data)) < 1e-6


@pytest.mark.parametrize("loss", CORNERS, ids=repr)
def test_the_model_is_that_of_an_independent_solver(loss, rng):
    """The dual by SLSQP: maximize u'y - u'Ku / (4 alpha) between the bounds with sum(u) = 0."""
    K, y, s = instance(rng, loss, n=20)
    alpha, ones = 0.2, np.ones((20, 1))
    low, high = loss.corner(y)
    dual = minimize(
        lambda u: u @ K @ u / (4 * alpha) - u @ y,
        np.zeros(20),
        jac=lambda u: K @ u / (2 * alpha) - y,
        bounds=list(zip(s * low, s * high, strict=True)),
        constraints={"type": "eq", "fun": np.sum, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    C, b = refit_corner(K, loss, y[:, None], s, alpha, ones)
    Kc = K @ C[:, 0]
    primal = s @ loss.value(y, Kc + b[0]) + alpha * C[:, 0] @ Kc
    assert_allclose(primal, -dual.fun, rtol=1e-6)


@pytest.mark.parametrize("loss", CORNERS, ids=repr)
def test_a_loss_is_the_largest_line_between_its_corners_slopes(loss, rng):
    y, f = np.where(rng.normal(size=50) > 0, 1.0, -1.0), rng.normal(size=50)
    low, high = loss.corner(y)
    assert_allclose(loss.value(y, f), np.maximum(low * (y - f), high * (y - f)))


@pytest.mark.parametrize("loss", CORNERS, ids=repr)
def test_a_wrong_model_has_a_gap(loss, rng):
    K, y, s = instance(rng, loss)
    data = K, loss, y[:, None], s, 0.1, np.ones((40, 1))
    C, b = refit_corner(*data)
    assert relative_gap(*data, 0.9 * C, b) > 1e-3
