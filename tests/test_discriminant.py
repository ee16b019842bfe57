"""Discriminants of few columns: identities with regression and Fisher's criterion, recovery."""

import pickle
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler

from kernelknife import (
    KnifeDiscriminant,
    KnifeRegressor,
    PathResult,
    discriminant,
    knife_discriminant_path,
    knife_path,
)
from kernelknife.datasets import make_skin_of_orange


def make_rings(rng, n=150, p=10):
    """Three classes, one ring around the other in the columns 2 and 5."""
    y = rng.integers(0, 3, n)
    angle, radius = rng.uniform(0.0, 2.0 * np.pi, n), 1.0 + y + 0.1 * rng.normal(size=n)
    X = rng.normal(size=(n, p))
    X[:, 2], X[:, 5] = radius * np.cos(angle), radius * np.sin(angle)
    return X, np.array(["a", "b", "c"])[y]


class Recorder:
    """Counts the tasks that have ended, by name."""

    def __init__(self):
        self.ended = Counter()

    def setup(self, estimator, context):
        pass

    teardown = setup

    def on_fit_task_begin(self, estimator, context, **_):
        pass

    def on_fit_task_end(self, estimator, context, **_):
        self.ended[context.task_name] += 1


# -- identities -----------------------------------------------------------------------------------


def test_two_classes_are_regression_on_coded_targets(rng):
    X = rng.normal(size=(90, 8))
    y = np.where(X[:, 1] * X[:, 4] > 0.3, 1, 0)
    ours = KnifeDiscriminant(sparsity=2.0).fit(X, y)
    theirs = KnifeRegressor(sparsity=2.0).fit(X, 2.0 * y - 1.0)
    assert_allclose(ours.weights_, theirs.weights_, atol=1e-10)
    assert_allclose(ours.objective_, theirs.objective_)
    predicted = (theirs.predict(X) - (2.0 * y - 1.0).mean()) / (2.0 * y - 1.0).std()
    assert_allclose(ours.transform(X)[:, 0], predicted, atol=1e-8)


@pytest.mark.parametrize("alpha", [0.3, 2.0])
def test_at_fixed_weights_it_is_kernel_fisher_discriminant_analysis(rng, alpha):
    X, y = make_rings(rng, n=60, p=6)
    ours = KnifeDiscriminant(weights=0.6, alpha=alpha).fit(X, y)
    Z = StandardScaler().fit_transform(X)
    n = len(Z)
    K = np.exp(-0.36 * ((Z[:, None] - Z) ** 2).sum(axis=2))
    H = np.eye(n) - 1.0 / n
    Y = (y[:, None] == np.unique(y)).astype(float)
    KH = K @ H
    between = KH @ Y @ np.diag(1.0 / Y.sum(axis=0)) @ Y.T @ KH.T
    total = KH @ K + alpha * K + 1e-12 * n * np.eye(n)
    values, axes = eigh(between, total, subset_by_index=[n - 2, n - 1])
    assert_allclose(ours.eigenvalues_, values[::-1], atol=1e-8)
    theirs = (H @ K @ axes)[:, ::-1]
    for a, b in zip(ours.transform(X).T, theirs.T, strict=True):
        assert abs(np.corrcoef(a, b)[0, 1]) > 1.0 - 1e-8


def test_with_the_linear_kernel_and_no_penalty_it_is_linear_discriminant_analysis():
    X, y = load_wine(return_X_y=True)
    Z = StandardScaler().fit_transform(X)
    ours = KnifeDiscriminant(kernel="linear", weights=1.0, alpha=1e-7).fit(X, y)
    theirs = LinearDiscriminantAnalysis().fit(Z, y)
    assert (ours.predict(X) == theirs.predict(Z)).all()
    for a, b in zip(ours.transform(X).T, theirs.transform(Z).T, strict=True):
        assert abs(np.corrcoef(a, b)[0, 1]) > 1.0 - 1e-8
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(Z), atol=0.02)


# -- planted structure ----------------------------------------------------------------------------


@pytest.mark.parametrize("sparsity", [20.0, "auto"])
def test_the_columns_of_three_rings_are_found(rng, sparsity):
    X, y = make_rings(rng)
    model = KnifeDiscriminant(sparsity=sparsity).fit(X, y)
    assert set(model.get_support(indices=True)) >= {2, 5}
    assert model.get_support().sum() <= 3
    new, truth = make_rings(rng, n=300)
    assert model.score(new, truth) > 0.9
    assert model.transform(new).shape == (300, 2)


