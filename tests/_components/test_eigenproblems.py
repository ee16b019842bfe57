"""Eigenproblems of weighted kernel matrices, and columns against permuted columns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife import KnifePCA
from kernelknife._components.eigenproblems import (
    dependence_scores,
    dependence_weights,
    expand_columns,
    leading_components,
    make_regressor,
    permuted,
    seen_columns,
    structure_gap,
    table_job,
    with_targets,
)


def job_of(X, **options):
    return table_job(make_regressor(KnifePCA(**options), len(X), 0), X)


def test_the_gradient_of_the_problem_of_scores(rng, central_difference):
    X = rng.normal(size=(25, 4))
    job = job_of(X)
    w = rng.uniform(0.2, 0.8, size=4)
    scores = leading_components(job, seen_columns(job), w, 2).targets
    problem = with_targets(job, scores).problem
    numeric = central_difference(lambda v: [problem.solve(v).smooth], w)[0]
    assert_allclose(problem.gradient(problem.solve(w)), numeric, rtol=1e-5, atol=1e-7)


def test_leading_components_minimize_over_the_scores(rng):
    X = rng.normal(size=(30, 3))
    job, w = job_of(X), np.array([0.3, 0.8, 0.5])
    found = leading_components(job, seen_columns(job), w, 2)
    assert_allclose(found.targets.T @ found.targets, 30 * np.eye(2), atol=1e-8)
    best = with_targets(job, found.targets).problem.solve(w).smooth
    assert_allclose(best, 30 * (1.0 / (found.eigenvalues + 1.0)).sum())  # alpha is 1
    for _ in range(5):
        other = np.linalg.qr(rng.normal(size=(30, 2)) - 0.0)[0]
        other = np.linalg.qr(other - other.mean(axis=0))[0] * np.sqrt(30)
        assert with_targets(job, other).problem.solve(w).smooth > best


def test_centers_see_the_same_components_where_they_span(rng):
    X = rng.normal(size=(80, 3))
    exact, centered = job_of(X), job_of(X, n_centers=80)
    w = np.full(3, 0.5)
    ours, theirs = (leading_components(job, seen_columns(job), w, 3) for job in (exact, centered))
    assert_allclose(ours.eigenvalues, theirs.eigenvalues, rtol=1e-8)
    assert_allclose(ours.scores, theirs.scores, atol=1e-7)
    assert_allclose(ours.total, theirs.total, rtol=1e-8)


def test_dependence_is_one_for_copies_and_small_for_independent_columns(rng):
    X = rng.normal(size=(300, 4))
    X[:, 2] = -2.0 * X[:, 0] + 1.0
    features = expand_columns(job_of(X))
    scores = dependence_scores(features, features)
    assert_allclose(scores, scores.T, atol=1e-12)
    assert_allclose(scores.diagonal(), 1.0)
    assert scores[0, 2] > 0.99
    assert scores[0, 1] < 0.05


def test_dependence_starts_favor_what_depends_and_leave_nothing_out(rng):
    X = rng.normal(size=(150, 30))
    X[:, 11] = X[:, 3] ** 2 + 0.1 * rng.normal(size=150)
    job = job_of(X)
    w, seen = dependence_weights(job, 0)
    assert seen
    assert set(np.argsort(-w)[:2]) == {3, 11}
    assert (w > 0).all()
    equal, seen = dependence_weights(job_of(X[:, 4:11]), 0)
    assert not seen
    assert np.ptp(equal) == 0.0


def test_columns_of_one_weight_are_permuted_together():
    A = np.arange(12.0).reshape(6, 2).repeat(2, axis=1)
    result = permuted(A, np.array([0, 0, 1, 1]), 0, 0)
    assert_allclose(np.sort(result, axis=0), A)
    assert_allclose(result[:, 0], result[:, 1])
    assert not np.array_equal(result[:, 0] + 1.0, result[:, 2])
    assert_allclose(permuted(A[:, 2:], np.array([1, 1]), 0, 0), result[:, 2:])


def test_a_column_alone_has_no_gap_and_copies_have_one(rng):
    X = rng.normal(size=(80, 3))
    X[:, 0] = np.sign(X[:, 0])
    X[:, 2] = X[:, 1]
    job = job_of(X)
    seen = seen_columns(job)
    alone, spread = structure_gap(job, seen, np.array([0.7, 0.0, 0.0]), 2, 5, 0)
    assert abs(alone) < 1e-12 > spread
    both, spread = structure_gap(job, seen, np.array([0.0, 0.7, 0.7]), 2, 5, 0)
    assert both > 10 * spread
    with pytest.raises(ValueError, match="n_permutations"):
        structure_gap(job, seen, np.ones(3), 2, 1, 0)
