"""Every kernel: derivatives, zero weights, diagonals, and subclasses with their own profile."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife._engine.objective import ExactProblem
from kernelknife.kernels import (
    KERNELS,
    RBF,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
)
from kernelknife.losses import SquaredLoss

ALL = [
    *(cls() for cls in KERNELS.values()),
    Polynomial(degree=3, coef0=0.0),
    Polynomial(degree=1),
    Matern(nu=1.5, gamma=0.5),
    RationalQuadratic(shape=2.0, gamma=0.3),
    RBF(gamma=0.2),
    Sigmoid(gamma=0.2, coef0=0.5),
]


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


@pytest.mark.parametrize("kernel", [k for k in ALL if k.identity], ids=repr)
def test_a_kernel_that_is_its_form_needs_no_matrix_for_its_derivatives(kernel, instance):
    X, Z, v, a = instance
    S, K = kernel.evaluate(X, Z, v)
    assert_allclose(K, (X * v) @ Z.T)
    assert_allclose(kernel.jacobian(X, Z, None, None, a), kernel.jacobian(X, Z, S, K, a))


def test_a_profile_of_its_own_makes_a_kernel_more_than_its_form():
    class Twice(Linear):
        def profile(self, s):
            return 2.0 * s

        def slope(self, s, k):
            return 2.0 + 0.0 * s

    class Doubled(Linear):
        def evaluate(self, X, Z, v):
            S, K = super().evaluate(X, Z, v)
            return S, 2.0 * K

    assert Linear.identity
    assert not Twice.identity
    assert not Doubled.identity
    X = np.random.default_rng(0).normal(size=(20, 2))
    ours = ExactProblem(X, X[:, :1], Twice(), SquaredLoss()).solve(np.ones(2))
    theirs = ExactProblem(np.sqrt(2.0) * X, X[:, :1], Linear(), SquaredLoss()).solve(np.ones(2))
    assert_allclose(ours.smooth, theirs.smooth)
