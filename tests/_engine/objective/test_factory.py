"""Fits on centers: how they are chosen, what they find, what they refuse."""

import array_api_strict
import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife import KnifeClassifier, KnifeRegressor, KnifeRegressorCV, knife_path


@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "linear"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_all_rows_as_centers_fit_like_the_exact_method(kernel, loss, planted):
    X, y = planted[0][:120], planted[1][:120]
    kind = KnifeRegressor if loss == "squared" else KnifeClassifier
    target = y if loss == "squared" else (y > 0).astype(int)
    options = {"kernel": kernel, "loss": loss, "sparsity": 2.0, "tol": 1e-10}
    exact = kind(**options).fit(X, target)
    ours = kind(**options, centers=X).fit(X, target)
    assert_allclose(ours.objective_, exact.objective_, rtol=1e-6)
    assert_allclose(ours.weights_, exact.weights_, atol=1e-3)


def test_centers_are_rows_that_count(planted):
    """Rows of weight zero change nothing, not even by which others are drawn."""
    X, y = planted
    at = np.arange(0, 6000, 20)  # 300 rows that count among 6,000
    many, targets, s = np.zeros((6000, 8)), np.zeros(6000), np.zeros(6000)
    many[at], targets[at], s[at] = X[:300], y[:300], 1.0
    options = {"n_centers": 40, "sparsity": 5.0, "random_state": 0}
    among = KnifeRegressor(**options).fit(many, targets, s)
    alone = KnifeRegressor(**options).fit(X[:300], y[:300])
    assert_array_equal(among.support_vectors_rows_, at[alone.support_vectors_rows_])
    assert_allclose(among.predict(X[:50]), alone.predict(X[:50]), atol=1e-6)


def test_centers_chosen_anew_in_the_geometry_of_the_weights(planted):
    X, y = planted
    model = KnifeRegressor(n_centers=60, sparsity=10.0, refresh_centers=True).fit(X, y)
    plain = KnifeRegressor(n_centers=60, sparsity=10.0).fit(X, y)
    assert_array_equal(model.get_support(indices=True), [1, 4, 6])
    assert model.objective_ < plain.objective_


def test_over_the_budget_centers_are_used_with_a_warning(planted):
    X, y = planted
    with pytest.warns(UserWarning, match=r"800 rows, over the budget .* 800 centers are used"):
        KnifeRegressor(memory_budget=1e6, sparsity=10.0).fit(X, y)


def test_a_path_and_many_rows(monkeypatch, planted):
    """The start comes from some of the rows, the path from all."""
    monkeypatch.setattr("kernelknife._engine.objective.nystrom.NystromProblem.sample_rows", 200)
    X, y = planted
    path = knife_path(X, y, n_centers=80, sparsities=8)
    assert set(np.argsort(path.ranking)[:3]) == {1, 4, 6}
    assert path.converged.all()
    model = KnifeRegressor(n_centers=80, sparsity=10.0).fit(X, y)
    assert "subsample" in [name for name, _ in model.starts_]
    assert path.at(n_features=2).get_support().sum() == 2


def test_sample_weights_are_rows(planted):
    X, y = planted[0][:200], planted[1][:200]
    s = np.arange(200) % 3
    Z = X[:50]
    weighted = KnifeRegressor(centers=Z, sparsity=4.0).fit(X, y, sample_weight=s)
    repeated = KnifeRegressor(centers=Z, sparsity=4.0).fit(np.repeat(X, s, 0), np.repeat(y, s))
    assert_allclose(weighted.weights_, repeated.weights_, atol=1e-5)


def test_multi_class_and_groups(planted):
    X, y = planted
    target = np.digitize(y, [-0.5, 0.5])
    model = KnifeClassifier(n_centers=100, sparsity=10.0, feature_groups=[0, 1, 2, 3, 4, 5, 4, 7])
    model.fit(X, target)
    assert model.weights_[4] == model.weights_[6]
    assert model.decision_function(X).shape == (800, 3)
    assert model.score(X, target) > 0.8


