"""Calibrated selections: what is permuted, where noise leaves, and what is found."""

from dataclasses import replace

import joblib
import numpy as np
import pytest
from scipy.stats import binom

from kernelknife import (
    KnifeClassifier,
    KnifeClassifierCV,
    KnifeRegressor,
    KnifeRegressorCV,
    knife_path,
)
from kernelknife._engine import FitSpec, prepare_arrays, set_up
from kernelknife._engine.data import Sample
from kernelknife._error_rates import calibrate, calibrate_jointly, check_level
from kernelknife._error_rates.null_targets import Exchange, draw_around_model
from kernelknife.datasets import make_skin_of_orange
from kernelknife.losses import QuantileLoss, SquaredLoss


def pairs(s, n=300, p=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, 10 * np.abs(X[:, 0:s:2] - X[:, 1:s:2]).sum(axis=1) + rng.normal(size=n)


def noise(n=80, p=10, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.normal(size=n)


def setup_of(estimator, X, y, sample_weight=None):
    spec = FitSpec.from_estimator(estimator)
    return set_up(spec, prepare_arrays(spec, X, y, sample_weight))


# -- which rows exchange their targets ------------------------------------------------------------


def sample(Y, s=None):
    return Sample(np.zeros((len(Y), 1)), Y, np.ones(len(Y)) if s is None else s)


def test_a_permutation_keeps_every_target_and_every_row_whole(rng):
    Y = rng.normal(size=(30, 3))
    permuted = Exchange.of(sample(Y), None, None).permute(Y, rng)
    assert not np.array_equal(permuted, Y)
    assert sorted(map(tuple, permuted)) == sorted(map(tuple, Y))


def test_rows_exchange_targets_within_their_stratum_only(rng):
    strata = rng.integers(3, size=60)
    Y = strata[:, None] + rng.uniform(0, 0.5, size=(60, 1))
    permuted = Exchange.of(sample(Y), strata, None).permute(Y, rng)
    np.testing.assert_array_equal(np.floor(permuted[:, 0]), strata)
    assert not np.array_equal(permuted, Y)


def test_targets_that_vary_inside_groups_are_exchanged_there(rng):
    groups = np.repeat(np.arange(10), 5)
    Y = 10.0 * groups[:, None] + rng.uniform(size=(50, 1))
    permuted = Exchange.of(sample(Y), None, groups).permute(Y, rng)
    np.testing.assert_array_equal(permuted[:, 0] // 10, groups)
    assert not np.array_equal(permuted, Y)


def test_groups_of_one_target_exchange_it_as_a_whole(rng):
    groups = np.repeat(np.arange(8), [2, 5, 3, 4, 2, 6, 3, 5])
    Y = np.where(groups % 2, 1.0, -1.0)[:, None]
    exchange = Exchange.of(sample(Y), None, groups)
    permuted = [exchange.permute(Y, rng)[:, 0] for _ in range(5)]
    for one in permuted:
        assert all(len(np.unique(one[groups == g])) == 1 for g in range(8))
        assert sum(one[groups == g][0] for g in range(8)) == 0
    assert any(not np.array_equal(one, Y[:, 0]) for one in permuted)


def test_rows_of_weight_zero_lend_their_target_to_no_row_that_counts(rng):
    Y = np.arange(20.0)[:, None]
    s = np.where(np.arange(20) < 12, 1.0, 0.0)
    permuted = Exchange.of(sample(Y, s), None, None).permute(Y, rng)
    assert set(permuted[:12, 0]) == set(range(12))


# -- levels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_permutations", "level", "most"), [(19, 0.05, 0), (20, 0.05, 0), (39, 0.05, 1), (9, 0.1, 0)]
)
def test_so_many_permutations_may_be_as_strong_as_a_selected_column(n_permutations, level, most):
    assert check_level(n_permutations, level) == most
    assert (
        (1 + most) / (n_permutations + 1) <= level * (1 + 1e-9) < (2 + most) / (n_permutations + 1)
    )


def test_too_few_permutations_are_refused_with_the_number_that_is_needed():
    with pytest.raises(ValueError, match="use at least 19 permutations"):
        KnifeRegressor(sparsity="calibrated", n_permutations=10).fit(*noise())


def test_a_number_of_features_and_a_calibration_are_refused():
    with pytest.raises(ValueError, match="leave out n_features_to_select"):
        KnifeRegressor(sparsity="calibrated", n_features_to_select=2).fit(*noise())


# -- strengths ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "additive"])
def test_noise_of_a_convex_kernel_has_the_penalty_at_which_its_first_column_enters(kernel):
    X, y = noise()
    found = calibrate(setup_of(KnifeRegressor(kernel=kernel), X, y), n_permutations=19, seed=3)
    setup = setup_of(KnifeRegressor(kernel=kernel, tol=1e-8), X, y)
    below = setup.spec.solver.solve(setup.problem, np.full(10, 0.1), 0.97 * found.strengths.max())
    above = setup.spec.solver.solve(setup.problem, np.full(10, 0.1), 1.01 * found.strengths.max())
    assert below.w.any()
    assert not above.w.any()
    above = (found.nulls >= found.strengths.max()).sum()
    assert found.p_value == (1 + above) / 20


def test_a_model_without_columns_needs_no_factorization(capfd):
    """LAPACK wrote about matrices without rows, to the terminal itself."""
    calibrate(setup_of(KnifeRegressor(kernel="additive"), *noise(200)), n_permutations=19)
    assert capfd.readouterr() == ("", "")


def test_p_values_under_noise_are_small_as_rarely_as_they_claim():
    rejected = 0
    for seed in range(200):
        setup = setup_of(KnifeRegressor(kernel="linear"), *noise(40, 5, seed))
        rejected += calibrate(setup, n_permutations=19, seed=seed).p_value <= 0.05
    assert binom.cdf(rejected, 200, 0.05) > 0.001
    assert binom.sf(rejected - 1, 200, 0.05) > 0.001


def test_p_values_of_several_kernels_together_are_small_as_rarely_as_they_claim():
    found = 0
    for seed in range(80):
        X, y = noise(40, 5, seed)
        setups = [
            setup_of(KnifeRegressor(kernel=kernel), X, y) for kernel in ("linear", "additive")
        ]
        joint = calibrate_jointly(setups, n_permutations=19, seed=seed)
        found += any(one.selected.any() for one in joint)
    assert binom.sf(found - 1, 80, 0.05) > 0.001


@pytest.mark.parametrize("kernel", ["rbf", "anova", "additive"])
def test_exactly_the_planted_columns_are_selected(kernel):
    X, y = pairs(4)
    model = KnifeRegressor(kernel=kernel, sparsity="calibrated", relax=True).fit(X, y)
    np.testing.assert_array_equal(np.flatnonzero(model.get_support()), np.arange(4))
    assert model.p_value_ == pytest.approx(1 / 21)
    assert (model.adjusted_p_values_[:4] <= 0.05).all()
    assert (model.adjusted_p_values_[4:] > 0.05).all()
    assert len(model.null_sparsities_) == 20
    assert model.n_steps_ >= 1
    assert model.score(X, y) > 0.3


def test_a_step_down_finds_what_the_first_step_misses():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 60))
    y = 3 * X[:, 0] + 0.35 * X[:, 1] + 0.5 * rng.normal(size=400)
    setup = setup_of(KnifeRegressor(kernel="linear"), X, y)
    found = calibrate(setup, seed=0)
    np.testing.assert_array_equal(np.flatnonzero(found.selected), [0, 1])
    assert found.n_steps >= 2
    # Alone, the first step does not reach the second column.
    assert found.nulls.max() > found.strengths[1]


