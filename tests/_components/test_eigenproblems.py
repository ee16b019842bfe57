"""Regressions of scores, and eigenproblems of weighted kernel matrices."""

import numpy as np
from numpy.testing import assert_allclose

from kernelknife._components.eigenproblems import (
    centered_features,
    column_signs,
    leading_components,
    seen_columns,
    set_up_table,
    share_of_variance,
)
from kernelknife._engine import FitSpec
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.solvers import Eliminate
from kernelknife.kernels import RBF
from kernelknife.losses import SquaredLoss


def setup_of(X, n_centers=None):
    return set_up_table(
        FitSpec(RBF(), SquaredLoss(), Eliminate(), n_centers=n_centers), ArrayRows(X)
    )


def test_the_gradient_of_the_problem_of_scores(rng, central_difference):
    X = rng.normal(size=(25, 4))
    setup = setup_of(X)
    w = rng.uniform(0.2, 0.8, size=4)
    problem = setup.with_targets(leading_components(setup, w, 2).targets).problem
    numeric = central_difference(lambda v: [problem.solve(v).smooth], w)[0]
    assert_allclose(problem.gradient(problem.solve(w)), numeric, rtol=1e-5, atol=1e-7)


def test_leading_components_minimize_over_the_scores(rng):
    X = rng.normal(size=(30, 3))
    setup, w = setup_of(X), np.array([0.3, 0.8, 0.5])
    found = leading_components(setup, w, 2)
    assert_allclose(found.targets.T @ found.targets, 30 * np.eye(2), atol=1e-8)
    best = setup.with_targets(found.targets).problem.solve(w).smooth
    assert_allclose(best, 30 * (1.0 / (found.eigenvalues + 1.0)).sum())  # alpha is 1
    for _ in range(5):
        other = np.linalg.qr(rng.normal(size=(30, 2)))[0]
        other = np.linalg.qr(other - other.mean(axis=0))[0] * np.sqrt(30)
        assert setup.with_targets(other).problem.solve(w).smooth > best


def test_centers_see_the_same_components_where_they_span(rng):
    X = rng.normal(size=(80, 3))
    w = np.full(3, 0.5)
    ours, theirs = (leading_components(setup_of(X, m), w, 3) for m in (None, 80))
    assert_allclose(ours.eigenvalues, theirs.eigenvalues, rtol=1e-8)
    assert_allclose(ours.scores, theirs.scores, atol=1e-7)
    assert_allclose(ours.total, theirs.total, rtol=1e-8)


def test_the_products_of_the_features_are_the_centered_kernel_matrix(rng):
    X, w = rng.normal(size=(40, 3)), np.array([0.5, 0.0, 0.8])
    for n_centers in (None, 40):
        setup = setup_of(X, n_centers)
        seen = seen_columns(setup)
        K = RBF()(seen, seen, w**2)
        H = np.eye(40) - 1.0 / 40
        features = centered_features(setup, seen, w)
        assert_allclose(features @ features.T, H @ K @ H, atol=1e-7)


def test_components_have_the_share_of_their_eigenvalues(rng):
    A = rng.normal(size=(20, 4))
    K, values = A @ A.T, np.linalg.svd(A - A.mean(axis=0))[1] ** 2
    assert_allclose(share_of_variance(K, 2), values[:2].sum() / values.sum())
    assert_allclose(share_of_variance(K, 30), 1.0)


def test_the_sign_is_that_of_the_largest_entry(rng):
    A = rng.normal(size=(9, 3))
    sign = column_signs(A)
    assert ((A * sign).max(axis=0) == np.abs(A).max(axis=0)).all()
    assert_allclose(column_signs(-A), -sign)
    assert_allclose(column_signs(rng.permutation(A)), sign)


def test_many_rows_go_to_centers_and_the_user_may_say_how_many(rng):
    X = rng.normal(size=(1501, 2))
    assert setup_of(X[1:]).problem.exact
    assert len(setup_of(X).problem.centers) == 300
    assert len(setup_of(X, 50).problem.centers) == 50
