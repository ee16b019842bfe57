"""Gaps: what a column with missing values becomes, the same for rows of every kind."""

import array_api_strict
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils import get_tags

from kernelknife import (
    KnifeCCA,
    KnifeClassifier,
    KnifeClassifierCV,
    KnifeDiscriminant,
    KnifeKnockoffs,
    KnifePCA,
    KnifeRegressor,
    KnifeRegressorCV,
    KnifeStability,
    knife_path,
)
from kernelknife._engine.data import measure_columns
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife.kernels import KERNELS, Additive
from kernelknife.kernels.basis import make_basis, make_bent_basis

KINDS = sorted(set(KERNELS) - {"sigmoid"})


@pytest.fixture
def table(rng):
    """A table with gaps at random; column 3 is complete."""
    X = rng.normal(size=(200, 6))
    y = np.sin(2 * X[:, 0]) + X[:, 3] ** 2 + 0.1 * rng.normal(size=200)
    gap = rng.random(X.shape) < 0.2
    gap[:, 3] = False
    return np.where(gap, np.nan, X), y


def by_hand(X):
    """Return values with the mean, 0, in the place of gaps, each followed by its indicator."""
    gap = np.isnan(X)
    Z = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    Z = np.where(gap, 0.0, Z)
    parts, owner = [], []
    for j in range(X.shape[1]):
        parts.append(Z[:, j])
        owner.append(j)
        if gap[:, j].any():
            parts.append(gap[:, j].astype(float))
            owner.append(j)
    return np.column_stack(parts), np.array(owner)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplace", "polynomial"])
def test_a_gap_is_the_mean_and_an_indicator_under_one_weight(kernel, table):
    X, y = table
    ours = KnifeRegressor(kernel, sparsity=3.0).fit(X, y)
    Z, owner = by_hand(X)
    costs = 1.0 / np.bincount(owner)[owner]
    theirs = KnifeRegressor(
        kernel, sparsity=3.0, standardize=False, feature_groups=owner, feature_costs=costs
    ).fit(Z, (y - y.mean()) / y.std())
    assert_allclose(ours.weights_[owner], theirs.weights_, atol=1e-5)
    assert_allclose(ours.predict(X), theirs.predict(Z) * y.std() + y.mean(), atol=1e-4)


def test_columns_know_what_they_see(table):
    X, _ = table
    columns, _ = measure_columns(ArrayRows(X), standardize=True, center=True)
    Z, owner = by_hand(X)
    assert_allclose(columns.take(X), Z, atol=1e-12)
    assert_array_equal(columns.sources, owner)
    assert_array_equal(columns.gaps, [0, 1, 2, 4, 5])
    part = columns.restricted(np.flatnonzero(np.isin(owner, [1, 3])))
    assert_allclose(part.take(X), Z[:, np.isin(owner, [1, 3])], atol=1e-12)


@pytest.mark.parametrize("kind", ["frame", "nullable", "single", "parquet", "dask", "device"])
def test_rows_of_every_kind_have_the_same_gaps(kind, table, tmp_path):
    X, y = table
    options = {"sparsity": 3.0, "centers": X[:40], "tol": 1e-10}
    expected = KnifeRegressor(**options).fit(X, y)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    if kind == "frame":
        model = KnifeRegressor(**options).fit(frame, y)
    elif kind == "nullable":
        model = KnifeRegressor(**options).fit(frame.convert_dtypes(), y)
    elif kind == "single":
        model = KnifeRegressor(**options).fit(X.astype(np.float32), y)
    elif kind == "parquet":
        frame.assign(y=y).to_parquet(tmp_path / "part.parquet", row_group_size=70)
        model = KnifeRegressor(**options).fit(tmp_path, "y")
        assert_allclose(model.predict(tmp_path), expected.predict(X), atol=1e-4)
    elif kind == "dask":
        model = KnifeRegressor(**options).fit(da.from_array(X, chunks=(70, 6)), da.from_array(y))
        chunks = da.from_array(X, chunks=(30, 6))
        assert_allclose(model.predict(chunks).compute(), expected.predict(X), atol=1e-4)
    else:
        model = KnifeRegressor(**options).fit(array_api_strict.asarray(X), y)
    atol = 1e-4 if kind == "single" else 1e-5
    assert_allclose(model.weights_, expected.weights_, atol=atol)


