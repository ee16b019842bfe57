"""One fold: follow the paths on its training rows, score every candidate on its test rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import check_scoring

from kernelknife._engine import (
    FitSpec,
    Model,
    Setup,
    build_model,
    check_count,
    find_start,
    follow,
    prepare_arrays,
    set_up,
    solve_count,
)
from kernelknife._engine.data import TrainingData
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.data.columns import as_taken, take_both
from kernelknife._engine.data.targets import stack_offset
from kernelknife._engine.model import final_coefficients
from kernelknife._engine.search import Start, Trace, equal_weights, refit_without_penalty
from kernelknife._engine.solvers import Solution
from kernelknife._tuning.candidates import (
    EQUAL,
    PENALIZED,
    RELAXED,
    Candidate,
    CandidatePath,
    penalty_for_share,
)
from kernelknife._utils.messages import warn
from kernelknife._utils.progress import SILENT, Progress
from kernelknife._utils.threads import limited_blas
from kernelknife.losses import CoxLoss

__all__ = [
    "FOLD_TOL",
    "FoldScores",
    "Scoring",
    "SearchData",
    "coarse",
    "exact",
    "model_at",
    "refit_candidate",
    "refit_support",
    "rough",
    "score_paths",
    "score_solution",
    "set_up_fold",
    "solutions_on_path",
]

POINTS_TO_COUNT = 50  # of the path that an exact number of features is taken from
FOLD_TOL = 1e-3  # of the objective on a fold, whose score is uncertain by far more
# The same where only kernels, alphas and starts are compared, and weak weights are not tried to be
# dropped: on 18 planted problems nothing else came out.
SCREENING_TOL = 1e-2
# Standard errors of the difference, between the test rows of a fold, by which a model is surely
# worse than the best one of its path.
TURNED = 3.0


# -- what is scored, and how ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Scoring:
    """How a model is scored on the test rows of a fold.

    Attributes
    ----------
    name : str
        For pictures and reports.
    scorer : callable or None
        ``scorer(estimator, X, y)``, perhaps with ``sample_weight``. None is the score of the loss
        where it has one, the cross-validated partial likelihood for times until an event, else the
        accuracy for classes and the negative mean squared error for numbers. These take a
        thousandth of a second less than a scorer of scikit-learn: as long as everything else, for
        tables of a hundred rows.
    as_estimator : callable
        ``as_estimator(setup, solution, model)`` returns what a scorer can be called with.
    """

    name: str
    scorer: Callable[..., float] | None
    as_estimator: Callable[[Setup, Solution, Model], Any]

    @classmethod
    def checked(
        cls,
        scoring: Any,
        default: str,
        estimator: Any,
        as_estimator: Callable[[Setup, Solution, Model], Any],
        y: np.ndarray,
        s: np.ndarray,
    ) -> "Scoring":
        """Return the scoring that a user asks for.

        Parameters
        ----------
        scoring : str, callable or None
        default : str
            Name of what None stands for.
        estimator : object
            Not fitted, of the kind that will be scored.
        as_estimator : callable
        y, s : ndarray
            Targets and sample weights of all rows.
        """
        if scoring is None:
            return cls(default, None, as_estimator)
        if not (isinstance(scoring, str) or callable(scoring)):
            raise ValueError(
                "scoring must be one name or one callable, because it chooses the model; got "
                f"{type(scoring).__name__}."
            )
        name = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
        scorer = check_scoring(estimator, scoring)
        if not (s == 1).all() and not _takes_weights(scorer, y):
            warn(
                f"The scoring {name!r} takes no sample weights: the folds are scored without them.",
            )
            scorer = Unweighted(scorer)
        return cls(name, scorer, as_estimator)


class Unweighted:
    """A scorer that leaves out sample weights which its score cannot take."""

    # A class and not a function inside another, because other processes need to unpickle it.
    def __init__(self, scorer: Callable[..., float]):
        self.scorer = scorer

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        return self.scorer(estimator, X, y)


def _takes_weights(scorer: Callable[..., float], y: np.ndarray) -> bool:
    """Whether a scorer takes sample weights, tried on a constant prediction."""
    dummy = DummyClassifier() if np.asarray(y).dtype.kind not in "f" else DummyRegressor()
    zeros = np.zeros((len(y), 1))
    try:
        scorer(dummy.fit(zeros, y), zeros, y, sample_weight=np.ones(len(y)))
    except TypeError:
        return False
    # Whatever else is wrong with a constant prediction is not about weights.
    except Exception:
        return True
    return True


@dataclass(frozen=True, eq=False)
class SearchData:
    """The rows of a cross-validation and how a model is scored on some of them.

    Attributes
    ----------
    X, y, sample_weight : ndarray
    scoring : Scoring
    names : ndarray of str or None
        Names of the columns.
    offset : ndarray of shape (n,) or None
        Known parts of the scores.
    """

    X: np.ndarray
    y: np.ndarray
    sample_weight: np.ndarray
    scoring: Scoring
    names: np.ndarray | None = None
    offset: np.ndarray | None = None

    @property
    def n_counted(self) -> int:
        """Number of rows with a positive weight."""
        return int(np.count_nonzero(self.sample_weight))

    def take(self, rows: np.ndarray) -> "SearchData":
        """Return some of the rows, scored in the same way."""
        offset = None if self.offset is None else self.offset[rows]
        X, y, s = self.X[rows], self.y[rows], self.sample_weight[rows]
        return replace(self, X=X, y=y, sample_weight=s, offset=offset)

    def prepare(self, spec: FitSpec) -> TrainingData:
        """Measure and check all of the rows."""
        y = self.y
        if self.offset is not None:
            y = stack_offset(y, self.offset, spec.task == "classification")
        return prepare_arrays(spec, self.X, y, self.sample_weight, self.names)

    def set_up(self, spec: FitSpec) -> Setup:
        """Return the problem of a specification on all of the rows."""
        return set_up(spec, self.prepare(spec))


@dataclass(frozen=True)
class FoldScores:
    """Scores and selected features of every candidate of one path on one fold.

    Attributes
    ----------
    scores : ndarray of shape (n_candidates,)
    selected : ndarray of shape (n_candidates, n_bytes)
        Packed to bits: thousands of features in dozens of folds.
    n_training_rows : int
        Rows that the models were fitted to; a screening round takes some of those of a fold.
    weights : sparse array of shape (n_points, n_weights) or None
        Of every point of the path, from where another path can go on.
    n_factorizations : int
        Those of starts, of the path and of what was refitted.
    losses : ndarray of shape (n_candidates, n_test) or None
        What every test row takes from the scores, where these are means over rows.
    turned : int or None
        Number of penalties up to which the path was followed, where its scores have turned there.
    """

    scores: np.ndarray
    selected: np.ndarray
    n_training_rows: int
    weights: csr_array | None = None
    n_factorizations: int = 0
    losses: np.ndarray | None = None
    turned: int | None = None

    @classmethod
    def of_solution(cls, setup: Setup, solution: Solution, test: SearchData) -> "FoldScores":
        """Return the score of a single candidate."""
        score, selected, _ = _Judge(setup, test)(solution)
        bits = np.packbits(selected[None], axis=1)
        return cls(np.array([score]), bits, setup.data.rows.shape[0])

    def restricted(self, candidates: np.ndarray) -> "FoldScores":
        """Return those of some candidates."""
        losses = None if self.losses is None else self.losses[candidates]
        scores, selected = self.scores[candidates], self.selected[candidates]
        return replace(self, scores=scores, selected=selected, losses=losses)


# -- the work of one fold -------------------------------------------------------------------------


def rough(spec: FitSpec) -> FitSpec:
    """Return the specification with a tolerance that is fine enough for a score."""
    return replace(spec, solver=spec.solver.with_tolerance(FOLD_TOL))


def coarse(spec: FitSpec) -> FitSpec:
    """Return the specification for a screening round, which compares whole paths with others."""
    return replace(spec, solver=spec.solver.loosened(SCREENING_TOL))


def exact(spec: FitSpec) -> FitSpec:
    """Return the specification for a few hundred rows, for which any memory suffices."""
    return replace(spec, n_centers=None, memory_budget=2**31)


def score_paths(
    paths: Sequence[CandidatePath],
    data: SearchData,
    train: np.ndarray,
    test: np.ndarray,
    begins: Sequence[Start | None] = (),
    start_rows: np.ndarray | None = None,
    ends_early: bool = False,
    progress: Progress = SILENT,
) -> tuple[list[FoldScores], list[Start]]:
    """Score paths of one kernel on one fold.

    Parameters
    ----------
    paths : sequence of CandidatePath
        Of the same kernel.
    data : SearchData
    train, test : ndarray of int
        Rows of the fold.
    begins : sequence of (Start or None)
        Where each path begins. None is where the one before it is without a penalty; the first one
        finds out.
    start_rows : ndarray of int, default=None
        Training rows that decide where to begin; None takes all of them.
    ends_early : bool, default=False
        Whether a path of rising penalties ends where its scores have turned.
    progress : Progress

    Returns
    -------
    scores : list of FoldScores
    begun : list of Start
        Where each path began.
    """
    with limited_blas(), progress:
        setup = set_up_fold(paths[0].spec, data, train)
        given = list(begins) or [None] * len(paths)
        if given[0] is None and start_rows is not None:
            given[0] = find_start(set_up_fold(coarse(exact(paths[0].spec)), data, start_rows))
        following: Start | None = None
        results, begun = [], []
        for path, begin in zip(paths, given, strict=True):
            here = setup.with_alpha(path.alpha)
            if begin is not None and len(begin.weights) != here.problem.n_weights:
                begin = None  # it was found on some of the rows, where other columns are constant
            with progress.subtask("path"):
                penalties = _penalties_of_fold(path, here, data, train)
                judge, refits = _Judge(here, data.take(test)), _Refits(path, here)
                until = _Turning(path, judge, refits) if ends_early else None
                trace = follow(here, penalties, begin=begin or following, until=until)
                begun.append(trace.begun)
                following = _without_penalty(trace)
                solutions = [
                    solution
                    for weighting in path.weightings
                    for solution in solutions_on_path(path, here, trace, weighting, refits)
                ]
                judged = [judge(solution) for solution in solutions]
            scores, selected, losses = zip(*judged, strict=True)
            bits = np.packbits(selected, axis=1)
            weights = csr_array(np.array([point.w for point in trace.points]))
            n_rows, spent = here.data.rows.shape[0], _factorizations(trace, solutions)
            by_row = None if losses[0] is None else np.array(losses)
            turned = len(trace.points) if until is not None and until.turned else None
            results.append(
                FoldScores(np.array(scores), bits, n_rows, weights, spent, by_row, turned)
            )
        return results, begun


def _factorizations(trace: Trace, solutions: Sequence[Solution]) -> int:
    """Return the factorizations of a path and of what was refitted beside it, each once."""
    points = {id(point) for point in trace.points}
    others = {id(one): one.n_factorizations for one in solutions if id(one) not in points}
    return trace.n_factorizations + sum(others.values())


def _without_penalty(trace: Trace) -> Start:
    """Return where a path of a neighboring alpha begins: where this one is without a penalty."""
    point = trace.points[0]
    return replace(trace.begun, weights=point.w) if point.sparsity == 0.0 else trace.begun


def refit_candidate(
    path: CandidatePath,
    candidate: Candidate,
    data: SearchData,
    train: np.ndarray,
    begin: Start | None,
) -> tuple[Setup, Solution]:
    """Return the model of a candidate that a fold has scored, found again in the same way.

    A fit with the same penalties could end in another minimum.
    """
    if path.support is not None:
        return refit_support(path, data, train)
    setup = set_up_fold(path.spec, data, train)
    if candidate.weighting == EQUAL:
        return setup, equal_weights(setup.problem)
    trace = follow(setup, _penalties_of_fold(path, setup, data, train), begin=begin)
    if path.by_count:
        return setup, solutions_on_path(path, setup, trace, candidate.weighting)[-1]
    # The points before the candidate lead to it, those after it do not matter.
    path = replace(path, penalties=path.penalties[path.penalties <= candidate.sparsity])
    trace = replace(trace, points=trace.points[: len(path.penalties)])
    return setup, solutions_on_path(path, setup, trace, candidate.weighting)[-1]


def refit_support(
    path: CandidatePath, data: SearchData, train: np.ndarray
) -> tuple[Setup, Solution]:
    """Return the model of columns that have been selected, refitted on the rows of a fold."""
    assert path.support is not None
    setup = set_up_fold(path.spec, data, train)
    w = setup.data.weight_values(path.support)
    return setup, refit_without_penalty(setup.problem, setup.spec.solver, w)


def set_up_fold(spec: FitSpec, data: SearchData, rows: np.ndarray) -> Setup:
    """Return the problem of the training rows of a fold, to be solved to the tolerance of one."""
    spec = rough(spec)
    # A fold has no use for the names of columns.
    return replace(data.take(rows), names=None).set_up(spec)


def _penalties_of_fold(
    path: CandidatePath, setup: Setup, data: SearchData, train: np.ndarray
) -> int | np.ndarray:
    """Return the penalties of a path as they are for the training rows of a fold."""
    if path.by_count:
        return POINTS_TO_COUNT
    share = float(data.sample_weight[train].sum() / data.sample_weight.sum())
    return penalty_for_share(path.penalties, share, convex=setup.problem.convex)


def solutions_on_path(
    path: CandidatePath,
    setup: Setup,
    trace: Trace,
    weighting: str,
    refits: "_Refits | None" = None,
) -> list[Solution]:
    """Return the solutions of the candidates of one weighting, in the order of their penalties."""
    if weighting == EQUAL:
        return [equal_weights(setup.problem)]
    if path.by_count:
        where = " on the training rows of every fold"
        check_count(path.spec.n_features_to_select, setup.problem, where)
        return [solve_count(setup, trace)]
    # Past the end of a path nothing changes any more.
    missing = len(path.penalties) - len(trace.points)
    points = [*trace.points, *[trace.points[-1]] * missing]
    refits = refits or _Refits(path, setup)
    return list(map(refits, points)) if weighting == RELAXED else points


class _Refits:
    """Refits points of a path without its penalty, every selection once."""

    def __init__(self, path: CandidatePath, setup: Setup):
        self.path, self.setup = path, setup
        self.known: dict[bytes, Solution] = {}

    def __call__(self, point: Solution) -> Solution:
        """Return a point refitted, or as it is where its selection is too large for that."""
        support = (point.w > 0).tobytes()
        if support not in self.known:
            if not self.path.refits(int(np.count_nonzero(point.w))):
                return point
            problem, solver = self.setup.problem, self.setup.spec.solver
            self.known[support] = refit_without_penalty(problem, solver, point.w)
        return self.known[support]


def model_at(setup: Setup, solution: Solution) -> Model:
    """Return the model of a solution, with coefficients for the user's own loss."""
    C, b, _ = final_coefficients(setup.problem, setup.spec.loss, solution)
    return build_model(setup.data, setup.problem, setup.center_rows, solution.w, C, b)


