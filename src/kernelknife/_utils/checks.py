"""Turn a name or an object into an object, with an error that lists what is known."""

import math
import numbers


def resolve(spec, registry, base, what):
    """Return an instance of ``base`` for a registered name or an instance.

    Parameters
    ----------
    spec : str or instance of ``base``
    registry : dict of str to class
    base : type
    what : str
        The word for error messages: "kernel" or "loss".
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


def check_number(value, name, *, low=0.0, strict=False, integer=False):
    """Raise unless ``value`` is a finite number (an integer if asked) above ``low``."""
    wanted = numbers.Integral if integer else numbers.Real
    kind = "an integer" if integer else "a number"
    sign = ">" if strict else ">="
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise TypeError(f"{name} must be {kind} {sign} {low:g}, got {value!r}.")
    if not math.isfinite(value) or value < low or (strict and value == low):
        raise ValueError(f"{name} must be {kind} {sign} {low:g}, got {value!r}.")
