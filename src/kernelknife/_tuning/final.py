"""What was chosen, on all rows: the path of the chosen line, and the chosen model."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from kernelknife._engine.fitting import STARTS, Job, make_solver, prepare_job, publish, trace_path
from kernelknife._engine.search import Trace, equal_weights, refit_without_penalty
from kernelknife._engine.solvers import Solution
from kernelknife._tuning.folds import Data, as_in_a_fold
from kernelknife._tuning.pick import Pick, settle_point
from kernelknife._tuning.settings import EQUAL, PENALIZED, RELAXED, Line, penalty_for_share
from kernelknife._utils.progress import SILENT, Task

__all__ = ["chosen_sparsity", "fit_chosen", "fit_count", "follow_line", "is_final", "settle"]


def is_final(line: Line, job: Job, data: Data, n_centers: int | None) -> bool:
    """Whether models of the search are those of all rows, with as many centers."""
    return n_centers == line.template.n_centers and job.prepared.rows.shape[0] >= len(data.X)


def follow_line(
    line: Line,
    job: Job,
    start: str | None = None,
    task: Task = SILENT,
    *,
    roughly: bool = False,
) -> Trace:
    """Follow the path of a line on all rows of the search.

    Parameters
    ----------
    line : Line
    job : Job
        The prepared rows, with the kernel and alpha of the line.
    start : str, default=None
        The start that was the best in all folds, None where they differ. It is the only one that is
        tried, unless the user has chosen the starts.
    task : Task
    roughly : bool, default=False
        Whether the tolerance of a fold will do, because the chosen model is solved anew.
    """
    tracing = as_in_a_fold(line.template) if roughly else line.template
    given = tracing.start
    chooses = isinstance(given, str) and given == "auto" and not tracing.n_starts
    if chooses and start in STARTS:
        tracing = clone(tracing).set_params(start=start)
    return trace_path(tracing, job, line.penalties, task=task)


def settle(pick: Pick, trace: Trace, job: Job) -> Pick:
    """Return the pick, adjusted to the path on all rows.

    Of penalties that the folds cannot tell apart the one is taken whose path on all rows fits their
    selections best (:func:`settle_point`). A support that is too large to be refitted in a fold is
    not refitted on all rows either.

    Parameters
    ----------
    pick : Pick
    trace : Trace
        The path of the chosen line.
    job : Job
        The prepared rows on which it was followed.
    """
    if pick.weighting != EQUAL:
        selected = [job.prepared.user_values(point.w) for point in trace.points]
        counts = [int(np.count_nonzero(weights)) for weights in selected]
        # Past the end of a path nothing changes any more.
        counts += counts[-1:] * (len(pick.line.penalties) - len(counts))
        pick = pick.moved_to(settle_point(pick.equals, counts, pick.n_features))
    n_kept = int(np.count_nonzero(_chosen_point(pick, trace).w))
    if pick.weighting == RELAXED and not pick.line.refits(n_kept):
        pick = pick.weighted_as(PENALIZED)
    return pick


def chosen_sparsity(pick: Pick, trace: Trace) -> float:
    """Return the chosen penalty, as it is on the path of the chosen line."""
    return 0.0 if pick.weighting == EQUAL else float(_chosen_point(pick, trace).sparsity)


def fit_chosen(
    pick: Pick, template: Any, job: Job, trace: Trace, data: Data, n_centers: int | None
) -> tuple[Any, Solution]:
    """Return the chosen model, fitted to all rows, and the solution that it is made of.

    Parameters
    ----------
    pick : Pick
    template : KnifeRegressor or KnifeClassifier
        What the model is an instance of: that of the line, with the groups of columns as the user
        gave them.
    job : Job
        The prepared rows of the search, on which the path was followed.
    trace : Trace
        The path of the chosen line.
    data : Data
        All rows.
    n_centers : int or None
        Of the model; None is the exact method.
    """
    point, sparsity = _chosen_point(pick, trace), chosen_sparsity(pick, trace)
    searched_with, w = pick.line.template, point.w
    on_the_path = is_final(pick.line, job, data, n_centers)
    if not on_the_path:
        searched, job = job, _prepare_all_rows(searched_with, job, data, n_centers)
        w = job.prepared.weight_values(searched.prepared.user_values(w))
        growth = job.problem.total_weight / searched.problem.total_weight
        sparsity = penalty_for_share(sparsity, growth, convex=job.problem.convex)
    if on_the_path and pick.weighting == PENALIZED:
        solution = point
    else:
        solution = _solve(pick, job, w, sparsity)
    solution = replace(solution, sparsity=sparsity)
    model = clone(template).set_params(
        sparsity=sparsity,
        relax=pick.weighting == RELAXED,
        learn_weights=pick.weighting != EQUAL,
        n_centers=n_centers,
    )
    publish(model, job, solution, [(trace.start, solution)])
    return model, solution


def fit_count(
    template: Any, job: Job, data: Data, n_centers: int | None, feature_groups: Any
) -> Any:
    """Return the model with as many features as the template asks for, fitted to all rows.

    Parameters
    ----------
    template : KnifeRegressor or KnifeClassifier
        That of the chosen line.
    job : Job
        The prepared rows of the search.
    data : Data
        All rows.
    n_centers : int or None
        Of the model; None is the exact method.
    feature_groups : as in KnifeRegressor
        As the user gave them.
    """
    model = clone(template).set_params(n_centers=n_centers)
    model.fit(data.X, data.y, data.sample_weight)
    # The arrays have no names of columns, so the fit had the groups as numbers.
    model.set_params(feature_groups=feature_groups)
    if job.prepared.grouping is not None:
        model.feature_groups_ = job.prepared.group_members()
    if job.prepared.rows.names is not None:
        model.feature_names_in_ = job.prepared.rows.names
    return model


def _chosen_point(pick: Pick, trace: Trace) -> Solution:
    """Return the chosen point of the path."""
    # The path ends where the last feature leaves; beyond, nothing changes.
    return trace.points[min(pick.point, len(trace.points) - 1)]


def _prepare_all_rows(template: Any, searched: Job, data: Data, n_centers: int | None) -> Job:
    """Prepare all rows as those of the search were, with another number of centers."""
    template = clone(template).set_params(n_centers=n_centers)
    job = prepare_job(template, data.X, data.y, data.sample_weight)
    job.prepared.rows.names = searched.prepared.rows.names
    return job


def _solve(pick: Pick, job: Job, w: np.ndarray, sparsity: float) -> Solution:
    """Return the solution for what is to become of the weights, beginning with some weights."""
    if pick.weighting == EQUAL:
        return equal_weights(job.problem)
    solver = make_solver(pick.line.template)
    if pick.weighting == RELAXED:
        return refit_without_penalty(job.problem, solver, w)
    return solver.solve(job.problem, w, sparsity)
