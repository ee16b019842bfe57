"""A race of lines over folds: what a first look rules out is not followed to the end.

The first look follows every line on one set of folds with few penalties. There the search for
``alpha`` goes on, by factors of ten, until the curve of every kernel has turned on both sides. The
best lines are then followed with all penalties, on all folds. Which lines go on depends on the
scores alone, so that the answer is the same for any number of workers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from kernelknife._choice.folds import FoldScores
from kernelknife._choice.settings import Line

__all__ = ["Batch", "Race", "expected_paths"]

FIRST_FOLDS = 5  # of the first look: one set of folds, where these are repeated
LAST_LINES = 2  # that are followed to the end; so few are not raced at all
# An alpha beyond those tried is worth a look only if the last step towards it gained this share of
# what the kernel gains over the worst machine of its lines.
WORTH_A_STEP = 0.02
ALPHA_STEP, ALPHA_LOWEST, ALPHA_HIGHEST = 10.0, 1e-4, 1e3
USUAL_ALPHAS = 3  # that the search for alpha looks at, as a rule

# Lines of one kernel on one fold.
Batch = tuple[list[Line], int]


def expected_paths(wanted: dict[str, list[float]], extends: bool, n_folds: int) -> int:
    """Return about how many paths a race follows, for those who wait for it.

    Parameters
    ----------
    wanted : dict
        The alphas that each kernel begins with.
    extends : bool
        Whether alphas may follow that were not given.
    n_folds : int
    """
    n_lines = len(wanted) * USUAL_ALPHAS if extends else sum(map(len, wanted.values()))
    if n_lines <= LAST_LINES and not extends:
        return n_lines * n_folds
    return n_lines * min(n_folds, FIRST_FOLDS) + min(n_lines, LAST_LINES) * n_folds


@dataclass
class Race:
    """Lines and what they have scored so far.

    Parameters
    ----------
    make_line : callable
        ``make_line(kernel, alpha)`` returns a line of the kernel with that name.
    run : callable
        ``run(batches)`` returns the scores of every line of every batch, in their order.
    extends : bool
        Whether alphas may follow that were not given.

    Attributes
    ----------
    lines : list of Line
        Those that were dropped have the penalties of the first look only.
    scores : list of list of FoldScores
        By line, in the order of the folds.
    n_paths : int
        Paths that were followed so far.
    """

    make_line: Callable[[str, float], Line]
    run: Callable[[list[Batch]], list[list[FoldScores]]]
    extends: bool
    lines: list[Line] = field(default_factory=list)
    scores: list[list[FoldScores]] = field(default_factory=list)
    n_paths: int = 0

    def compare(self, wanted: dict[str, list[float]], n_folds: int) -> None:
        """Run the whole race, beginning with some alphas of every kernel."""
        if self.extends or sum(map(len, wanted.values())) > LAST_LINES:
            self._look(wanted, range(min(FIRST_FOLDS, n_folds)))
            # The sort is stable: of lines that do equally well the first goes on.
            going = sorted(range(len(self.lines)), key=lambda i: -self.best(i))[:LAST_LINES]
        else:
            self._add(wanted)
            going = list(range(len(self.lines)))
        for i in going:
            line = self.lines[i]
            self.lines[i] = self.make_line(line.kernel, line.alpha)
            self.scores[i] = []
        self._run(sorted(going), range(n_folds))

    def best(self, i: int) -> float:
        """Return the mean score of the best setting of a line on the folds that it has seen."""
        mean = self._means(i)
        if np.isnan(mean).all():
            return -np.inf
        # Rounded, so that the order of sums does not decide between lines that do equally well.
        return float(f"{np.nanmax(mean):.9g}")

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
            self._run(new, folds)
            wanted = self._next_alphas(kernels) if self.extends else {}

    def _add(self, wanted: dict[str, list[float]]) -> None:
        for kernel, alphas in wanted.items():
            for alpha in alphas:
                self.lines.append(self.make_line(kernel, alpha))
                self.scores.append([])

    def _run(self, going: Sequence[int], folds: Sequence[int]) -> None:
        """Run lines on folds, those of one kernel together."""
        batches: list[Batch] = []
        owners: list[list[int]] = []
        for fold in folds:
            for kernel in dict.fromkeys(self.lines[i].kernel for i in going):
                mine = [i for i in going if self.lines[i].kernel == kernel]
                batches.append(([self.lines[i] for i in mine], fold))
                owners.append(mine)
        for mine, results in zip(owners, self.run(batches), strict=True):
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
            if best[0] - max(best[1:]) > least and low >= ALPHA_LOWEST * (1.0 - 1e-9):
                wanted[kernel] = [low]
            elif best[-1] - max(best[:-1]) > least and high <= ALPHA_HIGHEST * (1.0 + 1e-9):
                wanted[kernel] = [high]
        return wanted
