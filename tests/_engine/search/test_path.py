"""Following a path: where it ends, and what it counts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Lasso

from kernelknife import KnifeClassifier, KnifeRegressor, knife_path
from kernelknife._engine.objective.factors import DenseMatrix
from kernelknife._engine.search.path import PATH, _take_back, find_last_penalty
from kernelknife.datasets import make_linear, make_separate_effects, make_sinusoidal
from kernelknife.kernels import Anova


@pytest.fixture(scope="module")
def sinusoid():
    return make_sinusoidal(100, 5, random_state=0)


@pytest.fixture(scope="module")
def path(sinusoid):
    return knife_path(*sinusoid)


def test_a_free_feature_stays_and_the_path_still_ends(sinusoid):
    costs = np.ones(10)
    costs[4] = 0.0
    path = knife_path(*sinusoid, feature_costs=costs, sparsities=15)
    assert len(path) < 80
    assert_array_equal(np.flatnonzero(path.weights[-1]), [4])


def test_a_multimodal_path_gets_a_second_chance(monkeypatch):
    """Features that small penalties have driven out come back where that lowers the objective."""
    lowered = []
    for seed in range(4):
        table = make_separate_effects(150, 14, random_state=seed)
        monkeypatch.setattr(Anova, "multimodal", True)
        second = knife_path(table.data, table.target, kernel="anova", sparsities=20)
        monkeypatch.setattr(Anova, "multimodal", False)
        first = knife_path(table.data, table.target, kernel="anova", sparsities=second.sparsities)
        chance = np.argmax(second.sparsities >= PATH.probe * 150)
        assert_allclose(second.objective[:chance], first.objective[:chance], rtol=1e-6)
        lowered.append(second.objective[chance] / first.objective[chance])
    assert max(lowered) <= 1.0 + 1e-9
    assert min(lowered) < 0.99


@pytest.mark.parametrize("kernel", ["rbf", "anova"])
@pytest.mark.parametrize("costs", [None, np.r_[0.0, np.ones(9)]])
def test_a_model_pays_up_to_the_last_penalty_and_not_beyond(sinusoid, setup_of, kernel, costs):
    setup = setup_of(KnifeRegressor(kernel=kernel, feature_costs=costs), *sinusoid)
    problem, solver = setup.problem, setup.spec.solver
    last, found = find_last_penalty(problem, solver, setup.start_settings)
    nothing = problem.null_value
    if costs is not None:
        nothing = solver.solve(problem, np.where(costs == 0, 0.5, 0.0), 1e9 * nothing).objective
    gain = nothing - problem.solve(found.w).smooth
    assert_allclose(last, gain / (problem.costs @ found.w), rtol=0.1)
    # Solved at half of it there is a model that pays, and none that pays twice as long.
    half = solver.solve(problem, found.w, 0.5 * last)
    assert half.objective < nothing
    pays_to = (nothing - problem.solve(half.w).smooth) / (problem.costs @ half.w)
    assert pays_to < 2.0 * last


def test_half_of_a_pair_takes_back_the_other_half(rng, setup_of):
    X = rng.normal(size=(200, 40))
    y = X[:, 3] * X[:, 30]
    setup = setup_of(KnifeRegressor(kernel="anova"), X, y)
    w = np.zeros(40)
    w[3] = 0.5
    half = setup.spec.solver.loosened(1e-2, 1).solve(setup.problem, w, 0.0)
    back = np.flatnonzero(_take_back(setup.problem, half))
    assert {3, 30} <= set(back)
    assert len(back) == 1 + PATH.taken_back


@pytest.mark.parametrize("alpha", [0.5, 4.0])
def test_a_linear_path_is_that_of_the_lasso(alpha):
    """Where no weight reaches 1, ``beta = w * (X'C)`` has the penalty of a lasso."""
    X, y = make_linear(80, 10, random_state=0)
    Z, t = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    path = knife_path(X, y, kernel="linear", alpha=alpha, sparsities=30, tol=1e-9)
    assert_allclose(path.sparsities[-1], np.max((Z.T @ t) ** 2) / alpha, rtol=1e-6)
    free = np.flatnonzero(path.weights.max(axis=1) < 1.0)
    assert len(free) >= 10
    for i in free:
        penalty = np.sqrt(alpha * path.sparsities[i]) / len(y)
        lasso = Lasso(penalty, fit_intercept=False, tol=1e-14, max_iter=100_000).fit(Z, t)
        model = path.model(i)
        columns = model.get_support(indices=True)
        beta = np.zeros(Z.shape[1])
        beta[columns] = model.weights_[columns] * (Z[:, columns].T @ _coefficients(model, len(y)))
        assert_allclose(beta, lasso.coef_, atol=1e-7)
        assert_array_equal(columns, np.flatnonzero(lasso.coef_))


def _coefficients(model, n_rows):
    """Return one coefficient for every row, those of rows that the model does not keep included."""
    coefficients = np.zeros(n_rows)
    coefficients[model.support_vectors_rows_] = model.dual_coef_[:, 0]
    return coefficients


def test_linear_paths_with_one_update_per_point_reach_the_end(rng):
    X = rng.normal(size=(200, 5))
    y = np.sin(2 * X[:, 1]) + X[:, 3] + 0.1 * rng.normal(size=200)
    full = knife_path(X, y, kernel="linear")
    quick = knife_path(X, y, kernel="linear", updates_per_point=1)
    assert quick.sparsities[-1] > 0.5 * full.sparsities[-1]


@pytest.fixture
def factorized(monkeypatch):
    """A list with an entry for every factorization that is made."""
    made = []
    factorize = DenseMatrix.factorize

    def watched(*arguments):
        made.append(1)
        return factorize(*arguments)

    monkeypatch.setattr(DenseMatrix, "factorize", watched)
    return made


@pytest.mark.parametrize("updates", [None, 1])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_paths_count_all_factorizations(kernel, updates, factorized):
    X, y = make_linear(60, 8, random_state=0)
    path = knife_path(
        X, y > 0, kernel=kernel, loss="logistic", updates_per_point=updates, sparsities=10
    )
    assert path.n_factorizations == len(factorized)


def test_an_exact_number_of_features_costs_the_path_that_it_is_taken_from(sinusoid, factorized):
    model = KnifeRegressor(n_features_to_select=3).fit(*sinusoid)
    assert model.n_factorizations_ == len(factorized)


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


def test_linear_paths_keep_features_that_cost_nothing(rng):
    z, u = rng.normal(size=(2, 100))
    X, y = np.column_stack([z, z + u]), u - z
    path = knife_path(X, y, kernel="linear", feature_costs=[0, 1], sparsities=6)
    assert path.weights[-1, 1] == 0
    assert path.weights[-2, 1] > 0
    assert (path.weights[:, 0] == 1).all()


@pytest.mark.parametrize("kernel", ["linear", "additive"])
@pytest.mark.parametrize("classes", [False, True])
def test_every_point_of_a_convex_path_of_many_columns_is_the_minimum_over_all(rng, kernel, classes):
    """Points are solved in some of the columns; a fit of all columns agrees at every penalty."""
    X = rng.normal(size=(40, 150))
    y = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=40)
    make = KnifeClassifier if classes else KnifeRegressor
    y = (y > 0).astype(int) if classes else y
    options = {"kernel": kernel, "alpha": 0.5, "tol": 1e-7}
    path = knife_path(X, y, **options, sparsities=8)
    checked = 0
    for i in np.flatnonzero(path.sparsities > 0)[::2]:
        cold = make(**options, sparsity=path.sparsities[i]).fit(X, y)
        assert_allclose(path.weights[i], cold.weights_, atol=2e-3)
        assert path.objective[i] == pytest.approx(cold.objective_, rel=1e-6)
        checked += bool(cold.weights_.any())
    assert checked > 1


def test_a_wide_convex_path_begins_where_no_feature_can_come_in(rng):
    """Above the penalty of the first feature, no feature may come in."""
    X = rng.normal(size=(30, 1500))
    path = knife_path(
        X,
        X[:, 0] + 0.5 * rng.normal(size=30),
        kernel="linear",
        sparsities=[1.0, 1e6, 2e6],
        feature_groups=np.arange(1500),
    )
    assert path.n_selected[0] > 0
    assert path.n_selected[-1] == 0
