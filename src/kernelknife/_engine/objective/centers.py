"""Choosing centers: a few rows that stand for all of them."""

import numpy as np
from sklearn.cluster import kmeans_plusplus

from kernelknife._utils.checks import check_number
from kernelknife.kernels import Kernel

__all__ = ["CENTERS", "choose_centers"]

CENTERS = ("kmeans++", "uniform", "leverage")
# Rows of the model that estimates how much a row adds to what others span: enough to distinguish
# dense regions from sparse ones, few enough that a 300 x 300 system is solved at once.
PILOT_ROWS = 300
PILOT_RIDGE = 1e-3  # of the mean diagonal of that model's matrix, against singularity
SMALLEST_LEVERAGE = 1e-12  # what rounding may leave of a leverage of zero
# Rows are spread out by their squared distances, which are estimated from projections on this
# number of random directions. The error is about one part in seven, and with 2,500 columns it takes
# a tenth of the time of the distances themselves.
DIRECTIONS = 100


def choose_centers(
    X: np.ndarray, n_centers: int, how: str, kernel: Kernel, v: np.ndarray, seed: int
) -> np.ndarray:
    """Return the index of the rows to take as centers.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Standardized rows, a sample of all of them.
    n_centers : int
    how : {"kmeans++", "uniform", "leverage"}
        Spread out, at random, or by how much a row adds to what others span.
    kernel : Kernel
    v : ndarray of shape (p,)
        Factors of the columns in the kernel's form: the geometry to choose in.
    seed : int
    """
    check_number(n_centers, "n_centers", low=1, integer=True)
    rng = np.random.default_rng(seed)
    n = len(X)
    if n_centers >= n:
        return np.arange(n)
    if how == "uniform":
        return np.sort(rng.choice(n, n_centers, replace=False))
    used = np.flatnonzero(v)
    X, v = X[:, used], v[used]
    if how == "kmeans++":
        scaled = X * (np.sqrt(v) if kernel.form == "distance" else v)
        if len(v) > 2 * DIRECTIONS:
            scaled = scaled @ rng.normal(size=(len(v), DIRECTIONS))
        _, index = kmeans_plusplus(scaled, n_centers, random_state=int(rng.integers(2**31)))
        # Copies of a row may be drawn twice.
        index = np.unique(index)
        rest = np.setdiff1d(np.arange(n), index)
        extra = rng.choice(rest, n_centers - len(index), replace=False)
        return np.sort(np.concatenate([index, extra]))
    # Ridge leverages from a pilot set of centers: k(x, x) - k(x, Z) (K + r I)^-1 k(Z, x).
    pilot = X[rng.choice(n, min(n, PILOT_ROWS), replace=False)]
    K = kernel(pilot, pilot, v)
    ridge = PILOT_RIDGE * np.trace(K) / len(K)
    K.flat[:: len(K) + 1] += ridge
    cross = kernel(X, pilot, v)
    explained = np.einsum("ij,ji->i", cross, np.linalg.solve(K, cross.T))
    leverage = np.maximum(kernel.diag(X, v) - explained, SMALLEST_LEVERAGE) + ridge
    return np.sort(rng.choice(n, n_centers, replace=False, p=leverage / leverage.sum()))
