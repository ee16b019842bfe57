"""Where the weights start, and the choice among several starts.

In a fit every start but given weights is first relaxed with no weight penalty, as a path
relaxes every start, because a penalty on unsettled weights drives true features into the
absorbing zero: with it, the scaled start lost a pure interaction of two features among 200 in 9
of 12 trials, without it in none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed

from kernelknife._engine.objective import ExactProblem, IndefiniteKernelError, Problem, State
from kernelknife._engine.search.copies import merge_copies
from kernelknife._engine.search.products import affordable_rows, interacting_features
from kernelknife._engine.solvers import Eliminate, Solution, Solver, StopRule, never
from kernelknife._utils.threads import limited_blas
from kernelknife.kernels import Laplace

__all__ = [
    "Start",
    "StartSettings",
    "best_of_starts",
    "empty_state",
    "find_weights",
    "laplace_weights",
    "make_starts",
    "product_rows",
    "product_weights",
    "relax",
    "rows_for_products",
    "scaled_weights",
    "solve_from",
    "surrogate_weights",
]

RELAX_TOL = 1e-3  # of a descent without penalty: a penalty moves the weights on anyway
# The penalties, as shares of the last one, over which a multimodal kernel is solved a second time.
# Applied at once, the full penalty drove out true features of the polynomial kernel in 8 of 108
# settings.
RAISED = (1 / 64, 1 / 16, 1 / 4)
# Penalty per row up to which kernels of effects are tried from equal weights, too. With
# sin(2 a) b + c in 60 rows and 5 columns, 20 of 30 fits without a penalty ended more than 1 % above
# these, and none from 0.005 per row on.
SMALL_PENALTY = 0.005
# Rows used to search for products of features; more cost time and change nothing.
PRODUCT_ROWS = 2000
# Where weights that have left begin once more, on centers that do not span a linear model. Of 93
# such fits of benchmarks/audit.py seven ended up to 15 % above what a descent from there finds.
LIFTED = 1e-4


@dataclass(frozen=True)
class LaplaceConstants:
    """The start that is found with the Laplace kernel.

    How often true features are found from it is measured by benchmarks/recovery.py.

    Attributes
    ----------
    sparsity : float
        Penalty, as a share of the constant model's objective, which leaves a few dozen features.
    first_steps, steps : int
        Steps with all features, and with those that are left then.
    tol : float
    rows : int
        This kernel takes n**2 p elementary steps, and no matrix product does the same.
    """

    sparsity: float = 0.01
    first_steps: int = 4
    steps: int = 25
    tol: float = 1e-2
    rows: int = 500


@dataclass(frozen=True)
class SurrogateConstants:
    """The start of kernels that add up effects: a surrogate whose weights enter linearly.

    How often true features are found from it is measured by benchmarks/recovery.py and
    benchmarks/separate_effects.py.

    Attributes
    ----------
    sparsities : tuple of float
        Penalties, as shares of the constant model's objective: with the first, weights settle,
        with the second, noise leaves.
    coupled : tuple of float
        The same for a loss that couples rows, as shares of the weight of its events over ``alpha``,
        which is what the gradients of noise are proportional to; and a third one, where everything
        leaves with the second. The objective of censored times tells nothing of their size: it is
        five nats per event in 240 events, of which a good model explains half of one. With a log
        hazard of Friedman's function and 40 % of 400 rows censored (six draws) twice as much left
        the fifth column out more often, and half as much kept noise that the likelihood follows.
    steps : int
    tol : float
    cut : float
        Weights below this share of the largest are left out.
    rows : int
        A start need not see all rows.
    many, first_steps : int
        Of more features than this, those that a few steps have driven out do not come back.
    """

    sparsities: tuple[float, ...] = (0.01, 0.1)
    coupled: tuple[float, ...] = (0.1, 1.0, 0.3)
    steps: int = 25
    tol: float = 1e-2
    cut: float = 0.05
    rows: int = 1000
    many: int = 500
    first_steps: int = 4


LAPLACE, SURROGATE = LaplaceConstants(), SurrogateConstants()


@dataclass(frozen=True)
class Start:
    """Named starting weights; ``relaxes`` asks for a first descent without penalty.

    A path begins at ``sparsity``, which weights that come from another path already have.
    """

    name: str
    weights: np.ndarray
    relaxes: bool = True
    factorizations: int = 0  # factorizations spent on finding it
    sparsity: float = 0.0


@dataclass(frozen=True)
class StartSettings:
    """Which starts to try.

    Attributes
    ----------
    start : {"auto", "scaled", "laplace"} or ndarray of shape (n_weights,)
        "auto" is the scaled and the Laplace start, and a third one where products of features are
        correlated with the target that the Laplace start has missed; with kernels that add up
        effects the surrogate in their place; or the scaled one alone where the problem is convex.
    n_starts : int
        Number of random starts to add.
    seed : int or None
    """

    start: str | np.ndarray = "auto"
    n_starts: int = 0
    seed: int | None = None


def scaled_weights(problem: Problem) -> np.ndarray:
    """Return equal weights that give two typical rows a weighted squared distance of 1."""
    # The functions of one column together are as large as a standardized column.
    n_columns = problem.n_weights if problem.kernel.expands else problem.n_columns
    return np.full(problem.n_weights, _scaled_weight(problem, n_columns))


def _scaled_weight(problem: Problem, n_columns: int) -> float:
    """Return the equal weight of ``n_columns`` columns for which that squared distance is 1."""
    v = 0.5 / n_columns
    return float(np.sqrt(v)) if problem.absorbing else v


def laplace_weights(problem: Problem, seed: int | None = None) -> tuple[np.ndarray | None, int]:
    """Return weights found with the Laplace kernel, whose objective has far fewer local minima.

    They are scaled so that two typical rows have a weighted squared distance of 1, and come with
    the factorizations spent; None where the Laplace kernel keeps nothing.
    """
    # A start need not be exact, and single precision is twice as fast here.
    sample = problem.subsample(LAPLACE.rows, seed, kernel=Laplace(), single=True)
    sparsity = LAPLACE.sparsity * sample.null_value
    solver = Eliminate(max_iter=LAPLACE.first_steps, tol=LAPLACE.tol, prune=False)
    # The first step of this kernel can be damped as if it followed another: it never overshoots.
    first = sample.solve(np.full(sample.n_weights, 1.0 / sample.n_columns))
    begun = Solution.at(first, sparsity, first.smooth, damping=1.0)
    result = solver.solve(sample, begun, sparsity)
    w, factorizations = result.w, first.inner.factorizations + result.n_factorizations
    kept = w.nonzero()[0]
    if not result.converged and len(kept):
        # Most features are out after a few steps, and the time of this kernel grows with each.
        few = sample.restricted(kept)
        solver = replace(solver, max_iter=LAPLACE.steps)
        again = few.solve(w[kept])
        begun = Solution.at(again, sparsity, again.smooth, damping=result.damping)
        result = solver.solve(few, begun, sparsity)
        w = w.copy()
        w[kept] = result.w
        factorizations += again.inner.factorizations + result.n_factorizations
    if not w.any():
        return None, factorizations
    # The functions of a group of columns are together as large as one standardized column.
    v = w if problem.kernel.expands else sample.features.everything.spread(w)
    return np.minimum(w * np.sqrt(0.5 / (v @ v)), 1.0), factorizations


def surrogate_weights(problem: Problem, seed: int | None = None) -> tuple[np.ndarray | None, int]:
    """Return weights found with the same kernel and weights that enter linearly.

    That surrogate has far fewer local minima, as the Laplace kernel has beside the Gaussian: zero
    is not absorbing, and all features that act, alone or together, have large weights at a small
    penalty. The weights come with the factorizations spent; None where it keeps nothing.
    """
    surrogate = problem.subsample(SURROGATE.rows, seed, linear=True)
    solver = Eliminate(max_iter=SURROGATE.steps, tol=SURROGATE.tol, prune=False)
    begun: np.ndarray | Solution = np.full(surrogate.n_weights, 0.5 / surrogate.n_weights)
    kept, factorizations = np.arange(surrogate.n_weights), 0
    penalties = _surrogate_penalties(surrogate)
    if surrogate.n_weights > SURROGATE.many:
        # Most of many features are out after a few steps, and what each costs in every step is
        # saved if they do not come back.
        few_steps = replace(solver, max_iter=SURROGATE.first_steps)
        few = few_steps.solve(surrogate, begun, penalties[0])
        kept, factorizations = few.w.nonzero()[0], few.n_factorizations
        if not len(kept):
            return None, factorizations
        surrogate, begun = surrogate.restricted(kept), few.w[kept]
    first = solver.solve(surrogate, begun, penalties[0])
    factorizations += first.n_factorizations
    for sparsity in penalties[1:]:
        solution = solver.solve(surrogate, first, sparsity)
        factorizations += solution.n_factorizations
        if solution.w.any():
            break
    w = np.zeros(problem.n_weights)
    w[kept] = np.where(solution.w >= SURROGATE.cut * solution.w.max(), solution.w, 0.0)
    if not w.any():
        return None, factorizations
    return np.minimum(np.sqrt(0.5 * w / w.sum()), 1.0), factorizations


def _surrogate_penalties(surrogate: ExactProblem) -> list[float]:
    """Return the penalty with which weights settle, and those with which noise leaves."""
    if surrogate.loss.couples_rows:
        scale = surrogate.risk.information / surrogate.alpha
        return [share * scale for share in SURROGATE.coupled]
    return [share * surrogate.null_value for share in SURROGATE.sparsities]


def product_weights(
    problem: Problem, base: np.ndarray, seed: int | None = None
) -> np.ndarray | None:
    """Return the weights ``base``, raised for features whose products are related to the target.

    None where there are none, or where they have the largest weights already. Of many rows or
    columns a random subset of the rows is used.
    """
    has_effects = problem.kernel.order > 0
    most = product_rows(problem)[2]
    if not most:
        return None
    sample = problem.subsample(most, seed)
    everything, X = sample.features.everything, sample.centers
    if has_effects and everything.first is not None:
        # The first function of a column rises or falls with it, and represents the column.
        X = X[:, everything.columns[everything.first]]
    columns = interacting_features(X, sample.unexplained, sample.sample_weight)
    n_columns, weights = len(columns), columns
    owner = sample.features.owner
    if owner is not None and not has_effects:
        weights = np.unique(owner[columns])
        n_columns = len(weights) if problem.kernel.expands else int(np.isin(owner, weights).sum())
    if not len(weights) or base[weights].min() > np.delete(base, weights).max(initial=0.0):
        return None
    w: np.ndarray = base * np.sqrt(0.5)
    w[weights] = np.maximum(w[weights], _scaled_weight(problem, n_columns))
    return w


def product_rows(problem: Problem) -> dict[int, int]:
    """Return in how many rows products of two and of three columns are searched, or 0."""
    has_effects = problem.kernel.order > 0
    p = problem.n_weights if has_effects else problem.n_columns
    return rows_for_products(problem.n_rows, p, problem.n_outputs)


def rows_for_products(n_rows: int, n_columns: int, n_outputs: int) -> dict[int, int]:
    """Return the same from the numbers of rows, columns and targets alone."""
    most = min(PRODUCT_ROWS, n_rows)
    return {order: min(most, affordable_rows(n_columns, n_outputs, order)) for order in (2, 3)}


def make_starts(problem: Problem, settings: StartSettings | None = None) -> list[Start]:
    """Return the starts to try; columns that are copies of each other begin as one."""
    settings = settings or StartSettings()
    start, seed = settings.start, settings.seed
    starts: list[Start] = []
    if not isinstance(start, str):
        starts.append(Start("given", np.asarray(start, dtype=float), relaxes=False))
    elif problem.convex:
        starts.append(Start("scaled", scaled_weights(problem), relaxes=False))
    elif problem.kernel.order:
        starts += _starts_of_effects(problem, settings)
    else:
        if start in ("auto", "scaled"):
            starts.append(Start("scaled", scaled_weights(problem)))
        if start in ("auto", "laplace"):
            weights, factorizations = laplace_weights(problem, seed)
            if weights is not None:
                starts.append(Start("laplace", weights, True, factorizations))
            elif not starts:
                starts.append(Start("scaled", scaled_weights(problem), True, factorizations))
        if start == "auto":
            base = np.zeros(problem.n_weights) if weights is None else weights
            lifted = product_weights(problem, base, seed)
            if lifted is not None:
                starts.append(Start("products", lifted))
    if settings.n_starts and not problem.convex:
        rng = np.random.default_rng(seed)
        level = scaled_weights(problem)
        for i in range(settings.n_starts):
            draw = np.clip(2.0 * level * rng.uniform(size=len(level)), 1e-6, 1.0)
            starts.append(Start(f"random {i + 1}", draw))
    kept = problem.features.kept
    if kept is not None:
        # What a start has found without them says nothing about columns that stay anyway.
        least = np.where(kept, scaled_weights(problem), 0.0)
        starts = [replace(start, weights=np.maximum(start.weights, least)) for start in starts]
    if not problem.absorbing:
        return starts
    return [replace(start, weights=merge_copies(problem, start.weights)) for start in starts]


def _starts_of_effects(problem: Problem, settings: StartSettings) -> list[Start]:
    """Return the starts of a kernel that adds up effects of single columns and of several."""
    weights, factorizations = None, 0
    if settings.start != "scaled" and problem.absorbing:
        weights, factorizations = surrogate_weights(problem, settings.seed)
    if weights is None:
        starts = [Start("scaled", scaled_weights(problem), True, factorizations)]
    else:
        starts = [Start("surrogate", weights, True, factorizations)]
    if settings.start == "auto":
        base = np.zeros(problem.n_weights) if weights is None else weights
        lifted = product_weights(problem, base, settings.seed)
        if lifted is not None:
            starts.append(Start("products", lifted))
            # Where the surrogate has kept nothing but noise, the products do better without it.
            starts.append(Start("products alone", np.where(lifted > base, lifted, 0.0)))
    return starts


def relax(problem: Problem, solver: Solver, start: Start) -> Solution:
    """Descend from a start with no weight penalty, or with its own, loosely."""
    return solver.with_tolerance(RELAX_TOL).solve(problem, start.weights, start.sparsity)


def solve_from(
    problem: Problem, solver: Solver, start: Start, sparsity: float, callback: StopRule = never
) -> Solution:
    """Solve from one start; factorizations spent on the start are counted, too."""
    spent = start.factorizations
    relaxes = start.relaxes and sparsity > 0.0
    begin: np.ndarray | Solution = start.weights
    if relaxes:
        first = relax(problem, solver, start)
        spent += first.n_factorizations
        begin = first.without_memory()
    ends = [solver.solve(problem, begin, sparsity, callback=callback)]
    if relaxes and problem.kernel.multimodal:
        here, loose = first, solver.with_tolerance(RELAX_TOL)
        for share in RAISED:
            here = loose.solve(problem, here.without_memory(), share * sparsity)
            spent += here.n_factorizations
        ends.append(solver.solve(problem, here.without_memory(), sparsity))
    best = min(ends, key=lambda end: end.objective)
    if problem.kernel.convex and not problem.convex:
        ends.append(solver.solve(problem, np.maximum(best.w, LIFTED), sparsity))
        best = min(best, ends[-1], key=lambda end: end.objective)
    spent += sum(end.n_factorizations for end in ends if end is not best)
    return replace(best, factorizations=tuple(spent + count for count in best.factorizations))


def best_of_starts(
    problem: Problem,
    solver: Solver,
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
        solutions = [_try_start(problem, solver, start, sparsity, callback) for start in starts]
    else:
        jobs = (delayed(_in_worker)(problem, solver, start, sparsity) for start in starts)
        solutions = Parallel(n_jobs=n_jobs)(jobs)
    done = [(start.name, s) for start, s in zip(starts, solutions, strict=True) if s is not None]
    if not done:
        raise IndefiniteKernelError(
            "The kernel matrix plus its regularization is not positive definite from any start: "
            "raise alpha, or lower the kernel's gamma (or raise a negative coef0)."
        )
    best = min((solution for _, solution in done), key=lambda solution: solution.objective)
    return best, [(name, solution.without_state()) for name, solution in done]


def empty_state(problem: Problem) -> State | None:
    """Return the model without features, None where an indefinite kernel has none.

    With columns that are always kept there is none either.
    """
    if problem.features.kept is not None:
        return None
    try:
        return problem.solve(np.zeros(problem.n_weights))
    except IndefiniteKernelError:
        return None


def find_weights(
    problem: Problem,
    solver: Solver,
    settings: StartSettings,
    sparsity: float,
    *,
    n_jobs: int | None = None,
    callback: StopRule = never,
) -> tuple[Solution, list[tuple[str, Solution]]]:
    """Return the best solution and those of all starts; many rows begin on some of them."""
    small = problem.run_on_sample(_solve_sample, solver, settings, sparsity)
    before: list[tuple[str, Solution]] = []
    if small is None:
        starts = _starts_at(problem, settings, sparsity)
    else:
        weights, before = small
        starts = [Start("subsample", weights, relaxes=False)]
    best, results = best_of_starts(
        problem, solver, starts, sparsity, n_jobs=n_jobs, callback=callback
    )
    return best, [*before, *results]


def _solve_sample(
    problem: Problem, solver: Solver, settings: StartSettings, sparsity: float
) -> tuple[np.ndarray, list[tuple[str, Solution]]]:
    """Return the weights found from the best start, and the results of all starts."""
    starts = _starts_at(problem, settings, sparsity)
    solution, results = best_of_starts(problem, solver, starts, sparsity)
    return solution.w, results


def _starts_at(problem: Problem, settings: StartSettings, sparsity: float) -> list[Start]:
    """Return the starts to try at a penalty."""
    starts = make_starts(problem, settings)
    names = [start.name for start in starts]
    small = sparsity <= SMALL_PENALTY * problem.total_weight
    if small and "surrogate" in names and settings.start == "auto" and problem.absorbing:
        # The surrogate has a larger penalty, and what it drops is lost.
        starts.append(Start("scaled", merge_copies(problem, scaled_weights(problem))))
    return starts


def _try_start(
    problem: Problem, solver: Solver, start: Start, sparsity: float, callback: StopRule
) -> Solution | None:
    """Return the solution from a start, None where an indefinite kernel has none."""
    try:
        return solve_from(problem, solver, start, sparsity, callback)
    except IndefiniteKernelError:
        return None


def _in_worker(problem: Problem, solver: Solver, start: Start, sparsity: float) -> Solution | None:
    with limited_blas():
        solution = _try_start(problem, solver, start, sparsity, never)
        return None if solution is None else solution.without_state()
