"""The lines that are made of a kernel and an alpha."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelknife import KnifeRegressor, KnifeRegressorCV
from kernelknife._tuning import CenterCounts, Data, LineMaker, kernels_to_compare
from kernelknife._tuning.settings import penalties_of_line
from kernelknife.cross_validation import models_of_folds
from kernelknife.losses import check_loss

KINDS = ("penalized", "equal")


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 3))
    return Data(X, np.sin(X[:, 0]), np.ones(60), None)


def make_lines(data, template=None, n_centers="auto", grid=5):
    kernels = kernels_to_compare(["linear", "rbf"])
    centers = CenterCounts(n_centers, check_loss("squared", "regression"))
    names = np.array(["a", "b", "c"], dtype=object)
    return LineMaker(
        template or KnifeRegressor(tol=1e-3), kernels, centers, grid, KINDS, data, names
    )


def test_a_line_has_its_kernel_and_alpha_and_everything_else_of_the_template(data):
    template = KnifeRegressor(tol=1e-3)
    before = template.get_params()
    lines = make_lines(data, template, n_centers=20)
    line = lines.make("linear", 0.3)
    expected = {**before, "kernel": lines.kernels["linear"], "alpha": 0.3, "n_centers": 20}
    assert line.template.get_params(deep=False) == expected
    assert (line.kernel, line.alpha, line.weightings) == ("linear", 0.3, KINDS)
    assert template.get_params() == before
    assert not hasattr(template, "n_features_in_")


def test_the_rows_are_prepared_once_per_kernel(data):
    lines = make_lines(data)
    job = lines.job("rbf")
    lines.make("rbf", 0.1)
    assert lines.job("rbf") is job
    assert lines.job("linear") is not job
    assert list(job.prepared.rows.names) == ["a", "b", "c"]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_penalties_are_those_of_the_line_or_of_the_user(data, kernel):
    lines = make_lines(data)
    problem = lines.job(kernel).with_alpha(0.3).problem
    assert_array_equal(lines.make(kernel, 0.3).penalties, penalties_of_line(problem, 5))
    given = np.array([1.0, 4.0])
    assert_array_equal(make_lines(data, grid=given).make(kernel, 0.3).penalties, given)


def test_a_number_of_features_makes_a_line_of_one_setting(data):
    line = make_lines(data, KnifeRegressor(n_features_to_select=2)).make("rbf", 1.0)
    assert line.weightings == ("penalized",)
    assert np.isnan(line.penalties).tolist() == [True]


def test_a_joint_kernel_has_centers_where_an_additive_one_is_exact():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1100, 5))
    for kernel, expected in (("rbf", 300), ("additive", None)):
        y = np.sin(2.0 * X[:, 0])
        search = KnifeRegressorCV(
            kernel, alphas=1.0, sparsities=3, cv=2, relax=False, include_all=False
        ).fit(X, y)
        assert {model.n_centers for model in models_of_folds(search, X, y)} == {expected}
        assert search.weights_[0] == search.weights_.max()
