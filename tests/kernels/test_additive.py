"""Kernels of functions of the columns: the linear kernel of these functions, and its powers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife.kernels import Additive, Anova, Linear


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
