"""Damped Newton steps on the objective with the coefficients eliminated."""

from dataclasses import dataclass, replace

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


@dataclass(frozen=True)
class StepConstants:
    """How far the weights may move in one step.

    With ``v = w**2`` zero is absorbing: an early overshoot into it loses a true feature for good,
    and one toward 1 turns a Gaussian kernel into the identity, a plateau.

    Attributes
    ----------
    factor, factor_max, factor_growth : float
        Largest factor of a weight either way: at first, at most, and how it grows after steps that
        went as predicted.
    floor, ceiling : float
        Weights up to the floor may drop to zero at once, and rise to the ceiling at once.
    tiny : float
        Weights below are zero where ``v = w**2``: their squares vanish beside the others' rounding.
        Where ``v = w``, weights this small still matter: with a tiny alpha the lasso's are.
    """

    factor: float = 3.0
    factor_max: float = 5.0
    factor_growth: float = 1.5
    floor: float = 1e-3
    ceiling: float = 1e-2
    tiny: float = 1e-8


@dataclass(frozen=True)
class DampingConstants:
    """How far the curvature model is trusted.

    Attributes
    ----------
    least, most : float
        Range of the damping, relative to the largest curvature.
    felt : float
        Below it damping has no effect. A step that failed is damped at least as much, so that it is
        not tried unchanged.
    least_curvature : float
        That damping is relative to, as a share of the largest derivative.
    cold, cold_convex : float
        Damping of a first step; the models of convex problems can be trusted.
    good_gain, poor_gain : float
        Gains, as a share of what the model predicted, above which the model is trusted more and
        below which it is trusted less.
    lowered, raised, after_rise : float
        Factors of the damping after good and poor gains; a step that raises the objective is damped
        twice as much.
    relaxed, relaxed_least, relaxation : float
        The Gauss-Newton model overestimates the curvature, so that steps fall short. It is
        multiplied by a factor, which begins here, is at least this, and changes by this factor.
    more_than_predicted, less_than_predicted : float
        Gains beyond which that factor becomes smaller or larger.
    """

    least: float = 1e-8
    most: float = 1e12
    felt: float = 1e-2
    least_curvature: float = 1e-3
    cold: float = 1.0
    cold_convex: float = 1e-3
    good_gain: float = 0.75
    poor_gain: float = 0.25
    lowered: float = 5.0
    raised: float = 4.0
    after_rise: float = 8.0
    relaxed: float = 0.5
    relaxed_least: float = 0.2
    relaxation: float = 1.5
    more_than_predicted: float = 1.2
    less_than_predicted: float = 0.9


@dataclass(frozen=True)
class AccuracyConstants:
    """When a descent has converged, and how accurate its coefficients are.

    Residuals are in units of the square root of the tolerance, because objectives are quadratic in
    the distance to a minimum.

    Attributes
    ----------
    sure : float
        Share of the tolerance at which an exact Newton step need not be taken.
    with_model, with_newton, stalled : float
        Largest KKT residuals that count as converged: with a model, with an exact Newton step, and
        where no step decreases the objective any more.
    fallen : float
        Residuals are relative to the constant model's objective; where the objective has fallen
        below this share of it, they are relative to the objective instead.
    convex : float
        Factor of the tolerance where the problem is convex.
    inner, inner_least : float
        Accuracy of the coefficients of a step, relative to the decrease that it predicts, and the
        least such decrease that counts: below, they would be more accurate than any step needs.
    rough : float
        Residual of the coefficients up to which the gradient that they give is reliable.
    final : float
        Residual of the coefficients that are returned, where rounding allows it.
    """

    sure: float = 0.1
    with_model: float = 0.3
    with_newton: float = 3.0
    stalled: float = 1.0
    fallen: float = 0.01
    convex: float = 1e-3
    inner: float = 0.1
    inner_least: float = 1e-8
    rough: float = 1e-4
    final: float = 1e-10


