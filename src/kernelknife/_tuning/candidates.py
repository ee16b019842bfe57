"""What cross-validation compares: kernels, alphas, penalties, and what becomes of the weights.

A :class:`Candidate` is one model that the folds score, named by its kernel, its ``alpha``, its
weighting and its ``sparsity``. Candidates of one kernel and one ``alpha`` share a path of penalties
and are scored together: a :class:`CandidatePath` holds the penalties; the model of every point of
it, perhaps refitted without the penalty; and perhaps the model of all columns with equal weights.
"""

import math
import numbers
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kernelknife._engine import FitSpec
from kernelknife._engine.data import Grouping
from kernelknife._engine.objective import Problem
from kernelknife._engine.search import sparsest_state
from kernelknife._engine.spec import check_sparsities
from kernelknife._error_rates import check_level
from kernelknife._utils.checks import check_number, draw_seed
from kernelknife.kernels import KERNELS, Kernel, check_kernel
from kernelknife.losses import Loss

__all__ = [
    "CALIBRATED",
    "EQUAL",
    "GRID",
    "PENALIZED",
    "RELAXED",
    "Candidate",
    "CandidatePath",
    "SearchSpec",
    "named_kernels",
    "penalties_of_path",
    "penalty_for_share",
]

Penalty = TypeVar("Penalty", float, np.ndarray)

# What becomes of the weights: as the penalty leaves them, refitted without it, or all alike.
PENALIZED, RELAXED, EQUAL = "penalized", "relaxed", "equal"
CALIBRATED = "calibrated"
RULES = ("min", "1se", CALIBRATED)
NESTED = ("others", "full")
# The penalty of candidates with a given number of features: every fold finds its own.
BY_COUNT = math.nan


@dataclass(frozen=True)
class GridConstants:
    """The grid of candidates where the user has not given one.

    Attributes
    ----------
    kernels : tuple of str
        From the simplest to the most general: a tie goes to the first.
    alphas, convex_alphas : tuple of float
        Where a search for ``alpha`` begins. Where weights enter linearly only the product of both
        penalties matters, until weights reach their bound: values further apart reveal more.
    coupled_alphas : tuple of float
        The same as ``alphas`` for losses that couple rows. The partial likelihood rewards a model
        that orders all events without bound, where a squared error would be zero: with 0.1 the
        weights of an ANOVA model rise to 1 with a handful of columns, its log hazards reach tens,
        and the folds see nothing between that and one column.
    lowest, highest : float
        Range of the penalties per row, for kernels with an absorbing zero.
    convex_range : float
        Smallest penalty of a convex path, as a share of the one that empties it.
    screening_step : int
        A screening round has every third penalty.
    calibrated_alpha : float
        Of the paths that are compared with those of permuted targets. With a small one noise can be
        memorized at little cost, and outlasts columns that matter: with sin(2 a) + b**2 in 120 rows
        and nine columns, one of 20 permutations at 0.1, and none at 1.
    refitted_alphas : tuple of float
        Tried with calibrated columns, which have been selected by then.
    most_relaxed : int
        Refitting without the penalty undoes shrinkage, which hurts where a few features carry all.
        A support of more features than this is close to that of no penalty at all.
    """

    kernels: tuple[str, ...] = ("linear", "additive", "anova", "rbf")
    alphas: tuple[float, ...] = (0.1, 1.0)
    convex_alphas: tuple[float, ...] = (0.1, 10.0)
    coupled_alphas: tuple[float, ...] = (1.0, 10.0)
    lowest: float = 1e-3
    highest: float = 10.0
    convex_range: float = 1e-4
    screening_step: int = 3
    calibrated_alpha: float = 1.0
    refitted_alphas: tuple[float, ...] = (0.1, 1.0, 10.0)
    most_relaxed: int = 50


GRID = GridConstants()


class Candidate(NamedTuple):
    """One model that cross-validation compares with others.

    Two candidates that differ in their penalty alone are points of the same curve.
    """

    kernel: str
    alpha: float
    weighting: str
    sparsity: float

    @property
    def curve(self) -> tuple[str, float, str]:
        """What candidates have in common that differ in their penalty alone."""
        return self.kernel, self.alpha, self.weighting


