"""Damped Newton steps on the objective with the coefficients eliminated."""

from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from scipy.linalg.lapack import dposv

from kernelknife.coefficients import IndefiniteKernelError
from kernelknife.problem import Linearization, Problem, State
from kernelknife.solvers.base import Solution, StopRule, Waits, begin, never
from kernelknife.solvers.boxqp import minimize_box_quadratic

__all__ = ["Eliminate"]

# How far a weight may move in one step, as a factor either way, at first and after steps
# that went as predicted. With v = w**2 zero is sticky: an early overshoot into it loses a
# true feature for good, and one towards 1 turns a Gaussian kernel into the identity, a
# plateau. Weights up to FLOOR may drop to zero at once, and rise to CEILING at once.
FACTOR, FACTOR_MAX, FACTOR_GROWTH = 3.0, 5.0, 1.5
FLOOR, CEILING = 1e-3, 1e-2
TINY = 1e-8  # weights below are zero
DAMPING_RANGE = (1e-8, 1e12)
DAMPING_FELT = 1e-2  # less gives Newton's step, and after one that failed the same step again
# The Gauss-Newton model overrates the curvature, so steps fall short: a step that gains
# more than promised relaxes the model by RELAXATION, one that gains less tightens it.
RELAXATION, RELAXED_MIN, RELAXED_START = 1.5, 0.2, 0.5
INNER_TOL = 0.1  # accuracy of the coefficients, relative to what the step promises
SURE = 0.1  # share of the tolerance at which an exact Newton step need not be taken
CONVEX_TOL = 1e-3  # of the tolerance, where the problem is convex
FINAL_TOL = 1e-10  # and that of the coefficients returned
# Dropping a feature is tried where the model says that the fit loses less than this share of
# the penalty saved; in 240 points of paths, one drop in forty that paid lay beyond it.
PRUNE_GATE = 0.75
PRUNE_TRIALS, PRUNE_ITER = 2, 6
# A drop that failed is tried again after this share of the way to where it should pay, and at
# the latest when the penalty has grown by the factor.
WAIT, WAIT_MOST = 0.95, 2.0


@dataclass(frozen=True)
class Eliminate:
    """Minimise ``g(w) = min_C f(C, w)`` by projected Newton steps.

    The curvature is the Gauss-Newton model while many weights are left, and exact once few
    are. Each step minimises a damped convex quadratic over the box and costs one coefficient
    solve; a step that does not decrease the objective is taken back and damped more.

    Parameters
    ----------
    max_iter : int, default=200
    tol : float, default=1e-4
        The solver stops when a step promises less than this share of the objective and
        the KKT residual is below ``0.3 sqrt(tol)``, or, with an exact Newton step that
        promises less than a tenth of it, below ``3 sqrt(tol)``.
    prune : bool, default=True
        With ``v = w**2`` the penalty is concave in ``v``, and keeping or dropping a weak
        feature are often both local minima. Try to drop the weakest ones at the end, and
        keep what lowers the objective.
    """

    max_iter: int = 200
    tol: float = 1e-4
    prune: bool = True

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
        """Minimise from weights, or from the state of an earlier solution.

        Parameters
        ----------
        problem : Problem
        start : ndarray of shape (n_weights,) or State
        sparsity : float
        damping : float, default=None
            First damping, that of an earlier solution; None for a cold start.
        waits : dict, default=None
            Which drops not to try again yet, from an earlier solution at a smaller penalty.
        callback : callable, default=never
            ``callback(iteration, objective)``; the solver stops when it returns True.
        """
        solution = self._descend(problem, start, sparsity, damping, callback)
        if self.prune and problem.sticky and solution.converged and sparsity > 0:
            solution = self._drop_weak(problem, solution, dict(waits or {}), callback)
        return solution

    def _descend(self, problem, start, sparsity, damping, callback):
        penalty = sparsity * problem.costs
        state, spent = begin(problem, start)
        objective = state.smooth + float(penalty @ state.w)
        history, solves = [objective], [spent]
        model = problem.linearize(state, penalty)
        factor, relaxed = FACTOR, 1.0
        if damping is None:
            damping = 1e-3 if problem.kernel.convex else 1.0
            relaxed = RELAXED_START
        # A convex problem has one answer, whatever the start: worth the last steps, which are
        # Newton's and few.
        tol = self.tol * CONVEX_TOL if problem.kernel.convex else self.tol
        converged, message = False, f"max_iter={self.max_iter} reached"
        while True:
            active, w = model.active, state.w
            gradient = model.gradient + penalty[active]
            residual = problem.optimality(w, active, gradient)
            lower, upper = _step_bounds(w[active], factor if problem.sticky else np.inf)
            ridge = damping * model.largest_curvature + 1e-12 * (problem.null_value or 1.0)
            step, promised = minimize_box_quadratic(
                model.V,
                ridge,
                gradient,
                lower,
                upper,
                gram=model.gram,
                factor=relaxed if model.H is None else 1.0,
            )
            new_w = w.copy()
            new_w[active] = np.minimum(w[active] + step, 1.0)
            new_w[new_w < TINY] = 0.0
            leaving = bool((w[new_w == 0.0] > 0.0).any())
            small = promised <= tol * abs(objective)
            # An exact Newton decrement can be trusted further than that of a model; a damped
            # one, as after steps that failed, is small for another reason.
            newton = model.positive and damping <= DAMPING_FELT and residual <= 3.0 * np.sqrt(tol)
            sure = newton and promised <= SURE * tol * abs(objective)
            if small and (sure or residual <= 0.3 * np.sqrt(tol)) and not leaving:
                converged, message = True, "converged"
                break
            if damping > DAMPING_RANGE[1]:
                converged = residual <= np.sqrt(self.tol)
                message = "no step decreases the objective"
                break
            if len(history) > self.max_iter:
                break
            if callback(len(history), objective):
                message = "stopped by callback"
                break
            trial = _try(problem, new_w, state, model, step, promised / max(abs(objective), 1e-300))
            new_objective = np.inf
            if trial is not None:
                spent += trial.inner.solves
                new_objective = trial.smooth + float(penalty @ new_w)
            gain = (objective - new_objective) / max(promised, 1e-300)
            if new_objective < objective or (leaving and new_objective == objective):
                state, objective = trial, new_objective
                model = problem.linearize(state, penalty)
            history.append(objective)
            solves.append(spent)
            if gain > 1.2:
                relaxed = max(relaxed / RELAXATION, RELAXED_MIN)
            elif gain < 0.9:
                relaxed = min(relaxed * RELAXATION**2, 1.0)
            if gain > 0.75:
                damping = max(damping / 5.0, DAMPING_RANGE[0])
                factor = min(factor * FACTOR_GROWTH, FACTOR_MAX)
            elif gain < 0.25:
                damping = max(damping * (4.0 if gain > 0 else 8.0), DAMPING_FELT)
                factor = FACTOR
        if state.inner.residual > FINAL_TOL:
            # The steps made do with rough coefficients; what is returned should not.
            state = problem.solve(state.w, state.warm, tol=FINAL_TOL)
            spent += state.inner.solves
            objective = min(objective, state.smooth + float(penalty @ state.w))
            history[-1], solves[-1] = objective, spent
        return Solution.at(
            state,
            sparsity=sparsity,
            objective=objective,
            history=tuple(history),
            solves=tuple(solves),
            kkt_residual=residual,
            converged=converged,
            message=message,
            damping=damping,
        )

    def _drop_weak(self, problem, solution, waits, callback):
        """Drop single weights while that lowers the objective after a few steps."""
        best, spent, sparsity = solution, 0, solution.sparsity
        price = sparsity * problem.costs
        history, solves = list(solution.history), list(solution.solves)
        improved = True
        while improved and best.w.any():
            improved = False
            support = best.w.astype(bool).tobytes()
            # The two cheapest, whether they are tried or have to wait: a third seldom pays first.
            for j, start in islice(_dropped(problem, best), PRUNE_TRIALS):
                if waits.get((j, support), 0.0) > sparsity:
                    continue
                trial = _try(problem, start, best.state)
                if trial is None:
                    continue
                spent += trial.inner.solves
                if trial.smooth + float(price @ start) >= best.objective + price[j] * best.w[j]:
                    continue
                quick = replace(self, tol=max(self.tol, 1e-4), max_iter=PRUNE_ITER)
                after = quick._descend(problem, trial, sparsity, 1e-2, never)
                spent += after.n_solves
                if after.objective < best.objective * (1.0 - 1e-6):
                    best, improved = after, True
                    history.append(best.objective)
                    solves.append(solution.n_solves + spent)
                    break
                waits[j, support] = _wait(problem, best, after)
        if best is solution:
            return replace(solution, solves=(*solves[:-1], solves[-1] + spent), waits=waits)
        final = self._descend(problem, best.state, best.sparsity, best.damping, callback)
        offset = solution.n_solves + spent
        return replace(
            final,
            waits=waits,
            history=(*history, *final.history[1:]),
            solves=(*solves, *(offset + count for count in final.solves[1:])),
        )


