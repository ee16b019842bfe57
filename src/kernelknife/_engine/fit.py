"""A fit: from a specification and data to a solution, a path and a fitted model.

    data   = prepare_data(spec, rows)         what is measured of the rows
    setup  = set_up(spec, data)               data and specification made into a problem
    result = fit(spec, data)                  the weights, the model, and an account of both
    trace  = follow(setup, sparsities)        the same for every penalty

No estimator is seen here. Cross-validation, components and selections with an error rate call the
same functions with a specification of their own.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelknife._engine.data import Rows, TrainingData, prepare
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.data.opening import check_sample_weight, weigh_classes
from kernelknife._engine.data.targets import split_offset
from kernelknife._engine.model import Model, build_model, final_coefficients
from kernelknife._engine.objective import Problem, build_problem, refresh_centers
from kernelknife._engine.search import (
    Start,
    StartSettings,
    Trace,
    choose_start,
    empty_state,
    find_weights,
    fixed_weights,
    follow_path,
    make_starts,
    product_rows,
    refit_without_penalty,
    scaled_weights,
    solve_for_count,
)
from kernelknife._engine.solvers import Outcome, Solution, Solver
from kernelknife._engine.spec import FitSpec
from kernelknife._utils.messages import warn
from kernelknife._utils.progress import SILENT, Progress
from kernelknife.losses import CoxLoss

__all__ = [
    "FitResult",
    "Setup",
    "check_count",
    "find_start",
    "finish",
    "fit",
    "follow",
    "or_empty",
    "prepare_arrays",
    "prepare_data",
    "set_up",
    "solve_count",
    "warn_not_converged",
]

# The penalty of "auto" per row. On Friedman's first function with 50 columns every penalty between
# 0.011 and 0.25 per row keeps the five columns that matter and no noise, from 250 to 2,000 rows
# (benchmarks/penalty_scale.py); this is the middle of that range on a logarithmic scale.
AUTO_SPARSITY = 0.05
# Share of the empty model's objective that the estimate of it, on centers, cannot be off by.
SURELY_BELOW = 0.95


# -- from data to a problem -----------------------------------------------------------------------


class SearchOptions(TypedDict, total=False):
    """Fields of a specification that change the search and not the problem."""

    solver: Solver
    sparsity: float | str
    start: str | np.ndarray
    n_starts: int
    n_features_to_select: int | None


@dataclass(frozen=True)
class Setup:
    """A fit that is ready to be solved.

    Attributes
    ----------
    spec : FitSpec
    data : TrainingData
    problem : Problem
    center_rows : ndarray of int
        The user's number of each row that carries a coefficient.
    """

    spec: FitSpec
    data: TrainingData
    problem: Problem
    center_rows: np.ndarray

    def with_alpha(self, alpha: float) -> "Setup":
        """Return the setup with another ``alpha``."""
        spec = replace(self.spec, alpha=alpha)
        return replace(self, spec=spec, problem=self.problem.with_alpha(alpha))

    def with_spec(self, **changes: Unpack[SearchOptions]) -> "Setup":
        """Return the setup with other options of the search, which leave the problem as it is."""
        return replace(self, spec=replace(self.spec, **changes))

    def with_targets(self, U: np.ndarray) -> "Setup":
        """Return the setup with the scores ``U``, shape (n, k), as its targets."""
        return set_up(self.spec, self.data.with_targets(U))

    @property
    def start_settings(self) -> StartSettings:
        """Which starts to try, given weights as those of the problem."""
        start = self.spec.start
        if not isinstance(start, str):
            start = _given_start(np.asarray(start, dtype=float), self.data)
        return StartSettings(start, self.spec.n_starts, self.spec.seed)

    @property
    def searched_products(self) -> dict[int, int]:
        """In how many rows products of two and of three columns are searched, by their number.

        Empty where the search needs no starts, or where the user has chosen them.
        """
        start = self.spec.start
        by_default = isinstance(start, str) and start == "auto" and self.spec.learn_weights
        return product_rows(self.problem) if by_default and not self.problem.convex else {}

    @property
    def sparsity(self) -> float:
        """The penalty on the weights as a number.

        With a convex kernel, a penalty ``sparsity`` on the weights is one of
        ``2 sqrt(alpha sparsity)`` on the size of a column's coefficient, and of p columns of noise
        the largest gets through up to ``2 sqrt(2 n log(p) s)``, with ``s`` the share of the
        target's variance that is left. "auto" is where both are equal for a share of one half.
        """
        if self.spec.sparsity != "auto":
            return float(self.spec.sparsity)
        problem = self.problem
        if problem.convex:
            noise = max(1.0, float(np.log(problem.n_weights)))
            return noise * problem.total_weight / self.spec.alpha
        return AUTO_SPARSITY * problem.total_weight


def _given_start(start: np.ndarray, data: TrainingData) -> np.ndarray:
    """Return starting weights of the problem from those of the user's columns."""
    p = data.n_features
    if start.shape not in ((), (p,)):
        raise ValueError(
            f"start must be a number or one weight per column ({p}), got shape {start.shape}."
        )
    start = np.broadcast_to(start, (p,))
    if not ((start > 0) & (start <= 1)).all():
        raise ValueError(
            "Starting weights must lie in (0, 1]: zero would never move for a non-linear "
            f"kernel. Got values from {start.min():g} to {start.max():g}."
        )
    return data.weight_values(start)


