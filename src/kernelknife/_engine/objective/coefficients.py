"""The coefficient step: the kernel model at fixed weights.

For each score column it minimizes ``sum_i s_i loss(y_i, F_i) + alpha c' K c`` with
``F = K c + b`` by Newton's method. Rows fall into two kinds. Where the loss is curved
(``h = s loss'' > 0``) one step solves

    (K + 2 alpha H^-1) c + b = F - H^-1 g - K_flat c_flat,        1'c = 0,

and where it is flat the coefficient is known, ``c = -g / (2 alpha)``: zero for rows beyond
the margin, so a hinge-like loss factorizes only its support vectors.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernelknife._engine.objective.base import Fit
from kernelknife._engine.objective.factors import CholeskyFactor, Factor, KernelMatrix
from kernelknife.losses import Loss

__all__ = ["ASSUMED_CURVATURES", "ExactFit", "Quadratic", "solve_columns"]

# Most Newton steps. Four to ten are the rule; a narrow Huberized hinge at a tiny alpha, whose
# curvature jumps from row to row, may take dozens.
NEWTON_STEPS = 100
# Rows with less curvature than this share of the loss's bound count as flat: dividing by it
# would cost more digits than the row is worth.
FLAT = 1e-10
# A full step is taken where the slope at its end is this share of the one at its beginning, and
# where both are below this share of the value, which rounding alone may give.
FLAT_SLOPE, NO_SLOPE = 1e-3, 1e-13
# Least curvature of a row, as a share of the loss's bound, that a step assumes: none at first,
# which is Newton's step, and more after a step that did not lower the value, up to the bound
# itself, whose model lies above the loss and whose step cannot fail.
ASSUMED_CURVATURES = (0.0, 1e-4, 1e-2, 1.0)
CLOSE = 1e-6  # residual below which a step that fails is a matter of rounding
# Bisections of a step length: as a rule, and where the step has to be tiny to descend at all.
BISECTIONS, MOST_BISECTIONS = 11, 40


@dataclass(frozen=True)
class ExactFit(Fit):
    """Coefficients, intercepts and scores of all columns, with the last factorizations."""

    F: np.ndarray
    factors: Sequence[Factor]


@dataclass(frozen=True)
class Quadratic:
    """What coefficients of a quadratic loss depend on besides the kernel matrix: made once."""

    rows: np.ndarray
    shift: np.ndarray  # of the diagonal of the kernel matrix
    z: np.ndarray  # scores that one step from zero asks for, which is exact

    @classmethod
    def of(cls, Y: np.ndarray, s: np.ndarray, loss: Loss, alpha: float) -> "Quadratic":
        """Return it for targets, sample weights and a loss of constant curvature."""
        bound = loss.curvature_bound
        z = -loss.gradient(Y, np.zeros_like(Y)) / bound
        return cls(np.arange(len(Y)), 2.0 * alpha / (bound * s), z)


def solve_columns(
    K: KernelMatrix,
    Y: np.ndarray,
    s: np.ndarray,
    loss: Loss,
    alpha: float,
    fit_intercept: bool,
    *,
    scores: np.ndarray | None = None,
    start: ExactFit | None = None,
    tol: float = 1e-9,
    quadratic: Quadratic | None = None,
) -> ExactFit:
    """Minimize over coefficients and intercepts of every column.

    Parameters
    ----------
    K : KernelMatrix
        Of n rows.
    Y : ndarray of shape (n, k)
    s : ndarray of shape (n,)
        Sample weights, positive.
    loss : Loss
    alpha : float
    fit_intercept : bool
    scores : ndarray of shape (n, k), default=None
        Scores of a solution with another kernel matrix nearby, to begin from.
    start : ExactFit, default=None
        Coefficients for this kernel matrix to go on from; the value never rises above theirs.
    tol : float, default=1e-9
        Largest residual of ``s loss'(F) + 2 alpha C = 0`` relative to the gradients' size.
    quadratic : Quadratic, default=None
        For a loss of constant curvature, if it is known already.
    """
    n, k = Y.shape
    factors: Sequence[Factor]
    if loss.constant_curvature:
        known = quadratic or Quadratic.of(Y, s, loss, alpha)
        factor = K.factorize(known.rows, known.shift, fit_intercept)
        C, b = factor.solve_with_intercept(known.z)
        factors, factorizations, worst = (factor,) * k, 1, 0.0
    else:
        C, b = np.empty((n, k)), np.empty(k)
        found, factorizations, worst = [], 0, 0.0
        for q in range(k):
            column = _Column(K, Y[:, q], s, loss, alpha, fit_intercept)
            if start is not None:
                column.begin_at(start.C[:, q], float(start.b[q]), start.factors[q])
            else:
                column.begin_near(np.zeros(n) if scores is None else scores[:, q])
            residual = column.descend(tol)
            C[:, q], b[q] = column.c, column.b
            worst = max(worst, residual)
            found.append(column.factor)
            factorizations += column.factorizations
        factors = tuple(found)
    KC = K @ C
    F = KC + b
    total = float((s @ loss.value(Y, F)).sum())
    value = total + alpha * float(np.vdot(C, KC))
    return ExactFit(C, b, total, value, factorizations, worst, F, factors)


class _Column:
    """Newton's method for one column of scores: where it is, and how it goes on."""

    def __init__(
        self,
        K: KernelMatrix,
        y: np.ndarray,
        s: np.ndarray,
        loss: Loss,
        alpha: float,
        fit_intercept: bool,
    ):
        self.K, self.y, self.s, self.loss = K, y, s, loss
        self.alpha, self.fit_intercept = alpha, fit_intercept
        self.factorizations = 0

    def begin_at(self, c: np.ndarray, b: float, factor: Factor) -> None:
        """Begin at given coefficients, with the factorization that led there."""
        self.c, self.b, self.Kc, self.factor = c, b, self.K @ c, factor
        self.value = self._value(self.c, self.b, self.Kc)

    def begin_near(self, scores: np.ndarray) -> None:
        """Begin with one full step from the scores of a solution nearby.

        They keep their margins when the kernel changes its scale, where the old coefficients
        would not. But the step is not part of a descent: where it ends above the model
        without coefficients, the descent begins there instead.
        """
        self.factor, c, b = self._step(scores)
        Kc = self.K @ c
        value = self._value(c, b, Kc)
        nothing = float(self.s @ self.loss.value(self.y, np.zeros_like(self.y)))
        if value <= nothing:
            self.c, self.b, self.Kc, self.value = c, b, Kc, value
        else:
            zeros = np.zeros_like(c)
            self.c, self.b, self.Kc, self.value = zeros, 0.0, zeros, nothing

    def descend(self, tol: float) -> float:
        """Take steps that lower the value; return the residual where it ended."""
        previous, caution = np.inf, 0
        for _ in range(NEWTON_STEPS):
            residual = self._residual()
            if residual <= tol:
                break
            self.factor, target, target_b = self._step(
                self.Kc + self.b, ASSUMED_CURVATURES[caution]
            )
            dc, db = target - self.c, target_b - self.b
            Kdc = self.K @ dc
            if caution and Kdc @ dc < 0.0:
                break  # an indefinite kernel: there is no minimum to descend to
            length = self._length(dc, Kdc, db)
            c, b, Kc = self.c + length * dc, self.b + length * db, self.Kc + length * Kdc
            value = self._value(c, b, Kc)
            # Near the minimum the value changes by no more than rounding; the residual shows
            # whether there is progress.
            rises = value > self.value + 1e-14 * abs(self.value)
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

    def _value(self, c: np.ndarray, b: float, Kc: np.ndarray) -> float:
        return float(self.s @ self.loss.value(self.y, Kc + b) + self.alpha * (c @ Kc))

    def _residual(self) -> float:
        """Return the residual of the stationarity, relative to the size of its terms."""
        # Per unit of weight, so that a row of weight 2 stops where two rows stop.
        g = self.loss.gradient(self.y, self.Kc + self.b)
        norm_part = 2.0 * self.alpha * self.c / self.s
        residual = np.abs(g + norm_part).max()
        if self.fit_intercept:
            residual = max(residual, 2.0 * self.alpha * abs(self.c.sum()) / self.s.sum())
        size = max(np.abs(g).max(), np.abs(norm_part).max())
        return float(residual / size) if size > 0 else 0.0

    def _step(self, F: np.ndarray, assumed: float = 0.0) -> tuple[Factor, np.ndarray, float]:
        """Return the factor, coefficients and intercept of one full Newton step from ``F``.

        ``assumed`` is the least curvature of a row, as a share of the loss's bound.
        """
        K, y, s, loss, alpha = self.K, self.y, self.s, self.loss, self.alpha
        fit_intercept = self.fit_intercept
        self.factorizations += 1
        g, h = s * loss.gradient(y, F), s * loss.curvature(y, F)
        if assumed:
            h = np.maximum(h, assumed * loss.curvature_bound * s)
        curved = np.flatnonzero(h > FLAT * loss.curvature_bound * s)
        if not len(curved):
            # No curvature anywhere: the coefficients are known, the intercept is a line search.
            target = g / (-2.0 * alpha)
            level = _best_intercept(y, s, loss, K @ target) if fit_intercept else 0.0
            return CholeskyFactor(curved, False, np.zeros((0, 0))), target, level
        factor = K.factorize(curved, 2.0 * alpha / h[curved], fit_intercept)
        target = g / (-2.0 * alpha)
        z = F[curved] - g[curved] / h[curved]
        if len(curved) < len(y):
            target[curved] = 0.0
            if target.any():
                z -= (K @ target)[curved]
            target[curved], b = factor.solve_with_intercept(z, -target.sum())
        else:
            target, b = factor.solve_with_intercept(z)
        return factor, target, float(b)

    def _length(self, dc: np.ndarray, Kdc: np.ndarray, db: float) -> float:
        """Return a step length in (0, 1] along a Newton direction; no kernel product is needed."""
        y, s, loss, F, dF = self.y, self.s, self.loss, self.Kc + self.b, Kdc + db
        linear, square = 2.0 * self.alpha * (self.Kc @ dc), self.alpha * (Kdc @ dc)

        def slope(t: float) -> float:
            return float(dF @ (s * loss.gradient(y, F + t * dF)) + linear + 2.0 * t * square)

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


def _best_intercept(y: np.ndarray, s: np.ndarray, loss: Loss, scores: np.ndarray) -> float:
    """Return the constant that lowers the loss most when added to ``scores``."""
    low, high = float(np.min(y - scores)) - 1.0, float(np.max(y - scores)) + 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if s @ loss.gradient(y, scores + middle) > 0:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)
