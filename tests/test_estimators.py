"""Estimators as their users see them."""

import pickle
import sys

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_info

from kernelknife import KnifeClassifier, KnifeRegressor
from kernelknife._utils.versions import HAS_CALLBACKS
from kernelknife.datasets import make_sinusoidal, make_skin_of_orange
from kernelknife.kernels import KERNELS, RBF, Polynomial
from kernelknife.losses import LOSSES


@pytest.fixture(scope="module")
def orange():
    return make_skin_of_orange(100, 6, random_state=0)


@pytest.fixture(scope="module")
def sinusoid():
    return make_sinusoidal(100, 5, random_state=0)


# -- the answer ----------------------------------------------------------------------------


def test_regression_finds_the_true_features_and_predicts(sinusoid):
    model = KnifeRegressor(sparsity=5.0).fit(*sinusoid)
    assert_array_equal(model.get_support(indices=True), range(5))
    X, y = make_sinusoidal(1000, 5, random_state=1)
    assert model.score(X, y) > 0.85
    assert model.transform(X).shape == (1000, 5)


@pytest.mark.parametrize("loss", [name for name, c in LOSSES.items() if c.task != "regression"])
@pytest.mark.parametrize("kernel", ["rbf", Polynomial(degree=2)])
def test_classification_finds_the_skin_of_the_orange(orange, loss, kernel):
    model = KnifeClassifier(kernel=kernel, loss=loss, sparsity=4.0, alpha=0.3).fit(*orange)
    assert set(range(4)) >= set(np.argsort(-model.weights_)[:3])
    X, y = make_skin_of_orange(1000, 6, random_state=1)
    assert model.score(X, y) > 0.85


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_every_kernel_fits_a_smooth_function(kernel, sinusoid):
    model = KnifeRegressor(kernel=kernel, sparsity=2.0).fit(*sinusoid)
    assert model.converged_
    assert {0, 1, 2} <= set(model.get_support(indices=True))
    assert model.score(*sinusoid) > 0.5


def test_a_pure_interaction_among_many(rng):
    X = rng.uniform(-1, 1, size=(200, 100))
    model = KnifeClassifier(sparsity=10.0).fit(X, X[:, 3] * X[:, 50] > 0)
    assert_array_equal(model.get_support(indices=True), [3, 50])


def test_huber_loss_shrugs_off_outliers(sinusoid):
    X, y = sinusoid[0], sinusoid[1].copy()
    y[::17] += 200.0
    clean_X, clean_y = make_sinusoidal(500, 5, random_state=7)
    robust = KnifeRegressor(loss="huber", sparsity=1.0, alpha=0.1).fit(X, y)
    plain = KnifeRegressor(sparsity=1.0, alpha=0.1).fit(X, y)
    assert robust.score(clean_X, clean_y) > plain.score(clean_X, clean_y) + 0.2


# -- oracles at the level of the user ------------------------------------------------------


def test_predictions_are_kernel_ridge_on_the_weighted_columns(sinusoid):
    X, y = sinusoid
    model = KnifeRegressor(sparsity=3.0, standardize=False, fit_intercept=False).fit(X, y)
    oracle = KernelRidge(alpha=1.0, kernel="rbf", gamma=1.0).fit(X * model.weights_, y)
    assert_allclose(model.predict(X), oracle.predict(X * model.weights_), atol=1e-6)


def test_hinge_predictions_are_svc_on_the_weighted_columns(orange):
    X, y = orange
    model = KnifeClassifier(loss="hinge", sparsity=3.0, standardize=False, alpha=0.5).fit(X, y)
    oracle = SVC(C=1.0, gamma=1.0, tol=1e-10).fit(X * model.weights_, y)
    scores = oracle.decision_function(X * model.weights_)
    assert_allclose(model.decision_function(X), scores, atol=1e-6)
    assert_array_equal(model.support_vectors_rows_, np.sort(oracle.support_))


# -- invariances ---------------------------------------------------------------------------


