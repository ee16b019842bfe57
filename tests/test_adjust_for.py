"""Columns that are adjusted for, and columns that are always kept."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.compose import make_column_selector

from kernelknife import (
    KnifeClassifier,
    KnifeClassifierCV,
    KnifeKnockoffs,
    KnifeRegressor,
    KnifeRegressorCV,
    KnifeStability,
    knife_path,
)
from kernelknife.kernels import RBF


@pytest.fixture
def confounded(rng):
    """A strong batch effect, shifted noise columns 2 to 7, and an age that does nothing."""
    X = rng.normal(size=(160, 10))
    batch = rng.integers(0, 2, size=160)
    X[:, 2:8] += 2.0 * batch[:, None]
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 4.0 * batch + 0.3 * rng.normal(size=160)
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(10)])
    return frame.assign(batch=batch, age=rng.normal(size=160)), y


def projected(Z, A):
    """Return what a regression on columns and a constant leaves of others."""
    U = np.column_stack([np.ones(len(Z)), Z])
    return A - U @ np.linalg.lstsq(U, A, rcond=None)[0]


def test_adjusting_is_partialling_out_for_squared_loss(confounded):
    """With K fixed, the fit is ridge regression with everything projected off the columns."""
    frame, y = confounded
    w = np.full(12, 0.2)
    model = KnifeRegressor(
        RBF(), learn_weights=False, start=w, adjust_for=["batch", "age"], standardize=True
    ).fit(frame, y)
    X = frame.iloc[:, :10].to_numpy()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    K = RBF()(Z, Z, w[:10] ** 2)
    U = np.column_stack([np.ones(160), frame[["batch", "age"]]])
    M = np.eye(160) - U @ np.linalg.pinv(U)
    # The coefficients are orthogonal to the columns: c = (M K M + I)^-1 M y.
    c = M @ np.linalg.solve(M @ K @ M + np.eye(160), M @ y)
    b = np.linalg.lstsq(U, y - K @ c - c, rcond=None)[0]
    assert_allclose(model.predict(frame), K @ c + U @ b, atol=1e-8)


def test_adjusted_logistic_scores_are_those_of_a_general_minimizer(confounded):
    frame, y = confounded
    y = y > np.median(y)
    w = np.full(12, 0.3)
    model = KnifeClassifier(
        RBF(), "logistic", learn_weights=False, start=w, adjust_for="batch", tol=1e-10
    ).fit(frame, y)
    X = frame.drop(columns="batch").to_numpy()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    K = RBF()(Z, Z, w[:11] ** 2) + 1e-10 * np.eye(160)
    root = np.linalg.cholesky(K)
    U, sign = np.column_stack([np.ones(160), frame["batch"]]), np.where(y, 1.0, -1.0)

    def objective(theta):
        f = root @ theta[:160] + U @ theta[160:]
        p = -sign / (1.0 + np.exp(sign * f))
        slope = np.concatenate([root.T @ p + 2.0 * theta[:160], U.T @ p])
        return np.logaddexp(0.0, -sign * f).sum() + theta[:160] @ theta[:160], slope

    found = minimize(objective, np.zeros(162), jac=True, method="L-BFGS-B", tol=1e-14,
                     options={"maxiter": 5000, "maxfun": 50000})  # fmt: skip
    scores = root @ found.x[:160] + U @ found.x[160:]
    assert_allclose(model.decision_function(frame), scores, atol=2e-3)


@pytest.mark.parametrize("kernel", ["linear", "additive", "rbf"])
def test_a_batch_effect_is_no_reason_to_select_what_it_shifts(kernel, confounded):
    frame, y = confounded
    plain = knife_path(frame.drop(columns="batch"), y, kernel=kernel)
    assert np.isin(np.argsort(plain.ranking)[:2], range(2, 8)).any()
    adjusted = knife_path(frame, y, kernel=kernel, adjust_for=["batch"])
    found = set(np.argsort(adjusted.ranking)[:2].tolist())
    assert found == ({1} | found if kernel == "linear" else {0, 1})
    assert not found & set(range(2, 8)) or kernel == "linear"
    assert (adjusted.weights[:, 10] == 0).all()


def test_a_search_adjusts_in_every_fold(confounded):
    frame, y = confounded
    search = KnifeRegressorCV(["linear", "additive"], alphas=[1.0], cv=3, adjust_for="batch")
    search.fit(frame, y)
    assert {0, 1} <= set(search.get_support(indices=True))
    assert not set(search.get_support(indices=True)) & set(range(2, 8))
    assert search.nested_scores_.mean() > -0.5
    numbers = search.__class__(**{**search.get_params(), "adjust_for": [10]})
    assert_array_equal(numbers.fit(frame.to_numpy(), y).weights_, search.weights_)


def test_levels_that_add_up_to_one_are_no_trouble(confounded):
    frame, y = confounded
    both = frame.assign(other=1 - frame["batch"])
    for options in ({}, {"n_centers": 60}):
        once = KnifeRegressor(sparsity=5.0, adjust_for=["batch"], **options).fit(frame, y)
        twice = KnifeRegressor(sparsity=5.0, adjust_for=["batch", "other"], **options).fit(both, y)
        assert_allclose(once.predict(frame), twice.predict(both), atol=2e-2)


def test_effects_name_what_is_adjusted_for(confounded):
    frame, y = confounded
    frame = frame.assign(age=frame["age"].where(frame["age"] < 1.0))
    model = KnifeRegressor("additive", sparsity=5.0, adjust_for=["batch", "age"]).fit(frame, y)
    constant, effects = model.effect_values(frame)
    assert_allclose(constant + sum(effects.values()), model.predict(frame)[:, None], atol=1e-8)
    assert effects["batch",].std() > 1.0
    assert model.adjusted_coef_.shape == (3, 1)


@pytest.mark.parametrize("kernel", ["linear", "additive", "rbf", "anova", "laplace"])
@pytest.mark.parametrize("solver", ["eliminate", "alternate"])
def test_kept_columns_are_in_every_point_of_a_path(kernel, solver, confounded):
    frame, y = confounded
    points = 12 if solver == "eliminate" else [0.0, 10.0, 1000.0]
    options = {} if solver == "eliminate" else {"max_iter": 50}
    path = knife_path(
        frame.iloc[:60], y[:60], kernel=kernel, solver=solver, sparsities=points,
        always_keep=["age"], updates_per_point=5 if solver == "alternate" else None, **options,
    )  # fmt: skip
    assert (path.weights[:, 11] > 0).all()
    assert path.ranking[11] == 1


def test_the_weight_of_a_kept_column_is_learned(rng):
    X = rng.normal(size=(150, 6))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=150)
    model = KnifeRegressor(sparsity=3.0, always_keep=[0, 4]).fit(X, y)
    assert_array_equal(model.get_support(indices=True), [0, 4])
    assert model.weights_[0] > 10 * model.weights_[4] > 0
    assert model.converged_


def test_kept_columns_count_among_an_exact_number(confounded):
    frame, y = confounded
    model = KnifeRegressor(n_features_to_select=3, always_keep=["age"], adjust_for=["batch"])
    assert_array_equal(model.fit(frame, y).get_support(indices=True), [0, 1, 11])
    with pytest.raises(ValueError, match="is less than the 2 features"):
        KnifeRegressor(n_features_to_select=1, always_keep=["age", "g9"]).fit(frame, y)


def test_a_group_is_kept_with_any_of_its_columns(rng):
    X = rng.normal(size=(100, 5))
    model = KnifeRegressor(sparsity=50.0, feature_groups=[0, 1, 1, 2, 3], always_keep=[1])
    weights = model.fit(X, X[:, 0]).weights_
    assert weights[1] == weights[2] > 0


def test_columns_are_chosen_by_a_function_of_the_frame(confounded):
    frame, y = confounded
    frame = frame.astype({"batch": "int8"})
    selector = make_column_selector(dtype_include="int8")
    chosen = KnifeRegressor(sparsity=5.0, adjust_for=selector).fit(frame, y)
    named = KnifeRegressor(sparsity=5.0, adjust_for=["batch"]).fit(frame, y)
    assert_array_equal(chosen.weights_, named.weights_)
    with pytest.raises(TypeError, match="function of a data frame"):
        KnifeRegressor(adjust_for=selector).fit(frame.to_numpy(), y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"adjust_for": ["batch"], "always_keep": ["batch"]}, "in always_keep and in adjust_for"),
        ({"adjust_for": ["bach"]}, "adjust_for names columns that X does not have: 'bach'"),
        ({"always_keep": [99]}, "asks for column 99, X has 12"),
        ({"always_keep": []}, "must name at least one column"),
        ({"adjust_for": list(range(12))}, "nothing to select from"),
        ({"adjust_for": [True, False]}, "mask of 2 columns"),
        ({"adjust_for": ["batch"], "loss": "squared"}, None),
    ],
)
def test_bad_requests_get_a_sentence(options, words, confounded):
    frame, y = confounded
    if words is None:
        KnifeRegressor(sparsity=5.0, **options).fit(frame, y)
        return
    with pytest.raises(ValueError, match=words):
        KnifeRegressor(**options).fit(frame, y)


def test_constant_columns_are_neither_kept_nor_adjusted_for(confounded):
    frame, y = confounded
    model = KnifeRegressor(sparsity=5.0, always_keep=["one"], adjust_for=["two"])
    frame = frame.assign(one=1.0, two=2.0)
    words = "always_keep names columns that are constant, or gaps alone, .* no weight: 'one'"
    with pytest.warns(UserWarning, match=words):
        model.fit(frame, y)
    assert not model.weights_[12:].any()
    assert not hasattr(model, "adjusted_coef_")
    with pytest.warns(UserWarning, match=words):
        KnifeRegressorCV("linear", alphas=[1.0], cv=3, always_keep=["one"]).fit(frame, y)


def test_as_many_adjusted_columns_as_rows_are_refused(rng):
    X = rng.normal(size=(30, 40))
    with pytest.raises(ValueError, match="stands for 35 columns beside 30 rows"):
        KnifeRegressor(adjust_for=list(range(35))).fit(X, X[:, 39])


def test_columns_that_explain_everything_leave_nothing_to_select(confounded):
    frame, _ = confounded
    model = KnifeRegressor("rbf", sparsity=5.0, adjust_for=["batch"])
    model.fit(frame, 3.0 * frame["batch"].to_numpy())
    assert not model.weights_.any()
    assert_allclose(model.predict(frame), 3.0 * frame["batch"], atol=1e-6)


def test_classes_are_adjusted_for_and_kept_too(confounded):
    frame, y = confounded
    search = KnifeClassifierCV(
        "rbf", alphas=[1.0], cv=3, adjust_for=["batch"], always_keep=["age"]
    ).fit(frame, np.digitize(y, [0.0, 3.0]))
    assert search.weights_[11] > 0
    assert (search.path_.weights[:, 11] > 0).all()


def test_error_rates_are_of_the_columns_that_are_chosen_among(confounded):
    frame, y = confounded
    base = KnifeRegressor("additive", adjust_for=["batch"])
    stable = KnifeStability(base.set_params(always_keep=["age"]), n_pairs=6, max_false=1.0)
    stable.fit(frame, y)
    assert {0, 1, 11} <= set(stable.get_support(indices=True))
    assert not set(stable.get_support(indices=True)) & set(range(2, 8))
    assert stable.n_units_ == 10
    knockoffs = KnifeKnockoffs(base.set_params(always_keep=None), fdr=0.5, n_draws=4)
    selected = set(knockoffs.fit(frame, y).get_support(indices=True))
    assert {0, 1} <= selected
    assert 10 not in selected
    with pytest.raises(ValueError, match="has always_keep"):
        KnifeKnockoffs(KnifeRegressor("additive", always_keep=["age"])).fit(frame, y)