def test_no_feature_left(planted, write_folder):
    X, y = planted[0][:200], planted[1][:200]
    for options in ({"kernel": "linear"}, {}):
        model = KnifeRegressor(n_centers=30, sparsity=1e6, **options).fit(X, y)
        assert not model.weights_.any()
        assert_allclose(model.predict(X), y.mean(), atol=1e-6)
    folder = write_folder(X, y)
    assert not KnifeRegressor(n_centers=30, sparsity=1e6).fit(folder, "y").weights_.any()
    strict = array_api_strict.asarray(X)
    model = KnifeRegressor(n_centers=30, n_features_to_select=1).fit(strict, y)
    assert model.get_support().sum() == 1


def test_linear_paths_on_centers_count_as_the_exact_ones(planted):
    X, y = planted[0][:200], planted[1][:200]
    grid = [0.0, 1.0, 10.0, 100.0, 1000.0]
    exact = knife_path(X, y, kernel="linear", sparsities=grid)
    ours = knife_path(X, y, kernel="linear", sparsities=grid, n_centers=50)
    assert_array_equal(ours.n_selected, exact.n_selected)


def test_a_class_too_rare_for_the_subsample(monkeypatch, rng):
    monkeypatch.setattr("kernelknife._engine.objective.nystrom.NystromProblem.sample_rows", 20)
    X = rng.normal(size=(300, 3))
    y = np.zeros(300, dtype=int)
    y[:2] = 1
    assert KnifeClassifier(n_centers=20).fit(X, y).score(X, y) > 0.9


def test_rows_of_no_weight_are_not_there(planted):
    X, y = planted[0][:200].copy(), planted[1][:200].copy()
    s = np.r_[np.ones(100), np.zeros(100)]
    X[100:] *= 1e6
    y[100:] *= 1e3
    for loss in ("squared", "huber"):
        one = KnifeRegressor(loss=loss, n_centers=40, sparsity=2.0).fit(X, y, sample_weight=s)
        two = KnifeRegressor(loss=loss, n_centers=40, sparsity=2.0).fit(X[:100], y[:100])
        assert_allclose(one.weights_, two.weights_, atol=1e-8)


def test_refreshing_keeps_what_was_asked(planted):
    X, y = planted
    given = KnifeRegressor(centers=X[:50], sparsity=10.0, refresh_centers=True).fit(X, y)
    assert given.get_support().sum() == 3
    assert (
        not KnifeRegressor(n_centers=30, sparsity=1e6, refresh_centers=True)
        .fit(X, y)
        .weights_.any()
    )
    exactly = KnifeRegressor(n_centers=30, n_features_to_select=2, refresh_centers=True).fit(X, y)
    assert exactly.get_support().sum() == 2


def test_what_centers_cannot_do(planted):
    X, y = planted
    classes = (y > 0).astype(int)
    with pytest.raises(ValueError, match="no model on centers"):
        KnifeClassifier(loss="hinge", n_centers=10).fit(X, classes)
    with pytest.raises(ValueError, match="the solver is 'eliminate'"):
        KnifeRegressor(solver="alternate", n_centers=10).fit(X, y)
    with pytest.raises(ValueError, match="Unknown centers 'best'"):
        KnifeRegressor(centers="best", n_centers=10).fit(X, y)
    with pytest.raises(ValueError, match="centers must have 8 columns"):
        KnifeRegressor(centers=X[:5, :3]).fit(X, y)
    with pytest.raises(ValueError, match="n_centers must be"):
        KnifeRegressor(n_centers=0).fit(X, y)
    with pytest.raises(TypeError, match="needs an array or a data frame"):
        KnifeRegressorCV().fit(da.from_array(X), da.from_array(y))
    with pytest.raises(ValueError, match="Unknown label type"):
        KnifeClassifier(n_centers=10).fit(X, y)
    with pytest.raises(ValueError, match="sample_weight"):
        KnifeRegressor(n_centers=10).fit(array_api_strict.asarray(X), y, -np.ones(800))
    with pytest.raises(ValueError, match="Pass task="):
        knife_path("folder", "y")
    with pytest.raises(ValueError, match=r"800 rows and y has 700"):
        KnifeRegressor(n_centers=10).fit(array_api_strict.asarray(X), y[:700])
