"""Support vector machines on a given kernel matrix, for the hinge loss.

``sum_i s_i max(0, 1 - y_i f_i) + alpha |f|^2`` is ``SVC``'s objective with ``C = 1 / (2 alpha)``,
divided by ``C``. ``SVC`` keeps its kernel in single precision, which a small ``alpha`` magnifies:
its solution is therefore polished, and judged by its duality gap.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from kernelknife._engine.objective.coefficients import solve_columns
from kernelknife._engine.objective.factors import DenseMatrix, IndefiniteKernelError
from kernelknife.losses import HuberizedHinge

__all__ = ["INACCURATE_GAP", "refit_hinge", "relative_gap"]

# Steps after which SVC gives up; with a tiny alpha it would never end.
SVC_STEPS = 1_000_000
SVC_TOL = 1e-8
# Relative duality gap beyond which a model is not called converged, and the one beyond which a
# second method is tried.
INACCURATE_GAP, SECOND_TRY_GAP = 1e-4, 1e-6
# Widths of Huberized hinges, each solved from the one before. The models of the narrow ones are the
# second method: their rows on the corner are those of the hinge. With a tiny alpha the narrowest
# one may be out of reach of rounding, so of two that have it the better one counts.
WIDTHS, NARROW = (1.0, 1e-2, 1e-3, 1e-4), 1e-3
POLISHING_ROUNDS = 20  # of finding which rows lie on the margin; two or three are the rule
AT_BOUND = 1e-7  # share of its bound within which a coefficient counts as at it


def refit_hinge(
    K: np.ndarray, Y: np.ndarray, sample_weight: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients and intercepts, shape (1, k), of support vector machines on a kernel."""
    C, b = np.zeros(Y.shape), np.zeros((1, Y.shape[1]))
    for q, y in enumerate(Y.T):
        data = K, y, sample_weight, alpha
        best = _polished(*data, *_by_svc(*data))
        if _gap(*data, *best) > SECOND_TRY_GAP * _primal(*data, *best):
            tried = [best, *(_polished(*data, *found) for found in _by_newton(*data))]
            best = min(tried, key=lambda found: _primal(*data, *found))
        C[:, q], b[0, q] = best
    return C, b


def relative_gap(
    K: np.ndarray,
    Y: np.ndarray,
    sample_weight: np.ndarray,
    alpha: float,
    C: np.ndarray,
    b: np.ndarray,
) -> float:
    """Return how far models are from their minimum at most, as a share of the objective."""
    gaps = [_gap(K, y, sample_weight, alpha, C[:, q], b[0, q]) for q, y in enumerate(Y.T)]
    values = [_primal(K, y, sample_weight, alpha, C[:, q], b[0, q]) for q, y in enumerate(Y.T)]
    return float(sum(gaps) / max(sum(values), 1e-300))


def _by_svc(K: np.ndarray, y: np.ndarray, s: np.ndarray, alpha: float) -> tuple[np.ndarray, float]:
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
    return c, float(svm.intercept_[0])


def _by_newton(
    K: np.ndarray, y: np.ndarray, s: np.ndarray, alpha: float
) -> list[tuple[np.ndarray, float]]:
    """Return the models of narrow Huberized hinges, none where the kernel forbids it."""
    scores, found = None, []
    ones = np.ones((len(y), 1))
    for width in WIDTHS:
        risk = HuberizedHinge(width).bind(y[:, None], s, 1)
        try:
            fit = solve_columns(DenseMatrix(K), risk, 1, alpha, ones, scores=scores)
        except IndefiniteKernelError:
            break
        scores = fit.F
        if width <= NARROW:
            found.append((fit.C[:, 0], float(fit.b[0, 0])))
    return found


def _primal(
    K: np.ndarray, y: np.ndarray, s: np.ndarray, alpha: float, c: np.ndarray, b: float
) -> float:
    Kc = K @ c
    return float(s @ np.maximum(1.0 - y * (Kc + b), 0.0) + alpha * (c @ Kc))


def _gap(
    K: np.ndarray, y: np.ndarray, s: np.ndarray, alpha: float, c: np.ndarray, b: float
) -> float:
    """Return the duality gap; ``u = 2 alpha y c`` is clipped to what the dual allows."""
    u = np.clip(2.0 * alpha * y * c, 0.0, s)
    inside = u * y / (2.0 * alpha)
    dual = u.sum() - alpha * (inside @ (K @ inside))
    # What the sum of the coefficients misses is paid for at the price of the intercept.
    missed = 2.0 * alpha * abs(float(inside.sum())) * abs(b)
    return _primal(K, y, s, alpha, c, b) - float(dual) + missed


def _polished(
    K: np.ndarray, y: np.ndarray, s: np.ndarray, alpha: float, c: np.ndarray, b: float
) -> tuple[np.ndarray, float]:
    """Solve exactly for the rows on the margin, until no row has to change sides."""
    bound = s / (2.0 * alpha)
    best, lowest = (c, b), _primal(K, y, s, alpha, c, b)
    size = np.clip(y * c, 0.0, bound)
    free = (size > AT_BOUND * bound) & (size < (1.0 - AT_BOUND) * bound)
    inside = np.where(size >= (1.0 - AT_BOUND) * bound, y * bound, 0.0)  # held at the bound
    for _ in range(POLISHING_ROUNDS):
        rows = np.flatnonzero(free)
        if not len(rows):
            break
        system = np.zeros((len(rows) + 1,) * 2)
        system[:-1, :-1], system[:-1, -1], system[-1, :-1] = K[np.ix_(rows, rows)], 1.0, 1.0
        right = np.append(y[rows] - (K @ inside)[rows], -inside.sum())
        solution = np.linalg.lstsq(system, right, rcond=1e-14)[0]
        trial = inside.copy()
        trial[rows], b = solution[:-1], float(solution[-1])
        size = y * trial
        beyond, below = size > bound * (1.0 + AT_BOUND), size < -AT_BOUND * bound
        clipped = y * np.clip(size, 0.0, bound)
        value = _primal(K, y, s, alpha, clipped, b)
        if value < lowest:
            best, lowest = (clipped, b), value
        margin = y * (K @ clipped + b)
        enters = ~free & (
            ((inside == 0.0) & (margin < 1.0 - AT_BOUND))
            | ((inside != 0.0) & (margin > 1.0 + AT_BOUND))
        )
        if not (beyond | below | enters).any():
            break
        inside = np.where(beyond, y * bound, np.where(below | enters, 0.0, inside))
        free = (free & ~beyond & ~below) | enters
    return best