def score_solution(setup: Setup, solution: Solution, test: SearchData) -> float:
    """Return the score of the model of a solution on test rows."""
    return _Judge(setup, test)(solution)[0]


class _Judge:
    """Scores solutions on the test rows, each of them once."""

    def __init__(self, setup: Setup, test: SearchData):
        self.setup, self.test = setup, test
        # The test rows as the kernel sees them, once for all models of the path.
        data = setup.data
        self.rows = ArrayRows(take_both(data.columns, data.adjusted, test.X))
        columns, adjusted = as_taken(data.columns, data.adjusted)
        self.seen = replace(setup, data=replace(data, columns=columns, adjusted=adjusted))
        self.coupled = _CoupledScore(setup, test) if setup.spec.loss.couples_rows else None
        # With the solution itself, so that no other one can have its identity.
        self.known: dict[int, tuple[Solution, float, np.ndarray, np.ndarray | None]] = {}

    def __call__(self, solution: Solution) -> tuple[float, np.ndarray, np.ndarray | None]:
        """Return the score of a solution, which features it selects, and the loss of every row."""
        if id(solution) not in self.known:
            selected = self.setup.data.user_values(solution.w) > 0
            score, losses = self._score(solution)
            self.known[id(solution)] = solution, score, selected, losses
        return self.known[id(solution)][1:]

    def _score(self, solution: Solution) -> tuple[float, np.ndarray | None]:
        """Return the score, and what every row takes from it where it is a mean over rows."""
        y, s, scoring = self.test.y, self.test.sample_weight, self.test.scoring
        if scoring.scorer is not None:
            weighted = {} if (s == 1).all() else {"sample_weight": s}
            model = model_at(self.setup, solution)
            if isinstance(self.setup.spec.loss, CoxLoss):
                model = model.with_baseline(self.setup.spec.loss, self.setup.data.rows)
            estimator = scoring.as_estimator(self.setup, solution, model)
            return scoring.scorer(estimator, self.test.X, y, **weighted), None
        model = model_at(self.seen, solution)
        if self.coupled is not None:
            return self.coupled(model, self.rows), None
        predicted = model.predict(self.rows, self.test.offset)
        if model.targets.classes is not None:
            losses = np.asarray(predicted != y, dtype=float)
            score = float(np.average(predicted == y, weights=s, axis=0).mean())
        elif self.setup.spec.loss.score is not None:
            return float(self.setup.spec.loss.score(y, predicted, s)), None
        else:
            losses = (predicted - y) ** 2
            score = -float(np.average(losses, weights=s, axis=0).mean())
        return score, losses.reshape(len(y), -1).mean(axis=1) * (s / s.mean())


