"""The fitted model: what is needed to predict, and nothing else."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from kernelknife._engine.data import Columns, Rows, TargetEncoder, TrainingData, check_finite
from kernelknife._engine.data.columns import LARGEST_RAW_VALUE
from kernelknife._engine.effects import EffectMoments, measure_effects
from kernelknife._engine.objective import Problem
from kernelknife._engine.solvers import Solution
from kernelknife._utils.arrays import Array, like, namespace
from kernelknife.kernels import Kernel
from kernelknife.losses import Loss
from kernelknife.losses.survival import Baseline, CoxLoss

__all__ = ["Model", "build_model", "final_coefficients"]


@dataclass(frozen=True)
class Model:
    """Support vectors in the selected columns, with their coefficients.

    Attributes
    ----------
    kernel : Kernel
    columns : Columns
        The user's columns that carry a weight, and how they are standardized.
    v : ndarray of shape (n_selected,)
        Their weights as the kernel's form takes them.
    support : ndarray of int
        The user's rows that carry a coefficient; for given centers their numbers.
    vectors : ndarray of shape (n_support, n_selected)
        Those rows, standardized.
    coef : ndarray of shape (n_support, k)
    intercept : ndarray of shape (k,)
    targets : TargetEncoder
        The way from scores to predictions.
    moments : EffectMoments or None
        Of the effects over the training rows; None for a kernel without effects, for a model that
        only predicts, and where the effects are too many to be measured.
    baseline : Baseline or None
        The hazard of a score of zero, for a model of survival times that does not only rank.
    adjusted : Columns or None
        The columns that are adjusted for: a linear part that nothing penalizes.
    adjusted_coef : ndarray of shape (q, k) or None
    """

    kernel: Kernel
    columns: Columns
    v: np.ndarray
    support: np.ndarray
    vectors: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    targets: TargetEncoder
    moments: EffectMoments | None = None
    baseline: Baseline | None = None
    adjusted: Columns | None = None
    adjusted_coef: np.ndarray | None = None

    def adjusted_parts(self, X: np.ndarray) -> dict[int, np.ndarray]:
        """Return what each column that is adjusted for adds to the scores of a user's rows."""
        if self.adjusted is None or self.adjusted_coef is None:
            return {}
        Z, sources = self.adjusted.take(X), self.adjusted.sources
        return {
            int(j): Z[:, sources == i] @ self.adjusted_coef[sources == i]
            for i, j in enumerate(self.adjusted.index)
        }

    def kernel_matrix(self, X: np.ndarray) -> np.ndarray:
        """Return the weighted kernel matrix of a user's rows."""
        Z = self.columns.take(X)
        K: np.ndarray = self.kernel(Z, Z, self.v)
        return K

    def with_moments(self, rows: Rows) -> "Model":
        """Return the model with the moments of its effects over its training rows."""
        moments = measure_effects(
            rows, self.kernel, self.columns, self.v, self.vectors, self.coef, self.intercept
        )
        return replace(self, moments=moments)

    def with_baseline(self, loss: CoxLoss, rows: Rows) -> "Model":
        """Return the model with the baseline hazard of its training rows.

        The loss leaves the level of the scores open. Here their mean over these rows is zero.
        """
        sample, _ = rows.load()
        s = np.asarray(sample.s, dtype=float)
        scores = self._of_block(rows.names, _same, sample.X)
        level = np.average(scores, axis=0, weights=s)
        baseline = loss.bind(np.asarray(sample.y, dtype=float), s).baseline(scores - level)
        return replace(self, intercept=self.intercept - level, baseline=baseline)

    def scores(self, rows: Rows) -> Array:
        """Return the scores of rows of any kind, shape (n, k), in their own kind of array."""
        return self.mapped(rows, _same)

    # The ``offset`` of these has the known parts of the scores, shape (n,) or (n, k).

    def decisions(self, rows: Rows, offset: np.ndarray | None = None) -> Array:
        """Return the scores, without the second axis for two classes."""
        return self.mapped(rows, _first if self.targets.squeeze else _same, offset)

    def predict(self, rows: Rows, offset: np.ndarray | None = None) -> Array:
        """Return the predictions for rows of any kind."""
        return self.mapped(rows, self.targets.decode, offset)

    def probabilities(self, rows: Rows, loss: Loss, offset: np.ndarray | None = None) -> Array:
        """Return class probabilities by a loss that has them."""
        labels = self.targets.labels
        chances = loss.probability if labels else partial(_class_probabilities, loss)
        return self.mapped(rows, chances, offset)

    def mapped(
        self, rows: Rows, after: Callable[[Array], Array], offset: np.ndarray | None = None
    ) -> Array:
        """Return a function of the scores of rows of any kind."""
        width = max(1, len(self.vectors))
        if offset is None:
            return rows.map(partial(self._of_block, rows.names, after), width=width)
        scores = rows.map(partial(self._of_block, rows.names, _same), width=width)
        known = np.asarray(offset, dtype=float).reshape(len(scores), -1) / self.targets.scale
        return after(scores + like(known, scores))

    def _of_block(
        self, names: np.ndarray | None, after: Callable[[Array], Array], X: Array
    ) -> Array:
        """Return ``after(scores)`` of a block of a user's rows, all columns of it."""
        if isinstance(X, np.ndarray):
            X = np.asarray(X, dtype=float)
            check_finite(X, names, refuses_gaps=self.columns.refuses_gaps)
        else:
            xp = namespace(X)
            if bool(xp.any(xp.isinf(X))):
                raise ValueError("Input X contains infinity: replace it, or make it NaN.")
            if self.columns.refuses_gaps and bool(xp.any(xp.isnan(X))):
                raise ValueError("Input X contains NaN. Drop or impute them first.")
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._scores(X)
        if isinstance(scores, np.ndarray) and not np.isfinite(scores).all():
            row = np.flatnonzero(~np.isfinite(scores).all(axis=1))[0]
            far = np.nanargmax(np.abs(X[row, self.columns.index] / self.columns.scale))
            column = self.columns.index[far]
            name = column if names is None else repr(str(names[column]))
            raise ValueError(
                f"A prediction overflows: column {name} holds {X[row, column]:g}, too far from its "
                "values in the training rows. Correct it, or leave its row out."
            )
        return after(scores)

    def _scores(self, X: Array) -> Array:
        Z = self.columns.take(X)
        if self.kernel.translation_invariant and isinstance(Z, np.ndarray):
            # So far away a row is far from all others, and its squared distances do not overflow.
            Z = np.clip(Z, -LARGEST_RAW_VALUE, LARGEST_RAW_VALUE)
        K = self.kernel(Z, like(self.vectors, Z), like(self.v, Z))
        scores = K @ like(self.coef, K) + like(self.intercept, K)
        if self.adjusted is not None:
            scores = scores + self.adjusted.take(X) @ like(self.adjusted_coef, K)
        return scores


