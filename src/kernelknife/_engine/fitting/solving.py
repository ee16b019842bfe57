"""From a job to a solution: the search that an estimator asks for, its path, and what follows."""

from dataclasses import replace
from typing import Any

import numpy as np

from kernelknife._engine.fitting.job import Job
from kernelknife._engine.fitting.search_settings import (
    make_solver,
    make_start_settings,
    resolved_sparsity,
)
from kernelknife._engine.objective import null_objective, refresh_centers
from kernelknife._engine.search import (
    Start,
    Trace,
    choose_start,
    find_weights,
    fixed_weights,
    follow_path,
    make_starts,
    refit_without_penalty,
    scaled_weights,
    solve_for_count,
)
from kernelknife._engine.solvers import Solution
from kernelknife._utils.checks import check_number
from kernelknife._utils.progress import SILENT, Task

__all__ = [
    "empty_objective",
    "find_start",
    "refresh_solution",
    "relax_solution",
    "solve_job",
    "trace_path",
]


def solve_job(estimator: Any, job: Job, task: Task) -> tuple[Solution, list[tuple[str, Solution]]]:
    """Return the solution and those of all starts.

    Parameters
    ----------
    estimator : KnifeRegressor or KnifeClassifier
    job : Job
    task : Task
        Is told of every step.
    """
    if not estimator.learn_weights:
        given = make_start_settings(estimator, job).start
        w = scaled_weights(job.problem) if isinstance(given, str) else given
        solution = fixed_weights(job.problem, w)
        return solution, [("given", solution)]
    if estimator.n_features_to_select is not None:
        return _solve_for_count(estimator, job, task)
    return find_weights(
        job.problem,
        make_solver(estimator),
        make_start_settings(estimator, job),
        resolved_sparsity(estimator, job),
        n_jobs=estimator.n_jobs,
        callback=task.watch("iteration"),
    )


def _solve_for_count(
    estimator: Any, job: Job, task: Task
) -> tuple[Solution, list[tuple[str, Solution]]]:
    """Return the solution with exactly as many features as were asked for."""
    available, wanted = job.problem.n_weights, estimator.n_features_to_select
    check_number(wanted, "n_features_to_select", low=1, integer=True)
    if wanted > available:
        raise ValueError(
            f"n_features_to_select={wanted} is more than the {available} features (or groups) "
            "that are not constant."
        )
    trace = trace_path(estimator, job, task=task)
    solution = solve_for_count(job.problem, make_solver(estimator), trace, wanted)
    own = any(solution is point for point in trace.points)
    spent = trace.n_factorizations + (0 if own else solution.n_factorizations)
    solution = replace(solution, factorizations=(*solution.factorizations[:-1], spent))
    return solution, [(trace.start, solution)]


def trace_path(
    estimator: Any,
    job: Job,
    sparsities: int | np.ndarray = 50,
    *,
    updates_per_point: int | None = None,
    begin: Start | None = None,
    task: Task = SILENT,
) -> Trace:
    """Follow the path of prepared data.

    Parameters
    ----------
    estimator : KnifeRegressor or KnifeClassifier
    job : Job
    sparsities, updates_per_point : see :func:`kernelknife.knife_path`
    begin : Start, default=None
        Where to begin; None takes the best of the starts that the estimator asks for.
    task : Task
    """
    return follow_path(
        job.problem,
        make_solver(estimator),
        make_start_settings(estimator, job),
        sparsities,
        updates_per_point=updates_per_point,
        begin=begin,
        task=task,
    )


def find_start(estimator: Any, job: Job) -> Start:
    """Return where a path of prepared data would begin.

    Parameters
    ----------
    estimator : KnifeRegressor or KnifeClassifier
    job : Job
    """
    starts = make_starts(job.problem, make_start_settings(estimator, job))
    if len(starts) == 1:
        return starts[0]
    return replace(
        choose_start(job.problem, make_solver(estimator), starts).start, factorizations=0
    )


def refresh_solution(
    estimator: Any, job: Job, solution: Solution, task: Task
) -> tuple[Job, Solution]:
    """Choose the centers anew in the geometry of the weights and go on from there."""
    # An exact number of features belongs to its centers.
    if not estimator.refresh_centers or estimator.n_features_to_select is not None:
        return job, solution
    built = refresh_centers(job.built, job.prepared, job.choice, solution.w)
    if built is job.built:
        return job, solution
    watch = task.watch("iteration")
    after = make_solver(estimator).solve(
        built.problem, solution.w, solution.sparsity, callback=watch
    )
    return replace(job, built=built), after


def relax_solution(estimator: Any, job: Job, solution: Solution) -> Solution:
    """Return the model of the selected features, refitted without the penalty on the weights.

    It keeps the penalty that has selected them, so that ``sparsity_`` tells it.
    """
    relaxed = refit_without_penalty(job.problem, make_solver(estimator), solution.w)
    spent = solution.n_factorizations + relaxed.n_factorizations
    return replace(
        relaxed, sparsity=solution.sparsity, factorizations=(*relaxed.factorizations[:-1], spent)
    )


def empty_objective(job: Job) -> float:
    """Return the objective of the model without features for a loss that is not smooth.

    For the other losses the search has seen to it, and nothing is computed.
    """
    loss = job.prepared.loss
    if loss.surrogate is None:
        return np.inf
    problem = job.problem
    return null_objective(loss, problem.Y, problem.sample_weight, problem.fit_intercept)
