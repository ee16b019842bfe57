"""Kernels of functions of the columns: the linear kernel of these functions, and its powers."""

import pytest
from numpy.testing import assert_allclose

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
