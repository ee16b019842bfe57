"""Solvers: they know a problem, and nothing of estimators."""

from kernelknife._engine.solvers.alternate import Alternate
from kernelknife._engine.solvers.base import Outcome, Solution, Solver, StopRule, never
from kernelknife._engine.solvers.eliminate import Eliminate

__all__ = [
    "SOLVERS",
    "Alternate",
    "Eliminate",
    "Outcome",
    "Solution",
    "Solver",
    "StopRule",
    "never",
]

SOLVERS: dict[str, type[Solver]] = {"eliminate": Eliminate, "alternate": Alternate}