# What these cost is measured by benchmarks/path_cost.py (factorizations per point of a path, and
# how good the points are) and benchmarks/solver_grid.py (beside the solver "alternate").
STEP, DAMPING, ACCURACY = StepConstants(), DampingConstants(), AccuracyConstants()


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
        The solver stops when a step predicts less than this share of the objective and
        the KKT residual is below ``0.3 sqrt(tol)``, or, with an exact Newton step that
        predicts less than a tenth of it, below ``3 sqrt(tol)``.
    prune : bool, default=True
        With ``v = w**2`` the penalty is concave in ``v``, and keeping or dropping a weak
        feature are often both local minima. Try to drop the weakest ones at the end, and
        keep what lowers the objective. Where ``v = w`` only nearly redundant features are tried,
        because the valley between them is flat.
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
            if outcome == Outcome.CONVERGED and descent.was_misled():
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
    predicted: float  # decrease of the model
    leaving: bool  # whether a weight becomes zero


class _Descent:
    """Where a descent is, how far it trusts its model, and its four steps."""

    def __init__(self, problem: Problem, start: np.ndarray | Solution, sparsity: float, tol: float):
        self.problem, self.sparsity = problem, sparsity
        self.penalty = sparsity * problem.costs
        # A convex problem has one solution, whatever the start: it is worth the last steps, which
        # are Newton's and few.
        self.tol, self.loose_tol = (tol * ACCURACY.convex if problem.convex else tol), tol
        self.state, self.spent = begin(problem, start)
        self.objective = self._objective_at(self.state)
        self.history, self.factorizations = [self.objective], [self.spent]
        self.model = problem.linearize(self.state, self.penalty)
        self.residual = 0.0
        self.left_at = np.where(self.state.w > 0, -1, 0)
        self.drop_thresholds: DropThresholds = {}
        damping = None
        if not isinstance(start, np.ndarray) and start.warm is not None:
            self.drop_thresholds, damping = dict(start.warm.drop_thresholds), start.warm.damping
        cold = DAMPING.cold_convex if problem.convex else DAMPING.cold
        self.damping = cold if damping is None else damping
        self.relaxed = DAMPING.relaxed if damping is None else 1.0
        self.factor = STEP.factor

    def _objective_at(self, state: State) -> float:
        return state.smooth + float(self.penalty @ state.w)

    def propose(self) -> _Proposal:
        """Minimize the damped model over the box and the bounds of a step."""
        problem, model, w = self.problem, self.model, self.state.w
        active, absorbing = model.active, problem.absorbing
        here = w[active]
        gradient = model.gradient + self.penalty[active]
        self.residual = problem.optimality(w, active, gradient)
        lower, upper = -here, 1.0 - here
        if absorbing:
            lower += np.where(here > STEP.floor, here / self.factor, 0.0)
            upper = np.minimum(1.0, np.maximum(here * self.factor, STEP.ceiling)) - here
        if problem.features.kept is not None:
            lower = np.maximum(lower, np.minimum(problem.lowest[active] - here, 0.0))
        curvature = model.largest_curvature
        if not problem.loss.constant_curvature:
            # Where no row of the loss is curved the model has no curvature for damping to scale.
            steepest = float(np.abs(gradient).max(initial=0.0))
            curvature = max(curvature, DAMPING.least_curvature * steepest)
        ridge = self.damping * curvature + 1e-12 * (problem.null_value or 1.0)
        step, predicted = minimize_box_quadratic(
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
            gone = there < STEP.tiny
            leaving = bool(gone.any())
            there[gone] = 0.0
        else:
            leaving = bool(np.count_nonzero(here[there == 0.0]))
        new_w[active] = there
        return _Proposal(step, new_w, predicted, leaving)

    def outcome(self, proposal: _Proposal, max_iter: int, callback: StopRule) -> Outcome | None:
        """Return why to stop before the proposed step is tried, None to go on."""
        size, root = abs(self.objective), np.sqrt(self.tol) * self._strictness()
        if proposal.predicted <= self.tol * size and not proposal.leaving:
            # An exact Newton decrement can be trusted further than that of a model; a damped
            # one, as after steps that failed, is small for another reason.
            newton = self.model.positive and self.damping <= DAMPING.felt
            sure = newton and proposal.predicted <= ACCURACY.sure * self.tol * size
            if self.residual <= (ACCURACY.with_newton if sure else ACCURACY.with_model) * root:
                return Outcome.CONVERGED
        if self.damping > DAMPING.most:
            limit = ACCURACY.stalled * np.sqrt(self.loose_tol) * self._strictness()
            stationary = self.residual <= limit
            return Outcome.CONVERGED if stationary else Outcome.STALLED
        if len(self.history) > max_iter:
            return Outcome.ITERATIONS
        if callback(len(self.history), self.objective):
            return Outcome.STOPPED
        return None

    def _strictness(self) -> float:
        """Return by how much residuals must be smaller because the objective has fallen so far."""
        fallen = abs(self.objective) / max(ACCURACY.fallen * self.problem.null_value, 1e-300)
        return min(fallen, 1.0)

    def was_misled(self) -> bool:
        """Whether better coefficients give a gradient at which the descent has to go on.

        Steps make do with rough coefficients, and far from their minimum the gradient is not
        that of the eliminated objective. The coefficients are then improved, once per state.
        """
        if self.state.inner.residual <= ACCURACY.rough:
            return False
        before = self.objective
        self.state = self.problem.polish(self.state, ACCURACY.final)
        self.spent += self.state.inner.factorizations
        self.objective = self._objective_at(self.state)
        self.history[-1], self.factorizations[-1] = self.objective, self.spent
        still_rough = self.state.inner.residual > ACCURACY.rough
        if still_rough and self.objective >= before * (1.0 - self.tol):
            return False  # they cannot be improved
        self.model = self.problem.linearize(self.state, self.penalty)
        return True

    def judge(self, proposal: _Proposal) -> float:
        """Try the step, keep it if it lowers the objective, and return its gain.

        The gain is the decrease as a share of what the model predicted.
        """
        predicted = max(proposal.predicted, 1e-300)
        relative = proposal.predicted / max(abs(self.objective), 1e-300)
        trial = self._try(proposal, relative)
        objective = np.inf
        if trial is not None:
            self.spent += trial.inner.factorizations
            objective = self._objective_at(trial)
        gain = (self.objective - objective) / predicted
        if trial is not None and (
            objective < self.objective or (proposal.leaving and objective == self.objective)
        ):
            self.left_at[(self.state.w > 0) & (trial.w == 0)] = len(self.history)
            self.state, self.objective = trial, objective
            self.model = self.problem.linearize(trial, self.penalty)
        self.history.append(self.objective)
        self.factorizations.append(self.spent)
        return gain

    def _try(self, proposal: _Proposal, predicted: float) -> State | None:
        """Solve for the coefficients at the proposed weights; None where that is impossible."""
        problem, warm = self.problem, self.state.warm
        if not problem.loss.constant_curvature:
            warm = problem.predict_warm(self.state, self.model, proposal.step)
        tol = ACCURACY.inner * min(max(predicted, ACCURACY.inner_least), 1.0)
        try:
            return problem.solve(proposal.w, warm, tol=tol)
        except IndefiniteKernelError:
            return None

    def adapt(self, gain: float) -> None:
        """Trust the model more or less, by what the last step gained."""
        if gain > DAMPING.more_than_predicted:
            self.relaxed = max(self.relaxed / DAMPING.relaxation, DAMPING.relaxed_least)
        elif gain < DAMPING.less_than_predicted:
            self.relaxed = min(self.relaxed * DAMPING.relaxation**2, 1.0)
        if gain > DAMPING.good_gain:
            self.damping = max(self.damping / DAMPING.lowered, DAMPING.least)
            self.factor = min(self.factor * STEP.factor_growth, STEP.factor_max)
        elif gain < DAMPING.poor_gain:
            raised = DAMPING.raised if gain > 0 else DAMPING.after_rise
            self.damping = max(self.damping * raised, DAMPING.felt)
            self.factor = STEP.factor

    def finish(self, outcome: Outcome) -> Solution:
        """Return the solution, with coefficients as accurate as a result should have."""
        if self.state.inner.residual > ACCURACY.final:
            # The steps made do with rough coefficients; what is returned should not.
            self.state = self.problem.polish(self.state, ACCURACY.final)
            self.spent += self.state.inner.factorizations
            self.objective = self._objective_at(self.state)
            self.history[-1], self.factorizations[-1] = self.objective, self.spent
        if outcome == Outcome.CONVERGED and self.state.inner.residual > INACCURATE:
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
