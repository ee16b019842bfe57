"""Kernels of functions of the columns: the linear kernel of these functions, and its powers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife.kernels import Additive, Anova, Kernel, Linear


def test_the_additive_kernel_is_linear_in_the_functions_of_the_columns(instance):
    X, Z, v, a = instance
    S, K = Additive().evaluate(X, Z, v)
    assert_allclose(K, Linear()(X, Z, v))
    assert_allclose(Additive().jacobian(X, Z, S, K, a), Linear().jacobian(X, Z, S, K, a))


@pytest.mark.parametrize(
    ("order", "polynomial"),
    [(2, lambda s: s + s**2 / 2), (3, lambda s: s + s**2 / 2 + s**3 / 6)],
)
def test_the_anova_kernel_adds_products_of_functions(order, polynomial, instance):
    X, Z, v, _ = instance
    assert_allclose(Anova(order=order)(X, Z, v), polynomial(Linear()(X, Z, v)))


def test_more_than_three_columns_do_not_act_together():
    with pytest.raises(ValueError, match="order must be 2 or 3, got 4"):
        Anova(order=4).validate()


def test_a_model_without_coefficients_has_no_curvature_of_its_own():
    """A hinge that no row touches leaves no row for the Hessian in groups of columns."""
    X, none = np.zeros((0, 6)), np.zeros((0, 1))
    S, K = Anova().evaluate(X, X, np.ones(6))
    assert_array_equal(Anova().grouped_hessian(X, X, S, K, none, none, [0, 3]), np.zeros((2, 2)))


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("order", [2, 3])
def test_the_curvature_of_an_anova_kernel_needs_no_matrix_of_rows_by_rows(order, same, instance):
    """It is that of the general formula, one weight per column and one per group of columns."""
    X, Z, v, a = instance
    rng = np.random.default_rng(0)
    A = np.column_stack([a, rng.normal(size=len(a))])
    U = rng.normal(size=(len(X), 2))
    if same:
        X, U = Z, A
    kernel, first = Anova(order=order), [0, 1]
    arguments = (X, Z, *kernel.evaluate(X, Z, v), U, A)
    assert_allclose(kernel.hessian(*arguments), Kernel.hessian(kernel, *arguments))
    general = Kernel.grouped_hessian(kernel, *arguments, first)
    # The general method works in single precision.
    found = kernel.grouped_hessian(*arguments, first)
    assert_allclose(found, general, atol=1e-5 * np.abs(general).max())
