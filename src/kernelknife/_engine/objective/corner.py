"""Models of losses with a corner on a given kernel matrix: the hinge and the quantile.

Such a loss is ``s loss(y, f) = max u (y - f)`` over ``s low <= u <= s high``: for the hinge these
are 0 and ``y``, for the quantile ``tau`` they are ``tau - 1`` and ``tau``. Its minimum together
with ``alpha |f|^2`` has coefficients ``c = u / (2 alpha)``, each at one of its bounds or on a row
whose score is ``y``, and its dual is

    max  u'y - u'K u / (4 alpha)      with  s low <= u <= s high,  U'u = 0.

For the hinge that is ``SVC``'s objective with ``C = 1 / (2 alpha)``, divided by ``C``. ``SVC``
keeps its kernel in single precision, which a small ``alpha`` magnifies; other models are found by
an interior point method. Both are then polished, and judged by their duality gap.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from kernelknife._engine.objective.factors import DenseMatrix, IndefiniteKernelError
from kernelknife.losses import Loss

__all__ = ["INACCURATE_GAP", "refit_corner", "relative_gap"]

# Steps after which SVC gives up; with a tiny alpha it would never end.
SVC_STEPS = 1_000_000
SVC_TOL = 1e-8
# Relative duality gap beyond which a model is not called converged, and the one beyond which a
# second method is tried.
INACCURATE_GAP, SECOND_TRY_GAP = 1e-4, 1e-6
# Steps of the interior points, of which 10 to 25 are the rule; the products of multipliers and
# distances to the bounds at which they end, as a share of the loss's size; how much of the way to a
# bound a step goes; and what keeps the matrix of a step definite, as a share of the kernel's.
INTERIOR_STEPS, INTERIOR_TOL, INTERIOR_SHARE, INTERIOR_SHIFT = 60, 1e-10, 0.99, 1e-12
TINY = 1e-200  # a distance to a bound that has vanished in rounding
POLISHING_ROUNDS = 20  # of finding which rows lie on the corner; two or three are the rule
AT_BOUND = 1e-7  # share of its range within which a coefficient counts as at its bound


def refit_corner(
    K: np.ndarray, loss: Loss, Y: np.ndarray, s: np.ndarray, alpha: float, U: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the coefficients of a kernel, and those of the unpenalized columns.

    Parameters
    ----------
    K : ndarray of shape (n, n)
    loss : Loss
        With a corner.
    Y : ndarray of shape (n, k)
        Encoded targets; offsets have been taken off them.
    s : ndarray of shape (n,)
        Sample weights, positive.
    alpha : float
    U : ndarray of shape (n, r)
        The unpenalized columns, the intercept last.
    """
    C, b = np.zeros(Y.shape), np.zeros((U.shape[1], Y.shape[1]))
    for q, y in enumerate(Y.T):
        column = _Column.of(K, loss.of_output(q), y, s, alpha, U)
        best = None
        if loss.task == "classification" and U.shape[1] == 1:
            best = column.polished(*_by_svc(K, y, s, alpha))
        if best is None or column.gap(*best) > SECOND_TRY_GAP * column.value(*best):
            second = _by_interior_points(column)
            if second is not None:
                found = [column.polished(*second), best or second]
                best = min(found, key=lambda model: column.value(*model))
        if best is not None:
            C[:, q], b[:, q] = best
    return C, b


def relative_gap(
    K: np.ndarray,
    loss: Loss,
    Y: np.ndarray,
    s: np.ndarray,
    alpha: float,
    U: np.ndarray,
    C: np.ndarray,
    b: np.ndarray,
) -> float:
    """Return how far models are from their minimum at most, as a share of the objective."""
    gap = value = 0.0
    for q, y in enumerate(Y.T):
        column = _Column.of(K, loss.of_output(q), y, s, alpha, U)
        gap += column.gap(C[:, q], b[:, q])
        value += column.value(C[:, q], b[:, q])
    return gap / max(value, 1e-300)


