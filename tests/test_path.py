"""Feature paths: where they go, what they hold, and how to ask for a model."""

import dataclasses
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from kernelknife import KnifeClassifier, KnifeRegressor, knife_path
from kernelknife._engine.search import rank_features
from kernelknife.datasets import make_sinusoidal, make_skin_of_orange
from kernelknife.kernels import Sigmoid
from kernelknife.losses import SquaredHinge


@pytest.fixture(scope="module")
def sinusoid():
    return make_sinusoidal(100, 5, random_state=0)


@pytest.fixture(scope="module")
def path(sinusoid):
    return knife_path(*sinusoid)


def test_it_runs_from_nothing_to_where_the_last_feature_leaves(path):
    assert path.sparsities[0] == 0
    assert np.all(np.diff(path.sparsities) > 0)
    assert path.n_selected[-1] == 0
    assert path.n_selected[-2] > 0  # no point is wasted past the end
    assert 40 <= len(path) <= 55
    assert_array_equal(path.n_selected, np.count_nonzero(path.weights, axis=1))
    assert np.all((path.weights >= 0) & (path.weights <= 1))
    assert path.n_factorizations >= path.factorizations.sum()


def test_what_has_left_never_returns(path):
    alive = path.weights > 0
    assert np.all(alive[1:] <= alive[:-1])


def test_the_objective_rises_with_the_penalty_and_the_loss_too(path):
    assert np.all(np.diff(path.objective) > -1e-3 * path.objective[0])
    assert path.loss[-1] == max(path.loss)
    assert_allclose(path.objective[-1], 100.0, rtol=1e-6)  # nothing left: n times the variance


def test_ranking_finds_the_true_features(path):
    assert sorted(path.ranking) == list(range(1, 11))
    assert set(np.argsort(path.ranking)[:5]) == set(range(5))


def test_ranking_by_elimination_order_then_weight():
    weights = np.array([[0.5, 0.5, 0.2, 0.0], [0.4, 0.3, 0.1, 0.0], [0.0, 0.0, 0.1, 0.0]])
    assert_array_equal(rank_features(weights), [2, 3, 1, 4])


def test_every_point_is_a_fitted_model(path, sinusoid):
    X, y = sinusoid
    for i in (0, 20, -2, -1):
        model = path.model(i)
        assert isinstance(model, KnifeRegressor)
        assert_array_equal(model.weights_, path.weights[i])
        assert_allclose(model.objective_, path.objective[i])
        assert model.sparsity == path.sparsities[i]
        assert model.predict(X).shape == y.shape
    assert_allclose(path.model(-1).predict(X), y.mean())
    with pytest.raises(IndexError, match="no point 999"):
        path.model(999)


def test_a_point_agrees_with_a_fit_of_its_own(path, sinusoid):
    i = 25
    alone = KnifeRegressor(sparsity=path.sparsities[i]).fit(*sinusoid)
    assert_allclose(path.objective[i], alone.objective_, rtol=2e-3)


