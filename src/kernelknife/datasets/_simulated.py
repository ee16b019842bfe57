"""The paper's simulated problems.

Every generator puts the true features first and returns ``X, y``.
"""

import numpy as np
from sklearn.utils import check_random_state

from kernelknife._support.checks import check_number

__all__ = ["make_linear", "make_sinusoidal", "make_skin_of_orange"]

COEFFICIENTS = (6.0, -4.0, 3.0, 2.0, -2.0)


def _linear_part(n_samples, n_noise, random_state, transform):
    check_number(n_samples, "n_samples", low=1, integer=True)
    check_number(n_noise, "n_noise", integer=True)
    rng = check_random_state(random_state)
    X = rng.standard_normal((n_samples, len(COEFFICIENTS) + n_noise))
    signal = transform(X[:, : len(COEFFICIENTS)]) @ np.array(COEFFICIENTS)
    return X, signal + rng.standard_normal(n_samples)


def make_linear(n_samples=100, n_noise=5, random_state=None):
    """Linear regression with five true features.

    ``y = 6 x1 - 4 x2 + 3 x3 + 2 x4 - 2 x5 + noise``, everything standard normal.

    Parameters
    ----------
    n_samples : int, default=100
    n_noise : int, default=5
        Features without effect.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 5 + n_noise)
    y : ndarray of shape (n_samples,)
    """
    return _linear_part(n_samples, n_noise, random_state, lambda X: X)


def make_sinusoidal(n_samples=100, n_noise=5, random_state=None):
    """Regression on the sines of five true features.

    ``y = 6 sin x1 - 4 sin x2 + 3 sin x3 + 2 sin x4 - 2 sin x5 + noise``.

    Parameters
    ----------
    n_samples : int, default=100
    n_noise : int, default=5
        Features without effect.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 5 + n_noise)
    y : ndarray of shape (n_samples,)
    """
    return _linear_part(n_samples, n_noise, random_state, np.sin)


def make_skin_of_orange(n_samples=100, n_noise=6, random_state=None):
    """Two classes, one around the other like the skin of an orange.

    Class 0 has four standard normal features; class 1 has the same conditioned on
    ``9 <= sum x_j**2 <= 16``. No feature separates the classes linearly.

    Parameters
    ----------
    n_samples : int, default=100
        Half of them (rounded down) in class 0.
    n_noise : int, default=6
        Standard normal features without effect.
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
    skin = np.flatnonzero(y)
    while len(skin):
        X[skin, :4] = rng.standard_normal((len(skin), 4))
        radius = np.sum(X[skin, :4] ** 2, axis=1)
        skin = skin[(radius < 9.0) | (radius > 16.0)]
    return X, y
