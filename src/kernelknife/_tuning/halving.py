"""Successive halving of candidate paths over folds: what cannot win is not followed to the end.

A screening round follows every path on some of the folds and rows, with few penalties. There the
search for ``alpha`` goes on, by factors of ten, until the curve of every kernel has turned on both
sides. The best paths are then followed on all folds, with all penalties but those far below the
best of the screening: there features are many, and points cost most. On a fold whose rows the
screening has seen they begin where it has been. Which paths go on depends on the scores alone, so
that the answer is the same for any number of workers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from joblib import Parallel, delayed

from kernelknife._engine import Setup
from kernelknife._engine.policy import planned_folds, rows_to_search, search_centers
from kernelknife._engine.search import Start
from kernelknife._tuning.candidates import (
    CALIBRATED,
    CandidatePath,
    SearchSpec,
    penalties_of_path,
)
from kernelknife._tuning.folds import FoldScores, SearchData, coarse, exact, score_paths
from kernelknife._tuning.splits import draw_rows
from kernelknife._utils.arrays import spread
from kernelknife._utils.progress import SILENT, Progress
from kernelknife.kernels import RBF

__all__ = ["HALVING", "Halving", "SearchPlan", "is_last_alpha", "plan_search"]


@dataclass(frozen=True)
class HalvingConstants:
    """When a path is ruled out, and how far the search for ``alpha`` goes.

    Attributes
    ----------
    screening_rows : int
        Training rows of a fold that kernels and alphas are compared on, and starts where there are
        centers.
    screening_folds, fewest_folds, enough_rows : int
        A screening round takes one set of five folds, or fewer where these have test rows enough:
        the misclassification rates of two candidates are then known to about one in a hundred.
    finalists : int
        Paths that are followed to the end; where there are no more, none is screened.
    worth_a_step, sure_step : float
        An alpha beyond those tried is tried only if the last step toward it gained this share of
        what the kernel gains over the worst model of its paths, and more than two standard errors
        of that gain. Where there is little noise all that matters happens in the last hundredth.
        A path that is behind the best by two standard errors of the difference is not followed, and
        a kernel that is so behind the second best one is tried with no other alpha.
    alpha_step, alpha_lowest, alpha_highest : float
    usual_alphas : int
        That the search for alpha tries, as a rule.
    """

    screening_rows: int = 600
    screening_folds: int = 5
    fewest_folds: int = 2
    enough_rows: int = 800
    finalists: int = 2
    worth_a_step: float = 0.005
    sure_step: float = 2.0
    alpha_step: float = 10.0
    alpha_lowest: float = 1e-4
    alpha_highest: float = 1e3
    usual_alphas: int = 3


HALVING = HalvingConstants()


def is_last_alpha(alpha: float) -> bool:
    """Whether the search for alpha goes no further than this, whatever it finds."""
    margin = HALVING.alpha_step**0.5
    return not HALVING.alpha_lowest * margin < alpha < HALVING.alpha_highest / margin


def _screening_folds(n_folds: int, n_rows: int) -> int:
    """Return how many of the folds a screening round takes."""
    enough = math.ceil(HALVING.enough_rows * n_folds / n_rows)
    return min(n_folds, HALVING.screening_folds, max(enough, HALVING.fewest_folds))


# -- known before it begins -----------------------------------------------------------------------


@dataclass(frozen=True)
class SearchPlan:
    """What a search will do, for those who wait for it.

    Attributes
    ----------
    n_rows : int
        Rows that it looks at.
    n_folds : int
    n_screening_paths, n_final_paths : int
        Paths of the screening, an estimate where the search for ``alpha`` may go on, and the most
        that are followed to the end; those of searches inside the folds included.
    n_centers : int or None
        Of the most general kernel, or of the Gaussian where all are convex; None is the exact
        method. A screening round on some of the rows has none.
    """

    n_rows: int
    n_folds: int
    n_screening_paths: int
    n_final_paths: int
    n_centers: int | None

    @property
    def n_paths(self) -> int:
        """Number of all paths."""
        return self.n_screening_paths + self.n_final_paths

    @property
    def training_rows(self) -> int:
        """Number of rows that a fold trains on."""
        return max(self.n_rows - self.n_rows // self.n_folds, 1)

    @property
    def screening_rows(self) -> int:
        """Number of rows that a fold of the screening trains on."""
        return min(self.training_rows, HALVING.screening_rows)


def plan_search(spec: SearchSpec, n_rows: int, n_folds: int | None = None) -> SearchPlan:
    """Return what a search will do with ``n_rows`` rows.

    Parameters
    ----------
    spec : SearchSpec
    n_rows : int
    n_folds : int, default=None
        Number of folds where the rows decide it, because groups stay together or a class is rare.
    """
    given_folds = n_folds
    n_rows = rows_to_search(n_rows, spec.search_rows, spec.cv)
    n_folds = n_folds or planned_folds(spec.cv, n_rows)
    given = sum(map(len, spec.alphas.values()))
    n_paths = len(spec.alphas) * HALVING.usual_alphas if spec.extends else given
    if n_paths <= HALVING.finalists and not spec.extends:
        n_screening, n_final = 0, n_paths * n_folds
    else:
        n_screening = n_paths * _screening_folds(n_folds, n_rows)
        n_final = min(n_paths, HALVING.finalists) * n_folds
    if spec.rule == CALIBRATED:
        kinds = len(spec.alphas) if spec.extends else given
        n_screening, n_final = 0, kinds * (spec.fit.n_permutations + 1) + n_folds
    general = [RBF(), *(kernel for kernel in spec.kernels.values() if not kernel.convex)][-1]
    n_centers = search_centers(spec.n_centers, general, spec.fit.loss, n_rows)
    plan = SearchPlan(n_rows, n_folds, n_screening, n_final, n_centers)
    if spec.nested == "full":
        inside = plan_search(replace(spec, nested="others"), plan.training_rows, given_folds)
        plan = replace(
            plan,
            n_screening_paths=n_screening + n_folds * inside.n_screening_paths,
            n_final_paths=n_final + n_folds * inside.n_final_paths,
        )
    return plan


# -- the search -----------------------------------------------------------------------------------


@dataclass
class Halving:
    """Candidate paths and what they have scored so far.

    Parameters
    ----------
    spec : SearchSpec
    data : SearchData
        The rows of the search.
    codes : ndarray or None
        Codes of the classes, None for numbers.

    Attributes
    ----------
    paths : list of CandidatePath
        Those that were ruled out have the penalties of the screening only.
    scores : list of list of FoldScores
        By path, in the order of the folds.
    finalists : list of int
        The paths that were followed to the end, among which the winner is chosen.
    n_paths, n_factorizations : int
        Paths that were followed so far, and the factorizations that they took.
    """

    spec: SearchSpec
    data: SearchData
    codes: np.ndarray | None
    paths: list[CandidatePath] = field(default_factory=list, init=False)
    scores: list[list[FoldScores]] = field(default_factory=list, init=False)
    finalists: list[int] = field(default_factory=list, init=False)
    n_paths: int = field(default=0, init=False)
    n_factorizations: int = field(default=0, init=False)
    _splits: Sequence[tuple[np.ndarray, np.ndarray]] = field(default=(), init=False, repr=False)
    _progress: Progress = field(default=SILENT, init=False, repr=False)
    _setups: dict[str, Setup] = field(default_factory=dict, init=False, repr=False)
    # By kernel and fold: where its first path has begun; by path and fold: where one goes on.
    _starts: dict[tuple[str, int], Start] = field(default_factory=dict, init=False, repr=False)
    _begun: dict[tuple[int, int], Start] = field(default_factory=dict, init=False, repr=False)

    # -- paths ------------------------------------------------------------------------

    def setup_of(self, kernel: str) -> Setup:
        """Return the problem of one kernel on all rows of the search."""
        if kernel not in self._setups:
            found = self.spec.kernels[kernel]
            n_centers = search_centers(
                self.spec.n_centers, found, self.spec.fit.loss, self.data.n_counted
            )
            spec = replace(self.spec.fit, kernel=found, n_centers=n_centers)
            if self.spec.n_centers == "auto" and not spec.gives_centers:
                spec = replace(spec, from_sums=not spec.solver.needs_rows)
            self._setups[kernel] = self.data.set_up(spec)
        return self._setups[kernel]

    def make_path(self, kernel: str, alpha: float) -> CandidatePath:
        """Return the path of one kernel and one alpha, with all of its penalties."""
        setup = self.setup_of(kernel).with_alpha(alpha)
        grid = self.spec.sparsities
        if self.spec.fit.n_features_to_select is not None:
            grid = np.array([np.nan])  # every fold has the penalty that keeps as many features
        elif not isinstance(grid, np.ndarray):
            grid = penalties_of_path(setup.problem, int(grid))
        return CandidatePath(kernel, setup.spec, grid, self.spec.weightings)

    # -- halving ----------------------------------------------------------------------

    def run(
        self, splits: Sequence[tuple[np.ndarray, np.ndarray]], progress: Progress = SILENT
    ) -> None:
        """Compare all paths, beginning with some alphas of every kernel.

        Parameters
        ----------
        splits : sequence of (ndarray, ndarray)
            Training and test rows of every fold.
        progress : Progress
        """
        self._splits, self._progress = splits, progress
        wanted, n_folds = self.spec.alphas, len(splits)
        if self.spec.extends or sum(map(len, wanted.values())) > HALVING.finalists:
            self._screen(wanted, range(_screening_folds(n_folds, len(self.data.X))))
            self.finalists = sorted(self._best_paths())
        else:
            self._add(wanted)
            self.finalists = list(range(len(self.paths)))
        # Penalties far below the best of the screening are left out, unless the user gave them.
        shortens = not isinstance(self.spec.sparsities, np.ndarray)
        for i in self.finalists:
            seen = self.paths[i]
            self.paths[i] = self.make_path(seen.kernel, seen.alpha)
            if shortens and self.scores[i]:
                number = self._point_before_best(seen, i)
                self.paths[i] = self.paths[i].from_penalty(float(seen.penalties[number]))
                self._go_on(seen, i, number)
            self.scores[i] = []
        self._score(self.finalists, range(n_folds), screening=False)

    def _screen(self, wanted: dict[str, list[float]], folds: Sequence[int]) -> None:
        """Follow coarse paths, and others beside them as long as that pays."""
        while wanted:
            begun = len(self.paths)
            self._add(wanted)
            new = range(begun, len(self.paths))
            for i in new:
                self.paths[i] = self.paths[i].screened()
            self._score(new, folds, screening=True)
            wanted = self._next_alphas() if self.spec.extends else {}

    def _add(self, wanted: dict[str, list[float]]) -> None:
        for kernel, alphas in wanted.items():
            for alpha in alphas:
                self.paths.append(self.make_path(kernel, alpha))
                self.scores.append([])

    def _best_paths(self) -> list[int]:
        """Return the paths that go on: the best one of each of the best kernels.

        Neighboring alphas of one kernel do about equally well, so that a second one of them would
        add little. Where there are fewer kernels than places, further alphas take these.
        """
        order, leaders = self._in_order(), self._leaders()
        best, *others = (leaders + [i for i in order if i not in leaders])[: HALVING.finalists]
        return [best, *(i for i in others if not self._surely_better(best, i))]

    def _in_order(self) -> list[int]:
        """Return the paths, the best one first; of those that do equally well in their order."""
        return sorted(range(len(self.paths)), key=lambda i: -self._best(i))

    def _leaders(self) -> list[int]:
        """Return the best path of every kernel, the best one first."""
        order = self._in_order()
        first_of = {self.paths[i].kernel: i for i in reversed(order)}
        return [i for i in order if first_of[self.paths[i].kernel] == i]

    def _means(self, i: int) -> np.ndarray:
        return np.asarray(np.mean([fold.scores for fold in self.scores[i]], axis=0))

    def _best(self, i: int) -> float:
        """Return the mean score of the best candidate of a path on the folds that it has seen."""
        mean = self._means(i)
        if np.isnan(mean).all():
            return -np.inf
        # Rounded, so that the order of sums does not decide between paths that do equally well.
        return float(f"{np.nanmax(mean):.9g}")

    def _point_before_best(self, path: CandidatePath, i: int) -> int:
        """Return the point of a screening before its best one: below, features are too many."""
        means = self._means(i)[: len(path.penalties)]
        return 0 if np.isnan(means).all() else max(int(np.nanargmax(means)) - 1, 0)

    def _go_on(self, path: CandidatePath, i: int, number: int) -> None:
        """Let a path begin where the screening has been, at one of its points or before it.

        What a feature gains grows with the rows. A screening on some of the rows of a fold has lost
        features that are worth the penalty on all of them, but not at a penalty that is lower by
        the share of its rows.
        """
        if path.by_count or self.setup_of(path.kernel).problem.convex:
            return  # these begin at the other end, or know no penalty
        for fold, seen in enumerate(self.scores[i]):
            known, begun = self._starts.get((path.kernel, fold)), seen.weights
            if known is None or begun is None:
                continue
            share = seen.n_training_rows / len(self._splits[fold][0])
            most = path.penalties[number] * min(share, 1.0)
            at = int(np.searchsorted(path.penalties, most, side="right")) - 1
            w = begun[[min(max(at, 0), begun.shape[0] - 1)]].toarray()[0]
            if w.any():
                penalty = float(path.penalties[max(at, 0)])
                self._begun[i, fold] = replace(known, weights=w, sparsity=penalty)

    def _next_alphas(self) -> dict[str, list[float]]:
        """Return the next alpha of every kernel whose curve still rises at an end."""
        wanted = {}
        contenders = self._contenders()
        for kernel in contenders:
            mine = [i for i, path in enumerate(self.paths) if path.kernel == kernel]
            mine.sort(key=lambda i: self.paths[i].alpha)
            worst = min(float(np.nanmin(self._means(i), initial=np.inf)) for i in mine)
            least = HALVING.worth_a_step * (max(map(self._best, mine)) - worst)
            low = self.paths[mine[0]].alpha / HALVING.alpha_step
            high = self.paths[mine[-1]].alpha * HALVING.alpha_step
            if self._pays(mine[0], mine[1:], least) and low >= HALVING.alpha_lowest * (1.0 - 1e-9):
                wanted[kernel] = [low]
            elif self._pays(mine[-1], mine[:-1], least) and high <= HALVING.alpha_highest * (
                1.0 + 1e-9
            ):
                wanted[kernel] = [high]
        return wanted

    def _contenders(self) -> list[str]:
        """Return the kernels that another alpha could make one of the best."""
        leaders = self._leaders()
        last = leaders[: HALVING.finalists][-1]
        far = {self.paths[i].kernel for i in leaders if self._surely_better(last, i)}
        return [kernel for kernel in self.spec.alphas if kernel not in far]

    def _pays(self, i: int, others: Sequence[int], least: float) -> bool:
        """Whether a path gains more than that over others, and more than chance would."""
        second = max(others, key=self._best)
        if not np.isfinite(self._best(second)) or not self._best(i) - self._best(second) > least:
            return False  # a scoring may be NaN for everything on a path
        gain, error = self._gain(i, second)
        return not gain <= HALVING.sure_step * error

    def _surely_better(self, i: int, other: int) -> bool:
        """Whether a path gains so much over another one that following both is no use.

        A gain that is the same in all folds is one of scores with few values, and not sure.
        """
        if not np.isfinite([self._best(i), self._best(other)]).all():
            return False  # a scoring may be NaN for everything on a path
        gain, error = self._gain(i, other)
        return error > 0 and gain > HALVING.sure_step * error

    def _gain(self, i: int, other: int) -> tuple[float, float]:
        """Return the mean gain of a path's best over that of another one, and its error.

        The error is NaN for a single fold.
        """
        first, second = (
            np.array([fold.scores[int(np.nanargmax(self._means(j)))] for fold in self.scores[j]])
            for j in (i, other)
        )
        gains = first - second
        error = spread(gains) / math.sqrt(len(gains)) if len(gains) > 1 else math.nan
        return float(gains.mean()), error

    # -- scores -----------------------------------------------------------------------

    def _score(self, going: Sequence[int], folds: Sequence[int], *, screening: bool) -> None:
        """Score paths on folds in parallel, those of one kernel together.

        On every fold the last kernel, which is the most general and takes longest, goes first, so
        that workers do not wait for it in the end. Kernels that share the functions of their
        columns follow each other.
        """
        kernels = dict.fromkeys(self.paths[i].kernel for i in going)
        batches = [
            ([i for i in going if self.paths[i].kernel == kernel], fold)
            for fold in folds
            for kernel in reversed(kernels)
        ]
        jobs = []
        with self._progress.child("comparing", len(batches), ordered=False) as parent:
            for number, (mine, fold) in enumerate(batches):
                child = parent.child("fold", len(mine), number=number)
                jobs.append(self._job(mine, fold, screening, child))
            results = Parallel(n_jobs=self.spec.n_jobs)(jobs)
        for (mine, fold), (scores, begun) in zip(batches, results, strict=True):
            self._starts.setdefault((self.paths[mine[0]].kernel, fold), begun[0])
            if not screening:
                self._begun |= {(i, fold): start for i, start in zip(mine, begun, strict=True)}
            self.n_paths += len(mine)
            for i, score in zip(mine, scores, strict=True):
                self.scores[i].append(score)
                self.n_factorizations += score.n_factorizations

    def _job(self, mine: list[int], fold: int, screening: bool, progress: Progress) -> object:
        """Return the call that scores paths of one kernel on a fold, to be made by a worker."""
        (train, test), paths = self._splits[fold], [self.paths[i] for i in mine]
        # An exact number of features needs as many columns that vary.
        few = self._some_of(train, all_vary=paths[0].by_count) if screening else None
        if few is not None:
            # A model of few rows is faster without centers.
            train, paths = few, [replace(path, spec=exact(path.spec)) for path in paths]
        if screening:
            paths = [replace(path, spec=coarse(path.spec)) for path in paths]
        begins, start_rows = [self._begin_of(i, fold) for i in mine], None
        if begins[0] is None and paths[0].spec.n_centers is not None:
            start_rows = self._some_of(train)  # as for the folds of a screening round
        return delayed(score_paths)(paths, self.data, train, test, begins, start_rows, progress)

    def _begin_of(self, i: int, fold: int) -> Start | None:
        """Return where a path begins on a fold, None where that is not known yet."""
        return self._begun.get((i, fold)) or self._starts.get((self.paths[i].kernel, fold))

    def _some_of(self, train: np.ndarray, *, all_vary: bool = False) -> np.ndarray | None:
        """Return some of many training rows; None where there are few, or these reveal nothing.

        A few rows of a sparse table may have no column that varies, or a constant target. With
        ``all_vary`` every column must vary in them that varies in all training rows.
        """
        if len(train) <= HALVING.screening_rows:
            return None
        train = train[self.data.sample_weight[train] > 0]
        target = train if self.codes is None else self.codes[train]
        drawn = draw_rows(target, self.codes is not None, HALVING.screening_rows, self.spec.seed)
        some = train[drawn]
        columns = np.ptp(self.data.X[some], axis=0) > 0
        varies = bool(columns.any())
        if all_vary:
            varies = varies and not (np.ptp(self.data.X[train], axis=0)[~columns] > 0).any()
        if self.codes is None:
            varies = varies and bool(np.ptp(self.data.y[some], axis=0).all())
        return some if varies else None

    def starts_of(self, path: CandidatePath) -> list[Start | None]:
        """Return where a path began in every fold."""
        i = self.paths.index(path)
        return [self._begin_of(i, fold) for fold in range(len(self._splits))]
