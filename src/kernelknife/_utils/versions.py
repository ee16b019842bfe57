"""The one place that knows which versions of its dependencies the package runs on.

Everything that depends on the version of NumPy, SciPy or scikit-learn belongs here, so that the
rest of the package reads the same for all of them. ``.ci/oldest.txt`` names the oldest versions,
and ``.ci/run`` tests the package with them.

Callbacks
    scikit-learn has ``sklearn.callback`` since version 1.9. Before that the classes here stand in
    for it: ``set_callbacks`` accepts callbacks and nobody calls them.
"""

import platform

import numpy as np
import scipy
import sklearn

from kernelknife import __version__

__all__ = ["HAS_CALLBACKS", "CallbackSupportMixin", "versions", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    HAS_CALLBACKS = True
except ModuleNotFoundError:
    HAS_CALLBACKS = False

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Accepts callbacks and never calls them."""

        def set_callbacks(self, *callbacks):
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

        def _init_callback_context(self, **_):
            """Return nothing, as there is nobody to tell."""

    def with_callbacks(method):
        """Return the method as it is."""
        return method


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
