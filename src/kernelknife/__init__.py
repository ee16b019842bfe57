"""Find which features matter when the relation is not linear.

KNIFE (kernel iterative feature extraction) puts a weight between 0 and 1 on every feature
inside a kernel, penalizes the sum of the weights and learns them together with the kernel
model. Most weights become exactly zero: what remains is the selection, and the fitted
model predicts with it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelknife._engine.data.correlated import CorrelatedGroups
    from kernelknife.app.exploration import explore_table, relate_tables
    from kernelknife.app.selection import select_features
    from kernelknife.app.storage import load_model, save_model
    from kernelknife.canonical import KnifeCCA, knife_cca_path
    from kernelknife.canonical_path import CCAPathResult
    from kernelknife.cross_validation import KnifeClassifierCV, KnifeRegressorCV
    from kernelknife.decomposition import KnifePCA, knife_pca_path
    from kernelknife.discriminant import KnifeDiscriminant, knife_discriminant_path
    from kernelknife.estimators import KnifeClassifier, KnifeRegressor
    from kernelknife.knockoffs import KnifeKnockoffs
    from kernelknife.path import PathResult, knife_path
    from kernelknife.stability import KnifeStability
    from kernelknife.streaming import StreamSelection, select_stream
    from kernelknife.survival import KnifeSurvival
    from kernelknife.survival_cv import KnifeSurvivalCV

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
    "KnifeSurvival",
    "KnifeSurvivalCV",
    "PathResult",
    "StreamSelection",
    "__version__",
    "explore_table",
    "knife_cca_path",
    "knife_discriminant_path",
    "knife_path",
    "knife_pca_path",
    "load_model",
    "relate_tables",
    "save_model",
    "select_features",
    "select_stream",
]

# Imported on first use, so that `kernelknife --help` need not wait for scikit-learn.
_HOMES = {
    "load_model": "app.storage",
    "save_model": "app.storage",
    "select_features": "app.selection",
    "relate_tables": "app.exploration",
    "explore_table": "app.exploration",
    "CCAPathResult": "canonical_path",
    "CorrelatedGroups": "_engine.data.correlated",
    "KnifeCCA": "canonical",
    "KnifeClassifier": "estimators",
    "KnifeClassifierCV": "cross_validation",
    "KnifeDiscriminant": "discriminant",
    "KnifeKnockoffs": "knockoffs",
    "KnifePCA": "decomposition",
    "KnifeRegressor": "estimators",
    "KnifeRegressorCV": "cross_validation",
    "KnifeStability": "stability",
    "KnifeSurvival": "survival",
    "KnifeSurvivalCV": "survival_cv",
    "PathResult": "path",
    "StreamSelection": "streaming",
    "knife_cca_path": "canonical",
    "knife_discriminant_path": "discriminant",
    "knife_path": "path",
    "knife_pca_path": "decomposition",
    "select_stream": "streaming",
}


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__():
    return sorted({*globals(), *__all__})
