"""Successive halving of candidate paths over folds: what cannot win is not followed to the end.

A screening follows every path on few folds and some of the rows, with few penalties. There the
search for ``alpha`` goes on, by factors of ten, until the curve of every kernel has turned on both
sides. A path that is surely behind the best after the first of these folds goes no further. The
best ones are then followed on all folds, with all penalties but those far below the best of the
screening, where features are many and points cost most, and begin where it has been on a fold whose
rows it has seen. A path of rising penalties ends where its scores have turned. What goes on depends
on the scores alone, so that the answer is the same for any number of workers.
"""

import itertools
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
        A screening takes one set of five folds, or fewer where these have test rows enough: the
        misclassification rates of two candidates are then known to about one in a hundred.
    first_rows : int
        Test rows of the folds that all kernels are compared on; the others of the screening see no
        path that is surely behind by then.
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
    first_rows: int = 25
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


def _first_folds(n_screening: int, rows_of_a_fold: float) -> int:
    """Return how many of the folds of the screening see every path."""
    enough = math.ceil(HALVING.first_rows / max(rows_of_a_fold, 1.0))
    return min(n_screening, max(enough, HALVING.fewest_folds))


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
        n_screened = _screening_folds(n_folds, n_rows)
        # At most; how many are surely behind after the first folds is not known.
        n_screening = n_paths * n_screened
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
        ends = [n_folds]
        if self.spec.extends or sum(map(len, wanted.values())) > HALVING.finalists:
            going = self._screen(wanted, _screening_folds(n_folds, len(self.data.X)))
            self.finalists = sorted(self._best_paths(going))
            # A path that turns out to be surely behind does not see the other folds.
            first = (HALVING.fewest_folds, HALVING.screening_folds)
            ends = [*(n for n in first if n < n_folds), n_folds]
        else:
            self._add(wanted)
            self.finalists = list(range(len(self.paths)))
        for i in self.finalists:
            seen = self.paths[i]
            self.paths[i] = self.make_path(seen.kernel, seen.alpha)
            if self._shortens and self.scores[i]:
                number = self._point_before_best(seen, i)
                self.paths[i] = self.paths[i].between(float(seen.penalties[number]), np.inf)
                self._go_on(seen, i, number)
            self.scores[i] = []
        for begin, end in itertools.pairwise([0, *ends]):
            self._score(self.finalists, range(begin, end), screening=False)
            self.finalists = self._not_behind(self.finalists) if len(ends) > 1 else self.finalists

    @property
    def _shortens(self) -> bool:
        """Whether penalties may be left out, which the user has not given."""
        return not isinstance(self.spec.sparsities, np.ndarray)

    def _screen(self, wanted: dict[str, list[float]], n_folds: int) -> list[int]:
        """Follow coarse paths, others beside them as long as that pays.

        Those are returned that have been followed on all of the folds.
        """
        n_test = float(np.mean([len(test) for _, test in self._splits]))
        n_first = _first_folds(n_folds, n_test) if self._scores_rows else n_folds
        # One alpha of every kernel, then the others that were asked for, then some beyond.
        first = 1 if self.spec.extends else None
        later = {kernel: alphas[len(alphas[:first]) :] for kernel, alphas in wanted.items()}
        self._score(self._add_screened(wanted, first), range(n_first), screening=True)
        wanted = {kernel: later[kernel] for kernel in self._contenders() if later[kernel]}
        self._score(self._add_screened(wanted), range(n_first), screening=True)
        going = self._not_behind(range(len(self.paths)))
        if n_first < n_folds:
            self._score(going, range(n_first, n_folds), screening=True)
        wanted = self._next_alphas(going) if self.spec.extends else {}
        while wanted:
            added = self._add_screened(wanted)
            self._score(added, range(n_folds), screening=True)
            going += added
            wanted = self._next_alphas(going)
        return going

    def _add_screened(self, wanted: dict[str, list[float]], most: int | None = None) -> list[int]:
        """Add coarse paths, as many alphas of each kernel at most, and return their numbers."""
        begun = len(self.paths)
        self._add({kernel: alphas[:most] for kernel, alphas in wanted.items()})
        self.paths[begun:] = [path.screened() for path in self.paths[begun:]]
        return list(range(begun, len(self.paths)))

    def _not_behind(self, going: Sequence[int]) -> list[int]:
        """Return the paths that are not surely behind the best of them."""
        best = self._in_order(going)[0]
        return [i for i in going if i == best or not self._surely_better(best, i)]

    @property
    def _scores_rows(self) -> bool:
        """Whether scores are means over test rows, which tell their own errors."""
        one, loss = self.data.scoring.scorer is None, self.spec.fit.loss
        return one and loss.score is None and not loss.couples_rows

    def _add(self, wanted: dict[str, list[float]]) -> None:
        for kernel, alphas in wanted.items():
            for alpha in alphas:
                self.paths.append(self.make_path(kernel, alpha))
                self.scores.append([])

    def _best_paths(self, going: Sequence[int]) -> list[int]:
        """Return the paths that go on: the best one of each of the best kernels.

        Neighboring alphas of one kernel do about equally well, so that a second one of them would
        add little. Where there are fewer kernels than places, further alphas take these.
        """
        order, leaders = self._in_order(going), self._leaders(going)
        return self._not_behind(
            (leaders + [i for i in order if i not in leaders])[: HALVING.finalists]
        )

    def _in_order(self, going: Sequence[int]) -> list[int]:
        """Return the paths, the best one first; of those that do equally well in their order."""
        return sorted(going, key=lambda i: -self._best(i))

    def _leaders(self, going: Sequence[int]) -> list[int]:
        """Return the best path of every kernel, the best one first."""
        order = self._in_order(going)
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

    def _next_alphas(self, going: Sequence[int]) -> dict[str, list[float]]:
        """Return the next alpha of every kernel whose curve still rises at an end."""
        wanted = {}
        for kernel in self._contenders():
            mine = [i for i, path in enumerate(self.paths) if path.kernel == kernel]
            mine.sort(key=lambda i: self.paths[i].alpha)
            if len(mine) < 2:
                continue  # it was no contender before
            worst = min(float(np.nanmin(self._means(i), initial=np.inf)) for i in mine)
            least = HALVING.worth_a_step * (max(map(self._best, mine)) - worst)
            low = self.paths[mine[0]].alpha / HALVING.alpha_step
            high = self.paths[mine[-1]].alpha * HALVING.alpha_step
            lowest, highest = HALVING.alpha_lowest * (1 - 1e-9), HALVING.alpha_highest * (1 + 1e-9)
            if mine[0] in going and self._pays(mine[0], mine[1:], least) and low >= lowest:
                wanted[kernel] = [low]
            elif mine[-1] in going and self._pays(mine[-1], mine[:-1], least) and high <= highest:
                wanted[kernel] = [high]
        return wanted

    def _contenders(self) -> list[str]:
        """Return the kernels that another alpha could make one of the best."""
        leaders = self._leaders(range(len(self.paths)))
        last = leaders[: HALVING.finalists][-1]
        far = {self.paths[i].kernel for i in leaders if self._surely_better(last, i)}
        return [kernel for kernel in self.spec.alphas if kernel not in far]

    def _pays(self, i: int, others: Sequence[int], least: float) -> bool:
        """Whether a path gains more than that over others, and more than chance would."""
        second = max(others, key=self._best)
        if not np.isfinite([self._best(i), self._best(second)]).all():
            return False  # a scoring may be NaN for everything on a path
        gain, error = self._gain(self._top(i), self._top(second))
        return gain > least and not gain <= HALVING.sure_step * error

    def _surely_better(self, i: int, other: int) -> bool:
        """Whether a path gains so much over another one that following both is no use.

        A gain that is the same in all folds is one of scores with few values, and not sure.
        """
        if not np.isfinite([self._best(i), self._best(other)]).all():
            return False  # a scoring may be NaN for everything on a path
        gain, error = self._gain(self._top(i), self._top(other))
        return error > 0 and gain > HALVING.sure_step * error

    def _top(self, i: int) -> tuple[int, int]:
        """Return the best candidate of a path, with the path."""
        return i, int(np.nanargmax(self._means(i)))

    def _gain(self, one: tuple[int, int], other: tuple[int, int]) -> tuple[float, float]:
        """Return the mean gain of a candidate over another one on the same folds, and its error.

        That of differences between test rows, or between folds where rows have no scores of their
        own. It is NaN for a single fold or row.
        """
        pairs = list(zip(self.scores[one[0]], self.scores[other[0]], strict=False))
        gains = np.array([a.scores[one[1]] - b.scores[other[1]] for a, b in pairs])
        each = gains
        rows = [
            b.losses[other[1]] - a.losses[one[1]]
            for a, b in pairs
            if a.losses is not None and b.losses is not None
        ]
        if len(rows) == len(pairs):
            each = np.concatenate(rows).astype(float)
        error = spread(each) / math.sqrt(len(each)) if len(each) > 1 else math.nan
        return float(gains.mean()), float(error)

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
            self._remember(self.paths[mine[0]], fold, begun[0], scores[0])
            if not screening:
                self._begun |= {(i, fold): start for i, start in zip(mine, begun, strict=True)}
            self.n_paths += len(mine)
            for i, score in zip(mine, scores, strict=True):
                self.scores[i].append(score)
                self.n_factorizations += score.n_factorizations
        for i in going:
            self._end_together(i)

    def _remember(self, path: CandidatePath, fold: int, begun: Start, scores: FoldScores) -> None:
        """Keep where the first path of a kernel has begun on a fold, for other alphas."""
        if (path.kernel, fold) in self._starts:
            return
        if scores.weights is not None and path.penalties[0] == 0.0:
            # Without a penalty it is where the path of a neighboring alpha begins.
            begun = replace(begun, weights=scores.weights[[0]].toarray()[0])
        self._starts[path.kernel, fold] = begun

    def _end_together(self, i: int) -> None:
        """Leave out penalties of a path beyond the first one at which it has turned in a fold."""
        ends = [score.turned for score in self.scores[i] if score.turned is not None]
        path = self.paths[i]
        if not ends or min(ends) >= len(path.penalties):
            return
        self.paths[i] = path.between(-np.inf, float(path.penalties[min(ends) - 1]))
        left = set(self.paths[i].candidates)
        kept = np.array([candidate in left for candidate in path.candidates])
        self.scores[i] = [score.restricted(kept) for score in self.scores[i]]

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
        early = self._shortens and not paths[0].by_count
        return delayed(score_paths)(
            *(paths, self.data, train, test, begins, start_rows, early, progress)
        )

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
