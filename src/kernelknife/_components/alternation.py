"""Canonical pairs of two tables, found by turns between them.

At fixed weights :func:`canonical_pairs` solves the eigenproblem of regularized kernel canonical
correlation. The weights are found by :class:`Turns`: those of a table come from the regression of
the other table's scores, with a penalty on their sum, until the columns of both no longer change.
:func:`find_turns` compares several starts, and :func:`next_pair` makes a pair of the best one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from kernelknife._components.eigenproblems import (
    centered_features,
    dependence_scores,
    favor,
    solution_at,
    with_targets,
)
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.fitting import Job, make_solver
from kernelknife._engine.model import Model, build_model
from kernelknife._engine.search import Start, StartSettings, find_weights
from kernelknife._engine.search.starts import best_of_starts, scaled_weights
from kernelknife._engine.solvers import Solution
from kernelknife.estimators import KnifeRegressor

__all__ = [
    "AUTO_SHARE",
    "MOST_HALVINGS",
    "MOST_ROUNDS",
    "Pair",
    "Side",
    "Turns",
    "canonical_pairs",
    "correlate",
    "find_turns",
    "next_pair",
    "pairs_at",
]

# An automatic penalty, per row: a column of weight 1 must explain so large a share of the scores.
AUTO_SHARE = 0.03
MOST_ROUNDS = 8  # of turns between the tables; two to four are the rule
MOST_HALVINGS = 12  # of an automatic penalty that leaves no column
# A start takes so many rounds before it is compared with others, and needs no rival where both
# tables are left with less than this share of a constant's objective.
FIRST_ROUNDS, GOOD_START = 2, 0.4
SINGLE_STARTS = 4  # dependences of two columns that are starts of their own
CHANCE_DRAWS = 19  # permutations of rows that tell which dependence is chance


@dataclass(frozen=True)
class Side:
    """One of the two tables while the pairs are searched for."""

    name: str
    job: Job
    seen: np.ndarray
    functions: tuple[np.ndarray, np.ndarray]
    regressor: KnifeRegressor
    fixed: np.ndarray | None
    sparsity: Any

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.seen)

    @property
    def alpha(self) -> float:
        """Penalty on the squared norm of the model."""
        return self.job.problem.alpha

    def features(self, w: np.ndarray) -> np.ndarray:
        """Return the features of the weighted kernel, centered."""
        return centered_features(self.job, self.seen, w)

    def solve(
        self, target: np.ndarray, sparsity: float, begin: np.ndarray | None = None
    ) -> Solution:
        """Return the solution of the regression of a target at a penalty.

        Parameters
        ----------
        target : ndarray of shape (n,)
        sparsity : float
        begin : ndarray of shape (n_weights,), default=None
            Weights to begin with, of which those that are zero stay so; None tries the starts of
            a regression.
        """
        job = with_targets(self.job, target[:, None])
        solver = make_solver(self.regressor)
        if begin is None:
            settings = StartSettings(seed=job.seed)
            return find_weights(job.problem, solver, settings, sparsity)[0]
        start = Start("neighbor", begin, relaxes=False)
        return best_of_starts(job.problem, solver, [start], sparsity)[0]

    def regress(
        self, target: np.ndarray, begin: np.ndarray | None = None
    ) -> tuple[np.ndarray, float, float]:
        """Return the weights that predict a target, their penalty, and the objective.

        The objective is a share of that of a constant. All weights are zero where the penalty
        drives every column out; an automatic one is halved before that.
        """
        automatic = isinstance(self.sparsity, str)
        sparsity = AUTO_SHARE * self.n_rows if automatic else float(self.sparsity)
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
        job = with_targets(self.job, target[:, None])
        solution = solution_at(job, w)
        model = build_model(job.prepared, job.built, w, solution.C, solution.b)
        scores = model.scores(job.prepared.rows)
        center, scale = scores.mean(axis=0), scores.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        model = replace(
            model, coef=model.coef / scale, intercept=(model.intercept - center) / scale
        )
        return model, ((scores - center) / scale)[:, 0]


@dataclass(frozen=True)
class Pair:
    """A canonical pair: for each table its weights, its penalty, its model."""

    weights: tuple[np.ndarray, np.ndarray]
    features: tuple[np.ndarray, ...]  # of both kernels at these weights, or none to save memory
    sparsities: tuple[float, float]
    models: tuple[Model, Model]
    scores: tuple[np.ndarray, np.ndarray]
    n_rounds: int = 1

    @property
    def correlation(self) -> float:
        """Correlation of the two scores over the rows that the pair was found on."""
        return correlate(*self.scores)

    def held_out(self, tables: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return the two scores of other rows."""
        f, g = (
            model.scores(ArrayRows(table))[:, 0]
            for model, table in zip(self.models, tables, strict=True)
        )
        return f, g