@dataclass(frozen=True)
class _Column:
    """The problem of one column of scores; the bounds ``low`` and ``high`` are weighted."""

    K: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray
    alpha: float
    U: np.ndarray

    @classmethod
    def of(
        cls, K: np.ndarray, loss: Loss, y: np.ndarray, s: np.ndarray, alpha: float, U: np.ndarray
    ) -> "_Column":
        low, high = loss.corner(y)
        return cls(K, y, s * low, s * high, alpha, U)

    def value(self, c: np.ndarray, b: np.ndarray) -> float:
        """Return the objective."""
        Kc = self.K @ c
        r = self.y - (Kc + self.U @ b)
        return float(np.maximum(self.low * r, self.high * r).sum() + self.alpha * (c @ Kc))

    def gap(self, c: np.ndarray, b: np.ndarray) -> float:
        """Return the duality gap, the coefficients being clipped to what the dual allows."""
        u = np.clip(2.0 * self.alpha * c, self.low, self.high)
        inside = u / (2.0 * self.alpha)
        dual = u @ self.y - self.alpha * (inside @ (self.K @ inside))
        # What the sum of the coefficients misses is paid for at the price of the intercept.
        missed = 2.0 * self.alpha * float(np.abs(inside @ self.U) @ np.abs(b))
        return self.value(c, b) - float(dual) + missed

    def polished(self, c: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve exactly for the rows on the corner, until no row has to change sides."""
        low, high = self.low / (2.0 * self.alpha), self.high / (2.0 * self.alpha)
        slack = AT_BOUND * (high - low)
        best, least = (c, b), self.value(c, b)
        at_low, at_high = c <= low + slack, c >= high - slack
        for _ in range(POLISHING_ROUNDS):
            held = np.where(at_high, high, np.where(at_low, low, 0.0))
            rows = np.flatnonzero(~(at_low | at_high))
            if not len(rows):
                break
            m, border = len(rows), self.U[rows]
            system = np.zeros((m + border.shape[1],) * 2)
            system[:m, :m] = self.K[np.ix_(rows, rows)]
            system[:m, m:], system[m:, :m] = border, border.T
            right = np.append(self.y[rows] - (self.K @ held)[rows], -(held @ self.U))
            try:
                solution = np.linalg.lstsq(system, right, rcond=1e-14)[0]
            except np.linalg.LinAlgError:
                break
            trial = held.copy()
            trial[rows], b = solution[:m], solution[m:]
            clipped = np.clip(trial, low, high)
            value = self.value(clipped, b)
            if value < least:
                best, least = (clipped, b), value
            r = self.y - (self.K @ clipped + self.U @ b)
            below, beyond = trial < low - slack, trial > high + slack
            # A row that is held where its residual has the other sign comes free.
            freed = (at_low & (r > AT_BOUND)) | (at_high & (r < -AT_BOUND))
            if not (below | beyond | freed).any():
                break
            at_low, at_high = (at_low & ~freed) | below, (at_high & ~freed) | beyond
        return best


def _by_svc(
    K: np.ndarray, y: np.ndarray, s: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the model of a support vector machine: ``SVC``'s ``C`` is ``1 / (2 alpha)``."""
    svm = SVC(
        C=0.5 / alpha,
        kernel="precomputed",
        tol=SVC_TOL,
        cache_size=500,
        max_iter=SVC_STEPS,
        random_state=0,  # otherwise it draws a seed from NumPy's global generator
    )
    with warnings.catch_warnings():
        # The duality gap shows whether it went far enough.
        warnings.simplefilter("ignore", ConvergenceWarning)
        svm.fit(K, y, sample_weight=s)
    c = np.zeros(len(y))
    c[svm.support_] = svm.dual_coef_[0]
    return c, np.asarray(svm.intercept_, dtype=float)


def _by_interior_points(column: _Column) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the model that solves the dual, by Mehrotra's predictor and corrector.

    With multipliers ``lower`` and ``upper`` of the bounds, the residuals of the rows are
    ``y - K u / (2 alpha) - U b = upper - lower``. None where the kernel forbids it.
    """
    K, U, y, double = column.K, column.U, column.y, 2.0 * column.alpha
    matrix, everything = DenseMatrix(K), np.arange(len(y))
    least = INTERIOR_SHIFT * max(float(np.abs(K.diagonal()).mean()), 1e-300)
    u, b = 0.5 * (column.low + column.high), np.zeros(U.shape[1])
    lower = upper = np.full(len(y), max(float(np.abs(y).max()), 1e-300))
    size = float((column.high - column.low) @ np.abs(y)) + 1e-300
    for _ in range(INTERIOR_STEPS):
        above = np.maximum(u - column.low, TINY)
        below = np.maximum(column.high - u, TINY)
        products = lower @ above + upper @ below
        if products <= INTERIOR_TOL * size:
            break
        stationarity = y - K @ u / double - U @ b + lower - upper
        shift = np.maximum(double * (lower / above + upper / below), least)
        try:
            factor = matrix.factorize(everything, shift, U)
        except IndefiniteKernelError:
            return None
        du = dlower = dupper = np.zeros(len(y))
        center = 0.0
        for predicts in (True, False):
            # By how much the products are to grow, the second time with what the first step lacks.
            low = (center - lower * above - dlower * du) / above
            high = (center - upper * below + dupper * du) / below
            c, db = factor.solve_bordered(stationarity + low - high, -(u @ U) / double)
            du = double * c
            dlower, dupper = low - lower / above * du, high + upper / below * du
            length = _longest((above, du), (below, -du), (lower, dlower), (upper, dupper))
            if predicts:
                after = (lower + length * dlower) @ (above + length * du)
                after += (upper + length * dupper) @ (below - length * du)
                center = (max(after, 0.0) / products) ** 3 * products / (2 * len(y))
        if not np.isfinite(length):
            break  # as near to the bounds as numbers go
        u, b = u + length * du, b + length * db
        lower, upper = lower + length * dlower, upper + length * dupper
    return u / double, b


def _longest(*pairs: tuple[np.ndarray, np.ndarray]) -> float:
    """Return a step length, at most 1, that keeps positive numbers positive."""
    shares = [float((-change / value).max()) for value, change in pairs]
    return min(1.0, INTERIOR_SHARE / max(*shares, 1e-300))