def prepare_data(spec: FitSpec, rows: Rows) -> TrainingData:
    """Measure and check rows of any kind; rows without a target give data without outputs."""
    return prepare(
        rows,
        spec.kernel,
        spec.loss,
        standardize=spec.standardize,
        missing=spec.missing,
        feature_groups=spec.feature_groups,
        feature_costs=spec.feature_costs,
        always_keep=spec.always_keep,
        adjust_for=spec.adjust_for,
        offset=spec.offset,
    )


def prepare_arrays(
    spec: FitSpec,
    X: np.ndarray,
    y: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    names: np.ndarray | None = None,
) -> TrainingData:
    """Measure and check arrays in memory, such as the training rows of a fold.

    Without ``y`` they are data without a target.
    """
    labels = split_offset(y)[0] if spec.offset and y is not None else y
    s = check_sample_weight(weigh_classes(spec.class_weight, labels, sample_weight), len(X))
    return prepare_data(spec, ArrayRows(X, y, s, names=names))


def set_up(spec: FitSpec, data: TrainingData) -> Setup:
    """Make a problem of a specification and data."""
    problem, center_rows = build_problem(
        data,
        alpha=spec.alpha,
        fit_intercept=spec.fit_intercept and spec.loss.has_intercept,
        n_centers=spec.n_centers,
        centers=spec.centers,
        memory_budget=spec.memory_budget,
        from_sums=spec.from_sums,
        seed=spec.seed or 0,
    )
    return Setup(spec, data, problem, center_rows)


# -- a fit ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FitResult:
    """A solution and the model that it makes.

    Attributes
    ----------
    setup : Setup
    solution : Solution
    model : Model
        What predicts.
    objective : float
        Recomputed from the model, with the user's own loss.
    accurate : bool
        Whether the coefficients reached their minimum.
    starts : list of (str, Solution)
        Name and solution of every start.
    calibration : Calibration or None
        How permutations have found the penalty: see :mod:`kernelknife._error_rates`, which fits so.
    """

    setup: Setup
    solution: Solution
    model: Model
    objective: float
    accurate: bool
    starts: list[tuple[str, Solution]]
    calibration: Any = None

    @property
    def weights(self) -> np.ndarray:
        """The weight of every column of the user."""
        return self.setup.data.user_values(self.solution.w)

    @property
    def converged(self) -> bool:
        """Whether weights and coefficients satisfy their optimality conditions."""
        return bool(self.solution.converged and self.accurate)

    @property
    def n_factorizations(self) -> int:
        """Factorizations of the coefficient system that all starts have spent."""
        every = sum(solution.n_factorizations for _, solution in self.starts)
        return every or self.solution.n_factorizations

    def warn_not_converged(self, name: str) -> None:
        """Issue a ConvergenceWarning unless the fit has converged."""
        solution = self.solution
        if not self.accurate and solution.converged:
            solution = replace(solution, outcome=Outcome.COEFFICIENTS)
        warn_not_converged(name, [solution])


def fit(spec: FitSpec, data: TrainingData, progress: Progress = SILENT) -> FitResult:
    """Find the weights and the model."""
    setup = set_up(spec, data)
    if not spec.learn_weights:
        given = setup.start_settings.start
        w = scaled_weights(setup.problem) if isinstance(given, str) else given
        solution = fixed_weights(setup.problem, w)
        return finish(setup, solution, [("given", solution)])
    if spec.n_features_to_select is not None:
        solution, starts = _fit_count(setup, progress)
        result = finish(setup, solution, starts)
    else:
        solution, starts = find_weights(
            setup.problem,
            spec.solver,
            setup.start_settings,
            setup.sparsity,
            n_jobs=spec.n_jobs,
            callback=progress.watch("iteration"),
        )
        if spec.refresh_centers:
            setup, solution = _with_fresh_centers(setup, solution, progress)
        result = finish(setup, solution, starts)
        kept = or_empty(setup, solution, result.objective)
        if kept is not solution:
            result = finish(setup, kept, starts)
    if spec.relax:
        result = finish(setup, _relaxed(result), result.starts)
    return result


def finish(
    setup: Setup, solution: Solution, starts: list[tuple[str, Solution]] | None = None
) -> FitResult:
    """Make the fitted model of a solution, with coefficients for the user's own loss."""
    loss, problem = setup.spec.loss, setup.problem
    C, b, accurate = final_coefficients(problem, loss, solution)
    objective = problem.value(solution.w, C, b, solution.sparsity, loss)
    model = build_model(setup.data, problem, setup.center_rows, solution.w, C, b)
    if isinstance(loss, CoxLoss):
        model = model.with_baseline(loss, setup.data.rows)
    if setup.spec.kernel.order:
        model = model.with_moments(setup.data.rows)
    return FitResult(setup, solution, model, objective, accurate, starts or [])


