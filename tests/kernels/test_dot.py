"""Kernels of the inner product are scikit-learn's at weight one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import pairwise

from kernelknife.kernels import Kernel, Linear, Polynomial, Sigmoid


@pytest.mark.parametrize(
    ("kernel", "reference"),
    [
        (Linear(), pairwise.linear_kernel),
        (
            Polynomial(degree=3, coef0=1.0),
            lambda X, Z: pairwise.polynomial_kernel(X, Z, degree=3, gamma=1.0, coef0=1.0),
        ),
        (
            Sigmoid(gamma=0.2, coef0=0.1),
            lambda X, Z: pairwise.sigmoid_kernel(X, Z, gamma=0.2, coef0=0.1),
        ),
    ],
    ids=lambda value: repr(value) if isinstance(value, Kernel) else "",
)
def test_weights_of_one_give_scikit_learns_kernel(kernel, reference, instance):
    X, Z, v, _ = instance
    assert_allclose(kernel(X, Z, np.ones_like(v)), reference(X, Z), rtol=1e-10, atol=1e-12)