def test_units_do_not_matter(sinusoid):
    X, y = sinusoid
    plain = KnifeRegressor(sparsity=3.0).fit(X, y)
    for scale in (1000.0, 1e300, 1e-300):
        scaled = KnifeRegressor(sparsity=3.0).fit(X, y * (scale / 100))
        assert_allclose(scaled.weights_, plain.weights_, atol=1e-7)
        assert_allclose(scaled.predict(X), plain.predict(X) * (scale / 100), rtol=1e-5)
    units = np.array([1e300, 1e-300, 1e6, 1e-6, 1, 1, 1e3, 1e30, 1e-30, 2])
    moved = KnifeRegressor(sparsity=3.0).fit(X * units, y)
    assert_allclose(moved.weights_, plain.weights_, atol=1e-7)
    assert_allclose(moved.predict(X * units), plain.predict(X), atol=1e-5)


def test_permutations_permute_the_answer(sinusoid, rng):
    X, y = sinusoid
    rows, columns = rng.permutation(100), rng.permutation(10)
    plain = KnifeRegressor(sparsity=3.0).fit(X, y)
    shuffled = KnifeRegressor(sparsity=3.0).fit(X[np.ix_(rows, columns)], y[rows])
    assert_allclose(shuffled.weights_, plain.weights_[columns], atol=1e-6)
    assert_allclose(shuffled.predict(X[:, columns]), plain.predict(X), atol=1e-5)


def test_integer_sample_weights_are_repeated_rows(orange, rng):
    X, y = orange
    repeats = rng.integers(0, 3, size=100)
    weighted = KnifeClassifier(sparsity=2.0).fit(X, y, sample_weight=repeats)
    repeated = KnifeClassifier(sparsity=2.0).fit(X.repeat(repeats, axis=0), y.repeat(repeats))
    assert_allclose(weighted.weights_, repeated.weights_, atol=1e-6)
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-5)


def test_constant_and_duplicated_columns(sinusoid):
    X, y = sinusoid
    plain = KnifeRegressor(sparsity=3.0).fit(X, y)
    wider = np.column_stack([np.full(100, 7.0), X, np.zeros(100), X[:, 0]])
    model = KnifeRegressor(sparsity=3.0).fit(wider, y)
    assert model.weights_[0] == model.weights_[11] == 0.0
    assert model.weights_[1] + model.weights_[12] > 0
    assert model.score(wider, y) > plain.score(X, y) - 0.05


@pytest.mark.parametrize("convert", [np.float32, np.asfortranarray, "read-only", list])
def test_kinds_of_input_agree(convert, orange):
    X, y = orange
    expected = KnifeClassifier(sparsity=3.0).fit(X.astype(np.float32), y).weights_
    if convert == "read-only":
        data = X.astype(np.float32)
        data.setflags(write=False)
    elif convert is list:
        data = X.astype(np.float32).tolist()
    else:
        data = convert(X.astype(np.float32))
    assert_allclose(KnifeClassifier(sparsity=3.0).fit(data, y).weights_, expected, atol=1e-8)


def test_integer_features(rng):
    X = rng.integers(0, 5, size=(80, 6))
    model = KnifeRegressor(sparsity=2.0).fit(X, (X[:, 1] - 2) ** 2)
    assert_array_equal(model.get_support(indices=True), [1])


def test_a_sparse_matrix_is_taken_as_an_array(orange):
    X, y = orange
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    model = KnifeClassifier(sparsity=3.0).fit(sparse.csr_array(X), y)
    dense = KnifeClassifier(sparsity=3.0).fit(X, y)
    assert_array_equal(model.weights_, dense.weights_)
    assert_array_equal(model.predict(sparse.csc_matrix(X)), dense.predict(X))
    with pytest.raises(ValueError, match="raise memory_budget"):
        KnifeClassifier(memory_budget=1000).fit(sparse.csr_array(X), y)


def test_class_weights_are_sample_weights(orange):
    X, y = orange
    keep = np.flatnonzero((y == 1) | (np.arange(len(y)) % 4 == 0))
    X, y = X[keep], y[keep]
    options = {"sparsity": 3.0}
    s = np.where(y == 1, len(y) / (2 * (y == 1).sum()), len(y) / (2 * (y == 0).sum()))
    expected = KnifeClassifier(**options).fit(X, y, s)
    model = KnifeClassifier(class_weight="balanced", **options).fit(X, y)
    assert_allclose(model.decision_function(X), expected.decision_function(X))
    given = KnifeClassifier(class_weight={0: 3.0}, **options).fit(X, y, np.full(len(y), 2.0))
    expected = KnifeClassifier(**options).fit(X, y, np.where(y == 0, 6.0, 2.0))
    assert_allclose(given.decision_function(X), expected.decision_function(X))


