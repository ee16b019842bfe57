"""How many columns by permutations of the target, kernel and ``alpha`` by folds.

Every kernel has a calibrated set of columns, at a level that holds for all of them together. The
folds compare models of these columns, refitted without a penalty on the weights, which is quick
because the columns are few. What the folds score was selected on all rows, so that nested scores
come from columns that the training rows of a fold select by themselves, at the penalty
beyond which no column of noise is active.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed

from kernelknife._engine import Setup
from kernelknife._engine.search import refit_without_penalty
from kernelknife._error_rates import Calibration, calibrate_jointly, columns_beyond
from kernelknife._tuning.candidates import CALIBRATED, GRID, RELAXED, CandidatePath, SearchSpec
from kernelknife._tuning.choose import ScoreTable, Selected, select_candidates
from kernelknife._tuning.folds import FoldScores, SearchData, refit_support, set_up_fold
from kernelknife._utils.progress import Progress
from kernelknife._utils.threads import limited_blas

__all__ = ["CalibratedChoice", "choose_calibrated"]


@dataclass(frozen=True, eq=False)
class CalibratedChoice:
    """The kernel and ``alpha`` that the folds have chosen, and the columns that noise has.

    Attributes
    ----------
    table : ScoreTable
    selected : Selected
    path : CandidatePath
    setup : Setup
        The rows of the search with the kernel of the candidate and the ``alpha`` of its
        calibration.
    calibration : Calibration
    nested_scores : ndarray of shape (n_folds,)
    n_paths : int
    """

    table: ScoreTable
    selected: Selected
    path: CandidatePath
    setup: Setup
    calibration: Calibration
    nested_scores: np.ndarray
    n_paths: int


def choose_calibrated(
    spec: SearchSpec,
    setup_of: Callable[[str], Setup],
    data: SearchData,
    groups: np.ndarray | None,
    splits: Sequence[tuple[np.ndarray, np.ndarray]],
    progress: Progress,
) -> CalibratedChoice:
    """Calibrate every kernel, and choose among models of the columns that are left.

    Parameters
    ----------
    spec : SearchSpec
    setup_of : callable
        From the name of a kernel to its problem on the rows of the search.
    data : SearchData
    groups : ndarray or None
        Rows of one group stay together.
    splits : sequence of (ndarray, ndarray)
    progress : Progress
    """
    names, setups = _to_calibrate(spec, setup_of)
    found = calibrate_jointly(
        setups,
        n_permutations=spec.fit.n_permutations,
        level=spec.fit.level,
        groups=groups,
        n_jobs=spec.n_jobs,
        seed=spec.seed,
        progress=progress,
    )
    paths, origins = _candidate_paths(spec, names, setups, found)
    calls = [
        delayed(_score_support)(path, data, train, test) for path in paths for train, test in splits
    ]
    scores = Parallel(n_jobs=spec.n_jobs)(calls)
    by_path = [scores[i : i + len(splits)] for i in range(0, len(scores), len(splits))]
    table = ScoreTable.gathered(paths, by_path, len(splits), range(len(paths)))
    selected = select_candidates(table, {CALIBRATED: 0.0})[CALIBRATED]
    chosen = next(i for i, path in enumerate(paths) if selected.candidate in path.candidates)
    origin = origins[chosen]
    calls = [
        delayed(_select_in_fold)(
            setups[origin], paths[chosen], found[origin].threshold, data, train, test
        )
        for train, test in splits
    ]
    alone = Parallel(n_jobs=spec.n_jobs)(calls)
    bits = table.selected.copy()
    bits[:, table.row(selected.candidate)] = [one.selected[0] for one in alone]
    return CalibratedChoice(
        table=replace(table, selected=bits),
        selected=selected,
        path=paths[chosen],
        setup=setups[origin],
        calibration=found[origin],
        nested_scores=np.array([one.scores[0] for one in alone]),
        n_paths=sum(one.n_paths for one in found) + len(splits),
    )


def _to_calibrate(
    spec: SearchSpec, setup_of: Callable[[str], Setup]
) -> tuple[list[str], list[Setup]]:
    """Return the problems to calibrate, with the names of their kernels.

    Where the user has given no ``alpha`` the refitted model may have another one.
    """
    own = [GRID.calibrated_alpha]
    wanted = {name: own if spec.extends else alphas for name, alphas in spec.alphas.items()}
    names = [name for name, alphas in wanted.items() for _ in alphas]
    alphas = [alpha for alphas in wanted.values() for alpha in alphas]
    return names, [
        setup_of(name).with_alpha(alpha) for name, alpha in zip(names, alphas, strict=True)
    ]


def _candidate_paths(
    spec: SearchSpec, names: list[str], setups: list[Setup], found: list[Calibration]
) -> tuple[list[CandidatePath], list[int]]:
    """Return the candidates for refits, and which calibration each of them is of."""
    paths, origins = [], []
    for i, (name, setup, one) in enumerate(zip(names, setups, found, strict=True)):
        support = setup.data.user_values(one.solution.w)
        penalty = np.array([one.solution.sparsity])
        for alpha in GRID.refitted_alphas if spec.extends else (setup.spec.alpha,):
            own = replace(setup.spec, alpha=alpha)
            paths.append(CandidatePath(name, own, penalty, (RELAXED,), support))
            origins.append(i)
    return paths, origins


def _score_support(
    path: CandidatePath, data: SearchData, train: np.ndarray, test: np.ndarray
) -> FoldScores:
    """Score the refitted model of the columns that all rows select."""
    with limited_blas():
        setup, solution = refit_support(path, data, train)
        return FoldScores.of_solution(setup, solution, data.take(test))


def _select_in_fold(
    calibrated: Setup,
    path: CandidatePath,
    threshold: float,
    data: SearchData,
    train: np.ndarray,
    test: np.ndarray,
) -> FoldScores:
    """Score the refitted model of the columns that the training rows select."""
    with limited_blas():
        setup = set_up_fold(calibrated.spec, data, train)
        # Strengths, of columns and of noise, grow with the rows.
        share = float(data.sample_weight[train].sum() / data.sample_weight.sum())
        w = columns_beyond(setup, threshold * share).w
        setup = setup.with_alpha(path.alpha)
        solution = refit_without_penalty(setup.problem, setup.spec.solver, w)
        return FoldScores.of_solution(setup, solution, data.take(test))
