"""A fit: from a specification and data to a solution, a path and a fitted model."""

import warnings
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from kernelknife import KnifeClassifier, KnifeRegressor, knife_path
from kernelknife._engine import (
    FitSpec,
    check_count,
    find_start,
    finish,
    fit,
    follow,
    or_empty,
    prepare_arrays,
    prepare_data,
    set_up,
    solve_count,
    warn_not_converged,
)
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.objective import null_objective
from kernelknife._engine.search import fixed_weights
from kernelknife._engine.solvers import Outcome
from kernelknife.datasets import make_sinusoidal, make_skin_of_orange


@pytest.fixture(scope="module")
def orange():
    return make_skin_of_orange(100, 6, random_state=0)


@pytest.fixture(scope="module")
def sinusoid():
    return make_sinusoidal(100, 5, random_state=0)


def fit_of(estimator, X, y, sample_weight=None):
    spec = FitSpec.from_estimator(estimator)
    return fit(spec, prepare_arrays(spec, X, y, sample_weight))


def some_weights(setup):
    return np.linspace(0.1, 0.9, setup.problem.n_weights)


# -- data -----------------------------------------------------------------------------------------


def test_weights_of_classes_are_weights_of_rows(orange):
    X, y = orange
    keep = np.flatnonzero((y == 1) | (np.arange(len(y)) % 4 == 0))
    X, y = X[keep], y[keep]
    assert np.mean(y) != 0.5, "otherwise classes are balanced already"
    balanced = FitSpec.from_estimator(KnifeClassifier(class_weight="balanced"))
    plain = replace(balanced, class_weight=None)
    s = np.where(y == 1, len(y) / (2 * (y == 1).sum()), len(y) / (2 * (y == 0).sum()))
    for given in (None, np.full(len(y), 2.0)):
        ours = set_up(balanced, prepare_arrays(balanced, X, y, given))
        theirs = set_up(plain, prepare_arrays(plain, X, y, s if given is None else 2.0 * s))
        assert_allclose(ours.problem.sample_weight, theirs.problem.sample_weight)


@pytest.mark.parametrize("estimator", [KnifeRegressor("additive"), KnifeClassifier(n_centers=20)])
def test_data_without_a_target_become_a_problem(estimator, orange):
    """Components have no target before they have found one, and need the kernel of the rows."""
    X = orange[0]
    spec = FitSpec.from_estimator(estimator)
    for data in (prepare_arrays(spec, X), prepare_data(spec, ArrayRows(X))):
        assert data.targets.n_outputs == 0
        assert data.n_features == X.shape[1]
        setup = set_up(spec, data)
        assert setup.problem.n_outputs == 0
        assert setup.problem.n_weights == X.shape[1]
        assert len(setup.center_rows) == len(setup.problem.centers)


@pytest.mark.parametrize("options", [{}, {"n_centers": 30}, {"kernel": "anova"}], ids=repr)
def test_targets_that_come_later_make_the_same_problem(options, sinusoid, rng, setup_of):
    X, U = sinusoid[0], rng.normal(size=(100, 2))
    U = (U - U.mean(axis=0)) / U.std(axis=0)
    estimator = KnifeRegressor(**options)
    later, at_once = setup_of(estimator, X).with_targets(U), setup_of(estimator, X, U)
    assert later.problem.n_outputs == 2
    w = some_weights(later)
    ours, theirs = later.problem.solve(w), at_once.problem.solve(w)
    assert_allclose(ours.smooth, theirs.smooth, rtol=1e-9)
    # Scores are their own predictions, in their own units.
    model = finish(later, fixed_weights(later.problem, w)).model
    expected = finish(at_once, fixed_weights(at_once.problem, w)).model
    assert_allclose(model.predict(ArrayRows(X)), expected.predict(ArrayRows(X)), atol=1e-8)


# -- a setup --------------------------------------------------------------------------------------


def test_another_alpha_gives_the_problem_that_is_set_up_with_it(orange, setup_of):
    changed = setup_of(KnifeClassifier(alpha=1.0), *orange).with_alpha(0.1)
    direct = setup_of(KnifeClassifier(alpha=0.1), *orange)
    assert changed.spec.alpha == 0.1
    w = some_weights(direct)
    assert_allclose(changed.problem.solve(w).smooth, direct.problem.solve(w).smooth)


def test_other_options_of_the_search_leave_the_problem_as_it_is(orange, setup_of):
    setup = setup_of(KnifeClassifier(), *orange)
    changed = setup.with_spec(start="scaled", n_features_to_select=2)
    assert changed.problem is setup.problem
    assert changed.start_settings.start == "scaled"
    with pytest.raises(FrozenInstanceError):
        setup.problem = None
    with pytest.raises(ValueError, match="n_starts must be an integer >= 0"):
        setup.with_spec(n_starts=-1)


