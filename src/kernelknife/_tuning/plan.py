"""What a search will do with so many rows, known before it begins."""

import numbers
from dataclasses import dataclass
from typing import Any

from kernelknife._engine.fitting import resolved_loss
from kernelknife._tuning.centers import CenterCounts
from kernelknife._tuning.race import expected_paths
from kernelknife._tuning.running import FIRST_LOOK_ROWS
from kernelknife._tuning.settings import alphas_to_try, kernels_to_compare
from kernelknife._tuning.splits import planned_folds
from kernelknife.kernels import RBF, Kernel

__all__ = ["SearchPlan", "plan_search", "rows_to_search"]


@dataclass(frozen=True)
class SearchPlan:
    """What a search will do, for those who wait for it.

    Attributes
    ----------
    kernels : dict of Kernel
        By name.
    n_rows : int
        Rows that it looks at.
    n_folds : int
    n_first_paths, n_last_paths : int
        Paths of the first look, a guess where the search for ``alpha`` may go on, and those that
        are followed to the end.
    n_centers : int or None
        Of the most general kernel, or of the Gaussian where all are convex; None is the exact
        method. A first look at some of the rows has none.
    """

    kernels: dict[str, Kernel]
    n_rows: int
    n_folds: int
    n_first_paths: int
    n_last_paths: int
    n_centers: int | None

    @property
    def n_paths(self) -> int:
        """Number of all paths."""
        return self.n_first_paths + self.n_last_paths

    @property
    def training_rows(self) -> int:
        """Number of rows that a fold trains on."""
        return max(self.n_rows - self.n_rows // self.n_folds, 1)

    @property
    def first_training_rows(self) -> int:
        """Number of rows that a fold of the first look trains on."""
        return min(self.training_rows, FIRST_LOOK_ROWS)


def plan_search(search: Any, n_rows: int, *, n_folds: int | None = None) -> SearchPlan:
    """Return what a cross-validated estimator will do with so many rows.

    Parameters
    ----------
    search : KnifeRegressorCV or KnifeClassifierCV
        Not fitted.
    n_rows : int
    n_folds : int, default=None
        Number of folds where the rows decide it, because groups stay together or a class is rare.
    """
    kernels = kernels_to_compare(search.kernel)
    alphas, extends = alphas_to_try(search.alphas, kernels)
    looked_at = rows_to_search(n_rows, search.search_rows, search.cv)
    n_folds = n_folds or planned_folds(search.cv, looked_at)
    centers = CenterCounts(search.n_centers, resolved_loss(search))
    return SearchPlan(
        kernels,
        looked_at,
        n_folds,
        *expected_paths(alphas, extends, n_folds, looked_at),
        centers.of_search(_most_general(kernels), looked_at),
    )


def _most_general(kernels: dict[str, Kernel]) -> Kernel:
    """Return the last kernel that is not convex, the Gaussian where there is none."""
    return [RBF(), *(kernel for kernel in kernels.values() if not kernel.convex)][-1]


def rows_to_search(n_rows: int, most: int | None, cv: Any) -> int:
    """Return how many of so many rows a search looks at.

    Parameters
    ----------
    n_rows : int
    most : int or None
        None looks at all rows.
    cv : int, splitter, iterable or None
        One that is not counted may name its rows, so that it splits all of them.
    """
    counted = cv is None or isinstance(cv, numbers.Integral)
    return n_rows if most is None or not counted else min(n_rows, most)