# -- several outputs, several classes ------------------------------------------------------


def test_several_outputs_share_one_weight_vector(rng):
    X = rng.normal(size=(120, 8))
    Y = np.column_stack([np.sin(2 * X[:, 1]), X[:, 4] ** 2, 1000 * X[:, 1] * X[:, 4]])
    model = KnifeRegressor(sparsity=5.0, alpha=0.1).fit(X, Y)
    assert_array_equal(model.get_support(indices=True), [1, 4])
    assert model.predict(X).shape == (120, 3)
    assert model.score(X, Y) > 0.8


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "hinge"])
def test_several_classes_share_one_weight_vector(loss, rng):
    X = rng.normal(size=(150, 7))
    radius = np.hypot(X[:, 2], X[:, 5])
    y = np.array(["core", "ring", "shell"])[np.digitize(radius, [0.8, 1.5])]
    model = KnifeClassifier(loss=loss, sparsity=30.0, alpha=0.3).fit(X, y)
    assert set(np.argsort(-model.weights_)[:2]) == {2, 5}
    assert np.count_nonzero(model.weights_) <= 4
    assert model.decision_function(X).shape == (150, 3)
    assert model.score(X, y) > 0.85
    if loss == "logistic":
        proba = model.predict_proba(X)
        assert_allclose(proba.sum(axis=1), 1.0)
        assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))


def test_only_the_logistic_loss_has_probabilities(orange):
    X, y = orange
    model = KnifeClassifier(loss="logistic", sparsity=1.0, alpha=0.1).fit(X, y)
    proba = model.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1.0)
    assert_array_equal(proba[:, 1] > 0.5, model.decision_function(X) > 0)
    model = KnifeClassifier(sparsity=3.0).fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(
        AttributeError,
        match=r"predict_proba needs loss=.logistic. or probability=.sigmoid.: SquaredHinge",
    ):
        model.predict_proba(X)


# -- groups and costs ----------------------------------------------------------------------


def test_groups_stand_or_fall_together(rng):
    color, number = rng.integers(0, 4, size=150), rng.normal(size=(150, 3))
    hot = OneHotEncoder(sparse_output=False).fit_transform(color[:, None])
    other = OneHotEncoder(sparse_output=False).fit_transform(rng.integers(0, 3, size=(150, 1)))
    X = np.hstack([hot, number, other])
    y = np.where(color == 2, np.sin(2 * number[:, 0]), number[:, 0])
    labels = ["color"] * 4 + ["a", "b", "c"] + ["other"] * 3
    model = KnifeRegressor(sparsity=2.0, alpha=0.1, feature_groups=labels).fit(X, y)
    assert len(set(model.weights_[:4])) == 1
    assert model.weights_[0] > 0
    assert model.weights_[4] > 0
    assert_allclose(model.weights_[5:], 0.0)
    named = {"color": [0, 1, 2, 3], "other": [7, 8, 9]}
    again = KnifeRegressor(sparsity=2.0, alpha=0.1, feature_groups=named).fit(X, y)
    assert_allclose(again.weights_, model.weights_)


def test_groups_by_column_names(rng):
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    model = KnifeRegressor(feature_groups={"pair": ["a", "c"]}, sparsity=2.0)
    model.fit(frame, np.sin(frame["a"]))
    assert model.weights_[0] == model.weights_[2] > 0


def test_costs_steer_between_equal_features(rng):
    x = rng.normal(size=(100, 1))
    X = np.hstack([x, x, rng.normal(size=(100, 3))])
    y = np.sin(2 * x[:, 0])
    for cheap in (0, 1):
        costs = np.ones(5)
        costs[1 - cheap] = 10.0
        model = KnifeRegressor(sparsity=2.0, feature_costs=costs).fit(X, y)
        assert_array_equal(model.get_support(indices=True), [cheap])


