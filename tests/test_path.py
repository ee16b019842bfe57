"""Feature paths: where they go, what they say, and how to ask for a model."""

import dataclasses
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.callback import ProgressBar
from sklearn.exceptions import ConvergenceWarning

from kernelknife import KnifeClassifier, KnifeRegressor, knife_path
from kernelknife._problem import ExactProblem, coefficients
from kernelknife._search.grid import penalty_lower_bound
from kernelknife._search.starts import scaled_weights
from kernelknife.datasets import make_linear, make_sinusoidal, make_skin_of_orange
from kernelknife.kernels import RBF, Laplace, Polynomial, Sigmoid
from kernelknife.losses import SquaredHinge, SquaredLoss
from kernelknife.path import rank_features
from kernelknife.solvers.eliminate import Eliminate


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
    assert path.n_solves >= path.solves.sum()


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


def test_ranking_by_survival_then_weight():
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


@pytest.mark.parametrize("k", range(1, 11))
def test_exactly_so_many_features(path, sinusoid, k):
    model = path.at(n_features=k)
    assert np.count_nonzero(model.weights_) == k
    direct = KnifeRegressor(n_features_to_select=k).fit(*sinusoid)
    assert np.count_nonzero(direct.weights_) == k
    if k <= 5:
        assert set(model.get_support(indices=True)) <= set(range(5))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplace"])
def test_exactly_so_many_even_where_features_leave_together(kernel, rng):
    X = np.repeat(rng.normal(size=(60, 2)), 3, axis=1)  # triplets of equal columns
    path = knife_path(X, X[:, 0] - X[:, 3], kernel=kernel, sparsities=15)
    for k in range(1, 7):
        model = path.at(n_features=k)
        assert np.count_nonzero(model.weights_) == k
        assert model.score(X, X[:, 0] - X[:, 3]) > 0.02  # shrunk, but a model


@pytest.mark.parametrize("options", [{}, {"kernel": "polynomial"}, {"free": True}])
@pytest.mark.parametrize("n_points", [20, 50])
def test_it_has_about_as_many_points_as_asked_for(n_points, options):
    for X, y in (
        make_sinusoidal(80, 10, random_state=0),
        make_skin_of_orange(80, 10, random_state=0),
    ):
        given = {name: value for name, value in options.items() if name != "free"}
        if "free" in options:
            given["feature_costs"] = np.r_[0.0, np.ones(X.shape[1] - 1)]
        assert abs(len(knife_path(X, y, sparsities=n_points, **given)) - n_points) <= 3


