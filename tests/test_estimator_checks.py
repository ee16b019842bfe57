"""scikit-learn's own checks, on every public estimator, with no expected failures."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelknife import (
    KnifeCCA,
    KnifeClassifier,
    KnifeClassifierCV,
    KnifeDiscriminant,
    KnifeKnockoffs,
    KnifePCA,
    KnifeRegressor,
    KnifeRegressorCV,
    KnifeStability,
)

ESTIMATORS = [
    KnifeRegressor(),
    KnifeRegressor(kernel="linear", loss="huber"),
    KnifeClassifier(),
    KnifeClassifier(kernel="linear", loss="logistic"),
    KnifeClassifier(loss="hinge"),
    # One kernel and small grids: the checks fit each of them a few hundred times, and compare fits
    # of noise, between which a choice among kernels may flip by rounding.
    KnifeRegressorCV(kernel="rbf", sparsities=5, alphas=1.0, cv=3),
    KnifeClassifierCV(kernel="linear", loss="logistic", sparsities=5, alphas=1.0, cv=3),
    KnifeStability(n_pairs=2),
    KnifeKnockoffs(n_draws=1),
    KnifeCCA(),
    KnifeCCA(kernel="linear", hold_out=0.0),
    KnifeDiscriminant(),
    KnifeDiscriminant(kernel="linear", sparsity=0.1),
    KnifePCA(),
    KnifePCA(kernel="linear", n_components=1, sparsity=0.1),
]


@pytest.mark.filterwarnings("ignore:The columns share no component:UserWarning")
@pytest.mark.filterwarnings("ignore:.* rows to hold out are too few:UserWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
