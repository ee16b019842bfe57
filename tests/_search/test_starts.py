"""Where the weights start."""

import numpy as np
import pytest

from kernelknife import knife_path
from kernelknife._problem import ExactProblem, Features
from kernelknife._search import starts
from kernelknife.kernels import RBF
from kernelknife.losses import SquaredLoss


def uniform(n, p, seed):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, size=(n, p))


@pytest.mark.parametrize("kept", [[], [0], [0, 1], [0, 1, 5]])
def test_a_start_is_added_unless_the_features_are_on_top(kept):
    X = uniform(300, 20, 11)
    problem = ExactProblem(X, np.sign(X[:, :1] * X[:, 1:2]), RBF(), SquaredLoss())
    base = np.zeros(20)
    base[kept] = 0.3
    w = starts.product_weights(problem, base)
    if kept == [0, 1]:
        assert w is None
    else:
        assert w[0] == w[1] == np.sqrt(0.25)
        assert w[5] < 0.5
        assert not w[6:].any()


def test_a_start_of_wide_groups_is_no_plateau():
    X = uniform(400, 60, 12)
    groups = np.arange(60) // 20
    problem = ExactProblem(
        X, np.sign(X[:, :1] * X[:, 20:21]), RBF(), SquaredLoss(), features=Features(60, groups)
    )
    w = starts.product_weights(problem, np.zeros(3))
    assert w[2] == 0.0
    assert w[groups] @ w[groups] == pytest.approx(0.5)


def test_rows_are_few_where_columns_are_many(monkeypatch):
    seen = []

    def watched(X, Y, weight):
        seen.append(X.shape)
        return np.zeros(0, dtype=int)

    monkeypatch.setattr(starts, "interacting_features", watched)
    for p in (30, 1500, 4600):
        X = np.random.default_rng(p).normal(size=(1000, p))
        problem = ExactProblem(X, X[:, :1], RBF(), SquaredLoss())
        assert starts.product_weights(problem, np.zeros(p)) is None
    assert seen == [(1000, 30), (888, 1500)]


def test_named_starts_stay_what_they_are():
    X = uniform(400, 51, 0)
    y = X[:, :3].prod(axis=1) > 0
    for start in ("scaled", "laplace"):
        assert knife_path(X, y, start=start).start == start
