"""How well a selection predicts: errors, single classes, times, counts, amounts and quantiles.

The errors that decide are those of the search. What people read beside them is for times until an
event the concordance, and the Kaplan-Meier curves of rows of low, middle and high risk; for counts
and amounts, what came where as much was predicted; for quantiles, how many rows lie below them.
"""

from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from kernelknife._tuning.candidates import EQUAL
from kernelknife._tuning.choose import ScoreTable, nested_scores
from kernelknife._utils.threads import limited_blas
from kernelknife.losses import CoxLoss, ExpectileLoss, Loss, QuantileLoss
from kernelknife.survival_metrics import concordance, kaplan_meier

__all__ = [
    "Calibration",
    "ClassQuality",
    "Coverage",
    "HeldOut",
    "PredictedGroup",
    "RiskGroup",
    "Score",
    "SurvivalQuality",
    "WrongRow",
    "compare_survival",
    "judge_calibration",
    "judge_survival",
    "partial_error",
]

GROUPS = ("low risk", "middle risk", "high risk")
PREDICTED_GROUPS, LEAST_ROWS = 10, 5  # most groups by the prediction, and least rows of each


@dataclass(frozen=True)
class Score:
    """A mean over folds, and the standard error of that mean as ``spread``."""

    mean: float
    spread: float


@dataclass(frozen=True)
class HeldOut:
    """Errors on rows that were used neither to fit nor to select.

    Attributes
    ----------
    error : float
        Error of the selected model.
    baseline : float
        Error of the baseline, a constant that is estimated from the other rows.
    rows : int
        Number of rows held out.
    """

    error: float
    baseline: float
    rows: int


@dataclass(frozen=True)
class WrongRow:
    """A row whose class is not predicted, when it is a test row.

    Attributes
    ----------
    name : str
        Its identifiers, or its number.
    actual, predicted : str
        Its class, and the class that it is taken for most frequently.
    share : float
        In which share of its predictions it is wrong; folds may be repeated.
    """

    name: str
    actual: str
    predicted: str
    share: float


@dataclass(frozen=True)
class ClassQuality:
    """How well single classes are predicted on the test rows of the folds.

    Attributes
    ----------
    classes : tuple of str
        The classes, sorted.
    confusion : ndarray of shape (n_classes, n_classes)
        Number of rows by their class (first axis) and by the predicted class. A row that is tested
        several times counts in parts.
    class_errors : ndarray of shape (n_classes,)
        Share of the rows of each class that is predicted wrongly.
    balanced_error : float
        Mean of these shares: every class counts the same, however rare it is.
    area : float or None
        Area under the ROC curve, the mean over the folds, and over the classes (one against the
        rest) where there are more than two: 0.5 is chance, 1 is perfect. None where no fold has
        test rows of two classes.
    wrong_rows : tuple of WrongRow
        The rows that are predicted wrongly, the most frequently wrong first.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelknife.datasets import make_skin_of_orange
    >>> from kernelknife.app.selection import select_features
    >>> X, y = make_skin_of_orange(80, 2, random_state=0)
    >>> frame = pd.DataFrame(X, columns=list("abcdef")).assign(fruit=y)
    >>> quality = select_features(frame, "fruit", alpha=1.0, sparsity=5.0, folds=3).quality
    >>> quality.classes, float(quality.confusion.sum())
    (('0', '1'), 80.0)
    """

    classes: tuple[str, ...]
    confusion: np.ndarray
    class_errors: np.ndarray
    balanced_error: float
    area: float | None
    wrong_rows: tuple[WrongRow, ...] = field(repr=False)

    def to_json(self) -> dict:
        """Return the figures as a dict that ``json.dumps`` accepts.

        Returns
        -------
        dict
            Classes, counts, errors and the rows that are wrong.
        """
        return {
            "classes": list(self.classes),
            "confusion": self.confusion.round(6).tolist(),
            "class_errors": [float(error) for error in self.class_errors],
            "balanced_error": self.balanced_error,
            "area_under_the_curve": self.area,
            "wrong_rows": [vars(row) for row in self.wrong_rows],
        }


