"""Whether a model is better than the baseline."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import mean_pinball_loss, mean_poisson_deviance
from sklearn.model_selection import KFold, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelknife import KnifeRegressor
from kernelknife.app.report import build_report
from kernelknife.app.selection import select_features
from kernelknife.app.selection.comparison import advantage_over
from kernelknife.app.tables import TableError


def test_the_baseline_is_tested_on_the_same_folds(selection, frame):
    scores = cross_val_score(
        DummyRegressor(), frame[["a"]], frame["height"], cv=selection.search.splits_,
        scoring="neg_mean_squared_error",
    )  # fmt: skip
    assert selection.baseline_error.mean == pytest.approx(-scores.mean())


def test_all_columns_are_judged_as_the_selection_is():
    """Every fold's error of the alpha that the other folds select, not the best in hindsight."""
    rng = np.random.default_rng(11)
    frame = pd.DataFrame(rng.normal(size=(50, 4)), columns=list("abcd"))
    frame["y"] = frame["a"] + rng.normal(size=50)
    selection = select_features(frame, "y", kernel="rbf", folds=3)
    search, X, y = selection.search, frame[list("abcd")], frame["y"]
    errors = []
    for alpha in search.alphas_:
        ridge = TransformedTargetRegressor(
            KernelRidge(alpha=alpha, kernel="rbf", gamma=0.25), transformer=StandardScaler()
        )
        model = make_pipeline(StandardScaler(), ridge)
        errors.append(-cross_val_score(model, X, y, cv=search.splits_, scoring=search.score_name_))
    errors = np.array(errors)
    judged = [errors[np.delete(errors, i, axis=1).mean(axis=1).argmin(), i] for i in range(3)]
    assert selection.full_error.mean == pytest.approx(np.mean(judged))
    assert selection.full_error.mean > errors.mean(axis=1).min(), (
        "otherwise the selection bias does not show"
    )
    assert selection.full_model == "kernel ridge regression with a Gaussian kernel"


def test_noise_is_rarely_a_finding():
    """Choosing penalties on the folds that judge them must not make a verdict of selection bias."""
    findings = 0
    for seed in range(8):
        rng = np.random.default_rng(100 + seed)
        frame = pd.DataFrame(rng.normal(size=(60, 6)), columns=list("abcdef"))
        frame["y"] = rng.permutation(np.repeat(["a", "b"], 30))
        findings += select_features(frame, "y", folds=5, alpha=1.0).better
    assert findings <= 1


def test_a_number_of_columns_is_fitted_to_all_rows():
    """The search looks at 3,000 rows, and the model that it delivers must not."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(3300, 3)), columns=list("abc"))
    frame["y"] = frame["a"] + np.sin(2 * frame["b"]) + rng.normal(size=3300)
    asked = select_features(frame, "y", kernel="linear", alpha=1.0, folds=2, n_features=2)
    assert set(asked.selected) == {"a", "b"}
    assert asked.model.n_centers == 330
    # The intercept has no penalty, so that the residuals of the rows of the fit add up to zero.
    residuals = asked.predict(frame) - frame["y"]
    assert abs(residuals.mean()) < 1e-4
    # As on the folds that score it, it keeps the penalty that leaves this number of columns.
    assert asked.weighting == "penalized"
    assert asked.asked
    assert "The second error is nested, so that selecting among many" in build_report(asked)


def test_a_penalty_that_is_given_means_in_the_folds_what_the_chosen_one_meant():
    """With a linear kernel it goes with the rows: half of them have half of it."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde"))
    frame["y"] = frame["a"] + 0.5 * frame["b"] + 0.25 * frame["c"] + rng.normal(size=200)
    sparsity, folds = 15.0, KFold(2)
    asked = select_features(frame, "y", kernel="linear", alpha=1.0, sparsity=sparsity, folds=folds)
    X, y = frame[list("abcde")].to_numpy(), frame["y"].to_numpy()
    selected = [
        KnifeRegressor("linear", alpha=1.0, sparsity=sparsity / 2).fit(X[train], y[train]).support_
        for train, _ in folds.split(X)
    ]
    frequency = {feature.name: feature.frequency for feature in asked.features}
    assert [frequency[name] for name in "abcde"] == np.mean(selected, axis=0).tolist()


