"""A weighted kernel machine as a function of its weights.

:class:`ExactProblem` has a coefficient for every row, :class:`CentredProblem` one for every centre
and sums over blocks of rows. Both offer :class:`Problem` to the solvers, which never ask which.
"""

from kernelknife._problem.base import (
    Fit,
    Linearization,
    Problem,
    State,
    null_objective,
    rows_of_sample,
)
from kernelknife._problem.centers import CENTERS, choose_centers
from kernelknife._problem.centred import CentredProblem
from kernelknife._problem.exact import ExactProblem
from kernelknife._problem.factors import IndefiniteKernelError
from kernelknife._problem.factory import (
    BuiltProblem,
    CenterChoice,
    build_problem,
    refresh_centers,
)
from kernelknife._problem.features import Features

__all__ = [
    "CENTERS",
    "BuiltProblem",
    "CenterChoice",
    "CentredProblem",
    "ExactProblem",
    "Features",
    "Fit",
    "IndefiniteKernelError",
    "Linearization",
    "Problem",
    "State",
    "build_problem",
    "choose_centers",
    "null_objective",
    "refresh_centers",
    "rows_of_sample",
]
