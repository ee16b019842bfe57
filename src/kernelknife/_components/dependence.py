"""Which columns depend on each other, compared with columns that were permuted independently.

:func:`dependence_scores` compares single columns through a few functions of each.
:func:`structure_gap` compares the components of weighted columns with those of permuted ones.
"""

import numpy as np

from kernelknife._components.eigenproblems import share_of_variance
from kernelknife._engine import Setup
from kernelknife._engine.data.columns import filled
from kernelknife._engine.objective import Problem
from kernelknife._engine.search import scaled_weights
from kernelknife._utils.row_units import RowUnits
from kernelknife.kernels.basis import make_basis

__all__ = [
    "dependence_scores",
    "dependence_weights",
    "expand_columns",
    "favor",
    "permuted",
    "structure_gap",
]

DEPENDENCE_ROWS = 2000  # used to screen for dependence; more cost time and change nothing
# Functions of a column that show whether two columns depend on each other: a line, a bend, and two
# more. Few of them depend little by chance; the width is that of the additive kernel.
N_FUNCTIONS, N_KNOTS, GAMMA = 4, 20, 0.7
# Permutations that show how large a dependence is by chance: independent columns exceed the largest
# of 19 in one table of twenty. Very many columns get fewer, to limit the multiplications.
MOST_NULLS, FEWEST_NULLS, NULL_WORK = 19, 2, 1e11
EQUAL_SHARE = 0.1  # of the starting weights that every column gets, so that none begins at zero
GAP_ROWS = 400  # rows that the gap is measured on: it takes some hundred eigenproblems
BLOCK_NUMBERS = 4_000_000  # numbers in a block of products of columns


