"""Numbers as text, for reports, pictures and the terminal."""

import math
from collections.abc import Iterable

__all__ = ["listed", "number", "share"]


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


def share(value: float) -> str:
    """Return a share as a percentage of two digits."""
    return f"{number(float(f'{100 * value:.2g}'))} %"


def listed(names: Iterable[object]) -> str:
    """Return names as a sentence lists them: with commas, and with an "and" before the last."""
    *first, last = map(str, names)
    return f"{', '.join(first)} and {last}" if first else last
