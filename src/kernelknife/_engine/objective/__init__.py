"""A weighted kernel model as a function of its weights.

:class:`ExactProblem` has a coefficient for every row, :class:`NystromProblem` one for every center
and sums over blocks of rows, and :class:`PrimalProblem` one for every column and sums of their
products. All are a :class:`Problem`, which is all that solvers depend on.
"""

from kernelknife._engine.objective.base import (
    Fit,
    Linearization,
    Problem,
    State,
    rows_of_sample,
)
from kernelknife._engine.objective.coefficients import null_objective, share_explained
from kernelknife._engine.objective.exact import ExactProblem, ExactState
from kernelknife._engine.objective.factors import IndefiniteKernelError
from kernelknife._engine.objective.factory import (
    CENTERS,
    build_problem,
    choose_centers,
    features_of,
    refresh_centers,
)
from kernelknife._engine.objective.features import Features
from kernelknife._engine.objective.nystrom import NystromProblem
from kernelknife._engine.objective.primal import PrimalProblem

__all__ = [
    "CENTERS",
    "ExactProblem",
    "ExactState",
    "Features",
    "Fit",
    "IndefiniteKernelError",
    "Linearization",
    "NystromProblem",
    "PrimalProblem",
    "Problem",
    "State",
    "build_problem",
    "choose_centers",
    "features_of",
    "null_objective",
    "refresh_centers",
    "rows_of_sample",
    "share_explained",
]