@pytest.mark.parametrize("kernel", [RBF(), Laplace(), Polynomial()])
def test_features_stay_up_to_where_the_line_of_the_objective_reaches(kernel):
    X, y = make_sinusoidal(60, 5, random_state=3)
    Z, t = (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std()
    problem, solver = ExactProblem(Z, t[:, None], kernel, SquaredLoss()), Eliminate()
    found = solver.solve(problem, scaled_weights(problem), 0.1)
    for _ in range(3):
        reach = penalty_lower_bound(problem, found, problem.null_value)
        assert reach > found.sparsity
        found = solver.solve(problem, found.without_memory(), 0.999 * reach)
        assert found.w.any()
        assert found.objective <= problem.null_value


def test_a_free_feature_stays_and_the_path_still_ends(sinusoid):
    costs = np.ones(10)
    costs[4] = 0.0
    path = knife_path(*sinusoid, feature_costs=costs, sparsities=15)
    assert len(path) < 80
    assert_array_equal(np.flatnonzero(path.weights[-1]), [4])


def test_asking_for_more_features_than_have_a_use_is_said(rng):
    X = rng.normal(size=(60, 6))
    with pytest.warns(ConvergenceWarning, match="ask for fewer features"):
        model = KnifeRegressor(kernel="laplace", n_features_to_select=5).fit(X, np.sin(X[:, 0]))
    assert np.count_nonzero(model.weights_) == 5
    assert not model.converged_
    assert_allclose(model.history_[-1], model.objective_)


def test_all_factorisations_are_counted(sinusoid):
    model = KnifeRegressor(n_features_to_select=3).fit(*sinusoid)
    assert model.n_solves_ > 50


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
        "solves",
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
    # More whole numbers than there would be classes are a number, and the result says so.
    counts = np.random.default_rng(0).poisson(30, size=80)
    assert knife_path(X, counts, sparsities=5).task == "regression"
    assert knife_path(X, counts.astype(float), sparsities=5).task == "regression"


def test_single_updates_approximate_the_path(path, sinusoid):
    quick = knife_path(*sinusoid, updates_per_point=1)
    assert set(np.argsort(quick.ranking)[:5]) == set(range(5))
    assert quick.solves.max() <= 1
    assert quick.solves.sum() < path.solves.sum()


def test_given_penalties(sinusoid):
    grid = [0.0, 1.0, 10.0]
    path = knife_path(*sinusoid, sparsities=grid)
    assert_array_equal(path.sparsities, grid)
    one = knife_path(*sinusoid, sparsities=[3.0])
    assert len(one) == 1
    assert len(knife_path(*sinusoid, sparsities=1)) == 1


def test_linear_path_follows_the_lasso():
    X, y = make_linear(80, 10, random_state=0)
    path = knife_path(X, y, kernel="linear", sparsities=30)
    assert set(np.argsort(path.ranking)[:5]) == set(range(5))
    Z, t = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    assert_allclose(path.sparsities[-1], np.max((Z.T @ t) ** 2), rtol=0.5)


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


def test_progress_is_shown_when_asked(sinusoid, capfd):
    knife_path(*sinusoid, sparsities=5)
    assert capfd.readouterr() == ("", "")
    knife_path(*sinusoid, sparsities=5, callbacks=[ProgressBar()])
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
        ({"task": "clustering"}, ValueError, "'regression' or 'classification'"),
        ({"kernel": "gauss"}, ValueError, "Unknown kernel"),
    ],
)
def test_mistakes_are_explained(options, error, words, sinusoid):
    with pytest.raises(error, match=words):
        knife_path(*sinusoid, **options)


def test_linear_paths_with_one_update_per_point_reach_the_end(rng):
    X = rng.normal(size=(200, 5))
    y = np.sin(2 * X[:, 1]) + X[:, 3] + 0.1 * rng.normal(size=200)
    full = knife_path(X, y, kernel="linear")
    quick = knife_path(X, y, kernel="linear", updates_per_point=1)
    assert quick.sparsities[-1] > 0.5 * full.sparsities[-1]


@pytest.mark.parametrize("updates", [None, 1])
def test_linear_paths_count_all_factorisations(updates, monkeypatch):
    X, y = make_linear(60, 8, random_state=0)
    counted = []
    factorize = coefficients.factorize

    def watched(*arguments):
        counted.append(1)
        return factorize(*arguments)

    monkeypatch.setattr(coefficients, "factorize", watched)
    path = knife_path(
        X, y > 0, kernel="linear", loss="logistic", updates_per_point=updates, sparsities=10
    )
    assert path.n_solves == sum(counted)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("classes", [False, True])
def test_linear_paths_of_few_updates_end_empty(seed, classes):
    X, y = make_linear(60, 8, random_state=seed)
    path = knife_path(
        X, y > 0 if classes else y, kernel="linear", updates_per_point=1, sparsities=30
    )
    assert path.n_selected[-1] == 0


def test_an_offset_of_the_columns_is_no_harm_to_the_starts():
    """The Laplace start is in single precision, which timestamps do not fit."""
    X, y = make_sinusoidal(80, 10, random_state=0)
    X[:, 5:] += 1e8
    path = knife_path(X, y, kernel="polynomial", standardize=False)
    assert path.n_selected[-1] == 0
    assert path.converged.all()


def test_linear_paths_know_features_that_cost_nothing(rng):
    z, u = rng.normal(size=(2, 100))
    X, y = np.column_stack([z, z + u]), u - z
    path = knife_path(X, y, kernel="linear", feature_costs=[0, 1], sparsities=6)
    assert path.weights[-1, 1] == 0
    assert path.weights[-2, 1] > 0
    assert (path.weights[:, 0] == 1).all()
