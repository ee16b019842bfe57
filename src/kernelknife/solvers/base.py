"""What every solver takes and returns."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from kernelknife.problem import Problem, State

__all__ = ["Solution", "StopRule", "Waits", "begin", "never"]

StopRule = Callable[[int, float], bool]
Waits = dict[tuple[int, bytes], float]


def never(iteration: int, objective: float) -> bool:
    """Watch nothing and never stop a solver."""
    return False


def begin(problem: Problem, start: np.ndarray | State) -> tuple[State, int]:
    """Return the state at given weights, or one to go on from, and the solves it took."""
    if isinstance(start, np.ndarray):
        state = problem.solve(start)
        return state, state.inner.solves
    return start, 0


@dataclass(frozen=True)
class Solution:
    """Where a solver ended and how it got there.

    Attributes
    ----------
    w : ndarray of shape (n_weights,)
    C : ndarray of shape (n, k)
        Coefficients.
    b : ndarray of shape (k,)
        Intercepts.
    sparsity, objective, loss : float
        Penalty, objective, and the part of the objective that is loss.
    history : tuple of float
        Objective at the start and after each iteration; it never rises.
    solves : tuple of int
        Factorisations of the coefficient system spent up to each entry of ``history``.
    kkt_residual : float
        See :meth:`kernelknife.problem.Problem.optimality`.
    converged : bool
    message : str
        Why the solver stopped.
    state : State or None
        The machine with its factorisation, to go on from.
    damping : float
        Of the curvature model, to go on from.
    waits : dict
        Up to which penalty a drop of a weight from a support need not be tried, to go on from.
    """

    w: np.ndarray
    C: np.ndarray
    b: np.ndarray
    sparsity: float
    objective: float
    loss: float
    history: tuple[float, ...]
    solves: tuple[int, ...]
    kkt_residual: float
    converged: bool
    message: str
    state: State | None = None
    damping: float = 1.0
    waits: Waits = field(default_factory=dict)

    @classmethod
    def at(cls, state: State, **facts):
        """Return the solution whose machine is that of ``state``."""
        inner = state.inner
        return cls(w=state.w, C=inner.C, b=inner.b, loss=inner.loss, state=state, **facts)

    def moved(self, state: State, objective: float):
        """Return the solution with the machine of another state, its history kept."""
        inner = state.inner
        return replace(
            self,
            w=state.w,
            C=inner.C,
            b=inner.b,
            loss=inner.loss,
            objective=objective,
            state=state,
        )

    @property
    def n_solves(self):
        return self.solves[-1]

    @property
    def n_iter(self):
        return len(self.history) - 1

    def light(self):
        """Return the solution without the matrices of its state."""
        return replace(self, state=None, waits={})
