"""Canonical pairs of two tables, found by alternation between them.

At fixed weights :func:`canonical_pairs` solves the eigenproblem of regularized kernel canonical
correlation. The weights are found by an :class:`Alternation`: those of a table come from the
regression of the other table's scores, with a penalty on their sum, until the columns of both no
longer change. :func:`find_alternation` compares several starts, and :func:`find_pairs` finds one
pair after the other.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from kernelknife._components.dependence import dependence_scores, expand_columns, favor
from kernelknife._components.eigenproblems import (
    centered_features,
    column_signs,
    seen_columns,
    set_up_table,
)
from kernelknife._engine import FitSpec, Model, Setup, build_model, or_empty, set_up
from kernelknife._engine.data import Rows
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.search import Start, find_weights, scaled_weights
from kernelknife._engine.search.starts import best_of_starts
from kernelknife._engine.solvers import Solution
from kernelknife._utils.progress import Progress
from kernelknife._utils.row_units import RowUnits

__all__ = [
    "AUTO_SHARE",
    "MOST_HALVINGS",
    "MOST_ROUNDS",
    "Alternation",
    "Pair",
    "Side",
    "canonical_pairs",
    "correlate",
    "find_alternation",
    "find_pairs",
    "pairs_at",
    "permutation_tests",
]

# An automatic penalty, per row: a column of weight 1 must explain so large a share of the scores.
AUTO_SHARE = 0.03
MOST_ROUNDS = 8  # of the alternation; two to four are the rule
MOST_HALVINGS = 12  # of an automatic penalty that leaves no column
# Rounds of a start before it is compared with others. It needs no rival where both tables are left
# with less than GOOD_START of a constant's objective.
FIRST_ROUNDS, GOOD_START = 2, 0.4
SINGLE_STARTS = 4  # dependences of two columns that are starts of their own
SAME_CORRELATION = 1e-12
# Share of a table's largest weight from which on a column carries a pair, and is in no later one.
# With a convex kernel many columns of noise keep a hundredth.
CARRIES = 0.1
CHANCE_DRAWS = 19  # permutations of rows that show how large a dependence is by chance

Tables = tuple[ArrayRows, ArrayRows]
Sides = tuple["Side", "Side"]
Features = tuple[list[np.ndarray], list[np.ndarray]]


@dataclass(frozen=True)
class Side:
    """One of the two tables while the pairs are searched for.

    Attributes
    ----------
    name : str
    setup : Setup
        Without a target.
    seen : ndarray of shape (n, q)
        What the kernel sees of the rows.
    functions : pair of ndarray
        See :func:`expand_columns`.
    seed : int or None
        For the permutations that show how large a dependence is by chance.
    """

    name: str
    setup: Setup
    seen: np.ndarray
    functions: tuple[np.ndarray, np.ndarray]
    seed: int | None

    @classmethod
    def of(cls, name: str, spec: FitSpec, rows: Rows) -> "Side":
        """Return a table, ready for regressions."""
        setup = set_up_table(spec, rows)
        return cls(name, setup, seen_columns(setup), expand_columns(setup), spec.seed)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.seen)

    @property
    def alpha(self) -> float:
        """Penalty on the squared norm of the model."""
        return self.setup.spec.alpha

    def at_penalty(self, sparsity: float) -> "Side":
        """Return the table with another penalty on its weights."""
        return replace(self, setup=self.setup.with_spec(sparsity=sparsity))

    def without(self, w: np.ndarray) -> "Side":
        """Return the table without the columns that carry a pair, itself where none is left."""
        data, spec = self.setup.data, self.setup.spec
        kept = np.flatnonzero(data.column_values(w) <= CARRIES * w.max(initial=0.0))
        if not len(kept):
            return self
        columns = data.columns.restricted(np.flatnonzero(np.isin(data.columns.sources, kept)))
        groups, costs = (None if v is None else v[kept] for v in (data.groups, data.costs))
        if groups is not None:
            groups = np.unique(groups, return_inverse=True)[1]
        left = replace(data, columns=columns, groups=groups, costs=costs)
        setup = set_up(spec, left)
        return replace(self, setup=setup, seen=seen_columns(setup), functions=expand_columns(setup))

    def features(self, w: np.ndarray) -> np.ndarray:
        """Return the features of the weighted kernel, centered."""
        return centered_features(self.setup, self.seen, w)

    def solve(
        self, target: np.ndarray, sparsity: float, begin: np.ndarray | None = None
    ) -> Solution:
        """Return the solution of the regression of a target at a penalty.

        Parameters
        ----------
        target : ndarray of shape (n,)
        begin : ndarray of shape (n_weights,), default=None
            Weights to begin with, of which those that are zero stay so; None tries the starts of
            a regression.
        """
        setup = self.setup.with_targets(target[:, None])
        problem, solver = setup.problem, setup.spec.solver
        if begin is None:
            solution, _ = find_weights(problem, solver, setup.start_settings, sparsity)
        else:
            start = Start("neighbor", begin, relaxes=False)
            solution, _ = best_of_starts(problem, solver, [start], sparsity)
        return or_empty(setup, solution, solution.objective)

    def regress(
        self, target: np.ndarray, begin: np.ndarray | None = None
    ) -> tuple[np.ndarray, float, float]:
        """Return the weights that predict a target, their penalty, and the objective.

        The objective is a share of that of a constant. All weights are zero where the penalty
        drives every column out; an automatic one is halved before that.
        """
        given = self.setup.spec.sparsity
        automatic = isinstance(given, str)
        sparsity = AUTO_SHARE * self.n_rows if automatic else float(given)
        solution = self.solve(target, sparsity, begin)
        for _ in range(MOST_HALVINGS - 1):
            if solution.w.any() or not automatic:
                break
            sparsity /= 2.0
            solution = self.solve(target, sparsity, begin)
        return solution.w, sparsity, solution.objective / self.n_rows

    def model(self, w: np.ndarray, target: np.ndarray) -> tuple[Model, np.ndarray]:
        """Return the model that predicts a target at some weights, and its scores of the rows.

        The scores have mean 0 and variance 1 over the rows.
        """
        setup = self.setup.with_targets(target[:, None])
        fit = setup.problem.solve(w).inner
        model = build_model(setup.data, setup.problem, setup.center_rows, w, fit.C, fit.b)
        scores = model.scores(setup.data.rows)
        center, scale = scores.mean(axis=0), scores.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        model = replace(
            model, coef=model.coef / scale, intercept=(model.intercept - center) / scale
        )
        return model, ((scores - center) / scale)[:, 0]


@dataclass(frozen=True)
class Pair:
    """A canonical pair: for each table its weights, its penalty, its model."""

    weights: tuple[np.ndarray, np.ndarray]  # of the user's columns
    features: tuple[np.ndarray, ...]  # of both kernels at these weights, or none to save memory
    sparsities: tuple[float, float]
    models: tuple[Model, Model]
    scores: tuple[np.ndarray, np.ndarray]
    n_rounds: int

    @property
    def correlation(self) -> float:
        """Correlation of the two scores over the rows that the pair was found on."""
        return correlate(*self.scores)


def correlate(f: np.ndarray, g: np.ndarray) -> float:
    """Return the correlation of two scores, 0 where one of them is constant."""
    f, g = f - f.mean(), g - g.mean()
    size = np.linalg.norm(f) * np.linalg.norm(g)
    return float(f @ g / size) if size > 0 else 0.0


# -- at fixed weights -----------------------------------------------------------------------------


def canonical_pairs(
    A: np.ndarray, B: np.ndarray, alphas: tuple[float, float], k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the leading pairs of scores of two tables, by regularized canonical correlation.

    With centered features ``A`` and ``B`` of the rows, the smoothers ``A (A'A + alpha I)^-1 A'``
    are ``P P'`` and ``Q Q'``. A pair that each smoother maps to the other, up to scale, comes from
    the singular vectors of ``P'Q``.

    Parameters
    ----------
    A, B : ndarray of shape (n, r) and (n, t)

    Returns
    -------
    F, G : ndarray of shape (n, k)
        Each column of length sqrt(n).
    values : ndarray of shape (k,)
        The singular values, which are the regularized correlations.
    """
    P, Q = _half_smoother(A, alphas[0]), _half_smoother(B, alphas[1])
    left, values, right = np.linalg.svd(P.T @ Q, full_matrices=False)
    F, G = P @ left[:, :k], Q @ right[:k].T
    sign, size = column_signs(F), np.sqrt(len(A))
    F, G = (size * sign * S / np.maximum(np.linalg.norm(S, axis=0), 1e-300) for S in (F, G))
    return F, G, values[:k]


