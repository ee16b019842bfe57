"""A race of lines over folds: what a first look rules out is not followed to the end.

The first look follows every line on some of the folds and rows, with few penalties. There the
search for ``alpha`` goes on, by factors of ten, until the curve of every kernel has turned on both
sides. The best lines are then followed on all folds, with all penalties but those far below the
best of the first look: there features are many, and points cost most. Which lines go on depends on
the scores alone, so that the answer is the same for any number of workers.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from kernelknife._tuning.folds import FoldScores
from kernelknife._tuning.settings import Line

__all__ = ["Batch", "Race", "expected_paths", "is_last_alpha"]

# The first look takes one set of five folds, or fewer where these have test rows enough: the share
# of wrong rows of two settings is then told apart to about one in a hundred.
FIRST_FOLDS, FEWEST_FIRST_FOLDS, ENOUGH_ROWS = 5, 2, 800
LAST_LINES = 2  # that are followed to the end; so few are not raced at all
# An alpha beyond those tried is worth a look only if the last step toward it gained this share of
# what the kernel gains over the worst model of its lines, and more than so many standard errors
# of that gain. Where there is little noise all that matters happens in the last hundredth.
WORTH_A_STEP, SURE_STEP = 0.005, 2.0
ALPHA_STEP, ALPHA_LOWEST, ALPHA_HIGHEST = 10.0, 1e-4, 1e3
USUAL_ALPHAS = 3  # that the search for alpha looks at, as a rule

# Lines of one kernel on one fold.
Batch = tuple[list[Line], int]


def is_last_alpha(alpha: float) -> bool:
    """Whether the search for alpha goes no further than this, whatever it finds."""
    return not ALPHA_LOWEST * ALPHA_STEP**0.5 < alpha < ALPHA_HIGHEST / ALPHA_STEP**0.5


def folds_to_look_at(n_folds: int, n_rows: int) -> int:
    """Return how many of the folds a first look takes."""
    enough = math.ceil(ENOUGH_ROWS * n_folds / n_rows)
    return min(n_folds, FIRST_FOLDS, max(enough, FEWEST_FIRST_FOLDS))


def expected_paths(
    wanted: dict[str, list[float]], extends: bool, n_folds: int, n_rows: int
) -> tuple[int, int]:
    """Return about how many paths a race follows in its first look, and to the end.

    Parameters
    ----------
    wanted : dict
        The alphas that each kernel begins with.
    extends : bool
        Whether alphas may follow that were not given.
    n_folds, n_rows : int
    """
    n_lines = len(wanted) * USUAL_ALPHAS if extends else sum(map(len, wanted.values()))
    if n_lines <= LAST_LINES and not extends:
        return 0, n_lines * n_folds
    return n_lines * folds_to_look_at(n_folds, n_rows), min(n_lines, LAST_LINES) * n_folds


@dataclass
class Race:
    """Lines and what they have scored so far.

    Parameters
    ----------
    make_line : callable
        ``make_line(kernel, alpha)`` returns a line of the kernel with that name.
    run : callable
        ``run(batches, first_look)`` returns the scores of every line of every batch, in their
        order.
    extends : bool
        Whether alphas may follow that were not given.
    shortens : bool
        Whether penalties far below the best of the first look may be left out, because it was not
        the user who gave them.

    Attributes
    ----------
    lines : list of Line
        Those that were dropped have the penalties of the first look only.
    scores : list of list of FoldScores
        By line, in the order of the folds.
    followed : list of int
        The lines that were followed to the end, among which the winner is chosen.
    n_paths : int
        Paths that were followed so far.
    """

    make_line: Callable[[str, float], Line]
    run: Callable[[list[Batch], bool], list[list[FoldScores]]]
    extends: bool
    shortens: bool = True
    lines: list[Line] = field(default_factory=list)
    scores: list[list[FoldScores]] = field(default_factory=list)
    followed: list[int] = field(default_factory=list)
    n_paths: int = 0

    def compare(self, wanted: dict[str, list[float]], n_folds: int, n_rows: int) -> None:
        """Run the whole race, beginning with some alphas of every kernel."""
        if self.extends or sum(map(len, wanted.values())) > LAST_LINES:
            self._look(wanted, range(folds_to_look_at(n_folds, n_rows)))
            going = self._best_lines()
        else:
            self._add(wanted)
            going = list(range(len(self.lines)))
        for i in going:
            seen = self.lines[i]
            self.lines[i] = self.make_line(seen.kernel, seen.alpha)
            if self.shortens and self.scores[i]:
                self.lines[i] = self.lines[i].from_penalty(self._penalty_before_best(seen, i))
            self.scores[i] = []
        self.followed = sorted(going)
        self._run(self.followed, range(n_folds), first_look=False)

    def _best_lines(self) -> list[int]:
        """Return the lines that go on: the best one of each of the best kernels.

        Neighboring alphas of one kernel do about equally well, so that a second one of them would
        tell little. Where there are fewer kernels than places, further alphas take these.
        """
        # The sort is stable: of lines that do equally well the first goes on.
        order = sorted(range(len(self.lines)), key=lambda i: -self.best(i))
        first_of = {self.lines[i].kernel: i for i in reversed(order)}
        leaders = [i for i in order if first_of[self.lines[i].kernel] == i]
        return (leaders + [i for i in order if i not in leaders])[:LAST_LINES]

    def best(self, i: int) -> float:
        """Return the mean score of the best setting of a line on the folds that it has seen."""
        mean = self._means(i)
        if np.isnan(mean).all():
            return -np.inf
        # Rounded, so that the order of sums does not decide between lines that do equally well.
        return float(f"{np.nanmax(mean):.9g}")

    def _penalty_before_best(self, line: Line, i: int) -> float:
        """Return the penalty of a first look before its best one: below, features are too many."""
        path = self._means(i)[: len(line.penalties)]
        if np.isnan(path).all():
            return 0.0
        return float(line.penalties[max(int(np.nanargmax(path)) - 1, 0)])

    def _means(self, i: int) -> np.ndarray:
        return np.mean([fold.scores for fold in self.scores[i]], axis=0)

    def _look(self, wanted: dict[str, list[float]], folds: Sequence[int]) -> None:
        """Follow coarse lines, and others beside them as long as that pays."""
        kernels = list(wanted)
        while wanted:
            begun = len(self.lines)
            self._add(wanted)
            new = range(begun, len(self.lines))
            for i in new:
                self.lines[i] = self.lines[i].coarse()
            self._run(new, folds, first_look=True)
            wanted = self._next_alphas(kernels) if self.extends else {}

    def _add(self, wanted: dict[str, list[float]]) -> None:
        for kernel, alphas in wanted.items():
            for alpha in alphas:
                self.lines.append(self.make_line(kernel, alpha))
                self.scores.append([])

    def _run(self, going: Sequence[int], folds: Sequence[int], *, first_look: bool) -> None:
        """Run lines on folds, those of one kernel together.

        The last kernel, which is the most general and takes longest, goes first, so that workers
        do not wait for it in the end.
        """
        batches: list[Batch] = []
        owners: list[list[int]] = []
        for kernel in reversed(dict.fromkeys(self.lines[i].kernel for i in going)):
            mine = [i for i in going if self.lines[i].kernel == kernel]
            for fold in folds:
                batches.append(([self.lines[i] for i in mine], fold))
                owners.append(mine)
        for mine, results in zip(owners, self.run(batches, first_look), strict=True):
            self.n_paths += len(mine)
            for i, scores in zip(mine, results, strict=True):
                self.scores[i].append(scores)

    def _next_alphas(self, kernels: Sequence[str]) -> dict[str, list[float]]:
        """Return the next alpha of every kernel whose curve still rises at an end."""
        wanted = {}
        for kernel in kernels:
            mine = [i for i, line in enumerate(self.lines) if line.kernel == kernel]
            mine.sort(key=lambda i: self.lines[i].alpha)
            best = [self.best(i) for i in mine]
            worst = min(float(np.nanmin(self._means(i), initial=np.inf)) for i in mine)
            least = WORTH_A_STEP * (max(best) - worst)
            low = self.lines[mine[0]].alpha / ALPHA_STEP
            high = self.lines[mine[-1]].alpha * ALPHA_STEP
            if self._pays(mine[0], mine[1:], least) and low >= ALPHA_LOWEST * (1.0 - 1e-9):
                wanted[kernel] = [low]
            elif self._pays(mine[-1], mine[:-1], least) and high <= ALPHA_HIGHEST * (1.0 + 1e-9):
                wanted[kernel] = [high]
        return wanted

    def _pays(self, i: int, others: Sequence[int], least: float) -> bool:
        """Whether a line does better than others by so much, and by more than its luck."""
        second = max(others, key=self.best)
        if not np.isfinite(self.best(second)) or not self.best(i) - self.best(second) > least:
            return False  # a scoring may be NaN for everything on a line
        gains = self._at_best(i) - self._at_best(second)
        if len(gains) < 2:
            return True
        return bool(gains.mean() > SURE_STEP * gains.std(ddof=1) / math.sqrt(len(gains)))

    def _at_best(self, i: int) -> np.ndarray:
        """Return every fold's score of the best setting of a line."""
        setting = int(np.nanargmax(self._means(i)))
        return np.array([fold.scores[setting] for fold in self.scores[i]])