def test_given_starting_weights_become_those_of_the_groups(sinusoid, setup_of):
    labels = [0, 0, *range(1, 9)]
    start = np.array([0.2, 0.4, *np.full(8, 0.5)])
    setup = setup_of(KnifeRegressor(start=start, feature_groups=labels), *sinusoid)
    assert_allclose(setup.start_settings.start, [0.3, *np.full(8, 0.5)])
    everywhere = setup_of(KnifeRegressor(start=0.3), *sinusoid).start_settings.start
    assert_allclose(everywhere, np.full(10, 0.3))


@pytest.mark.parametrize("start", ["auto", "scaled", "laplace", 0.3, np.linspace(0.1, 1, 10)])
def test_every_start_finds_the_strongest_features(start, sinusoid):
    result = fit_of(KnifeRegressor(start=start, sparsity=5.0), *sinusoid)
    assert {0, 1, 2} <= set(np.flatnonzero(result.weights))


def test_auto_sparsity_is_in_proportion_to_the_rows(sinusoid, setup_of):
    X, y = sinusoid
    setup = setup_of(KnifeRegressor(sparsity="auto"), X, y)
    assert setup.sparsity == pytest.approx(0.05 * len(X))
    # Every row twice means the same as every row with weight two.
    twice = setup_of(KnifeRegressor(sparsity="auto"), X, y, np.full(len(X), 2.0))
    assert twice.sparsity == pytest.approx(2.0 * setup.sparsity)
    # Twice the loss with twice both penalties is the same model.
    plain = fit_of(KnifeRegressor(sparsity="auto"), X, y)
    doubled = fit_of(KnifeRegressor(sparsity="auto", alpha=2.0), X, y, np.full(len(X), 2.0))
    assert_allclose(doubled.weights, plain.weights, atol=1e-5)


def test_auto_sparsity_of_a_convex_kernel_grows_with_the_columns(sinusoid, setup_of):
    setup = setup_of(KnifeRegressor("linear", sparsity="auto", alpha=0.5), *sinusoid)
    assert setup.sparsity == pytest.approx(100 * np.log(10) / 0.5)


# -- a fit ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{"sparsity": 4.0}, {"n_features_to_select": 3}, {"learn_weights": False}, {"relax": True}],
    ids=repr,
)
def test_an_estimator_fits_what_the_engine_fits(options, sinusoid):
    model = KnifeRegressor(**options).fit(*sinusoid)
    result = fit_of(KnifeRegressor(**options), *sinusoid)
    assert_array_equal(result.weights, model.weights_)
    assert_array_equal(result.model.predict(ArrayRows(sinusoid[0])), model.predict(sinusoid[0]))
    assert [name for name, _ in result.starts] == [name for name, _ in model.starts_]
    assert result.objective == model.objective_
    assert result.n_factorizations == model.n_factorizations_


def test_the_best_start_is_kept(orange):
    result = fit_of(KnifeClassifier(n_starts=5, sparsity=2.0, random_state=0), *orange)
    names = [name for name, _ in result.starts]
    assert names == ["scaled", "laplace", *(f"random {i}" for i in range(1, 6))]
    lowest = min(solution.objective for _, solution in result.starts)
    assert result.solution.objective == lowest
    single = fit_of(KnifeClassifier(sparsity=2.0), *orange)
    assert result.objective <= single.objective * (1 + 1e-9)


def test_the_objective_is_recomputed_from_the_model(sinusoid):
    result = fit_of(KnifeRegressor(sparsity=3.0), *sinusoid)
    assert_allclose(result.objective, result.solution.objective, rtol=1e-9)
    assert result.converged


def test_the_hinge_has_an_objective_of_its_own(orange):
    """Its weights are found with a smooth loss; coefficients and objective are those of SVC."""
    result = fit_of(KnifeClassifier(loss="hinge", sparsity=3.0), *orange)
    X, y = orange
    scores = result.model.scores(ArrayRows(X))[:, 0]
    hinge = np.maximum(0.0, 1.0 - np.where(y, 1.0, -1.0) * scores).sum()
    assert 0 < hinge < result.objective
    assert result.objective != pytest.approx(result.solution.objective, rel=1e-6)


def test_a_relaxed_solution_names_the_penalty_that_selected_it(sinusoid):
    plain = fit_of(KnifeRegressor(sparsity=4.0), *sinusoid).solution
    relaxed = fit_of(KnifeRegressor(sparsity=4.0, relax=True), *sinusoid).solution
    assert relaxed.sparsity == plain.sparsity == 4.0
    assert_array_equal(relaxed.w > 0, plain.w > 0)
    assert relaxed.loss < plain.loss
    assert relaxed.n_factorizations > plain.n_factorizations


