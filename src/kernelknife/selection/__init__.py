"""From a data frame to an answer: which columns matter for a target, and how sure that is.

:func:`select_features` is what ``kernelknife select`` runs, and the report shows the
:class:`Selection` that it returns.
"""

from kernelknife.selection.result import (
    TIERS,
    ClassQuality,
    Effect,
    Feature,
    HeldOut,
    Score,
    Selection,
    WrongRow,
)
from kernelknife.selection.select import select_features
from kernelknife.selection.verdict import find_warnings, headline

__all__ = [
    "TIERS",
    "ClassQuality",
    "Effect",
    "Feature",
    "HeldOut",
    "Score",
    "Selection",
    "WrongRow",
    "find_warnings",
    "headline",
    "select_features",
]
