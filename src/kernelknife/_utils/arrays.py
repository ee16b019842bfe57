"""Arrays of any library: the namespace of an array, and the few steps that depend on it.

The mathematics stays inside the array API standard. NumPy arrays are recognized first, at no cost;
arrays of other libraries need ``array-api-compat``.
"""

from typing import Any, TypeAlias

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsyrk

from kernelknife._utils.messages import import_optional

__all__ = [
    "Array",
    "Factored",
    "LinAlgError",
    "Namespace",
    "exponential",
    "factorize_lower",
    "gram",
    "is_foreign",
    "like",
    "mirrored",
    "namespace",
    "nonnegative",
    "solve_factored",
    "spread",
    "take_columns",
    "to_host",
]

Array: TypeAlias = Any  # an array of NumPy, or of any other library with the array API
Namespace: TypeAlias = Any  # the module with the functions of such a library
Factored: TypeAlias = Any  # SciPy's pair for a NumPy matrix, the matrix itself on a device
GRAM_LEAF = 256  # columns below which a symmetric product is made in full


def namespace(x: Array) -> Namespace:
    """Return the array API namespace of an array."""
    if isinstance(x, np.ndarray) or np.isscalar(x):
        return np
    compat = import_optional(
        "array_api_compat", "kernelknife[gpu]", "An array of another library than NumPy"
    )
    return compat.array_namespace(x)


def is_foreign(x: object) -> bool:
    """Whether ``x`` is an array of another library, such as a tensor on a GPU."""
    if isinstance(x, (np.ndarray, np.generic)) or hasattr(x, "iloc"):
        return False
    return hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__")


def like(values: Array, x: Array) -> Array:
    """Return host values as an array of the library, on the device, of ``x``."""
    if isinstance(x, np.ndarray):
        return np.asarray(values, dtype=float)
    if is_foreign(values):
        return values
    xp = namespace(x)
    return xp.asarray(np.ascontiguousarray(values, dtype=float), device=x.device)


def take_columns(x: Array, index: np.ndarray) -> Array:
    """Return some columns of a matrix, the matrix itself where these are all of them."""
    if np.array_equal(index, np.arange(x.shape[1])):
        return x
    if isinstance(x, np.ndarray):
        # Its rows are contiguous; a contiguous copy of x[:, index] takes six times as long.
        return x.take(index, axis=1)
    xp = namespace(x)
    return xp.take(x, xp.asarray(index, device=x.device), axis=1)


def to_host(x: Array) -> np.ndarray:
    """Return an array as a NumPy array."""
    if isinstance(x, np.ndarray) or np.isscalar(x):
        return np.asarray(x, dtype=float)
    if hasattr(x, "detach"):  # torch
        return np.asarray(x.detach().cpu().numpy())
    if hasattr(x, "get"):  # CuPy
        return np.asarray(x.get())
    return np.from_dlpack(x)


def exponential(x: Array) -> Array:
    """Return ``exp(x)``, in the place of ``x`` where that saves a pass."""
    if isinstance(x, np.ndarray):
        return np.exp(x, out=x)
    return namespace(x).exp(x)


def nonnegative(x: Array) -> Array:
    """Return ``max(x, 0)``, in the place of ``x`` where that saves a pass."""
    if isinstance(x, np.ndarray):
        return np.maximum(x, 0.0, out=x)
    return namespace(x).clip(x, 0.0, None)


def gram(A: Array) -> Array:
    """Return ``A' A`` with its lower triangle filled, at half the cost of a product."""
    if isinstance(A, np.ndarray):
        if A.flags.f_contiguous:
            return dsyrk(1.0, A, trans=1, lower=1)
        # The transpose of a C-ordered matrix is in the order of BLAS, without a copy.
        return dsyrk(1.0, np.ascontiguousarray(A).T, lower=1)
    return _gram_by_halves(namespace(A), A)


def _gram_by_halves(xp: Namespace, A: Array) -> Array:
    m = A.shape[1]
    if m <= GRAM_LEAF:
        return A.T @ A
    half = m // 2
    left, right = A[:, :half], A[:, half:]
    corner = xp.zeros((half, m - half), dtype=A.dtype, device=A.device)
    top = xp.concat([_gram_by_halves(xp, left), corner], axis=1)
    bottom = xp.concat([right.T @ left, _gram_by_halves(xp, right)], axis=1)
    return xp.concat([top, bottom], axis=0)


def mirrored(lower: Array) -> Array:
    """Return the symmetric matrix whose lower triangle is given."""
    xp = namespace(lower)
    return xp.tril(lower) + xp.tril(lower, k=-1).T


def factorize_lower(lower: Array, shift: float) -> Factored:
    """Return what :func:`solve_factored` needs of a positive definite matrix.

    ``shift`` is added to the diagonal; only the lower triangle is read. The standard has no
    triangular solve, so on a device the matrix itself is kept and factorized by each solve.
    """
    if isinstance(lower, np.ndarray):
        A = np.array(lower, order="F")
        A.flat[:: len(A) + 1] += shift
        return cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
    xp = namespace(lower)
    half = xp.tril(lower, k=-1)
    diagonal = xp.linalg.diagonal(lower) + shift
    return (
        half
        + half.T
        + diagonal[:, None] * xp.eye(lower.shape[0], dtype=lower.dtype, device=lower.device)
    )


def solve_factored(factor: Factored, B: Array) -> Array:
    """Solve with a matrix that :func:`factorize_lower` has prepared; ``B`` has two axes."""
    if isinstance(factor, tuple):
        return cho_solve(factor, B, check_finite=False)
    return namespace(B).linalg.solve(factor, B)


def spread(values: np.ndarray, ddof: int = 1) -> Any:
    """Return the standard deviation along the first axis, of however large or small values.

    Squares of 1e200 overflow, and those of 1e-200 are zero. A power of two changes no digit.
    """
    largest = np.abs(values).max(initial=0.0)
    unit = 2.0 ** np.frexp(largest)[1] if 0.0 < largest < np.inf else 1.0
    return unit * (values / unit).std(axis=0, ddof=ddof)
