"""How many centers the models of a search have, and the one that it chooses."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kernelknife.kernels import Kernel
from kernelknife.losses import Loss

__all__ = ["CenterCounts", "needs_exact"]

# Beyond so many rows the search uses centers, whose cost grows in proportion to the rows and not
# with their cube. In benchmarks/centers.py a path on 300 centers has the errors of the exact path,
# 100 centers raise them by up to 8 % for numbers, and 500 do not lower them. The path on 300 is the
# quicker one from about 600 rows on (Gaussian kernel, numbers), or 1,000 (ANOVA kernel, classes).
EXACT_ROWS, SEARCH_CENTERS = 1000, 300
# Convex kernels are exact up to more rows: their matrices are products of the columns, which takes
# less time than centers do, and centers that do not span the columns would make them lose their one
# minimum.
CONVEX_EXACT_ROWS = 3000
# The chosen model is one that the folds have judged. With more centers or exact, it follows noise
# that theirs could not follow (benchmarks/chosen_centers.py). A table that is longer than what the
# search looks at bears more: one center for so many rows, up to a limit.
ROWS_PER_CENTER, MOST_CENTERS = 10, 500


def needs_exact(loss: Loss, kernels: Iterable[Kernel]) -> bool:
    """Whether a loss or one of some kernels has no model on centers."""
    return loss.surrogate is not None or any(kernel.indefinite for kernel in kernels)


@dataclass(frozen=True)
class CenterCounts:
    """The numbers of centers in a search; None is the exact method.

    Attributes
    ----------
    given : int, None or "auto"
        The user's ``n_centers``; all but "auto" holds for every model.
    loss : Loss
    """

    given: Any
    loss: Loss

    def of_search(self, kernel: Kernel, n_rows: int) -> int | None:
        """Return the number of centers with which a kernel is compared with others."""
        if self.given != "auto":
            return self.given
        exact_rows = CONVEX_EXACT_ROWS if kernel.convex else EXACT_ROWS
        exact = n_rows <= exact_rows or needs_exact(self.loss, [kernel])
        return None if exact else SEARCH_CENTERS

    def of_chosen(self, kernel: Kernel, n_rows: int) -> int | None:
        """Return the number of centers of the chosen model."""
        count = self.of_search(kernel, n_rows)
        if count is None or self.given != "auto":
            return count
        return min(max(count, n_rows // ROWS_PER_CENTER), MOST_CENTERS)