def test_noise_selects_nothing_and_the_model_is_a_constant():
    X, y = noise(seed=1)
    model = KnifeRegressor(kernel="additive", sparsity="calibrated").fit(X, y)
    assert not model.get_support().any()
    assert model.p_value_ > 0.05
    np.testing.assert_allclose(model.predict(X), y.mean())


def test_classes_are_drawn_from_probabilities_and_found():
    X, y = make_skin_of_orange(200, 6, random_state=0)
    model = KnifeClassifier("anova", sparsity="calibrated", relax=True).fit(
        X, np.array(list("ab"))[y]
    )
    np.testing.assert_array_equal(np.flatnonzero(model.get_support()), np.arange(4))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_drawn_labels_follow_the_model(n_classes, rng):
    X = rng.normal(size=(300, 4))
    y = np.digitize(X[:, 0], [-0.5, 0.5][: n_classes - 1])
    setup = setup_of(KnifeClassifier("linear"), X, y)
    Y = setup.data.rows.y
    kept = np.array([True, False, False, False])
    draw = draw_around_model(setup, kept, Exchange.of(sample(Y), None, None), None)
    drawn = [draw(np.random.default_rng(i))[0] for i in range(20)]
    assert all(set(np.unique(one)) == {-1.0, 1.0} and one.shape == Y.shape for one in drawn)
    agree = np.mean([(one == Y).all(axis=1).mean() for one in drawn])
    assert 0.5 < agree < 0.98


