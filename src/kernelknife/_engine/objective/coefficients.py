"""The coefficient step: the kernel model at fixed weights.

For each score column it minimizes ``sum_i s_i loss(y_i, F_i) + alpha c' K c`` with
``F = K c + U b`` by Newton's method, ``U`` the columns that nothing penalizes: ones for the
intercept, and those that are adjusted for. Rows fall into two kinds. Where the loss is curved
(``h = s loss'' > 0``) one step solves

    (K + 2 alpha H^-1) c + U b = F - H^-1 g - K_flat c_flat,        U'c = 0,

and where it is flat the coefficient is known, ``c = -g / (2 alpha)``: zero for rows beyond
the margin, so a hinge-like loss factorizes only its support vectors.

A loss that couples rows has a curvature ``H`` that is no diagonal. The step above takes a diagonal
above it; a few conjugate gradients, preconditioned by that step, turn it into Newton's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from kernelknife._engine.objective.base import Fit
from kernelknife._engine.objective.factors import CholeskyFactor, Factor, KernelMatrix
from kernelknife.losses import Loss, Risk

__all__ = [
    "ASSUMED_CURVATURES",
    "ExactFit",
    "Quadratic",
    "best_constant",
    "null_objective",
    "share_explained",
    "solve_columns",
]

# Most Newton steps. Four to ten are the rule; a narrow Huberized hinge at a tiny alpha, whose
# curvature jumps from row to row, may take dozens.
NEWTON_STEPS = 100
# Rows with less curvature than this share of the loss's bound, or of the largest curvature where
# there is none, count as flat: dividing by it would cost more digits than the row is worth.
FLAT = 1e-10
# A full step is taken where the slope at its end is this share of the one at its beginning, and
# where both are below this share of the value, which rounding alone may give.
FLAT_SLOPE, NO_SLOPE = 1e-3, 1e-13
# Least curvature of a row, as a share of the loss's bound, that a step assumes: none at first,
# which is Newton's step, and more after a step that did not lower the value, up to the bound
# itself, whose model lies above the loss and whose step cannot fail. Without a bound the largest
# curvature takes its place, and the search along the step prevents a rise.
ASSUMED_CURVATURES = (0.0, 1e-4, 1e-2, 1.0)
CLOSE = 1e-6  # residual below which a step that fails is a matter of rounding
# Bisections of a step length: as a rule, and where the step has to be tiny to descend at all.
BISECTIONS, MOST_BISECTIONS = 11, 40
# Conjugate gradients per step for a loss that couples rows, and the share of the residual that they
# leave at most: one of them costs two products with the kernel matrix, a step its factorization.
GRADIENTS, GRADIENT_SHARE, LEAST_SHARE = 20, 0.1, 1e-3
NO_MOVE = 1e-10  # cosine of a residual and of a direction below which it is rounding
CONSTANT_STEPS, CONSTANT_TOL = 50, 1e-12  # of Newton's method for the unpenalized columns alone
LEVEL_TOL, FARTHEST_LEVEL = 1e-10, 1e12  # of a search for the intercept alone


@dataclass(frozen=True)
class ExactFit(Fit):
    """Coefficients and scores of all columns, with the last factorizations.

    The scores are without the offset, which is part of the loss.
    """

    F: np.ndarray
    factors: Sequence[Factor]


@dataclass(frozen=True)
class Quadratic:
    """What coefficients of a quadratic loss depend on besides the kernel matrix: made once."""

    rows: np.ndarray
    shift: np.ndarray  # of the diagonal of the kernel matrix
    z: np.ndarray  # scores that one step from zero asks for, which is exact

    @classmethod
    def of(cls, risk: Risk, n_outputs: int, alpha: float) -> "Quadratic":
        """Return it for a loss of constant curvature."""
        n = len(risk.s)
        z = -risk.slope(np.zeros((n, n_outputs))) / risk.bound
        return cls(np.arange(n), 2.0 * alpha / (risk.bound * risk.s), z)


def solve_columns(
    K: KernelMatrix,
    risk: Risk,
    n_outputs: int,
    alpha: float,
    U: np.ndarray,
    *,
    scores: np.ndarray | None = None,
    start: ExactFit | None = None,
    constants: np.ndarray | None = None,
    tol: float = 1e-9,
    quadratic: Quadratic | None = None,
) -> ExactFit:
    """Minimize over the coefficients of every column of scores.

    Parameters
    ----------
    K : KernelMatrix
        Of n rows.
    risk : Risk
        The loss on these rows, whose sample weights are positive.
    n_outputs : int
    alpha : float
    U : ndarray of shape (n, r)
        The unpenalized columns.
    scores : ndarray of shape (n, k), default=None
        Scores of a solution with another kernel matrix nearby, to begin from.
    start : ExactFit, default=None
        Coefficients for this kernel matrix to go on from; the value never rises above theirs.
    constants : ndarray of shape (r, k), default=None
        Coefficients of the unpenalized columns in the model without a kernel; None for zeros.
    tol : float, default=1e-9
        Largest residual of ``s loss'(F) + 2 alpha C = 0`` relative to the gradients' size.
    quadratic : Quadratic, default=None
        Of a loss of constant curvature; None for the others.
    """
    n, k = len(U), n_outputs
    factors: Sequence[Factor]
    if quadratic is not None:
        factor = K.factorize(quadratic.rows, quadratic.shift, U)
        C, b = factor.solve_bordered(quadratic.z)
        factors, factorizations, worst = (factor,) * k, 1, 0.0
    else:
        C, b = np.empty((n, k)), np.empty((U.shape[1], k))
        found, factorizations, worst = [], 0, 0.0
        for q in range(k):
            column = _Column(K, risk.column(q), alpha, U)
            if start is not None:
                column.begin_at(start.C[:, q], start.b[:, q], start.factors[q])
            else:
                column.begin_near(
                    None if scores is None else scores[:, q],
                    np.zeros(U.shape[1]) if constants is None else constants[:, q],
                )
            residual = column.descend(tol)
            C[:, q], b[:, q] = column.c, column.b
            worst = max(worst, residual)
            found.append(column.factor)
            factorizations += column.factorizations
        factors = tuple(found)
    KC = K @ C
    F = KC + U @ b
    total = risk.value(F)
    value = total + alpha * float(np.vdot(C, KC))
    return ExactFit(C, b, total, value, factorizations, worst, F, factors)


class _Column:
    """Newton's method for one column of scores: where it is, and how it goes on."""

    def __init__(self, K: KernelMatrix, risk: Risk, alpha: float, U: np.ndarray):
        self.K, self.risk, self.alpha, self.U = K, risk, alpha, U
        self.factorizations = 0
        self.coupled = risk.coupled
        self.h: np.ndarray | None = None  # what the factorization has added to the kernel matrix

    def begin_at(self, c: np.ndarray, b: np.ndarray, factor: Factor) -> None:
        """Begin at given coefficients, with the factorization that led there."""
        self.c, self.b, self.Kc, self.factor = c, b, self.K @ c, factor
        self.value = self._value(self.c, self.b, self.Kc)

    def begin_near(self, scores: np.ndarray | None, b: np.ndarray) -> None:
        """Begin with one full step from the scores of a solution nearby.

        They keep their margins when the kernel changes its scale, where the old coefficients
        would not. But the step is not part of a descent: where it ends above the model
        without a kernel, whose other coefficients are ``b``, the descent begins there instead.
        """
        zeros = np.zeros(len(self.U))
        nothing = self.risk.value(self.U @ b)
        F = self.U @ b if scores is None else scores
        self.factor, target, target_b = self._step(F)
        Kc = self.K @ target
        if self.coupled:
            target, target_b, Kc = self._completed(F, target, target_b, Kc)
        value = self._value(target, target_b, Kc)
        if value <= nothing:
            self.c, self.b, self.Kc, self.value = target, target_b, Kc, value
        else:
            self.c, self.b, self.Kc, self.value = zeros, b, zeros, nothing

    def descend(self, tol: float) -> float:
        """Take steps that lower the value; return the residual where it ended."""
        if self.coupled:
            return self._descend_coupled(tol)
        previous, caution = np.inf, 0
        for _ in range(NEWTON_STEPS):
            residual = self._residual()
            if residual <= tol:
                break
            F = self.Kc + self.U @ self.b
            self.factor, target, target_b = self._step(F, ASSUMED_CURVATURES[caution])
            dc, db = target - self.c, target_b - self.b
            Kdc = self.K @ dc
            if caution and Kdc @ dc < 0.0:
                break  # an indefinite kernel: there is no minimum to descend to
            length = self._length(F, dc, Kdc, self.U @ db)
            c, b, Kc = self.c + length * dc, self.b + length * db, self.Kc + length * Kdc
            value = self._value(c, b, Kc)
            # Near the minimum the value changes by no more than rounding; the residual shows
            # whether there is progress.
            rises = not value <= self.value + 1e-14 * abs(self.value)
            if rises or (value >= self.value and residual > 0.5 * previous):
                caution += 1
                if caution == len(ASSUMED_CURVATURES) or residual <= CLOSE:
                    break
                continue
            self.c, self.b, self.Kc, self.value = c, b, Kc, value
            previous, caution = residual, max(caution - 1, 0)
        else:
            residual = self._residual()
        return residual

    def _value(self, c: np.ndarray, b: np.ndarray, Kc: np.ndarray) -> float:
        return self.risk.value(Kc + self.U @ b) + float(self.alpha * (c @ Kc))

    def _residual(self) -> float:
        """Return the residual of the stationarity, relative to the size of its terms."""
        # Per unit of weight, so that a row of weight 2 stops where two rows stop.
        s = self.risk.s
        g = self.risk.slope(self.Kc + self.U @ self.b)
        norm_part = 2.0 * self.alpha * self.c / s
        residual = np.abs(g + norm_part).max()
        if self.U.shape[1]:
            border = np.abs(self.c @ self.U).max()
            residual = max(residual, 2.0 * self.alpha * border / s.sum())
        size = max(np.abs(g).max(), np.abs(norm_part).max())
        return float(residual / size) if size > 0 else 0.0

    def _step(self, F: np.ndarray, assumed: float = 0.0) -> tuple[Factor, np.ndarray, np.ndarray]:
        """Return the factor and the coefficients of one full Newton step from ``F``.

        ``assumed`` is the least curvature of a row, as a share of the loss's bound.
        """
        K, risk, alpha, U = self.K, self.risk, self.alpha, self.U
        self.factorizations += 1
        g, h = risk.gradient(F), risk.curvature(F)
        reference = risk.reference(h)
        if assumed:
            h = np.maximum(h, assumed * reference * risk.s)
        curved = np.flatnonzero(h > FLAT * reference * risk.s)
        target = g / (-2.0 * alpha)
        if not len(curved):
            # No curvature anywhere: the coefficients are known, the intercept is a line search.
            b = np.zeros(U.shape[1])
            if len(b):
                b[-1] = _best_level(risk, K @ target, U[:, -1])
            return CholeskyFactor(curved, U, np.zeros((0, 0))), target, b
        factor = K.factorize(curved, 2.0 * alpha / h[curved], U)
        z = F[curved] - g[curved] / h[curved]
        if len(curved) < len(F):
            target[curved] = 0.0
            if target.any():
                z -= (K @ target)[curved]
            target[curved], b = factor.solve_bordered(z, -(target @ U))
        else:
            target, b = factor.solve_bordered(z)
        return factor, target, b

    # -- a loss that couples rows --------------------------------------------------------------

    def _descend_coupled(self, tol: float) -> float:
        """Take Newton's steps, found by conjugate gradients; one factorization serves many steps.

        The factorization is that of a diagonal above the second derivative. What it does for the
        conjugate gradients hardly depends on the scores at which it was made.
        """
        fresh, residual = False, self._residual()
        for _ in range(NEWTON_STEPS):
            if residual <= tol:
                break
            F = self.Kc + self.U @ self.b
            if self.h is None:
                self._factorize(F)
                fresh = True
            R = -(self.risk.gradient(F) + 2.0 * self.alpha * self.c)
            share = min(GRADIENT_SHARE, max(residual, LEAST_SHARE))
            dc, db, Kdc, solved = self._conjugate(F, R, share)
            before, previous = (self.c, self.b, self.Kc, self.value), residual
            if solved or fresh:
                length = self._length(F, dc, Kdc, self.U @ db)
                self.c, self.b = self.c + length * dc, self.b + length * db
                self.Kc = self.Kc + length * Kdc
                self.value, residual = self._value(self.c, self.b, self.Kc), self._residual()
                # Near the minimum the value changes by no more than rounding; the residual shows
                # whether there is progress.
                gain, rounding = before[-1] - self.value, 1e-11 * abs(self.value)
                if gain > rounding or (gain >= -rounding and residual < previous):
                    fresh = False
                    continue
            self.c, self.b, self.Kc, self.value = before
            residual = previous
            if fresh:
                break
            self.h = None
        return residual

    def _conjugate(
        self, F: np.ndarray, R: np.ndarray, share: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
        """Solve ``H (K c + U b) + 2 alpha c = R`` with ``H`` at the scores ``F``.

        Conjugate gradients in the coefficients, preconditioned by the factor of a diagonal: of a
        direction ``p`` with the scores ``f = K p_c + U p_b`` they need ``R'f`` and
        ``f'H f + 2 alpha p_c'f``, because ``U'p_c`` is zero.

        Returns
        -------
        c, b, Kc : ndarray
        solved : bool
            Whether no more than a share of the residual is left.
        """
        alpha = self.alpha
        pc, pb, pK = qc, qb, qK = self._preconditioned(R)
        c, b, Kc = np.zeros_like(pc), np.zeros_like(pb), np.zeros_like(pK)
        f = pK + self.U @ pb
        first = slope = float(R @ f)
        enough = share**2 * first
        if not first > NO_MOVE * float(np.abs(R) @ np.abs(f)):
            enough = slope  # nothing moves the scores, as without a weight
        for _ in range(GRADIENTS):
            if slope <= enough:
                break
            Hf = self.risk.hessian_product(F, f)
            curved = float(f @ Hf + 2.0 * alpha * (pc @ f))
            if not curved > 0.0:
                break  # below the smallest number, as of a direction that hardly moves a score
            size = slope / curved
            c, b, Kc = c + size * pc, b + size * pb, Kc + size * pK
            R = R - size * (Hf + 2.0 * alpha * pc)
            qc, qb, qK = self._preconditioned(R)
            before, slope = slope, float(R @ (qK + self.U @ qb))
            turn = slope / before
            pc, pb, pK = qc + turn * pc, qb + turn * pb, qK + turn * pK
            f = pK + self.U @ pb
        # The step of the diagonal at the end: it makes what the kernel does not see exact.
        return c + qc, b + qb, Kc + qK, slope <= enough

    def _preconditioned(self, R: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return ``c, b, K c`` that solve the system of the diagonal in place of the Hessian."""
        rows, c = self.factor.rows, R / (2.0 * self.alpha)
        part = R[rows] / self.h
        if len(rows) < len(c):
            c[rows] = 0.0
            part -= (self.K @ c)[rows]
            c[rows], b = self.factor.solve_bordered(part, -(c @ self.U))
        else:
            c, b = self.factor.solve_bordered(part)
        return c, b, self.K @ c

    def _completed(
        self, F: np.ndarray, c: np.ndarray, b: np.ndarray, Kc: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the end of Newton's step from the scores ``F``, given that for the diagonal."""
        self.h = self.risk.curvature(F)[self.factor.rows]
        risk, moved = self.risk, Kc + self.U @ b - F
        R = -(risk.gradient(F) + risk.hessian_product(F, moved) + 2.0 * self.alpha * c)
        dc, db, Kdc, _ = self._conjugate(F, R, GRADIENT_SHARE)
        return c + dc, b + db, Kc + Kdc

    def _factorize(self, F: np.ndarray) -> None:
        """Factorize the system of the diagonal at some scores."""
        self.factorizations += 1
        h = self.risk.curvature(F)
        curved = np.flatnonzero(h > FLAT * self.risk.reference(h) * self.risk.s)
        self.h = h[curved]
        self.factor = self.K.factorize(curved, 2.0 * self.alpha / self.h, self.U)

    def _length(self, F: np.ndarray, dc: np.ndarray, Kdc: np.ndarray, Udb: np.ndarray) -> float:
        """Return a step length in (0, 1] along a Newton direction; no kernel product is needed."""
        risk, dF = self.risk, Kdc + Udb
        linear, square = 2.0 * self.alpha * (self.Kc @ dc), self.alpha * (Kdc @ dc)

        def slope(t: float) -> float:
            return float(dF @ risk.gradient(F + t * dF) + linear + 2.0 * t * square)

        if slope(1.0) <= max(FLAT_SLOPE * abs(slope(0.0)), NO_SLOPE * abs(self.value)):
            return 1.0
        # The objective is convex along the line: bisect its slope.
        low, high = 0.0, 1.0
        for i in range(MOST_BISECTIONS):
            middle = 0.5 * (low + high)
            if slope(middle) > 0:
                high = middle
            else:
                low = middle
            if low > 0 and i >= BISECTIONS:
                break
        return low or high


def _best_level(risk: Risk, scores: np.ndarray, ones: np.ndarray) -> float:
    """Return the multiple of a column that lowers the loss most when added to ``scores``."""

    def slope(level: float) -> float:
        return float(ones @ risk.gradient(scores + level * ones))

    low, high = -1.0, 1.0
    while slope(high) < 0 and high < FARTHEST_LEVEL:
        high *= 2.0
    while slope(low) > 0 and low > -FARTHEST_LEVEL:
        low *= 2.0
    if slope(high) <= 0 or slope(low) >= 0:
        return high if slope(high) <= 0 else low
    return float(brentq(slope, low, high, xtol=LEVEL_TOL, disp=False))


def best_constant(risk: Risk, U: np.ndarray) -> np.ndarray:
    """Return the coefficients of the unpenalized columns in the model without a kernel.

    Newton's method with steps that are halved until the loss of one column of scores falls.
    """
    b = np.zeros(U.shape[1])
    if not len(b):
        return b
    value = risk.value(U @ b)
    for _ in range(CONSTANT_STEPS):
        F = U @ b
        h = risk.curvature(F)
        h = np.maximum(h, FLAT * risk.reference(h) * risk.s)
        slope = risk.gradient(F) @ U
        square = (U.T * h) @ U
        step = -(slope / square[0] if len(b) == 1 else np.linalg.lstsq(square, slope)[0])
        length = 1.0
        for _ in range(MOST_BISECTIONS):
            trial = risk.value(U @ (b + length * step))
            if trial <= value:
                break
            length *= 0.5
        else:
            break
        if value - trial <= CONSTANT_TOL * abs(value):
            break
        value, b = trial, b + length * step
    return b


def null_objective(risk: Risk, n_outputs: int, U: np.ndarray, constant_curvature: bool) -> float:
    """Return the loss of the best model without a kernel: of the unpenalized columns alone."""
    total = 0.0
    for q in range(n_outputs):
        column = risk.column(q)
        if U.shape[1] == 1 and not constant_curvature:
            # A loss that is not smooth has a best level, too.
            b = np.array([_best_level(column, np.zeros(len(U)), U[:, 0])])
        else:
            b = best_constant(column, U)
        total += column.value(U @ b)
    return total


def share_explained(
    loss: Loss,
    y: np.ndarray,
    predicted: np.ndarray,
    s: np.ndarray,
    offset: np.ndarray | None = None,
) -> float:
    """Return one minus the ratio of a loss's score of predictions to that of the best constant.

    Parameters
    ----------
    loss : Loss
        With a score.
    y, predicted : ndarray
        Targets and predictions in the user's units.
    s : ndarray of shape (n,)
        Sample weights.
    offset : ndarray, default=None
        Known parts of the scores, of which the best constant has the advantage, too.
    """
    n = len(y)
    k = max(loss.n_levels, 1 if y.ndim == 1 else y.shape[1])
    Y = np.broadcast_to(y.reshape(n, -1), (n, k))
    known = np.zeros((n, 1)) if offset is None else offset.reshape(n, -1)
    known = np.broadcast_to(known, (n, k))
    risk, ones = loss.bind(np.hstack([Y, known]), s, k), np.ones((n, 1))
    levels = [_best_level(risk.column(q), np.zeros(n), ones[:, 0]) for q in range(k)]
    constant = loss.inverse_link(known + np.array(levels))
    best = loss.score(Y, constant, s)
    return 1.0 - float(loss.score(Y, predicted.reshape(n, -1), s)) / min(float(best), -1e-300)