# -- starts, parallelism, reproducibility --------------------------------------------------


def test_the_answer_does_not_depend_on_n_jobs(orange):
    X, y = orange
    fits = [
        KnifeClassifier(n_starts=4, sparsity=2.0, random_state=0, n_jobs=jobs).fit(X, y)
        for jobs in (1, 2)
    ]
    assert_array_equal(fits[1].weights_, fits[0].weights_)
    assert_array_equal(fits[1].dual_coef_, fits[0].dual_coef_)


def test_threads_may_share_a_problem(orange):
    X, y = orange
    alone = KnifeClassifier(n_starts=4, sparsity=2.0, random_state=0, n_jobs=1).fit(X, y)
    before = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with joblib.parallel_config(backend="threading"):
            threads = KnifeClassifier(n_starts=4, sparsity=2.0, random_state=0, n_jobs=4)
            threads.fit(X, y)
    finally:
        sys.setswitchinterval(interval)
    assert_array_equal(threads.weights_, alone.weights_)
    after = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    assert after == before


# -- fitted state --------------------------------------------------------------------------


def test_the_objective_is_that_of_the_returned_model(sinusoid):
    X, y = sinusoid
    model = KnifeRegressor(sparsity=3.0).fit(X, y)
    residual = (y - model.predict(X)) / y.std()
    Z = ((X - X.mean(axis=0)) / X.std(axis=0))[:, model.get_support()]
    K = RBF()(Z, Z, model.weights_[model.get_support()] ** 2)
    norm = model.dual_coef_[:, 0] @ K @ model.dual_coef_[:, 0]
    assert_allclose(model.objective_, residual @ residual + norm + 3.0 * model.weights_.sum())
    assert_allclose(model.history_[-1], model.objective_)
    assert np.all(np.diff(model.history_) <= 0)
    assert_allclose(model.objective_, min(history[-1] for _, history in model.starts_))


def test_state_is_sparse_in_rows_and_columns(orange):
    X, y = orange
    model = KnifeClassifier(sparsity=4.0).fit(X, y)
    margin = (2 * y - 1) * model.decision_function(X)
    rows = model.support_vectors_rows_
    assert_array_equal(rows, np.flatnonzero(margin < 1))
    assert model.support_vectors_.shape == (len(rows), model.get_support().sum())
    # Nothing but the selected columns is looked at.
    Z = X.copy()
    Z[:, ~model.get_support()] = 1e9
    assert_allclose(model.decision_function(Z), model.decision_function(X))
    assert len(pickle.dumps(model)) < 40_000, "no matrix of all rows is kept"


def test_a_fit_that_did_not_converge_warns_the_caller(sinusoid):
    with pytest.warns(ConvergenceWarning, match="KnifeRegressor did not converge") as seen:
        model = KnifeRegressor(sparsity=3.0, max_iter=1, start="scaled").fit(*sinusoid)
    assert not model.converged_
    assert "max_iter reached" in str(seen[0].message)
    assert "raise max_iter or tol" in str(seen[0].message)
    if HAS_CALLBACKS:  # without, one frame less lies between
        assert seen[0].filename == __file__


def test_an_estimator_takes_over_the_columns_of_its_data(sinusoid):
    X, y = sinusoid
    model = KnifeRegressor(sparsity=5.0, feature_groups={"pair": [1, 2]})
    model.fit(pd.DataFrame(X[:, :3], columns=list("abc")), y)
    assert list(model.feature_names_in_) == list("abc")
    assert model.feature_groups_ == {"a": ["a"], "pair": ["b", "c"]}
    model.set_params(feature_groups=None).fit(X, y)
    assert model.n_features_in_ == X.shape[1]
    for name in ("feature_names_in_", "feature_groups_"):
        assert not hasattr(model, name), "what an earlier fit has left"


