"""Paths, folds, alphas and half-samples from products of columns alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from kernelknife._engine import FitResult, Setup, build_model, follow
from kernelknife._engine.data import Rows, RowsError, TargetEncoder, TrainingData
from kernelknife._engine.effects import EffectMoments
from kernelknife._engine.model import Model
from kernelknife._engine.objective import PrimalProblem, Problem, features_of
from kernelknife._engine.objective.primal import PrimalSums, squared_error
from kernelknife._engine.search import Trace, refit_without_penalty, sparsest_state
from kernelknife._engine.solvers import Solution
from kernelknife._engine.spec import FitSpec
from kernelknife._streaming.sketch import Sketch
from kernelknife._streaming.source import Layout
from kernelknife._streaming.sums import CellSums, Expansion
from kernelknife._tuning.candidates import RELAXED, Candidate, CandidatePath
from kernelknife._tuning.choose import ScoreTable, Selected, nested_scores, select_candidates
from kernelknife._tuning.folds import FoldScores, rough, solutions_on_path
from kernelknife._tuning.refit import settle
from kernelknife._utils.threads import limited_blas
from kernelknife.kernels import Kernel
from kernelknife.losses import Loss

__all__ = [
    "CELLS_PER_FOLD",
    "Chosen",
    "FoldFit",
    "Found",
    "SumSearch",
    "SummedRows",
    "cells_of_fold",
    "coefficients",
    "conclude",
    "fit_folds",
    "fit_selected",
    "prepare",
    "search_sums",
    "set_up_sums",
    "squared_losses",
]

CELLS_PER_FOLD = 4  # so that half of the cells are a random half of the rows in many ways
# Smallest penalty of a path, as a share of the one that empties it. Where many rows show weaker
# effects than that, the path goes on to where noise would come in.
RANGE = 1e-4
# The penalty at which a column enters is the square of its product with what the model leaves,
# which grows with the rows: half of the rows select the same columns at a quarter of the penalty.
ENTERING = 2.0


class SummedRows(Rows):
    """Rows that were summed and are gone: their number and their names are left."""

    def __init__(self, n_rows: int, names: Sequence[str]):
        self.shape = (n_rows, len(names))
        self.names = np.array(names, dtype=object)

    def _refuse(self, *arguments: Any, **options: Any) -> NoReturn:
        raise RowsError("The rows of a streamed selection were summed and are not kept.")

    total = sample = encoded = map = _refuse


def prepare(
    sketch: Sketch, layout: Layout, kernel: Kernel, loss: Loss, n_cells: int
) -> tuple[TrainingData, Expansion]:
    """Return the data without rows, and what every row becomes in the later scans.

    Parameters
    ----------
    sketch : Sketch
    layout : Layout
    kernel : Kernel
    loss : Loss
    n_cells : int
    """
    if sketch.n_rows < 2:
        raise RowsError(f"{layout.label} has {sketch.n_rows} row(s) of positive weight.")
    classes: tuple[Any, ...] = ()
    center, scale = 0.0, 1.0
    if loss.task == "classification":
        classes = _two_classes(sketch, layout)
    else:
        deviation, largest = float(sketch.deviation[-1]), sketch.largest[-1]
        if not deviation > 10.0 * np.finfo(float).eps * np.sqrt(sketch.n_rows) * largest:
            raise RowsError(f"The target {layout.target!r} is constant: no feature can explain it.")
        if loss.scale_target:
            center, scale = float(sketch.mean[-1]), deviation
    columns = sketch.columns(layout, kernel)
    levels = {
        name: {text: i for i, text in enumerate(sorted(sketch.levels[name]))}
        for name in layout.texts
    }
    has_link = type(loss).inverse_link is not Loss.inverse_link
    data = TrainingData(
        rows=SummedRows(sketch.n_rows, layout.features),
        kernel=kernel,
        loss=loss,
        columns=columns,
        targets=TargetEncoder(
            np.array([center]),
            np.array([scale]),
            np.array(classes) if classes else None,
            squeeze=True,
            loss=loss if has_link and not classes else None,
        ),
        groups=None,
        costs=None,
        total_weight=sketch.weight,
        grouping=None,
    )
    return data, Expansion(columns, levels, center, scale, n_cells, classes)


def _two_classes(sketch: Sketch, layout: Layout) -> tuple[Any, ...]:
    """Return the two values of a target of classes, in their order."""
    counts = sketch.counts_of_target(layout)
    values = sorted(value for value, weight in (counts or {}).items() if weight > 0)
    if len(values) == 2:
        return tuple(int(v) if isinstance(v, float) and v.is_integer() else v for v in values)
    many = "many" if counts is None else str(len(values))
    raise RowsError(
        f"The target {layout.target!r} has {many} different values: a streamed selection of "
        "classes needs two. Ask for one class against the others, or for numbers."
    )


@dataclass(frozen=True, eq=False)
class SumSearch:
    """What is asked of the sums.

    Attributes
    ----------
    spec : FitSpec
        With the squared loss, or the quadratic that stands for another one at some scores.
    kernel_name : str
    alphas : sequence of float
    sparsities : int or ndarray
    weightings : tuple of str
    rule : {"min", "1se"}
    n_folds : int
    n_pairs : int
        Complementary pairs of half-samples.
    """

    spec: FitSpec
    kernel_name: str
    alphas: Sequence[float]
    sparsities: int | np.ndarray
    weightings: tuple[str, ...]
    rule: str
    n_folds: int
    n_pairs: int

    def paths(self, whole: Setup) -> list[CandidatePath]:
        """Return the candidates, given the problem of all rows."""
        found = []
        for alpha in self.alphas:
            setup = whole.with_alpha(alpha)
            grid = _penalties(setup, self.sparsities)
            found.append(CandidatePath(self.kernel_name, setup.spec, grid, self.weightings))
        return found

    def table(
        self,
        paths: Sequence[CandidatePath],
        fits: Sequence["FoldFit"],
        losses: Sequence[np.ndarray],
    ) -> ScoreTable:
        """Return the scores of all candidates, given their mean losses, by fold."""
        by_path: list[list[FoldScores]] = [[] for _ in paths]
        for fit, of_fold in zip(fits, losses, strict=True):
            first = 0
            for found, solutions in zip(by_path, fit.solutions, strict=True):
                selected = [fit.data.user_values(solution.w) > 0 for solution in solutions]
                scores = -of_fold[first : first + len(solutions)]
                bits = np.packbits(np.array(selected), axis=1)
                found.append(FoldScores(scores, bits, fit.problem.n_rows))
                first += len(solutions)
        return ScoreTable.gathered(paths, by_path, self.n_folds, range(len(paths)))


@dataclass(frozen=True, eq=False)
class FoldFit:
    """The models of all candidates on the training rows of a fold, by path."""

    data: TrainingData
    problem: PrimalProblem
    solutions: list[list[Solution]]

    @property
    def models(self) -> list[Solution]:
        """The models of all paths, one path after the other."""
        return [solution for of_path in self.solutions for solution in of_path]


@dataclass(frozen=True, eq=False)
class Chosen:
    """The candidate that the folds have selected, fitted to all rows."""

    setup: Setup
    path: CandidatePath
    candidate: Candidate
    trace: Trace
    point: Solution  # of the path
    solution: Solution


@dataclass(frozen=True, eq=False)
class Found:
    """What the sums have led to.

    Attributes
    ----------
    setup : Setup
        Of all rows, with the alpha of the candidate.
    table : ScoreTable
    candidate : Candidate
    nested_scores : ndarray of shape (n_folds,)
    trace : Trace
        The path of the candidate on all rows.
    result : FitResult
    frequency : ndarray of shape (n_weights,)
        Share of the half-samples that select a weight.
    """

    setup: Setup
    table: ScoreTable
    candidate: Candidate
    nested_scores: np.ndarray
    trace: Trace
    result: FitResult
    frequency: np.ndarray


def search_sums(cells: CellSums, data: TrainingData, search: SumSearch) -> Found:
    """Compare candidates on folds of cells, select one, fit it to all rows, and try halves.

    Parameters
    ----------
    cells : CellSums
    data : TrainingData
        Without rows.
    search : SumSearch
    """
    with limited_blas():
        whole = set_up_sums(cells, data, search.spec)
        paths, sums = search.paths(whole), dict.fromkeys(search.weightings, whole)
        by_cell = dict.fromkeys(search.weightings, cells)
        fits = fit_folds(sums, paths, by_cell, search.n_folds)
        losses = squared_losses(fits, cells, float(data.targets.scale[0]) ** 2)
        table = search.table(paths, fits, losses)
        chosen = fit_selected(sums, paths, select_candidates(table)[search.rule])
        everything = cells.of(np.arange(len(cells.weight)))
        solution, problem = chosen.solution, chosen.setup.problem
        objective = problem.value(solution.w, solution.C, solution.b, solution.sparsity)
        return conclude(chosen, table, cells, everything, objective, search)


def set_up_sums(cells: CellSums, data: TrainingData, spec: FitSpec) -> Setup:
    """Return the problem of all rows."""
    sums = cells.of(np.arange(len(cells.weight)))
    problem = _problem(sums, data, spec)
    return Setup(spec, data, problem, np.arange(problem.n_columns))


def _problem(sums: PrimalSums, data: TrainingData, spec: FitSpec) -> PrimalProblem:
    return PrimalProblem(sums, data.kernel, spec.loss, alpha=spec.alpha, features=features_of(data))


def _penalties(setup: Setup, sparsities: int | np.ndarray) -> np.ndarray:
    """Return increasing penalties for all rows, down to where noise comes in."""
    if isinstance(sparsities, np.ndarray):
        return sparsities
    problem = setup.problem
    gains = -problem.gradient(sparsest_state(problem)) / problem.costs
    top = float(gains.max(initial=0.0)) or problem.null_value
    noise = max(1.0, np.log(problem.n_weights)) * problem.total_weight / problem.alpha
    return np.geomspace(min(RANGE * top, noise), top, sparsities)


def cells_of_fold(n_cells: int, n_folds: int, fold: int) -> np.ndarray:
    """Return the cells whose rows a fold judges."""
    return np.arange(fold, n_cells, n_folds)


def fit_folds(
    sums: Mapping[str, Setup],
    paths: Sequence[CandidatePath],
    cells: Mapping[str, CellSums],
    n_folds: int,
) -> list[FoldFit]:
    """Return the models of all candidates on the training rows of every fold.

    Models that are refitted may have other sums than those of a path, by weighting: quadratics that
    stand for a loss are made for one of them.
    """
    first = next(iter(cells))
    everything, fits = np.arange(len(cells[first].weight)), []
    for fold in range(n_folds):
        train = np.setdiff1d(everything, cells_of_fold(len(everything), n_folds, fold))
        problems = {
            weighting: _problem(own.of(train), sums[weighting].data, sums[weighting].spec)
            for weighting, own in cells.items()
        }
        followed = problems[first]
        factor = (followed.total_weight / sums[first].problem.total_weight) ** ENTERING
        solutions = []
        for path in paths:
            setups = {
                weighting: replace(
                    sums[weighting],
                    spec=rough(path.spec),
                    problem=problem.with_alpha(path.alpha),
                )
                for weighting, problem in problems.items()
            }
            trace = follow(setups[first], path.penalties * factor)
            solutions.append(
                [
                    solution
                    for weighting in path.weightings
                    for solution in solutions_on_path(path, setups[weighting], trace, weighting)
                ]
            )
        fits.append(FoldFit(sums[first].data, followed, solutions))
    return fits


def squared_losses(fits: Sequence[FoldFit], cells: CellSums, scale: float) -> list[np.ndarray]:
    """Return the mean squared errors of the models of every fold on the rows that it judges."""
    losses = []
    for fold, fit in enumerate(fits):
        test = cells.of(cells_of_fold(len(cells.weight), len(fits), fold))
        errors = [
            squared_error(test, coefficients(fit.problem, model), model.b) for model in fit.models
        ]
        losses.append(np.array(errors) * (scale / test.total_weight))
    return losses


def fit_selected(
    sums: Mapping[str, Setup], paths: Sequence[CandidatePath], selected: Selected
) -> Chosen:
    """Follow the path of the selected candidate on all rows, and fit its model."""
    path = next(path for path in paths if selected.candidate in path.candidates)
    setup = next(iter(sums.values())).with_alpha(path.alpha)
    trace = follow(setup, path.penalties)
    candidate, point = settle(path, selected, setup, trace)
    solution = point
    if candidate.weighting == RELAXED:
        setup = sums[RELAXED].with_alpha(path.alpha)
        solution = refit_without_penalty(setup.problem, setup.spec.solver, point.w)
    solution = replace(solution, sparsity=candidate.sparsity)
    return Chosen(setup, path, candidate, trace, point, solution)


def conclude(
    chosen: Chosen,
    table: ScoreTable,
    cells: CellSums,
    plain: PrimalSums,
    objective: float,
    search: SumSearch,
) -> Found:
    """Make the fitted model of a candidate, and try it on halves of the cells.

    Parameters
    ----------
    chosen : Chosen
    table : ScoreTable
    cells : CellSums
    plain : PrimalSums
        Products of all rows, weighted by nothing but their own weights, for the shares of effects.
    objective : float
    search : SumSearch
    """
    setup, solution = chosen.setup, chosen.solution
    model = build_model(
        setup.data, setup.problem, setup.center_rows, solution.w, solution.C, solution.b
    )
    if setup.spec.kernel.order and solution.w.any():
        model = _with_moments(model, setup, solution, plain)
    nothing = np.arange(0)
    splits = [(nothing, np.array([fold])) for fold in range(search.n_folds)]
    starts = [(chosen.trace.start, solution)]
    return Found(
        setup=setup,
        table=table,
        candidate=chosen.candidate,
        nested_scores=nested_scores(table, splits, search.rule),
        trace=chosen.trace,
        result=FitResult(setup, solution, model, objective, True, starts),
        frequency=_frequencies(setup, cells, chosen.point, search.n_pairs),
    )


def coefficients(problem: Problem, solution: Solution) -> np.ndarray:
    """Return the coefficients of the functions in a model, shape (d, 1)."""
    return np.asarray(_spread(problem, solution)[:, None] * solution.C)


def _spread(problem: Problem, solution: Solution) -> np.ndarray:
    """Return the weight of every function."""
    everything = problem.features.everything
    v = np.empty(problem.n_columns)
    v[everything.columns] = everything.form_weights(solution.w)
    return v


def _frequencies(setup: Setup, cells: CellSums, point: Solution, n_pairs: int) -> np.ndarray:
    """Return the share of random halves of the cells, and of the other halves, that select."""
    rng = np.random.default_rng(setup.spec.seed)
    n_cells, total = len(cells.weight), cells.weight.sum()
    counts = np.zeros(len(point.w))
    for _ in range(n_pairs):
        order = rng.permutation(n_cells)
        for half in (order[: n_cells // 2], order[n_cells // 2 :]):
            problem = _problem(cells.of(half), setup.data, setup.spec)
            factor = float(cells.weight[half].sum() / total) ** ENTERING
            end = rough(setup.spec).solver.solve(problem, point.w, factor * point.sparsity)
            counts += end.w > 0
    return counts / max(2 * n_pairs, 1)


def _with_moments(model: Model, setup: Setup, solution: Solution, sums: PrimalSums) -> Model:
    P, d = sums.products, sums.n_columns
    columns = np.flatnonzero(_spread(setup.problem, solution))
    beta = coefficients(setup.problem, solution)[:, 0]
    full = np.concatenate([beta, solution.b.ravel(), [0.0]])
    by_score = P @ full
    starts = np.unique(model.columns.sources, return_index=True)[1]
    first, crossed = (
        np.add.reduceat((beta * values[:d])[columns], starts)[:, None]
        for values in (P[d], by_score)
    )
    chosen: list[tuple[int, ...]] = [(j,) for j in range(len(starts))]
    moments = EffectMoments.of_sums(
        chosen, float(P[d, d]), np.array([by_score[d]]), np.array([full @ by_score]), first, crossed
    )
    return replace(model, moments=moments)
