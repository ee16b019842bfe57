"""The maker of lines: from a kernel and an alpha to what the folds compare."""

from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernelknife._engine.fitting import Job, prepare_job
from kernelknife._tuning.centers import CenterCounts
from kernelknife._tuning.folds import Data
from kernelknife._tuning.settings import PENALIZED, Line, penalties_of_line
from kernelknife.kernels import Kernel

__all__ = ["LineMaker"]


@dataclass
class LineMaker:
    """Makes the lines of a race; the problem of every kernel is built once, on all rows searched.

    Parameters
    ----------
    template : KnifeRegressor or KnifeClassifier
        With the parameters that all lines share; not fitted.
    kernels : dict of Kernel
        By name.
    centers : CenterCounts
    grid : int or ndarray
        Number of penalties of a line, or the penalties themselves.
    weightings : tuple of str
        Which of "penalized", "relaxed" and "equal" take part.
    data : Data
        The rows of the search.
    names : ndarray or None
        Names of the columns.
    """

    template: Any
    kernels: dict[str, Kernel]
    centers: CenterCounts
    grid: int | np.ndarray
    weightings: tuple[str, ...]
    data: Data
    names: np.ndarray | None = None
    _jobs: dict[str, Job] = field(default_factory=dict, init=False, repr=False)
    _n_centers: dict[str, int | None] = field(default_factory=dict, init=False, repr=False)

    def job(self, kernel: str) -> Job:
        """Return the prepared rows of the search for one kernel."""
        if kernel not in self._jobs:
            n_centers = self.centers.of_search(self.kernels[kernel], self.data.n_counted)
            self._n_centers[kernel] = n_centers
            job = self._prepare(kernel)
            job.prepared.rows.names = self.names
            self._jobs[kernel] = job
        return self._jobs[kernel]

    def make(self, kernel: str, alpha: float) -> Line:
        """Return the line of one kernel and one alpha."""
        job = self.job(kernel)
        if self.template.n_features_to_select is not None:
            # Every fold has the penalty that keeps as many features.
            return Line(kernel, self._estimator(kernel, alpha), np.array([np.nan]), (PENALIZED,))
        grid = self.grid
        if not isinstance(grid, np.ndarray):
            grid = penalties_of_line(job.with_alpha(alpha).problem, int(grid))
        return Line(kernel, self._estimator(kernel, alpha), grid, self.weightings)

    def _prepare(self, kernel: str) -> Job:
        data = self.data
        return prepare_job(self._estimator(kernel, 1.0), data.X, data.y, data.sample_weight)

    def _estimator(self, kernel: str, alpha: float) -> Any:
        options = {"kernel": self.kernels[kernel], "n_centers": self._n_centers[kernel]}
        return copy(self.template).set_params(alpha=alpha, **options)
