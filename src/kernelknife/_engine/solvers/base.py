"""What every solver takes and returns."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from kernelknife._engine.objective import Problem, State

__all__ = [
    "INACCURATE",
    "DropThresholds",
    "Outcome",
    "Solution",
    "Solver",
    "StopRule",
    "WarmStart",
    "begin",
    "never",
]

INACCURATE = 1e-5  # residual of the coefficients beyond which nothing is called converged
StopRule = Callable[[int, float], bool]
# Penalty below which dropping a weight from a support cannot pay, by weight and support.
DropThresholds = dict[tuple[int, bytes], float]


def never(iteration: int, objective: float) -> bool:
    """Watch nothing and never stop a solver."""
    return False


@dataclass(frozen=True)
class Outcome:
    """Why a solver stopped, and what to do about it."""

    reason: str
    advice: str = ""

    CONVERGED: ClassVar["Outcome"]
    ITERATIONS: ClassVar["Outcome"]
    STALLED: ClassVar["Outcome"]
    COEFFICIENTS: ClassVar["Outcome"]
    STOPPED: ClassVar["Outcome"]
    TOO_FEW: ClassVar["Outcome"]


# Not an Enum, whose members skops cannot load.
Outcome.CONVERGED = Outcome("converged")
Outcome.ITERATIONS = Outcome("max_iter reached", "raise max_iter or tol")
Outcome.STALLED = Outcome(
    "no step decreases the objective", "raise alpha or tol, or look for features of extreme scale"
)
Outcome.COEFFICIENTS = Outcome(
    "the coefficients did not reach their minimum", "raise alpha, or choose a smoother loss"
)
Outcome.STOPPED = Outcome("stopped by callback", "the result is that of the last step")
Outcome.TOO_FEW = Outcome("fewer features lower the objective", "ask for fewer features")


@dataclass(frozen=True)
class WarmStart:
    """What a solver hands on to the next solve of the same problem.

    Attributes
    ----------
    state : State
        The model with its factorization.
    damping : float or None
        Of the curvature model; None lets the solver choose.
    drop_thresholds : dict
        Penalties below which dropping a weight from a support cannot pay.
    """

    state: State
    damping: float | None = None
    drop_thresholds: DropThresholds = field(default_factory=dict)


@dataclass(frozen=True)
class Solution:
    """Where a solver ended and how it got there.

    Attributes
    ----------
    w : ndarray of shape (n_weights,)
    C : ndarray of shape (m, k)
        Coefficients.
    b : ndarray of shape (k,)
        Intercepts.
    sparsity, objective, loss : float
        Penalty, objective, and the part of the objective that is loss.
    history : tuple of float
        Objective at the start and after each iteration; it never rises.
    factorizations : tuple of int
        Factorizations of the coefficient system spent up to each entry of ``history``.
    kkt_residual : float
        See :meth:`kernelknife._engine.objective.Problem.optimality`.
    outcome : Outcome
        Why the solver stopped.
    warm : WarmStart or None
        To go on from; None where its matrices have been dropped.
    left_at : ndarray of int or None
        Iteration at which each weight became zero, 0 for those that began there and the number
        of iterations for those that are left.
    """

    w: np.ndarray
    C: np.ndarray
    b: np.ndarray
    sparsity: float
    objective: float
    loss: float
    history: tuple[float, ...]
    factorizations: tuple[int, ...]
    kkt_residual: float
    outcome: Outcome
    warm: WarmStart | None = None
    left_at: np.ndarray | None = None

    @classmethod
    def at(
        cls,
        state: State,
        sparsity: float,
        objective: float,
        *,
        history: tuple[float, ...] = (),
        factorizations: tuple[int, ...] = (0,),
        kkt_residual: float = 0.0,
        outcome: Outcome = Outcome.CONVERGED,
        damping: float | None = None,
        drop_thresholds: DropThresholds | None = None,
        left_at: np.ndarray | None = None,
    ) -> "Solution":
        """Return the solution whose model is that of ``state``."""
        inner = state.inner
        return cls(
            w=state.w,
            C=inner.C,
            b=inner.b,
            sparsity=sparsity,
            objective=objective,
            loss=inner.loss,
            history=history or (objective,),
            factorizations=factorizations,
            kkt_residual=kkt_residual,
            outcome=outcome,
            warm=WarmStart(state, damping, {} if drop_thresholds is None else drop_thresholds),
            left_at=left_at,
        )

    @property
    def state(self) -> State:
        """The model with its factorization, as long as that is kept."""
        if self.warm is None:
            raise ValueError("The state of this solution has been dropped.")
        return self.warm.state

    @property
    def damping(self) -> float | None:
        """Damping of the curvature model at the end; None where it is unknown."""
        return None if self.warm is None else self.warm.damping

    @property
    def converged(self) -> bool:
        """Whether the solver reached its tolerance."""
        return self.outcome == Outcome.CONVERGED

    @property
    def n_factorizations(self) -> int:
        """Factorizations spent in all."""
        return self.factorizations[-1]

    @property
    def n_iter(self) -> int:
        """Steps taken."""
        return len(self.history) - 1

    def moved(self, state: State, objective: float) -> "Solution":
        """Return the solution with the model of another state, its history kept."""
        inner = state.inner
        return replace(
            self,
            w=state.w,
            C=inner.C,
            b=inner.b,
            loss=inner.loss,
            objective=objective,
            warm=WarmStart(state) if self.warm is None else replace(self.warm, state=state),
        )

    def emptied(self, nothing: State) -> "Solution":
        """Return the solution with the model of no weights, which has the lower objective."""
        return replace(
            self.moved(nothing, nothing.smooth),
            history=(*self.history, min(self.history[-1], nothing.smooth)),
            factorizations=(*self.factorizations, self.n_factorizations),
            kkt_residual=0.0,
            outcome=Outcome.CONVERGED,
        )

    def damped_at_most(self, most: float) -> "Solution":
        """Return the solution with a limit to the damping that the next solve begins with."""
        warm = self.warm
        if warm is None or warm.damping is None or warm.damping <= most:
            return self
        return replace(self, warm=replace(warm, damping=most))

    def without_memory(self) -> "Solution":
        """Return the solution for a solve that starts anew from its model."""
        return replace(self, warm=None if self.warm is None else WarmStart(self.warm.state))

    def without_state(self) -> "Solution":
        """Return the solution without the matrices of its state."""
        return replace(self, warm=None)


class Solver(ABC):
    """Minimizes a problem over its weights.

    Attributes
    ----------
    max_iter : int
        Most steps in the weights.
    tol : float
        Relative accuracy of the objective.
    needs_rows : bool
        Whether it needs a problem with a coefficient for every row.
    """

    max_iter: int
    tol: float
    needs_rows = False

    @abstractmethod
    def solve(
        self,
        problem: Problem,
        start: np.ndarray | Solution,
        sparsity: float,
        *,
        callback: StopRule = never,
    ) -> Solution:
        """Minimize from weights, or from where an earlier solution ended.

        Parameters
        ----------
        start : ndarray of shape (n_weights,) or Solution
            An earlier solution of the same problem is also a warm start.
        sparsity : float
            Penalty on the sum of the weights.
        callback : callable, default=never
            ``callback(iteration, objective)``; the solver stops when it returns True.
        """

    @abstractmethod
    def loosened(self, tol: float, max_iter: int | None = None) -> "Solver":
        """Return the solver at a tolerance of at least ``tol``, without trials at the end."""

    @abstractmethod
    def with_tolerance(self, tol: float) -> "Solver":
        """Return the solver at a tolerance of at least ``tol``."""


def begin(problem: Problem, start: np.ndarray | Solution) -> tuple[State, int]:
    """Return the state to begin with, and the factorizations that it took."""
    if isinstance(start, np.ndarray):
        state = problem.solve(problem.above_least(start))
        return state, state.inner.factorizations
    if start.warm is None:
        state = problem.solve(problem.above_least(start.w))
        return state, state.inner.factorizations
    return start.state, 0