def or_empty(setup: Setup, solution: Solution, objective: float) -> Solution:
    """Return a solution, or the model without features where that has the lower objective.

    Parameters
    ----------
    setup : Setup
    solution : Solution
    objective : float
        Of the user's own loss. Where the weights were found with a smooth surrogate of it, the
        model may be better than the empty one under the surrogate and worse under the loss.
    """
    problem, loss = setup.problem, setup.spec.loss
    if not solution.w.any():
        return solution
    if loss.surrogate is not None:
        nothing = empty_state(problem) if problem.null_of(loss) < objective else None
    elif problem.convex or (
        problem.fit_intercept and objective < SURELY_BELOW * problem.null_value
    ):
        return solution
    else:
        nothing = empty_state(problem)
        if nothing is not None and nothing.smooth >= objective:
            nothing = None
    return solution if nothing is None else solution.emptied(nothing)


def _fit_count(setup: Setup, progress: Progress) -> tuple[Solution, list[tuple[str, Solution]]]:
    """Return the solution with exactly as many features as were asked for."""
    check_count(setup.spec.n_features_to_select, setup.problem)
    trace = follow(setup, progress=progress)
    solution = solve_count(setup, trace)
    own = any(solution is point for point in trace.points)
    spent = trace.n_factorizations + (0 if own else solution.n_factorizations)
    solution = replace(solution, factorizations=(*solution.factorizations[:-1], spent))
    return solution, [(trace.start, solution)]


def check_count(wanted: int | None, problem: Problem, where: str = "") -> None:
    """Raise where more features are asked for than there are."""
    if wanted is not None and wanted > problem.n_weights:
        raise ValueError(
            f"n_features_to_select={wanted} is more than the {problem.n_weights} features (or "
            f"groups) that are not constant{where}."
        )
    n_kept = int(np.count_nonzero(problem.lowest))
    if wanted is not None and wanted < n_kept:
        raise ValueError(
            f"n_features_to_select={wanted} is less than the {n_kept} features (or groups) that "
            f"always_keep asks for{where}."
        )


def solve_count(setup: Setup, trace: Trace) -> Solution:
    """Return the solution with as many features as the specification asks for, off a path."""
    wanted = setup.spec.n_features_to_select
    assert wanted is not None
    return solve_for_count(setup.problem, setup.spec.solver, trace, wanted)


def _with_fresh_centers(
    setup: Setup, solution: Solution, progress: Progress
) -> tuple[Setup, Solution]:
    """Choose the centers anew in the geometry of the weights and go on from there."""
    spec = setup.spec
    problem, center_rows = refresh_centers(
        setup.problem, setup.center_rows, setup.data, spec.centers, solution.w, spec.seed or 0
    )
    if problem is setup.problem:
        return setup, solution
    watch = progress.watch("iteration")
    after = spec.solver.solve(problem, solution.w, solution.sparsity, callback=watch)
    return replace(setup, problem=problem, center_rows=center_rows), after


def _relaxed(result: FitResult) -> Solution:
    """Return the model of the selected features, refitted without the penalty on the weights.

    It keeps the penalty that has selected them, for ``sparsity_``.
    """
    setup, solution = result.setup, result.solution
    relaxed = refit_without_penalty(setup.problem, setup.spec.solver, solution.w)
    spent = solution.n_factorizations + relaxed.n_factorizations
    factorizations = (*relaxed.factorizations[:-1], spent)
    return replace(relaxed, sparsity=solution.sparsity, factorizations=factorizations)


# -- a path ---------------------------------------------------------------------------------------


def follow(
    setup: Setup,
    sparsities: int | np.ndarray = 50,
    *,
    updates_per_point: int | None = None,
    begin: Start | None = None,
    until: Callable[[Solution], bool] | None = None,
    progress: Progress = SILENT,
) -> Trace:
    """Follow the path of a setup; see :func:`kernelknife.knife_path` for the parameters.

    ``begin`` is where to begin; None takes the best of the starts that the specification asks for.
    ``until`` is asked after every point of rising penalties whether the path ends there.
    """
    return follow_path(
        setup.problem,
        setup.spec.solver,
        setup.start_settings,
        sparsities,
        updates_per_point=updates_per_point,
        begin=begin,
        until=until,
        progress=progress,
    )


def find_start(setup: Setup) -> Start:
    """Return where a path of a setup would begin."""
    starts = make_starts(setup.problem, setup.start_settings)
    if len(starts) == 1:
        return starts[0]
    chosen = choose_start(setup.problem, setup.spec.solver, starts)
    return replace(chosen.start, factorizations=chosen.n_factorizations)


def warn_not_converged(name: str, failed: Iterable[Solution]) -> None:
    """Issue a ConvergenceWarning about the worst of some solutions, with advice that fits it."""
    worst = max(failed, key=lambda solution: solution.kkt_residual)
    outcome: Outcome = worst.outcome
    warn(
        f"{name} did not converge ({outcome.reason}; KKT residual {worst.kkt_residual:.1e}): "
        f"{outcome.advice}.",
        ConvergenceWarning,
    )