def test_fresh_centers_are_in_the_geometry_of_the_weights(sinusoid):
    options = {"n_centers": 20, "sparsity": 3.0, "random_state": 0}
    plain = fit_of(KnifeRegressor(**options), *sinusoid)
    fresh = fit_of(KnifeRegressor(refresh_centers=True, **options), *sinusoid)
    assert len(fresh.setup.center_rows) == 20
    assert set(fresh.setup.center_rows) != set(plain.setup.center_rows)
    assert fresh.converged


@pytest.mark.parametrize(("groups", "n_weights"), [(None, 10), ([0, 0, *range(1, 9)], 9)])
def test_more_features_than_there_are_cannot_be_asked_for(groups, n_weights, sinusoid):
    model = KnifeRegressor(n_features_to_select=11, feature_groups=groups)
    with pytest.raises(ValueError, match=rf"=11 is more than the {n_weights} features \(or groups"):
        fit_of(model, *sinusoid)


def test_the_count_is_checked_with_words_for_the_place(sinusoid, setup_of):
    problem = setup_of(KnifeRegressor(), *sinusoid).problem
    check_count(None, problem)
    check_count(10, problem)
    with pytest.raises(ValueError, match=r"not constant on the training rows\.$"):
        check_count(11, problem, " on the training rows")


# -- the empty model ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def noise():
    rng = np.random.default_rng(3)
    return rng.normal(size=(60, 4)), rng.normal(size=60)


def null_of(setup):
    problem = setup.problem
    loss = setup.spec.loss
    risk = loss.bind(problem.Y, problem.sample_weight, problem.n_outputs)
    ones = np.ones((problem.n_rows, int(problem.fit_intercept)))
    return null_objective(risk, problem.n_outputs, ones, loss.constant_curvature)


@pytest.mark.parametrize(
    "estimator",
    [KnifeRegressor(), KnifeClassifier("polynomial"), KnifeClassifier(loss="hinge")],
    ids=repr,
)
def test_the_empty_model_is_kept_where_its_objective_is_lower(estimator, noise, setup_of):
    X, y = noise
    setup = setup_of(estimator, X, y > 0 if isinstance(estimator, KnifeClassifier) else y)
    found = fixed_weights(setup.problem, np.full(4, 0.3))
    null = null_of(setup)
    assert or_empty(setup, found, 0.5 * null) is found
    empty = or_empty(setup, found, 1.5 * null)
    assert not empty.w.any()
    assert empty.converged
    result = finish(setup, empty)
    assert result.objective == pytest.approx(null, rel=1e-6)
    assert len(np.unique(result.model.predict(ArrayRows(X)))) == 1
    assert or_empty(setup, empty, np.inf) is empty, "it is empty already"


def test_a_convex_problem_is_at_its_minimum_whatever_the_empty_model_has(noise, setup_of):
    setup = setup_of(KnifeRegressor("linear"), *noise)
    found = fixed_weights(setup.problem, np.full(4, 0.3))
    assert or_empty(setup, found, np.inf) is found


@pytest.mark.parametrize("loss", ["squared_hinge", "huberized_hinge", "hinge"])
@pytest.mark.parametrize("sparsity", [0.3, 3.0, 30.0])
def test_no_fit_ends_above_the_empty_model(loss, sparsity, noise):
    X, y = noise
    y = y > np.quantile(
        y, 0.8
    )  # a rare class: the smooth loss prefers models that the hinge does not
    result = fit_of(KnifeClassifier(loss=loss, sparsity=sparsity), X, y)
    assert result.objective <= null_of(result.setup) * (1 + 1e-6)


def test_a_model_that_the_smooth_loss_alone_likes_is_not_kept():
    """The smooth loss keeps features of noise; under the hinge, the empty model is the better."""
    dropped = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 3)), rng.permutation(np.arange(40) < 8)
        result = fit_of(KnifeClassifier(loss="hinge", sparsity=0.5), X, y)
        smooth = min((start for _, start in result.starts), key=lambda start: start.objective)
        dropped += smooth.w.any() and not result.solution.w.any()
        assert result.objective <= null_of(result.setup) * (1 + 1e-6)
    assert dropped, "otherwise there was nothing to decide"


# -- a path ---------------------------------------------------------------------------------------


def test_a_path_of_the_engine_is_that_of_knife_path(sinusoid, setup_of):
    grid = np.geomspace(1.0, 30.0, 4)
    trace = follow(setup_of(KnifeRegressor(), *sinusoid), grid)
    path = knife_path(*sinusoid, sparsities=grid)
    assert_allclose([point.w for point in trace.points], path.weights)


