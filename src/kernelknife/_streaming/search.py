"""Paths, folds, alphas and half-samples from products of columns alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from kernelknife._engine import FitResult, Setup, build_model, follow
from kernelknife._engine.data import Rows, RowsError, TrainingData
from kernelknife._engine.effects import EffectMoments
from kernelknife._engine.model import Model
from kernelknife._engine.objective import PrimalProblem, features_of
from kernelknife._engine.objective.primal import PrimalSums, squared_error
from kernelknife._engine.search import Trace, refit_without_penalty, sparsest_state
from kernelknife._engine.solvers import Solution
from kernelknife._engine.spec import FitSpec
from kernelknife._streaming.sums import CellSums
from kernelknife._tuning.candidates import RELAXED, Candidate, CandidatePath
from kernelknife._tuning.choose import ScoreTable, nested_scores, select_candidates
from kernelknife._tuning.folds import FoldScores, rough, solutions_on_path
from kernelknife._tuning.refit import settle
from kernelknife._utils.threads import limited_blas

__all__ = ["CELLS_PER_FOLD", "Found", "SummedRows", "search_sums"]

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


@dataclass(frozen=True, eq=False)
class Found:
    """What the products of all cells have led to.

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


def search_sums(
    cells: CellSums,
    data: TrainingData,
    spec: FitSpec,
    *,
    kernel_name: str,
    alphas: Sequence[float],
    sparsities: int | np.ndarray,
    weightings: tuple[str, ...],
    rule: str,
    n_folds: int,
    n_pairs: int,
) -> Found:
    """Compare candidates on folds of cells, select one, fit it to all rows, and try halves.

    Parameters
    ----------
    cells : CellSums
    data : TrainingData
        Without rows.
    spec : FitSpec
    kernel_name : str
    alphas : sequence of float
    sparsities : int or ndarray
    weightings : tuple of str
    rule : {"min", "1se"}
    n_folds : int
    n_pairs : int
        Complementary pairs of half-samples.
    """
    everything = np.arange(len(cells.weight))
    folds = [everything[everything % n_folds == fold] for fold in range(n_folds)]
    whole = Setup(spec, data, _problem(cells.of(everything), data, spec), np.arange(0))
    whole = replace(whole, center_rows=np.arange(whole.problem.n_columns))
    paths = []
    with limited_blas():
        for alpha in alphas:
            setup = whole.with_alpha(alpha)
            grid = _penalties(setup, sparsities)
            paths.append(CandidatePath(kernel_name, setup.spec, grid, weightings))
        by_fold = [_score_fold(paths, whole, cells, everything, fold) for fold in folds]
        scores = [list(of_path) for of_path in zip(*by_fold, strict=True)]
        table = ScoreTable.gathered(paths, scores, n_folds, range(len(paths)))
        selected = select_candidates(table)[rule]
        path = next(path for path in paths if selected.candidate in path.candidates)
        setup = whole.with_alpha(path.alpha)
        trace = follow(setup, path.penalties)
        candidate, point = settle(path, selected, setup, trace)
        solution = point
        if candidate.weighting == RELAXED:
            solution = refit_without_penalty(setup.problem, setup.spec.solver, point.w)
        solution = replace(solution, sparsity=candidate.sparsity)
        frequency = _frequencies(setup, cells, point, n_pairs)
    nothing = np.arange(0)
    splits = [(nothing, np.array([fold])) for fold in range(n_folds)]
    return Found(
        setup=setup,
        table=table,
        candidate=candidate,
        nested_scores=nested_scores(table, splits, rule),
        trace=trace,
        result=_finish(setup, solution, cells.of(everything), trace.start),
        frequency=frequency,
    )


def _problem(sums: PrimalSums, data: TrainingData, spec: FitSpec) -> PrimalProblem:
    return PrimalProblem(
        sums, data.kernel, data.smooth_loss, alpha=spec.alpha, features=features_of(data)
    )


def _penalties(setup: Setup, sparsities: int | np.ndarray) -> np.ndarray:
    """Return increasing penalties for all rows, down to where noise comes in."""
    if isinstance(sparsities, np.ndarray):
        return sparsities
    problem = setup.problem
    gains = -problem.gradient(sparsest_state(problem)) / problem.costs
    top = float(gains.max(initial=0.0)) or problem.null_value
    noise = max(1.0, np.log(problem.n_weights)) * problem.total_weight / problem.alpha
    return np.geomspace(min(RANGE * top, noise), top, sparsities)


def _score_fold(
    paths: Sequence[CandidatePath],
    whole: Setup,
    cells: CellSums,
    everything: np.ndarray,
    fold: np.ndarray,
) -> list[FoldScores]:
    """Return the scores of the candidates of all paths on the cells of one fold."""
    problem = _problem(cells.of(np.setdiff1d(everything, fold)), whole.data, whole.spec)
    test, scale = cells.of(fold), float(whole.data.targets.scale[0])
    factor = (problem.total_weight / whole.problem.total_weight) ** ENTERING
    scores = []
    for path in paths:
        spec = rough(path.spec)
        setup = replace(whole, spec=spec, problem=problem.with_alpha(path.alpha))
        trace = follow(setup, path.penalties * factor)
        found = [
            solution
            for weighting in path.weightings
            for solution in solutions_on_path(path, setup, trace, weighting)
        ]
        values = [-_mean_error(setup, solution, test) * scale**2 for solution in found]
        selected = [setup.data.user_values(solution.w) > 0 for solution in found]
        bits = np.packbits(np.array(selected), axis=1)
        scores.append(FoldScores(np.array(values), bits, problem.n_rows))
    return scores


def _mean_error(setup: Setup, solution: Solution, test: PrimalSums) -> float:
    """Return the mean squared error of a solution over the rows of some sums."""
    beta = _spread(setup, solution)[:, None] * solution.C
    return squared_error(test, beta, solution.b) / test.total_weight


def _spread(setup: Setup, solution: Solution) -> np.ndarray:
    """Return the weight of every function."""
    everything = setup.problem.features.everything
    v = np.empty(setup.problem.n_columns)
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


def _finish(setup: Setup, solution: Solution, sums: PrimalSums, start: str) -> FitResult:
    """Make the fitted model of a solution, with the moments of its effects from the products."""
    problem = setup.problem
    objective = problem.value(solution.w, solution.C, solution.b, solution.sparsity)
    model = build_model(setup.data, problem, setup.center_rows, solution.w, solution.C, solution.b)
    if setup.spec.kernel.order and solution.w.any():
        model = _with_moments(model, setup, solution, sums)
    return FitResult(setup, solution, model, objective, True, [(start, solution)])


def _with_moments(model: Model, setup: Setup, solution: Solution, sums: PrimalSums) -> Model:
    P, d = sums.products, sums.n_columns
    columns = np.flatnonzero(_spread(setup, solution))
    beta = (_spread(setup, solution)[:, None] * solution.C)[:, 0]
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
