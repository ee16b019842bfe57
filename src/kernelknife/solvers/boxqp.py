"""Box-constrained convex quadratics, the step in the weights of both solvers."""

import numpy as np
from scipy.linalg.lapack import dposv

__all__ = ["minimize_box_quadratic"]


def minimize_box_quadratic(V, ridge, gradient, lower, upper, H=None, max_iter=60):
    """Minimise ``d' (V'V + diag(ridge)) d / 2 + gradient' d`` over ``lower <= d <= upper``.

    A projected Newton method: coordinates held at a bound by their gradient are fixed,
    the others take a Newton step that is projected back and halved until it decreases.

    Parameters
    ----------
    V : ndarray of shape (r, q)
    ridge : ndarray of shape (q,)
        Positive.
    gradient, lower, upper : ndarray of shape (q,)
        The box contains 0.
    H : ndarray of shape (q, q), default=None
        Positive definite, in place of ``V'V``.

    Returns
    -------
    d : ndarray of shape (q,)
    decrease : float
        How far the quadratic falls from ``d = 0``, never negative.
    """
    wide = H is None and V.shape[1] > V.shape[0] > 0
    Q = np.zeros((0, 0)) if wide else V.T @ V if H is None else H.copy()
    if not wide:
        Q.flat[:: len(Q) + 1] += ridge

    def product(d):
        return V.T @ (V @ d) + ridge * d if wide else Q @ d

    d = np.zeros_like(gradient)
    slope = gradient.copy()
    value = 0.0
    scale = np.abs(gradient).max(initial=0.0)
    for _ in range(max_iter):
        free = ~(((d <= lower) & (slope > 0)) | ((d >= upper) & (slope < 0)))
        index = np.flatnonzero(free)
        if not len(index) or np.abs(slope[index]).max() <= 1e-10 * scale:
            break
        step = np.zeros_like(d)
        if wide:
            step[index] = _solve_wide(V[:, index], ridge[index], -slope[index])
        else:
            block = Q if len(index) == len(d) else Q[np.ix_(index, index)]
            step[index] = dposv(block, -slope[index], lower=1)[1]
        length = 1.0
        for _ in range(30):
            trial = np.clip(d + length * step, lower, upper)
            image = product(trial)
            trial_value = 0.5 * (trial @ image) + gradient @ trial
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


def _solve_wide(V, ridge, rhs):
    """Solve ``(V'V + diag(ridge)) x = rhs`` with a factorisation of the small side."""
    scaled = V / ridge
    small = scaled @ V.T
    small.flat[:: len(small) + 1] += 1.0
    inner = dposv(small, scaled @ rhs, lower=1)[1]
    return (rhs - V.T @ inner) / ridge
