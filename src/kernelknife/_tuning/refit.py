"""The selected candidate on all rows: its path, and the model that is fitted in the end.

:func:`search` is the whole of a cross-validation, from rows to that model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from kernelknife._engine import FitResult, FitSpec, Setup, finish, fit, follow, set_up
from kernelknife._engine.data import TrainingData
from kernelknife._engine.policy import final_centers, has_few_rows, needs_exact, rows_to_search
from kernelknife._engine.search import Start, Trace, equal_weights, refit_without_penalty
from kernelknife._engine.solvers import Solution
from kernelknife._engine.spec import STARTS
from kernelknife._tuning.calibrated import choose_calibrated
from kernelknife._tuning.candidates import (
    CALIBRATED,
    EQUAL,
    PENALIZED,
    RELAXED,
    Candidate,
    CandidatePath,
    SearchSpec,
    penalty_for_share,
)
from kernelknife._tuning.choose import (
    ScoreTable,
    Selected,
    folds_that_judge,
    nested_scores,
    select_candidates,
    settle_penalty,
)
from kernelknife._tuning.folds import SearchData, rough, score_solution
from kernelknife._tuning.halving import Halving
from kernelknife._tuning.splits import check_splits, draw_rows, inner_cv, make_splitter
from kernelknife._utils.progress import Progress
from kernelknife._utils.threads import limited_blas

__all__ = ["Refit", "SearchResult", "refit", "search", "settle"]


@dataclass(frozen=True, eq=False)
class Refit:
    """What has become of the selected candidate on all rows.

    Attributes
    ----------
    candidate : Candidate
        Its penalty is settled by the path on all rows of the search.
    sparsity : float
        On the path; the model of more rows may have it in proportion to them.
    setup : Setup
        The rows of the search with the kernel and alpha of the candidate.
    trace : Trace
        Its path there.
    result : FitResult
        The model, fitted to all rows.
    n_factorizations : int
        Those of the path and of the model.
    """

    candidate: Candidate
    sparsity: float
    setup: Setup
    trace: Trace
    result: FitResult
    n_factorizations: int


@dataclass(frozen=True, eq=False)
class SearchResult:
    """Everything that a cross-validation has found.

    Attributes
    ----------
    rows : ndarray of int
        The rows that were searched.
    splits : list of (ndarray, ndarray)
        Training and test rows of every fold, numbered within all rows.
    table : ScoreTable
    selected : dict of Selected
        By rule.
    nested_scores : ndarray of shape (n_folds,)
    path : CandidatePath
        The one that the selected candidate is on.
    starts : list of Start or None
        Where the path began in every fold.
    n_paths : int
        Paths that were followed in the folds, and in those inside them.
    n_factorizations : int
        Those of all paths and fits.
    score_name : str
    refit : Refit
    """

    rows: np.ndarray
    splits: list[tuple[np.ndarray, np.ndarray]]
    table: ScoreTable
    selected: dict[str, Selected]
    nested_scores: np.ndarray
    path: CandidatePath
    starts: list[Start | None]
    n_paths: int
    n_factorizations: int
    score_name: str
    refit: Refit


# -- the whole search -----------------------------------------------------------------------------


def search(
    spec: SearchSpec,
    data: SearchData,
    codes: np.ndarray | None,
    groups: Any,
    progress: Progress,
) -> SearchResult:
    """Compare the candidates on folds, select one, and fit it to all rows.

    Parameters
    ----------
    spec : SearchSpec
    data : SearchData
        All rows.
    codes : ndarray or None
        Codes of the classes, None for numbers.
    groups : array-like or None
        Rows of one group stay in one fold.
    progress : Progress
    """
    rows = _draw_rows(spec, data, codes)
    searched = data if len(rows) == len(data.X) else data.take(rows)
    codes = None if codes is None else codes[rows]
    groups = None if groups is None else np.asarray(groups)[rows]
    halving = Halving(spec, searched, codes)
    halving.setup_of(next(iter(spec.kernels)))  # whatever is wrong with the rows comes first
    if searched is not data:
        for kernel in spec.kernels.values():
            if needs_exact(spec.fit.loss, [kernel]):
                # If selected it will be exact on all rows, which may be too many for it.
                data.set_up(replace(spec.fit, kernel=kernel))
    splits = _make_splits(spec, searched, codes, groups)
    inside = _specs_inside(spec, searched, codes, groups, splits)
    if spec.rule == CALIBRATED:
        found = _search_calibrated(spec, halving, data, searched, groups, splits, progress)
    else:
        found = _search_candidates(spec, halving, data, splits, progress)
    if inside:
        nested, n_paths, n_factorizations = _search_inside(
            inside, searched, codes, groups, splits, spec.n_jobs, progress
        )
        found = replace(
            found,
            nested_scores=nested,
            n_paths=found.n_paths + n_paths,
            n_factorizations=found.n_factorizations + n_factorizations,
        )
    named = [(rows[train], rows[test]) for train, test in splits]
    return replace(found, rows=rows, splits=named)


def _search_candidates(
    spec: SearchSpec,
    halving: Halving,
    data: SearchData,
    splits: list[tuple[np.ndarray, np.ndarray]],
    progress: Progress,
) -> SearchResult:
    """Return a search in which folds compare the candidates, its rows numbered within it."""
    halving.run(splits, progress)
    table = ScoreTable.gathered(halving.paths, halving.scores, len(splits), halving.finalists)
    if has_few_rows(halving.codes):
        table = replace(table, judges=folds_that_judge(splits))
    selected = select_candidates(table)
    chosen = selected[spec.rule]
    path = next(path for path in halving.paths if chosen.candidate in path.candidates)
    starts = halving.starts_of(path)
    setup = halving.setup_of(path.kernel)
    with progress.subtask("refit", len(path.all_penalties)) as refitting, limited_blas():
        found = refit(spec, setup, path, chosen, data, starts, refitting)
    return SearchResult(
        rows=np.arange(setup.data.rows.shape[0]),
        splits=splits,
        table=table,
        selected=selected,
        nested_scores=nested_scores(table, splits, spec.rule),
        path=path,
        starts=starts,
        n_paths=halving.n_paths,
        n_factorizations=halving.n_factorizations + found.n_factorizations,
        score_name=data.scoring.name,
        refit=found,
    )


def _search_calibrated(
    spec: SearchSpec,
    halving: Halving,
    data: SearchData,
    searched: SearchData,
    groups: np.ndarray | None,
    splits: list[tuple[np.ndarray, np.ndarray]],
    progress: Progress,
) -> SearchResult:
    """Return one in which permutations find the number of columns, its rows numbered within it."""
    choice = choose_calibrated(spec, halving.setup_of, searched, groups, splits, progress)
    candidate = choice.selected.candidate
    setup = choice.setup.with_alpha(candidate.alpha)
    with progress.subtask("refit"), limited_blas():
        trace = follow(setup.with_spec(solver=rough(setup.spec).solver))
        n_centers = final_centers(
            spec.n_centers, setup.spec.kernel, setup.spec.loss, data.n_counted
        )
        final = setup
        if n_centers != setup.spec.n_centers or searched is not data:
            final = data.set_up(replace(setup.spec, n_centers=n_centers))
        assert choice.path.support is not None
        w = final.data.weight_values(choice.path.support)
        solution = refit_without_penalty(final.problem, final.spec.solver, w)
        solution = replace(solution, sparsity=candidate.sparsity)
        result = finish(final, solution, [(choice.calibration.start, solution)])
    # Those of permuted targets are not counted.
    spent = trace.n_factorizations + solution.n_factorizations
    return SearchResult(
        rows=np.arange(len(searched.X)),
        splits=splits,
        table=choice.table,
        selected={spec.rule: choice.selected},
        nested_scores=choice.nested_scores,
        path=choice.path,
        starts=[None] * len(splits),
        n_paths=choice.n_paths,
        n_factorizations=spent,
        score_name=data.scoring.name,
        refit=Refit(
            candidate,
            candidate.sparsity,
            setup,
            trace,
            replace(result, calibration=choice.calibration),
            spent,
        ),
    )


def _draw_rows(spec: SearchSpec, data: SearchData, codes: np.ndarray | None) -> np.ndarray:
    """Return the rows that the search looks at; of more rows than that, those that count."""
    n, target = len(data.X), data.y if codes is None else codes
    most = rows_to_search(n, spec.search_rows, spec.cv)
    counted = np.flatnonzero(data.sample_weight > 0)
    if most >= n or (codes is not None and len(np.unique(codes[counted])) <= codes.max()):
        # All rows; or a class without weight, which is refused where all rows are seen.
        return draw_rows(target, codes is not None, most, spec.seed)
    drawn = draw_rows(target[counted], codes is not None, most, spec.seed)
    return np.asarray(counted[drawn])


def _make_splits(
    spec: SearchSpec, data: SearchData, codes: np.ndarray | None, groups: Any
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return training and test rows of every fold, numbered within the rows of the search."""
    target = data.y if codes is None else codes
    asks = data.scoring.scorer is not None  # scorings of probabilities ask for all classes
    splitter = make_splitter(
        spec.cv, target, codes is not None, groups, spec.seed, needs_all_classes=asks
    )
    splits = [
        (np.asarray(train), np.asarray(test))
        for train, test in splitter.split(data.X, target, groups)
    ]
    numbers = data.y if codes is None else None
    check_splits(splits, codes, data.sample_weight, groups, numbers)
    return splits


