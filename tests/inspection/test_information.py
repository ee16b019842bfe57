"""Which columns carry information on their own: p-values, effects, shapes."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import f as fisher
from scipy.stats import false_discovery_control, kstest
from sklearn.feature_selection import f_classif, f_regression

from kernelknife.inspection import carries_information

TARGETS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy tails": lambda rng, n: rng.standard_cauchy(size=n),
    "several": lambda rng, n: rng.normal(size=(n, 3)),
    "two classes": lambda rng, n: rng.permutation(n) < n // 2,
    "three classes": lambda rng, n: rng.permutation(n) % 3,
}


@pytest.mark.parametrize("kind", TARGETS)
def test_p_values_of_independent_columns_are_uniform(kind):
    rejected = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 1000))
        found = carries_information(X, TARGETS[kind](rng, 150))
        rejected += kstest(found.p_values, "uniform").pvalue < 0.01
    assert rejected <= 2


@pytest.mark.parametrize("levels", [2, 4, 30])
def test_p_values_of_columns_with_ties_are_uniform(levels):
    rng = np.random.default_rng(0)
    X = rng.integers(levels, size=(300, 1000)).astype(float)
    found = carries_information(X, rng.normal(size=300))
    assert kstest(found.p_values, "uniform").pvalue > 0.01


@pytest.mark.parametrize("function", [np.square, lambda x: np.sin(3 * x)], ids=["square", "sine"])
def test_what_straight_lines_miss_is_found(function):
    rng = np.random.default_rng(1)
    X = rng.uniform(-np.pi, np.pi, size=(200, 50))
    y = function(X[:, 3]) + 0.3 * rng.normal(size=200)
    found = carries_information(X, y)
    assert found.listed(0.01)[0] == 3
    assert f_regression(X[:, [3]], y)[1][0] > 0.05


def test_a_binary_column_has_the_p_value_of_the_t_test():
    rng = np.random.default_rng(0)
    X = (rng.random((80, 6)) < 0.4).astype(float)
    y = (rng.random(80) < 0.5).astype(int)
    np.testing.assert_allclose(carries_information(X, y).p_values, f_classif(X, y)[1], rtol=1e-8)


def test_a_group_of_indicators_has_the_p_value_of_the_analysis_of_variance():
    rng = np.random.default_rng(0)
    level = rng.integers(4, size=90)
    X = np.column_stack([rng.normal(size=90), np.eye(4)[level]])
    y = rng.permutation(90) < 45
    found = carries_information(X, y, feature_groups=[0, 1, 1, 1, 1])
    codes = y.astype(float)
    grand = codes.mean()
    means = np.array([codes[level == k].mean() for k in range(4)])
    sizes = np.bincount(level)
    between = (sizes * (means - grand) ** 2).sum() / 3
    within = ((codes - means[level]) ** 2).sum() / 86
    np.testing.assert_allclose(found.p_values[1:], fisher.sf(between / within, 3, 86))
    assert found.shapes[1] == "differs"


def test_q_values_are_those_of_benjamini_and_hochberg():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 40))
    found = carries_information(X, X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=60))
    np.testing.assert_allclose(found.q_values, false_discovery_control(found.p_values))
    assert (np.diff(found.p_values[found.listed(1.0)]) >= 0).all()


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: x, "rises"),
        (lambda x: -np.exp(x), "falls"),
        (lambda x: x**2, "valley"),
        (lambda x: -np.abs(x), "arch"),
        (lambda x: np.sin(3 * x), "wavy"),
    ],
)
def test_shapes_have_names(function, shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    assert carries_information(X, function(X[:, 1])).shapes[1] == shape
    tied = np.round(X * 4) / 4
    assert carries_information(tied, function(tied[:, 1])).shapes[1] == shape


def test_monotone_changes_of_columns_and_numbers_change_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    y = X[:, 0] + rng.normal(size=100)
    one, two = carries_information(X, y), carries_information(np.exp(X), y**3)
    np.testing.assert_allclose(one.p_values, two.p_values)
    assert one.shapes == two.shapes


def test_means_of_classes_are_those_of_the_columns():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(50, 3)), columns=list("abc"))
    y = np.where(X["b"] > 0, "high", "low")
    found = carries_information(X, y)
    assert found.classes == ("high", "low")
    np.testing.assert_allclose(found.class_means, X.groupby(y).mean().to_numpy())
    frame = found.to_frame()
    assert frame.index[0] == "b"
    assert frame.loc["b", "shape"] == "falls"
    assert found.correlations[1] < -0.7


def test_constant_columns_carry_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X[:, 1] = 2.0
    found = carries_information(X, X[:, 0])
    assert found.p_values[1] == 1.0
    assert found.shares[1] == 0.0


def test_few_rows_have_no_test_and_no_error():
    rng = np.random.default_rng(0)
    found = carries_information(rng.normal(size=(6, 3)), rng.normal(size=6))
    np.testing.assert_array_equal(found.p_values, 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"task": "ranking"}, "task must be"), ({"feature_groups": [0]}, "feature_groups must have")],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        carries_information(np.zeros((5, 2)), np.arange(5.0), **options)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="one class"):
        carries_information(np.eye(5), np.array(list("aaaaa")))


def test_a_gap_counts_as_the_median(rng):
    X = rng.normal(size=(120, 4))
    y = X[:, 1] ** 2
    X[rng.uniform(size=X.shape) < 0.2] = np.nan
    found = carries_information(X, y)
    filled = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    np.testing.assert_array_equal(found.p_values, carries_information(filled, y).p_values)
    assert found.listed().tolist() == [1]
