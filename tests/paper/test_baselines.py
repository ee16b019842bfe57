"""Baselines: against scikit-learn where it has the same method, and on planted features."""

import doctest

import baselines
import numpy as np
import pytest
from baselines import SIS, KernelRFE
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import ttest_ind
from sklearn.feature_selection import RFE
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelknife._engine.objective.coefficients import solve_columns
from kernelknife._engine.objective.factors import DenseMatrix
from kernelknife.datasets import make_linear, make_sinusoidal, make_skin_of_orange
from kernelknife.kernels import RBF, Polynomial
from kernelknife.losses import SquaredHinge


@parametrize_with_checks([SIS(), KernelRFE()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_screening_by_correlation_and_by_t(rng):
    X, y = make_linear(80, 5, random_state=0)
    found = SIS(n_features_to_select=3).fit(X, y)
    correlation = [abs(np.corrcoef(x, y)[0, 1]) for x in X.T]
    assert_allclose(found.scores_, correlation)
    assert_array_equal(np.argsort(found.ranking_), np.argsort(-found.scores_, kind="stable"))
    assert found.transform(X).shape == (80, 3)
    labels = np.where(y > 0, "up", "down")
    t = np.abs(ttest_ind(X[y > 0], X[y <= 0]).statistic)
    assert_allclose(SIS().fit(X, labels).scores_, t)


def test_screening_is_blind_to_what_has_no_linear_trace():
    X, y = make_skin_of_orange(100, 46, random_state=0)
    assert set(np.argsort(SIS().fit(X, y).ranking_)[:4]) != set(range(4))


def test_elimination_with_a_linear_kernel_is_scikit_learns():
    X, y = make_linear(60, 5, random_state=1)
    Z, t = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    ours = KernelRFE(1, kernel="linear", alpha=2.0).fit(X, y)
    theirs = RFE(Ridge(alpha=2.0), n_features_to_select=1).fit(Z, t)
    assert_array_equal(ours.ranking_, theirs.ranking_)


def test_elimination_drops_what_changes_the_norm_least(rng):
    """Against the definition: refit nothing, remove one column, compare ``c' K c``."""
    X, y = make_skin_of_orange(40, 2, random_state=0)
    Z, Y = (X - X.mean(axis=0)) / X.std(axis=0), np.where(y == 1, 1.0, -1.0)[:, None]
    kernel, ones = RBF(gamma=1 / 6), np.ones(40)
    K = rbf_kernel(Z, gamma=1 / 6)
    risk = SquaredHinge().bind(Y, ones, 1)
    c = solve_columns(DenseMatrix(K), risk, 1, 1.0, np.ones((40, 1))).C[:, 0]
    kept = [[j for j in range(6) if j != gone] for gone in range(6)]
    expected = [abs(c @ (K - rbf_kernel(Z[:, rest], gamma=1 / 6)) @ c) for rest in kept]
    assert_allclose(KernelRFE()._changes(Z, Y, kernel, SquaredHinge(), ones), expected)
    first_out = KernelRFE().fit(X, y).ranking_.argmax()
    assert first_out == np.argmin(expected)


def test_elimination_finds_the_skin_of_the_orange():
    X, y = make_skin_of_orange(150, 6, random_state=0)
    found = KernelRFE(4, kernel=Polynomial(degree=2)).fit(X, y)
    assert_array_equal(found.get_support(indices=True), range(4))
    pipe = make_pipeline(KernelRFE(4, kernel=Polynomial(degree=2)), SVC())
    assert pipe.fit(X, y).score(X, y) > 0.9


def test_steps_follow_the_schedule():
    X, y = make_sinusoidal(60, 35, random_state=0)
    sizes = []

    class Watching(KernelRFE):
        def _changes(self, Z, *rest):
            sizes.append(Z.shape[1])
            return super()._changes(Z, *rest)

    Watching(5, step=[(20, 8), (5, 3), (0, 1)]).fit(X, y)
    assert sizes == [40, 32, 24, 20, 17, 14, 11, 8, 5, 4, 3, 2]
    one = KernelRFE(5, step=1).fit(X, y)
    assert sorted(one.ranking_) == list(range(1, 41))


@pytest.mark.parametrize("selector", [SIS(1), KernelRFE(1)], ids=repr)
def test_whole_numbers_of_many_values_are_a_number(selector, rng):
    X = rng.normal(size=(60, 3))
    y = np.empty(60)
    y[np.argsort(X[:, 2])] = np.arange(60.0)
    selector.fit(X, y)
    assert selector.task_ == "regression"
    assert_array_equal(selector.get_support(indices=True), [2])


def test_the_examples_of_the_docstrings_run():
    failed, tried = doctest.testmod(baselines)
    assert tried
    assert not failed


def test_constant_columns_come_last():
    X, y = make_sinusoidal(50, 2, random_state=0)
    X[:, 3] = 1.0
    for selector in (SIS(2), KernelRFE(2)):
        assert selector.fit(X, y).ranking_[3] == 7


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        (SIS(0), "n_features_to_select must be an integer >= 1"),
        (SIS(99), "more than the 10 columns"),
        (KernelRFE(step=0), "step must be an integer >= 1"),
        (KernelRFE(step=[1, 2]), "list of pairs"),
        (KernelRFE(kernel="gauss"), "Unknown kernel"),
        (KernelRFE(loss="hinge"), "Unknown label type: continuous"),
    ],
)
def test_mistakes_are_explained(selector, words):
    with pytest.raises(ValueError, match=words):
        selector.fit(*make_sinusoidal(30, 5, random_state=0))
