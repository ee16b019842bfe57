"""The objective written a second time, to check the package with.

Nothing here imports the package: kernels, losses, standardization, the coefficient step and
the gradient in the weights are written from the formulas in its documentation,

    sum_i s_i loss(y_i, F_i) + alpha tr(C' K(Z, Z) C) + sum_j penalty_j w_j,
    F = K(X, Z) C + 1 b',

in the plainest way that small problems allow. The array of rows by centers by columns, which
the package never forms, is formed here, and the coefficients are found in the eigenbasis of
``K(Z, Z)``, where the package factorizes something else.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

__all__ = [
    "EXPANDING",
    "FORM_OF",
    "LINEAR_IN_WEIGHTS",
    "Oracle",
    "Pointwise",
    "make_loss",
    "pairs",
    "profile",
    "standardize_rows",
    "standardize_targets",
]

FORM_OF = {
    "linear": "dot",
    "additive": "dot",
    "anova": "dot",
    "polynomial": "dot",
    "sigmoid": "dot",
    "rbf": "distance",
    "joint": "distance",
    "matern": "distance",
    "rational_quadratic": "distance",
    "laplace": "absolute",
}
LINEAR_IN_WEIGHTS = ("linear", "laplace", "additive")
EXPANDING = ("additive", "anova", "joint")  # kernels that see functions of the columns
# Eigenvalues of K(Z, Z) below this share of the largest are rounding: no model uses them.
RANK = 1e-14
MAX_NEWTON = 60
# Share of the value that a Newton step must still promise; far below every limit of the audit.
ENOUGH = 1e-12


# -- columns ------------------------------------------------------------------------------


def standardize_rows(
    X: np.ndarray, s: np.ndarray, *, scale: bool, center: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the columns that vary, and center and scale of each of them.

    Means and deviations are weighted by ``s``. Columns are divided by their largest entry
    first, because the square of 1e200 is not a number.
    """
    unit = np.abs(X).max(axis=0)
    unit[unit == 0.0] = 1.0
    mean = np.average(X / unit, axis=0, weights=s)
    deviation = np.sqrt(np.average((X / unit - mean) ** 2, axis=0, weights=s))
    varying = np.flatnonzero(deviation > 1e-13)
    mean, deviation = (mean * unit)[varying], (deviation * unit)[varying]
    if not scale:
        deviation = np.ones(len(varying))
        mean = mean if center else np.zeros(len(varying))
    return varying, mean, deviation