# -- searches inside the training rows of the folds -----------------------------------------------


def _specs_inside(
    spec: SearchSpec,
    data: SearchData,
    codes: np.ndarray | None,
    groups: np.ndarray | None,
    splits: Sequence[tuple[np.ndarray, np.ndarray]],
) -> list[SearchSpec]:
    """Return the specification of a search inside every fold, with its folds; none for "others".

    All of these folds are made and checked here, before anything is fitted.
    """
    specs = []
    for i, (train, _) in enumerate(splits if spec.nested == "full" else []):
        inner, inner_codes = data.take(train), None if codes is None else codes[train]
        inner_groups = None if groups is None else groups[train]
        target = inner.y if inner_codes is None else inner_codes
        try:
            cv = inner_cv(spec.cv, splits, i, target, codes is not None, inner_groups)
            inner_splits = _make_splits(replace(spec, cv=cv), inner, inner_codes, inner_groups)
            for rows, _ in inner_splits:
                _check_fold(spec.fit, inner.take(rows))
        except (ValueError, IndexError) as error:
            raise ValueError(
                "nested='full' splits the training rows of every fold once more, which those of "
                f"fold {i} do not allow. {str(error).rstrip('.')}. Or use nested='others'."
            ) from error
        # The searches run beside each other, so that none of them has workers of its own.
        specs.append(replace(spec, cv=inner_splits, nested="others", n_jobs=1))
    return specs


