"""Box-constrained convex quadratics, the step in the weights of both solvers."""

import numpy as np
from scipy.linalg.lapack import dposv

__all__ = ["minimize_box_quadratic"]


def minimize_box_quadratic(
    V: np.ndarray,
    ridge: float,
    gradient: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    *,
    gram: np.ndarray | None = None,
    factor: float = 1.0,
    max_iter: int = 60,
) -> tuple[np.ndarray, float]:
    """Minimize ``d' (factor V'V + ridge I) d / 2 + gradient' d`` over ``lower <= d <= upper``.

    A projected Newton method: coordinates held at a bound by their gradient are fixed,
    the others take a Newton step that is projected back and halved until it decreases.

    Parameters
    ----------
    V : ndarray of shape (r, q)
    ridge : float
        Positive.
    gradient, lower, upper : ndarray of shape (q,)
        The box contains 0.
    gram : ndarray of shape (q, q), default=None
        Positive definite, in place of ``V'V``.

    Returns
    -------
    d : ndarray of shape (q,)
    decrease : float
        How far the quadratic falls from ``d = 0``, never negative.
    """
    if not len(gradient):
        return np.zeros(0), 0.0
    wide = gram is None and V.shape[1] > V.shape[0] > 0
    if wide:
        V = np.sqrt(factor) * V
        Q = np.zeros((0, 0))
    else:
        Q = factor * (V.T @ V if gram is None else gram)
        Q.flat[:: len(Q) + 1] += ridge
        # Along a path most steps end inside the box, where nothing is to be decided.
        d = dposv(Q, -gradient, lower=1)[1]
        if (d > lower).all() and (d < upper).all():
            return d, -0.5 * float(gradient @ d)
    d = np.zeros(len(gradient))
    slope, value = gradient, 0.0
    scale = float(np.abs(gradient).max())
    for _ in range(max_iter):
        held = ((d <= lower) & (slope > 0)) | ((d >= upper) & (slope < 0))
        index = (~held).nonzero()[0]
        if not len(index) or np.abs(slope[index]).max() <= 1e-10 * scale:
            break
        if wide:
            move = _solve_wide(V[:, index], ridge, -slope[index])
        elif len(index) == len(d):
            move = dposv(Q, -slope, lower=1)[1]
        else:
            move = dposv(Q[index[:, None], index], -slope[index], lower=1)[1]
        length = 1.0
        for _ in range(30):
            trial = d.copy()
            trial[index] += length * move
            trial = np.minimum(np.maximum(trial, lower), upper)
            image = V.T @ (V @ trial) + ridge * trial if wide else Q @ trial
            trial_value = 0.5 * float(trial @ image) + float(gradient @ trial)
            if trial_value < value:
                break
            length *= 0.5
        else:
            break
        gain = value - trial_value
        d, slope, value = trial, image + gradient, trial_value
        if gain <= 1e-12 * -value:
            break
    return d, -value


def _solve_wide(V: np.ndarray, ridge: float, rhs: np.ndarray) -> np.ndarray:
    """Solve ``(V'V + ridge I) x = rhs`` with a factorization of the small side."""
    small = V @ V.T
    small.flat[:: len(small) + 1] += ridge
    inner = dposv(small, V @ rhs, lower=1)[1]
    solution: np.ndarray = (rhs - V.T @ inner) / ridge
    return solution