@pytest.mark.parametrize("kernel", KINDS)
def test_every_kernel_takes_gaps_and_predicts_numbers(kernel, table):
    X, y = table
    model = KnifeRegressor(kernel, sparsity=2.0).fit(X, y)
    assert np.isfinite(model.predict(np.full((2, 6), np.nan))).all()
    assert model.weights_[3] > 0


def test_functions_are_learned_from_the_values_that_are_there(rng):
    """A column with gaps has the functions that its values have on their own."""
    Z = rng.normal(size=(120, 3))
    Z[:, 1] = rng.integers(0, 4, size=120)
    Z[:, 2] = np.exp(2 * Z[:, 2])
    gap = rng.random(Z.shape) < 0.3
    holed, s = np.where(gap, np.nan, Z), rng.uniform(0.5, 2.0, size=120)
    options = {"gamma": 0.7, "n_functions": 5, "n_knots": 20}
    for make in (lambda Z, s: make_basis(Z, s, **options), make_bent_basis):
        basis = make(holed, s)
        for j in range(3):
            there = ~gap[:, j]
            own = make(Z[there, j : j + 1], s[there])
            values = Z[there, j]
            assert_allclose(basis.curve(j)(values), own.curve(0)(values), atol=1e-8)


def test_without_a_gap_in_training_a_gap_is_the_mean(rng):
    X = rng.normal(1.0, 2.0, size=(100, 3))
    y = X[:, 0] + X[:, 1] ** 2
    for kernel in ("rbf", "linear"):
        model = KnifeRegressor(kernel, sparsity=0.5).fit(X, y)
        assert not len(model._model.columns.gaps)
        row = X[:1].copy()
        row[0, 0] = np.nan
        filled = np.where(np.isnan(row), X.mean(axis=0), row)
        assert_allclose(model.predict(row), model.predict(filled))
        raw = KnifeRegressor(kernel, sparsity=0.5, standardize=False).fit(X, y)
        assert_allclose(raw.predict(row), raw.predict(filled))


def test_the_mean_alone_on_request(table):
    X, y = table
    model = KnifeRegressor("linear", missing="mean", sparsity=1.0).fit(X, y)
    Z = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    assert_allclose(model.predict(X), model.predict(Z))


def test_gaps_that_mean_something_select_their_column(rng):
    """The values of column 2 are noise, and that they are missing is not."""
    X = rng.normal(size=(300, 20))
    gap = rng.random(X.shape) < 0.2
    y = X[:, 0] + 2.0 * gap[:, 2] + 0.3 * rng.normal(size=300)
    X = np.where(gap, np.nan, X)
    for kernel in ("linear", "additive", "rbf"):
        path = knife_path(X, y, kernel=kernel)
        assert set(np.argsort(path.ranking)[:2]) == {0, 2}
    model = KnifeRegressor("additive", sparsity=10.0).fit(X, y)
    shares = {effect.names: effect.share for effect in model.effects()}
    assert shares["x2 is missing",] > 10 * abs(shares["x2",])
    effect = model.effect("x2 is missing")
    assert_array_equal(effect.grids[0], [0.0, 1.0])
    assert 1.0 < np.ptp(effect.values) < 2.2


@pytest.mark.parametrize("kernel", ["additive", "anova"])
def test_effects_with_gaps_add_up(kernel, table):
    X, y = table
    model = KnifeRegressor(kernel, sparsity=2.0).fit(X, y)
    constant, effects = model.effect_values(X)
    assert_allclose(constant + sum(effects.values()), model.predict(X)[:, None], atol=1e-8)
    assert_allclose(sum(effect.share for effect in model.effects()), 1.0, atol=1e-8)
    for values in effects.values():
        assert_allclose(values.mean(axis=0), 0.0, atol=1e-8)


