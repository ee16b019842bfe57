"""The starts and the penalty that the parameters of an estimator ask for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife import KnifeRegressor


@pytest.mark.parametrize("start", ["auto", "scaled", "laplace", 0.3, np.linspace(0.1, 1, 10)])
def test_every_start_fits(start, sinusoid):
    model = KnifeRegressor(start=start, sparsity=5.0).fit(*sinusoid)
    assert {0, 1, 2} <= set(model.get_support(indices=True))


def test_auto_sparsity_is_in_proportion_to_the_rows(sinusoid):
    X, y = sinusoid
    model = KnifeRegressor(sparsity="auto").fit(X, y)
    assert model.sparsity_ == pytest.approx(0.05 * len(X))
    same = KnifeRegressor(sparsity=0.05 * len(X)).fit(X, y)
    assert_allclose(model.weights_, same.weights_)
    # Every row twice means the same as every row with weight two.
    twice = KnifeRegressor(sparsity="auto", alpha=2.0).fit(X, y, np.full(len(X), 2.0))
    assert_allclose(twice.weights_, model.weights_, atol=1e-5)
    with pytest.raises(ValueError, match="sparsity must be a number or 'auto', got 'much'"):
        KnifeRegressor(sparsity="much").fit(X, y)