@dataclass(frozen=True, eq=False)
class CandidatePath:
    """One kernel with one alpha: a path of penalties and the candidates on it.

    Attributes
    ----------
    kernel : str
        Name of the kernel.
    spec : FitSpec
        With the kernel and ``alpha``.
    penalties : ndarray
        Of all rows, increasing.
    weightings : tuple of str
        Which of "penalized", "relaxed" and "equal" take part.
    support : ndarray of shape (n_features,) or None
        Weights of columns that have been selected by other means than the folds, which then refit
        these and follow no path.
    beyond : ndarray
        Larger penalties, which the folds leave out because their scores have turned before.
    """

    kernel: str
    spec: FitSpec
    penalties: np.ndarray
    weightings: tuple[str, ...]
    support: np.ndarray | None = None
    beyond: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def alpha(self) -> float:
        """The penalty on the norm of the model."""
        return float(self.spec.alpha)

    @property
    def by_count(self) -> bool:
        """Whether a number of features is given instead of penalties."""
        return self.spec.n_features_to_select is not None

    @property
    def all_penalties(self) -> np.ndarray:
        """Those of the path on all rows, which goes on to its end."""
        return np.concatenate([self.penalties, self.beyond])

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """All candidates on the path, in the order of their scores."""
        penalties = [BY_COUNT] if self.by_count else self.penalties.tolist()
        return tuple(
            Candidate(self.kernel, self.alpha, weighting, sparsity)
            for weighting in self.weightings
            for sparsity in ([0.0] if weighting == EQUAL else penalties)
        )

    def screened(self) -> "CandidatePath":
        """Return the path with few of its penalties, for a screening round."""
        kept = self.penalties[:: -GRID.screening_step][::-1]
        if self.penalties[0] == 0.0 and kept[0] != 0.0:
            kept = np.concatenate([[0.0], kept])
        weightings = self.weightings
        if PENALIZED in weightings:
            # Refits cost more than they reveal here, unless nothing else selects.
            weightings = tuple(kind for kind in weightings if kind != RELAXED)
        return replace(self, penalties=kept, weightings=weightings)

    def between(self, least: float, most: float) -> "CandidatePath":
        """Return the path with penalties of a range, those above it left for all rows."""
        above = self.penalties > most
        beyond = np.concatenate([self.penalties[above], self.beyond])
        kept = ~above & ~(self.penalties < least)
        return replace(self, penalties=self.penalties[kept], beyond=beyond)

    def refits(self, n_features: int) -> bool:
        """Whether models of ``n_features`` features are refitted where the weighting is "relaxed".

        Where the penalized model is compared, too, a large support is not worth a refit: it then
        counts as penalized under both names.
        """
        return PENALIZED not in self.weightings or n_features <= GRID.most_relaxed


@dataclass(frozen=True, eq=False)
class SearchSpec:
    """What a user asks of a cross-validation, checked.

    Attributes
    ----------
    fit : FitSpec
        What all candidates share; its kernel is the first one.
    kernels : dict of Kernel
        By name.
    alphas : dict of list of float
        Those that each kernel begins with.
    extends : bool
        Whether alphas may follow that were not given.
    sparsities : int or ndarray
        Number of penalties of a path, or the penalties themselves.
    weightings : tuple of str
        The simplest first.
    rule : {"min", "1se", "calibrated"}
    nested : {"others", "full"}
        Whether nested scores are of what the other folds select, or of searches inside the training
        rows of every fold.
    cv : int, splitter, iterable or None
    n_centers : int, None or "auto"
    search_rows : int or None
    n_jobs : int or None
    seed : int or None
        Draws the rows that are searched and the folds.
    """

    fit: FitSpec
    kernels: dict[str, Kernel]
    alphas: dict[str, list[float]]
    extends: bool
    sparsities: int | np.ndarray
    weightings: tuple[str, ...]
    rule: str
    nested: str
    cv: Any
    n_centers: Any
    search_rows: int | None
    n_jobs: int | None
    seed: int | None

    @classmethod
    def from_estimator(cls, estimator: Any) -> "SearchSpec":
        """Return the specification that the parameters of a cross-validated estimator make."""
        kernels = named_kernels(estimator.kernel)
        _check_rule(estimator.rule, estimator.n_features_to_select)
        if estimator.rule == CALIBRATED:
            check_level(estimator.n_permutations, estimator.level)
        if estimator.nested not in NESTED:
            raise ValueError(f"nested must be 'others' or 'full', got {estimator.nested!r}.")
        if estimator.relax not in ("auto", True, False):
            raise ValueError(f"relax must be 'auto', True or False, got {estimator.relax!r}.")
        if estimator.search_rows is not None:
            check_number(estimator.search_rows, "search_rows", low=2, integer=True)
        kinds = {False: (PENALIZED,), True: (RELAXED,), "auto": (PENALIZED, RELAXED)}
        weightings: tuple[str, ...] = kinds[estimator.relax]
        if estimator.n_features_to_select is not None:
            weightings = (PENALIZED,)
        elif estimator.include_all:
            weightings = (*weightings, EQUAL)
        # A generator would be another one in every worker, so that its seed is drawn once.
        seed = estimator.random_state
        if not (seed is None or isinstance(seed, numbers.Integral)):
            seed = draw_seed(seed)
        fit = FitSpec.from_estimator(
            estimator,
            kernel=next(iter(kernels.values())),
            seed=draw_seed(seed),
            # The folds choose these, and workers share the computer already.
            alpha=1.0,
            sparsity=0.0,
            relax=False,
            n_centers=None,
            n_jobs=None,
        )
        alphas, extends = _first_alphas(estimator.alphas, kernels, fit.loss)
        return cls(
            fit=fit,
            kernels=kernels,
            alphas=alphas,
            extends=extends,
            sparsities=check_sparsities(estimator.sparsities),
            weightings=weightings,
            rule=estimator.rule,
            nested=estimator.nested,
            cv=estimator.cv,
            n_centers=estimator.n_centers,
            search_rows=estimator.search_rows,
            n_jobs=estimator.n_jobs,
            seed=seed,
        )

    def with_groups(self, grouping: Grouping | None) -> "SearchSpec":
        """Return the specification with groups that have been found among all rows."""
        return replace(self, fit=replace(self.fit, feature_groups=grouping))