def _check_fold(spec: FitSpec, data: SearchData) -> None:
    """Raise where too few columns vary in the training rows of a fold."""
    found = data.prepare(spec)
    wanted, n_varying = spec.n_features_to_select, len(found.weight_names)
    if wanted is not None and wanted > n_varying:
        raise ValueError(
            f"n_features_to_select={wanted} is more than the {n_varying} features (or groups) that "
            "are not constant there."
        )


def _search_inside(
    specs: Sequence[SearchSpec],
    data: SearchData,
    codes: np.ndarray | None,
    groups: np.ndarray | None,
    splits: Sequence[tuple[np.ndarray, np.ndarray]],
    n_jobs: int | None,
    progress: Progress,
) -> tuple[np.ndarray, int, int]:
    """Return the score of every fold of what a search of its training rows selects.

    The numbers of paths and of factorizations of these searches come with them.
    """
    with progress.child("nested", len(splits), ordered=False) as parent:
        results = Parallel(n_jobs=n_jobs)(
            delayed(_search_fold)(
                *(spec, data, codes, groups, train, test),
                parent.child("search", None, number=number),
            )
            for number, (spec, (train, test)) in enumerate(zip(specs, splits, strict=True))
        )
    scores, paths, factorizations = zip(*results, strict=True)
    return np.array(scores), sum(paths), sum(factorizations)


def _search_fold(
    spec: SearchSpec,
    data: SearchData,
    codes: np.ndarray | None,
    groups: np.ndarray | None,
    train: np.ndarray,
    test: np.ndarray,
    progress: Progress,
) -> tuple[float, int, int]:
    """Return the score on the test rows of what a search of the training rows selects."""
    with limited_blas(), progress:
        codes = None if codes is None else codes[train]
        groups = None if groups is None else groups[train]
        found = search(spec, data.take(train), codes, groups, progress)
        result = found.refit.result
        score = score_solution(result.setup, result.solution, data.take(test))
        return score, found.n_paths, found.n_factorizations


# -- the selected candidate -----------------------------------------------------------------------


