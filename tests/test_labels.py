"""Several labels at once: one model per label, one selection for all of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.metrics import accuracy_score

from kernelknife import KnifeClassifier, KnifeClassifierCV, knife_path


@pytest.fixture
def labeled(rng):
    """Rows whose labels depend on columns 0, on 1 and 2 together, and on 3."""
    X = rng.uniform(-1, 1, size=(250, 10))
    Y = np.column_stack([X[:, 0] > 0.2, X[:, 1] * X[:, 2] > 0, np.abs(X[:, 3]) > 0.5]).astype(int)
    return X, Y


@pytest.mark.parametrize("n_centers", [None, 60])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge"])
def test_at_given_weights_every_label_has_the_model_that_it_has_alone(loss, n_centers, labeled):
    if loss == "hinge" and n_centers:
        pytest.skip("no model on centers")
    X, Y = labeled
    fixed = {"learn_weights": False, "start": 0.4, "loss": loss, "n_centers": n_centers}
    together = KnifeClassifier(**fixed).fit(X, Y)
    assert together.predict(X).shape == Y.shape
    for label, y in enumerate(Y.T):
        alone = KnifeClassifier(**fixed).fit(X, y)
        scores = together.decision_function(X)[:, label]
        assert_allclose(scores, alone.decision_function(X), atol=1e-4)
        assert_array_equal(together.predict(X)[:, label], scores > 0)
        if loss == "logistic":
            mine = together.predict_proba(X)[:, label]
            assert_allclose(mine, alone.predict_proba(X)[:, 1], atol=1e-4)


def test_the_columns_of_all_labels_are_found(labeled):
    X, Y = labeled
    model = KnifeClassifier("anova", loss="logistic", sparsity=3.0).fit(X, Y)
    assert_array_equal(model.get_support(indices=True), [0, 1, 2, 3])
    assert_array_equal(model.classes_, [0, 1, 2])
    assert_allclose(model.score(X, Y), accuracy_score(Y, model.predict(X)))
    sparse = KnifeClassifier("anova", loss="logistic", sparsity=3.0).fit(X, csr_array(Y))
    assert_allclose(sparse.weights_, model.weights_)
    path = knife_path(X, Y, task="classification", loss="logistic", kernel="anova")
    assert set(path.ranking.argsort()[:4]) == {0, 1, 2, 3}


def test_the_search_takes_labels(labeled):
    X, Y = labeled
    search = KnifeClassifierCV("anova", loss="logistic", alphas=[0.3], sparsities=8, cv=3)
    search.fit(X, Y)
    assert {0, 1, 2, 3} <= set(search.get_support(indices=True))
    assert search.predict_proba(X).shape == Y.shape
    assert search.best_score_ > 0.85


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_every_label_learns_a_probability_of_its_own(method, labeled):
    X, Y = labeled
    single = KnifeClassifier("anova", sparsity=3.0, probability=method).fit(X, Y)
    found = single.predict_proba(X)
    sparse = KnifeClassifier("anova", sparsity=3.0, probability=method).fit(X, csr_array(Y))
    assert_allclose(sparse.predict_proba(X), found)
    search = KnifeClassifierCV("anova", alphas=[0.3], sparsities=5, cv=3, probability=method)
    for model in (single, search.fit(X, Y)):
        found = model.predict_proba(X)
        assert found.shape == Y.shape
        assert ((found > 0.5) == Y).mean() > 0.9
        for label in range(3):
            order = np.argsort(model.decision_function(X)[:, label])
            assert (np.diff(found[order, label]) >= -1e-12).all()


def test_labels_that_are_none_are_explained(labeled):
    X, Y = labeled
    with pytest.raises(ValueError, match="every column must hold 0 and 1"):
        KnifeClassifier().fit(X, Y + 1)
    empty = np.column_stack([Y, np.zeros(len(Y), dtype=int)])
    with pytest.raises(ValueError, match="column 3 of the target separates nothing: no row has"):
        KnifeClassifier().fit(X, empty)
    with pytest.raises(ValueError, match="class_weight is for one column of classes"):
        KnifeClassifier(class_weight="balanced").fit(X, Y)
