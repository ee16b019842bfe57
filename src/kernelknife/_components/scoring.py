"""Optimal scoring: classes as scores on scales, and the scales that separate them best."""

from dataclasses import dataclass, replace

import numpy as np

from kernelknife._components.eigenproblems import column_signs
from kernelknife._engine import Model, Setup, build_model
from kernelknife._engine.data import measure_targets
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.solvers import Solution
from kernelknife.losses import SquaredHinge

__all__ = ["ClassScores", "Discriminants", "class_scores", "discriminants_at", "score_classes"]


@dataclass(frozen=True)
class ClassScores:
    """Scores that stand for the classes of some rows.

    Attributes
    ----------
    classes, priors : ndarray of shape (n_classes,)
        The classes and their shares.
    theta : ndarray of shape (n_classes, n_classes - 1)
        Score of each class on each scale.
    codes : ndarray of int of shape (n,)
        Class of every row.
    sample_weight : ndarray of shape (n,)
        All of them positive.
    """

    classes: np.ndarray
    priors: np.ndarray
    theta: np.ndarray
    codes: np.ndarray
    sample_weight: np.ndarray

    @property
    def targets(self) -> np.ndarray:
        """Scores of the rows."""
        scores: np.ndarray = self.theta[self.codes]
        return scores


def score_classes(rows: ArrayRows) -> tuple[ArrayRows, ClassScores]:
    """Return the rows of positive weight without their target, and the scores of their classes."""
    # This refuses missing values, numbers that are no classes, and a single class.
    measure_targets(rows, SquaredHinge(), standardize=False)
    classes, codes = np.unique(rows.y, return_inverse=True)
    s = rows.s
    priors = np.bincount(codes, s) / s.sum()
    # Rows that are left out by a weight of zero have no part in anything below.
    counted = s > 0
    scores = ClassScores(classes, priors, class_scores(priors), codes[counted], s[counted])
    return ArrayRows(rows.X[counted], s=s[counted], names=rows.names), scores


def class_scores(priors: np.ndarray) -> np.ndarray:
    """Return scores of classes on one scale fewer: mean 0 and covariance I over the rows.

    Two classes get the standardized code of -1 and +1.
    """
    root = np.sqrt(priors)
    # An orthonormal basis of what is orthogonal to the square roots of the shares.
    basis = np.linalg.qr(np.column_stack([root, np.eye(len(priors))[:, 1:]]))[0][:, 1:]
    basis = basis * np.where(basis[-1] < 0, -1.0, 1.0)
    theta: np.ndarray = basis / root[:, None]
    return theta


@dataclass(frozen=True)
class Discriminants:
    """A fit of the class scores, on scales of which the first separates the classes best.

    Attributes
    ----------
    setup : Setup
    solution : Solution
    model : Model
        What gives the discriminant scores of rows.
    scores : ClassScores
    shares : ndarray of shape (n_classes - 1,)
        Share of the variance of each scale that the model explains, the largest first.
    scalings : ndarray of shape (n_classes, n_classes - 1)
        Score of each class on each scale.
    """

    setup: Setup
    solution: Solution
    model: Model
    scores: ClassScores
    shares: np.ndarray
    scalings: np.ndarray


def discriminants_at(setup: Setup, solution: Solution, scores: ClassScores) -> Discriminants:
    """Return the discriminants of a solution whose targets are the scores of the rows' classes."""
    targets, s = scores.targets, scores.sample_weight
    model = build_model(
        setup.data, setup.problem, setup.center_rows, solution.w, solution.C, solution.b
    )
    fitted = model.scores(setup.data.rows)
    # The scales are rotated to where the model explains most; for two classes there is one.
    explained = targets.T @ (s[:, None] * fitted) / s.sum()
    values, axes = np.linalg.eigh(0.5 * (explained + explained.T))
    values, axes = np.clip(values[::-1], 0.0, 1.0), axes[:, ::-1]
    axes = axes * column_signs(axes)
    model = replace(model, coef=model.coef @ axes, intercept=model.intercept @ axes)
    return Discriminants(setup, solution, model, scores, values, scores.theta @ axes)