def standardize_targets(
    y: np.ndarray, s: np.ndarray, *, robust: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return center and scale of every column of ``y``: moments, or median and deviation."""
    if not robust:
        mean = np.average(y, axis=0, weights=s)
        return mean, np.sqrt(np.average((y - mean) ** 2, axis=0, weights=s))
    middle = np.array([weighted_median(column, s) for column in y.T])
    spread = [weighted_median(column, s) for column in np.abs(y - middle).T]
    return middle, 1.4826 * np.array(spread)


def weighted_median(values: np.ndarray, s: np.ndarray) -> float:
    """Return the median in which a row of weight 2 counts twice."""
    order = np.argsort(values)
    values, below = values[order], np.cumsum(s[order])
    half = 0.5 * below[-1]
    return 0.5 * (values[below >= half][0] + values[below > half][0])


# -- losses -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pointwise:
    """A loss and its first two derivatives in the score."""

    value: Callable
    slope: Callable
    curvature: Callable


def make_loss(name: str, parameter: float | None = None) -> Pointwise:
    """Return the loss of that name; ``parameter`` is ``delta`` or ``width``."""
    t = parameter

    def gap(y, f):
        return np.maximum(1.0 - y * f, 0.0)

    if name == "squared":
        return Pointwise(
            lambda y, f: (y - f) ** 2,
            lambda y, f: 2.0 * (f - y),
            lambda y, f: np.full_like(f, 2.0),
        )
    if name == "huber":
        return Pointwise(
            lambda y, f: np.where(np.abs(y - f) < t, (y - f) ** 2, 2 * t * np.abs(y - f) - t * t),
            lambda y, f: 2.0 * np.minimum(np.abs(f - y), t) * np.sign(f - y),
            lambda y, f: np.where(np.abs(f - y) < t, 2.0, 0.0),
        )
    if name == "squared_hinge":
        return Pointwise(
            lambda y, f: gap(y, f) ** 2,
            lambda y, f: -2.0 * y * gap(y, f),
            lambda y, f: np.where(y * f < 1.0, 2.0, 0.0),
        )
    if name == "huberized_hinge":
        return Pointwise(
            lambda y, f: np.where(gap(y, f) < t, gap(y, f) ** 2 / (2 * t), gap(y, f) - t / 2),
            lambda y, f: -y * np.minimum(gap(y, f) / t, 1.0),
            lambda y, f: np.where((gap(y, f) > 0.0) & (gap(y, f) < t), 1.0 / t, 0.0),
        )
    if name == "hinge":
        return Pointwise(gap, lambda y, f: -y * (gap(y, f) > 0.0), lambda y, f: np.zeros_like(f))
    return Pointwise(  # logistic
        lambda y, f: np.logaddexp(0.0, -y * f),
        lambda y, f: -y * expit(-y * f),
        lambda y, f: expit(f) * expit(-f),
    )


# -- kernels ------------------------------------------------------------------------------


def pairs(form: str, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return what each column adds to the form of each pair of rows, shape (n, m, p)."""
    if form == "dot":
        return X[:, None, :] * Z[None, :, :]
    difference = X[:, None, :] - Z[None, :, :]
    return difference**2 if form == "distance" else np.abs(difference)


def profile(kernel: str, given: dict, S: np.ndarray) -> np.ndarray:
    """Return the kernel as a function of its form."""
    if kernel in ("linear", "additive"):
        return S
    if kernel == "anova":
        return S + S**2 / 2.0 + (S**3 / 6.0 if given["order"] == 3 else 0.0)
    if kernel == "joint":
        kernel, given = "matern", {**given, "nu": 1.5}
    if kernel == "polynomial":
        return (S + given["coef0"]) ** given["degree"]
    if kernel == "sigmoid":
        return np.tanh(given["gamma"] * S + given["coef0"])
    gamma = given["gamma"]
    if kernel == "rational_quadratic":
        return (1.0 + gamma * S / given["shape"]) ** -given["shape"]
    if kernel == "matern":
        r = gamma * np.sqrt(2.0 * given["nu"] * S)
        return np.exp(-r) * (1.0 + r + (r**2 / 3.0 if given["nu"] == 2.5 else 0.0))
    return np.exp(-gamma * S)


def profile_slope(kernel: str, given: dict, S: np.ndarray) -> np.ndarray:
    """Return the derivative of :func:`profile`."""
    if kernel in ("linear", "additive"):
        return np.ones_like(S)
    if kernel == "anova":
        return 1.0 + S + (S**2 / 2.0 if given["order"] == 3 else 0.0)
    if kernel == "joint":
        kernel, given = "matern", {**given, "nu": 1.5}
    if kernel == "polynomial":
        return given["degree"] * (S + given["coef0"]) ** (given["degree"] - 1)
    gamma = given["gamma"]
    if kernel == "sigmoid":
        return gamma / np.cosh(gamma * S + given["coef0"]) ** 2
    if kernel == "rational_quadratic":
        return -gamma * (1.0 + gamma * S / given["shape"]) ** (-given["shape"] - 1.0)
    if kernel == "matern":
        # dk/dr = -r exp(-r) or -r (1 + r) exp(-r) / 3, and dr/ds = gamma**2 nu / r.
        r = gamma * np.sqrt(2.0 * given["nu"] * S)
        factor = 1.0 if given["nu"] == 1.5 else (1.0 + r) / 3.0
        return -given["nu"] * gamma**2 * factor * np.exp(-r)
    return -gamma * np.exp(-gamma * S)


# -- the problem --------------------------------------------------------------------------


class Oracle:
    """The objective as a function of weights, coefficients and intercepts.

    Parameters
    ----------
    X, Z : ndarray of shape (n, p) and (m, p)
        Rows and centers, standardized; the exact method has ``Z is X``.
    Y : ndarray of shape (n, k)
    s : ndarray of shape (n,)
        Sample weights, positive.
    kernel : str
    given : dict
        The kernel's parameters.
    loss : Pointwise
    alpha : float
    penalty : ndarray of shape (q,)
        Price of each weight: sparsity times the costs of its columns.
    owner : ndarray of int of shape (p,)
        Which weight each column has.
    fit_intercept : bool
    """

    def __init__(self, X, Z, Y, s, kernel, given, loss, alpha, penalty, owner, fit_intercept):
        self.Y, self.s, self.loss, self.alpha = Y, s[:, None], loss, alpha
        self.kernel, self.given, self.penalty, self.owner = kernel, given, penalty, owner
        self.fit_intercept, self.exact = fit_intercept, Z is X
        self.squared = kernel not in LINEAR_IN_WEIGHTS
        self.across = pairs(FORM_OF[kernel], X, Z)
        self.among = self.across if self.exact else pairs(FORM_OF[kernel], Z, Z)

    def forms(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the forms of rows and centers, and of centers and centers."""
        v = w[self.owner] ** 2 if self.squared else w[self.owner]
        across = self.across @ v
        return across, across if self.exact else self.among @ v

    def matrices(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return ``K(X, Z)`` and ``K(Z, Z)``."""
        across, among = self.forms(w)
        K = profile(self.kernel, self.given, across)
        return K, K if self.exact else profile(self.kernel, self.given, among)

    def value(self, w, C, b, ridge=0.0) -> float:
        """Return the objective, with ``ridge |C|^2`` where one is asked for."""
        K, M = self.matrices(w)
        total = np.sum(self.s * self.loss.value(self.Y, K @ C + b))
        norm = self.alpha * np.sum(C * (M @ C)) + ridge * np.sum(C * C)
        return float(total + norm + self.penalty @ w)

    def rounding(self, w, C, b) -> float:
        """Return what rounding may have changed in the objective, to first order."""
        K, M = (np.abs(matrix) for matrix in self.matrices(w))
        size = K @ np.abs(C) + np.abs(b)
        slope = self.s * np.abs(self.loss.slope(self.Y, self.matrices(w)[0] @ C + b))
        total = np.sum(slope * size) + self.alpha * np.sum(np.abs(C) * (M @ np.abs(C)))
        return float(np.finfo(float).eps * total)

    def slopes(self, w, C, b) -> np.ndarray:
        """Return the derivative of the loss in every score, weighted by the rows' weights."""
        return self.s * self.loss.slope(self.Y, self.matrices(w)[0] @ C + b)

    def gradient(self, w, C, b) -> np.ndarray:
        """Return the derivative in the weights at coefficients that are stationary.

        By the envelope theorem the coefficients may be held fixed. In the exact method they
        are taken from the stationarity of the scores, ``G = -2 alpha C``: where ``K`` is
        singular this one among all minimizers also shows what a weight at zero would gain.
        """
        across, among = self.forms(w)
        G = self.slopes(w, C, b)
        if self.exact:
            C = -G / (2.0 * self.alpha)
            mixed = -self.alpha * C @ C.T
            mixed = mixed * profile_slope(self.kernel, self.given, across)
            in_v = np.tensordot(mixed, self.across)
        else:
            mixed = (G @ C.T) * profile_slope(self.kernel, self.given, across)
            own = self.alpha * (C @ C.T) * profile_slope(self.kernel, self.given, among)
            in_v = np.tensordot(mixed, self.across)
            in_v = in_v + np.tensordot(own, self.among)
        if self.squared:
            in_v = 2.0 * w[self.owner] * in_v
        return np.bincount(self.owner, in_v, minlength=len(w)) + self.penalty

    def empty_value(self) -> float:
        """Return the objective with all weights zero.

        The kernel is then one number ``k`` for all pairs, and a model a constant ``t``. With
        an intercept it is free; without, ``t = k sum(c)`` costs ``alpha t**2 / k``, and only
        zero is left where ``k`` is not positive.
        """
        k = float(profile(self.kernel, self.given, np.zeros(1))[0])
        if not self.fit_intercept and k <= 0.0:
            return float(np.sum(self.s * self.loss.value(self.Y, np.zeros_like(self.Y))))
        price = 0.0 if self.fit_intercept else self.alpha / k
        return sum(_best_constant(y, self.s[:, 0], self.loss, price) for y in self.Y.T)

    def constant_value(self) -> float:
        """Return the loss of the best constant scores, of zero without an intercept."""
        if self.fit_intercept:
            return self.empty_value()
        return float(np.sum(self.s * self.loss.value(self.Y, np.zeros_like(self.Y))))

    def minimize(self, w, warm=None, ridge=0.0) -> tuple[np.ndarray, np.ndarray, float]:
        """Return coefficients, intercepts and objective minimized at fixed weights.

        ``warm`` are coefficients and intercepts to start from.
        """
        K, M = self.matrices(w)
        if ridge:
            M = M + ridge / self.alpha * np.eye(len(M))
        values, vectors = np.linalg.eigh(M)
        kept = values > RANK * values.max(initial=0.0)
        values, vectors = np.sqrt(values[kept]), vectors[:, kept]
        # In this basis the norm is that of the coordinates.
        Phi = vectors * values if self.exact and not ridge else K @ (vectors / values)
        C, b = np.zeros((len(M), self.Y.shape[1])), np.zeros(self.Y.shape[1])
        for q, y in enumerate(self.Y.T):
            start = np.zeros(Phi.shape[1] + 1)
            if warm is not None:
                start[:-1], start[-1] = values * (vectors.T @ warm[0][:, q]), warm[1][q]
            found = _newton(Phi, y, self.s[:, 0], self.loss, self.alpha, self.fit_intercept, start)
            C[:, q], b[q] = vectors @ (found[:-1] / values), found[-1]
        return C, b, self.value(w, C, b, ridge)


def _best_constant(y, s, loss, price):
    """Return ``min_t sum_i s_i loss(y_i, t) + price t**2`` from the root of its derivative."""

    def slope(t):
        return s @ loss.slope(y, np.full(len(y), t)) + 2.0 * price * t

    reach = 1.0 + np.abs(y).max()
    # The logistic loss of rows that nearly all agree has its minimum far out.
    while (slope(-reach) > 0 or slope(reach) < 0) and reach < 1e3:
        reach *= 2.0
    t = brentq(slope, -reach, reach) if slope(-reach) < 0 < slope(reach) else 0.0
    # Where the derivative jumps or is flat the ends of its zeros are as good.
    tried = [t, 0.0, *((1.0, -1.0) if price == 0.0 else ())]
    return float(min(s @ loss.value(y, np.full(len(y), t)) + price * t * t for t in tried))


def _newton(Phi, y, s, loss, alpha, fit_intercept, start):
    """Minimize ``s @ loss(y, Phi c + b) + alpha |c|^2`` by Newton steps and line searches."""
    r = Phi.shape[1]
    A = np.column_stack([Phi, np.ones(len(y))]) if fit_intercept else Phi
    size = A.shape[1]
    shift = np.full(size, 2.0 * alpha)
    shift[r:] = 0.0
    x = start[:size].copy()
    for _ in range(MAX_NEWTON):
        f = A @ x
        value = s @ loss.value(y, f) + alpha * (x[:r] @ x[:r])
        gradient = A.T @ (s * loss.slope(y, f)) + shift * x
        h = s * loss.curvature(y, f)
        H = A.T @ (h[:, None] * A)
        H.flat[:: size + 1] += shift + 1e-14 * np.trace(H) / size
        if fit_intercept and not h.any():
            # Without curved rows an intercept has no curvature of its own; the line search
            # makes up for a wrong one.
            H[-1, -1] = 1e-2 * s.sum()
        step = np.linalg.solve(H, -gradient)
        if not -(gradient @ step) > 2.0 * ENOUGH * abs(value):
            break
        x += _line_minimum(A @ step, f, y, s, loss, shift, x, step) * step
    return np.append(x, np.zeros(r + 1 - size))


def _line_minimum(along, f, y, s, loss, shift, x, step):
    """Return the step length at which the slope of a convex function changes sign."""
    linear, square = (shift * x) @ step, (shift * step) @ step

    def slope(t):
        return along @ (s * loss.slope(y, f + t * along)) + linear + t * square

    at_zero = slope(0.0)
    high = 1.0
    if abs(slope(high)) <= 1e-6 * abs(at_zero):
        return high
    while slope(high) < 0 and high < 1e6:
        high *= 4.0
    return brentq(slope, 0.0, high, xtol=1e-14, rtol=1e-10) if at_zero < 0 < slope(high) else high