def _same(scores: Array) -> Array:
    return scores


def _first(scores: Array) -> Array:
    return scores[:, 0]


def _class_probabilities(loss: Loss, scores: Array) -> Array:
    """Return probabilities of all classes; beyond two, each against the rest and normalized."""
    xp = namespace(scores)
    chance = loss.probability(scores)
    if chance.shape[1] == 1:
        return xp.concat([1.0 - chance, chance], axis=1)
    total = xp.sum(chance, axis=1)[:, None]
    # Where the probability of every class underflows, all of them get the same.
    possible = total > 0
    share = chance / xp.where(possible, total, xp.ones_like(total))
    return xp.where(possible, share, xp.ones_like(chance) / chance.shape[1])


def final_coefficients(
    problem: Problem, loss: Loss, solution: Solution
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return coefficients and intercepts for the user's own loss, and whether they are accurate.

    Where the weights were found with a smooth loss in its place, they are fitted anew.
    """
    if loss.surrogate is None:
        return solution.C, solution.b, True
    return problem.refit(loss, solution.w)


def build_model(
    data: TrainingData,
    problem: Problem,
    center_rows: np.ndarray,
    w: np.ndarray,
    C: np.ndarray,
    b: np.ndarray,
) -> Model:
    """Keep the rows with a coefficient and the columns with a weight.

    Parameters
    ----------
    data : TrainingData
    problem : Problem
    center_rows : ndarray of int
        The user's number of each row that carries a coefficient.
    w : ndarray of shape (n_weights,)
    C : ndarray of shape (m, k)
    b : ndarray of shape (r, k) or (k,)
        Of the unpenalized columns, the intercept last.
    """
    b = np.atleast_2d(np.asarray(b, dtype=float))
    subset = problem.features.select(np.flatnonzero(w))
    order = np.argsort(subset.columns, kind="stable")
    selected = subset.columns[order]  # in the user's order, the functions of a column together
    support = np.flatnonzero(C.any(axis=1))
    return Model(
        kernel=problem.kernel,
        columns=data.columns.restricted(selected),
        v=subset.form_weights(w)[order],
        support=center_rows[support],
        vectors=np.ascontiguousarray(problem.centers[np.ix_(support, selected)], dtype=float),
        coef=C[support],
        intercept=b[-1],
        targets=data.targets,
        adjusted=data.adjusted,
        adjusted_coef=None if data.adjusted is None else b[:-1],
    )
