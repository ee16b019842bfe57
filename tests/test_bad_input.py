"""Every mistake is answered with what was expected, what came, and what to do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from kernelknife import KnifeClassifier, KnifeRegressor
from kernelknife._engine.objective.corner import refit_corner, relative_gap
from kernelknife.datasets import make_linear, make_sinusoidal, make_skin_of_orange
from kernelknife.kernels import Sigmoid
from kernelknife.losses import Hinge, SquaredHinge


@pytest.fixture
def data(rng):
    X = rng.normal(size=(30, 4))
    return X, np.sin(X[:, 0])


def test_missing_values_are_located(data):
    X, y = data
    X[3, 1] = np.nan
    X[4, 2] = np.inf
    strict = KnifeRegressor(missing="error")
    with pytest.raises(ValueError, match=r"NaN and infinity in columns 1, 2 \(2 values\)"):
        strict.fit(X, y)
    frame = pd.DataFrame(X, columns=["age", "dose", "weight", "site"])
    with pytest.raises(ValueError, match=r"columns 'dose', 'weight'.*SimpleImputer"):
        strict.fit(frame, y)
    with pytest.raises(ValueError, match=r"infinity in column 'weight' \(1 value\)"):
        KnifeRegressor().fit(frame, y)
    with pytest.raises(ValueError, match="Unknown missing 'drop'"):
        KnifeRegressor(missing="drop").fit(frame, y)


def test_missing_values_at_prediction(data):
    X, y = data
    model = KnifeRegressor(missing="error").fit(X, y)
    X[0, 3] = np.nan
    with pytest.raises(ValueError, match="NaN in column 3"):
        model.predict(X)
    X[0, 3] = np.inf
    with pytest.raises(ValueError, match="infinity in column 3"):
        KnifeRegressor().fit(X[1:], y[1:]).predict(X)


def test_texts_and_dates_are_named(data):
    X, y = data
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(kind="red")
    with pytest.raises(ValueError, match="Column 'kind' holds texts such as 'red'"):
        KnifeRegressor().fit(frame, y)
    days = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=len(y))})
    with pytest.raises(ValueError, match="Column 'when' holds dates"):
        KnifeRegressor().fit(days, y)
    model = KnifeRegressor().fit(frame[["a", "b"]].assign(kind=1.0), y)
    with pytest.raises(ValueError, match="Column 'kind' holds texts"):
        model.predict(frame)


def test_large_finite_values_are_not_taken_for_infinity(data):
    X, y = data
    X = X * 1e307
    assert np.isfinite(KnifeRegressor().fit(X, y).weights_).all()


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"kernel": "gauss"}, ValueError, "Unknown kernel 'gauss'.*rbf"),
        ({"loss": "absolute"}, ValueError, "Unknown loss 'absolute'.*huber, .*squared"),
        ({"loss": "hinge"}, ValueError, "for classification"),
        ({"loss": SquaredHinge()}, ValueError, "not for regression"),
        ({"alpha": 0.0}, ValueError, "alpha must be a number > 0, got 0.0"),
        ({"alpha": "big"}, TypeError, "alpha must be a number"),
        ({"sparsity": -1.0}, ValueError, "sparsity must be a number >= 0, got -1.0"),
        ({"sparsity": np.nan}, ValueError, "sparsity"),
        ({"solver": "newton"}, ValueError, "Unknown solver 'newton'.*alternate, eliminate"),
        ({"start": "warm"}, ValueError, "Unknown start 'warm'.*auto, scaled, laplace"),
        ({"start": 0.0}, ValueError, r"must lie in \(0, 1\]"),
        ({"start": 1.5}, ValueError, r"must lie in \(0, 1\]"),
        ({"start": [0.5, 0.5]}, ValueError, r"one weight per column \(4\)"),
        ({"n_starts": -1}, ValueError, "n_starts must be an integer >= 0"),
        ({"max_iter": 0}, ValueError, "max_iter must be an integer >= 1"),
        ({"tol": 0.0}, ValueError, "tol must be a number > 0"),
        ({"feature_groups": [0, 1]}, ValueError, "expected 4, got 2"),
        ({"feature_groups": {i: [0] for i in range(9)}}, ValueError, "9 groups for 4 columns"),
        ({"feature_groups": {"a": [7]}}, ValueError, "no such column"),
        ({"feature_groups": {"a": ["dose"]}}, ValueError, "'dose'.*no such column"),
        ({"feature_groups": {"a": [1], "b": [1]}}, ValueError, "both 'a' and 'b'"),
        ({"feature_groups": [[0, 1], [2, 3]]}, ValueError, "list of lists"),
        ({"feature_groups": {"a": 0}}, TypeError, "list of columns: write"),
        ({"feature_groups": {"a": "dose"}}, TypeError, "list of columns: write"),
        ({"feature_costs": [1.0]}, ValueError, "one number per column"),
        ({"feature_costs": [1.0, -1.0, 1.0, 1.0]}, ValueError, "finite and >= 0"),
        ({"n_features_to_select": 5}, ValueError, "more than the 4 features"),
        ({"n_features_to_select": 0}, ValueError, "n_features_to_select must be an integer >= 1"),
        ({"class_weight": "balanced"}, ValueError, "class_weight is for classifiers"),
    ],
)
def test_wrong_parameters_are_explained(params, error, words, data):
    with pytest.raises(error, match=words):
        KnifeRegressor(**params).fit(*data)


def test_constant_target(data):
    with pytest.raises(ValueError, match=r"target y is constant.*all values are 3"):
        KnifeRegressor().fit(data[0], np.full(30, 3.0))
    Y = np.column_stack([data[1], np.zeros(30)])
    with pytest.raises(ValueError, match="constant in output column 1"):
        KnifeRegressor().fit(data[0], Y)


def test_one_class_and_one_row(data):
    with pytest.raises(ValueError, match=r"one class.*'a'"):
        KnifeClassifier().fit(data[0], ["a"] * 30)
    with pytest.raises(ValueError, match="1 sample"):
        KnifeRegressor().fit(data[0][:1], data[1][:1])


def test_constant_columns_only(data):
    with pytest.raises(ValueError, match=r"All 2 column.*constant"):
        KnifeRegressor().fit(np.ones((30, 2)), data[1])


def test_sample_weights(data):
    X, y = data
    for bad, words in (
        (-np.ones(30), ">= 0"),
        (np.full(30, np.nan), "finite"),
        (np.ones(3), r"shape \(30,\)"),
        (np.zeros(30), "all zero"),
    ):
        with pytest.raises(ValueError, match=words):
            KnifeRegressor().fit(X, y, sample_weight=bad)
    alone = np.zeros(30)
    alone[:10] = 1.0
    labels = np.arange(30) >= 10
    with pytest.raises(ValueError, match="1 of 2 classes remain"):
        KnifeClassifier().fit(X, labels, sample_weight=alone)


def test_a_continuous_target_for_a_classifier(data):
    with pytest.raises(ValueError, match=r"[Uu]nknown label type"):
        KnifeClassifier().fit(*data)


def test_three_classes_for_a_binary_loss(data):
    class Binary(SquaredHinge):
        binary_only = True

    y = np.arange(30) % 3
    with pytest.raises(ValueError, match=r"two classes, got 3.*OneVsRestClassifier"):
        KnifeClassifier(loss=Binary()).fit(data[0], y)
    KnifeClassifier(loss=Binary()).fit(data[0], y == 1)


def test_hinge_without_intercept(data):
    with pytest.raises(ValueError, match="fit_intercept=True"):
        KnifeClassifier(loss="hinge", fit_intercept=False).fit(data[0], data[1] > 0)


def test_an_indefinite_kernel_says_what_to_change(rng):
    X, y = make_linear(60, 5, random_state=0)
    model = KnifeRegressor(kernel=Sigmoid(gamma=50.0, coef0=-3.0), alpha=1e-6, start=1.0)
    with pytest.raises(ValueError, match="raise alpha, or lower the kernel's gamma"):
        model.fit(X, y)


def test_huge_values_without_standardization(data):
    with pytest.raises(ValueError, match=r"overflow inside a kernel.*standardize=True"):
        KnifeRegressor(standardize=False).fit(data[0] * 1e60, data[1])


def test_huge_targets_without_standardization(data):
    with pytest.raises(ValueError, match=r"y has values up to .*overflow.*standardize=True"):
        KnifeRegressor(standardize=False).fit(data[0], data[1] * 1e60)


# Of seeds 0 to 6 the first ends at a gap of 1e-4, beyond which a fit has not converged.
@pytest.mark.parametrize("seed", [20260101, 1, 3, 4, 5, 6])
def test_a_tiny_alpha_ends_the_support_vector_model_at_its_minimum(seed):
    """SVC alone stops at its limit of steps; the duality gap measures what is left."""
    X = np.random.default_rng(seed).normal(size=(30, 4))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)[:, None]
    problem = X @ X.T, Hinge(), y, np.ones(len(X)), 1e-8, np.ones((len(X), 1))
    assert relative_gap(*problem, *refit_corner(*problem)) < 1e-6


def test_non_convergence_is_never_silent():
    X, y = make_sinusoidal(60, 5, random_state=0)
    for solver in ("eliminate", "alternate"):
        with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
            model = KnifeRegressor(solver=solver, max_iter=1).fit(X, y)
        assert not model.converged_


def test_prediction_before_fit_and_with_other_columns(data):
    with pytest.raises(NotFittedError):
        KnifeRegressor().predict(data[0])
    model = KnifeRegressor().fit(*data)
    with pytest.raises(ValueError, match="3 features"):
        model.predict(data[0][:, :3])


def test_generators_check_their_arguments():
    with pytest.raises(ValueError, match="n_samples must be an integer >= 2"):
        make_skin_of_orange(1)
    with pytest.raises(TypeError, match="n_noise must be an integer"):
        make_sinusoidal(10, 2.5)


def test_something_has_to_be_left_to_select_from(data):
    X, y = data
    with pytest.raises(ValueError, match="Every column of X that varies is adjusted for"):
        KnifeRegressor(adjust_for=list(range(X.shape[1]))).fit(X, y)


@pytest.mark.parametrize("gap", [np.nan, None])
def test_a_class_that_is_missing_is_that_of_the_target(gap):
    X = np.random.default_rng(0).normal(size=(20, 2))
    y = np.array(["a", "b"] * 10, dtype=object)
    y[3] = gap
    with pytest.raises(ValueError, match=r"y contains NaN: the target is missing in 1 of 20 rows"):
        KnifeClassifier().fit(X, y)