def test_skin_of_the_orange_is_found():
    X, y = make_skin_of_orange(150, 16, random_state=3)
    model = KnifeDiscriminant(sparsity="auto").fit(X, y)
    assert set(model.get_support(indices=True)) >= {0, 1, 2, 3}
    new, truth = make_skin_of_orange(500, 16, random_state=4)
    assert model.score(new, truth) > 0.88
    everything = KnifeDiscriminant(weights=np.sqrt(0.5 / 20)).fit(X, y)
    assert model.score(new, truth) > everything.score(new, truth) + 0.1


def test_an_exact_number_of_columns(rng):
    X, y = make_rings(rng)
    model = KnifeDiscriminant(n_features_to_select=2).fit(X, y)
    assert model.get_support(indices=True).tolist() == [2, 5]


# -- invariances ----------------------------------------------------------------------------------


def test_names_of_classes_units_and_order_do_not_matter(rng):
    X, y = make_rings(rng, n=100, p=6)
    options = {"sparsity": 5.0, "tol": 1e-8}
    model = KnifeDiscriminant(**options).fit(X, y)
    order, renamed = rng.permutation(6), np.where(y == "a", "z", y)
    moved = (X * [1.0, -2.0, 1e3, 0.1, 1.0, 5.0] - 3.0)[:, order]
    other = KnifeDiscriminant(**options).fit(moved, renamed)
    assert_allclose(other.weights_, model.weights_[order], atol=1e-5)
    assert (
        np.where(other.predict(moved) == "z", "a", other.predict(moved)) == model.predict(X)
    ).all()


def test_probabilities_agree_with_decisions(rng):
    X, y = make_rings(rng)
    model = KnifeDiscriminant(sparsity=20.0).fit(X, y)
    chance = model.predict_proba(X)
    assert_allclose(chance.sum(axis=1), 1.0)
    assert (model.classes_[chance.argmax(axis=1)] == model.predict(X)).all()
    assert_allclose(np.log(np.maximum(chance, 1e-300)), model.decision_function(X), atol=1e-6)
    two = KnifeDiscriminant().fit(X, y == "a")
    odds = two.decision_function(X)
    assert odds.shape == (150,)
    assert_allclose(1.0 / (1.0 + np.exp(-odds)), two.predict_proba(X)[:, 1])


def test_a_row_of_weight_two_is_two_rows(rng):
    X, y = make_rings(rng, n=60, p=6)
    s = rng.integers(0, 3, 60)
    weighted = KnifeDiscriminant(sparsity=2.0, tol=1e-8).fit(X, y, sample_weight=s)
    repeated = KnifeDiscriminant(sparsity=2.0, tol=1e-8).fit(X.repeat(s, 0), y.repeat(s))
    assert_allclose(weighted.weights_, repeated.weights_, atol=1e-6)
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-5)


def test_all_rows_as_centers_are_the_exact_method(rng):
    X, y = make_rings(rng, n=80, p=6)
    options = {"weights": 0.5}
    exact = KnifeDiscriminant(**options).fit(X, y)
    centered = KnifeDiscriminant(**options, n_centers=80).fit(X, y)
    assert_allclose(exact.transform(X), centered.transform(X), atol=1e-5)


# -- the path -------------------------------------------------------------------------------------


def test_the_path_of_two_classes_is_that_of_a_regression_on_coded_targets(rng):
    X = rng.normal(size=(70, 6))
    y = np.where(X[:, 1] * X[:, 4] > 0.3, 1, 0)
    ours = knife_discriminant_path(X, y, sparsities=12)
    theirs = knife_path(X, 2.0 * y - 1.0, task="regression", sparsities=12)
    assert_allclose(ours.sparsities, theirs.sparsities)
    assert_allclose(ours.weights, theirs.weights, atol=1e-10)
    assert_allclose(ours.ranking, theirs.ranking)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_point_of_the_path_is_the_fit_at_its_penalty(rng, kernel):
    X, y = make_rings(rng, n=80, p=6)
    X[:, 1] += 2.0 * (y == "b")
    path = knife_discriminant_path(X, y, kernel=kernel, sparsities=[0.0, 2.0, 6.0, 12.0], tol=1e-9)
    for i in (1, 2, 3):
        model = path.model(i)
        alone = KnifeDiscriminant(kernel=kernel, sparsity=path.sparsities[i], tol=1e-9).fit(X, y)
        assert isinstance(model, KnifeDiscriminant)
        assert model.get_params() == alone.get_params()
        assert vars(model).keys() == vars(alone).keys()
        assert_allclose(model.objective_, alone.objective_, rtol=1e-7)
        assert_allclose(model.weights_, alone.weights_, atol=1e-4)
        assert_allclose(model.eigenvalues_, alone.eigenvalues_, atol=1e-4)
        assert_allclose(model.transform(X), alone.transform(X), atol=1e-3)
        assert (model.predict(X) == alone.predict(X)).all()