def _check_rule(rule: Any, n_features: Any) -> None:
    """Raise where a rule is unknown, or the number of features is given already."""
    if rule not in RULES:
        raise ValueError(f"rule must be 'min', '1se' or 'calibrated', got {rule!r}.")
    if rule == CALIBRATED and n_features is not None:
        raise ValueError(
            "rule='calibrated' finds the number of features: leave out n_features_to_select, or "
            "choose another rule."
        )


def named_kernels(kernel: Any) -> dict[str, Kernel]:
    """Return the kernels by name, from one, a list, or the word "auto"."""
    if isinstance(kernel, str) and kernel == "auto":
        kernel = GRID.kernels
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


def _first_alphas(
    alphas: Any, kernels: dict[str, Kernel], loss: Loss
) -> tuple[dict[str, list[float]], bool]:
    """Return the alphas that each kernel begins with, and whether others may follow."""
    if alphas is None:
        usual = GRID.coupled_alphas if loss.couples_rows else GRID.alphas
        return {
            name: list(GRID.convex_alphas if kernel.convex else usual)
            for name, kernel in kernels.items()
        }, True
    given = np.atleast_1d(np.asarray(alphas, dtype=float))
    if given.ndim != 1 or not len(given):
        raise ValueError("alphas must be a number or a list of numbers.")
    for alpha in given:
        check_number(float(alpha), "alphas", strict=True)
    return {name: list(dict.fromkeys(given.tolist())) for name in kernels}, False


def penalty_for_share(sparsity: Penalty, share: float, *, convex: bool) -> Penalty:
    """Return the penalty that means for a share of the rows what ``sparsity`` means for all.

    Where weights enter linearly it is proportional to the rows, otherwise it stays: see the notes
    of :class:`KnifeRegressorCV`.

    Parameters
    ----------
    sparsity : float or ndarray
    share : float
        Of the total weight of the rows; above 1 where the penalty comes from fewer rows.
    convex : bool
        Whether the kernel makes the problem convex in its weights.
    """
    return sparsity * share if convex else sparsity


def penalties_of_path(problem: Problem, n_points: int) -> np.ndarray:
    """Return increasing penalties for all rows, the first of them zero.

    For kernels with an absorbing zero they depend on the number of rows alone. For a convex problem
    it is known where the first feature enters, and the penalties go from there down.
    """
    total = problem.total_weight
    if n_points == 1:
        return np.array([GRID.lowest * total])
    if not problem.convex:
        steps = np.geomspace(GRID.lowest, GRID.highest, n_points - 1)
        return np.concatenate([[0.0], total * steps])
    costly = problem.costs > 0
    gains = -problem.gradient(sparsest_state(problem))[costly] / problem.costs[costly]
    top = float(gains.max(initial=0.0)) or problem.null_value
    steps = np.geomspace(GRID.convex_range, 1.0, n_points - 1)
    return np.concatenate([[0.0], top * steps])
