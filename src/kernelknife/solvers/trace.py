"""The paper's Algorithm 2: raise the penalty from zero until every weight is zero.

A few loose solutions, each at the penalty up to which the one before says that features stay, tell
where features leave and where the last one does. The points of the path are then placed there and
solved with warm starts of the weights, the coefficients and the damping of the curvature model.
"""

from dataclasses import dataclass, replace

import numpy as np

from kernelknife._support.progress import SILENT, Task
from kernelknife.coefficients import IndefiniteKernelError
from kernelknife.nystrom import NystromProblem
from kernelknife.problem import Problem, State
from kernelknife.solvers.base import Solution
from kernelknife.solvers.starts import Start, relaxed

__all__ = ["Trace", "choose_start", "exactly", "trace_path"]

SWEEP_FIRST = 1e-3  # smallest positive penalty, as a share of the constant machine's objective
SWEEP_FACTOR = 8.0
SWEEP_MAX = 10
SWEEP_NEAR = 1.15  # the end is near where the next penalty is less than this factor away
SWEEP_TOL = 1e-2
SWEEP_ITER = 2  # steps per penalty of the sweep: it only has to tell roughly where features leave
PROBE = 0.03  # penalty at which starts are compared, as the same share
PROBE_TOL = 1e-2
PROBE_TIE = 2e-2  # starts this close there count as equal: the probes are loose
EXTENSION = 50  # most points added where the path turns out longer than the sweep


@dataclass(frozen=True)
class Trace:
    """Solutions along a path, without their matrices."""

    points: tuple[Solution, ...]
    start: str
    n_solves: int  # every factorisation, those of starts and of the sweep included


@dataclass(frozen=True)
class Beginning:
    """Where a path begins."""

    start: Start
    first: Solution  # without a penalty
    probe: Solution | None  # at the penalty at which starts were compared, if they were
    n_solves: int


def choose_start(problem: Problem, solver, starts: list[Start]) -> Beginning:
    """Return the start whose relaxed weights do best at a moderate penalty.

    At zero penalty noise can fit as well as signal does; a moderate one tells them apart.
    """
    loose = _loose(solver, PROBE_TOL)
    candidates, spent, failure = [], 0, None
    for start in starts:
        try:
            first = relaxed(problem, solver, start)
        except IndefiniteKernelError as error:
            failure = error
            continue
        spent += start.solves + first.n_solves
        if len(starts) == 1:
            return Beginning(start, first, None, spent)
        probe = loose.solve(problem, first.state, PROBE * problem.null_value)
        spent += probe.n_solves
        candidates.append((start, first, probe))
    if not candidates:
        raise failure or ValueError("There is no start to choose from.")
    # Starts that do equally well there differ in how much else they have found.
    best = min(probe.objective for *_, probe in candidates)
    equal = [found for found in candidates if found[2].objective <= (1.0 + PROBE_TIE) * best]
    return Beginning(*min(equal, key=lambda found: found[1].objective), spent)


def trace_path(
    problem: Problem,
    solver,
    starts: list[Start],
    sparsities: int | np.ndarray = 50,
    *,
    updates_per_point: int | None = None,
    task: Task = SILENT,
) -> Trace:
    """Follow the weights from no penalty until all are zero.

    Parameters
    ----------
    problem : Problem
    solver : Eliminate or Alternate
    starts : list of Start
    sparsities : int or ndarray
        Number of points, or the increasing penalties themselves.
    updates_per_point : int, default=None
        Steps of the solver per point; None solves every point to its tolerance.
    task : Task
        Parent of the progress reports.
    """
    if problem.kernel.convex and updates_per_point is None:
        return _trace_convex(problem, solver, starts, sparsities, task)
    beginning = choose_start(problem, solver, starts)
    first, spent = beginning.first, beginning.n_solves
    if np.ndim(sparsities) == 0:
        extend = not problem.kernel.convex
        if extend:
            grid, solves = place_points(problem, solver, beginning, int(sparsities))
        else:
            end = _sparsest(problem)
            spent += end.inner.solves
            grid, solves = _place_convex(problem, solver, end, int(sparsities))
        spent += solves
    else:
        grid, extend = np.asarray(sparsities, dtype=float), False
    step = solver
    if updates_per_point is not None:
        step = replace(_loose(solver, solver.tol), max_iter=updates_per_point)
    points: list[Solution] = []
    here, damping, waits = first.state, first.damping, first.waits
    nothing = _nothing(problem)
    for sparsity in _onwards(grid, extend):
        with task.subtask("point"):
            found = step.solve(
                problem, here, float(sparsity), damping=min(damping, 1.0), waits=waits
            )
        if nothing is not None and found.objective > nothing.smooth and not problem.kernel.convex:
            found = _emptied(found, nothing)
        spent += found.n_solves
        here, damping, waits = found.state, found.damping, found.waits
        points.append(found.light())
        if task.stopped or (len(points) >= len(grid) and not extend):
            break
        # Where zero is not sticky, few updates may overshoot and come back.
        if not problem.kernel.convex and not _alive(problem, found) and sparsity > 0:
            break
    problem.forget()
    return Trace(tuple(points), beginning.start.name, spent)