def _half_smoother(A: np.ndarray, alpha: float) -> np.ndarray:
    """Return ``P`` with ``P P' = A (A'A + alpha I)^-1 A'``."""
    gram = A.T @ A
    gram.flat[:: len(gram) + 1] += alpha
    half: np.ndarray = solve_triangular(cholesky(gram, lower=True), A.T, lower=True).T
    return half


def pairs_at(sides: Sides, weights: list[np.ndarray], k: int) -> list[Pair]:
    """Return the k leading pairs at given weights."""
    fixed = Alternation(sides, weights)
    F, G, values = fixed.leading_scores(k)
    if len(values) < k:
        raise ValueError(
            f"n_components={k}, but the smaller of both kernel matrices has rank {len(values)}: "
            f"ask for at most {len(values)}."
        )
    return [fixed.pair(f, g) for f, g in zip(F.T, G.T, strict=True)]


# -- weights that are searched for ----------------------------------------------------------------


@dataclass
class Alternation:
    """A search from one start: regressions of each table on the other one's scores, in turn.

    Attributes
    ----------
    sides : pair of Side
    weights : list of two ndarray
    earlier : pair of lists of ndarray
        Features of earlier pairs: what they explain is taken out of each table.
    sparsities, objectives : list of two float
        Penalty and objective of each table's last regression; the objective is a share of that of
        a constant.
    n_rounds : int
    settled : bool
        Whether the columns did not change in the last round, or none are left.
    """

    sides: Sides
    weights: list[np.ndarray]
    earlier: Features = field(default_factory=lambda: ([], []))
    sparsities: list[float] = field(default_factory=lambda: [0.0, 0.0])
    objectives: list[float] = field(default_factory=lambda: [1.0, 1.0])
    n_rounds: int = 0
    settled: bool = False
    # Features of the kernels at the weights, which take an eigenproblem; None until asked for.
    _features: list[np.ndarray | None] = field(default_factory=lambda: [None, None])

    @property
    def objective(self) -> float:
        """Mean objective of both tables, as a share of a constant's."""
        return 0.5 * sum(self.objectives)

    @property
    def empty(self) -> bool:
        """Whether a table is left without a column, so that there is no pair."""
        return not all(w.any() for w in self.weights)

    def features(self, i: int) -> np.ndarray:
        """Return the features of a table's kernel at its weights."""
        found = self._features[i]
        if found is None:
            found = self._features[i] = self.sides[i].features(self.weights[i])
        return found

    def leading_scores(self, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the k leading pairs of scores at the weights, in what earlier pairs leave."""
        alphas = self.sides[0].alpha, self.sides[1].alpha
        A, B = (_without(self.features(i), self.earlier[i], alphas[i]) for i in (0, 1))
        return canonical_pairs(A, B, alphas, k)

    def run(self, most_rounds: int, *, warm: bool = False) -> None:
        """Alternate until the columns no longer change, or for a number of rounds in all.

        ``warm`` begins a regression with the weights that its table has, so that no column can
        come in.
        """
        while not self.settled and self.n_rounds < most_rounds:
            before = [tuple(np.flatnonzero(w)) for w in self.weights]
            for i in (0, 1):
                F, G, _ = self.leading_scores(1)
                begin = self.weights[i] if warm else None
                found = self.sides[i].regress((G, F)[i][:, 0], begin)
                self.weights[i], self.sparsities[i], self.objectives[i] = found
                self._features[i] = None
                if self.empty:
                    self.objectives, self.settled = [1.0, 1.0], True
                    return
            self.n_rounds += 1
            self.settled = before == [tuple(np.flatnonzero(w)) for w in self.weights]

    def at_penalties(self, sparsities: tuple[float, float]) -> "Alternation":
        """Return an alternation at other penalties that begins where this one has ended."""
        left, right = (
            side.at_penalty(sparsity) for side, sparsity in zip(self.sides, sparsities, strict=True)
        )
        return Alternation(
            (left, right), list(self.weights), self.earlier, _features=list(self._features)
        )

    def leading_pair(self) -> Pair:
        """Return the leading pair at the weights."""
        F, G, _ = self.leading_scores(1)
        return self.pair(F[:, 0], G[:, 0])

    def pair(self, f: np.ndarray, g: np.ndarray) -> Pair:
        """Return the pair of two scores at the weights: each table predicts the other's score."""
        (x_side, y_side), (x_weights, y_weights) = self.sides, self.weights
        x_model, x_scores = x_side.model(x_weights, g)
        y_model, y_scores = y_side.model(y_weights, f)
        return Pair(
            weights=(
                x_side.setup.data.user_values(x_weights),
                y_side.setup.data.user_values(y_weights),
            ),
            features=(self.features(0), self.features(1)),
            sparsities=(self.sparsities[0], self.sparsities[1]),
            models=(x_model, y_model),
            scores=(x_scores, y_scores),
            n_rounds=max(self.n_rounds, 1),
        )


def find_pairs(sides: Sides, k: int, progress: Progress) -> list[Pair]:
    """Find the weights of k pairs, one after the other, and the pairs at these weights.

    A column that carries one pair is in no later one, as long as its table has others.
    """
    pairs: list[Pair] = []
    for _ in range(k):
        with progress.subtask("component"):
            earlier = [p.features[0] for p in pairs], [p.features[1] for p in pairs]
            found = find_alternation(sides, earlier)
            for side, w, sparsity in zip(sides, found.weights, found.sparsities, strict=True):
                if not w.any():
                    raise ValueError(
                        f"sparsity={sparsity:g} drives every column of {side.name} out: lower it, "
                        "or leave sparsity='auto'."
                    )
            pairs.append(found.leading_pair())
            left, right = sides
            sides = left.without(found.weights[0]), right.without(found.weights[1])
    return pairs


def find_alternation(sides: Sides, earlier: Features = ([], [])) -> Alternation:
    """Return the best alternation, taken to its end.

    Several starts take a few rounds each, and the one with the lowest objective goes on. What the
    features of earlier pairs explain is taken out of both tables.
    """
    best: Alternation | None = None
    for weights in _starting_weights(sides, earlier):
        other = Alternation(sides, list(weights), earlier)
        other.run(FIRST_ROUNDS)
        if best is None or other.objective < best.objective:
            best = other
        if best.objective < GOOD_START:
            break
    assert best is not None
    best.run(MOST_ROUNDS)
    return best


def _without(A: np.ndarray, earlier: list[np.ndarray], alpha: float) -> np.ndarray:
    """Return columns without what the smoothers of earlier pairs explain of them."""
    for features in earlier:
        # The columns may be there for some of the rows only.
        rows = np.linspace(0, len(features) - 1, len(A)).astype(int)
        P = _half_smoother(features[rows], alpha)
        A = A - P @ (P.T @ A)
    return A


def _starting_weights(sides: Sides, earlier: Features) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield weights that favor columns which depend on a column of the other table.

    In the first start a dependence counts by how far it exceeds the largest one after the rows of
    one table have been permuted, 19 times; where none does, all columns have the same weight. The
    further starts are the strongest dependences, one by one: a pair that shows weakly in single
    columns may be strong together.
    """
    left, right = (
        (_without(side.functions[0], features, side.alpha), side.functions[1])
        for side, features in zip(sides, earlier, strict=True)
    )
    rng = np.random.default_rng(sides[0].seed or 0)
    chance = 0.0
    for _ in range(CHANCE_DRAWS):
        shuffled = right[0][rng.permutation(len(right[0]))], right[1]
        chance = max(chance, dependence_scores(left, shuffled).max())
    dependence = dependence_scores(left, right)
    yield _favoring(sides, np.maximum(dependence - chance, 0.0))
    strongest = np.argsort(-dependence, axis=None, kind="stable")[:SINGLE_STARTS]
    for place in strongest:
        alone = np.zeros_like(dependence)
        alone.flat[place] = 1.0
        yield _favoring(sides, alone)


def _favoring(sides: Sides, excess: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return starting weights of both tables by the dependences that count."""
    starts = []
    for i, side in enumerate(sides):
        strength = np.sqrt((excess**2).sum(axis=1 - i))
        problem = side.setup.problem
        starts.append(favor(problem, strength) if strength.any() else scaled_weights(problem))
    return starts[0], starts[1]


# -- rows that were held out ----------------------------------------------------------------------


def permutation_tests(
    pairs: list[Pair],
    tables: Tables,
    n_permutations: int,
    rng: np.random.Generator,
    units: RowUnits | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the correlation of every pair over other rows, and its p-value.

    That is the share of permutations of the rows of one table with at least this correlation. Where
    rows belong together, whole units of them are permuted.
    """
    correlations, p_values = [], []
    for pair in pairs:
        f, g = (model.scores(rows)[:, 0] for model, rows in zip(pair.models, tables, strict=True))
        found = correlate(f, g)
        correlations.append(found)
        if units is None:
            orders = (rng.permutation(len(g)) for _ in range(n_permutations))
        else:
            f, g = units.within(f), units.within(g)
            found = correlate(f, g)
            orders = (units.exchanged(rng) for _ in range(n_permutations))
        by_chance = np.array([correlate(f, g[order]) for order in orders])
        # An order that changes nothing gives the same number but for rounding.
        slack = 0.0 if units is None else SAME_CORRELATION
        exceeded = np.count_nonzero(by_chance >= found - slack)
        p_values.append((1 + exceeded) / (1 + n_permutations))
    return np.array(correlations), np.array(p_values)