@dataclass(frozen=True)
class RiskGroup:
    """A third of the rows, by the risk that a model predicts which has not trained on them.

    Attributes
    ----------
    name : str
    n_rows, n_events : int
    times, survival : ndarray
        The Kaplan-Meier curve: the share of rows without an event from each time on.
    """

    name: str
    n_rows: int
    n_events: int
    times: np.ndarray = field(repr=False)
    survival: np.ndarray = field(repr=False)


@dataclass(frozen=True)
class SurvivalQuality:
    """How well times until an event are predicted on the test rows of the folds.

    Attributes
    ----------
    concordance, full_concordance : Score
        Harrell's concordance of the selected model and of the one that uses all columns with equal
        weights; without any column it is 0.5.
    groups : tuple of RiskGroup
        Thirds of the rows of every fold, by their predicted risk.
    """

    concordance: Score
    full_concordance: Score
    groups: tuple[RiskGroup, ...]

    def to_json(self) -> dict:
        """Return the figures as a dict that ``json.dumps`` accepts."""
        return {
            "concordance": vars(self.concordance),
            "concordance_of_all_columns": vars(self.full_concordance),
            "risk_groups": [
                {
                    "name": group.name,
                    "rows": group.n_rows,
                    "events": group.n_events,
                    "times": group.times.tolist(),
                    "survival": group.survival.tolist(),
                }
                for group in self.groups
            ],
        }


@dataclass(frozen=True)
class PredictedGroup:
    """Rows of similar predictions, which come from models that have not trained on them.

    Attributes
    ----------
    n_rows : int
    predicted, observed : float
        Means of the predictions and of the target.
    spread : float
        Standard error of the mean target.
    """

    n_rows: int
    predicted: float
    observed: float
    spread: float


@dataclass(frozen=True)
class Coverage:
    """How many targets do not exceed a predicted quantile.

    Attributes
    ----------
    quantile : float
        The share that was asked for.
    share, spread : float
        The share of the rows, by models that have not trained on them, and its standard error.
    """

    quantile: float
    share: float
    spread: float


@dataclass(frozen=True)
class Calibration:
    """Whether predictions of counts, amounts or quantiles are as large as they should be.

    Attributes
    ----------
    groups : tuple of PredictedGroup
        For counts and amounts the rows in up to ten groups of equal size by their prediction, the
        smallest first; with exposures predictions and targets are those of a row's own exposure.
    coverage : tuple of Coverage
        One for every quantile that was asked for.
    """

    groups: tuple[PredictedGroup, ...]
    coverage: tuple[Coverage, ...]

    def to_json(self) -> dict:
        """Return the figures as a dict that ``json.dumps`` accepts."""
        return {
            "groups": [vars(group) for group in self.groups],
            "coverage": [vars(one) for one in self.coverage],
        }


