"""Groups of columns that are alike."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from kernelknife import CorrelatedGroups, KnifeRegressor, KnifeRegressorCV, knife_path
from kernelknife.kernels import KERNELS, RBF, check_kernel


def clusters(rng, n=150, noise=0.1):
    """Three clusters of three, two and one columns, in a mixed order."""
    a, b, c = rng.normal(size=(3, n))
    near = lambda x: x + noise * rng.normal(size=n)  # noqa: E731
    X = np.column_stack([near(a), near(b), near(a), c, -near(b), near(a)])
    return X, np.sin(1.5 * a) + b, [0, 1, 0, 2, 1, 0]


def test_planted_clusters_are_found(rng):
    X, _, expected = clusters(rng)
    labels, medoids = CorrelatedGroups().find(X, RBF())
    assert_array_equal(labels, expected)
    assert_array_equal(labels[medoids], [0, 1, 2])


def test_groups_do_not_see_units_or_monotone_scales(rng):
    X, _, expected = clusters(rng)
    X[:, 0] = np.exp(X[:, 0])
    X[:, 2] *= -1e6
    labels, _ = CorrelatedGroups().find(X, RBF())
    assert_array_equal(labels, expected)


def test_a_chain_does_not_join_its_ends(rng):
    """Each of four columns is like the next, and the first is not like the last."""
    steps = rng.normal(size=(400, 4)) * [1.0, 0.45, 0.45, 0.45]
    X = np.cumsum(steps, axis=1)
    similarity = np.abs(pd.DataFrame(X).corr("spearman").to_numpy())
    labels, _ = CorrelatedGroups(threshold=0.85).find(X, RBF())
    assert len(np.unique(labels)) > 1
    assert (similarity[labels[:, None] == labels] >= 0.85).all()


def test_order_of_columns_does_not_matter(rng):
    X, _, _ = clusters(rng, noise=0.4)
    order = rng.permutation(6)
    groups = CorrelatedGroups(threshold=0.8)
    straight, medoids = groups.find(X, RBF())
    mixed, mixed_medoids = groups.find(X[:, order], RBF())
    same = straight[order][:, None] == straight[order]
    assert_array_equal(mixed[:, None] == mixed, same)
    assert set(order[mixed_medoids]) == set(medoids)


def test_the_medoid_is_in_the_middle(rng):
    x = rng.normal(size=300)
    X = np.column_stack([x + 0.3 * rng.normal(size=300), x, x + 0.3 * rng.normal(size=300)])
    _, medoids = CorrelatedGroups(threshold=0.8).find(X, RBF())
    assert medoids.tolist() == [1]


def test_the_kernels_similarity_sees_what_neither_rises_nor_falls(rng):
    x = rng.uniform(-1, 1, size=200)
    X = np.column_stack([x, x**2 + 0.01 * rng.normal(size=200), rng.normal(size=200)])
    ranks, _ = CorrelatedGroups(threshold=0.5).find(X, RBF())
    kernel, _ = CorrelatedGroups(threshold=0.2, similarity="kernel").find(X, RBF())
    assert ranks.tolist() == [0, 1, 2]
    assert kernel.tolist() == [0, 0, 1]


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_every_kernel_has_a_similarity(name, rng):
    X, _, _ = clusters(rng, n=80, noise=0.01)
    labels, _ = CorrelatedGroups(similarity="kernel").find(X, check_kernel(name))
    assert labels[0] == labels[2] == labels[5]
    assert labels[3] not in labels[[0, 1]]


@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplace", "polynomial", "additive", "anova"])
def test_exact_copies_in_a_group_are_as_one_column(kernel, rng):
    """One weight for three copies, at the cost of one, is the model without the copies."""
    X = rng.normal(size=(60, 4))
    y = np.sin(X[:, 0]) + X[:, 1]
    copied = np.column_stack([X, X[:, 0], X[:, 0]])
    options = {"kernel": kernel, "sparsity": 3.0, "alpha": 0.5, "start": "scaled", "tol": 1e-6}
    alone = KnifeRegressor(**options).fit(X, y)
    grouped = KnifeRegressor(feature_groups="correlated", **options).fit(copied, y)
    assert_array_equal(grouped.get_support()[:4], alone.get_support())
    assert_allclose(grouped.objective_, alone.objective_, rtol=1e-3)
    rows = np.arange(20)
    assert_allclose(grouped.predict(copied[rows]), alone.predict(X[rows]), atol=0.05)


def test_members_are_selected_together_and_named(rng):
    X, y, _ = clusters(rng)
    frame = pd.DataFrame(X, columns=["a1", "b1", "a2", "c", "b2", "a3"])
    model = KnifeRegressor(feature_groups="correlated", sparsity=5.0, alpha=0.3).fit(frame, y)
    members = {frozenset(group) for group in model.feature_groups_.values()}
    assert members == {frozenset({"a1", "a2", "a3"}), frozenset({"b1", "b2"}), frozenset({"c"})}
    assert all(name in group for name, group in model.feature_groups_.items())
    assert model.get_support().tolist() == [True, True, True, False, True, True]
    assert len(set(model.weights_[[0, 2, 5]])) == 1


def test_no_groups_no_attribute(rng):
    X, y, _ = clusters(rng)
    model = KnifeRegressor(feature_groups="correlated").fit(X, y)
    model.set_params(feature_groups=None).fit(X, y)
    assert not hasattr(model, "feature_groups_")


def test_cross_validation_finds_the_groups_once_on_all_rows(rng, monkeypatch):
    X, y, _ = clusters(rng, n=60)
    calls = []
    true = CorrelatedGroups.find
    monkeypatch.setattr(
        CorrelatedGroups, "find", lambda groups, *args: calls.append(1) or true(groups, *args)
    )
    search = KnifeRegressorCV(
        kernel="rbf", alphas=[0.3], sparsities=8, cv=3, feature_groups="correlated"
    )
    search.fit(X, y)
    assert len(calls) == 1
    assert len(search.feature_groups_) == 3
    assert search.feature_groups_ == search.best_estimator_.feature_groups_
    assert search.path_.model(3).feature_groups == "correlated"
    frequency = search.selection_frequency_
    assert frequency[0] == frequency[2] == frequency[5]


def test_a_path_ranks_clusters(rng):
    X, y, _ = clusters(rng)
    path = knife_path(X, y, feature_groups="correlated")
    assert path.ranking[0] == path.ranking[2] == path.ranking[5]
    assert path.at(n_features=2).get_support().tolist() == [True, True, True, False, True, True]


def test_constant_columns_stay_alone(rng):
    X, y, _ = clusters(rng)
    X = np.column_stack([np.ones(150), X, np.full(150, 3.0)])
    labels, _ = CorrelatedGroups().find(X, RBF())
    assert (labels == labels[0]).sum() == (labels == labels[-1]).sum() == 1
    assert KnifeRegressor(feature_groups="correlated").fit(X, y).weights_[[0, -1]].max() == 0


def test_blocks_of_columns_give_the_same_groups(rng, monkeypatch):
    X = rng.normal(size=(50, 40))
    X[:, 20:] = X[:, :20] + 0.05 * rng.normal(size=(50, 20))
    whole, _ = CorrelatedGroups().find(X, RBF())
    monkeypatch.setattr("kernelknife._engine.data.correlated.BLOCK_NUMBERS", 120)
    pieces, _ = CorrelatedGroups().find(X, RBF())
    assert_array_equal(whole, pieces)
    assert_array_equal(whole[:20], whole[20:])


def test_the_groups_are_a_parameter_like_others():
    model = KnifeRegressor(feature_groups=CorrelatedGroups(threshold=0.8))
    assert clone(model).set_params(feature_groups__threshold=0.7).feature_groups.threshold == 0.7
    assert repr(CorrelatedGroups(threshold=0.8)) == "CorrelatedGroups(threshold=0.8)"


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ("corelated", "Unknown feature_groups 'corelated'"),
        (CorrelatedGroups(threshold=1.5), "threshold must lie in"),
        (CorrelatedGroups(threshold=0.0), "threshold"),
        (CorrelatedGroups(similarity="pearson"), "Unknown similarity 'pearson'"),
    ],
)
def test_bad_groups_get_a_sentence(groups, message, rng):
    X, y, _ = clusters(rng, n=30)
    with pytest.raises(ValueError, match=message):
        KnifeRegressor(feature_groups=groups).fit(X, y)
