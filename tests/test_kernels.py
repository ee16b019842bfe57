"""Kernels: identities, derivatives, and scikit-learn's kernels at weight one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.gaussian_process.kernels import Matern as GPMatern
from sklearn.gaussian_process.kernels import RationalQuadratic as GPRationalQuadratic
from sklearn.metrics import pairwise

from kernelknife.kernels import (
    KERNELS,
    RBF,
    Kernel,
    Laplace,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    check_kernel,
)

ALL = [
    *(cls() for cls in KERNELS.values()),
    Polynomial(degree=3, coef0=0.0),
    Polynomial(degree=1),
    Matern(nu=1.5, gamma=0.5),
    RationalQuadratic(shape=2.0, gamma=0.3),
    RBF(gamma=0.2),
    Sigmoid(gamma=0.2, coef0=0.5),
]


@pytest.fixture
def instance(rng):
    X, Z = rng.normal(size=(7, 4)), rng.normal(size=(5, 4))
    return X, Z, rng.uniform(0.1, 1.0, size=4), rng.normal(size=5)


@pytest.mark.parametrize("kernel", ALL, ids=repr)
def test_jacobian_matches_finite_differences(kernel, instance, central_difference):
    X, Z, v, a = instance
    S, K = kernel.evaluate(X, Z, v)
    numeric = central_difference(lambda u: kernel(X, Z, u) @ a, v)
    assert_allclose(kernel.jacobian(X, Z, S, K, a), numeric, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kernel", ALL, ids=repr)
def test_gradient_is_the_contracted_jacobian(kernel, instance, rng):
    X, Z, v, _ = instance
    U, A = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    S, K = kernel.evaluate(X, Z, v)
    columns = [u @ kernel.jacobian(X, Z, S, K, a) for u, a in zip(U.T, A.T, strict=True)]
    assert_allclose(kernel.gradient(X, Z, S, K, U, A), sum(columns), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kernel", ALL, ids=repr)
def test_zero_weight_is_a_dropped_column(kernel, instance):
    X, Z, v, _ = instance
    v[1] = 0.0
    kept = [0, 2, 3]
    assert_allclose(kernel(X, Z, v), kernel(X[:, kept], Z[:, kept], v[kept]), rtol=1e-12)


@pytest.mark.parametrize("kernel", ALL, ids=repr)
def test_diagonal_and_symmetry(kernel, instance):
    X, _, v, _ = instance
    K = kernel(X, X, v)
    assert_allclose(kernel.diag(X, v), np.diag(K), rtol=1e-10)
    assert_allclose(K, K.T, rtol=1e-10)


@pytest.mark.parametrize(
    ("kernel", "reference"),
    [
        (Linear(), pairwise.linear_kernel),
        (RBF(gamma=0.3), lambda X, Z: pairwise.rbf_kernel(X, Z, gamma=0.3)),
        (Laplace(gamma=0.3), lambda X, Z: pairwise.laplacian_kernel(X, Z, gamma=0.3)),
        (
            Polynomial(degree=3, coef0=1.0),
            lambda X, Z: pairwise.polynomial_kernel(X, Z, degree=3, gamma=1.0, coef0=1.0),
        ),
        (
            Sigmoid(gamma=0.2, coef0=0.1),
            lambda X, Z: pairwise.sigmoid_kernel(X, Z, gamma=0.2, coef0=0.1),
        ),
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


def test_names_and_instances_resolve_and_clone():
    assert isinstance(check_kernel("rbf"), RBF)
    kernel = clone(Polynomial(degree=4))
    assert check_kernel(kernel).degree == 4


@pytest.mark.parametrize(
    ("spec", "error", "words"),
    [
        ("gauss", ValueError, "laplace, linear, matern"),
        (RBF, TypeError, r"RBF\(\)"),
        (3, TypeError, "rbf"),
        (RBF(gamma=-1.0), ValueError, "gamma must be a number > 0"),
        (RBF(gamma="scale"), TypeError, "gamma must be a number > 0"),
        (Polynomial(degree=0), ValueError, "degree must be an integer >= 1"),
        (Polynomial(degree=1.5), TypeError, "degree must be an integer"),
        (Polynomial(coef0=-1.0), ValueError, "coef0"),
        (Matern(nu=0.7), ValueError, "nu must be 1.5 or 2.5"),
        (RationalQuadratic(shape=0.0), ValueError, "shape"),
    ],
)
def test_wrong_kernels_are_explained(spec, error, words):
    with pytest.raises(error, match=words):
        check_kernel(spec)


def test_a_variant_of_the_gaussian_is_what_it_says():
    class Twice(RBF):
        def profile(self, s):
            return 2.0 * super().profile(s)

    rng = np.random.default_rng(0)
    X, v, a = rng.normal(size=(6, 3)), np.full(3, 0.4), rng.normal(size=6)
    kernel, plain = Twice(), RBF()
    assert_allclose(kernel(X, X, v), 2.0 * plain(X, X, v))
    assert_allclose(np.diag(kernel(X, X, v)), kernel.diag(X, v))
    ours, theirs = (k.jacobian(X, X, *k.evaluate(X, X, v), a) for k in (kernel, plain))
    assert_allclose(ours, 2.0 * theirs)


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
