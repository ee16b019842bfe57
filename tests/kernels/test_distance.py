"""Kernels of a distance are scikit-learn's at weight one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import Matern as GPMatern
from sklearn.gaussian_process.kernels import RationalQuadratic as GPRationalQuadratic
from sklearn.metrics import pairwise

from kernelknife.kernels import RBF, Kernel, Laplace, Matern, RationalQuadratic


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
