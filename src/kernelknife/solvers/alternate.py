"""The paper's Algorithm 1: coefficients, then weights in the linearised kernel."""

from dataclasses import dataclass

import numpy as np

from kernelknife.coefficients import IndefiniteKernelError
from kernelknife.problem import Problem, State
from kernelknife.solvers.base import Solution, StopRule, Waits, begin, never
from kernelknife.solvers.boxqp import minimize_box_quadratic

__all__ = ["Alternate"]


@dataclass(frozen=True)
class Alternate:
    """Refit the coefficients, then move the weights, until the objective settles.

    The step in the weights minimises the objective with the kernel linearised in ``w``
    and the coefficients held, a convex problem in the box. The linearisation is not a
    bound, so the step is halved until the true objective falls: the descent is monotone.

    Parameters
    ----------
    max_iter : int, default=1000
    tol : float, default=1e-4
        The solver stops when one round lowers the objective by less than a hundredth of
        this share and the KKT residual is below ``sqrt(tol) / 10``, or when it falls by
        less than a ten-thousandth of it.
    """

    max_iter: int = 1000
    tol: float = 1e-4

    def solve(
        self,
        problem: Problem,
        start: np.ndarray | State,
        sparsity: float,
        *,
        damping: float | None = None,
        waits: Waits | None = None,
        callback: StopRule = never,
    ) -> Solution:
        """Minimise from weights or a state; ``damping`` and ``waits`` are for other solvers."""
        penalty = sparsity * problem.costs
        state, spent = begin(problem, start)
        objective = state.smooth + float(penalty @ state.w)
        history, solves = [objective], [spent]
        converged, message = False, f"max_iter={self.max_iter} reached"
        while True:
            gradient = problem.gradient(state) + penalty
            residual = problem.optimality(state.w, np.arange(problem.n_weights), gradient)
            if len(history) > 1:
                fall = (history[-2] - history[-1]) / max(abs(history[-1]), 1e-300)
                if fall <= 0.01 * self.tol and residual <= 0.1 * np.sqrt(self.tol):
                    converged, message = True, "converged"
                    break
                if fall <= 1e-4 * self.tol:
                    converged = residual <= np.sqrt(self.tol)
                    message = "no step decreases the objective"
                    break
            if len(history) > self.max_iter:
                break
            if callback(len(history), objective):
                message = "stopped by callback"
                break
            target = self._weight_step(problem, state, penalty)
            trial, used = self._backtrack(problem, state, target, penalty, objective)
            spent += used
            if trial is not None:
                state = trial
                objective = state.smooth + float(penalty @ state.w)
            history.append(objective)
            solves.append(spent)
        return Solution.at(
            state,
            sparsity=sparsity,
            objective=objective,
            history=tuple(history),
            solves=tuple(solves),
            kkt_residual=residual,
            converged=converged,
            message=message,
        )

    @staticmethod
    def _weight_step(problem, state, penalty):
        """Minimise over the weights with the kernel linearised, coefficients held."""
        columns = range(problem.Y.shape[1])
        A = np.concatenate([problem.jacobian(state, q) for q in columns])
        active = np.flatnonzero(state.w) if problem.sticky else np.arange(problem.n_weights)
        y, F = problem.Y.T.ravel(), state.inner.F.T.ravel()
        s = np.tile(problem.sample_weight, len(columns))
        loss, w = problem.loss, state.w[active]
        linear = problem.alpha * (state.inner.C.T.ravel() @ A) + penalty[active]

        def value(d, Ad):
            return s @ loss.value(y, F + Ad) + linear @ d

        d, Ad = np.zeros_like(w), np.zeros_like(F)
        current = value(d, Ad)
        for _ in range(50):
            g, h = s * loss.gradient(y, F + Ad), s * loss.curvature(y, F + Ad)
            slope = g @ A + linear
            V = np.sqrt(h)[:, None] * A
            ridge = 1e-9 * float(np.einsum("ij,ij->j", V, V).max(initial=0.0)) + 1e-12
            move, promised = minimize_box_quadratic(V, ridge, slope, -w - d, 1.0 - w - d)
            if promised <= 1e-10 * abs(current):
                break
            shift = A @ move
            length = 1.0
            while value(d + length * move, Ad + length * shift) >= current and length > 1e-6:
                length *= 0.5
            d, Ad = d + length * move, Ad + length * shift
            current, before = value(d, Ad), current
            if before - current <= 1e-10 * abs(current):
                break
        target = state.w.copy()
        target[active] = np.clip(w + d, 0.0, 1.0)
        target[target < 1e-12] = 0.0
        return target

    @staticmethod
    def _backtrack(problem, state, target, penalty, objective):
        """Shorten the weight step until the objective, coefficients refitted, falls.

        Trials are priced with the coefficients held, which needs no factorisation; only
        the one that passes is refitted.
        """
        spent = 0
        C, b = state.inner.C, state.inner.b
        for halvings in range(30):
            w = state.w + 0.5**halvings * (target - state.w)
            if problem.value(w, C, b, 0.0) + penalty @ w > objective:
                continue
            try:
                trial = problem.solve(w, state.warm)
            except IndefiniteKernelError:
                continue
            spent += trial.inner.solves
            if trial.smooth + float(penalty @ w) <= objective:
                return trial, spent
        return None, spent