def expand_columns(setup: Setup) -> tuple[np.ndarray, np.ndarray]:
    """Return a few functions of every column on some rows, and the weight that each belongs to.

    Functions of one weight stand together and are centered.
    """
    columns, groups = setup.data.columns, setup.data.groups
    sample, _ = setup.data.rows.load()
    n = len(sample.X)
    kept = np.linspace(0, n - 1, min(n, DEPENDENCE_ROWS)).astype(int)
    Z = filled(np.asarray(sample.X, dtype=float)[kept][:, columns.index]) - columns.center
    deviation = Z.std(axis=0)
    Z = (Z - Z.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    basis = make_basis(Z, np.ones(len(Z)), gamma=GAMMA, n_functions=N_FUNCTIONS, n_knots=N_KNOTS)
    features = basis.expand(Z)
    owner = basis.sources if groups is None else groups[basis.sources]
    order = np.argsort(owner, kind="stable")
    return features[:, order] - features[:, order].mean(axis=0), owner[order]


def dependence_scores(
    left: tuple[np.ndarray, np.ndarray], right: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Return how much each weight's columns depend on those of each weight of another table.

    It is the alignment of their Gram matrices, between 0 and 1, of shape (p, q).
    """
    (A, a_owner), (B, b_owner) = left, right
    a_first, b_first = (np.unique(owner, return_index=True)[1] for owner in (a_owner, b_owner))
    cross = np.empty((len(a_first), len(b_first)))
    step = max(1, BLOCK_NUMBERS // (B.shape[1] * N_FUNCTIONS))
    for start in range(0, len(a_first), step):
        part = a_first[start : start + step]
        end = a_first[start + step] if start + step < len(a_first) else A.shape[1]
        products = (A[:, part[0] : end].T @ B) ** 2
        products = np.add.reduceat(products, b_first, axis=1)
        cross[start : start + step] = np.add.reduceat(products, part - part[0], axis=0)
    sizes = [_own_sizes(*pair) for pair in ((A, a_first), (B, b_first))]
    alignment: np.ndarray = cross / np.multiply.outer(*sizes)
    return alignment


def _own_sizes(A: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return the norm of the Gram matrix of every weight's columns."""
    ends = [*first[1:], A.shape[1]]
    norms = (np.linalg.norm(A[:, a:z].T @ A[:, a:z]) for a, z in zip(first, ends, strict=True))
    sizes: np.ndarray = np.maximum(np.fromiter(norms, float), 1e-300)
    return sizes


def permuted(
    A: np.ndarray, owner: np.ndarray, seed: int, draw: int, units: RowUnits | None = None
) -> np.ndarray:
    """Return columns permuted independently, those of one weight, which stand together, alike.

    Rows that belong together stay so: see :meth:`RowUnits.surrogate`. The permutation of a weight's
    columns depends on nothing but the two numbers and the weight, so that sets of columns can be
    compared without the noise of different permutations.
    """
    result = np.empty_like(A)
    weights, first = np.unique(owner, return_index=True)
    ends = [*first[1:], A.shape[1]]
    for weight, start, end in zip(weights, first, ends, strict=True):
        rng = np.random.default_rng([seed, draw, int(weight)])
        order = rng.permutation(len(A)) if units is None else units.surrogate(rng)
        result[:, start:end] = A[order, start:end]
    return result


def dependence_weights(setup: Setup, units: RowUnits | None = None) -> tuple[np.ndarray, bool]:
    """Return starting weights that favor columns which depend on other columns.

    A column counts by how far its dependence on others exceeds the largest one among columns that
    were permuted independently. Every column keeps a small share. The second value is whether any
    dependence exceeds chance; without, the weights are equal.
    """
    problem = setup.problem
    equal = scaled_weights(problem)
    features, owner = expand_columns(setup)
    if problem.n_weights < 2:
        return equal, False
    work = len(features) * features.shape[1] ** 2
    chance = 0.0
    for draw in range(int(np.clip(NULL_WORK // work, FEWEST_NULLS, MOST_NULLS))):
        rows = None if units is None else units.thinned(DEPENDENCE_ROWS)
        shuffled = permuted(features, owner, setup.spec.seed or 0, draw, rows)
        chance = max(chance, _off_diagonal(shuffled, owner).max())
    excess = np.maximum(_off_diagonal(features, owner) - chance, 0.0)
    strength = np.sqrt((excess**2).sum(axis=1))
    if not strength.any():
        return equal, False
    return favor(problem, strength), True


def _off_diagonal(features: np.ndarray, owner: np.ndarray) -> np.ndarray:
    scores = dependence_scores((features, owner), (features, owner))
    np.fill_diagonal(scores, 0.0)
    return scores


def favor(problem: Problem, strength: np.ndarray) -> np.ndarray:
    """Return starting weights in proportion to a strength, of which every column has a share."""
    equal = scaled_weights(problem)
    v = equal**2 if problem.absorbing else equal
    n_columns = np.ones(len(v))
    if not problem.kernel.expands:
        n_columns = problem.features.columns_of(np.arange(len(v))).astype(float)
    favored = strength * (v @ n_columns) / (strength @ n_columns)
    v = EQUAL_SHARE * v + (1.0 - EQUAL_SHARE) * favored
    return np.minimum(np.sqrt(v) if problem.absorbing else v, 1.0)


def structure_gap(
    setup: Setup,
    X: np.ndarray,
    w: np.ndarray,
    k: int,
    n_permutations: int,
    units: RowUnits | None = None,
) -> tuple[float, float]:
    """Return how much more variance the leading components have than those of permuted columns.

    The weights stay as they are and the columns are permuted independently, so that a column on its
    own, however its values lie, gives nothing. The second value is the standard deviation over the
    permutations.

    Parameters
    ----------
    X : ndarray of shape (n, q)
        What the kernel sees of all rows; at most ``GAP_ROWS`` of them are used.
    w : ndarray of shape (n_weights,)
    units : RowUnits, default=None
        Which of all rows belong together.
    """
    problem = setup.problem
    subset = problem.features.select(np.flatnonzero(w))
    kept = np.linspace(0, len(X) - 1, min(len(X), GAP_ROWS)).astype(int)
    rows = X[kept][:, subset.columns]
    v = subset.form_weights(w)
    owner = subset.active if subset.owner is None else subset.active[subset.owner]
    others = []
    for draw in range(n_permutations):
        of_rows = None if units is None else units.thinned(GAP_ROWS)
        shuffled = permuted(rows, owner, setup.spec.seed or 0, draw, of_rows)
        others.append(share_of_variance(problem.kernel(shuffled, shuffled, v), k))
    own = share_of_variance(problem.kernel(rows, rows, v), k)
    return own - float(np.mean(others)), float(np.std(others, ddof=1))
