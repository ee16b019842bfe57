"""What an audit found, one truth each: every test here failed when it was written."""

import array_api_strict
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.estimator_checks import check_estimator

from kernelknife import (
    KnifeClassifier,
    KnifeClassifierCV,
    KnifeRegressor,
    KnifeRegressorCV,
    knife_path,
)
from kernelknife._engine.data import RowsError
from kernelknife.kernels import RBF, Linear, Matern, Sigmoid
from kernelknife.losses import LOSSES, Loss


@pytest.fixture
def data(rng):
    X = rng.normal(size=(90, 4))
    return X, np.sin(2 * X[:, 1]) + 0.1 * rng.normal(size=90)


def test_an_index_that_pandas_saved_is_no_feature_of_a_folder(data, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    frame = frame.sort_values("y")  # an index in disorder is saved as a column
    frame.to_parquet(tmp_path / "part.parquet")
    model = KnifeRegressor(n_centers=40, sparsity=5.0).fit(tmp_path, "y")
    assert_array_equal(model.feature_names_in_, list("abcd"))
    assert_array_equal(model.get_feature_names_out(), ["b"])


def test_whole_numbers_of_many_values_are_a_number(rng):
    X = rng.normal(size=(60, 3))
    y = np.empty(60)
    y[np.argsort(X[:, 2])] = np.arange(60.0)
    assert knife_path(X, y, sparsities=3).task == "regression"


@pytest.mark.parametrize("base", [RBF, Linear])
def test_a_subclass_is_differentiated_by_its_own_slope(base, rng, central_difference):
    class Square(base):
        def profile(self, s):
            return 1.0 + s * s

        def slope(self, s, k):
            return 2.0 * s

    X, v, a = rng.normal(size=(9, 3)), rng.uniform(0.2, 0.6, size=3), rng.normal(size=9)
    kernel = Square()
    numeric = central_difference(lambda u: kernel(X, X, u) @ a, v)
    ours = kernel.jacobian(X, X, *kernel.evaluate(X, X, v), a)
    assert_allclose(ours, numeric, atol=1e-6 * np.abs(numeric).max())


def test_a_slope_of_another_profile_is_refused(data):
    class Wrong(RBF):
        def profile(self, s):
            return 1.0 / (1.0 + s)

    with pytest.raises(ValueError, match=r"slope of Wrong\(\) is not the derivative"):
        KnifeRegressor(kernel=Wrong()).fit(*data)


@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "linear", "anova"])
def test_permuting_columns_permutes_the_ranking(kernel, rng):
    X = rng.normal(size=(60, 12))
    y = np.sin(2 * X[:, 3]) + 0.5 * rng.normal(size=60)
    order = rng.permutation(12)
    # Few points, so that most features are gone at the first and only the tie-break ranks them.
    grid = [20.0, 30.0]
    plain = knife_path(X, y, kernel=kernel, sparsities=grid).ranking
    shuffled = knife_path(X[:, order], y, kernel=kernel, sparsities=grid).ranking
    assert_array_equal(shuffled, plain[order])


def test_a_refit_on_an_array_forgets_the_names_of_a_frame(data):
    X, y = data
    for model in (KnifeRegressorCV(alphas=1.0, sparsities=3, cv=2), KnifeRegressor()):
        model.fit(pd.DataFrame(X, columns=list("abcd")), y)
        assert hasattr(model, "feature_names_in_")
        model.fit(X, y)
        assert not hasattr(model, "feature_names_in_")


