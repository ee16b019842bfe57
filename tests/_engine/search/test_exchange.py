"""Features in the place of others: what is found, what is not, and that nobody peeks."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife._engine.objective import ExactProblem, Features
from kernelknife._engine.search import exchange
from kernelknife._engine.search.exchange import (
    ExchangeSettings,
    choose_sufficient,
    make_folds,
    measure_exchanges,
)
from kernelknife._engine.solvers import Eliminate, Solution
from kernelknife.kernels import KERNELS, RBF, check_kernel
from kernelknife.losses import SquaredHinge, SquaredLoss


def copies(rng, n=120):
    """Two true columns, a noisy copy of each, a mirror image of the first, and noise."""
    x, z = rng.normal(size=(2, n))
    near = [0.97 * a + 0.25 * rng.normal(size=n) for a in (x, z)]
    X = np.column_stack([x, z, *near, -x, rng.normal(size=(n, 6))])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = np.sin(1.5 * x) + z + 0.1 * rng.normal(size=n)
    return X, (y - y.mean())[:, None] / y.std()


def solved(problem, support, sparsity):
    """Return weights of a model that has some features."""
    w = np.zeros(problem.n_weights)
    w[support] = 0.3
    if problem.absorbing:
        return Eliminate().solve(problem, w, sparsity).w
    w[support] = Eliminate().solve(problem.restricted(np.array(support)), w[support], sparsity).w
    return w


def by_member(removals):
    return {member: removal for removal in removals for member in removal.members}


def named(removal):
    return {found.weight for found in removal.replacements if found.is_substitute}


@pytest.mark.parametrize("name", sorted(set(KERNELS) - {"additive", "anova"}))
def test_copies_are_named_and_noise_is_not(name, rng):
    X, Y = copies(rng)
    problem = ExactProblem(X, Y, check_kernel(name), SquaredLoss(), alpha=0.3)
    w = solved(problem, [0, 1], 2.0)
    found = by_member(measure_exchanges(problem, Eliminate(), w, 2.0))
    assert set(found) == {0, 1}
    assert named(found[0]) == {2, 4}
    assert named(found[1]) == {3}
    assert found[0].needed
    assert found[1].needed


def test_an_exact_copy_makes_up_for_everything(rng):
    X, Y = copies(rng)
    problem = ExactProblem(X, Y, RBF(), SquaredLoss(), alpha=0.3)
    w = solved(problem, [0, 1], 2.0)
    removal = by_member(measure_exchanges(problem, Eliminate(), w, 2.0))[0]
    mirror = next(found for found in removal.replacements if found.weight == 4)
    assert_allclose([mirror.alike, mirror.makes_up], 1.0, rtol=1e-2)
    assert abs(mirror.cost) < 0.01


def test_features_that_say_the_same_are_forbidden_together(rng):
    """With the copy left in the model, the true column would look superfluous."""
    X, Y = copies(rng)
    problem = ExactProblem(X, Y, RBF(), SquaredLoss(), alpha=0.3)
    w = np.zeros(11)
    w[[0, 1, 2]] = 0.4, 0.4, 0.2
    found = by_member(measure_exchanges(problem, Eliminate(), w, 0.5))
    assert found[0] is found[2]
    assert found[0].members == (0, 2)
    assert found[0].needed
    assert {0, 2, 4} <= named(found[0])


def test_an_interaction_keeps_its_partner_until_the_exchange(rng):
    """Without one factor of a product the other is of no use, and would be dropped."""
    X = rng.uniform(-1, 1, size=(200, 8))
    X[:, 2] = 0.97 * X[:, 0] + 0.1 * rng.normal(size=200)
    Y = np.where(X[:, :1] * X[:, 1:2] > 0, 1.0, -1.0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    problem = ExactProblem(X, Y, RBF(), SquaredHinge())
    w = solved(problem, [0, 1], 5.0)
    found = by_member(measure_exchanges(problem, Eliminate(), w, 5.0))
    assert named(found[0]) == {2}
    assert named(found[1]) == set()


def test_the_gradient_finds_a_substitute_that_is_not_correlated(rng):
    """x and abs(x) are uncorrelated; for an even function either will do."""
    x = rng.normal(size=150)
    X = np.column_stack([x, np.abs(x), rng.normal(size=(150, 8))])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = (x**2)[:, None] + 0.1 * rng.normal(size=(150, 1))
    Y = (Y - Y.mean()) / Y.std()
    problem = ExactProblem(X, Y, RBF(), SquaredLoss(), alpha=0.3)
    w = solved(problem, [0], 1.0)
    (removal,) = measure_exchanges(problem, Eliminate(), w, 1.0)
    assert named(removal) == {1}
    assert removal.replacements[0].alike < 0.25


def test_noise_that_fits_all_rows_by_chance_is_not_named(rng):
    """Among 2,000 columns some fit the residuals of 40 rows; held-out rows are not fooled."""
    n = 40
    X = rng.normal(size=(n, 2000))
    Y = X[:, :1] + 0.5 * rng.normal(size=(n, 1))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    problem = ExactProblem(X, (Y - Y.mean()) / Y.std(), RBF(), SquaredLoss(), alpha=0.3)
    w = solved(problem, [0], 1.0)
    (removal,) = measure_exchanges(problem, Eliminate(), w, 1.0)
    assert len(named(removal)) <= 1
    assert removal.needed


def test_a_group_is_one_feature(rng):
    X, Y = copies(rng)
    owner = np.array([0, 1, 2, 3, 0, 4, 5, 6, 7, 8, 9])
    problem = ExactProblem(X, Y, RBF(), SquaredLoss(), features=Features.of_columns(11, owner))
    w = solved(problem, [0, 1], 1.0)
    found = by_member(measure_exchanges(problem, Eliminate(), w, 1.0))
    assert named(found[0]) == {2}
    assert named(found[1]) == {3}


def test_column_order_does_not_matter(rng):
    X, Y = copies(rng)
    order = rng.permutation(11)
    results = []
    for columns in (np.arange(11), order):
        problem = ExactProblem(X[:, columns], Y, RBF(), SquaredLoss(), alpha=0.3)
        w = np.zeros(11)
        w[[list(columns).index(0), list(columns).index(1)]] = 0.4, 0.3
        found = measure_exchanges(problem, Eliminate(), w, 1.0)
        results.append(
            {
                (columns[r.members[0]], columns[one.weight]): one.cost
                for r in found
                for one in r.replacements
            }
        )
    assert set(results[0]) == set(results[1])
    assert_allclose([results[0][k] for k in results[0]], [results[1][k] for k in results[0]])


def test_folds_have_the_same_targets(rng):
    Y = np.where(rng.random((50, 1)) < 0.3, 1.0, -1.0)
    labels = make_folds(Y, 5, 0)
    assert (np.bincount(labels) == 10).all()
    positive = np.bincount(labels, (Y[:, 0] > 0).astype(float))
    assert positive.max() - positive.min() <= 1


def test_given_folds_are_used_and_checked(rng):
    X, Y = copies(rng)
    problem = ExactProblem(X, Y, RBF(), SquaredLoss(), alpha=0.3)
    w = solved(problem, [0, 1], 2.0)
    labels = make_folds(Y, 4, 3)
    given = measure_exchanges(problem, Eliminate(), w, 2.0, labels=labels)
    own = measure_exchanges(problem, Eliminate(), w, 2.0, ExchangeSettings(n_folds=4, seed=3))
    assert given == own
    with pytest.raises(ValueError, match="two or more folds"):
        measure_exchanges(problem, Eliminate(), w, 2.0, labels=np.zeros(120, dtype=int))


def test_nothing_selected_gives_nothing(rng):
    X, Y = copies(rng)
    problem = ExactProblem(X, Y, RBF(), SquaredLoss())
    assert measure_exchanges(problem, Eliminate(), np.zeros(11), 1.0) == ()


def test_a_long_table_is_judged_on_some_of_its_rows(rng, monkeypatch):
    assert exchange.EXCHANGE.rows >= 500
    monkeypatch.setattr(exchange, "EXCHANGE", replace(exchange.EXCHANGE, rows=100))
    X, Y = copies(rng, n=400)
    problem = ExactProblem(X, Y, RBF(), SquaredLoss(), alpha=0.3)
    w = solved(problem, [0, 1], 2.0)
    found = by_member(measure_exchanges(problem, Eliminate(), w, 2.0))
    assert {2, 4} <= named(found[0])


def test_the_fewest_features_that_suffice(rng):
    """Two true features: one is too few, noise beside them is too many."""
    X, Y = copies(rng)
    problem = ExactProblem(X, Y, RBF(), SquaredLoss(), alpha=0.3)
    weights = np.zeros((3, 11))
    weights[:, 0], weights[:2, 1], weights[0, 5:8] = 0.6, 0.5, 0.3
    points = [Solution.at(problem.solve(w), 0.1, 0.0) for w in weights]
    assert choose_sufficient(problem, Eliminate(), points) == 1
    nothing = Solution.at(problem.solve(np.zeros(11)), 1.0, 0.0)
    assert choose_sufficient(problem, Eliminate(), [nothing]) == 0


def test_of_very_many_features_the_heaviest_are_looked_at(rng, monkeypatch):
    monkeypatch.setattr(exchange, "EXCHANGE", replace(exchange.EXCHANGE, places=2))
    X, Y = copies(rng)
    problem = ExactProblem(X, Y, RBF(), SquaredLoss(), alpha=0.3)
    w = np.zeros(11)
    w[[0, 1, 5, 6]] = 0.5, 0.4, 0.1, 0.2
    found = measure_exchanges(problem, Eliminate(), w, 0.1)
    assert [removal.members for removal in found] == [(0,), (1,)]


def test_the_penalty_of_many_rows_does_not_empty_a_sample_of_them(rng, monkeypatch):
    """What all rows need, a sample of them needs, too: the penalty goes with their number."""
    monkeypatch.setattr(exchange, "EXCHANGE", replace(exchange.EXCHANGE, rows=150))
    X = rng.normal(size=(900, 6))
    y = X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + 0.3 * rng.normal(size=900)
    problem = ExactProblem(X, (y - y.mean())[:, None] / y.std(), RBF(), SquaredLoss(), alpha=0.3)
    w = solved(problem, [0, 1, 2], 300.0)
    assert (w[:3] > 0).all()
    found = by_member(measure_exchanges(problem, Eliminate(), w, 300.0))
    assert all(found[j].needed for j in range(3))
