"""Placing the points of a path: from no penalty to where the last feature leaves.

A sweep of a few loose solutions finds out where features leave and where the last one does. Each
is at a penalty up to which, by the one before, some features stay.
"""

from dataclasses import dataclass

import numpy as np

from kernelknife._engine.objective import IndefiniteKernelError, Problem, State
from kernelknife._engine.search.starts import Start
from kernelknife._engine.solvers import Solution, Solver

__all__ = [
    "PathStart",
    "can_lose_features",
    "penalties_beyond",
    "place_convex_points",
    "place_points",
    "sparsest_state",
]


@dataclass(frozen=True)
class SweepConstants:
    """How the sweep goes, and what a path does past its end.

    benchmarks/path_cost.py counts the factorizations, those of the sweep included.

    Attributes
    ----------
    smallest : float
        Smallest positive penalty, as a share of the constant model's objective.
    most : int
        Solutions of the sweep, at most; four to six are the rule.
    tol, steps : float, int
        Two loose steps per penalty, because a rough idea of where features leave is enough.
    least_growth : float
        Factor by which the penalties grow at least.
    convex_factor : float
        Factor between two penalties where the problem is convex.
    near_end : float
        The end is near where the next penalty is less than this factor away.
    past_end : float
        Factor by which the last point lies beyond the estimate of the end.
    extension_factor, extension_points : float, int
        Where a path turns out longer than its grid it goes on in steps of a tenth.
    """

    smallest: float = 1e-3
    most: int = 10
    tol: float = 1e-2
    steps: int = 2
    least_growth: float = 1.01
    convex_factor: float = 8.0
    near_end: float = 1.15
    past_end: float = 1.02
    extension_factor: float = 1.1
    extension_points: int = 50


SWEEP = SweepConstants()


def penalties_beyond(last: float) -> np.ndarray:
    """Return penalties past the end of a grid, for a path that turns out longer."""
    return last * SWEEP.extension_factor ** np.arange(1, SWEEP.extension_points + 1)


@dataclass(frozen=True)
class PathStart:
    """Where a path begins.

    Attributes
    ----------
    start : Start
    first : Solution
        Without a penalty.
    probe : Solution or None
        At the penalty at which starts were compared, if they were.
    n_factorizations : int
    """

    start: Start
    first: Solution
    probe: Solution | None
    n_factorizations: int


def place_points(
    problem: Problem, solver: Solver, chosen: PathStart, n_points: int
) -> tuple[np.ndarray, int]:
    """Return a grid from zero to where the last feature leaves, and the factorizations it took.

    Half of the points are spread evenly over the logarithm of the penalty, half go where the
    number of features falls.
    """
    if n_points == 1:
        return np.zeros(1), 0
    first, probe, spent = chosen.first, chosen.probe, 0
    counts = [(0.0, int(np.count_nonzero(first.w)))]
    here, lowest = first, SWEEP.smallest * problem.null_value
    if probe is not None and can_lose_features(problem, probe):
        counts.append((probe.sparsity, int(np.count_nonzero(probe.w))))
        here = probe
    ceiling, factorizations = _empty_objective(problem, first)
    spent += factorizations
    for _ in range(SWEEP.most):
        end = max(penalty_lower_bound(problem, here, ceiling), lowest)
        solution, factorizations = _coarse_solve(problem, solver, here, end)
        spent += factorizations
        if not can_lose_features(problem, solution):
            break
        counts.append((end, int(np.count_nonzero(solution.w))))
        near, here = end < SWEEP.near_end * here.sparsity, solution
        if near:
            end = SWEEP.past_end * penalty_lower_bound(problem, here, ceiling)
            break
    # The last ones leave together as a rule: not all of their points belong right before the end.
    counts = [(sparsity, count) for sparsity, count in counts if SWEEP.near_end * sparsity < end]
    counts.append((end, 0))
    return _spread_points(counts, lowest / SWEEP.convex_factor, n_points), spent


