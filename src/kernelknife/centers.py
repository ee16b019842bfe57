"""Choosing centres: a few rows that stand for all of them."""

import numpy as np
from sklearn.cluster import kmeans_plusplus

from kernelknife._support.checks import check_number

__all__ = ["CENTERS", "choose_centers"]

CENTERS = ("kmeans++", "uniform", "leverage")
PILOT = 300  # centres of the machine that estimates leverages


def choose_centers(X, n_centers, how, kernel, v, seed):
    """Return the index of the rows to take as centres.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Standardised rows, a sample of all of them.
    n_centers : int
    how : {"kmeans++", "uniform", "leverage"}
        Spread out, by chance, or by how much a row adds to what others span.
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
        _, index = kmeans_plusplus(scaled, n_centers, random_state=int(rng.integers(2**31)))
        # Copies of a row may be drawn twice.
        index = np.unique(index)
        rest = np.setdiff1d(np.arange(n), index)
        extra = rng.choice(rest, n_centers - len(index), replace=False)
        return np.sort(np.concatenate([index, extra]))
    # Ridge leverages from a pilot set of centres: k(x, x) - k(x, Z) (K + r I)^-1 k(Z, x).
    pilot = X[rng.choice(n, min(n, PILOT), replace=False)]
    K = kernel(pilot, pilot, v)
    ridge = 1e-3 * np.trace(K) / len(K)
    K.flat[:: len(K) + 1] += ridge
    cross = kernel(X, pilot, v)
    explained = np.einsum("ij,ji->i", cross, np.linalg.solve(K, cross.T))
    leverage = np.maximum(kernel.diag(X, v) - explained, 1e-12) + ridge
    return np.sort(rng.choice(n, n_centers, replace=False, p=leverage / leverage.sum()))