def test_folds_of_a_time_series():
    """The first split trains on few rows, and its rows are not all that the search has seen."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(100, 4)), columns=list("abcd"))
    frame["y"] = frame["a"] + 0.1 * rng.normal(size=100)
    selection = select_features(frame, "y", kernel="linear", alpha=1.0, folds=TimeSeriesSplit(4))
    assert selection.selected == ["a"]
    assert selection.rows_searched == 100
    assert [place.name for place in selection.substitutes] == ["a"]


def test_an_advantage_is_a_share_of_the_error_of_the_baseline():
    """Errors of skewed targets differ between folds, for the model and for the baseline alike."""
    splits = [(np.arange(80), np.arange(80, 100))] * 5
    baseline = np.array([1.0, 40.0, 3.0, 2.0, 9.0])
    advantage = advantage_over(baseline, 0.04 * baseline, splits)
    assert advantage.mean == pytest.approx(0.96)
    assert advantage.spread == pytest.approx(0.0, abs=1e-12)
    # As good as the baseline: the standard error of the difference, by Nadeau and Bengio.
    errors = np.array([1.5, 39.5, 3.2, 2.2, 8.6])
    none = advantage_over(baseline, errors, splits)
    assert none.mean == pytest.approx(0.0)
    expected = (errors - baseline).std(ddof=1) * np.sqrt(1 / 5 + 20 / 80) / baseline.mean()
    assert none.spread == pytest.approx(expected)


def test_a_skewed_number_that_is_predicted_well_is_a_finding():
    """The baseline has a large error in one fold, so that gains of the folds scatter widely."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    frame["count"] = np.round(2 * np.exp(1.5 * frame["a"]) + frame["b"] ** 2)
    selection = select_features(frame, "count", kernel="additive", alpha=0.1, folds=5)
    assert selection.better
    assert selection.in_tier("stable") == ["a"]


def test_searches_inside_the_folds_are_announced_and_give_the_errors():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    frame["y"] = np.sin(2 * frame["a"]) + 0.3 * rng.normal(size=60)
    options = {"kernel": ["linear", "rbf"], "alpha": 0.3, "folds": 3, "n_jobs": 1}
    notes, short = [], []
    full = select_features(frame, "y", nested="full", announce=notes.append, **options)
    plain = select_features(frame, "y", announce=short.append, **options)
    assert "on 3 folds of 60 rows, with 3 searches inside the folds, about 24 paths" in notes[-1]
    assert "on 3 folds of 60 rows, about 6 paths" in short[-1]
    # The oracle: the same search of the training rows of each fold alone.
    X, y = frame[list("abcd")].to_numpy(), frame["y"].to_numpy()
    expected = []
    for train, test in full.search.splits_:
        inner = clone(full.search).set_params(nested="others")
        model = inner.fit(X[train], y[train])
        expected.append(np.mean((model.predict(X[test]) - y[test]) ** 2))
    assert full.error.mean == pytest.approx(np.mean(expected))
    assert full.selected == plain.selected
    assert full.to_json()["error"]["nested"] == "full"
    page = build_report(full)
    assert "what a whole search of its training rows selects, which leaves no optimism" in page
    assert "which leaves a little optimism" in build_report(plain)
    assert full.settings.nested == "full"
    with pytest.raises(TableError, match="for penalties that cross-validation selects"):
        select_features(frame, "y", nested="full", n_features=2)


@pytest.mark.parametrize("loss", ["poisson", "quantile"])
def test_a_loss_with_a_score_of_its_own_is_the_measure_of_every_model(loss):
    """The baseline is the best constant under the loss; its error can be computed by hand."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(150, 4))
    y = rng.poisson(np.exp(1 + 1.5 * np.sin(2 * X[:, 0]) + X[:, 1]))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    options = {"kernel": "additive", "alpha": 1.0, "folds": 3, "random_state": 0}
    selection = select_features(frame, "y", loss=loss, **options)
    assert {"a", "b"} <= set(selection.selected)
    wanted = {"poisson": "mean deviance", "quantile": "mean pinball loss"}[loss]
    assert selection.error_name == wanted
    errors = []
    for train, test in selection.search.splits_:
        constant = y[train].mean() if loss == "poisson" else np.median(y[train])
        predicted = np.full(len(test), constant)
        measure = mean_poisson_deviance if loss == "poisson" else mean_pinball_loss
        errors.append(measure(y[test], predicted))
    # Many numbers are medians of the training rows, with slightly different errors on others.
    rel = 1e-6 if loss == "poisson" else 1e-3
    assert selection.baseline_error.mean == pytest.approx(np.mean(errors), rel=rel)
    assert selection.error.mean < selection.full_error.mean < selection.baseline_error.mean
    assert selection.full_model_in_words.startswith("the model of the same kernel")
    found = selection.to_json()["calibration"]
    if loss == "quantile":
        assert found["groups"] == []
        (one,) = found["coverage"]
        assert one["quantile"] == 0.5
        assert abs(one["share"] - 0.5) < 4 * one["spread"]
        return
    assert found["coverage"] == []
    groups = selection.calibration.groups
    assert [group.n_rows for group in groups] == [15] * 10
    assert np.mean([group.observed for group in groups]) == pytest.approx(y.mean())
    assert (np.diff([group.predicted for group in groups]) > 0).all()
    far = [(group.observed - group.predicted) / group.spread for group in groups]
    assert np.median(np.abs(far)) < 2


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_columns_of_extreme_scale_are_compared_as_others_are(scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    unit = 2.0 ** np.round(np.log2(scale))  # a power of two, so that nothing is rounded
    errors = []
    for factor in (1.0, unit):
        frame = pd.DataFrame(X * factor, columns=list("abc")).assign(y=y)
        selection = select_features(frame, "y", kernel="rbf", alpha=0.3, folds=3, n_jobs=1)
        errors.append(selection.full_error.mean)
    assert errors[1] == pytest.approx(errors[0], rel=1e-9)
    assert errors[1] < 0.5 * y.var(), "the columns are not taken for constants"