def test_pickle_and_clone(orange):
    X, y = orange
    model = KnifeClassifier(kernel=Polynomial(degree=3), sparsity=4.0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert clone(model).get_params()["kernel__degree"] == 3


def test_prediction_in_blocks_is_prediction(sinusoid, monkeypatch):
    model = KnifeRegressor(sparsity=3.0).fit(*sinusoid)
    whole = model.predict(sinusoid[0])
    monkeypatch.setattr("kernelknife._engine.data.arrays.ArrayRows.rows_per_block", lambda *_: 7)
    assert_allclose(model.predict(sinusoid[0]), whole, rtol=1e-12)


# -- citizenship ---------------------------------------------------------------------------


def test_data_frames_in_and_out(sinusoid):
    X, y = sinusoid
    names = [f"x{j}" for j in range(10)]
    for frame, output in (
        (pd.DataFrame(X, columns=names), "pandas"),
        (pl.DataFrame(X, schema=names), "polars"),
    ):
        model = KnifeRegressor(sparsity=5.0).set_output(transform=output).fit(frame, y)
        assert list(model.feature_names_in_) == names
        assert list(model.transform(frame).columns) == names[:5]
        assert list(model.get_feature_names_out()) == names[:5]


def test_grid_search_over_kernel_parameters_and_losses(orange):
    X, y = orange
    grid = {"knifeclassifier__kernel__gamma": [0.5, 1.0], "knifeclassifier__sparsity": [1.0, 5.0]}
    pipe = make_pipeline(StandardScaler(), KnifeClassifier(kernel=RBF()))
    search = GridSearchCV(pipe, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.75
    search = GridSearchCV(
        KnifeClassifier(sparsity=3.0),
        {"kernel": ["rbf", Polynomial()], "loss": ["squared_hinge", "logistic"]},
        cv=3,
    )
    assert search.fit(X, y).best_score_ > 0.75


def test_select_from_model_and_selector_in_a_pipeline(sinusoid):
    X, y = sinusoid
    chosen = SelectFromModel(KnifeRegressor(sparsity=5.0), threshold=1e-12).fit(X, y)
    assert_array_equal(chosen.get_support(indices=True), range(5))
    pipe = make_pipeline(KnifeRegressor(sparsity=5.0), KernelRidge(kernel="rbf", gamma=0.2))
    assert cross_val_score(pipe, X, y, cv=3).mean() > 0.5


def test_progress_bar_and_silence(sinusoid, capfd, callbacks):
    model = KnifeRegressor(sparsity=5.0)
    model.fit(*sinusoid)
    assert capfd.readouterr() == ("", "")
    shown = KnifeRegressor(sparsity=5.0).set_callbacks(callbacks.ProgressBar()).fit(*sinusoid)
    assert "KnifeRegressor" in capfd.readouterr().out
    assert_array_equal(shown.weights_, model.weights_)


@pytest.mark.usefixtures("callbacks")
def test_a_callback_can_stop_the_fit(sinusoid):
    class Stop:
        def __init__(self, after):
            self.after, self.seen = after, 0

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            self.seen += context.task_name == "iteration"
            return self.seen >= self.after

    model = KnifeRegressor(sparsity=5.0, start="scaled")
    watch, stop = Stop(after=np.inf), Stop(after=3)
    to_the_end = clone(model).set_callbacks(watch).fit(*sinusoid)
    assert to_the_end.n_iter_ == watch.seen > 3
    with pytest.warns(ConvergenceWarning, match="stopped by callback"):
        model.set_callbacks(stop).fit(*sinusoid)
    assert stop.seen == 3, "it is asked before every step"
    # The result is that of the last step, on the way to the other.
    assert_allclose(model.history_, to_the_end.history_[: stop.seen])
    assert to_the_end.objective_ < model.objective_


def test_many_genes_few_samples(rng):
    X = rng.normal(size=(60, 20_000))
    y = X[:, 5] + X[:, 17] > 0
    for kernel in ("linear", "rbf"):
        model = KnifeClassifier(kernel=kernel, sparsity=10.0).fit(X, y)
        assert 0 < model.get_support().sum() < 60
        assert model.score(X, y) > 0.9


def test_an_unknown_loss_has_no_probabilities_and_is_refused_by_a_fit():
    model = KnifeClassifier(loss="typo")
    assert not hasattr(model, "predict_proba")
    with pytest.raises(ValueError, match="typo"):
        model.fit([[0.0], [1.0], [2.0]], [0, 1, 1])
