"""From scores to probabilities, learned on rows that the models of folds have not seen.

A sigmoid of two numbers per class (Platt 1999, with the targets that he smooths), or an increasing
step function (isotonic regression). Beyond two classes each is against the rest, and normalized;
labels, of which a row may have several, are not.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from kernelknife._engine import FitSpec, fit, prepare_arrays
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.data.targets import stack_offset
from kernelknife._utils.arrays import to_host

__all__ = [
    "PROBABILITIES",
    "ProbabilityMap",
    "held_out_scores",
    "learn_probabilities",
    "learns_probabilities",
    "scores_of_folds",
]

PROBABILITIES = ("sigmoid", "isotonic")


@dataclass(frozen=True, eq=False)
class ProbabilityMap:
    """The way from scores to probabilities.

    Attributes
    ----------
    method : {"sigmoid", "isotonic"}
    positions : tuple of ndarray
        By column of scores: for "sigmoid" slope and intercept, for "isotonic" increasing scores.
    chances : tuple of ndarray
        For "isotonic" the probabilities at these scores; empty for "sigmoid".
    labels : bool
        Whether columns are labels of their own.
    """

    method: str
    positions: tuple[np.ndarray, ...]
    chances: tuple[np.ndarray, ...] = ()
    labels: bool = False

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return the probabilities of all classes or labels, given scores of shape (n, k)."""
        scores = to_host(scores)
        if self.method == "sigmoid":
            lines = zip(scores.T, self.positions, strict=True)
            columns = [expit(slope * f + intercept) for f, (slope, intercept) in lines]
        else:
            tables = zip(scores.T, self.positions, self.chances, strict=True)
            columns = [np.interp(f, at, chance) for f, at, chance in tables]
        chance = np.stack(columns, axis=1)
        if self.labels:
            return chance
        if chance.shape[1] == 1:
            return np.hstack([1.0 - chance, chance])
        total = chance.sum(axis=1, keepdims=True)
        equal = 1.0 / chance.shape[1]
        return np.where(total > 0, chance / np.where(total > 0, total, 1.0), equal)


def learns_probabilities(probability: Any, spec: FitSpec) -> bool:
    """Whether probabilities have to be learned; raise for a word that means nothing."""
    if probability is None:
        return False
    if spec.task == "regression":
        raise ValueError("probability is for classifiers: a regression has no classes.")
    if probability not in PROBABILITIES:
        raise ValueError(
            f"Unknown probability {probability!r}. Known names: {', '.join(PROBABILITIES)}."
        )
    return spec.loss.probability is None


def held_out_scores(
    spec: FitSpec,
    splits: Any,
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray,
    offset: np.ndarray | None = None,
) -> np.ndarray:
    """Return the scores of the test rows of every fold, by a model of its training rows."""
    parts, Y = [], y if offset is None else stack_offset(y, offset, classes=True)
    for train, test in splits:
        found = fit(spec, prepare_arrays(spec, X[train], Y[train], s[train]))
        known = None if offset is None else offset[test]
        scores = found.model.decisions(ArrayRows(X[test]), known)
        parts.append(np.reshape(scores, (len(test), -1)))
    return np.concatenate(parts)


def scores_of_folds(models: Any, splits: Any, X: np.ndarray) -> np.ndarray:
    """Return what the models of folds say of their test rows."""
    pairs = zip(models, splits, strict=True)
    return np.concatenate([model.decision_function(X[test]) for model, (_, test) in pairs])


def learn_probabilities(
    scores: np.ndarray, codes: np.ndarray, s: np.ndarray, method: str
) -> ProbabilityMap:
    """Learn probabilities from scores of rows that had no part in their models.

    Parameters
    ----------
    scores : ndarray of shape (n,) or (n, k)
        One column for two classes, else one per class.
    codes : ndarray of int of shape (n,) or (n, k)
        Of the classes, or 0 and 1 by label.
    s : ndarray of shape (n,)
        Sample weights.
    method : {"sigmoid", "isotonic"}
    """
    scores = np.reshape(scores, (len(codes), -1))
    k, of_labels = scores.shape[1], codes.ndim == 2
    labels = list(codes.T > 0) if of_labels else [codes == (1 if k == 1 else q) for q in range(k)]
    pairs = list(zip(scores.T, labels, strict=True))
    if method == "sigmoid":
        lines = tuple(_platt(f, label, s) for f, label in pairs)
        return ProbabilityMap(method, lines, labels=of_labels)
    fitted = [
        IsotonicRegression(out_of_bounds="clip", y_min=0.0, y_max=1.0).fit(f, label, s)
        for f, label in pairs
    ]
    return ProbabilityMap(
        method,
        tuple(np.asarray(one.X_thresholds_, dtype=float) for one in fitted),
        tuple(np.asarray(one.y_thresholds_, dtype=float) for one in fitted),
        of_labels,
    )


def _platt(f: np.ndarray, label: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Return slope and intercept of the sigmoid; no class is taken for certain."""
    yes, no = float(s[label].sum()), float(s[~label].sum())
    target = np.where(label, (yes + 1.0) / (yes + 2.0), 1.0 / (no + 2.0))
    size = float(np.abs(f).max()) or 1.0
    z = f / size

    def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
        line = theta[0] * z + theta[1]
        loss = s @ (np.logaddexp(0.0, line) - target * line)
        error = s * (expit(line) - target)
        return float(loss), np.array([error @ z, error.sum()])

    begin = np.array([0.0, np.log((yes + 1.0) / (no + 1.0))])
    found = minimize(objective, begin, jac=True, method="BFGS").x
    return np.array([found[0] / size, found[1]])
