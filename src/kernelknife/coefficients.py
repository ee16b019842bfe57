"""The coefficient step: the kernel machine at fixed weights.

For each score column it minimises ``sum_i s_i loss(y_i, F_i) + alpha c' K c`` with
``F = K c + b`` by Newton's method. Rows fall into two kinds. Where the loss is curved
(``h = s loss'' > 0``) one step solves

    (K + 2 alpha H^-1) c + b = F - H^-1 g - K_flat c_flat,        1'c = 0,

and where it is flat the coefficient is known, ``c = -g / (2 alpha)``: zero for rows beyond
the margin, so a hinge-like loss factorises only its support vectors.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

__all__ = ["Factor", "IndefiniteKernelError", "InnerFit", "solve_columns"]

MAX_NEWTON = 100
# Rows with less curvature than this share of the loss's bound count as flat.
FLAT = 1e-10


class IndefiniteKernelError(ValueError):
    """The regularised kernel matrix is not positive definite."""


@dataclass(frozen=True)
class Factor:
    """Cholesky factor of ``M = K + 2 alpha H^-1`` on the curved rows, with the intercept's part."""

    rows: np.ndarray
    L: np.ndarray  # lower triangle, Fortran order
    half: np.ndarray | None  # L^-1 1, None without an intercept

    def solve_with_intercept(self, z, total=0.0):
        """Return ``c, b`` with ``M c + b = z`` and ``sum(c) = total``; ``z`` may be 2-d."""
        if self.half is None:
            return dpotrs(self.L, z, lower=1)[0], np.zeros(z.shape[1:])
        # In whitened form the intercept is a projection: L'c = L^-1 z - b L^-1 1.
        z = dtrtrs(self.L, z, lower=1)[0]
        b = (self.half @ z - total) / (self.half @ self.half)
        z -= np.multiply.outer(self.half, b)
        return dtrtrs(self.L, z, lower=1, trans=1, overwrite_b=1)[0], b

    def whiten(self, A):
        """Return V with ``V'V = A' P A``, P the (bordered) inverse; overwrites ``A``."""
        if not len(self.rows):
            return A
        V = dtrsm(1.0, self.L, A.T, side=1, lower=1, trans_a=1, overwrite_b=1).T
        if self.half is not None:
            V -= np.multiply.outer(self.half, (self.half @ V) / (self.half @ self.half))
        return V

    def unwhiten(self, v):
        """Return ``L^-T v``: from whitened changes to changes of the coefficients."""
        if not len(self.rows):
            return v
        return dtrtrs(self.L, v, lower=1, trans=1)[0]


@dataclass(frozen=True)
class InnerFit:
    """Coefficients, intercepts and scores of all columns; ``solves`` counts factorisations."""

    C: np.ndarray
    b: np.ndarray
    F: np.ndarray
    loss: float
    value: float  # loss plus alpha times the squared norm
    factors: tuple[Factor, ...]
    solves: int
    residual: float  # of the stationarity, relative to the gradients' size


def factorize(K, rows, shift, fit_intercept):
    """Return the :class:`Factor` of ``K[rows, rows] + diag(shift)``."""
    M = K.copy() if len(rows) == len(K) else _submatrix(K, rows)
    M.flat[:: len(M) + 1] += shift
    if not len(rows):
        return Factor(rows, M, None)
    # M is symmetric, so its transpose is the Fortran-ordered matrix LAPACK wants in place.
    L, info = dpotrf(M.T, lower=1, overwrite_a=1, clean=0)
    if info > 0:
        L, info = _with_jitter(K, rows, shift)
    if info > 0:
        raise IndefiniteKernelError(
            "The kernel matrix plus its regularisation is not positive definite at these "
            "weights: raise alpha, or lower the kernel's gamma (or raise a negative coef0)."
        )
    half = dtrtrs(L, np.ones(len(rows)), lower=1, overwrite_b=1)[0] if fit_intercept else None
    return Factor(rows, L, half)


def _submatrix(K, rows):
    """Return some rows and the same columns, in C order; taken one after the other it is fast."""
    return K.take(rows, axis=0).take(rows, axis=1)


def _with_jitter(K, rows, shift):
    """Try again with what rounding may have taken from a semi-definite matrix."""
    M = _submatrix(K, rows)
    diagonal = np.abs(M.flat[:: len(M) + 1])
    M.flat[:: len(M) + 1] += shift + 1e-13 * len(M) * diagonal.max()
    return dpotrf(M.T, lower=1, overwrite_a=1, clean=0)


