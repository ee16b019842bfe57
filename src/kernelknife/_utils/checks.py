"""Checks of parameters, and the way from a name to an object, with errors that list the choices."""

import math
import numbers
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

__all__ = ["check_number", "resolve"]


class _Checked(Protocol):
    """Whatever can check its own parameters."""

    def validate(self) -> None: ...


Kind = TypeVar("Kind", bound=_Checked)


def resolve(spec: Any, registry: Mapping[str, type[Kind]], base: type[Kind], what: str) -> Kind:
    """Return an instance of ``base`` for a registered name or an instance.

    ``what`` is the word for error messages: "kernel" or "loss".
    """
    if isinstance(spec, base):
        spec.validate()
        return spec
    if isinstance(spec, str):
        if spec in registry:
            return registry[spec]()
        raise ValueError(
            f"Unknown {what} {spec!r}. Known names: {', '.join(sorted(registry))}; or "
            f"pass an instance of a kernelknife {base.__name__}."
        )
    if isinstance(spec, type) and issubclass(spec, base):
        raise TypeError(f"{what} must be an instance: pass {spec.__name__}() instead of the class.")
    raise TypeError(
        f"{what} must be a name ({', '.join(sorted(registry))}) or an instance of a "
        f"kernelknife {base.__name__}, got {type(spec).__name__}."
    )


def check_number(
    value: Any, name: str, *, low: float = 0.0, strict: bool = False, integer: bool = False
) -> None:
    """Raise unless ``value`` is a finite number (an integer if asked) above ``low``."""
    wanted = numbers.Integral if integer else numbers.Real
    kind = "an integer" if integer else "a number"
    sign = ">" if strict else ">="
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise TypeError(f"{name} must be {kind} {sign} {low:g}, got {value!r}.")
    if not math.isfinite(value) or value < low or (strict and value == low):
        raise ValueError(f"{name} must be {kind} {sign} {low:g}, got {value!r}.")
