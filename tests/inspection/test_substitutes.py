"""Substitutes as a user meets them: from an estimator, a path and a cross-validation."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from kernelknife import KnifeClassifier, KnifeRegressor, KnifeRegressorCV, knife_path
from kernelknife._engine.search import exchange
from kernelknife.inspection.substitutes import Place, Substitute, Substitutes, fold_of_rows, percent


@pytest.fixture(scope="module")
def table():
    """Two true columns; one has a noisy copy, the other has none."""
    rng = np.random.default_rng(5)
    n = 120
    dose, age = rng.normal(size=(2, n))
    frame = pd.DataFrame(rng.normal(size=(n, 8)), columns=[f"noise{j}" for j in range(8)])
    frame.insert(3, "age", age)
    frame.insert(5, "dose", dose)
    frame["pills"] = dose + 0.15 * rng.normal(size=n)
    frame["flat"] = 1.0
    return frame, np.sin(1.5 * dose) + age + 0.1 * rng.normal(size=n)


def test_the_sentences_say_what_replaces_what(table):
    X, y = table
    model = KnifeRegressor(sparsity=6.0, alpha=0.3).fit(X, y)
    found = model.substitutes(X, y)
    assert {place.name for place in found} == {"dose", "age"}
    assert [one.name for one in found["dose"].substitutes] == ["pills"]
    assert found["dose"].substitutes[0].correlation > 0.95
    assert str(found["dose"]).startswith("dose can be replaced by pills (+")
    assert str(found["age"]).startswith("nothing replaces age (+")
    assert found.names.count("pills") == 1
    assert set(found.names) == {"dose", "age", "pills"}


def test_estimator_path_and_frame_agree(table):
    X, y = table
    path = knife_path(X, y, alpha=0.3)
    i = int(np.flatnonzero(path.n_selected == 2)[0])
    of_path, of_model = path.substitutes(i), path.model(i).substitutes(X, y)
    assert of_path == of_model
    frame = of_path.to_frame()
    assert list(frame[frame.named].substitute) == ["pills"]
    assert {place.name for place in of_path} == {"dose", "age"}
    with pytest.raises(IndexError, match="no point 500"):
        path.substitutes(500)


def test_cross_validation_uses_its_own_folds(table, monkeypatch):
    X, y = table
    patients = np.arange(len(X)) // 4
    search = KnifeRegressorCV(kernel="rbf", alphas=[0.3], sparsities=12, cv=3).fit(
        X, y, groups=patients
    )
    seen = []
    true = type(search.path_).substitutes
    monkeypatch.setattr(
        type(search.path_),
        "substitutes",
        lambda path, i, **options: seen.append(options) or true(path, i, **options),
    )
    found = search.substitutes()
    assert "pills" in found.names
    folds = seen[0]["folds"]
    assert all(len(set(folds[patients == who])) == 1 for who in patients)


def test_rows_of_weight_zero_do_not_count(table):
    X, y = table
    s = np.ones(len(X))
    s[100:] = 0.0
    model = KnifeRegressor(sparsity=6.0, alpha=0.3).fit(X, y, s)
    folds = np.arange(len(X)) % 4
    spoiled = y.copy()
    spoiled[100:] += 100.0
    assert model.substitutes(X, y, s, folds=folds) == model.substitutes(X, spoiled, s, folds=folds)


def test_folds_of_a_sample_are_those_of_its_rows(monkeypatch):
    """More than 600 rows, some of weight zero: the fold of a row stands in one of its columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=700)
    folds = rng.integers(0, 2, size=700)
    X[:, 2] = folds
    s = np.ones(700)
    s[:50] = 0.0
    seen = []
    sample_of = exchange._sample

    def watched(*arguments):
        sample, labels = sample_of(*arguments)
        seen.append(np.array_equal(sample.centers[:, 2] > 0, labels == 1))
        return sample, labels

    monkeypatch.setattr(exchange, "_sample", watched)
    for n_centers in (None, 30):
        model = KnifeRegressor("linear", n_centers=n_centers, sparsity=20.0)
        model.fit(X, y, sample_weight=s).substitutes(X, y, s, folds=folds)
    assert seen == [True, True]


def test_groups_are_called_by_their_names(table):
    X, y = table
    X = X.assign(again=-X["dose"])
    groups = {"treatment": ["dose", "again"]}
    model = KnifeRegressor(sparsity=6.0, alpha=0.3, feature_groups=groups).fit(X, y)
    found = model.substitutes(X, y)
    assert "treatment" in found.names
    assert set(found.names) <= {"age", "treatment", "pills"}


def test_classes_and_centers(table):
    X, y = table
    model = KnifeClassifier(sparsity=3.0, n_centers=60).fit(X, y > 0)
    assert "pills" in model.substitutes(X, y > 0).names


def test_a_model_that_was_refitted_without_the_penalty(table):
    X, y = table
    model = KnifeRegressor(sparsity=6.0, alpha=0.3, relax=True).fit(X, y)
    found = model.substitutes(X, y)
    assert set(found.names) == {"age", "dose", "pills"}


