"""The paper's Algorithm 1: coefficients, then weights in the linearized kernel."""

from dataclasses import dataclass
from typing import cast

import numpy as np

from kernelknife._engine.objective import (
    ExactProblem,
    ExactState,
    IndefiniteKernelError,
    Problem,
    State,
)
from kernelknife._engine.solvers.base import (
    INACCURATE,
    Outcome,
    Solution,
    Solver,
    StopRule,
    begin,
    never,
)
from kernelknife._engine.solvers.boxqp import minimize_box_quadratic

__all__ = ["Alternate"]


@dataclass(frozen=True)
class AlternateConstants:
    """When the alternation stops, and how its step in the weights is found.

    benchmarks/solver_grid.py compares the result with the solver "eliminate".

    Attributes
    ----------
    fall, residual : float
        A round is the last one that lowers the objective by less than this share of the tolerance,
        with a KKT residual below this one in units of the tolerance's root. The objective falls
        slowly from round to round, so the share is far below one.
    stalled_fall : float
        The same share, whatever the residual is.
    steps, step_tol : int, float
        Most Newton steps of the convex problem in the weights, and its relative accuracy.
    halvings : int
        Most halvings of the step in the weights.
    tiny : float
        Weights below are zero.
    """

    fall: float = 1e-2
    residual: float = 0.1
    stalled_fall: float = 1e-4
    steps: int = 50
    step_tol: float = 1e-10
    halvings: int = 30
    tiny: float = 1e-12


ALTERNATE = AlternateConstants()


