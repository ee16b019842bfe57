"""The one place that depends on the versions of the package's dependencies.

Everything that depends on the version of NumPy, SciPy or scikit-learn belongs here, so that the
rest of the package reads the same for all of them. ``.ci/oldest.txt`` names the oldest versions,
and ``.ci/run`` tests the package with them.

Callbacks
    scikit-learn has ``sklearn.callback`` since version 1.9. For older versions the classes here
    take its place: ``set_callbacks`` accepts callbacks, which are never called.
Numbers in text files
    pandas 3.1 deprecates the option that reads them to the last digit.
"""

import platform
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import scipy
import sklearn

from kernelknife import __version__

__all__ = [
    "HAS_CALLBACKS",
    "CallbackSupportMixin",
    "read_exactly",
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


def read_exactly(pandas: Any, *arguments: Any, **options: Any) -> Any:
    """Return ``pandas.read_csv`` with numbers read to the last digit.

    Version 3.1 warns that the option is not needed any more, which with a decimal comma is not so.

    Parameters
    ----------
    pandas : module
    *arguments, **options
        Those of ``read_csv``.

    Returns
    -------
    DataFrame
        The table.
    """
    if int(pandas.__version__.partition(".")[0]) < 4:
        options["float_precision"] = "round_trip"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The 'float_precision' argument is deprecated")
        return pandas.read_csv(*arguments, **options)


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