def _trace_convex(problem, solver, starts, sparsities, task):
    """Follow a convex problem from where nothing is left down to no penalty.

    Its solutions do not depend on where they are approached from, and on this side few weights
    are in play.
    """
    here, damping = _sparsest(problem), None
    spent = here.inner.solves
    if np.ndim(sparsities) == 0:
        grid, sweep_solves = _place_convex(problem, solver, here, int(sparsities))
        spent += sweep_solves
    else:
        grid = np.asarray(sparsities, dtype=float)
    points: list[Solution] = []
    for sparsity in grid[::-1]:
        with task.subtask("point"):
            # Without a penalty all weights at 1 are the minimum.
            origin = here if sparsity > 0 else np.ones(problem.n_weights)
            found = solver.solve(problem, origin, float(sparsity), damping=damping)
        spent += found.n_solves
        here, damping = found.state, min(found.damping, 1.0)
        points.append(found.light())
        if task.stopped:
            break
    points.reverse()
    # As on the way up, what lies past the last feature is not part of the path.
    costly = problem.costs > 0
    empty = [i for i, p in enumerate(points) if p.sparsity > 0 and not p.w[costly].any()]
    if empty:
        points = points[: empty[0] + 1]
    problem.forget()
    return Trace(tuple(points), starts[0].name, spent)


def _sparsest(problem) -> State:
    """Return where a convex path ends: weights that cost nothing stay, at 1, the others are out."""
    return problem.solve((problem.costs == 0).astype(float))


def _place_convex(problem, solver, nothing: State, n_points):
    """Return a grid from zero to where the first feature comes in, denser where others do."""
    if n_points == 1:
        return np.zeros(1), 0
    costly = problem.costs > 0
    gains = -problem.gradient(nothing)[costly] / problem.costs[costly]
    top = float(gains.max(initial=0.0)) or problem.null_value
    loose = _loose(solver, SWEEP_TOL)
    here, damping, spent = nothing, None, 0
    seen = [(top * (1.0 + 1e-9), 0)]
    lowest = min(SWEEP_FIRST * problem.null_value, top / SWEEP_FACTOR)
    while seen[-1][0] > lowest:
        sparsity = max(seen[-1][0] / SWEEP_FACTOR, lowest)
        found = loose.solve(problem, here, sparsity, damping=damping)
        spent += found.n_solves
        here, damping = found.state, min(found.damping, 1.0)
        seen.append((sparsity, int(np.count_nonzero(found.w))))
    seen.reverse()
    return _spread_points(seen, lowest / SWEEP_FACTOR, n_points), spent


def place_points(problem: Problem, solver, beginning: Beginning, n_points: int):
    """Return a grid from zero to where the last feature leaves, and the solves it took.

    Half of the points are spread evenly over the logarithm of the penalty, half go where the
    number of features falls.
    """
    if n_points == 1:
        return np.zeros(1), 0
    first, probe, spent = beginning.first, beginning.probe, 0
    seen = [(0.0, int(np.count_nonzero(first.w)))]
    here, lowest = first, SWEEP_FIRST * problem.null_value
    if probe is not None and _alive(problem, probe):
        seen.append((probe.sparsity, int(np.count_nonzero(probe.w))))
        here = probe
    ceiling, solves = _ceiling(problem, first)
    spent += solves
    for _ in range(SWEEP_MAX):
        reach = max(_reach(problem, here, ceiling), lowest)
        found, alive, solves = _glance(problem, solver, here, reach)
        spent += solves
        if not alive:
            break
        seen.append((reach, int(np.count_nonzero(found.w))))
        near, here = reach < SWEEP_NEAR * here.sparsity, found
        if near:
            reach = 1.02 * _reach(problem, here, ceiling)
            break
    # The last ones leave together as a rule: not all of their points belong right before the end.
    seen = [(sparsity, count) for sparsity, count in seen if SWEEP_NEAR * sparsity < reach]
    seen.append((reach, 0))
    return _spread_points(seen, lowest / SWEEP_FACTOR, n_points), spent


def _ceiling(problem, first: Solution):
    """Return the objective once all features that cost something are out, and the solves it took.

    Where some cost nothing it is an estimate, with their weights as they are without a penalty.
    """
    free = problem.costs == 0
    if not free.any():
        return problem.null_value, 0
    try:
        state = problem.solve(np.where(free, first.w, 0.0))
    except IndefiniteKernelError:
        return problem.null_value, 0
    return state.smooth, state.inner.solves