class _Turning:
    """Tells when a path of rising penalties has turned: whatever comes is surely worse.

    So are then a point of it and, where selections are refitted, that of its selection.
    """

    def __init__(self, path: CandidatePath, judge: _Judge, refits: _Refits):
        self.weightings, self.judge, self.refits = path.weightings, judge, refits
        self.best: tuple[float, np.ndarray | None] = -np.inf, None
        self.turned = False

    def __call__(self, point: Solution) -> bool:
        """Whether the path ends at this point, the next one."""
        worse = []
        if PENALIZED in self.weightings:
            worse.append(self._is_worse(point))
        if RELAXED in self.weightings and all(worse):
            worse.append(self._is_worse(self.refits(point)))
        self.turned = bool(worse) and all(worse)
        return self.turned

    def _is_worse(self, solution: Solution) -> bool:
        """Whether a model is surely worse than the best one so far."""
        score, _, losses = self.judge(solution)
        best = self.best[1]
        if score > self.best[0]:
            self.best = score, losses
        if best is None or losses is None or len(losses) < 2:
            return False
        gap = losses - best
        largest = float(np.abs(gap).max())
        if not largest:
            return False
        gap = gap / largest  # of any unit: squares of it cannot overflow
        return bool(gap.mean() > TURNED * gap.std(ddof=1) / np.sqrt(len(gap)))


class _CoupledScore:
    """What test rows add to a loss that couples rows, per test row and with a minus sign.

    Their own loss would compare them with each other alone. Instead the loss of the training rows
    is taken from that of all rows, at the same scores. For the partial likelihood this is the
    cross-validation of Verweij and van Houwelingen (1993).
    """

    def __init__(self, setup: Setup, test: SearchData):
        data, loss = setup.data, setup.spec.loss
        sample, _ = data.rows.load()
        self.train = ArrayRows(take_both(data.columns, data.adjusted, sample.X))
        Y, s = np.asarray(sample.y, dtype=float), np.asarray(sample.s, dtype=float)
        n_outputs, weights = data.targets.n_outputs, np.concatenate([s, test.sample_weight])
        self.before = loss.bind(Y, s, n_outputs)
        self.after = loss.bind(np.vstack([Y, data.targets(test.y)]), weights, n_outputs)
        self.weight = float(test.sample_weight.sum())

    def __call__(self, model: Model, test: ArrayRows) -> float:
        scores = model.scores(self.train)
        both = np.vstack([scores, model.scores(test)])
        return (self.before.value(scores) - self.after.value(both)) / self.weight