def place_convex_points(
    problem: Problem, solver: Solver, begin: PathStart | Solution, n_points: int
) -> tuple[np.ndarray, int]:
    """Return a grid from zero to where the first feature comes in, denser where others do."""
    if n_points == 1:
        return np.zeros(1), 0
    spent = 0
    if isinstance(begin, PathStart):
        nothing = sparsest_state(problem)
        spent, here = nothing.inner.factorizations, Solution.at(nothing, np.inf, nothing.smooth)
    else:
        here = begin
    costly = problem.costs > 0
    gains = -problem.gradient(here.state)[costly] / problem.costs[costly]
    top = float(gains.max(initial=0.0)) or problem.null_value
    loose = solver.loosened(SWEEP.tol)
    counts = [(top * (1.0 + 1e-9), 0)]
    lowest = min(SWEEP.smallest * problem.null_value, top / SWEEP.convex_factor)
    while counts[-1][0] > lowest:
        sparsity = max(counts[-1][0] / SWEEP.convex_factor, lowest)
        here = loose.solve(problem, here.damped_at_most(1.0), sparsity)
        spent += here.n_factorizations
        counts.append((sparsity, int(np.count_nonzero(here.w))))
    counts.reverse()
    return _spread_points(counts, lowest / SWEEP.convex_factor, n_points), spent


def sparsest_state(problem: Problem) -> State:
    """Return where a convex path ends: weights that cost nothing are at 1, the others out."""
    return problem.solve((problem.costs == 0).astype(float))


def can_lose_features(problem: Problem, solution: Solution) -> bool:
    """Whether a feature is left that a larger penalty could still drive out."""
    free = problem.costs == 0
    # The objective of a convex problem is above the empty model's only where few updates per point
    # lag behind the penalty.
    worth = problem.convex or free.any() or solution.objective < problem.null_value
    return bool(solution.w[~free].any() and worth)


def penalty_lower_bound(problem: Problem, solution: Solution, ceiling: float) -> float:
    """Return a penalty up to which features stay, larger than that of the solution.

    The objective is concave in the penalty, with the sum of the weights for its slope: it cannot
    reach the ceiling before the line does.
    """
    slope = float(problem.costs @ solution.w)
    rise = ceiling - solution.objective
    further = rise / slope if rise > 0.0 < slope else 0.0
    return max(solution.sparsity + further, SWEEP.least_growth * solution.sparsity)


def _empty_objective(problem: Problem, first: Solution) -> tuple[float, int]:
    """Return the objective without the features that cost something, and the factorizations spent.

    Where some cost nothing it is an estimate, with their weights as they are without a penalty.
    """
    free = problem.costs == 0
    if not free.any():
        return problem.null_value, 0
    try:
        state = problem.solve(np.where(free, first.w, 0.0))
    except IndefiniteKernelError:
        return problem.null_value, 0
    return state.smooth, state.inner.factorizations


def _coarse_solve(
    problem: Problem, solver: Solver, here: Solution, sparsity: float
) -> tuple[Solution, int]:
    """Take few loose steps at a larger penalty; return the solution and the factorizations."""
    begun = here.damped_at_most(1.0)
    solution = solver.loosened(SWEEP.tol, SWEEP.steps).solve(problem, begun, sparsity)
    spent = solution.n_factorizations
    if not can_lose_features(problem, solution) and solution.w.any():
        # Few steps after a jump of the penalty may stand above the empty model.
        loose = solver.loosened(SWEEP.tol)
        solution = loose.solve(problem, solution.without_memory(), sparsity)
        spent += solution.n_factorizations
    return solution, spent


def _spread_points(counts: list[tuple[float, int]], lowest: float, n_points: int) -> np.ndarray:
    """Return zero and points from ``lowest`` on, half of them where features leave.

    ``counts`` holds increasing penalties and the number of features at each.
    """
    where = np.log([max(sparsity, lowest) for sparsity, _ in counts])
    count = np.log1p([number for _, number in counts])
    even = (where - where[0]) / max(where[-1] - where[0], 1e-300)
    fallen = np.maximum.accumulate(count[0] - count) / max(count[0], 1e-300)
    measure = 0.5 * (even + fallen)
    ticks = np.linspace(0.0, measure[-1], n_points)[1:]
    grid = np.exp(np.interp(ticks, measure, where))
    grid[-1] = counts[-1][0]
    return np.concatenate([[0.0], grid])
