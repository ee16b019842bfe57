"""The one place that depends on the versions of the package's dependencies.

Everything that depends on the version of NumPy, SciPy or scikit-learn belongs here, so that the
rest of the package reads the same for all of them. ``.ci/oldest.txt`` names the oldest versions,
and ``.ci/run`` tests the package with them.

Callbacks
    scikit-learn has ``sklearn.callback`` since version 1.9. For older versions the classes here
    take its place: ``set_callbacks`` accepts callbacks, which are never called.
Numbers in text files
    pandas reads them to the last digit by itself since version 3.1.
"""

import platform
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import scipy
import sklearn

from kernelknife import __version__

__all__ = [
    "HAS_CALLBACKS",
    "CallbackSupportMixin",
    "exact_numbers",
    "versions",
    "with_callbacks",
]

Method = TypeVar("Method", bound=Callable[..., Any])

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    HAS_CALLBACKS = True
except ModuleNotFoundError:
    HAS_CALLBACKS = False

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Accepts callbacks and never calls them."""

        def set_callbacks(self, *callbacks: object) -> "CallbackSupportMixin":
            """Take callbacks, which this version of scikit-learn cannot call.

            Parameters
            ----------
            *callbacks : callback instances
                They are ignored.

            Returns
            -------
            self : object
            """
            return self

        def _init_callback_context(self, **_: object) -> None:
            """Return nothing, as no callback is ever called."""

    def with_callbacks(method: Method) -> Method:
        """Return the method as it is."""
        return method


def exact_numbers(pandas: Any) -> dict[str, str]:
    """Return what makes ``pandas.read_csv`` read numbers to the last digit.

    Version 3.1 does so by itself, but for the last bit of numbers with a decimal comma, and warns
    of the option.

    Parameters
    ----------
    pandas : module

    Returns
    -------
    dict
        Options of ``read_csv``.
    """
    major, minor = (int(part) for part in pandas.__version__.split(".")[:2])
    return {} if (major, minor) >= (3, 1) else {"float_precision": "round_trip"}


def versions() -> dict[str, str]:
    """Return the versions of the software that a result may depend on.

    Returns
    -------
    dict of str to str
        By name: the package, Python, NumPy, SciPy and scikit-learn.
    """
    return {
        "kernelknife": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "sklearn": sklearn.__version__,
    }
