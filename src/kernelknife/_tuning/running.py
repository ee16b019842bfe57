"""Runs of lines on folds: in parallel, a first look on some of the training rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from joblib import Parallel, delayed

from kernelknife._engine.search import Start
from kernelknife._tuning.folds import EXACT, Data, FoldScores, score_lines
from kernelknife._tuning.race import Batch
from kernelknife._tuning.splits import draw_rows
from kernelknife._utils.progress import SILENT, Task

__all__ = ["FIRST_LOOK_ROWS", "Runner"]

# Training rows of a fold that kernels and alphas are told apart by, and starts where there are
# centers.
FIRST_LOOK_ROWS = 600


@dataclass
class Runner:
    """Runs batches of lines on folds in parallel, and remembers where their paths began.

    Parameters
    ----------
    data : Data
        The rows of the search.
    splits : sequence of (ndarray, ndarray)
        Training and test rows of every fold.
    codes : ndarray or None
        Codes of the classes, None for numbers.
    n_jobs : int or None
        How many batches run at the same time; None leaves it to joblib.
    seed : int or None
        Draws the rows of a first look.
    task : Task
    """

    data: Data
    splits: Sequence[tuple[np.ndarray, np.ndarray]]
    codes: np.ndarray | None
    n_jobs: int | None = None
    seed: int | None = None
    task: Task = SILENT
    _starts: dict[tuple[str, int], Start] = field(default_factory=dict, init=False, repr=False)

    def __call__(self, batches: Sequence[Batch], first_look: bool) -> list[list[FoldScores]]:
        """Return the scores of every line of every batch."""
        jobs = []
        with self.task.child("comparing", len(batches), ordered=False) as parent:
            for i, (lines, fold) in enumerate(batches):
                train, test = self.splits[fold]
                # Exactly so many features need as many columns that vary.
                counted = lines[0].template.n_features_to_select is not None
                few = self._some_of(train, all_vary=counted) if first_look else None
                if few is not None:
                    # So few rows are faster without centers.
                    train, lines = few, [line.with_options(**EXACT) for line in lines]
                begin, look = self._starts.get((lines[0].kernel, fold)), None
                if begin is None and lines[0].template.n_centers is not None:
                    look = self._some_of(train)  # as for the folds of a first look
                child = parent.child("fold", len(lines), number=i)
                jobs.append(delayed(score_lines)(lines, self.data, train, test, begin, look, child))
            results = Parallel(n_jobs=self.n_jobs)(jobs)
        for (lines, fold), (_, begin) in zip(batches, results, strict=True):
            self._starts[lines[0].kernel, fold] = begin
        return [scores for scores, _ in results]

    def starts_of(self, kernel: str) -> list[Start | None]:
        """Return where the paths of a kernel began in every fold."""
        return [self._starts.get((kernel, fold)) for fold in range(len(self.splits))]

    def common_start(self, kernel: str) -> str | None:
        """Return the name of the start that won in every fold of a kernel, None where they differ.

        On all rows it is then the only one to try.
        """
        names = {start.name for start in self.starts_of(kernel) if start is not None}
        return names.pop() if len(names) == 1 else None

    def _some_of(self, train: np.ndarray, *, all_vary: bool = False) -> np.ndarray | None:
        """Return some of many training rows; None where there are few, or these tell nothing.

        A few rows of a sparse table may have no column that varies, or a constant target. With
        ``all_vary`` every column must vary in them that varies in all training rows.
        """
        if len(train) <= FIRST_LOOK_ROWS:
            return None
        train = train[self.data.sample_weight[train] > 0]
        target = train if self.codes is None else self.codes[train]
        some = train[draw_rows(target, self.codes is not None, FIRST_LOOK_ROWS, self.seed)]
        columns = np.ptp(self.data.X[some], axis=0) > 0
        varies = bool(columns.any())
        if all_vary:
            varies = varies and not (np.ptp(self.data.X[train], axis=0)[~columns] > 0).any()
        if self.codes is None:
            varies = varies and np.ptp(self.data.y[some], axis=0).all()
        return some if varies else None