def test_residuals_of_numbers_are_those_of_rows_that_the_model_has_not_seen():
    X, y = pairs(2, n=120, p=5)
    setup = setup_of(KnifeRegressor("rbf"), X, y)
    Y, kept = setup.data.rows.y, np.array([True, True, False, False, False])
    draw = draw_around_model(setup, kept, Exchange.of(sample(Y), None, None), None)
    drawn, s = draw(np.random.default_rng(0))
    assert np.corrcoef(drawn[:, 0], Y[:, 0])[0, 1] > 0.8
    np.testing.assert_array_equal(s, 1.0)


def test_what_a_count_leaves_unexplained_is_no_count():
    class Raw(SquaredLoss):
        scale_target = False

    X, y = noise()
    setup = setup_of(KnifeRegressor("linear", loss=Raw()), X, y)
    everything = np.ones(10, dtype=bool)
    exchange = Exchange.of(sample(setup.data.rows.y), None, None)
    assert draw_around_model(setup, everything, exchange, None) is None


# -- what must not matter, and what must ----------------------------------------------------------


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_the_answer_does_not_depend_on_workers(backend):
    X, y = pairs(2, n=80, p=6)
    alone = KnifeRegressor("rbf", sparsity="calibrated").fit(X, y)
    with joblib.parallel_config(backend=backend):
        many = KnifeRegressor("rbf", sparsity="calibrated", n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(alone.null_sparsities_, many.null_sparsities_)
    np.testing.assert_array_equal(alone.weights_, many.weights_)


def test_columns_of_a_group_are_selected_as_one():
    X, y = pairs(2, p=8)
    labels = [0, 0, 1, 1, 2, 2, 3, 3]
    model = KnifeRegressor("rbf", sparsity="calibrated", feature_groups=labels).fit(X, y)
    np.testing.assert_array_equal(np.flatnonzero(model.get_support()), [0, 1])
    assert len(np.unique(model.adjusted_p_values_[:2])) == 1


def test_constant_columns_have_no_p_value_below_one():
    X, y = pairs(2, p=6)
    X[:, 5] = 1.0
    model = KnifeRegressor("additive", sparsity="calibrated").fit(X, y)
    assert model.adjusted_p_values_[5] == 1.0


def test_columns_that_cost_nothing_stay_and_are_not_judged():
    X, y = pairs(2, p=6)
    costs = np.array([1.0, 1, 1, 1, 1, 0])
    model = KnifeRegressor("rbf", sparsity="calibrated", feature_costs=costs).fit(X, y)
    assert np.isnan(model.adjusted_p_values_[5])
    assert model.get_support()[:2].all()


def test_rows_of_weight_zero_do_not_matter():
    X, y = pairs(2, n=100, p=6)
    s = np.where(np.arange(100) < 80, 1.0, 0.0)
    other = np.where(s > 0, y, 1e3)
    options = {"kernel": "additive", "sparsity": "calibrated"}
    one = KnifeRegressor(**options).fit(X, y, sample_weight=s)
    two = KnifeRegressor(**options).fit(X, other, sample_weight=s)
    np.testing.assert_allclose(one.null_sparsities_, two.null_sparsities_)
    np.testing.assert_array_equal(one.get_support(), two.get_support())


def test_several_targets_are_permuted_together():
    X, y = pairs(2, n=150, p=8)
    both = np.column_stack([y, np.sin(2 * X[:, 3])])
    model = KnifeRegressor("additive", sparsity="calibrated").fit(X, both)
    np.testing.assert_array_equal(np.flatnonzero(model.get_support()), [0, 1, 3])


def test_balanced_classes_keep_their_weights():
    X, y = make_skin_of_orange(200, 6, random_state=0)
    rare = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:25]])
    model = KnifeClassifier("anova", sparsity="calibrated", class_weight="balanced")
    assert model.fit(X[rare], y[rare]).null_sparsities_.min() > 0


def test_a_path_is_calibrated_as_a_fit_is():
    X, y = pairs(2, n=120, p=6)
    found = knife_path(X, y, kernel="rbf").calibrate(random_state=0)
    model = KnifeRegressor("rbf", sparsity="calibrated", random_state=0).fit(X, y)
    np.testing.assert_array_equal(found.support, model.get_support())
    np.testing.assert_array_equal(found.model.get_support(), found.support)
    assert found.n_paths >= 21
    assert knife_path(X, y, kernel="linear", sparsities=3).calibrate(alpha=3.0).model.alpha == 3.0
    assert found.strengths[:2].min() > found.sparsity >= found.null_sparsities.max()