def test_non_convergence_is_never_silent(sinusoid):
    with pytest.warns(ConvergenceWarning, match="of 6 points of the path did not converge"):
        path = knife_path(*sinusoid, max_iter=1, sparsities=[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    assert not path.converged.all()


def test_an_indefinite_kernel_has_a_path_where_it_has_a_fit(sinusoid):
    path = knife_path(*sinusoid, kernel=Sigmoid(gamma=0.3), sparsities=8)
    assert path.n_selected[0] > 0


def test_at_a_penalty(path):
    assert (
        path.at(sparsity=5.0).sparsity == path.sparsities[np.argmin(np.abs(path.sparsities - 5.0))]
    )
    with pytest.raises(ValueError, match="either n_features or sparsity"):
        path.at()
    with pytest.raises(ValueError, match="more than the 10 features"):
        path.at(n_features=11)


def test_it_keeps_no_matrices(path, sinusoid):
    assert len(pickle.dumps(path)) < 400_000
    again = pickle.loads(pickle.dumps(path))
    assert_array_equal(again.model(5).predict(sinusoid[0]), path.model(5).predict(sinusoid[0]))


def test_it_is_frozen(path):
    with pytest.raises(dataclasses.FrozenInstanceError):
        path.weights = None


def test_data_frame(sinusoid):
    X, y = sinusoid
    names = [f"gene {j}" for j in range(10)]
    path = knife_path(pd.DataFrame(X, columns=names), y, sparsities=12)
    frame = path.to_frame()
    assert list(frame.columns) == [
        "sparsity",
        "n_selected",
        "objective",
        "loss",
        "factorizations",
        *names,
    ]
    assert len(frame) == len(path)
    assert list(path.model(0).feature_names_in_) == names


def test_classes_by_the_target_and_by_the_loss():
    X, y = make_skin_of_orange(80, 4, random_state=0)
    assert isinstance(knife_path(X, y, sparsities=5).model(0), KnifeClassifier)
    path = knife_path(X, y, loss=SquaredHinge(), sparsities=5)
    assert isinstance(path.model(0), KnifeClassifier)
    assert knife_path(X, np.where(y, "a", "b"), sparsities=5).task == "classification"
    # Whole numbers of more than ten values are a regression, and the result names it.
    counts = np.random.default_rng(0).poisson(30, size=80)
    assert knife_path(X, counts, sparsities=5).task == "regression"
    assert knife_path(X, counts.astype(float), sparsities=5).task == "regression"


def test_single_updates_approximate_the_path(path, sinusoid):
    quick = knife_path(*sinusoid, updates_per_point=1)
    assert set(np.argsort(quick.ranking)[:5]) == set(range(5))
    assert quick.factorizations.max() <= 1
    assert quick.factorizations.sum() < path.factorizations.sum()


def test_given_penalties(sinusoid):
    grid = [0.0, 1.0, 10.0]
    path = knife_path(*sinusoid, sparsities=grid)
    assert_array_equal(path.sparsities, grid)
    one = knife_path(*sinusoid, sparsities=[3.0])
    assert len(one) == 1
    assert len(knife_path(*sinusoid, sparsities=1)) == 1


def test_groups_share_a_rank(sinusoid):
    X, y = sinusoid
    labels = [0, 1, 2, 3, 4, 5, 5, 5, 6, 6]
    path = knife_path(X, y, feature_groups=labels, sparsities=20)
    assert len(set(path.ranking[5:8])) == 1
    assert path.ranking.max() == 7


def test_constant_columns_come_last(sinusoid):
    X, y = sinusoid
    path = knife_path(np.column_stack([np.ones(100), X]), y, sparsities=10)
    assert path.ranking[0] == 11
    assert not path.weights[:, 0].any()


def test_the_paper_solver_follows_a_path_too():
    X, y = make_sinusoidal(60, 2, random_state=0)
    path = knife_path(X, y, solver="alternate", sparsities=10)
    assert path.n_selected[-1] == 0
    assert set(np.argsort(path.ranking)[:3]) <= set(range(5))


def test_progress_is_shown_when_asked(sinusoid, capfd, callbacks):
    knife_path(*sinusoid, sparsities=5)
    assert capfd.readouterr() == ("", "")
    knife_path(*sinusoid, sparsities=5, callbacks=[callbacks.ProgressBar()])
    assert "path" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"sparsities": 0}, ValueError, "sparsities must be an integer >= 1"),
        ({"sparsities": []}, ValueError, "number of points or a list"),
        ({"sparsities": [1.0, 0.5]}, ValueError, "increasing"),
        ({"sparsities": [-1.0, 0.5]}, ValueError, ">= 0"),
        ({"updates_per_point": 0}, ValueError, "updates_per_point"),
        ({"sparsity": 1.0}, TypeError, "takes no sparsity"),
        ({"task": "clustering"}, ValueError, "'classification', 'survival'"),
        ({"kernel": "gauss"}, ValueError, "Unknown kernel"),
    ],
)
def test_mistakes_are_explained(options, error, words, sinusoid):
    with pytest.raises(error, match=words):
        knife_path(*sinusoid, **options)
