"""Looking into a fitted model: its effects, substitutes of its features, and pictures.

The displays follow scikit-learn's convention: the constructor takes data, ``from_...`` reads them
from a result, and ``plot`` draws. matplotlib is imported only when something is drawn.
"""

from kernelknife.inspection.displays import (
    CCAPathDisplay,
    ConvergenceDisplay,
    CountDisplay,
    CVDisplay,
    EffectsDisplay,
    KernelDisplay,
    ScoresDisplay,
    StabilityDisplay,
    SubstitutesDisplay,
    WeightPathDisplay,
    WeightsDisplay,
)
from kernelknife.inspection.effects import Effect, EffectShare, EffectTable
from kernelknife.inspection.information import Information, carries_information
from kernelknife.inspection.substitutes import Place, Substitute, Substitutes

__all__ = [
    "CCAPathDisplay",
    "CVDisplay",
    "ConvergenceDisplay",
    "CountDisplay",
    "Effect",
    "EffectShare",
    "EffectTable",
    "EffectsDisplay",
    "Information",
    "KernelDisplay",
    "Place",
    "ScoresDisplay",
    "StabilityDisplay",
    "Substitute",
    "Substitutes",
    "SubstitutesDisplay",
    "WeightPathDisplay",
    "WeightsDisplay",
    "carries_information",
]