def test_the_columns_of_the_rings_remain_active_longest(rng):
    X, y = make_rings(rng, n=100)
    path = knife_discriminant_path(X, y, sparsities=20)
    assert set(np.argsort(path.ranking)[:2]) == {2, 5}
    assert path.task == "classification"
    assert path.at(n_features=2).get_support(indices=True).tolist() == [2, 5]
    # The end of the path has no column, and its model has the shares of the classes only.
    assert not path.weights[-1].any()
    classes, counts = np.unique(y, return_counts=True)
    assert (path.model(-1).predict(X) == classes[counts.argmax()]).all()
    again = pickle.loads(pickle.dumps(path))
    assert isinstance(again, PathResult)
    assert_allclose(again.model(5).transform(X), path.model(5).transform(X))


def test_the_order_of_columns_permutes_the_path(rng):
    X, y = make_rings(rng, n=80, p=6)
    order = rng.permutation(6)
    options = {"sparsities": [1.0, 5.0, 20.0], "tol": 1e-8}
    path, moved = (knife_discriminant_path(Z, y, **options) for Z in (X, X[:, order]))
    assert_allclose(moved.weights, path.weights[:, order], atol=1e-5)
    assert_allclose(moved.ranking, path.ranking[order])


def test_rows_of_weight_two_and_names_along_the_path(rng):
    pandas = pytest.importorskip("pandas")
    X, y = make_rings(rng, n=60, p=6)
    s = rng.integers(0, 3, 60)
    options = {"sparsities": [0.0, 3.0], "tol": 1e-8}
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    weighted = knife_discriminant_path(frame, y, sample_weight=s, **options)
    repeated = knife_discriminant_path(X.repeat(s, 0), y.repeat(s), **options)
    assert_allclose(weighted.weights, repeated.weights, atol=1e-5)
    assert list(weighted.feature_names) == list("abcdef")
    assert list(weighted.model(1).feature_names_in_) == list("abcdef")


@pytest.mark.usefixtures("callbacks")
def test_every_point_of_a_path_is_reported(rng):
    X, y = make_rings(rng, n=40, p=6)
    recorder = Recorder()
    path = knife_discriminant_path(X, y, sparsities=[1.0, 2.0], callbacks=[recorder])
    assert recorder.ended == {"path": 1, "point": len(path)}
    fitted = Recorder()
    KnifeDiscriminant(sparsity=2.0).set_callbacks(fitted).fit(X, y)
    assert fitted.ended["fit"] == 1
    assert fitted.ended["iteration"] > 0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"sparsity": 1.0}, TypeError, "takes no sparsity: it follows all penalties"),
        ({"weights": 0.5}, TypeError, "takes no weights"),
        ({"n_features_to_select": 2}, TypeError, "takes no n_features_to_select"),
        ({"bandwidth": 2}, TypeError, "unexpected keyword"),
        ({"alpha": "auto"}, ValueError, "a number along a path, got 'auto': take the alpha_"),
        ({"sparsities": [2.0, 1.0]}, ValueError, "increasing"),
        ({"n_components": 3}, ValueError, "3 classes have at most 2"),
        ({"start": "zero"}, ValueError, "Unknown start"),
    ],
)
def test_bad_parameters_of_a_path_get_a_sentence(rng, options, error, message):
    with pytest.raises(error, match=message):
        knife_discriminant_path(*make_rings(rng, n=30, p=6), **options)


# -- interface and what cannot be -----------------------------------------------------------------


def test_scales_are_cut_and_named(rng):
    pandas = pytest.importorskip("pandas")
    X, y = make_rings(rng)
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(10)])
    model = KnifeDiscriminant(1, sparsity=20.0).set_output(transform="pandas").fit(frame, y)
    assert list(model.transform(frame).columns) == ["knifediscriminant0"]
    both = KnifeDiscriminant(sparsity=20.0).fit(frame, y)
    assert_allclose(model.transform(frame).to_numpy()[:, 0], both.transform(frame)[:, 0])
    assert (both.eigenvalues_[0] >= both.eigenvalues_[1]).all()
    assert cross_val_score(both, frame, y, cv=3).mean() > 0.8


