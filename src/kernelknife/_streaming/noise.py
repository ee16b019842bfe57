"""How strong columns of noise would be, from products of columns alone.

A column is as strong as the penalty at which it leaves the path. Of a permuted target the products
with the functions of all columns are normal, with the covariance of the functions times the
variance of the target, as soon as rows are many. So the strongest column of noise of a permutation
is drawn without a permutation, and without the rows. Then comes a step down, as in
:mod:`kernelknife._error_rates.calibration`: the selected columns stay in the model, and what they
leave is permuted.
"""

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from kernelknife._engine import Setup, follow
from kernelknife._engine.objective import PrimalProblem, Problem
from kernelknife._engine.objective.primal import squared_error
from kernelknife._engine.search import refit_without_penalty
from kernelknife._streaming.search import coefficients
from kernelknife._tuning.folds import rough

__all__ = ["NoiseLevels", "compare_with_noise", "noise_of"]

POINTS = 80  # of the path that shows how strong the columns are
WEAKEST = 0.5  # share of the strongest noise down to which that path goes
COMPARED = 10  # columns outside the model whose strengths are compared in a step down
MOST_STEPS = 20
FROM_ZERO = 1e-3  # a weight that starts at the last penalty's zero


@dataclass(frozen=True, eq=False)
class NoiseLevels:
    """What permuted targets show about the columns.

    Attributes
    ----------
    p_value : float
        Of the statement that the target is independent of all columns.
    p_values : ndarray of shape (n_weights,)
        By weight; 1 for those weaker than half of the strongest noise.
    n_steps : int
    """

    p_value: float
    p_values: np.ndarray
    n_steps: int


def compare_with_noise(
    setup: Setup, n_permutations: int, level: float, seed: int | None
) -> NoiseLevels:
    """Compare the columns of a problem of sums with the strongest columns of permuted targets.

    Parameters
    ----------
    setup : Setup
        Of all rows, with its alpha.
    n_permutations : int
    level : float
        Columns with a p-value of at most this stay in the model when the step down goes on.
    seed : int or None
    """
    problem = _centered(setup.problem)
    noise, nulls = noise_of(setup, n_permutations, seed)
    alone = _entering(problem, problem.sums.products[:-1, -1])
    top, low = float(alone.max()), WEAKEST * float(nulls.max())
    whole = (1.0 + np.count_nonzero(nulls >= top)) / (n_permutations + 1.0)
    p_values, strengths = np.ones(problem.n_weights), np.zeros(problem.n_weights)
    if top > low:
        setup = replace(setup, spec=rough(setup.spec), problem=problem)
        for point in follow(setup, np.geomspace(low, top, POINTS)).points:
            strengths[point.w > 0] = point.sparsity
        strengths[alone.argmax()] = top
    inside = np.zeros(problem.n_weights, dtype=bool)
    n_steps = 0
    while n_steps < MOST_STEPS and (strengths[~inside] > 0).any():
        n_steps += 1
        if n_steps > 1:
            nulls = _outside(setup, inside, strengths, noise)
        counts = (nulls[:, None] >= strengths).sum(axis=0)
        fresh = np.where(strengths > 0, (1.0 + counts) / (n_permutations + 1.0), 1.0)
        p_values = np.where(inside, p_values, fresh)
        enters = ~inside & (p_values <= level)
        if not enters.any():
            break
        inside |= enters
    return NoiseLevels(whole, p_values, max(n_steps, 1))


def noise_of(setup: Setup, n_draws: int, seed: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return products with permuted targets of unit variance, and their strongest columns."""
    problem = _centered(setup.problem)
    values, vectors = np.linalg.eigh(problem.sums.products[:-1, :-1])
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    rng = np.random.default_rng(0 if seed is None else seed)
    noise = (root @ rng.normal(size=(len(root), n_draws))).T
    deviation = np.sqrt(problem.null_value / (problem.total_weight - 1.0))
    return noise, np.array([_entering(problem, deviation * draw).max() for draw in noise])


def _centered(problem: Problem) -> PrimalProblem:
    # Sums are all that a streamed selection has.
    return cast(PrimalProblem, problem).centered()


def _entering(problem: PrimalProblem, g: np.ndarray) -> np.ndarray:
    """Return the penalty at which every column enters an empty model, from products with a target.

    At weights of zero the objective falls by ``g_c**2 / alpha`` with the weight of a function.
    """
    owner = problem.features.owner
    squares = g**2 if owner is None else np.bincount(owner, g**2, problem.n_weights)
    return np.asarray(squares / (problem.alpha * problem.costs))


def _outside(
    setup: Setup, inside: np.ndarray, strengths: np.ndarray, noise: np.ndarray
) -> np.ndarray:
    """Return how strong the strongest column outside a model is, given the model and noise.

    It is looked for at the strengths of the columns that are still to be compared with it; where no
    column outside is active at any of these, it is 0.
    """
    problem, solver = _centered(setup.problem), setup.spec.solver
    model = refit_without_penalty(problem, solver, inside.astype(float))
    beta = coefficients(problem, model)
    left = squared_error(problem.sums, beta, model.b)
    spent = 1.0 + np.count_nonzero(beta)
    deviation = np.sqrt(left / max(problem.total_weight - spent, 1.0))
    explained = (problem.sums.products[:-1, :-1] @ beta)[:, 0]
    kept, n_draws = np.flatnonzero(inside), len(noise)
    penalties = np.unique(strengths[~inside & (strengths > 0)])[::-1][:COMPARED]
    nulls = np.zeros(n_draws)
    for i, draw in enumerate(noise):
        products = problem.sums.products.copy()
        products[:-1, -1] = products[-1, :-1] = explained + deviation * draw
        products[-1, -1] = max(float(beta[:, 0] @ (explained + 2.0 * deviation * draw)), 0.0) + left
        other = PrimalProblem(
            replace(problem.sums, products=products),
            problem.kernel,
            problem.loss,
            alpha=problem.alpha,
            features=problem.features,
            fit_intercept=False,
        )
        small, w = other.restricted(kept), np.full(len(kept), 0.5)
        for penalty in penalties:
            w = solver.solve(small, np.maximum(w, FROM_ZERO), penalty).w
            everything = np.zeros(problem.n_weights)
            everything[kept] = w
            gains = -other.gradient(other.solve(everything)) / problem.costs
            if (gains[~inside] > penalty).any():
                nulls[i] = penalty
                break
    return nulls
