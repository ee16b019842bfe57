"""Pictures of paths, substitutes, folds, convergence, weights, scores, kernels and effects.

The classes follow scikit-learn's Display convention: the constructor takes data, ``from_...`` reads
them from a result, and ``plot`` draws. What they and the reports draw is drawn in :mod:`.charts` or
in one of these classes, in the look of :mod:`.style`; :mod:`.svg` makes text of it. matplotlib is
imported only when something is drawn.
"""

from kernelknife.inspection.displays.effects import EffectsDisplay
from kernelknife.inspection.displays.folds import CountDisplay, CVDisplay
from kernelknife.inspection.displays.paths import (
    CCAPathDisplay,
    ConvergenceDisplay,
    StabilityDisplay,
    WeightPathDisplay,
)
from kernelknife.inspection.displays.rows import KernelDisplay, ScoresDisplay
from kernelknife.inspection.displays.svg import save_figure, to_svg
from kernelknife.inspection.displays.weights import SubstitutesDisplay, WeightsDisplay

__all__ = [
    "CCAPathDisplay",
    "CVDisplay",
    "ConvergenceDisplay",
    "CountDisplay",
    "EffectsDisplay",
    "KernelDisplay",
    "ScoresDisplay",
    "StabilityDisplay",
    "SubstitutesDisplay",
    "WeightPathDisplay",
    "WeightsDisplay",
    "save_figure",
    "to_svg",
]