def test_groups_stay_together(rng):
    X, y = make_rings(rng)
    model = KnifeDiscriminant(sparsity=5.0, feature_groups=[0, 0, 1, 1, *range(2, 8)]).fit(X, y)
    assert model.weights_[2] == model.weights_[3] > 0


def test_folds_take_groups_by_names_of_columns(rng):
    pandas = pytest.importorskip("pandas")
    X, y = make_rings(rng, n=80, p=6)
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    options = {"sparsity": "auto", "alpha": 0.5}
    named = KnifeDiscriminant(feature_groups={"g": ["c", "d"]}, **options).fit(frame, y)
    numbered = KnifeDiscriminant(feature_groups=[0, 1, 2, 2, 3, 4], **options).fit(X, y)
    assert named.weights_[2] == named.weights_[3] > 0
    assert_allclose(named.weights_, numbered.weights_)
    assert named.sparsity_ == numbered.sparsity_


def test_a_rare_class_makes_fewer_folds(rng, monkeypatch):
    X, y = make_rings(rng, n=60, p=6)
    rare = np.flatnonzero(y == "c")
    kept = np.setdiff1d(np.arange(60), rare[3:])
    seen = []
    search = discriminant.KnifeRegressorCV
    monkeypatch.setattr(
        discriminant, "KnifeRegressorCV", lambda **kw: seen.append(kw.get("cv")) or search(**kw)
    )
    KnifeDiscriminant(sparsity="auto").fit(X[kept], y[kept])
    folds = seen[-1]
    assert len(folds) == 3
    for train, test in folds:
        assert set(y[kept][train]) == set(y[kept][test]) == {"a", "b", "c"}


def test_a_given_start_is_where_the_weights_begin(rng):
    X, y = make_rings(rng, n=60, p=6)
    coded = np.where(y == "a", -1.0, 1.0)
    start = np.array([0.1, 0.1, 0.6, 0.1, 0.1, 0.6])
    ours = KnifeDiscriminant(sparsity=2.0, start=start).fit(X, y == "a")
    theirs = KnifeRegressor(sparsity=2.0, start=start).fit(X, coded)
    assert_allclose(ours.weights_, theirs.weights_, atol=1e-10)


def test_a_penalty_that_leaves_nothing_predicts_the_larger_class(rng):
    X, y = rng.normal(size=(40, 3)), np.repeat([0, 1], [10, 30])
    model = KnifeDiscriminant(sparsity=1e6).fit(X, y)
    assert not model.get_support().any()
    assert (model.predict(X) == 1).all()
    assert_allclose(model.predict_proba(X)[:, 1], 0.75, atol=1e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 3}, "3 classes have at most 2"),
        ({"sparsity": "few"}, "'auto'"),
        ({"alpha": "auto"}, "pass both"),
        ({"alpha": "small", "sparsity": "auto"}, "alpha must be"),
        ({"start": "zero"}, "Unknown start"),
        ({"weights": 2.0}, "between 0 and 1"),
        ({"n_features_to_select": 11}, "more than the 10"),
    ],
)
def test_bad_parameters_get_a_sentence(rng, options, message):
    with pytest.raises(ValueError, match=message):
        KnifeDiscriminant(**options).fit(*make_rings(rng))


def test_bad_targets_get_a_sentence(rng):
    X, y = make_rings(rng, n=30)
    with pytest.raises(ValueError, match="one class"):
        KnifeDiscriminant().fit(X, np.ones(30, dtype=int))
    with pytest.raises(ValueError, match=r"Unknown label type|continuous"):
        KnifeDiscriminant().fit(X, rng.normal(size=30))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        KnifeDiscriminant().fit(X, y[:20])
    alone = np.repeat([0, 1, 2], [14, 15, 1])
    with pytest.raises(ValueError, match="at least two rows of every class"):
        KnifeDiscriminant(sparsity="auto").fit(X, alone)
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        KnifeDiscriminant().fit(X, y)


def test_both_penalties_may_be_chosen(rng):
    X, y = make_rings(rng, n=90, p=6)
    model = KnifeDiscriminant(alpha="auto", sparsity="auto").fit(X, y)
    assert model.alpha_ > 0
    assert model.sparsity_ > 0
