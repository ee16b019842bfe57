"""Scores of one fold: follow the paths on its training rows, judge every setting on the others."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelknife._engine.data import open_rows_to_predict
from kernelknife._engine.fitting import (
    Job,
    find_start,
    make_solver,
    prepare_job,
    publish_model,
    trace_path,
)
from kernelknife._engine.model import build_model, final_coefficients
from kernelknife._engine.search import (
    Start,
    Trace,
    equal_weights,
    refit_without_penalty,
    solve_for_count,
)
from kernelknife._engine.solvers import Solution
from kernelknife._tuning.settings import EQUAL, PENALIZED, RELAXED, Line, penalty_for_share
from kernelknife._utils.checks import check_number
from kernelknife._utils.progress import SILENT, Task
from kernelknife._utils.threads import limited_blas

__all__ = [
    "EXACT",
    "FOLD_TOL",
    "Data",
    "FoldScores",
    "as_in_a_fold",
    "refit_as_judged",
    "score_lines",
]

POINTS_TO_COUNT = 50  # of the path that an exact number of features is taken from
FOLD_TOL = 1e-3  # of the objective on a fold, whose score is uncertain by far more
# Options of models on a few hundred rows, for which any memory suffices.
EXACT = {"n_centers": None, "memory_budget": 2**31}


@dataclass(frozen=True)
class Data:
    """The rows of a cross-validation and how a model is judged on some of them.

    Attributes
    ----------
    X, y, sample_weight : ndarray
    scorer : callable or None
        ``scorer(model, X, y)``, perhaps with ``sample_weight``. None is the accuracy for classes
        and the negative mean squared error for numbers, which take a thousandth of a second less
        than a scorer of scikit-learn: as long as everything else, for tables of a hundred rows.
    """

    X: np.ndarray
    y: np.ndarray
    sample_weight: np.ndarray
    scorer: Callable[..., float] | None

    @property
    def n_counted(self) -> int:
        """Number of rows with a positive weight."""
        return int(np.count_nonzero(self.sample_weight))

    def take(self, rows: np.ndarray) -> "Data":
        """Return some of the rows, judged in the same way."""
        return Data(self.X[rows], self.y[rows], self.sample_weight[rows], self.scorer)


@dataclass(frozen=True)
class FoldScores:
    """Scores and selected features of every setting of one line on one fold.

    Attributes
    ----------
    scores : ndarray of shape (n_settings,)
    selected : ndarray of shape (n_settings, n_bytes)
        Packed to bits: thousands of features in dozens of folds.
    n_training_rows : int
        Rows that the models were fitted to; a first look takes some of those of a fold.
    """

    scores: np.ndarray
    selected: np.ndarray
    n_training_rows: int


def score_lines(
    lines: Sequence[Line],
    data: Data,
    train: np.ndarray,
    test: np.ndarray,
    begin: Start | None = None,
    look: np.ndarray | None = None,
    task: Task = SILENT,
) -> tuple[list[FoldScores], Start | None]:
    """Score lines of one kernel on one fold; each begins where the first one's path began.

    Parameters
    ----------
    lines : sequence of Line
        Of the same kernel.
    data : Data
    train, test : ndarray of int
        Rows of the fold.
    begin : Start, default=None
        Where the paths begin; None finds out with the first line.
    look : ndarray of int, default=None
        Training rows that tell where to begin; None takes all of them.
    task : Task

    Returns
    -------
    scores : list of FoldScores
    begin : Start
    """
    with limited_blas(), task:
        X, y, s = data.X[train], data.y[train], data.sample_weight[train]
        job = prepare_job(lines[0].template, X, y, s)
        rough = as_in_a_fold(lines[0].template)
        if begin is None and look is not None:
            begin = _start_on(lines[0], data.take(look))
        if begin is not None and len(begin.weights) != job.problem.n_weights:
            begin = None  # it was found on some of the rows, where other columns are constant
        results = []
        for line in lines:
            here = job.with_alpha(line.alpha)
            counted = line.template.n_features_to_select is not None
            grid = _penalties_of_fold(line, here, data, train)
            with task.subtask("line"):
                trace = trace_path(rough, here, POINTS_TO_COUNT if counted else grid, begin=begin)
                begin = trace.begun
                score = _score_count if counted else _score_line
                results.append(score(line, here, trace, data, test))
        return results, begin


def refit_as_judged(
    line: Line, weighting: str, point: int, data: Data, train: np.ndarray, begin: Start | None
) -> Any:
    """Return the model of one setting that a fold has judged, found again in the same way.

    A fit with the same penalties could end in another minimum.

    Parameters
    ----------
    line : Line
    weighting : str
        Of the setting.
    point : int
        Of the path; it means nothing for equal weights.
    data : Data
    train : ndarray of int
        Training rows of the fold.
    begin : Start or None
        Where its paths began.
    """
    with limited_blas():
        X, y, s = data.X[train], data.y[train], data.sample_weight[train]
        job = prepare_job(line.template, X, y, s).with_alpha(line.alpha)
        rough = as_in_a_fold(line.template)
        if weighting == EQUAL:
            solution = equal_weights(job.problem)
        else:
            grid = _penalties_of_fold(line, job, data, train)
            points: Sequence[Solution] = trace_path(rough, job, grid, begin=begin).points
            if weighting == RELAXED:
                points = _relaxed(line, job, make_solver(rough), points[: point + 1])
            solution = points[min(point, len(points) - 1)]
        model = copy(line.template)
        publish_model(model, job, solution)
        return model


def _penalties_of_fold(line: Line, job: Job, data: Data, train: np.ndarray) -> np.ndarray:
    """Return the penalties of a line as they are for the training rows of a fold."""
    share = data.sample_weight[train].sum() / data.sample_weight.sum()
    return penalty_for_share(line.penalties, share, convex=job.problem.convex)


def _start_on(line: Line, data: Data) -> Start:
    """Return where the path of a line begins on few rows, which are faster without centers."""
    template = as_in_a_fold(line.template).set_params(**EXACT)
    return find_start(template, prepare_job(template, data.X, data.y, data.sample_weight))


def as_in_a_fold(template: Any) -> Any:
    """Return the estimator with a tolerance that is fine enough for a score."""
    return copy(template).set_params(tol=max(template.tol, FOLD_TOL))


def _score_count(line: Line, job: Job, trace: Trace, data: Data, test: np.ndarray) -> FoldScores:
    """Score the model with as many features as the estimator asks for."""
    solver, wanted = make_solver(as_in_a_fold(line.template)), line.template.n_features_to_select
    check_number(wanted, "n_features_to_select", low=1, integer=True)
    if wanted > job.problem.n_weights:
        raise ValueError(
            f"n_features_to_select={wanted} is more than the {job.problem.n_weights} features (or "
            "groups) that are not constant on the training rows of every fold."
        )
    solution = solve_for_count(job.problem, solver, trace, wanted)
    score, selected = _Judge(line, job, data, test)(solution)
    bits = np.packbits(selected[None], axis=1)
    return FoldScores(np.array([score]), bits, job.prepared.rows.shape[0])


def _score_line(line: Line, job: Job, trace: Trace, data: Data, test: np.ndarray) -> FoldScores:
    """Score every model that belongs to a path."""
    judge = _Judge(line, job, data, test)
    solver = make_solver(as_in_a_fold(line.template))
    parts = []
    for weighting in line.weightings:
        if weighting == PENALIZED:
            parts.append(judge.path(trace.points))
        elif weighting == RELAXED:
            parts.append(judge.path(_relaxed(line, job, solver, trace.points)))
        elif weighting == EQUAL:
            parts.append([judge(equal_weights(job.problem))])
    scores, selected = zip(*(pair for part in parts for pair in part), strict=True)
    bits = np.packbits(selected, axis=1)
    return FoldScores(np.array(scores), bits, job.prepared.rows.shape[0])


def _relaxed(line: Line, job: Job, solver: Any, points: Sequence[Solution]) -> list[Solution]:
    """Return every point of a path refitted without its penalty, every selection once."""
    relaxed: dict[bytes, Solution] = {}
    for point in points:
        support = (point.w > 0).tobytes()
        if support not in relaxed and line.refits(int(np.count_nonzero(point.w))):
            relaxed[support] = refit_without_penalty(job.problem, solver, point.w)
    return [relaxed.get((point.w > 0).tobytes(), point) for point in points]


class _Judge:
    """Scores solutions on the test rows, each of them once."""

    def __init__(self, line: Line, job: Job, data: Data, test: np.ndarray):
        self.line, self.job, self.scorer = line, job, data.scorer
        self.X, self.y, self.s = data.X[test], data.y[test], data.sample_weight[test]
        self.weighted = {} if (self.s == 1).all() else {"sample_weight": self.s}
        self.rows = open_rows_to_predict(self.X, None, self.X.shape[1], np.asarray)
        self.known: dict[int, tuple[float, np.ndarray]] = {}

    def __call__(self, solution: Solution) -> tuple[float, np.ndarray]:
        """Return the score of a solution and which features it selects."""
        if self.scorer is None:
            prepared, built = self.job.prepared, self.job.built
            C, b, _ = final_coefficients(prepared, built, solution)
            fitted = build_model(prepared, built, solution.w, C, b)
            selected = prepared.user_values(solution.w) > 0
            return self._plain_score(fitted.predict(self.rows)), selected
        model = copy(self.line.template)
        publish_model(model, self.job, solution)
        return self.scorer(model, self.X, self.y, **self.weighted), model.get_support()

    def _plain_score(self, predicted: np.ndarray) -> float:
        """Return the accuracy, or the negative mean squared error."""
        if self.job.prepared.targets.classes is not None:
            return float(np.average(predicted == self.y, weights=self.s))
        squares = (predicted - self.y) ** 2
        return -float(np.average(squares, weights=self.s, axis=0).mean())

    def path(self, points: Sequence[Solution]) -> list[tuple[float, np.ndarray]]:
        """Return one score per penalty: past the end of a path nothing changes any more."""
        judged = []
        for point in points:
            if id(point) not in self.known:
                self.known[id(point)] = self(point)
            judged.append(self.known[id(point)])
        return judged + [judged[-1]] * (len(self.line.penalties) - len(judged))