def judge_calibration(models, splits, X, y, loss: Loss, **known) -> Calibration:
    """Return whether predictions of the test rows are as large as they should be.

    A row that is tested several times, because the folds are repeated, has its mean prediction.

    Parameters
    ----------
    models : list of KnifeRegressor
        One per fold, fitted on its training rows.
    splits : list of (ndarray, ndarray)
    X, y : ndarray
    loss : Loss
        With a score of its own.
    **known
        ``offset`` and ``exposure`` of the rows, or None.
    """
    total, times = np.zeros((len(y), loss.n_levels)), np.zeros(len(y))
    for model, (_, test) in zip(models, splits, strict=True):
        mine = {name: None if part is None else part[test] for name, part in known.items()}
        total[test] += model.predict(X[test], **mine).reshape(len(test), -1)
        times[test] += 1
    rows = np.flatnonzero(times)
    predicted, y = total[rows] / times[rows, None], np.asarray(y, dtype=float)[rows]
    if isinstance(loss, QuantileLoss):
        below = (y[:, None] <= predicted).mean(axis=0)
        spread = np.sqrt(below * (1.0 - below) / len(rows))
        parts = zip(np.ravel(loss.quantile), below, spread, strict=True)
        return Calibration((), tuple(Coverage(*map(float, part)) for part in parts))
    if isinstance(loss, ExpectileLoss):
        return Calibration((), ())
    order = np.argsort(predicted[:, 0], kind="stable")
    n_groups = max(1, min(PREDICTED_GROUPS, len(rows) // LEAST_ROWS))
    groups = []
    for part in np.array_split(order, n_groups):
        spread = y[part].std(ddof=1) / np.sqrt(len(part)) if len(part) > 1 else np.nan
        means = predicted[part, 0].mean(), y[part].mean(), spread
        groups.append(PredictedGroup(len(part), *map(float, means)))
    return Calibration(tuple(groups), ())


def partial_error(loss: CoxLoss, y, scores, train, test) -> float:
    """Return what test rows add to the loss of the training rows, per test row.

    Parameters
    ----------
    loss : CoxLoss
    y : ndarray of shape (n_samples, 4)
    scores : ndarray of shape (n_samples,)
        Of a model that was fitted to the training rows.
    train, test : ndarray of int
    """
    both = np.concatenate([train, test])
    before = loss.bind(y[train], np.ones(len(train))).value(scores[train])
    after = loss.bind(y[both], np.ones(len(both))).value(scores[both])
    return (after - before) / len(test)


def compare_survival(search, y) -> tuple[np.ndarray, np.ndarray, str]:
    """Return the errors by fold of no model and of one with all columns, and the latter's name.

    Parameters
    ----------
    search : KnifeSurvivalCV
        Fitted; it has compared models of all columns with equal weights.
    y : ndarray of shape (n_samples, 4)
    """
    zeros = np.zeros(len(y))
    baseline = [partial_error(search.loss, y, zeros, *split) for split in search.splits_]
    results = search.cv_results_
    equal = np.flatnonzero((results["weighting"] == EQUAL) & results["followed"])
    folds = range(len(search.splits_))
    scores = np.array([results[f"split{i}_test_score"][equal] for i in folds])
    table = ScoreTable.of_scores(scores)
    full = -nested_scores(table, search.splits_, "min")
    return np.array(baseline), full, "a Cox model of the same kernels with equal weights"


def judge_survival(models, search, X, y, n_jobs) -> SurvivalQuality:
    """Return concordances and risk groups on the test rows of the folds.

    Parameters
    ----------
    models : list of KnifeSurvival
        One per fold, fitted on its training rows.
    search : KnifeSurvivalCV
    X, y : ndarray
    n_jobs : int or None
    """
    plain = clone(search.best_estimator_).set_params(
        learn_weights=False, relax=False, n_features_to_select=None, start="auto"
    )
    full = Parallel(n_jobs=n_jobs)(
        delayed(_fit)(clone(plain), X[train], y[train]) for train, _ in search.splits_
    )
    thirds = np.full((len(search.splits_), len(y)), -1)
    concordances = np.full((2, len(search.splits_)), np.nan)
    for i, (_, test) in enumerate(search.splits_):
        time, event, strata = y[test, 0], y[test, 1], y[test, 2]
        for row, model in enumerate((models[i], full[i])):
            risk = model.predict(X[test])
            with suppress(ValueError):  # where no two of these rows can be compared
                concordances[row, i] = concordance(time, event, risk, strata=strata)
        risk = models[i].predict(X[test])
        order = np.argsort(np.argsort(risk, kind="stable"), kind="stable")
        thirds[i, test] = order * len(GROUPS) // len(test)
    return SurvivalQuality(
        _mean_score(concordances[0]), _mean_score(concordances[1]), _groups(thirds, y)
    )


def _fit(model, X, y):
    with limited_blas():
        return model.fit(X, y)


def _mean_score(values):
    known = values[np.isfinite(values)]
    if len(known) < 2:
        return Score(float(known.mean()) if len(known) else np.nan, np.nan)
    return Score(float(known.mean()), float(known.std(ddof=1) / np.sqrt(len(known))))


def _groups(thirds, y):
    """Return the groups; where folds are repeated a row is in the one that it is in mostly."""
    votes = np.array([(thirds == group).sum(axis=0) for group in range(len(GROUPS))])
    mine = np.where(votes.any(axis=0), votes.argmax(axis=0), -1)
    found = []
    for group, name in enumerate(GROUPS):
        rows = mine == group
        times, survival = kaplan_meier(y[rows, 0], y[rows, 1])
        found.append(RiskGroup(name, int(rows.sum()), int(y[rows, 1].sum()), times, survival))
    return tuple(found)
