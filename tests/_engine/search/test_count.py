"""Solutions with an exact number of features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from kernelknife import KnifeRegressor, knife_path
from kernelknife._engine.search import solve_for_support
from kernelknife.datasets import make_sinusoidal


@pytest.fixture(scope="module")
def sinusoid():
    return make_sinusoidal(100, 5, random_state=0)


@pytest.fixture(scope="module")
def path(sinusoid):
    return knife_path(*sinusoid)


@pytest.mark.parametrize("k", range(1, 11))
def test_the_number_of_features_is_exact(path, sinusoid, k):
    model = path.at(n_features=k)
    assert np.count_nonzero(model.weights_) == k
    direct = KnifeRegressor(n_features_to_select=k).fit(*sinusoid)
    assert np.count_nonzero(direct.weights_) == k
    if k <= 5:
        assert set(model.get_support(indices=True)) <= set(range(5))


def test_exactly_the_weights_of_the_start_stay(sinusoid, setup_of):
    """The penalty would drive all columns out, and is lowered until the two are left."""
    setup = setup_of(KnifeRegressor(), *sinusoid)
    start = np.zeros(10)
    start[[1, 3]] = 0.5
    solution = solve_for_support(setup.problem, setup.spec.solver, start, 1e4)
    assert np.flatnonzero(solution.w).tolist() == [1, 3]
    assert 0 < solution.sparsity < 1e4


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplace"])
def test_the_number_is_exact_even_where_features_leave_together(kernel, rng):
    X = np.repeat(rng.normal(size=(60, 2)), 3, axis=1)  # triplets of equal columns
    path = knife_path(X, X[:, 0] - X[:, 3], kernel=kernel, sparsities=15)
    for k in range(1, 7):
        model = path.at(n_features=k)
        assert np.count_nonzero(model.weights_) == k
        assert model.score(X, X[:, 0] - X[:, 3]) > 0.02  # shrunk, but a model


def test_asking_for_more_features_than_have_a_use_is_said(rng):
    X = rng.normal(size=(60, 6))
    with pytest.warns(ConvergenceWarning, match="ask for fewer features"):
        model = KnifeRegressor(kernel="laplace", n_features_to_select=5).fit(X, np.sin(X[:, 0]))
    assert np.count_nonzero(model.weights_) == 5
    assert not model.converged_
    assert_allclose(model.history_[-1], model.objective_)
