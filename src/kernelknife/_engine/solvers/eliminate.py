"""Damped Newton steps on the objective with the coefficients eliminated."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelknife._engine.objective import IndefiniteKernelError, Problem, State
from kernelknife._engine.solvers.base import (
    INACCURATE,
    DropThresholds,
    Outcome,
    Solution,
    Solver,
    StopRule,
    begin,
    never,
)
from kernelknife._engine.solvers.boxqp import minimize_box_quadratic
from kernelknife._engine.solvers.pruning import drop_weak

__all__ = ["Eliminate"]

# How far a weight may move in one step, as a factor either way, at first and after steps
# that went as predicted. With v = w**2 zero is absorbing: an early overshoot into it loses a
# true feature for good, and one toward 1 turns a Gaussian kernel into the identity, a
# plateau. Weights up to FLOOR may drop to zero at once, and rise to CEILING at once.
FACTOR, FACTOR_MAX, FACTOR_GROWTH = 3.0, 5.0, 1.5
FLOOR, CEILING = 1e-3, 1e-2
# Weights below are zero where v = w**2: their squares vanish beside the others' rounding. Where
# v = w, weights this small still matter: with a tiny alpha the lasso's are.
TINY = 1e-8
# Damping, relative to the largest curvature: its range, and the value below which it has no
# effect. A step that failed is damped at least that much, so that it is not tried unchanged.
DAMPING_LEAST, DAMPING_MOST, DAMPING_FELT = 1e-8, 1e12, 1e-2
LEAST_CURVATURE = 1e-3  # that damping is relative to, as a share of the largest derivative
DAMPING_COLD, DAMPING_COLD_CONVEX = 1.0, 1e-3  # of a first step; convex models can be trusted
# Gains, as a share of what the model promised, above which the model is trusted more and below
# which it is trusted less; a step that raises the objective is damped twice as much.
GOOD_GAIN, POOR_GAIN = 0.75, 0.25
DAMPING_LOWERED, DAMPING_RAISED, DAMPING_AFTER_RISE = 5.0, 4.0, 8.0
# The Gauss-Newton model overrates the curvature, so steps fall short: a step that gains
# more than promised relaxes the model by RELAXATION, one that gains less tightens it.
RELAXATION, RELAXED_MIN, RELAXED_START = 1.5, 0.2, 0.5
MORE_THAN_PROMISED, LESS_THAN_PROMISED = 1.2, 0.9
INNER_TOL = 0.1  # accuracy of the coefficients, relative to what the step promises
INNER_TOL_LEAST = 1e-8  # beyond, coefficients would be more accurate than any step needs
SURE = 0.1  # share of the tolerance at which an exact Newton step need not be taken
# Largest KKT residuals that count as converged, in units of the square root of the tolerance
# (objectives are quadratic in the distance): with a model, with an exact Newton step, and where
# no step decreases the objective any more.
RESIDUAL_MODEL, RESIDUAL_NEWTON, RESIDUAL_STALLED = 0.3, 3.0, 1.0
# Residuals are relative to the constant model's objective; where the objective has fallen below
# this share of it, they are taken relative to the objective instead.
FALLEN = 0.01
# Residual of the coefficients up to which the gradient that they gave can be believed.
ROUGH = 1e-4
CONVEX_TOL = 1e-3  # of the tolerance, where the problem is convex
FINAL_TOL = 1e-10  # residual of the coefficients that are returned, where rounding allows it


@dataclass(frozen=True)
class Eliminate(Solver):
    """Minimize ``g(w) = min_C f(C, w)`` by projected Newton steps.

    The curvature is the Gauss-Newton model while many weights are left, and exact once few
    are. Each step minimizes a damped convex quadratic over the box and costs one coefficient
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
        keep what lowers the objective. Where ``v = w`` only features that say nearly the same
        are tried, because the valley between them is flat.
    """

    max_iter: int = 200
    tol: float = 1e-4
    prune: bool = True

    def solve(
        self,
        problem: Problem,
        start: np.ndarray | Solution,
        sparsity: float,
        *,
        callback: StopRule = never,
    ) -> Solution:
        """Minimize from weights, or from where an earlier solution ended."""
        solution = self._descend(problem, start, sparsity, callback)
        if not (self.prune and not problem.convex and solution.converged and sparsity > 0):
            return solution
        return drop_weak(problem, self, solution, callback)

    def loosened(self, tol: float, max_iter: int | None = None) -> "Eliminate":
        """Return the solver at a tolerance of at least ``tol``, without trials at the end."""
        return Eliminate(max_iter or self.max_iter, max(tol, self.tol), prune=False)

    def with_tolerance(self, tol: float) -> "Eliminate":
        """Return the solver at a tolerance of at least ``tol``."""
        return replace(self, tol=max(tol, self.tol))

    def _descend(
        self, problem: Problem, start: np.ndarray | Solution, sparsity: float, callback: StopRule
    ) -> Solution:
        descent = _Descent(problem, start, sparsity, self.tol)
        while True:
            proposal = descent.propose()
            outcome = descent.outcome(proposal, self.max_iter, callback)
            if outcome is Outcome.CONVERGED and descent.was_misled():
                continue
            if outcome is not None:
                return descent.finish(outcome)
            gain = descent.judge(proposal)
            descent.adapt(gain)


@dataclass(frozen=True)
class _Proposal:
    """A step of the weights that the model suggests."""

    step: np.ndarray  # of the active weights
    w: np.ndarray  # all weights after it
    promised: float  # decrease of the model
    leaving: bool  # whether a weight becomes zero


class _Descent:
    """Where a descent is, what it has learned, and its four steps."""

    def __init__(self, problem: Problem, start: np.ndarray | Solution, sparsity: float, tol: float):
        self.problem, self.sparsity = problem, sparsity
        self.penalty = sparsity * problem.costs
        # A convex problem has one answer, whatever the start: worth the last steps, which are
        # Newton's and few.
        self.tol, self.loose_tol = (tol * CONVEX_TOL if problem.convex else tol), tol
        self.state, self.spent = begin(problem, start)
        self.objective = self._objective_at(self.state)
        self.history, self.factorizations = [self.objective], [self.spent]
        self.model = problem.linearize(self.state, self.penalty)
        self.residual = 0.0
        self.left_at = np.where(self.state.w > 0, -1, 0)
        self.drop_thresholds: DropThresholds = {}
        damping = None
        if not isinstance(start, np.ndarray):
            self.drop_thresholds, damping = dict(start.drop_thresholds), start.damping
        cold = DAMPING_COLD_CONVEX if problem.convex else DAMPING_COLD
        self.damping = cold if damping is None else damping
        self.relaxed = RELAXED_START if damping is None else 1.0
        self.factor = FACTOR

    def _objective_at(self, state: State) -> float:
        return state.smooth + float(self.penalty @ state.w)

    def propose(self) -> _Proposal:
        """Minimize the damped model over the box and the bounds of a step."""
        problem, model, w = self.problem, self.model, self.state.w
        active, absorbing = model.active, problem.absorbing
        here = w[active]
        gradient = model.gradient + self.penalty[active]
        self.residual = problem.optimality(w, active, gradient)
        lower, upper = _step_bounds(here, self.factor if absorbing else np.inf)
        curvature = model.largest_curvature
        if not problem.loss.constant_curvature:
            # Where no row of the loss is curved the model has no curvature for damping to scale.
            steepest = float(np.abs(gradient).max(initial=0.0))
            curvature = max(curvature, LEAST_CURVATURE * steepest)
        ridge = self.damping * curvature + 1e-12 * (problem.null_value or 1.0)
        step, promised = minimize_box_quadratic(
            model.V,
            ridge,
            gradient,
            lower,
            upper,
            gram=model.gram,
            factor=self.relaxed if model.H is None else 1.0,
        )
        new_w = w.copy()
        there = np.minimum(here + step, 1.0)
        if absorbing:
            # Only weights above zero are active.
            gone = there < TINY
            leaving = bool(gone.any())
            there[gone] = 0.0
        else:
            leaving = bool(np.count_nonzero(here[there == 0.0]))
        new_w[active] = there
        return _Proposal(step, new_w, promised, leaving)

    def outcome(self, proposal: _Proposal, max_iter: int, callback: StopRule) -> Outcome | None:
        """Return why to stop before the proposed step is tried, None to go on."""
        size, root = abs(self.objective), np.sqrt(self.tol) * self._strictness()
        if proposal.promised <= self.tol * size and not proposal.leaving:
            # An exact Newton decrement can be trusted further than that of a model; a damped
            # one, as after steps that failed, is small for another reason.
            newton = self.model.positive and self.damping <= DAMPING_FELT
            sure = newton and proposal.promised <= SURE * self.tol * size
            if self.residual <= (RESIDUAL_NEWTON if sure else RESIDUAL_MODEL) * root:
                return Outcome.CONVERGED
        if self.damping > DAMPING_MOST:
            limit = RESIDUAL_STALLED * np.sqrt(self.loose_tol) * self._strictness()
            stationary = self.residual <= limit
            return Outcome.CONVERGED if stationary else Outcome.STALLED
        if len(self.history) > max_iter:
            return Outcome.ITERATIONS
        if callback(len(self.history), self.objective):
            return Outcome.STOPPED
        return None

    def _strictness(self) -> float:
        """Return by how much residuals must be smaller because the objective has fallen so far."""
        fallen = abs(self.objective) / max(FALLEN * self.problem.null_value, 1e-300)
        return min(fallen, 1.0)

    def was_misled(self) -> bool:
        """Whether better coefficients give a gradient that calls for going on.

        Steps make do with rough coefficients, and far from their minimum the gradient is not
        that of the eliminated objective. The coefficients are then improved, once per state.
        """
        if self.state.inner.residual <= ROUGH:
            return False
        before = self.objective
        self.state = self.problem.polish(self.state, FINAL_TOL)
        self.spent += self.state.inner.factorizations
        self.objective = self._objective_at(self.state)
        self.history[-1], self.factorizations[-1] = self.objective, self.spent
        if self.state.inner.residual > ROUGH and self.objective >= before * (1.0 - self.tol):
            return False  # they cannot be improved
        self.model = self.problem.linearize(self.state, self.penalty)
        return True

    def judge(self, proposal: _Proposal) -> float:
        """Try the step, keep it if it lowers the objective, and return its gain.

        The gain is the decrease as a share of what the model promised.
        """
        promised = max(proposal.promised, 1e-300)
        relative = proposal.promised / max(abs(self.objective), 1e-300)
        trial = self._try(proposal, relative)
        objective = np.inf
        if trial is not None:
            self.spent += trial.inner.factorizations
            objective = self._objective_at(trial)
        gain = (self.objective - objective) / promised
        if trial is not None and (
            objective < self.objective or (proposal.leaving and objective == self.objective)
        ):
            self.left_at[(self.state.w > 0) & (trial.w == 0)] = len(self.history)
            self.state, self.objective = trial, objective
            self.model = self.problem.linearize(trial, self.penalty)
        self.history.append(self.objective)
        self.factorizations.append(self.spent)
        return gain

    def _try(self, proposal: _Proposal, promised: float) -> Any:
        """Solve for the coefficients at the proposed weights; None where that is impossible."""
        problem, warm = self.problem, self.state.warm
        if not problem.loss.constant_curvature:
            warm = problem.predict_warm(self.state, self.model, proposal.step)
        tol = INNER_TOL * min(max(promised, INNER_TOL_LEAST), 1.0)
        try:
            return problem.solve(proposal.w, warm, tol=tol)
        except IndefiniteKernelError:
            return None

    def adapt(self, gain: float) -> None:
        """Trust the model more or less, by what the last step gained."""
        if gain > MORE_THAN_PROMISED:
            self.relaxed = max(self.relaxed / RELAXATION, RELAXED_MIN)
        elif gain < LESS_THAN_PROMISED:
            self.relaxed = min(self.relaxed * RELAXATION**2, 1.0)
        if gain > GOOD_GAIN:
            self.damping = max(self.damping / DAMPING_LOWERED, DAMPING_LEAST)
            self.factor = min(self.factor * FACTOR_GROWTH, FACTOR_MAX)
        elif gain < POOR_GAIN:
            raised = DAMPING_RAISED if gain > 0 else DAMPING_AFTER_RISE
            self.damping = max(self.damping * raised, DAMPING_FELT)
            self.factor = FACTOR

    def finish(self, outcome: Outcome) -> Solution:
        """Return the solution, with coefficients as accurate as a result should have."""
        if self.state.inner.residual > FINAL_TOL:
            # The steps made do with rough coefficients; what is returned should not.
            self.state = self.problem.polish(self.state, FINAL_TOL)
            self.spent += self.state.inner.factorizations
            self.objective = self._objective_at(self.state)
            self.history[-1], self.factorizations[-1] = self.objective, self.spent
        if outcome is Outcome.CONVERGED and self.state.inner.residual > INACCURATE:
            outcome = Outcome.COEFFICIENTS
        return Solution.at(
            self.state,
            self.sparsity,
            self.objective,
            history=tuple(self.history),
            factorizations=tuple(self.factorizations),
            kkt_residual=self.residual,
            outcome=outcome,
            damping=self.damping,
            drop_thresholds=self.drop_thresholds,
            left_at=np.where(self.left_at < 0, len(self.history), self.left_at),
        )


def _step_bounds(w: np.ndarray, factor: float) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds on the change of each weight in one step."""
    if not np.isfinite(factor):
        return -w, 1.0 - w
    lowest = np.where(w > FLOOR, w / factor, 0.0)
    highest = np.minimum(1.0, np.maximum(w * factor, CEILING))
    return lowest - w, highest - w