def test_equal_weights_leave_nothing_to_substitute(table):
    X, y = table
    model = KnifeRegressor(learn_weights=False).fit(X, y)
    assert len(model.substitutes(X, y)) == 0
    search = KnifeRegressorCV(kernel="rbf", alphas=[0.3], sparsities=[1e6], cv=3).fit(X, y)
    assert search.weighting_ == "equal"
    assert len(search.substitutes()) == 0


def test_an_empty_model_has_no_substitutes(table):
    X, y = table
    found = KnifeRegressor(sparsity=1e6).fit(X, y).substitutes(X, y)
    assert len(found) == 0
    assert str(found) == "There is no column to replace."
    assert found.to_frame().empty


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 1}, "folds"),
        ({"folds": [0, 1]}, "fold of each of the 120 rows"),
        ({"folds": np.zeros(120)}, "two or more folds"),
        ({"n_candidates": 0}, "n_candidates"),
    ],
)
def test_bad_options_get_a_sentence(table, options, message):
    X, y = table
    model = KnifeRegressor(sparsity=6.0).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.substitutes(X, y, **options)


def test_other_columns_are_refused(table):
    X, y = table
    model = KnifeRegressor(sparsity=6.0).fit(X, y)
    with pytest.raises(ValueError, match="fitted on 12"):
        model.substitutes(X.drop(columns="flat"), y)


def one(name, cost=0.01, *, selected=False):
    return Substitute(name, 0.9, cost, 0.8, 0.1, selected)


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        (
            Place("a", (), 0.5, 0.1, True, (one("b", 0.002), one("c", 0.004)), ()),
            "a can be replaced by b (+0.2 %) or c (+0.4 %)",
        ),
        (
            Place("a", ("b",), 0.5, 0.1, True, (one("b", selected=True),), ()),
            "a (with the same information: b) can be replaced by b alone (+1.0 %)",
        ),
        (
            Place("a", (), 0.5, 0.1, True, tuple(map(one, "bcdef")), ()),
            "a can be replaced by b (+1.0 %), c (+1.0 %), d (+1.0 %) or 2 more",
        ),
        (Place("a", (), 0.5, 0.1, True, (), ()), "nothing replaces a (+50 % without it)"),
        (Place("a", (), 0.001, 0.1, False, (), ()), "a is hardly needed (+0.1 % without it)"),
        (
            Place("a", (), 3.08, 2.0, False, (), ()),
            "whether a is needed is not clear (+308 % without it)",
        ),
    ],
)
def test_every_case_has_a_sentence(place, sentence):
    assert str(place) == sentence


def test_an_unknown_column_is_named():
    found = Substitutes((Place("a", (), 0.5, 0.1, True, (), ()),))
    with pytest.raises(KeyError, match="these are: a"):
        found["z"]


def test_folds_of_repeated_and_of_partial_splits():
    first = [(np.r_[2:6], np.r_[0:2]), (np.r_[0:2, 4:6], np.r_[2:4]), (np.r_[0:4], np.r_[4:6])]
    again = [(np.array([1, 3, 5]), np.array([0, 2, 4])), (np.array([0, 2, 4]), np.array([1, 3, 5]))]
    assert fold_of_rows(first + again, np.arange(6)).tolist() == [0, 0, 1, 1, 2, 2]
    assert set(fold_of_rows(first[:2], np.arange(6))) == {0, 1}


def test_a_change_as_text():
    assert [percent(x) for x in (0.002, -0.031, 0.12, 4.0)] == [
        "+0.2 %",
        "-3.1 %",
        "+12 %",
        "+400 %",
    ]


def test_relevance_puts_a_copy_beside_the_selected_column(table):
    X, y = table
    path = knife_path(X, y, alpha=0.3)
    top = set(X.columns[np.argsort(path.relevance)[:3]])
    assert top == {"dose", "age", "pills"}
    assert path.relevance[list(X.columns).index("flat")] == X.shape[1]
    assert sorted(path.relevance) == list(range(1, X.shape[1] + 1))


def test_without_copies_relevance_is_the_elimination_order():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 6))
    path = knife_path(X, np.sin(2 * X[:, 0]) + X[:, 3], alpha=0.3)
    assert np.argsort(path.relevance)[:2].tolist() == np.argsort(path.ranking)[:2].tolist()
    assert set(np.argsort(path.relevance)[:2]) == {0, 3}


def test_relevance_of_mixtures_that_say_the_same():
    """Five columns and five mixtures of them: any five will do, and noise will not."""
    X, y = make_classification(
        200, 20, n_informative=5, n_redundant=5, shuffle=False, random_state=100
    )
    path = knife_path(X, y)
    assert set(np.argsort(path.relevance)[:5]) <= set(range(10))
    assert not set(np.argsort(path.ranking)[:5]) <= set(range(10))


def test_relevance_of_an_empty_path_is_the_elimination_order(table):
    X, y = table
    path = knife_path(X, y, sparsities=[1e5, 1e6])
    assert path.relevance.tolist() == path.ranking.tolist()
