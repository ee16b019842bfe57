"""The paper's Algorithm 2: raise the penalty from zero until every weight is zero.

The points of the path are placed where features leave (:mod:`kernelknife._engine.search.grid`)
and solved with warm starts of the weights, the coefficients and the damping of the curvature model.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from kernelknife._engine.objective import IndefiniteKernelError, Problem
from kernelknife._engine.search.grid import (
    PathStart,
    is_alive,
    penalties_beyond,
    place_convex_points,
    place_points,
    sparsest_state,
)
from kernelknife._engine.search.starts import Start, StartSettings, empty_state, make_starts, relax
from kernelknife._engine.solvers import Solution, Solver
from kernelknife._utils.progress import SILENT, Task

__all__ = ["Trace", "choose_start", "follow_path", "rank_features"]

# The penalty at which starts are compared, as a share of the constant model's objective: one
# at which features of moderate strength still count. At zero penalty noise can fit as well as
# signal does. The comparison is loose, and starts within a tie count as equal.
PROBE, PROBE_TOL, PROBE_TIE = 0.03, 1e-2, 2e-2
# Features that come back for a second chance: so many times as many as are left, at this share of
# their mean weight. Most of them leave again.
TAKEN_BACK, WEIGHT_BACK = 3, 0.6


@dataclass(frozen=True)
class Trace:
    """Solutions along a path, without their matrices.

    Attributes
    ----------
    points : tuple of Solution
    start : str
        Name of the start that won.
    n_factorizations : int
        Every factorization, those of starts and of placing the points included.
    tie_break : ndarray of shape (n_weights,)
        Ranks features that are gone at the first point: those that left later during the start
        come first, then those that would help more.
    begun : Start
        The start that won; a path of the same rows with another ``alpha`` can begin there too.
    """

    points: tuple[Solution, ...]
    start: str
    n_factorizations: int
    tie_break: np.ndarray
    begun: Start


def rank_features(weights: np.ndarray, tie_break: np.ndarray | None = None) -> np.ndarray:
    """Rank features by how long they survive along a path.

    Parameters
    ----------
    weights : ndarray of shape (n_points, n_weights)
    tie_break : ndarray of shape (n_weights,), default=None
        Ranks features that no point has, the larger the better.

    Returns
    -------
    ndarray of int of shape (n_weights,)
        1 for the one that survives longest; ties go to the larger last weight. The position of
        a column decides only between columns that are copies of each other.
    """
    alive = weights > 0
    last = np.where(alive.any(axis=0), len(weights) - 1 - np.argmax(alive[::-1], axis=0), -1)
    final = weights[np.maximum(last, 0), np.arange(weights.shape[1])]
    later = np.zeros(weights.shape[1]) if tie_break is None else tie_break
    ranking = np.empty(weights.shape[1], dtype=int)
    ranking[np.lexsort((-later, -final, -last))] = np.arange(1, weights.shape[1] + 1)
    return ranking


def choose_start(problem: Problem, solver: Solver, starts: list[Start]) -> PathStart:
    """Return the start whose relaxed weights do best at a moderate penalty."""
    loose = solver.loosened(PROBE_TOL)
    candidates: list[tuple[Start, Solution, Solution]] = []
    spent, failure = 0, None
    for start in starts:
        try:
            first = relax(problem, solver, start)
        except IndefiniteKernelError as error:
            failure = error
            continue
        spent += start.factorizations + first.n_factorizations
        if len(starts) == 1:
            return PathStart(start, first, None, spent)
        probe = loose.solve(problem, first.without_memory(), PROBE * problem.null_value)
        spent += probe.n_factorizations
        candidates.append((start, first, probe))
    if not candidates:
        raise failure or ValueError("There is no start to choose from.")
    # Starts that do equally well there differ in how much else they have found.
    best = min(probe.objective for *_, probe in candidates)
    equal = [entry for entry in candidates if entry[2].objective <= (1.0 + PROBE_TIE) * best]
    return PathStart(*min(equal, key=lambda entry: entry[1].objective), spent)


def follow_path(
    problem: Problem,
    solver: Solver,
    settings: StartSettings,
    sparsities: int | np.ndarray = 50,
    *,
    updates_per_point: int | None = None,
    begin: Start | None = None,
    task: Task = SILENT,
) -> Trace:
    """Follow the weights from no penalty until all are zero.

    Parameters
    ----------
    problem : Problem
    solver : Solver
    settings : StartSettings
    sparsities : int or ndarray
        Number of points, or the increasing penalties themselves.
    updates_per_point : int, default=None
        Steps of the solver per point; None solves every point to its tolerance.
    begin : Start, default=None
        Where to begin; None makes the starts that the settings ask for and takes the best.
    task : Task
        Parent of the progress reports.
    """
    starts = [begin] if begin is not None else _find_starts(problem, solver, settings)
    if problem.convex and updates_per_point is None:
        trace = _follow_convex(problem, solver, starts, sparsities, task)
    else:
        step = solver
        if updates_per_point is not None:
            step = solver.loosened(solver.tol, updates_per_point)
        trace = _follow_up(problem, solver, step, starts, sparsities, task)
    problem.forget()
    return trace


def _find_starts(problem: Problem, solver: Solver, settings: StartSettings) -> list[Start]:
    """Return the starts to choose from; many rows choose on some of them."""
    small = problem.run_on_sample(_choose_on_sample, solver, settings)
    return make_starts(problem, settings) if small is None else [small]


def _choose_on_sample(problem: Problem, solver: Solver, settings: StartSettings) -> Start:
    """Return the best start of a path, relaxed."""
    chosen = choose_start(problem, solver, make_starts(problem, settings))
    return Start(chosen.start.name, chosen.first.w, factorizations=chosen.n_factorizations)


def _follow_up(
    problem: Problem,
    solver: Solver,
    step: Solver,
    starts: list[Start],
    sparsities: int | np.ndarray,
    task: Task,
) -> Trace:
    """Raise the penalty from zero, each point starting from the one before."""
    chosen = choose_start(problem, solver, starts)
    spent = chosen.n_factorizations
    if np.ndim(sparsities) == 0:
        place = place_convex_points if problem.convex else place_points
        grid, factorizations = place(problem, solver, chosen, int(sparsities))
        spent, extends = spent + factorizations, not problem.convex
    else:
        grid, extends = np.asarray(sparsities, dtype=float), False
    costs_nothing = (problem.costs == 0).any()
    nothing = None if problem.convex or costs_nothing else empty_state(problem)
    points: list[Solution] = []
    here = chosen.first
    second_chance = PROBE * problem.null_value if problem.kernel.multimodal else np.inf
    for sparsity in _extended(grid, extends):
        with task.subtask("point"):
            here = step.solve(problem, here.damped_at_most(1.0), float(sparsity))
            if sparsity >= second_chance:
                here = _with_second_chance(problem, step, chosen.first, here)
                second_chance = np.inf
        if nothing is not None and here.objective > nothing.smooth:
            # Beyond this penalty the empty model is better.
            here = here.emptied(nothing)
        spent += here.n_factorizations
        points.append(here.without_state())
        if task.stopped or (len(points) >= len(grid) and not extends):
            break
        # Where zero is not absorbing, few updates may overshoot and come back.
        if not problem.convex and not is_alive(problem, here) and sparsity > 0:
            break
    ranks = _tie_break(problem, chosen.first)
    begun = replace(chosen.start, factorizations=0)
    return Trace(tuple(points), begun.name, spent, ranks, begun)


def _with_second_chance(
    problem: Problem, step: Solver, first: Solution, here: Solution
) -> Solution:
    """Return a point of a path, or a better one at the same penalty.

    On the way up weights follow the valley that they are in. Where the objective has many, small
    penalties drive out features that are worth more later than some of those that are left. Two
    other ways to the same penalty are tried, and the lowest end counts: to apply it at once to the
    weights that the path began with, and to take back features that are gone.
    """
    at_once = step.solve(problem, first.without_memory(), here.sparsity)
    ends = [here, at_once]
    best = min(ends, key=lambda end: end.objective)
    if best.w.any():
        ends.append(step.solve(problem, _take_back(problem, best), here.sparsity))
        best = min(ends, key=lambda end: end.objective)
    spent = sum(end.n_factorizations for end in ends if end is not best)
    return replace(best, factorizations=tuple(spent + count for count in best.factorizations))


def _take_back(problem: Problem, here: Solution) -> np.ndarray:
    """Return the weights with those features back that would help the model most.

    One half of a pair is often left, and the gradient of the model that has it points at the
    other half.
    """
    w = here.w.copy()
    left, gone = np.flatnonzero(w), np.flatnonzero(w == 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        help_ = problem.potential(here.state)[gone] / problem.costs[gone]
    back = gone[np.argsort(-help_, kind="stable")[: TAKEN_BACK * len(left)]]
    w[back] = WEIGHT_BACK * w[left].mean()
    return w


def _tie_break(problem: Problem, first: Solution) -> np.ndarray:
    """Return numbers that rank features which no point of the path has, the larger the better."""
    left_at = first.left_at if first.left_at is not None else np.zeros(problem.n_weights)
    help_ = problem.potential(first.state)
    # Between 0 and 1, so that it decides only among features that left at the same time.
    size = float(np.abs(help_).max(initial=0.0)) or 1.0
    return left_at + 0.5 * (1.0 + np.clip(help_ / size, -1.0, 1.0 - 1e-12))


def _extended(grid: np.ndarray, extends: bool) -> Iterator[float]:
    """Yield the grid, then go on past its end where the path turns out longer."""
    yield from grid
    if extends and grid[-1] > 0:
        yield from penalties_beyond(grid[-1])


def _follow_convex(
    problem: Problem,
    solver: Solver,
    starts: list[Start],
    sparsities: int | np.ndarray,
    task: Task,
) -> Trace:
    """Follow a convex problem from where nothing is left down to no penalty.

    Its solutions do not depend on where they are approached from, and on this side few weights
    are in play.
    """
    nothing = sparsest_state(problem)
    spent = nothing.inner.factorizations
    here = Solution.at(nothing, np.inf, nothing.smooth)
    if np.ndim(sparsities) == 0:
        grid, factorizations = place_convex_points(problem, solver, here, int(sparsities))
        spent += factorizations
    else:
        grid = np.asarray(sparsities, dtype=float)
    points: list[Solution] = []
    for sparsity in grid[::-1]:
        with task.subtask("point"):
            if sparsity > 0:
                here = solver.solve(problem, here.damped_at_most(1.0), float(sparsity))
            else:
                # Without a penalty all weights at 1 are the minimum.
                all_in = problem.solve(np.ones(problem.n_weights))
                spent += all_in.inner.factorizations
                begun = Solution.at(all_in, 0.0, all_in.smooth, damping=here.damping)
                here = solver.solve(problem, begun.damped_at_most(1.0), 0.0)
        spent += here.n_factorizations
        points.append(here.without_state())
        if task.stopped:
            break
    points.reverse()
    # As on the way up, what lies past the last feature is not part of the path.
    costly = problem.costs > 0
    empty = [i for i, p in enumerate(points) if p.sparsity > 0 and not p.w[costly].any()]
    if empty:
        points = points[: empty[0] + 1]
    return Trace(tuple(points), starts[0].name, spent, problem.potential(nothing), starts[0])
