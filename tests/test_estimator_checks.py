"""scikit-learn's own checks, on every public estimator, with no expected failures."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelknife import KnifeClassifier, KnifeRegressor

ESTIMATORS = [
    KnifeRegressor(),
    KnifeRegressor(kernel="linear", loss="huber"),
    KnifeClassifier(),
    KnifeClassifier(kernel="linear", loss="logistic"),
    KnifeClassifier(loss="hinge"),
]


@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
