"""Solvers: they know a problem, and nothing of estimators."""

from kernelknife.solvers.alternate import Alternate
from kernelknife.solvers.base import Solution
from kernelknife.solvers.eliminate import Eliminate

__all__ = ["SOLVERS", "Alternate", "Eliminate", "Solution"]

SOLVERS = {"eliminate": Eliminate, "alternate": Alternate}
