"""Where the weights start, and the choice among several starts.

In a fit every start but given weights is first relaxed with no weight penalty, as a path
relaxes every start, because a penalty on unsettled weights drives true features into the
sticky zero: with it, the scaled start lost a pure interaction of two features among 200 in 9
of 12 trials, without it in none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed

from kernelknife._support.threads import limited_blas
from kernelknife.coefficients import IndefiniteKernelError
from kernelknife.kernels import Laplace
from kernelknife.problem import Problem
from kernelknife.solvers.base import Solution, StopRule, never
from kernelknife.solvers.eliminate import Eliminate
from kernelknife.solvers.products import affordable_rows, telling_features

__all__ = [
    "Start",
    "best_start",
    "laplace_weights",
    "make_starts",
    "product_weights",
    "scaled_weights",
    "solve_from",
]

RELAX_TOL = 1e-3
LAPLACE_SPARSITY = 0.01  # share of the constant machine's objective
LAPLACE_FIRST, LAPLACE_ITER = 4, 25  # steps with all features, and with those then left
LAPLACE_TOL = 1e-2
LAPLACE_ROWS = 500
PRODUCT_ROWS = 2000


@dataclass(frozen=True)
class Start:
    """Named starting weights; ``relax`` asks for a first descent without penalty."""

    name: str
    weights: np.ndarray
    relax: bool = True
    solves: int = 0  # factorisations spent on finding it


def scaled_weights(problem: Problem):
    """Equal weights that give two typical rows a weighted squared distance of 1."""
    return np.full(problem.n_weights, _level(problem, problem.n_columns))


def _level(problem, n_columns):
    """The weight with which so many columns give that distance."""
    level = 0.5 / n_columns
    return level if problem.kernel.linear_in_weights else np.sqrt(level)


def laplace_weights(problem: Problem, random_state=None):
    """Weights found with the Laplace kernel, whose landscape is far kinder.

    Returns the weights, scaled so that their squares sum to 1/2 over the columns, and the
    factorisations spent; None where the Laplace kernel keeps nothing. Past 500 rows a
    random subset is used: this kernel costs n**2 p elementary steps, no matrix product.
    """
    rows = _some_rows(problem, LAPLACE_ROWS, random_state)
    # A start need not be exact, and single precision is twice as fast here.
    twin = problem.with_kernel(Laplace(), rows, single=True)
    sparsity = LAPLACE_SPARSITY * twin.null_value
    solver = Eliminate(max_iter=LAPLACE_FIRST, tol=LAPLACE_TOL, prune=False)
    found = solver.solve(twin, np.full(twin.n_weights, 1.0 / twin.n_columns), sparsity, damping=1.0)
    w, solves = found.w, found.n_solves
    kept = w.nonzero()[0]
    if not found.converged and len(kept):
        # Most features are out after a few steps, and this kernel pays for each of them.
        solver = replace(solver, max_iter=LAPLACE_ITER)
        few = twin.with_weights(kept)
        found = solver.solve(few, w[kept], sparsity, damping=found.damping)
        w[kept] = found.w
        solves += found.n_solves
    if not w.any():
        return None, solves
    columns = w if twin.owner is None else w[twin.owner]
    return np.minimum(w * np.sqrt(0.5 / (columns @ columns)), 1.0), solves


def product_weights(problem: Problem, base, random_state=None):
    """The weights ``base`` with those features lifted whose products tell of the target.

    None where there are none, or where ``base`` has them on top already. Past 2,000 rows, and
    fewer where there are many columns, a random subset is used.
    """
    most = min(PRODUCT_ROWS, affordable_rows(problem.n_columns, problem.n_outputs))
    if not most:
        return None
    twin = problem.with_kernel(problem.kernel, _some_rows(problem, most, random_state))
    found = telling_features(twin.X, twin.Y, twin.sample_weight)
    n_columns = len(found)
    if twin.owner is not None:
        found = np.unique(twin.owner[found])
        n_columns = np.isin(twin.owner, found).sum()
    if not len(found) or base[found].min() > np.delete(base, found).max(initial=0.0):
        return None
    w = base * np.sqrt(0.5)
    w[found] = np.maximum(w[found], _level(problem, n_columns))
    return w


def _some_rows(problem, most, random_state):
    if problem.n_rows <= most:
        return np.arange(problem.n_rows)
    rng = np.random.default_rng(0 if random_state is None else random_state)
    return np.sort(rng.choice(problem.n_rows, most, replace=False))


def make_starts(problem: Problem, start="auto", n_starts=0, random_state=None) -> list[Start]:
    """Return the starts to try.

    Parameters
    ----------
    problem : Problem
    start : {"auto", "scaled", "laplace"} or ndarray of shape (n_weights,)
        "auto" is the scaled and the Laplace start, and a third one where products of
        features tell something that the Laplace start has missed; or the scaled one alone
        where the problem is convex.
    n_starts : int, default=0
        Number of random starts to add.
    random_state : None, int or SeedSequence
    """
    if not isinstance(start, str):
        starts = [Start("given", np.asarray(start, dtype=float), relax=False)]
    else:
        starts = []
        if start in ("auto", "scaled") or problem.kernel.convex:
            starts.append(Start("scaled", scaled_weights(problem), not problem.kernel.convex))
        if start in ("auto", "laplace") and not problem.kernel.convex:
            weights, solves = laplace_weights(problem, random_state)
            if weights is not None:
                starts.append(Start("laplace", weights, True, solves))
            elif not starts:
                starts.append(Start("scaled", scaled_weights(problem), True, solves))
            if start == "auto":
                base = np.zeros(problem.n_weights) if weights is None else weights
                lifted = product_weights(problem, base, random_state)
                if lifted is not None:
                    starts.append(Start("products", lifted))
    if n_starts and not problem.kernel.convex:
        rng = np.random.default_rng(random_state)
        level = scaled_weights(problem)
        for i in range(n_starts):
            draw = np.clip(2.0 * level * rng.uniform(size=len(level)), 1e-6, 1.0)
            starts.append(Start(f"random {i + 1}", draw))
    return starts


def relaxed(problem: Problem, solver, start: Start) -> Solution:
    """Descend from a start with no weight penalty, loosely."""
    loose = replace(solver, tol=max(solver.tol, RELAX_TOL))
    return loose.solve(problem, start.weights, 0.0)


def solve_from(problem, solver, start: Start, sparsity, callback: StopRule = never) -> Solution:
    """Solve from one start; the factorisations spent on the way are counted in."""
    if not start.relax or sparsity == 0.0:
        solution = solver.solve(problem, start.weights, sparsity, callback=callback)
        before = start.solves
    else:
        first = relaxed(problem, solver, start)
        before = start.solves + first.n_solves
        solution = solver.solve(problem, first.state, sparsity, callback=callback)
    return replace(solution, solves=tuple(before + count for count in solution.solves))


def best_start(
    problem: Problem,
    solver,
    starts: Sequence[Start],
    sparsity: float,
    *,
    n_jobs: int | None = None,
    callback: StopRule = never,
) -> tuple[Solution, list[tuple[str, Solution]]]:
    """Solve from every start; return the lowest solution and all of them, without state.

    The result does not depend on ``n_jobs``: starts are made beforehand and ties go to the
    first.
    """
    if n_jobs in (None, 1) or len(starts) == 1:
        solutions = [_or_none(problem, solver, start, sparsity, callback) for start in starts]
    else:
        jobs = (delayed(_in_worker)(problem, solver, start, sparsity) for start in starts)
        solutions = Parallel(n_jobs=n_jobs)(jobs)
    done = [(start.name, s) for start, s in zip(starts, solutions, strict=True) if s is not None]
    if not done:
        raise IndefiniteKernelError(
            "The kernel matrix plus its regularisation is not positive definite from any start: "
            "raise alpha, or lower the kernel's gamma (or raise a negative coef0)."
        )
    best = min((solution for _, solution in done), key=lambda solution: solution.objective)
    return best, [(name, solution.light()) for name, solution in done]


def _or_none(problem, solver, start, sparsity, callback):
    try:
        return solve_from(problem, solver, start, sparsity, callback)
    except IndefiniteKernelError:
        return None


def _in_worker(problem, solver, start, sparsity):
    with limited_blas():
        solution = _or_none(problem, solver, start, sparsity, never)
        return None if solution is None else solution.light()