def test_a_path_begins_where_it_is_told_to(sinusoid, setup_of):
    setup = setup_of(KnifeRegressor(), *sinusoid)
    trace = follow(setup, 6)
    start = find_start(setup)
    assert start.name == trace.start
    known = replace(start, factorizations=0)  # those that it took to find it
    again = follow(setup, trace.points[-1].sparsity * np.linspace(0, 1, 6), begin=known)
    alone = follow(setup, trace.points[-1].sparsity * np.linspace(0, 1, 6))
    assert_allclose([p.w for p in again.points], [p.w for p in alone.points], atol=1e-8)
    assert again.n_factorizations < alone.n_factorizations, "nothing is spent on other starts"
    single = setup.with_spec(start="scaled")
    assert find_start(single).name == "scaled"


def test_an_exact_number_of_features_comes_off_a_path(sinusoid, setup_of):
    setup = setup_of(KnifeRegressor(n_features_to_select=3), *sinusoid)
    solution = solve_count(setup, follow(setup))
    assert np.count_nonzero(solution.w) == 3
    assert_array_equal(solution.w, fit(setup.spec, setup.data).solution.w)


# -- what has not converged -----------------------------------------------------------------------


def test_a_warning_is_about_the_worst_solution_and_its_advice_fits(sinusoid, setup_of):
    setup = setup_of(KnifeRegressor(), *sinusoid)
    solution = fixed_weights(setup.problem, np.full(10, 0.2))
    better = replace(solution, kkt_residual=1e-3, outcome=Outcome.ITERATIONS)
    worse = replace(solution, kkt_residual=2e-2, outcome=Outcome.TOO_FEW)
    with pytest.warns(ConvergenceWarning, match="The model did not converge") as seen:
        warn_not_converged("The model", [better, worse])
    assert "KKT residual 2.0e-02" in str(seen[0].message)
    assert str(seen[0].message).endswith("ask for fewer features.")
    assert seen[0].filename == __file__


def test_inaccurate_coefficients_are_named_before_weights_that_have_converged(sinusoid):
    result = fit_of(KnifeRegressor(sparsity=3.0), *sinusoid)
    inaccurate = replace(result, accurate=False)
    assert result.solution.converged
    assert not inaccurate.converged
    with pytest.warns(ConvergenceWarning, match="coefficients did not reach") as seen:
        inaccurate.warn_not_converged("KnifeRegressor")
    assert seen[0].filename == __file__


def test_a_solver_that_is_stopped_early_says_so(sinusoid):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = fit_of(KnifeRegressor(sparsity=3.0, max_iter=1, start="scaled"), *sinusoid)
    assert not result.converged
    with pytest.warns(ConvergenceWarning, match="max_iter reached.*raise max_iter or tol"):
        result.warn_not_converged("KnifeRegressor")


def test_a_fit_adjusts_for_columns_and_predicts_with_them(rng):
    X = rng.normal(size=(150, 6))
    y = np.sin(2 * X[:, 0]) + 3.0 * X[:, 4] - 2.0 * X[:, 5] + 0.05 * rng.normal(size=150)
    names = np.array(list("abcdef"), dtype=object)
    spec = replace(FitSpec.from_estimator(KnifeRegressor(sparsity=2.0)), adjust_for=["e", "f"])
    for n_centers in (None, 60):
        result = fit(replace(spec, n_centers=n_centers), prepare_arrays(spec, X, y, names=names))
        assert np.flatnonzero(result.weights).tolist() == [0]
        model = result.model
        assert_allclose(model.predict(ArrayRows(X)), y, atol=0.5)
        slopes = model.adjusted_coef[:, 0] / model.adjusted.scale * model.targets.scale
        assert_allclose(slopes, [3.0, -2.0], atol=0.1)
        # A prediction depends on its own row alone, and what is adjusted for counts in it.
        moved = X[:5] + np.array([0, 0, 0, 0, 1.0, 0])
        change = model.predict(ArrayRows(moved)) - model.predict(ArrayRows(X[:5]))
        assert_allclose(change, slopes[0])


def test_an_offset_of_a_fit_shifts_its_targets(rng):
    X = rng.normal(size=(100, 4))
    y, offset = np.sin(2 * X[:, 0]), 5.0 * rng.normal(size=100)
    spec = FitSpec.from_estimator(KnifeRegressor(sparsity=1.0, standardize=False))
    plain = fit(spec, prepare_arrays(spec, X, y))
    spec = replace(spec, offset=True)
    known = fit(spec, prepare_arrays(spec, X, np.column_stack([y + offset, offset])))
    assert_allclose(known.weights, plain.weights, atol=1e-6)
    predicted = known.model.predict(ArrayRows(X), offset)
    assert_allclose(predicted, plain.model.predict(ArrayRows(X)) + offset, atol=1e-5)
