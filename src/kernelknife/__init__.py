"""Find which features matter when the relation is not linear.

KNIFE (kernel iterative feature extraction) puts a weight between 0 and 1 on every feature
inside a kernel, penalises the sum of the weights and learns them together with the kernel
machine. Most weights become exactly zero: what remains is the selection, and the fitted
machine predicts with it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelknife.canonical import KnifeCCA, knife_cca_path
    from kernelknife.canonical_path import CCAPathResult
    from kernelknife.components import KnifePCA, knife_pca_path
    from kernelknife.discriminant import KnifeDiscriminant, knife_discriminant_path
    from kernelknife.estimators import KnifeClassifier, KnifeRegressor
    from kernelknife.groups import CorrelatedGroups
    from kernelknife.knockoffs import KnifeKnockoffs
    from kernelknife.model_selection import KnifeClassifierCV, KnifeRegressorCV
    from kernelknife.path import PathResult, knife_path
    from kernelknife.stability import KnifeStability

__version__ = "0.1.0.dev0"

__all__ = [
    "CCAPathResult",
    "CorrelatedGroups",
    "KnifeCCA",
    "KnifeClassifier",
    "KnifeClassifierCV",
    "KnifeDiscriminant",
    "KnifeKnockoffs",
    "KnifePCA",
    "KnifeRegressor",
    "KnifeRegressorCV",
    "KnifeStability",
    "PathResult",
    "__version__",
    "knife_cca_path",
    "knife_discriminant_path",
    "knife_path",
    "knife_pca_path",
]

# Imported on first use, so that `kernelknife --help` need not wait for scikit-learn.
_HOMES = {
    "CCAPathResult": "canonical_path",
    "CorrelatedGroups": "groups",
    "KnifeCCA": "canonical",
    "KnifeClassifier": "estimators",
    "KnifeClassifierCV": "model_selection",
    "KnifeDiscriminant": "discriminant",
    "KnifeKnockoffs": "knockoffs",
    "KnifePCA": "components",
    "KnifeRegressor": "estimators",
    "KnifeRegressorCV": "model_selection",
    "KnifeStability": "stability",
    "PathResult": "path",
    "knife_cca_path": "canonical",
    "knife_discriminant_path": "discriminant",
    "knife_path": "path",
    "knife_pca_path": "components",
}


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__():
    return sorted({*globals(), *__all__})