def test_groups_with_one_target_each_need_whole_groups():
    """Two hundred rows of twenty patients: a column that marks patients is no finding."""
    selected = [0, 0]
    for seed in range(10):
        rng = np.random.default_rng(seed)
        patients = np.repeat(np.arange(20), 10)
        y = rng.normal(size=20)[patients]
        X = rng.normal(size=(20, 5))[patients] + 0.1 * rng.normal(size=(200, 5))
        path = knife_path(X, y, kernel="linear", sparsities=3)
        selected[0] += path.calibrate(groups=patients).support.any()
        selected[1] += path.calibrate().support.any()
    assert selected[0] <= 2
    assert selected[1] >= 8


def test_marks_of_other_rows_are_refused():
    path = knife_path(*noise(), kernel="linear", sparsities=3)
    with pytest.raises(ValueError, match="strata must have shape"):
        path.calibrate(strata=np.zeros(3))


def test_lazy_rows_are_refused_with_advice(tmp_path):
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    X, y = noise()
    path = tmp_path / "rows.parquet"
    pandas.DataFrame(X).add_prefix("x").assign(y=y).to_parquet(path)
    with pytest.raises(ValueError, match="needs all rows in memory"):
        KnifeRegressor("linear", sparsity="calibrated", n_centers=20).fit(str(path), "y")


def test_a_refit_forgets_an_earlier_calibration():
    X, y = noise()
    model = KnifeRegressor("linear", sparsity="calibrated").fit(X, y)
    assert hasattr(model, "p_value_")
    assert not hasattr(model.set_params(sparsity=1.0).fit(X, y), "p_value_")


def test_the_specification_says_whether_it_is_calibrated():
    spec = FitSpec.from_estimator(KnifeRegressor(sparsity="calibrated"))
    assert spec.calibrated
    assert not replace(spec, sparsity=1.0).calibrated


# -- in cross-validation --------------------------------------------------------------------------


def test_folds_choose_the_kernel_and_permutations_the_columns():
    X, y = pairs(4, n=200, p=12)
    search = KnifeRegressorCV(["linear", "anova"], rule="calibrated", cv=3).fit(X, y)
    assert search.kernel_name_ == "anova"
    assert search.weighting_ == "relaxed"
    np.testing.assert_array_equal(np.flatnonzero(search.get_support()), np.arange(4))
    assert search.p_value_ == pytest.approx(1 / 21)
    assert set(search.cv_results_["alpha"]) == {0.1, 1.0, 10.0}
    assert search.choices_ == {"calibrated": search.best_index_}
    assert search.selection_frequency_[:4].mean() > 0.5
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


def test_nested_scores_are_of_columns_that_the_fold_itself_selects():
    """Of noise, columns that all rows select would seem to predict."""
    X, y = noise(60, 30, 3)
    search = KnifeRegressorCV("linear", rule="calibrated", level=0.9, cv=3).fit(X, y)
    if search.get_support().any():
        assert search.nested_scores_.mean() < search.best_score_
    assert len(search.nested_scores_) == 3


def test_a_calibrated_search_that_finds_nothing_predicts_the_mean():
    X, y = noise(seed=2)
    search = KnifeRegressorCV(["linear", "additive"], rule="calibrated", cv=3).fit(X, y)
    assert not search.get_support().any()
    np.testing.assert_allclose(search.predict(X), y.mean())


def test_groups_of_rows_stay_together_in_a_calibrated_search():
    rng = np.random.default_rng(0)
    patients = np.repeat(np.arange(20), 5)
    y = (rng.normal(size=20) > 0)[patients].astype(int)
    X = rng.normal(size=(20, 5))[patients] + 0.1 * rng.normal(size=(100, 5))
    X[:, 0] = y + 0.1 * rng.normal(size=100)
    search = KnifeClassifierCV("linear", rule="calibrated").fit(X, y, groups=patients)
    assert search.get_support()[0]
    assert search.score(X, y) == 1.0


def test_a_search_inside_every_fold_is_calibrated_too():
    X, y = pairs(2, n=90, p=5)
    search = KnifeRegressorCV("additive", rule="calibrated", nested="full", cv=3).fit(X, y)
    assert np.isfinite(search.nested_scores_).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [({"n_features_to_select": 2}, "leave out n_features"), ({"n_permutations": 5}, "at least 19")],
)
def test_a_calibrated_search_refuses_what_contradicts_it(options, message):
    with pytest.raises(ValueError, match=message):
        KnifeRegressorCV("linear", rule="calibrated", **options).fit(*noise())