@dataclass(frozen=True)
class Alternate(Solver):
    """Refit the coefficients, then move the weights, until the objective settles.

    The step in the weights minimizes the objective with the kernel linearized in ``w``
    and the coefficients held, a convex problem in the box. The linearization is not a
    bound, so the step is halved until the true objective falls: the descent is monotone.

    Parameters
    ----------
    max_iter : int, default=1000
    tol : float, default=1e-4
        The solver stops when one round lowers the objective by less than a hundredth of
        this share and the KKT residual is below ``sqrt(tol) / 10``, or when it falls by
        less than a ten-thousandth of it.
    """

    needs_rows = True
    max_iter: int = 1000
    tol: float = 1e-4

    def loosened(self, tol: float, max_iter: int | None = None) -> "Alternate":
        """Return the solver at a tolerance of at least ``tol``."""
        return Alternate(max_iter or self.max_iter, max(tol, self.tol))

    def with_tolerance(self, tol: float) -> "Alternate":
        """Return the solver at a tolerance of at least ``tol``."""
        return self.loosened(tol)

    def solve(
        self,
        problem: Problem,
        start: np.ndarray | Solution,
        sparsity: float,
        *,
        callback: StopRule = never,
    ) -> Solution:
        """Minimize from weights, or from where an earlier solution ended."""
        if not problem.exact:
            raise ValueError(
                "With centers the solver is 'eliminate': 'alternate' needs a coefficient per row."
            )
        exact = problem.as_exact()
        penalty = sparsity * problem.costs
        state, spent = begin(problem, start)
        objective = state.smooth + float(penalty @ state.w)
        history, factorizations = [objective], [spent]
        while True:
            gradient = problem.gradient(state) + penalty
            residual = problem.optimality(state.w, np.arange(problem.n_weights), gradient)
            outcome = self._outcome(history, residual, callback)
            if outcome is not None:
                break
            # Every state of an exact problem is an exact state.
            target = self._weight_step(exact, cast(ExactState, state), penalty)
            trial, used = self._backtrack(problem, state, target, penalty, objective)
            spent += used
            if trial is not None:
                state = trial
                objective = state.smooth + float(penalty @ state.w)
            history.append(objective)
            factorizations.append(spent)
        if outcome == Outcome.CONVERGED and state.inner.residual > INACCURATE:
            outcome = Outcome.COEFFICIENTS
        return Solution.at(
            state,
            sparsity,
            objective,
            history=tuple(history),
            factorizations=tuple(factorizations),
            kkt_residual=residual,
            outcome=outcome,
        )

    def _outcome(self, history: list[float], residual: float, callback: StopRule) -> Outcome | None:
        """Return why to stop before another round, None to go on."""
        if len(history) > 1:
            fall = (history[-2] - history[-1]) / max(abs(history[-1]), 1e-300)
            small = residual <= ALTERNATE.residual * np.sqrt(self.tol)
            if fall <= ALTERNATE.fall * self.tol and small:
                return Outcome.CONVERGED
            if fall <= ALTERNATE.stalled_fall * self.tol:
                stationary = residual <= np.sqrt(self.tol)
                return Outcome.CONVERGED if stationary else Outcome.STALLED
        if len(history) > self.max_iter:
            return Outcome.ITERATIONS
        return Outcome.STOPPED if callback(len(history), history[-1]) else None

    @staticmethod
    def _weight_step(problem: ExactProblem, state: ExactState, penalty: np.ndarray) -> np.ndarray:
        """Minimize over the weights with the kernel linearized, coefficients held."""
        columns = range(problem.n_outputs)
        A = np.concatenate([problem.jacobian(state, q) for q in columns])
        active = np.flatnonzero(state.w) if problem.absorbing else np.arange(problem.n_weights)
        F, w = state.inner.F.T.ravel(), state.w[active]
        risk, shape = problem.risk, (len(columns), problem.n_rows)
        linear = problem.alpha * (state.inner.C.T.ravel() @ A) + penalty[active]

        def scores(Ad: np.ndarray) -> np.ndarray:
            return np.asarray((F + Ad).reshape(shape).T)

        def value(d: np.ndarray, Ad: np.ndarray) -> float:
            return float(risk.value(scores(Ad)) + linear @ d)

        lower = np.minimum(problem.lowest[active] - w, 0.0)
        d, Ad = np.zeros_like(w), np.zeros_like(F)
        current = value(d, Ad)
        for _ in range(ALTERNATE.steps):
            g, h = risk.gradient(scores(Ad)).T.ravel(), risk.curvature(scores(Ad)).T.ravel()
            slope = g @ A + linear
            V = np.sqrt(h)[:, None] * A
            ridge = 1e-9 * float(np.einsum("ij,ij->j", V, V).max(initial=0.0)) + 1e-12
            move, predicted = minimize_box_quadratic(V, ridge, slope, lower - d, 1.0 - w - d)
            if predicted <= ALTERNATE.step_tol * abs(current):
                break
            shift = A @ move
            length = 1.0
            while value(d + length * move, Ad + length * shift) >= current and length > 1e-6:
                length *= 0.5
            d, Ad = d + length * move, Ad + length * shift
            current, before = value(d, Ad), current
            if before - current <= ALTERNATE.step_tol * abs(current):
                break
        target = state.w.copy()
        target[active] = np.clip(w + d, np.minimum(problem.lowest[active], w), 1.0)
        target[target < ALTERNATE.tiny] = 0.0
        return target

    @staticmethod
    def _backtrack(
        problem: Problem, state: State, target: np.ndarray, penalty: np.ndarray, objective: float
    ) -> tuple[State | None, int]:
        """Shorten the weight step until the objective, coefficients refitted, falls.

        Trials are first evaluated with the coefficients held, which needs no factorization; only
        the one that passes is refitted.
        """
        spent = 0
        C, b = state.inner.C, state.inner.b
        for halvings in range(ALTERNATE.halvings):
            w = state.w + 0.5**halvings * (target - state.w)
            if problem.value(w, C, b, 0.0) + penalty @ w > objective:
                continue
            try:
                trial = problem.solve(w, state.warm)
            except IndefiniteKernelError:
                continue
            spent += trial.inner.factorizations
            if trial.smooth + float(penalty @ w) <= objective:
                return trial, spent
        return None, spent
