"""Pictures of paths, stand-ins, folds, convergence, weights, scores, kernels and effects.

The classes follow scikit-learn's Display convention: the constructor takes data, ``from_...`` reads
them from a result, and ``plot`` draws. matplotlib is imported only when something is drawn.
"""

from kernelknife.display.canonical import CCAPathDisplay
from kernelknife.display.convergence import ConvergenceDisplay
from kernelknife.display.effects import EffectsDisplay
from kernelknife.display.folds import CountDisplay, CVDisplay, best_by_count, fewest_within_error
from kernelknife.display.kernels import KernelDisplay
from kernelknife.display.paths import WeightPathDisplay
from kernelknife.display.scores import ScoresDisplay
from kernelknife.display.stand_ins import StandInsDisplay
from kernelknife.display.style import log_positions, spread_labels
from kernelknife.display.weights import WeightsDisplay

__all__ = [
    "CCAPathDisplay",
    "CVDisplay",
    "ConvergenceDisplay",
    "CountDisplay",
    "EffectsDisplay",
    "KernelDisplay",
    "ScoresDisplay",
    "StandInsDisplay",
    "WeightPathDisplay",
    "WeightsDisplay",
    "best_by_count",
    "fewest_within_error",
    "log_positions",
    "spread_labels",
]