def test_a_column_of_gaps_alone_is_constant(table):
    X, y = table
    X = X.copy()
    X[:, 5] = np.nan
    model = KnifeRegressor(sparsity=2.0).fit(X, y)
    assert model.weights_[5] == 0.0
    with pytest.raises(ValueError, match="hold nothing but gaps"):
        KnifeRegressor().fit(np.full((30, 2), np.nan), np.arange(30.0))


def test_one_value_beside_gaps_is_an_indicator(rng):
    X = rng.normal(size=(150, 4))
    gap = rng.random(150) < 0.3
    X[:, 1] = np.where(gap, np.nan, 7.3)
    y = 2.0 * gap + 0.2 * rng.normal(size=150)
    for kernel in ("linear", "additive", "anova", "rbf", "joint"):
        model = KnifeRegressor(kernel, n_features_to_select=1).fit(X, y)
        assert_array_equal(model.get_support(indices=True), [1])


def test_rows_of_no_weight_decide_nothing(table):
    X, y = table
    s = np.ones(len(y))
    s[:50] = 0.0
    X = X.copy()
    X[:10, 3] = np.nan
    model = KnifeRegressor(sparsity=3.0).fit(X, y, sample_weight=s)
    assert 3 not in model._model.columns.index[model._model.columns.gaps]
    assert_allclose(model.weights_, KnifeRegressor(sparsity=3.0).fit(X[50:], y[50:]).weights_)


def test_gaps_are_learned_inside_every_fold(table):
    X, y = table
    search = KnifeRegressorCV(["linear", "additive"], alphas=[1.0], cv=3).fit(X, y)
    assert search.weights_[0] > 0
    assert np.isfinite(search.predict(X)).all()
    two = KnifeClassifierCV("rbf", alphas=[1.0], cv=3).fit(X, y > 0.5)
    assert np.isfinite(two.decision_function(X)).all()


def test_components_and_error_rates_take_gaps(rng):
    X = rng.normal(size=(200, 8))
    X[:, [1, 4]] += 3.0 * rng.integers(0, 2, size=(200, 1))
    y = X[:, 0] + X[:, 2]
    X[rng.random(X.shape) < 0.1] = np.nan
    assert set(KnifePCA(1).fit(X).get_support(indices=True)) == {1, 4}
    scores = KnifeDiscriminant(sparsity=1.0).fit(X, y > 0).transform(X)
    assert np.isfinite(scores).all()
    Y = np.column_stack([y + 0.1 * rng.normal(size=200), rng.normal(size=200)])
    Y[::7] = np.nan
    pair = KnifeCCA(sparsity=1.0, n_permutations=19).fit(X, Y)
    assert np.isfinite(pair.transform(X, Y)[1]).all()
    stable = KnifeStability(KnifeRegressor("linear"), n_pairs=5, cluster_correlation=0.9).fit(X, y)
    assert {0, 2} <= set(stable.get_support(indices=True))
    knockoffs = KnifeKnockoffs(KnifeRegressor("linear"), fdr=0.5, n_draws=3).fit(X, y)
    assert {0, 2} <= set(knockoffs.get_support(indices=True))
    groups = KnifeRegressor(feature_groups="correlated", sparsity=3.0).fit(X, y)
    assert groups.weights_[0] > 0


def test_tags_tell_whether_gaps_are_taken():
    for estimator in (KnifeRegressor, KnifeClassifier, KnifeRegressorCV, KnifePCA, KnifeCCA):
        assert get_tags(estimator()).input_tags.allow_nan
        assert not get_tags(estimator(missing="error")).input_tags.allow_nan
    assert get_tags(KnifeStability()).input_tags.allow_nan


def test_rare_values_beside_gaps_are_found_on_all_rows(rng):
    """The functions of a column of zeros, gaps and a few others know these others."""
    X = np.zeros((5000, 2))
    X[:, 1] = rng.normal(size=5000)
    X[rng.choice(5000, 60, replace=False), 0] = rng.normal(5.0, 1.0, size=60)
    X[rng.random(5000) < 0.2, 0] = np.nan
    y = np.nan_to_num(X[:, 0])
    model = KnifeRegressor(Additive(), n_centers=50, sparsity=10.0).fit(X, y)
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.95
