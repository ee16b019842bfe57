"""Find which features matter when the relation is not linear.

KNIFE (kernel iterative feature extraction) puts a weight between 0 and 1 on every feature
inside a kernel, penalises the sum of the weights and learns them together with the kernel
machine. Most weights become exactly zero: what remains is the selection, and the fitted
machine predicts with it.
"""

from kernelknife.estimators import KnifeClassifier, KnifeRegressor
from kernelknife.model_selection import KnifeClassifierCV, KnifeRegressorCV
from kernelknife.path import PathResult, knife_path

__version__ = "0.1.0.dev0"

__all__ = [
    "KnifeClassifier",
    "KnifeClassifierCV",
    "KnifeRegressor",
    "KnifeRegressorCV",
    "PathResult",
    "__version__",
    "knife_path",
]
