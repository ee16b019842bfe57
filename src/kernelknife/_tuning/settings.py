"""The settings that cross-validation compares: kernels, alphas, penalties, kinds of weights.

A line is one kernel with one ``alpha``. It holds a path of penalties; perhaps the model of every
point of it, refitted without the penalty; and perhaps the model of all columns with equal
weights. The folds compare everything on all lines.
"""

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelknife._engine.objective import Problem
from kernelknife._engine.search import sparsest_state
from kernelknife._utils.checks import check_number
from kernelknife.kernels import KERNELS, Kernel, check_kernel

__all__ = [
    "EQUAL",
    "PENALIZED",
    "RELAXED",
    "Line",
    "alphas_to_try",
    "kernels_to_compare",
    "penalties_of_line",
    "penalty_for_share",
    "weightings_to_compare",
]

# What becomes of the weights: as the penalty has them, refitted without it, or all alike.
PENALIZED, RELAXED, EQUAL = "penalized", "relaxed", "equal"
# From the simplest to the most general: a tie goes to the first.
AUTO_KERNELS = ("linear", "additive", "anova", "rbf")
# Where a search for alpha begins. Where weights enter linearly only the product of both penalties
# matters, until weights reach their bound: values that lie further apart tell more.
FIRST_ALPHAS, CONVEX_ALPHAS = (0.1, 1.0), (0.1, 10.0)
LOWEST, HIGHEST = 1e-3, 10.0  # range of penalties per row, for kernels with a absorbing zero
COARSE_STEP = 3  # a first look has one penalty in so many
# Refitting without the penalty undoes shrinkage, which hurts where a few features carry all. A
# support of more features than this is close to that of no penalty at all.
MOST_RELAXED = 50
CONVEX_RANGE = 1e-4  # smallest penalty of a convex path, as a share of the one that empties it


@dataclass(frozen=True)
class Line:
    """One kernel with one alpha: a path of penalties and the models that belong to it.

    Attributes
    ----------
    kernel : str
        Name of the kernel, for tables.
    template : KnifeRegressor or KnifeClassifier
        With the kernel and ``alpha``.
    penalties : ndarray
        Of all rows.
    weightings : tuple of str
        Which of "penalized", "relaxed" and "equal" take part.
    """

    kernel: str
    template: Any
    penalties: np.ndarray
    weightings: tuple[str, ...]

    @property
    def alpha(self) -> float:
        """The penalty on the norm of the model."""
        return float(self.template.alpha)

    @property
    def settings(self) -> list[tuple[str, float]]:
        """Kind of weights and penalty of everything on the line, in the order of its scores."""
        return [
            (weighting, float(sparsity))
            for weighting in self.weightings
            for sparsity in ([0.0] if weighting == EQUAL else self.penalties)
        ]

    def coarse(self) -> "Line":
        """Return the line with few of its penalties, for a first look."""
        kept = self.penalties[::-COARSE_STEP][::-1]
        if self.penalties[0] == 0.0 and kept[0] != 0.0:
            kept = np.concatenate([[0.0], kept])
        weightings = self.weightings
        if PENALIZED in weightings:
            # Refits cost more than they tell here, unless nothing else selects.
            weightings = tuple(kind for kind in weightings if kind != RELAXED)
        return replace(self, penalties=kept, weightings=weightings)

    def with_options(self, **options: Any) -> "Line":
        """Return the line with other options of its estimator."""
        return replace(self, template=copy(self.template).set_params(**options))

    def from_penalty(self, least: float) -> "Line":
        """Return the line without penalties below one, except for no penalty at all."""
        kept = ~(self.penalties < least) | (self.penalties == 0.0)
        return replace(self, penalties=self.penalties[kept])

    def point(self, setting: int) -> int:
        """Return the point of the path that a setting belongs to."""
        return setting % len(self.penalties)

    def setting(self, weighting: str, point: int) -> int:
        """Return the setting of some kind of weights at a point of the path."""
        return self.weightings.index(weighting) * len(self.penalties) + point

    def refits(self, n_features: int) -> bool:
        """Whether models of so many features are refitted where the weighting is "relaxed".

        Where the penalized model is compared, too, a large support is not worth a refit: it then
        counts as penalized under both names.
        """
        return PENALIZED not in self.weightings or n_features <= MOST_RELAXED


def kernels_to_compare(kernel: Any) -> dict[str, Kernel]:
    """Return the kernels by name, from one, a list, or the word "auto"."""
    if isinstance(kernel, str) and kernel == "auto":
        kernel = AUTO_KERNELS
    given = list(kernel) if isinstance(kernel, list | tuple) else [kernel]
    if not given:
        raise ValueError("kernel must be a kernel, a list of them or 'auto', got an empty list.")
    names = [entry if isinstance(entry, str) else repr(entry) for entry in given]
    if len(set(names)) < len(names):
        raise ValueError(f"kernel lists one of its kernels twice: {', '.join(names)}.")
    if "auto" in names:
        known = ", ".join(sorted(KERNELS))
        raise ValueError(f"'auto' stands for a list of kernels and cannot be in one: use {known}.")
    return {name: check_kernel(entry) for name, entry in zip(names, given, strict=True)}


def alphas_to_try(alphas: Any, kernels: dict[str, Kernel]) -> tuple[dict[str, list[float]], bool]:
    """Return the alphas that each kernel begins with, and whether others may follow."""
    if alphas is None:
        return {
            name: list(CONVEX_ALPHAS if kernel.convex else FIRST_ALPHAS)
            for name, kernel in kernels.items()
        }, True
    given = np.atleast_1d(np.asarray(alphas, dtype=float))
    if given.ndim != 1 or not len(given):
        raise ValueError("alphas must be a number or a list of numbers.")
    for alpha in given:
        check_number(float(alpha), "alphas", strict=True)
    return {name: [float(alpha) for alpha in given] for name in kernels}, False


def weightings_to_compare(relax: Any, include_all: bool) -> tuple[str, ...]:
    """Return what may become of the weights, the simplest first.

    Parameters
    ----------
    relax : {"auto", True, False}
    include_all : bool
    """
    kinds = {False: (PENALIZED,), True: (RELAXED,), "auto": (PENALIZED, RELAXED)}[relax]
    return (*kinds, EQUAL) if include_all else kinds


def penalty_for_share(sparsity: Any, share: float, *, convex: bool) -> Any:
    """Return the penalty that means for a share of the rows what ``sparsity`` means for all.

    Where weights enter linearly it goes with the rows, otherwise it stays: see the notes of
    :class:`KnifeRegressorCV`.

    Parameters
    ----------
    sparsity : float or ndarray
    share : float
        Of the total weight of the rows; above 1 where the penalty comes from fewer rows.
    convex : bool
        Whether the kernel makes the problem convex in its weights.
    """
    return sparsity * share if convex else sparsity


def penalties_of_line(problem: Problem, n_points: int) -> np.ndarray:
    """Return increasing penalties for all rows, the first of them zero.

    For kernels with a absorbing zero they depend on the number of rows alone. A convex problem says
    where its first feature comes in, and the penalties go from there down.
    """
    total = problem.total_weight
    if n_points == 1:
        return np.array([LOWEST * total])
    if not problem.convex:
        return np.concatenate([[0.0], total * np.geomspace(LOWEST, HIGHEST, n_points - 1)])
    costly = problem.costs > 0
    gains = -problem.gradient(sparsest_state(problem))[costly] / problem.costs[costly]
    top = float(gains.max(initial=0.0)) or problem.null_value
    return np.concatenate([[0.0], top * np.geomspace(CONVEX_RANGE, 1.0, n_points - 1)])