# -- columns that are adjusted for, and offsets ---------------------------------------------------


def adjusted_setup(estimator, X, y, columns):
    spec = replace(FitSpec.from_estimator(estimator), adjust_for=columns)
    return set_up(spec, prepare_arrays(spec, X, y))


@pytest.mark.parametrize("task", ["numbers", "classes"])
def test_what_adjusted_columns_explain_is_no_finding(task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    X[:, 1] += 2 * X[:, 0]
    y = 2 * X[:, 0] + X[:, 5] + rng.normal(size=200)
    if task == "numbers":
        estimator = KnifeRegressor("linear")
    else:
        estimator, y = KnifeClassifier("linear", loss="logistic"), (y > 0).astype(int)
    plain = calibrate(setup_of(estimator, X, y), seed=0)
    assert plain.p_values[0] <= 0.05
    setup = adjusted_setup(estimator, X, y, [0])
    found = calibrate(setup, seed=0)
    selected = setup.data.user_values(found.selected)
    np.testing.assert_array_equal(np.flatnonzero(selected), [5])


def test_p_values_beside_adjusted_columns_are_small_as_rarely_as_they_claim():
    rejected = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 5))
        X[:, 1:] += X[:, [0]]
        setup = adjusted_setup(KnifeRegressor("linear"), X, X[:, 0] + rng.normal(size=60), [0])
        rejected += calibrate(setup, n_permutations=19, seed=seed).p_value <= 0.05
    assert binom.sf(rejected - 1, 100, 0.05) > 0.001


def test_adjusted_columns_need_something_that_rows_can_exchange():
    class Raw(SquaredLoss):
        scale_target = False

    X, y = noise()
    setup = adjusted_setup(KnifeRegressor("linear", loss=Raw()), X, y, [0])
    with pytest.raises(ValueError, match="leave out adjust_for"):
        calibrate(setup)


def test_an_offset_moves_with_its_target():
    rng = np.random.default_rng(0)
    X, offset = rng.normal(size=(100, 6)), rng.normal(size=100)
    y = offset + X[:, 2]
    spec = replace(FitSpec.from_estimator(KnifeRegressor("linear")), offset=True)
    setup = set_up(spec, prepare_arrays(spec, X, np.column_stack([y, offset])))
    found = calibrate(setup, seed=0)
    np.testing.assert_array_equal(np.flatnonzero(found.selected), [2])


def test_labels_and_quantiles_have_the_first_step_alone(rng):
    X = rng.normal(size=(120, 5))
    y = np.sin(2 * X[:, 0]) + X[:, 3]
    labels = np.column_stack([y > 0, X[:, 1] > 0]).astype(int)
    options = {"sparsity": "calibrated", "random_state": 0}
    several = KnifeClassifier("additive", **options).fit(X, labels)
    assert set(several.get_support(indices=True)) <= {0, 1, 3}
    assert several.p_value_ <= 0.05
    quantiles = KnifeRegressor("additive", QuantileLoss((0.1, 0.9)), **options).fit(X, y)
    assert set(quantiles.get_support(indices=True)) <= {0, 3}
    assert quantiles.p_value_ <= 0.05
    assert several.n_steps_ == quantiles.n_steps_ == 1


def test_targets_of_rows_in_time_move_together():
    Y = np.arange(30.0)[:, None]
    exchange = Exchange.of(sample(Y), None, None, blocks=5)
    for seed in range(20):
        moved = exchange.permute(Y, np.random.default_rng(seed))[:, 0]
        by = int(moved[0] - Y[0, 0]) % 30
        assert 5 <= by <= 25
        np.testing.assert_array_equal(moved, (np.arange(30) + by) % 30)
    with pytest.raises(ValueError, match="by groups or by blocks"):
        Exchange.of(sample(Y), None, np.arange(30) // 3, blocks=5)


def test_independent_series_look_related_unless_they_are_moved_as_a_whole():
    found = {None: 0, 10: 0}
    for seed in range(6):
        series = np.random.default_rng(seed).normal(size=(200, 5))
        for i in range(1, len(series)):
            series[i] += 0.9 * series[i - 1]
        path = knife_path(series[:, :4], series[:, 4], kernel="linear", sparsities=10)
        for blocks in found:
            found[blocks] += path.calibrate(blocks=blocks, alpha=0.1).p_value <= 0.05
    assert found[None] >= 4
    assert found[10] <= 1