def refit(
    spec: SearchSpec,
    setup: Setup,
    path: CandidatePath,
    selected: Selected,
    data: SearchData,
    starts: Sequence[Start | None],
    progress: Progress,
) -> Refit:
    """Follow the path of the selected candidate on the rows of the search, then fit all rows.

    Parameters
    ----------
    spec : SearchSpec
    setup : Setup
        The rows of the search with the kernel of the candidate.
    path : CandidatePath
    selected : Selected
    data : SearchData
        All rows.
    starts : sequence of Start or None
        Where the path began in every fold.
    progress : Progress
    """
    setup = setup.with_alpha(path.alpha)
    n_centers = final_centers(spec.n_centers, setup.spec.kernel, setup.spec.loss, data.n_counted)
    # Whether models of the search are those of all rows, with as many centers.
    is_final = n_centers == setup.spec.n_centers and setup.data.rows.shape[0] >= len(data.X)
    if path.by_count:
        trace = follow(setup, progress=progress)
        result = fit(replace(setup.spec, n_centers=n_centers), _all_rows(setup, data))
        on_rows, solution = _on_rows(result.setup, result.solution, n_centers)
        spent = trace.n_factorizations + result.n_factorizations
        result = finish(on_rows, solution, result.starts)
        return Refit(selected.candidate, result.solution.sparsity, setup, trace, result, spent)
    # Where the selected model is solved anew, the tolerance of a fold will do for its path.
    tracing = setup if is_final else setup.with_spec(solver=rough(setup.spec).solver)
    if isinstance(setup.spec.start, str) and setup.spec.start == "auto" and not setup.spec.n_starts:
        # A start that was the best in every fold is the only one to try on all rows.
        names = {start.name for start in starts if start is not None}
        if len(names) == 1 and names <= set(STARTS):
            tracing = tracing.with_spec(start=names.pop())
    trace = follow(tracing, path.all_penalties, progress=progress)
    candidate, point = settle(path, selected, setup, trace)
    sparsity = 0.0 if candidate.weighting == EQUAL else float(point.sparsity)
    final, model_sparsity, w = setup, sparsity, point.w
    if not is_final:
        final = replace(data, names=setup.data.rows.names).set_up(
            replace(setup.spec, n_centers=n_centers)
        )
        growth = final.problem.total_weight / setup.problem.total_weight
        model_sparsity = penalty_for_share(sparsity, growth, convex=final.problem.convex)
        w = final.data.weight_values(setup.data.user_values(w))
    if is_final and candidate.weighting == PENALIZED:
        solution = point
    else:
        solution = _solve(candidate.weighting, final, w, model_sparsity)
    final, solution = _on_rows(final, solution, n_centers)
    solution = replace(solution, sparsity=model_sparsity)
    result = finish(final, solution, [(trace.start, solution)])
    spent = trace.n_factorizations
    if not (is_final and candidate.weighting == PENALIZED):
        spent += solution.n_factorizations  # the solution is no point of the path
    return Refit(candidate, sparsity, setup, trace, result, spent)


def settle(
    path: CandidatePath, selected: Selected, setup: Setup, trace: Trace
) -> tuple[Candidate, Solution]:
    """Return the candidate with its penalty settled by the path on all rows, and its point there.

    Of penalties that are tied in the folds the one is taken whose path on all rows fits their
    selections best. A support that is too large to be refitted in a fold is not refitted on all
    rows either.
    """
    candidate = selected.candidate
    # Past the end of a path nothing changes any more.
    penalties = path.all_penalties.tolist()
    missing = len(penalties) - len(trace.points)
    points = dict(zip(penalties, [*trace.points, *[trace.points[-1]] * missing], strict=True))
    if candidate.weighting == EQUAL:
        return candidate, trace.points[0]
    counts = {
        sparsity: int(np.count_nonzero(setup.data.user_values(point.w)))
        for sparsity, point in points.items()
    }
    candidate = settle_penalty(selected, counts)
    point = points[candidate.sparsity]
    if candidate.weighting == RELAXED and not path.refits(int(np.count_nonzero(point.w))):
        candidate = candidate._replace(weighting=PENALIZED)
    return candidate, point


def _on_rows(setup: Setup, solution: Solution, n_centers: int | None) -> tuple[Setup, Solution]:
    """Return the same model with coefficients of rows, where it was found from sums.

    Whoever looks at its coefficients then finds those of rows, whatever the search has summed.
    """
    if setup.problem.of_rows:
        return setup, solution
    setup = set_up(replace(setup.spec, from_sums=False, n_centers=n_centers), setup.data)
    problem, w = setup.problem, solution.w
    state = problem.solve(w)
    objective = state.smooth + solution.sparsity * float(problem.costs @ w)
    return setup, solution.moved(state, objective).without_state()


def _all_rows(setup: Setup, data: SearchData) -> TrainingData:
    """Prepare all rows as those of the search were."""
    return replace(data, names=setup.data.rows.names).prepare(setup.spec)


def _solve(weighting: str, setup: Setup, w: np.ndarray, sparsity: float) -> Solution:
    """Return the solution for what is to become of the weights, beginning with some weights."""
    if weighting == EQUAL:
        return equal_weights(setup.problem)
    if weighting == RELAXED:
        return refit_without_penalty(setup.problem, setup.spec.solver, w)
    return setup.spec.solver.solve(setup.problem, w, sparsity)
