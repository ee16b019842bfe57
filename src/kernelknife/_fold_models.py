"""The models of the folds of a fitted search, and the intervals that they make together."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelknife._base import scored_at
from kernelknife._engine import Model, Setup
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.search import Start
from kernelknife._engine.solvers import Solution
from kernelknife._offsets import OffsetPrediction
from kernelknife._tuning.candidates import Candidate, CandidatePath
from kernelknife._tuning.folds import Scoring, SearchData, model_at, refit_candidate
from kernelknife._utils.checks import FLOATS, check_number, make_dense
from kernelknife._utils.threads import limited_blas
from kernelknife.losses import Loss

__all__ = ["FoldIntervals", "IntervalPrediction", "find_again", "renumbered", "scored_candidate"]

FAR = 1e6  # a score that stands for minus infinity
BLOCK = 2**24  # numbers that are sorted at a time, one per new row and held-out row


def scored_candidate(single: Any, setup: Setup, solution: Solution, model: Model) -> Any:
    """Return what a scorer is called with: it may ask for the kernel and alpha of the candidate."""
    spec = setup.spec
    options = {"kernel": spec.kernel, "alpha": spec.alpha, "n_centers": spec.n_centers}
    return scored_at(copy(single).set_params(**options), setup, solution, model)


def renumbered(
    splits: Sequence[tuple[np.ndarray, np.ndarray]], rows: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return training and test rows of every fold, numbered within some rows."""
    return [(np.searchsorted(rows, train), np.searchsorted(rows, test)) for train, test in splits]


def find_again(
    path: CandidatePath,
    candidate: Candidate,
    data: SearchData,
    splits: Sequence[tuple[np.ndarray, np.ndarray]],
    starts: Sequence[Start | None],
    n_jobs: Any = None,
) -> list[tuple[Setup, Solution, Model]]:
    """Return the models of a candidate that the folds of a search have scored.

    Parameters
    ----------
    path : CandidatePath
    candidate : Candidate
    data : SearchData
        The rows of the search.
    splits : sequence of (ndarray, ndarray)
        Training and test rows, numbered within these.
    starts : sequence of Start or None
        Where the path began in every fold.
    n_jobs : int or None
    """
    calls = (
        delayed(_find_one)(path, candidate, data, train, begin)
        for (train, _), begin in zip(splits, starts, strict=True)
    )
    return list(Parallel(n_jobs=n_jobs)(calls))


def _find_one(
    path: CandidatePath,
    candidate: Candidate,
    data: SearchData,
    train: np.ndarray,
    begin: Start | None,
) -> tuple[Setup, Solution, Model]:
    with limited_blas():
        setup, solution = refit_candidate(path, candidate, data, train, begin)
        return setup, solution, model_at(setup, solution)


