"""Warnings that name the user's own line, however deep in the package they are issued."""

import inspect
import warnings
from pathlib import Path

__all__ = ["warn"]

# What stands between a user and a warning: this package, and what wraps its methods or runs its
# jobs.
_INSIDE = ("kernelknife", "sklearn", "joblib")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning from the nearest line that lies outside the package."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and _is_inside(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_inside(filename: str) -> bool:
    parts = Path(filename).parts
    return filename.endswith("contextlib.py") or any(name in parts for name in _INSIDE)