def test_a_scorer_without_sample_weights(data):
    X, y = data
    model = KnifeRegressorCV(alphas=1.0, sparsities=3, cv=2, scoring="neg_max_error")
    with pytest.warns(UserWarning, match="takes no sample weights"):
        model.fit(X, y, sample_weight=np.linspace(0.5, 2.0, 90))
    assert np.isfinite(model.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_stay_in_the_library_of_the_rows(n_classes, data):
    X, y = data
    codes = np.digitize(y, [0.0] if n_classes == 2 else [-0.5, 0.5])
    model = KnifeClassifier(loss="logistic", n_centers=40, sparsity=2.0).fit(X, codes)
    there = model.predict_proba(array_api_strict.asarray(X))
    assert isinstance(there, type(array_api_strict.asarray(X)))
    assert_allclose(np.asarray(there), model.predict_proba(X), atol=1e-10)


def test_a_dask_frame_with_numbers_for_names(data, monkeypatch):
    monkeypatch.setattr("kernelknife._engine.data.dask.running_client", lambda: None)
    X, y = data
    frame = dd.from_pandas(pd.DataFrame(X, columns=[10, 20, 30, 40]), npartitions=2)
    model = KnifeRegressor(n_centers=30, sparsity=5.0).fit(frame, y)
    named = pd.DataFrame(X, columns=["10", "20", "30", "40"])
    assert_allclose(model.predict(frame).compute(), model.predict(named))


def test_what_parquet_and_dask_must_not_cast(data, tmp_path, monkeypatch):
    monkeypatch.setattr("kernelknife._engine.data.dask.running_client", lambda: None)
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    frame.to_parquet(tmp_path / "numbers.parquet")
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        KnifeClassifier(n_centers=20).fit(tmp_path / "numbers.parquet", "y")
    texts = frame.assign(y=np.where(y > 0, "up", None))
    texts.to_parquet(tmp_path / "texts.parquet")
    with pytest.raises(RowsError, match="missing values"):
        KnifeClassifier(n_centers=20).fit(tmp_path / "texts.parquet", "y")
    for name, column in (
        ("dates", pd.date_range("2020", periods=90)),
        ("words", X[:, 0].astype(str)),
    ):
        frame.assign(a=column).to_parquet(tmp_path / f"{name}.parquet")
        with pytest.raises(RowsError, match=r"Column 'a' .*not numbers"):
            KnifeRegressor(n_centers=20).fit(tmp_path / f"{name}.parquet", "y")
        lazy = dd.from_pandas(frame.assign(a=column)[list("abcd")], npartitions=2)
        with pytest.raises(RowsError, match=r"Column 'a' .*not numbers"):
            KnifeRegressor(n_centers=20).fit(lazy, y)


@pytest.mark.filterwarnings("ignore:The exact method needs")
def test_over_the_budget_the_advice_can_be_followed(data):
    X, y = data
    for model, target in (
        (KnifeClassifier(loss="hinge", memory_budget=1e4), y > 0),
        (KnifeRegressor(kernel=Sigmoid(), memory_budget=1e4), y),
    ):
        with pytest.raises(ValueError, match="raise memory_budget to"):
            model.fit(X, target)
    with pytest.raises(ValueError, match="leave n_centers=None"):
        KnifeClassifier(loss="hinge", n_centers=10).fit(X, y > 0)


def test_a_random_state_gives_one_answer_for_any_number_of_workers(data):
    scores = [
        KnifeRegressorCV(
            alphas=1.0, sparsities=4, cv=2, n_starts=2, n_jobs=n_jobs,
            random_state=np.random.RandomState(0),
        ).fit(*data).cv_results_["mean_test_score"]
        for n_jobs in (1, 2)
    ]  # fmt: skip
    assert_array_equal(*scores)


def test_several_metrics_are_refused_at_once(data):
    with pytest.raises(ValueError, match="scoring must be one name or one callable"):
        KnifeRegressorCV(scoring=["r2", "neg_mean_squared_error"]).fit(*data)


def test_scikit_learns_checks_of_the_defaults_and_of_centers():
    # All kernels, but few penalties and folds: the checks fit dozens of times.
    check_estimator(KnifeClassifierCV(sparsities=4, cv=2), on_skip=None, legacy=False)
    names = ("check_fit2d_1sample", "check_fit2d_1feature")
    results = check_estimator(KnifeRegressor(n_centers=5), on_skip=None, on_fail=None)
    failed = [r["check_name"] for r in results if r["status"] == "failed"]
    assert not set(failed) & set(names)


def test_a_path_says_whose_objective_it_is(data):
    """For a loss that is not smooth the path's is the smooth one's, as its documentation says."""
    X, y = data
    path = knife_path(X, y > 0, loss="hinge", sparsities=[1.0])
    smooth = knife_path(X, y > 0, loss="huberized_hinge", sparsities=[1.0])
    assert_allclose(path.objective, smooth.objective)
    assert "smooth loss that finds the weights" in type(path).__doc__


@pytest.mark.parametrize(
    "kernel", ["rbf", "joint", "laplace", "matern", Matern(1.5), "rational_quadratic", "anova"]
)
def test_rows_far_from_all_others_have_finite_predictions(kernel, data):
    X, y = data
    model = KnifeRegressor(kernel, sparsity=1.0).fit(X, y)
    far = np.repeat(X[:1], 6, axis=0)
    far[:, 1] = [1e100, 1e154, 1e200, 1e307, 1.7e308, -1.7e308]
    predicted = model.predict(far)
    assert np.isfinite(predicted).all()
    if kernel not in ("joint", "anova"):  # which stay at their last value
        # Far from all rows nothing but the intercept is left.
        level = model.intercept_[0] * y.std() + y.mean()
        assert_allclose(predicted, level, rtol=1e-6)


def test_predictions_that_overflow_are_refused(data):
    X, y = data
    model = KnifeRegressor("polynomial", sparsity=1.0).fit(pd.DataFrame(X, columns=list("abcd")), y)
    far = pd.DataFrame(X[:3], columns=list("abcd"))
    far.loc[1, "b"] = 1e200
    with pytest.raises(ValueError, match=r"A prediction overflows: column 'b' holds 1e\+200"):
        model.predict(far)
    assert np.isfinite(model.predict(far.assign(b=1e10))).all()


@pytest.mark.parametrize("estimator", [KnifeClassifier, KnifeClassifierCV])
def test_weights_of_classes_that_do_not_exist_are_refused(estimator, data):
    X, y = data
    labels = np.where(y > 0, "up", "down")
    model = estimator(class_weight={"up": 2.0, "down": 1.0, "upp": 3.0})
    with pytest.raises(ValueError, match=r"classes that y does not have: \['upp'\]"):
        model.fit(X, labels)


def test_the_hinge_draws_nothing_from_the_global_generator(data):
    X, y = data
    np.random.seed(5)  # noqa: NPY002 - the generator in question
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    KnifeClassifier(loss="hinge", sparsity=1.0).fit(X, y > 0)
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


class Poisson(Loss):
    """What a textbook says of counts, without a word on standardization."""

    curvature_bound = np.inf

    def value(self, y, f):
        return np.exp(f) - y * f

    def gradient(self, y, f):
        return np.exp(f) - y

    def curvature(self, y, f):
        return np.exp(f)


class PoissonOfCounts(Poisson):
    scale_target = False

    def inverse_link(self, f):
        return np.exp(f)


class PoissonOfStandardized(Poisson):
    scale_target = True


@pytest.mark.parametrize("estimator", [KnifeRegressor, KnifeRegressorCV])
def test_an_own_loss_of_counts_does_not_see_standardized_ones_unasked(estimator, rng):
    X = rng.normal(size=(150, 4))
    rate = np.exp(np.sin(2 * X[:, 0]))
    y = rng.poisson(rate).astype(float)
    with pytest.raises(ValueError, match="Set scale_target = False in the class"):
        estimator(loss=Poisson()).fit(X, y)
    if estimator is KnifeRegressorCV:
        return
    predicted = estimator(loss=PoissonOfCounts(), alpha=0.3).fit(X, y).predict(X)
    assert predicted.min() > 0
    assert abs(predicted.mean() - y.mean()) < 0.05, "the mean of the counts is that of the rates"
    assert np.corrcoef(predicted, rate)[0, 1] > 0.5
    estimator(loss=Poisson(), standardize=False, alpha=0.3).fit(X, y)
    estimator(loss=PoissonOfStandardized(), alpha=0.3).fit(X, y)


REGRESSION_LOSSES = sorted(name for name, loss in LOSSES.items() if loss.task == "regression")


@pytest.mark.parametrize("name", REGRESSION_LOSSES)
def test_no_loss_of_the_package_is_refused_for_its_targets(name, rng):
    X = rng.normal(size=(40, 2))
    KnifeRegressor(loss=name).fit(X, np.round(3.0 * np.abs(X[:, 0])) + 1.0)


@pytest.mark.parametrize("unit", [2.0**400, 2.0**-400])
def test_standard_errors_have_the_unit_of_the_target(unit, data):
    """The square of an error of 1e120 is none: standard errors were infinite, or zero."""
    X, y = data
    options = {"kernel": "linear", "alphas": 1.0, "sparsities": 4, "cv": 3, "scoring": None}
    plain, scaled = (KnifeRegressorCV(**options).fit(X, y * u).cv_results_ for u in (1.0, unit))
    for name in ("mean_test_score", "standard_error", "std_test_score"):
        assert_allclose(scaled[name], plain[name] * unit**2, rtol=1e-9)


@pytest.mark.parametrize("kernel", ["additive", "anova"])
def test_rare_values_of_a_long_table_are_not_lost_by_sampling(kernel, rng):
    """2,000 rows that the functions of a column are made from may show six of its values."""
    X = rng.normal(size=(12_000, 3))
    rare = rng.random(12_000) < 0.003
    X[:, 0] = np.where(rare, 1.0 + np.abs(rng.normal(size=12_000)), 0.0)
    y = 10.0 * X[:, 0] + 0.3 * X[:, 1] + 0.1 * rng.normal(size=12_000)
    model = KnifeRegressor(kernel, alpha=0.1, sparsity=5.0, n_centers=60, random_state=0).fit(X, y)
    assert model.weights_[0] > 0
    assert model.score(X, y) > 0.9


def test_a_number_between_two_known_ones_is_predicted_between_them(rng):
    """A dose of 20.01 was none of the five known ones, and counted as the average."""
    dose = rng.choice([0.0, 5.0, 10.0, 20.0, 40.0], 200)
    X = np.c_[dose, rng.normal(size=(200, 2))]
    model = KnifeRegressor("additive", alpha=0.1).fit(X, 10.0 * np.sqrt(dose))
    at, near, between, end = model.predict(np.c_[[20.0, 20.01, 30.0, 40.0], np.zeros((4, 2))])
    assert abs(near - at) < 0.1
    assert at + 5.0 < between < end - 5.0
    beyond = model.predict(np.c_[[60.0], np.zeros((1, 2))])
    assert_allclose(beyond, end)
