"""Optional dependencies, with a clear message when one is missing."""

from importlib import import_module
from typing import Any

__all__ = ["import_optional"]


def import_optional(module: str, extra: str, purpose: str) -> Any:
    """Import a module that is not among the core dependencies.

    Parameters
    ----------
    module : str
    extra : str
        What to install: an extra of kernelknife in brackets, or a distribution.
    purpose : str
        What needs it, for the message.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        name = module.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != name:
            raise
        raise ImportError(f"{purpose} needs {name}: pip install {extra!r}.") from error
