"""What blocks contribute to sums, against the same quantities written out."""

import array_api_strict
import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife._engine.data import Block, Columns
from kernelknife._engine.objective import IndefiniteKernelError
from kernelknife._engine.objective.sums import (
    Setting,
    factorize,
    gradient_sums,
    loss_sums,
    newton_step,
    newton_sums,
    norm_matrix,
)
from kernelknife._utils.arrays import mirrored, to_host
from kernelknife.kernels import RBF
from kernelknife.losses import LOSSES, SquaredLoss

SMOOTH = sorted(name for name, loss in LOSSES.items() if loss().surrogate is None)
K, M, N, P = 2, 6, 20, 3  # columns of scores, centers, rows, columns


class Instance:
    """A block of rows, centers and coefficients, and the same quantities in plain NumPy."""

    def __init__(self, rng, loss, foreign=False):
        X, self.Z = rng.normal(size=(N, P)), rng.normal(size=(M, P))
        self.Y = np.where(rng.normal(size=(N, K)) > 0, 1.0, -1.0)
        if loss.inverse_link(0.0) == 1.0:
            self.Y += 2.0  # counts
        self.s, self.v = rng.uniform(0.5, 2.0, size=N), rng.uniform(0.1, 0.5, size=P)
        self.C, self.b = rng.normal(size=(M, K)), rng.normal(size=(1, K))
        columns = Columns(np.arange(P), np.zeros(P), np.ones(P))
        self.setting = Setting(RBF(), loss, columns, self.v, K)
        self.matrix = RBF()(X, self.Z, self.v)
        self.X = X
        parts = (X, self.Y, self.s)
        if foreign:
            parts = tuple(array_api_strict.asarray(part) for part in parts)
        self.block = Block(*parts, 0)
        self.F = self.matrix @ self.C + self.b


@pytest.mark.parametrize("foreign", [False, True], ids=["numpy", "array API"])
@pytest.mark.parametrize("loss", SMOOTH)
def test_newton_sums_are_value_slope_and_curvature_of_the_loss(loss, foreign, rng):
    loss = LOSSES[loss]()
    one = Instance(rng, loss, foreign)
    total, slopes, curvatures = newton_sums(one.block, one.Z, one.setting, one.C, one.b)
    wide = np.column_stack([one.matrix, np.ones(N)])
    assert_allclose(float(total), (one.s @ loss.value(one.Y, one.F)).sum())
    assert_allclose(
        to_host(slopes), wide.T @ (one.s[:, None] * loss.gradient(one.Y, one.F)), atol=1e-12
    )
    h = one.s[:, None] * loss.curvature(one.Y, one.F)
    for q in range(1 if loss.constant_curvature else K):
        lower = np.tril(to_host(curvatures[q, ...]))
        assert_allclose(lower, np.tril(wide.T @ (h[:, q : q + 1] * wide)), atol=1e-10)
    (again,) = loss_sums(one.block, one.Z, one.setting, one.C, one.b)
    assert_allclose(float(again), float(total))


@pytest.mark.parametrize("loss", SMOOTH)
def test_gradient_sums_against_finite_differences(loss, rng, central_difference):
    loss = LOSSES[loss]()
    one = Instance(rng, loss)

    def value(v):
        F = RBF()(one.X, one.Z, v) @ one.C + one.b
        return (one.s @ loss.value(one.Y, F)).sum()

    (slopes,) = gradient_sums(one.block, one.Z, one.setting, one.C, one.b)
    assert_allclose(slopes, central_difference(value, one.v), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_one_newton_step_minimizes_a_quadratic(fit_intercept, rng):
    one, alpha = Instance(rng, SquaredLoss()), 0.3
    norm = norm_matrix(one.Z, one.setting, 1e-8)
    zeros = np.zeros((M + 1, K))
    sums = newton_sums(one.block, one.Z, one.setting, zeros[:M], zeros[M:])
    step = newton_step(sums, norm, alpha, zeros, fit_intercept, constant=True, loss_scale=1.0)
    after = step.summary.after

    def value(C, b):
        residual = one.Y - one.matrix @ C - b
        return (one.s @ residual**2).sum() + alpha * np.vdot(C, norm @ C)

    assert_allclose(step.summary.value, value(after[:M], after[M]), rtol=1e-10)
    for _ in range(10):
        move = 1e-3 * rng.normal(size=after.shape)
        if not fit_intercept:
            move[M] = 0.0
        assert value((after + move)[:M], (after + move)[M]) > step.summary.value
    if not fit_intercept:
        assert_allclose(after[M], 0.0)


def test_an_indefinite_system_is_reported():
    with pytest.raises(IndefiniteKernelError, match="raise alpha"):
        factorize(-np.eye(4), np.eye(3), 1e-3)


def test_a_block_remembers_its_matrix_for_one_setting(rng):
    one, memory = Instance(rng, SquaredLoss()), {}
    block = Block(one.X, one.Y, one.s, 3, memory)
    first = one.setting.evaluate(block, one.Z)
    assert one.setting.evaluate(block, one.Z)[3] is first[3]
    other = Setting(RBF(2.0), SquaredLoss(), one.setting.columns, one.v, K)
    assert other.evaluate(block, one.Z)[3] is not first[3]
    assert_allclose(mirrored(np.tril(first[3].T @ first[3])), first[3].T @ first[3])


@pytest.mark.parametrize("loss", SMOOTH)
def test_the_curvature_of_the_next_step_is_that_of_a_first_one(loss, rng):
    """Of a hinge only the rows that have changed sides are added or taken away."""
    one = Instance(rng, LOSSES[loss]())
    remembering = Block(one.X, one.Y, one.s, 3, {})
    for step in (0.0, 0.1, 0.5, 0.0, 20.0):
        C, b = one.C * (1.0 - step), one.b + step
        sums = [newton_sums(block, one.Z, one.setting, C, b) for block in (one.block, remembering)]
        for fresh, updated in zip(*sums, strict=True):
            updated, fresh = np.tril(np.atleast_2d(updated)), np.tril(np.atleast_2d(fresh))
            assert_allclose(updated, fresh, atol=1e-12 * np.abs(fresh).max())
