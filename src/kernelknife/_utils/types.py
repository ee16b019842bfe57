"""Names for what many signatures take and no library gives a type to."""

from typing import Any, TypeAlias

__all__ = ["Array", "Namespace"]

Array: TypeAlias = Any  # an array of NumPy, or of any other library with the array API
Namespace: TypeAlias = Any  # the module with the functions of such a library
