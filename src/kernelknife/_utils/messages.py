"""What users read: numbers and names as text, warnings, and which package is missing."""

import inspect
import math
import warnings
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = [
    "import_optional",
    "listed",
    "number",
    "p_value",
    "share",
    "warn",
]

# What stands between a user and a warning: this package, and what wraps its methods or runs its
# jobs.
_INSIDE = ("kernelknife", "sklearn", "joblib")


def number(value: float) -> str:
    """Return a number in few characters."""
    size = abs(value)
    if size < 1e-12:
        return "0"
    if not math.isfinite(value):
        return f"{value:g}"
    if size >= 1e5 or size < 1e-3:
        return f"{value:.1e}".replace("e+0", "e").replace("e-0", "e-")
    return f"{value:.3g}" if size < 1000 else f"{value:.0f}"


def p_value(value: float) -> str:
    """Return a p-value or q-value in few characters; none is shown as 0."""
    return "< 1e-12" if value < 1e-12 else number(value)


def share(value: float) -> str:
    """Return a share as a percentage of two digits."""
    return f"{number(float(f'{100 * value:.2g}'))} %"


def listed(names: Iterable[object]) -> str:
    """Return names as a sentence lists them: with commas, and with an "and" before the last."""
    *first, last = map(str, names)
    return f"{', '.join(first)} and {last}" if first else last


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning from the nearest line that lies outside the package."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and _is_inside(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_inside(filename: str) -> bool:
    parts = Path(filename).parts
    return filename.endswith("contextlib.py") or any(name in parts for name in _INSIDE)


def import_optional(module: str, extra: str, purpose: str) -> Any:
    """Import a module that is not among the core dependencies.

    ``extra`` is what to install: an extra of kernelknife in brackets, or a distribution. The
    message begins with ``purpose``, what needs the module.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        name = module.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != name:
            raise
        raise ImportError(f"{purpose} needs {name}: pip install {extra!r}.") from error
