"""The attributes that RFE and Boruta have, too."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from kernelknife import KnifeRegressor, KnifeRegressorCV
from kernelknife.datasets import make_sinusoidal


@pytest.fixture(scope="module")
def frame():
    X, y = make_sinusoidal(80, 3, random_state=0)
    return pd.DataFrame(X, columns=list("abcdefgh")), y


def test_a_mask_of_the_columns(frame):
    X, y = frame
    model = KnifeRegressor(sparsity=3.0).fit(X, y)
    assert_array_equal(X.columns[model.support_], model.get_feature_names_out())
    assert_array_equal(model.ranking_, np.where(model.weights_ > 0, 1, 2))
    with pytest.raises(NotFittedError):
        _ = KnifeRegressor().support_


def test_a_cross_validation_ranks_those_left_out(frame):
    X, y = frame
    search = KnifeRegressorCV(alphas=0.3, cv=3, n_features_to_select=3).fit(X, y)
    assert search.support_.sum() == 3
    assert search.weights_.astype(bool).sum() == 3
    assert_array_equal(search.ranking_[search.support_], 1)
    assert sorted(search.ranking_[~search.support_]) == [2, 3, 4, 5, 6]
    others = ~search.support_
    assert_array_equal(
        np.argsort(search.ranking_[others]), np.argsort(search.path_.ranking[others])
    )
