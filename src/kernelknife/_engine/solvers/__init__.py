"""Solvers: they minimize a problem over its weights."""

from kernelknife._engine.solvers.alternate import Alternate
from kernelknife._engine.solvers.base import Outcome, Solution, Solver, StopRule, WarmStart, never
from kernelknife._engine.solvers.eliminate import Eliminate

__all__ = [
    "SOLVERS",
    "Alternate",
    "Eliminate",
    "Outcome",
    "Solution",
    "Solver",
    "StopRule",
    "WarmStart",
    "never",
]

SOLVERS: dict[str, type[Solver]] = {"eliminate": Eliminate, "alternate": Alternate}