def _reach(problem, solution, ceiling):
    """Return a penalty up to which features stay, larger than that of the solution.

    The objective is concave in the penalty, with the sum of the weights for its slope: it cannot
    reach the ceiling before the line does.
    """
    slope = float(problem.costs @ solution.w)
    rise = ceiling - solution.objective
    further = rise / slope if rise > 0.0 < slope else 0.0
    return max(solution.sparsity + further, 1.01 * solution.sparsity)


def _glance(problem, solver, here, sparsity):
    """Take few loose steps; return the solution, whether it is alive, and the solves it took."""
    loose = _loose(solver, SWEEP_TOL)
    found = replace(loose, max_iter=SWEEP_ITER).solve(
        problem, here.state, sparsity, damping=min(here.damping, 1.0)
    )
    spent, alive = found.n_solves, _alive(problem, found)
    if not alive and found.w.any():
        # Few steps after a jump of the penalty may stand above the empty machine.
        found = loose.solve(problem, found.state, sparsity)
        spent, alive = spent + found.n_solves, _alive(problem, found)
    return found, alive, spent


def _spread_points(seen, lowest, n_points):
    """Return zero and points from ``lowest`` on, half of them where features leave."""
    where = np.log([max(s, lowest) for s, _ in seen])
    count = np.log1p([c for _, c in seen])
    even = (where - where[0]) / max(where[-1] - where[0], 1e-300)
    fallen = np.maximum.accumulate(count[0] - count) / max(count[0], 1e-300)
    measure = 0.5 * (even + fallen)
    ticks = np.linspace(0.0, measure[-1], n_points)[1:]
    grid = np.exp(np.interp(ticks, measure, where))
    grid[-1] = seen[-1][0]
    return np.concatenate([[0.0], grid])


def _alive(problem, solution):
    """Whether a feature is left that a larger penalty could still drive out."""
    free = problem.costs == 0
    # A convex problem has no dead branches: few updates per point may lag behind the penalty.
    convex = problem.kernel.convex
    worth = convex or free.any() or solution.objective < problem.null_value
    return solution.w[~free].any() and worth


def _nothing(problem):
    """Return the machine without features, None where it is no way out.

    A feature that costs nothing need not leave, and an indefinite kernel may have no such
    machine.
    """
    if (problem.costs == 0).any():
        return None
    try:
        return problem.solve(np.zeros(problem.n_weights))
    except IndefiniteKernelError:
        return None


def _emptied(solution, nothing: State):
    """Return the solution with all weights at zero: above it, a path is a dead branch."""
    return replace(
        solution.moved(nothing, nothing.smooth),
        history=(*solution.history, nothing.smooth),
        solves=(*solution.solves, solution.n_solves),
        kkt_residual=0.0,
        converged=True,
        message="converged",
    )


def exactly(problem: Problem | NystromProblem, solver, trace: Trace, n_select: int) -> Solution:
    """Return a solution with exactly ``n_select`` weights, from the neighbourhood of a path.

    Where the path skips that number, the largest weights of a point with the next larger
    number are solved for alone, with the penalty lowered until all of them stay.
    """
    counts = np.array([np.count_nonzero(point.w) for point in trace.points])
    exact = np.flatnonzero(counts == n_select)
    if len(exact):
        return trace.points[exact[0]]
    # As with an exact number, the smallest penalty at which that many are left.
    more = counts[counts > n_select]
    origin = trace.points[int(np.argmax(counts == more.min())) if len(more) else 0]
    kept = np.sort(np.argsort(-origin.w, kind="stable")[:n_select])
    alone = problem.with_weights(kept)
    start = np.maximum(origin.w[kept], 1e-2)
    loose = _loose(solver, solver.tol)
    sparsity = origin.sparsity
    while True:
        found = loose.solve(alone, start, sparsity)
        if np.count_nonzero(found.w) == n_select:
            break
        if sparsity == 0.0:
            # Even without a penalty one of them has no use; it stays at its starting weight.
            state = alone.solve(np.where(found.w > 0, found.w, start))
            gradient = alone.gradient(state)
            found = replace(
                found.moved(state, state.smooth),
                history=(state.smooth,),
                solves=(found.n_solves + state.inner.solves,),
                kkt_residual=alone.optimality(state.w, np.arange(n_select), gradient),
                converged=False,
                message=f"fewer than {n_select} features lower the objective",
            )
            break
        sparsity = sparsity / 4.0 if sparsity > 1e-6 * problem.null_value else 0.0
    w = np.zeros_like(origin.w)
    w[kept] = found.w
    return replace(found, w=w, state=None)


def _loose(solver, tol):
    """The solver at a loose tolerance, without the search for features to drop."""
    changes = {"tol": max(tol, solver.tol)}
    if hasattr(solver, "prune"):
        changes["prune"] = False
    return replace(solver, **changes)


def _onwards(grid, extend):
    """Yield the grid, then go on past its end where the path turned out longer."""
    yield from grid
    if extend and grid[-1] > 0:
        yield from grid[-1] * 1.1 ** np.arange(1, EXTENSION + 1)