def solve_columns(K, Y, s, loss, alpha, fit_intercept, *, scores=None, tol=1e-9) -> InnerFit:
    """Minimise over coefficients and intercepts of every column.

    Parameters
    ----------
    K : ndarray of shape (n, n)
    Y : ndarray of shape (n, k)
    s : ndarray of shape (n,)
        Sample weights, positive.
    loss : Loss
    alpha : float
    fit_intercept : bool
    scores : ndarray of shape (n, k), default=None
        Scores of a nearby solution to start from.
    tol : float, default=1e-9
        Largest residual of ``s loss'(F) + 2 alpha C = 0`` relative to the gradients' size.
    """
    n, k = Y.shape
    if loss.constant_curvature:
        rows = np.arange(n)
        factor = factorize(K, rows, 2.0 * alpha / (loss.curvature_bound * s), fit_intercept)
        # One step from F = 0 is exact.
        start = np.zeros_like(Y)
        z = -loss.gradient(Y, start) / loss.curvature_bound
        C, b = factor.solve_with_intercept(z)
        factors, solves, worst = (factor,) * k, 1, 0.0
    else:
        C, b = np.empty((n, k)), np.empty(k)
        factors, solves, worst = [], 0, 0.0
        for q in range(k):
            start = np.zeros(n) if scores is None else scores[:, q]
            C[:, q], b[q], factor, count, residual = _newton(
                K, Y[:, q], s, loss, alpha, fit_intercept, start, tol
            )
            worst = max(worst, residual)
            factors.append(factor)
            solves += count
        factors = tuple(factors)
    KC = K @ C
    F = KC + b
    total = float((s @ loss.value(Y, F)).sum())
    value = total + alpha * float(np.vdot(C, KC))
    return InnerFit(C, b, F, total, value, factors, solves, worst)


def _newton(K, y, s, loss, alpha, fit_intercept, warm, tol):
    """Minimise one column; return coefficients, intercept, factor, solves and residual.

    ``warm`` holds the scores of a nearby solution, or zeros. The first step expands the
    loss around those scores: they keep their margins when the kernel changes its scale,
    where the old coefficients would not.
    """
    factor, target, b = _newton_step(K, y, s, loss, alpha, fit_intercept, warm)
    solves, c = 1, target
    Kc = K @ c
    value = s @ loss.value(y, Kc + b) + alpha * (c @ Kc)
    previous = np.inf
    for _ in range(MAX_NEWTON):
        F = Kc + b
        # Per unit of weight, so that a row of weight 2 stops where two rows stop.
        g, per_weight = loss.gradient(y, F), 2.0 * alpha * c / s
        residual = np.abs(g + per_weight).max()
        if fit_intercept:
            residual = max(residual, 2.0 * alpha * abs(c.sum()) / s.sum())
        size = max(np.abs(g).max(), np.abs(per_weight).max())
        residual = float(residual / size) if size > 0 else 0.0
        if residual <= tol:
            break
        factor, target, b_new = _newton_step(K, y, s, loss, alpha, fit_intercept, F)
        solves += 1
        dc, db = target - c, b_new - b
        Kdc = K @ dc
        step = _line_search(y, s, loss, alpha, c, Kc, F, dc, Kdc, Kdc + db)
        trial = c + step * dc, b + step * db, Kc + step * Kdc
        new_value = s @ loss.value(y, trial[2] + trial[1]) + alpha * (trial[0] @ trial[2])
        # Near the minimum the value cannot tell progress from rounding; the residual can.
        if new_value > value + 1e-14 * abs(value) or (
            new_value >= value and residual > 0.5 * previous
        ):
            break
        (c, b, Kc), value, previous = trial, new_value, residual
    return c, b, factor, solves, residual


def _newton_step(K, y, s, loss, alpha, fit_intercept, F):
    """Return the factor, coefficients and intercept of one full Newton step from ``F``."""
    g, h = s * loss.gradient(y, F), s * loss.curvature(y, F)
    curved = np.flatnonzero(h > FLAT * loss.curvature_bound * s)
    if not len(curved):
        # No curvature anywhere: the coefficients are known, the intercept is a line search.
        target = g / (-2.0 * alpha)
        b = _best_intercept(y, s, loss, K @ target) if fit_intercept else 0.0
        return Factor(curved, np.zeros((0, 0)), None), target, b
    factor = factorize(K, curved, 2.0 * alpha / h[curved], fit_intercept)
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


def _best_intercept(y, s, loss, scores):
    """Return the constant that lowers the loss most when added to ``scores``."""
    low, high = np.min(y - scores) - 1.0, np.max(y - scores) + 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if s @ loss.gradient(y, scores + middle) > 0:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


def _line_search(y, s, loss, alpha, c, Kc, F, dc, Kdc, dF):
    """Return a step length in (0, 1] along a Newton direction; no kernel product is needed."""
    linear, square = 2.0 * alpha * (Kc @ dc), alpha * (Kdc @ dc)

    def slope(t):
        return dF @ (s * loss.gradient(y, F + t * dF)) + linear + 2.0 * t * square

    if slope(1.0) <= 1e-3 * abs(slope(0.0)):
        return 1.0
    # The objective is convex along the line: bisect its slope.
    low, high = 0.0, 1.0
    for _ in range(12):
        middle = 0.5 * (low + high)
        if slope(middle) > 0:
            high = middle
        else:
            low = middle
    return low or high
