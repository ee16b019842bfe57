"""The paper's Algorithm 2: raise the penalty from zero until every weight is zero.

The points of the path are placed where features leave (:mod:`kernelknife._engine.search.grid`)
and solved with warm starts of the weights, the coefficients and the damping of the curvature model.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from kernelknife._engine.objective import IndefiniteKernelError, Problem
from kernelknife._engine.search.grid import (
    PathStart,
    can_lose_features,
    penalties_beyond,
    place_convex_points,
    place_points,
    sparsest_state,
)
from kernelknife._engine.search.starts import Start, StartSettings, empty_state, make_starts, relax
from kernelknife._engine.solvers import Solution, Solver
from kernelknife._utils.progress import SILENT, Progress

Until: TypeAlias = Callable[[Solution], bool]

__all__ = [
    "Trace",
    "choose_quickly",
    "choose_start",
    "find_last_penalty",
    "follow_path",
    "rank_features",
]


@dataclass(frozen=True)
class PathConstants:
    """How a path chooses its start, and how a multimodal one is corrected.

    What they find is measured by benchmarks/recovery.py.

    Attributes
    ----------
    probe : float
        The penalty at which starts are compared, as a share of the constant model's objective: one
        at which features of moderate strength still count. Without a penalty noise can fit as well
        as signal does. There, too, a multimodal path gets its second chance.
    probe_tol, tie : float
        The comparison is loose, and starts whose objectives differ by less than a tie are equal.
    taken_back, weight_back : int, float
        Features that come back for a second chance: this multiple of those that remain, at this
        share of their mean weight. Most of them leave again.
    climbs, climb_tol : int, float
        Solves at most on the way to the last penalty, which grows by less than this share in the
        end. As a rule three or four do.
    near, missed, rough : float
        A convex problem of many columns is solved in those whose gradient is this share of the next
        penalty or more, and again with others whose gradient then exceeds it by a share. It begins
        at rough coefficients.
    """

    probe: float = 0.03
    probe_tol: float = 1e-2
    tie: float = 2e-2
    taken_back: int = 3
    weight_back: float = 0.6
    climbs: int = 20
    climb_tol: float = 1e-3
    near: float = 0.6
    missed: float = 1e-3
    rough: float = 1e-3


PATH = PathConstants()


@dataclass(frozen=True)
class Trace:
    """Solutions along a path, without their matrices.

    Attributes
    ----------
    points : tuple of Solution
    start : str
        Name of the selected start.
    n_factorizations : int
        Every factorization, those of starts and of placing the points included.
    tie_break : ndarray of shape (n_weights,)
        Ranks features that are gone at the first point: those that left later during the start
        come first, then those that would help more.
    begun : Start
        The selected start; a path of the same rows with another ``alpha`` can begin there too.
    """

    points: tuple[Solution, ...]
    start: str
    n_factorizations: int
    tie_break: np.ndarray
    begun: Start


def rank_features(weights: np.ndarray, tie_break: np.ndarray | None = None) -> np.ndarray:
    """Rank features by the reverse of their elimination order along a path.

    Parameters
    ----------
    weights : ndarray of shape (n_points, n_weights)
    tie_break : ndarray of shape (n_weights,), default=None
        Ranks features that no point has, the larger the better.

    Returns
    -------
    ndarray of int of shape (n_weights,)
        1 for the one that remains active longest; ties go to the larger last weight. The position
        of a column decides only between columns that are copies of each other.
    """
    active = weights > 0
    last = np.where(active.any(axis=0), len(weights) - 1 - np.argmax(active[::-1], axis=0), -1)
    final = weights[np.maximum(last, 0), np.arange(weights.shape[1])]
    later = np.zeros(weights.shape[1]) if tie_break is None else tie_break
    ranking = np.empty(weights.shape[1], dtype=int)
    ranking[np.lexsort((-later, -final, -last))] = np.arange(1, weights.shape[1] + 1)
    return ranking


def choose_start(problem: Problem, solver: Solver, starts: list[Start]) -> PathStart:
    """Return the start whose relaxed weights do best at a moderate penalty."""
    loose = solver.loosened(PATH.probe_tol)
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
        probe = loose.solve(problem, first.without_memory(), PATH.probe * problem.null_value)
        spent += probe.n_factorizations
        candidates.append((start, first, probe))
    if not candidates:
        raise failure or ValueError("There is no start to choose from.")
    # Starts that do equally well there differ in how much else they have found.
    best = min(probe.objective for *_, probe in candidates)
    equal = [entry for entry in candidates if entry[2].objective <= (1.0 + PATH.tie) * best]
    return PathStart(*min(equal, key=lambda entry: entry[1].objective), spent)


def choose_quickly(problem: Problem, solver: Solver, settings: StartSettings) -> PathStart:
    """Return the best start but the one of equal weights, which is hardly ever better.

    It takes longer than the others together.
    """
    begin = problem.run_on_sample(_choose_on_sample, solver, settings)
    starts = make_starts(problem, settings) if begin is None else [begin]
    others = [start for start in starts if start.name != "scaled"]
    return choose_start(problem, solver, others or starts)


def find_last_penalty(
    problem: Problem, solver: Solver, settings: StartSettings
) -> tuple[float, Solution]:
    """Return the largest penalty at which a model with features is better than the empty one.

    It is the largest gain over the empty model per unit of weight. Of any model, that ratio is a
    penalty up to which the model pays: solved there, the next model has a larger one, until none
    has (Dinkelbach, 1967). A few solves take the place of a path.

    Returns
    -------
    penalty : float
        0 where no model pays.
    last : Solution
        The model that pays longest, without its state.
    """
    chosen = choose_quickly(problem, solver, settings)
    loose = solver.loosened(PATH.probe_tol)
    here = chosen.probe
    if here is None:
        probe = PATH.probe * problem.null_value
        here = loose.solve(problem, chosen.first.without_memory(), probe)
    free, ceiling = problem.costs == 0, problem.null_value
    if free.any():
        # Nothing that costs something enters at such a penalty.
        alone = np.where(free, chosen.first.w, 0.0)
        ceiling = loose.solve(problem, alone, 1e9 * problem.null_value).objective

    # No feature is dropped on trial: single ones of noise that pay longer would be found.
    penalty, last = 0.0, here
    for _ in range(PATH.climbs):
        slope = float(problem.costs @ here.w)
        ratio = here.sparsity + (ceiling - here.objective) / slope if slope > 0 else 0.0
        if ratio <= penalty * (1.0 + PATH.climb_tol):
            break
        penalty, last = ratio, here
        here = loose.solve(problem, here.damped_at_most(1.0), penalty)
    return penalty, last.without_state()


def follow_path(
    problem: Problem,
    solver: Solver,
    settings: StartSettings,
    sparsities: int | np.ndarray = 50,
    *,
    updates_per_point: int | None = None,
    begin: Start | None = None,
    until: Until | None = None,
    progress: Progress = SILENT,
) -> Trace:
    """Follow the weights from no penalty until all are zero.

    Parameters
    ----------
    sparsities : int or ndarray
        Number of points, or the increasing penalties themselves.
    updates_per_point : int, default=None
        Steps of the solver per point; None solves every point to its tolerance.
    begin : Start, default=None
        Where to begin; None makes the starts that the settings ask for and takes the best.
    until : callable, default=None
        Called with every point of a path of rising penalties, which ends where it returns True.
    progress : Progress
        Parent of the progress reports.
    """
    if begin is None:
        # Many rows choose their start on some of them.
        begin = problem.run_on_sample(_choose_on_sample, solver, settings)
    starts = make_starts(problem, settings) if begin is None else [begin]
    if problem.convex and updates_per_point is None:
        return _follow_convex(problem, solver, starts, sparsities, progress)
    step = solver
    if updates_per_point is not None:
        step = solver.loosened(solver.tol, updates_per_point)
    return _follow_up(problem, solver, step, starts, sparsities, until, progress)


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
    until: Until | None,
    progress: Progress,
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
    spent += 0 if nothing is None else nothing.inner.factorizations
    points: list[Solution] = []
    here = chosen.first
    second_chance = PATH.probe * problem.null_value if problem.kernel.multimodal else np.inf
    if chosen.start.sparsity >= second_chance:
        second_chance = np.inf  # the path that the start comes from has had it
    # The path may turn out longer than its grid.
    goes_on = extends and grid[-1] > 0
    for sparsity in [*grid, *penalties_beyond(grid[-1])] if goes_on else grid:
        with progress.subtask("point"):
            here = step.solve(problem, here.damped_at_most(1.0), float(sparsity))
            if sparsity >= second_chance:
                here = _with_second_chance(problem, step, chosen.first, here)
                second_chance = np.inf
        if nothing is not None and here.objective > nothing.smooth:
            # Beyond this penalty the empty model is better.
            here = here.emptied(nothing)
        spent += here.n_factorizations
        points.append(here.without_state())
        if progress.stopped or (len(points) >= len(grid) and not extends):
            break
        if until is not None and until(points[-1]):
            break
        # Where zero is not absorbing, few updates may overshoot and come back.
        if not problem.convex and not can_lose_features(problem, here) and sparsity > 0:
            break
    ranks = _tie_break(problem, chosen.first)
    begun = replace(chosen.start, factorizations=0)
    return Trace(tuple(points), begun.name, spent, ranks, begun)


def _with_second_chance(
    problem: Problem, step: Solver, first: Solution, here: Solution
) -> Solution:
    """Return a point of a path, or a better one at the same penalty.

    As the penalty rises, weights stay near the local minimum that they are in. Where there are
    many, small penalties drive out features that are worth more later than some of those that are
    left. Two other ways to the same penalty are tried, and the lowest objective counts: to apply it
    at once to the weights that the path began with, and to take back features that are gone.
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

    Often one of two interacting features is left, and by the gradient of the model that has it the
    other one would help most.
    """
    w = here.w.copy()
    left, gone = np.flatnonzero(w), np.flatnonzero(w == 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        help_ = problem.potential(here.state)[gone] / problem.costs[gone]
    back = gone[np.argsort(-help_, kind="stable")[: PATH.taken_back * len(left)]]
    w[back] = PATH.weight_back * w[left].mean()
    return w


def _tie_break(problem: Problem, first: Solution) -> np.ndarray:
    """Return numbers that rank features which no point of the path has, the larger the better."""
    left_at = first.left_at if first.left_at is not None else np.zeros(problem.n_weights)
    help_ = problem.potential(first.state)
    # Between 0 and 1, so that it decides only among features that left at the same time.
    size = float(np.abs(help_).max(initial=0.0)) or 1.0
    return left_at + 0.5 * (1.0 + np.clip(help_ / size, -1.0, 1.0 - 1e-12))


def _solve_wide(problem: Problem, here: Solution, sparsity: float, solver: Solver) -> Solution:
    """Solve a convex problem of many columns in those that may come in, and check the others.

    As long as no weight is 1, those of the same function are proportional to the inverse root of
    the penalty, which is where it begins.
    """
    penalty = sparsity * problem.costs
    growth = np.sqrt(here.sparsity / sparsity) if np.isfinite(here.sparsity) else 1.0
    w = np.minimum(here.w * growth, 1.0)
    slope = problem.gradient(here.state)
    near = (w > 0) | (slope < -PATH.near * penalty)
    near[np.argmin(slope)] = True  # a problem without any column has no weights to solve for
    warm, damping, spent = here.state.warm, here.damping, 0
    while True:
        kept = np.flatnonzero(near)
        some = problem.restricted(kept)
        state = some.solve(w[kept], warm, tol=PATH.rough)
        objective = state.smooth + float(penalty @ w)
        begun = Solution.at(state, sparsity, objective, damping=damping).damped_at_most(1.0)
        part = solver.solve(some, begun, sparsity)
        w = np.zeros(problem.n_weights)
        w[kept] = part.w
        whole = problem.solve(w, part.state.warm)
        spent += state.inner.factorizations + part.n_factorizations + whole.inner.factorizations
        missed = ~near & (problem.gradient(whole) < -(1.0 + PATH.missed) * penalty)
        if not missed.any():
            break
        near, warm, damping = near | missed, whole.warm, part.damping
    objective = whole.smooth + float(penalty @ w)
    factorizations = (*part.factorizations[:-1], spent)
    return replace(part, factorizations=factorizations, left_at=None).moved(whole, objective)


def _follow_convex(
    problem: Problem,
    solver: Solver,
    starts: list[Start],
    sparsities: int | np.ndarray,
    progress: Progress,
) -> Trace:
    """Follow a convex problem from where nothing is left down to no penalty.

    Its solutions do not depend on where they are approached from, and on this side few weights
    are active.
    """
    nothing = sparsest_state(problem)
    spent = nothing.inner.factorizations
    here = Solution.at(nothing, np.inf, nothing.smooth)
    if np.ndim(sparsities) == 0:
        grid, factorizations = place_convex_points(problem, solver, here, int(sparsities))
        spent += factorizations
    else:
        grid = np.asarray(sparsities, dtype=float)
    # Without columns that are always kept, and with weights that scale the kernel.
    wide = problem.n_weights > problem.n_rows and problem.features.kept is None
    solve = partial(_solve_wide, solver=solver) if wide else solver.solve
    points: list[Solution] = []
    for sparsity in grid[::-1]:
        with progress.subtask("point"):
            if sparsity > 0:
                here = solve(problem, here.damped_at_most(1.0), float(sparsity))
            else:
                # Without a penalty all weights at 1 are the minimum.
                all_in = problem.solve(np.ones(problem.n_weights))
                spent += all_in.inner.factorizations
                begun = Solution.at(all_in, 0.0, all_in.smooth, damping=here.damping)
                here = solver.solve(problem, begun.damped_at_most(1.0), 0.0)
        spent += here.n_factorizations
        points.append(here.without_state())
        if progress.stopped:
            break
    points.reverse()
    # As with rising penalties, what lies past the last feature is not part of the path.
    costly = problem.costs > 0
    empty = [i for i, p in enumerate(points) if p.sparsity > 0 and not p.w[costly].any()]
    if empty:
        points = points[: empty[0] + 1]
    return Trace(tuple(points), starts[0].name, spent, problem.potential(nothing), starts[0])