@dataclass(frozen=True)
class FoldIntervals:
    """Models of folds, and how far outside their predictions the targets lie that they held out.

    Attributes
    ----------
    models : list of Model
    fold : ndarray of int of shape (n_errors,)
        Which model an error is one of.
    errors : ndarray of shape (n_errors,)
        By how much a target lies beyond the prediction, or beyond the lowest and the highest of
        several; negative between these.
    weights : ndarray of shape (n_errors,)
        Of the rows; a row that several folds hold out has its share in each.
    least : float
        What no target is below.
    """

    models: list[Model]
    fold: np.ndarray
    errors: np.ndarray
    weights: np.ndarray
    least: float

    @classmethod
    def of(
        cls,
        models: list[Model],
        data: SearchData,
        splits: Sequence[tuple[np.ndarray, np.ndarray]],
        loss: Loss,
    ) -> "FoldIntervals":
        """Return the intervals that the models of folds make; rows and folds are those of both."""
        times = np.bincount(np.concatenate([test for _, test in splits]), minlength=len(data.y))
        errors, weights = [], []
        for model, (_, test) in zip(models, splits, strict=True):
            held = data.take(test)
            low, high = _ends(model, held.X, held.offset)
            errors.append(np.maximum(low - held.y, held.y - high))
            weights.append(held.sample_weight / times[test])
        fold = np.repeat(np.arange(len(models)), [len(part) for part in errors])
        with np.errstate(over="ignore"):
            least = round(float(np.ravel(loss.inverse_link(np.full((1, 1), -FAR)))[0]), 12)
        if least == -FAR:
            least = -np.inf
        return cls(models, fold, np.concatenate(errors), np.concatenate(weights), least)

    def at(self, X: np.ndarray, known: np.ndarray | None, level: float) -> np.ndarray:
        """Return the intervals of rows, shape (n, 2), with known parts of their scores."""
        check_number(level, "level", strict=True)
        if level >= 1.0:
            raise ValueError(f"level must lie between 0 and 1, got {level!r}.")
        # One more row, the new one, may have any error.
        wanted = level * (self.weights.sum() + self.weights.mean())
        if wanted > self.weights.sum() * (1.0 + 1e-12):
            least = int(np.ceil(level / (1.0 - level)))
            raise ValueError(
                f"level={level:g} needs at least {least} rows, and there are fewer: lower level."
            )
        ends = [_ends(model, X, known) for model in self.models]
        low, high = (np.column_stack(part) for part in zip(*ends, strict=True))
        intervals = np.empty((len(low), 2))
        step = max(1, BLOCK // len(self.errors))
        for first in range(0, len(low), step):
            some = slice(first, first + step)
            intervals[some, 0] = -self._quantile(self.errors - low[some][:, self.fold], wanted)
            intervals[some, 1] = self._quantile(self.errors + high[some][:, self.fold], wanted)
        # Where the errors are negative enough for the ends to cross, the interval is a point.
        crossed = intervals[:, 0] > intervals[:, 1]
        intervals[crossed] = intervals[crossed].mean(axis=1, keepdims=True)
        return np.maximum(intervals, self.least)

    def _quantile(self, values: np.ndarray, wanted: float) -> np.ndarray:
        """Return the smallest value of each row below which there is the wanted weight."""
        order = np.argsort(values, axis=1)
        total = np.cumsum(self.weights[order], axis=1)
        place = np.argmax(total >= wanted * (1.0 - 1e-12), axis=1)
        rows = np.arange(len(values))
        return np.asarray(values[rows, order[rows, place]])


def _ends(model: Model, X: np.ndarray, known: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and the highest of a model's predictions for each row."""
    predicted = np.asarray(model.predict(ArrayRows(X), known)).reshape(len(X), -1)
    return predicted[:, 0], predicted[:, -1]


def _searched_rows(setup: Setup) -> SearchData:
    """Return the rows of a search, with one target in the user's units."""
    rows, targets, loss = setup.data.rows, setup.data.targets, setup.spec.loss
    if targets.n_outputs != loss.n_levels:
        raise ValueError(
            f"Intervals are for one target, and there are {targets.n_outputs}: search for each of "
            "them by itself."
        )
    sample = rows.fetch(rows.sample(np.arange(rows.shape[0])))
    y = sample.y[:, 0] * targets.scale[0] + targets.center[0]
    offset = sample.y[:, targets.n_outputs] * targets.scale[0] if targets.offset else None
    return SearchData(sample.X, y, sample.s, Scoring("", None, _nothing), None, offset)


def _nothing(*_: Any) -> None:
    """Stand where nothing is scored."""


class IntervalPrediction(OffsetPrediction):
    """What a cross-validated regressor says of rows: predictions, their score, intervals."""

    n_jobs: Any
    memory_budget: float
    _setup: Setup
    _found: tuple[CandidatePath, Candidate]
    _folds: list[tuple[np.ndarray, np.ndarray]]
    _starts: list[Start | None]
    _intervals: Any

    def predict_interval(
        self, X: Any, level: float = 0.9, *, offset: Any = None, exposure: Any = None
    ) -> np.ndarray:
        """Predict an interval that a new target lies in with a given probability.

        The rows that a fold has held out show how far targets lie from predictions (CV+: Barber,
        Candes, Ramdas and Tibshirani, 2021). The probability is one over new rows like these, not
        at every single one. For several quantiles the interval between the lowest and the highest
        is moved outward or inward until it holds. The first call fits the models of the folds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.
        level : float, default=0.9
            Probability, between 0 and 1.
        offset, exposure : array-like of shape (n_samples,), default=None
            See :meth:`KnifeRegressor.predict`.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper end for every row.
        """
        check_is_fitted(self)
        known = self._known_scores(X, offset, exposure)
        X = make_dense(X, self.memory_budget)
        X = np.asarray(validate_data(self, X, reset=False, dtype=FLOATS), dtype=float)
        if self._intervals is None:
            data = _searched_rows(self._setup)
            found = find_again(*self._found, data, self._folds, self._starts, self.n_jobs)
            models = [model for _, _, model in found]
            self._intervals = FoldIntervals.of(models, data, self._folds, self._setup.spec.loss)
        return self._intervals.at(X, known, level)
