"""The kernels by name, and the kernel that a user asks for."""

from typing import Any

import numpy as np

from kernelknife._utils.checks import resolve
from kernelknife.kernels import additive, distance, dot
from kernelknife.kernels.base import Kernel

__all__ = ["KERNELS", "check_kernel"]

KERNELS: dict[str, type[Kernel]] = {
    "linear": dot.Linear,
    "additive": additive.Additive,
    "anova": additive.Anova,
    "rbf": distance.RBF,
    "joint": distance.Joint,
    "polynomial": dot.Polynomial,
    "laplace": distance.Laplace,
    "matern": distance.Matern,
    "rational_quadratic": distance.RationalQuadratic,
    "sigmoid": dot.Sigmoid,
}


def check_kernel(kernel: Any) -> Kernel:
    """Return a :class:`Kernel` for a name or an instance.

    Parameters
    ----------
    kernel : str or Kernel
        A name, or a kernel.

    Returns
    -------
    Kernel
        The kernel.
    """
    if isinstance(kernel, str) and kernel == "precomputed":
        raise ValueError(
            "kernel='precomputed' cannot have weights: a matrix of values no longer shows which "
            "column they come from. Pass the columns and the kernel itself, by name or as an "
            "object of kernelknife.kernels."
        )
    if callable(kernel) and not isinstance(kernel, (type, Kernel)):
        raise TypeError(
            "A function of two rows cannot be a kernel here: its derivative in the weights of the "
            "columns is needed, and its form. Write a class with profile and slope, ten lines: see "
            "kernelknife.kernels.Kernel."
        )
    found = resolve(kernel, KERNELS, Kernel, "kernel")  # type: ignore[type-abstract]  # not called
    if type(found) not in KERNELS.values():
        _check_derivatives(found)
    return found


def _check_derivatives(kernel: Kernel) -> None:
    """Raise where the slope or the curve of a user's kernel is not that of its profile."""
    s, step = np.array([[0.1, 0.4, 0.9, 1.7]]), 1e-5
    functions = [("slope", kernel.profile, kernel.slope)]
    if kernel.curve is not None:
        functions.append(("curve", lambda s: kernel.slope(s, kernel.profile(s)), kernel.curve))
    for name, function, derivative in functions:
        numeric = (np.asarray(function(s + step)) - np.asarray(function(s - step))) / (2.0 * step)
        given = np.asarray(derivative(s, kernel.profile(s)))
        if not np.allclose(given, numeric, rtol=1e-3, atol=1e-6 * (1.0 + np.abs(numeric).max())):
            raise ValueError(
                f"The {name} of {kernel!r} is not the derivative of its "
                f"{'profile' if name == 'slope' else 'slope'}: at s = {s[0, 1]} it is "
                f"{given[0, 1]:.6g} where differences give {numeric[0, 1]:.6g}."
            )
