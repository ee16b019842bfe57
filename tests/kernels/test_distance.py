"""Kernels of a distance are scikit-learn's at weight one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process.kernels import Matern as GPMatern
from sklearn.gaussian_process.kernels import RationalQuadratic as GPRationalQuadratic
from sklearn.metrics import pairwise

from kernelknife import KnifeRegressor
from kernelknife.kernels import RBF, Joint, Kernel, Laplace, Matern, RationalQuadratic
from kernelknife.kernels.basis import make_bent_basis


@pytest.mark.parametrize(
    ("kernel", "reference"),
    [
        (RBF(gamma=0.3), lambda X, Z: pairwise.rbf_kernel(X, Z, gamma=0.3)),
        (Laplace(gamma=0.3), lambda X, Z: pairwise.laplacian_kernel(X, Z, gamma=0.3)),
        (Matern(nu=1.5, gamma=0.5), lambda X, Z: GPMatern(length_scale=2.0, nu=1.5)(X, Z)),
        (Matern(nu=2.5, gamma=0.5), lambda X, Z: GPMatern(length_scale=2.0, nu=2.5)(X, Z)),
        (
            RationalQuadratic(shape=1.5, gamma=0.5),
            lambda X, Z: GPRationalQuadratic(length_scale=1.0, alpha=1.5)(X, Z),
        ),
    ],
    ids=lambda value: repr(value) if isinstance(value, Kernel) else "",
)
def test_weights_of_one_give_scikit_learns_kernel(kernel, reference, instance):
    X, Z, v, _ = instance
    assert_allclose(kernel(X, Z, np.ones_like(v)), reference(X, Z), rtol=1e-10, atol=1e-12)


def test_single_precision_and_integers_are_taken_as_they_are():
    kernel = Laplace()
    X = np.random.default_rng(1).integers(0, 9, size=(7, 3))
    v, a = np.full(3, 0.1), np.arange(7.0)
    exact = kernel.jacobian(X, X, *kernel.evaluate(X, X, v), a)
    single = X.astype(np.float32)
    rough = kernel.jacobian(single, single, *kernel.evaluate(single, single, v), a)
    assert exact.dtype == float
    assert rough.dtype == np.float32
    assert_allclose(rough, exact, rtol=1e-5)


def test_a_model_of_the_joint_kernel_is_kernel_ridge_on_bent_columns(rng):
    X = np.exp(rng.normal(size=(60, 3)))
    y = np.log(X[:, 0]) * X[:, 1]
    model = KnifeRegressor(Joint(), alpha=0.3, learn_weights=False).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    bent = np.sqrt(0.5 / 3) * make_bent_basis(Z, np.ones(60)).expand(Z)
    K = GPMatern(length_scale=1.0, nu=1.5)(bent, bent)
    # With an intercept, kernel ridge is that of a centered kernel and a centered target.
    H = np.eye(60) - 1 / 60
    t = (y - y.mean()) / y.std()
    fitted = H @ K @ H @ np.linalg.solve(H @ K @ H + 0.3 * np.eye(60), t)
    assert_allclose(model.predict(X), fitted * y.std() + y.mean(), rtol=1e-8, atol=1e-8)


def test_a_far_row_moves_the_gaussian_model_and_not_the_joint_one(rng):
    """One row that lies a thousand deviations out crowds all others together on the raw scale."""
    X = rng.normal(size=(120, 2))
    X[0, 0] = 1e3
    y = np.sin(2.0 * X[:, 0])
    rows = slice(1, None)
    errors = {
        kernel: np.mean((KnifeRegressor(kernel, alpha=0.1).fit(X, y).predict(X) - y)[rows] ** 2)
        for kernel in ("rbf", "joint")
    }
    assert errors["joint"] < 0.1 * np.var(y) < errors["rbf"]


def test_the_joint_kernel_has_one_function_per_column_and_no_effects(rng):
    X = rng.normal(size=(50, 3))
    model = KnifeRegressor("joint", learn_weights=False).fit(X, X[:, 0])
    assert Joint().order == 0
    assert_array_equal(model._model.columns.basis.widths, [1, 1, 1])
    with pytest.raises(ValueError, match="one joint function of its columns"):
        model.effects()
