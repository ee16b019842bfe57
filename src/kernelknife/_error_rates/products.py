"""Products of two columns that are correlated with residuals.

A sum of separate effects misses columns that act only in pairs. Products of two columns that are
correlated with its residuals beyond the size of noise become further columns.
"""

import numpy as np

__all__ = ["bounded_columns", "product_columns", "strong_pairs"]

# Standard deviations beyond which values are cut off, so that no product depends on a few rows.
FAR = 3.0


def bounded_columns(X: np.ndarray) -> np.ndarray:
    """Return columns with mean 0 and deviation 1, without far values; none may be constant."""
    Z: np.ndarray = np.clip((X - X.mean(axis=0)) / X.std(axis=0), -FAR, FAR)
    spread = Z.std(axis=0)
    Z -= Z.mean(axis=0)
    Z /= np.where(spread > 0, spread, 1.0)
    return Z


def strong_pairs(U: np.ndarray, residuals: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of columns whose products are correlated with residuals beyond noise.

    Under pure noise every correlation times the square root of the number of rows is about standard
    normal, and the largest of N of them about ``sqrt(2 log N)``.

    Parameters
    ----------
    U : ndarray of shape (n, p)
        From :func:`bounded_columns`.
    residuals : ndarray of shape (n, k)
    most : int
        Largest number of pairs; the strongest come first.

    Returns
    -------
    first, second : ndarray of int
    """
    n, p = U.shape
    first, second = np.triu_indices(p, 1)
    # Products of correlated columns have a variance above 1, under pure noise too.
    spread = np.sqrt(np.maximum(((U**2).T @ U**2)[first, second] / n, 1.0))
    sizes = np.zeros(len(first))
    for r in residuals.T:
        r = r - r.mean()
        length = np.linalg.norm(r)
        if length > 0:
            sums = (U * (r / length)[:, None]).T @ U
            sizes = np.maximum(sizes, np.abs(sums[first, second]) / spread)
    if not len(sizes):
        return first, second
    strong = np.argsort(-sizes, kind="stable")[:most]
    strong = strong[sizes[strong] > np.sqrt(2.0 * np.log(max(len(sizes), 2)))]
    return first[strong], second[strong]


def product_columns(U: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return products of columns, less what lines and parabolas of both columns explain of them."""
    products = np.empty((len(U), len(first)))
    for i, (a, b) in enumerate(zip(first, second, strict=True)):
        u, v = U[:, a], U[:, b]
        alone = np.column_stack([np.ones(len(U)), u, v, u**2, v**2])
        products[:, i] = u * v - alone @ np.linalg.lstsq(alone, u * v, rcond=None)[0]
    return products