def correlate(f: np.ndarray, g: np.ndarray) -> float:
    """Return the correlation of two scores, 0 where one of them is constant."""
    f, g = f - f.mean(), g - g.mean()
    size = np.linalg.norm(f) * np.linalg.norm(g)
    return float(f @ g / size) if size > 0 else 0.0


def canonical_pairs(
    A: np.ndarray, B: np.ndarray, alphas: tuple[float, float], k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the leading pairs of scores of two tables, by regularized canonical correlation.

    With centered features ``A`` and ``B`` of the rows, the smoothers ``R = A (A'A + alpha I)^-1 A'``
    are ``P P'`` and ``Q Q'``. A pair that each smoother turns into the other, up to scale, comes
    from the singular vectors of ``P'Q``.

    Parameters
    ----------
    A, B : ndarray of shape (n, r) and (n, t)
    alphas : pair of float
    k : int

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
    # A sign that the order of rows leaves as it is.
    sign = np.where(F[np.abs(F).argmax(axis=0), np.arange(F.shape[1])] < 0, -1.0, 1.0)
    F, G = (scores * sign for scores in (F, G))
    size = np.sqrt(len(A))
    F, G = (size * S / np.maximum(np.linalg.norm(S, axis=0), 1e-300) for S in (F, G))
    return F, G, values[:k]


def _half_smoother(A: np.ndarray, alpha: float) -> np.ndarray:
    """Return ``P`` with ``P P' = A (A'A + alpha I)^-1 A'``."""
    gram = A.T @ A
    gram.flat[:: len(gram) + 1] += alpha
    return solve_triangular(cholesky(gram, lower=True), A.T, lower=True).T


def pairs_at(sides: tuple[Side, Side], k: int) -> list[Pair]:
    """Return the k leading pairs at weights that are given."""
    turns = Turns(sides, [np.asarray(side.fixed) for side in sides])
    F, G, values = turns.leading_pairs(k)
    if len(values) < k:
        raise ValueError(
            f"n_components={k}, but the smaller of both kernel matrices has rank {len(values)}: "
            f"ask for at most {len(values)}."
        )
    return [turns.pair(f, g) for f, g in zip(F.T, G.T, strict=True)]


def _no_earlier_pairs() -> tuple[list[np.ndarray], list[np.ndarray]]:
    return [], []


@dataclass
class Turns:
    """A search by turns from one start: where it stands.

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

    sides: tuple[Side, Side]
    weights: list[np.ndarray]
    earlier: tuple[list[np.ndarray], list[np.ndarray]] = field(default_factory=_no_earlier_pairs)
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

    def leading_pairs(self, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the k leading pairs at the weights, in what earlier pairs leave."""
        alphas = self.sides[0].alpha, self.sides[1].alpha
        A, B = (_without(self.features(i), self.earlier[i], alphas[i]) for i in (0, 1))
        return canonical_pairs(A, B, alphas, k)

    def go_on(self, most_rounds: int, *, warm: bool = False) -> None:
        """Take turns until the columns no longer change, or there have been so many rounds.

        Parameters
        ----------
        most_rounds : int
        warm : bool, default=False
            Whether a regression begins with the weights that its table has, so that no column can
            come in.
        """
        while not self.settled and self.n_rounds < most_rounds:
            before = [tuple(np.flatnonzero(w)) for w in self.weights]
            for i in (0, 1):
                F, G, _ = self.leading_pairs(1)
                begin = self.weights[i] if warm else None
                found = self.sides[i].regress((G, F)[i][:, 0], begin)
                self.weights[i], self.sparsities[i], self.objectives[i] = found
                self._features[i] = None
                if self.empty:
                    self.objectives, self.settled = [1.0, 1.0], True
                    return
            self.n_rounds += 1
            self.settled = before == [tuple(np.flatnonzero(w)) for w in self.weights]

    def at_penalties(self, sparsities: tuple[float, float]) -> "Turns":
        """Return turns at other penalties that begin where these have ended."""
        left, right = (
            replace(side, sparsity=sparsity)
            for side, sparsity in zip(self.sides, sparsities, strict=True)
        )
        return replace(
            self,
            sides=(left, right),
            weights=list(self.weights),
            sparsities=[0.0, 0.0],
            objectives=[1.0, 1.0],
            n_rounds=0,
            settled=False,
            _features=list(self._features),
        )

    def leading_pair(self) -> Pair:
        """Return the leading pair at the weights."""
        F, G, _ = self.leading_pairs(1)
        return self.pair(F[:, 0], G[:, 0])

    def pair(self, f: np.ndarray, g: np.ndarray) -> Pair:
        """Return the pair of two scores at the weights: each table predicts the other's score."""
        left, right = self.sides
        x_model, ours = left.model(self.weights[0], g)
        y_model, theirs = right.model(self.weights[1], f)
        return Pair(
            (
                left.job.prepared.user_values(self.weights[0]),
                right.job.prepared.user_values(self.weights[1]),
            ),
            (self.features(0), self.features(1)),
            (self.sparsities[0], self.sparsities[1]),
            (x_model, y_model),
            (ours, theirs),
            max(self.n_rounds, 1),
        )


def next_pair(sides: tuple[Side, Side], before: list[Pair], seed: int | None) -> Pair:
    """Find the weights of the next pair by turns, and the pair at these weights.

    Parameters
    ----------
    sides : pair of Side
    before : list of Pair
        Pairs that were found already: what they explain is taken out of both tables.
    seed : int or None
        For the permutations that tell which dependence of two columns is chance.
    """
    earlier = [pair.features[0] for pair in before], [pair.features[1] for pair in before]
    turns = find_turns(sides, earlier, seed)
    for side, w, sparsity in zip(sides, turns.weights, turns.sparsities, strict=True):
        if not w.any():
            raise ValueError(
                f"sparsity={sparsity:g} drives every column of {side.name} out: lower it, or "
                "leave sparsity='auto'."
            )
    return turns.leading_pair()


def find_turns(
    sides: tuple[Side, Side],
    earlier: tuple[list[np.ndarray], list[np.ndarray]] = ([], []),
    seed: int | None = None,
) -> Turns:
    """Return the best search by turns, taken to its end.

    Several starts take a few turns each, and the one with the lowest objective goes on.

    Parameters
    ----------
    sides : pair of Side
    earlier : pair of lists of ndarray
        Features of earlier pairs, of each table.
    seed : int or None
        For the permutations that tell which dependence of two columns is chance.
    """
    best: Any = None
    for weights in _starting_weights(sides, earlier, seed):
        turns = Turns(sides, list(weights), earlier)
        turns.go_on(FIRST_ROUNDS)
        if best is None or turns.objective < best.objective:
            best = turns
        if best.objective < GOOD_START:
            break
    best.go_on(MOST_ROUNDS)
    return best


def _without(A: np.ndarray, earlier: list[np.ndarray], alpha: float) -> np.ndarray:
    """Return columns without what the smoothers of earlier pairs explain of them."""
    for features in earlier:
        # The columns may be there for some of the rows only.
        rows = np.linspace(0, len(features) - 1, len(A)).astype(int)
        P = _half_smoother(features[rows], alpha)
        A = A - P @ (P.T @ A)
    return A


def _starting_weights(
    sides: tuple[Side, Side], earlier: Any, seed: int | None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
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
    rng = np.random.default_rng(0 if seed is None else seed)
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


def _favoring(sides: tuple[Side, Side], excess: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return starting weights of both tables by the dependences that count."""
    starts = []
    for i, side in enumerate(sides):
        strength = np.sqrt((excess**2).sum(axis=1 - i))
        problem = side.job.problem
        starts.append(favor(problem, strength) if strength.any() else scaled_weights(problem))
    return starts[0], starts[1]
