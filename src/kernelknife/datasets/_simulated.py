"""The paper's simulated problems.

Every generator puts the true features first and returns ``X, y``.
"""

import numpy as np
from sklearn.utils import check_random_state

from kernelknife._support.checks import check_number

__all__ = ["make_linear", "make_sinusoidal", "make_skin_of_orange"]

COEFFICIENTS = (6.0, -4.0, 3.0, 2.0, -2.0)  # of the true features, as in the paper
# Squared radii between which the class around the other lies, as in the paper.
INNER, OUTER = 9.0, 16.0


def _make_regression(n_samples, n_noise, random_state, transform):
    """Return standard normal features, and a linear function of the transformed true ones."""
    check_number(n_samples, "n_samples", low=1, integer=True)
    check_number(n_noise, "n_noise", integer=True)
    rng = check_random_state(random_state)
    X = rng.standard_normal((n_samples, len(COEFFICIENTS) + n_noise))
    signal = transform(X[:, : len(COEFFICIENTS)]) @ np.array(COEFFICIENTS)
    return X, signal + rng.standard_normal(n_samples)


def make_linear(n_samples=100, n_noise=5, random_state=None):
    """Linear regression with five true features.

    ``y = 6 x1 - 4 x2 + 3 x3 + 2 x4 - 2 x5 + noise``; features and noise are standard normal.

    Parameters
    ----------
    n_samples : int, default=100
    n_noise : int, default=5
        Number of features without effect.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 5 + n_noise)
    y : ndarray of shape (n_samples,)
    """
    return _make_regression(n_samples, n_noise, random_state, lambda X: X)


def make_sinusoidal(n_samples=100, n_noise=5, random_state=None):
    """Regression on the sines of five true features.

    ``y = 6 sin x1 - 4 sin x2 + 3 sin x3 + 2 sin x4 - 2 sin x5 + noise``; features and noise are
    standard normal.

    Parameters
    ----------
    n_samples : int, default=100
    n_noise : int, default=5
        Number of features without effect.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 5 + n_noise)
    y : ndarray of shape (n_samples,)
    """
    return _make_regression(n_samples, n_noise, random_state, np.sin)


def make_skin_of_orange(n_samples=100, n_noise=6, random_state=None):
    """Two classes, one around the other like the skin of an orange.

    In class 0 four features are standard normal. In class 1 they are standard normal under the
    condition ``9 <= sum x_j**2 <= 16``. No feature differs in its mean between the classes.

    Parameters
    ----------
    n_samples : int, default=100
        Half of them (rounded down) are in class 0.
    n_noise : int, default=6
        Number of standard normal features without effect.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 4 + n_noise)
    y : ndarray of int of shape (n_samples,)
        Classes, in random order.
    """
    check_number(n_samples, "n_samples", low=2, integer=True)
    check_number(n_noise, "n_noise", integer=True)
    rng = check_random_state(random_state)
    y = rng.permutation(np.arange(n_samples) >= n_samples // 2).astype(int)
    X = rng.standard_normal((n_samples, 4 + n_noise))
    # Rows of class 1 are drawn again until all of them lie between the two radii.
    outside = np.flatnonzero(y)
    while len(outside):
        X[outside, :4] = rng.standard_normal((len(outside), 4))
        squared_radius = np.sum(X[outside, :4] ** 2, axis=1)
        outside = outside[(squared_radius < INNER) | (squared_radius > OUTER)]
    return X, y
