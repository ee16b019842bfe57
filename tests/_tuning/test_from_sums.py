"""A search that sums products of columns once is the search that walks through the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife import KnifeRegressorCV
from kernelknife._engine import policy


def data(rng, n=300, p=6):
    X = rng.normal(size=(n, p))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)
    return X, y


@pytest.mark.parametrize("kernel", ["linear", "additive"])
@pytest.mark.parametrize("options", [{}, {"relax": True}, {"n_features_to_select": 2}])
def test_the_answer_is_the_same(kernel, options, rng, monkeypatch):
    X, y = data(rng)
    s = rng.uniform(0.5, 2.0, len(X))
    groups = {"feature_groups": {"both": [0, 4]}} if not options else {}
    ours, theirs = (
        KnifeRegressorCV(kernel=kernel, random_state=0, cv=3, **options, **groups) for _ in range(2)
    )
    ours.fit(X, y, sample_weight=s)
    with monkeypatch.context() as patched:
        patched.setattr(policy, "FEWER_COLUMNS", 0.0)
        theirs.fit(X, y, sample_weight=s)
    for name in ("mean_test_score", "mean_n_features", "sparsity", "alpha"):
        assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], rtol=1e-7)
    ours, theirs = ours.best_estimator_, theirs.best_estimator_
    assert_array_equal(ours.support_vectors_rows_, theirs.support_vectors_rows_)
    assert_allclose(ours.weights_, theirs.weights_, rtol=1e-6, atol=1e-9)
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-5, atol=1e-7)
    assert_allclose(ours.objective_, theirs.objective_, rtol=1e-9)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6, atol=1e-8)


def test_a_path_that_sums_have_found_has_models_and_orders_of_relevance(rng):
    X, y = data(rng)
    found = KnifeRegressorCV(kernel="additive", random_state=0, cv=3).fit(X, y)
    assert not found.path_._setup.problem.of_rows
    model = found.path_.model(len(found.path_.sparsities) // 2)
    assert np.isfinite(model.predict(X)).all()
    assert [effect.names for effect in model.effects()]
    assert set(np.argsort(found.path_.relevance)[:2]) == {0, 1}
