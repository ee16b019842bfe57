"""From a data frame to an answer: which columns matter for a target, and how sure that is.

:func:`select_features` is what ``kernelknife select`` runs, and the report shows the
:class:`Selection` that it returns.
"""

from kernelknife.app.selection.effects import Effect
from kernelknife.app.selection.evidence import AgainstNoise, ColumnInformation
from kernelknife.app.selection.quality import ClassQuality, HeldOut, Score, WrongRow
from kernelknife.app.selection.result import Feature, Selection
from kernelknife.app.selection.select import select_features
from kernelknife.app.selection.verdict import TIERS, Verdict, decide, find_warnings, headline

__all__ = [
    "TIERS",
    "AgainstNoise",
    "ClassQuality",
    "ColumnInformation",
    "Effect",
    "Feature",
    "HeldOut",
    "Score",
    "Selection",
    "Verdict",
    "WrongRow",
    "decide",
    "find_warnings",
    "headline",
    "select_features",
]
