"""A plan is what a search does, and it knows on how many rows."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneOut

from kernelknife import KnifeClassifierCV, KnifeRegressorCV
from kernelknife._tuning import plan_search, rows_to_search


def test_a_plan_is_what_a_search_does(rng):
    X = rng.normal(size=(300, 3))
    y = X[:, 0] ** 2 + 0.1 * rng.normal(size=300)
    search = KnifeRegressorCV(["linear", "rbf"], alphas=1.0, search_rows=120, sparsities=4)
    plan = plan_search(search, len(X))
    search.fit(X, y)
    assert list(plan.kernels) == ["linear", "rbf"]
    assert plan.n_rows == len(np.unique(np.concatenate(search.splits_[0]))) == 120
    assert (plan.n_folds, plan.n_paths) == (len(search.splits_), search.n_paths_)
    assert plan.n_centers is None
    assert plan_search(KnifeRegressorCV(), 10_000).n_centers == 300
    # The time is that of a Gaussian step, which has centers where convex kernels have none yet.
    assert plan_search(KnifeRegressorCV("linear"), 2000).n_centers == 300
    assert plan_search(KnifeRegressorCV(["rbf", "additive"]), 2000).n_centers == 300
    # Neither the hinge nor the sigmoid kernel has a model on centers.
    assert plan_search(KnifeClassifierCV("rbf", "hinge"), 10_000).n_centers is None
    assert plan_search(KnifeClassifierCV("sigmoid"), 10_000).n_centers is None


@pytest.mark.parametrize(
    ("most", "cv", "expected"),
    [
        (3000, None, 3000),
        (3000, 10, 3000),
        (9000, None, 5000),
        (None, None, 5000),
        # Both may name rows, which a draw would take away.
        (3000, KFold(5), 5000),
        (3000, [(np.arange(4000), np.arange(4000, 5000))], 5000),
    ],
)
def test_folds_that_are_counted_leave_the_search_on_some_rows(most, cv, expected):
    assert rows_to_search(5000, most, cv) == expected


def test_folds_that_are_planned_are_those_that_are_made():
    assert plan_search(KnifeRegressorCV(), 150).n_folds == 10
    assert plan_search(KnifeRegressorCV(), 150, n_folds=5).n_folds == 5  # groups, or a rare class
    assert plan_search(KnifeRegressorCV(cv=KFold(3)), 150).n_folds == 3
    assert plan_search(KnifeRegressorCV(cv=[(0, 1)] * 4), 150).n_folds == 4
    assert plan_search(KnifeRegressorCV(cv=LeaveOneOut()), 150).n_folds == 5, "not known before"