def _wait(problem, best, after):
    """Return up to which penalty a drop that has just failed need not be tried again.

    The objectives of the two branches change with the penalty as their sums of weights, which
    tells where they will meet.
    """
    rate = float(problem.costs @ (best.w - after.w))
    if rate <= 0.0:
        return WAIT_MOST * best.sparsity
    meeting = best.sparsity + (after.objective - best.objective) / rate
    return min(best.sparsity + WAIT * (meeting - best.sparsity), WAIT_MOST * best.sparsity)


def _step_bounds(w, factor):
    """Bounds on the change of each weight in one step."""
    if not np.isfinite(factor):
        return -w, 1.0 - w
    lowest = np.where(w > FLOOR, w / factor, 0.0)
    highest = np.minimum(1.0, np.maximum(w * factor, CEILING))
    return lowest - w, highest - w


def _try(problem, w, state, model: Linearization | None = None, step=None, promised=0.01):
    """Solve for the coefficients at trial weights; None where that is impossible."""
    warm = state.warm
    if model is not None and not problem.loss.constant_curvature:
        warm = problem.predict_warm(state, model, step)
    try:
        return problem.solve(w, warm, tol=INNER_TOL * min(max(promised, 1e-8), 1.0))
    except IndefiniteKernelError:
        return None


def _dropped(problem, solution):
    """Yield weights worth dropping, and where to start without each, cheapest first."""
    model = problem.linearize(solution.state)
    active, w = model.active, solution.w
    Q = model.V.T @ model.V if model.gram is None else model.gram.copy()
    Q.flat[:: len(Q) + 1] += 1e-6 * Q.diagonal().max() + 1e-12
    inverse = dposv(Q, np.eye(len(Q)), lower=1)[1]
    gradient = model.gradient + solution.sparsity * problem.costs[active]
    price = 0.5 * w[active] ** 2 / inverse.diagonal() - gradient * w[active]
    cost = solution.sparsity * problem.costs[active] * w[active]
    for i in np.argsort(price, kind="stable"):
        if price[i] > PRUNE_GATE * cost[i]:
            continue
        # The others move as the model says they would, each by a factor 2 at most.
        move = -inverse[i] / inverse[i, i] * w[active[i]]
        start = w.copy()
        start[active] += np.clip(move, -0.5 * w[active], w[active])
        start[active[i]] = 0.0
        yield active[i], np.clip(start, 0.0, 1.0)
