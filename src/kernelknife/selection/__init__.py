"""From a data frame to an answer: which columns matter for a target, and how sure that is.

:func:`select_features` is what ``kernelknife select`` runs, and the report shows the
:class:`Selection` that it returns.
"""

from kernelknife.selection.result import Effect, Feature, HeldOut, Score, Selection
from kernelknife.selection.select import select_features

__all__ = ["Effect", "Feature", "HeldOut", "Score", "Selection", "select_features"]
