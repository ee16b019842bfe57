"""The one place that chooses between the exact problem and the problem with centers."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelknife._engine.data import Columns, Prepared, Rows, Sample
from kernelknife._engine.objective.base import Problem
from kernelknife._engine.objective.centers import CENTERS, choose_centers
from kernelknife._engine.objective.exact import ExactProblem
from kernelknife._engine.objective.features import Features
from kernelknife._engine.objective.nystrom import NystromProblem, seen_once, spanning_centers
from kernelknife._utils.arrays import is_foreign, to_host
from kernelknife._utils.checks import check_number
from kernelknife._utils.formatting import number
from kernelknife.kernels import Kernel

__all__ = ["BuiltProblem", "CenterChoice", "build_problem", "refresh_centers"]

DEFAULT_CENTERS = 1000  # where centers have to be used and their number is not given
# Rows that centers are chosen from, at least and per center: choosing among all rows costs as
# much as the fit and hardly improves the choice.
CANDIDATE_ROWS, CANDIDATES_PER_CENTER = 20_000, 2


@dataclass(frozen=True)
class CenterChoice:
    """Whether a model uses centers, how many, and how they are chosen.

    Attributes
    ----------
    n_centers : int or None
    centers : str or array-like
        How to choose them, or the centers themselves in the user's columns.
    memory_budget : float
        Most bytes of a kernel matrix of all rows.
    seed : int
    """

    n_centers: int | None
    centers: Any
    memory_budget: float
    seed: int

    @property
    def given(self) -> bool:
        """Whether the user gave the centers themselves."""
        return not isinstance(self.centers, str)

    def wants_centers(self, rows: Rows) -> bool:
        """Return whether centers are used, with a warning where memory is the reason."""
        if self.n_centers is not None:
            check_number(self.n_centers, "n_centers", low=1, integer=True)
            return True
        if self.given or not rows.in_memory:
            return True
        check_number(self.memory_budget, "memory_budget", strict=True)
        n = rows.shape[0]
        if 8.0 * n * n <= self.memory_budget:
            return False
        warnings.warn(
            f"The exact method needs {number(8 * n**2 / 2**30)} GiB for one kernel matrix of {n} "
            f"rows, over the budget of {number(self.memory_budget / 2**30)} GiB: "
            f"{min(DEFAULT_CENTERS, n)} centers are used instead. Set n_centers, or raise "
            "memory_budget.",
            stacklevel=5,
        )
        return True

    def way_to_exact(self, rows: Rows) -> str:
        """Return what a user can do to get the exact method instead, in words."""
        if self.n_centers is not None or self.given:
            return "leave n_centers=None and centers as it is by default"
        if not rows.in_memory:
            return "pass an array in memory"
        return f"raise memory_budget to {8.0 * rows.shape[0] ** 2:.2g} bytes or more"


@dataclass(frozen=True)
class BuiltProblem:
    """A problem, and the user's number of each row that carries a coefficient."""

    problem: Problem
    center_rows: np.ndarray


def build_problem(
    prepared: Prepared, choice: CenterChoice, *, alpha: float, fit_intercept: bool
) -> BuiltProblem:
    """Return the exact problem where it fits, else the problem with centers."""
    features = _features_of(prepared)
    options: dict[str, Any] = {
        "alpha": alpha,
        "features": features,
        "fit_intercept": fit_intercept,
    }
    if choice.wants_centers(prepared.rows):
        return _build_with_centers(prepared, choice, options)
    sample, numbers = prepared.rows.load()
    problem = ExactProblem(
        prepared.columns.take(sample.X),
        sample.y,
        prepared.kernel,
        prepared.smooth_loss,
        sample_weight=np.asarray(sample.s, dtype=float),
        **options,
    )
    return BuiltProblem(problem, numbers)


def _features_of(prepared: Prepared) -> Features:
    """Return whose weight each column carries that the kernel sees."""
    columns, groups, costs = prepared.columns, prepared.groups, prepared.costs
    squared = not prepared.kernel.linear_in_weights
    if columns.n_seen == len(columns.index):  # one column, or one function of it, per column
        return Features.of_columns(columns.n_seen, groups, costs, squared=squared)
    # A weight costs what its columns cost, however many functions they are seen through.
    p = len(columns.index)
    weights = np.arange(p) if groups is None else groups
    each = np.bincount(weights, np.ones(p) if costs is None else costs)
    return Features(columns.n_seen, weights[columns.sources], each, squared=squared)


def _build_with_centers(
    prepared: Prepared, choice: CenterChoice, options: dict[str, Any]
) -> BuiltProblem:
    rows, kernel, loss = prepared.rows, prepared.kernel, prepared.loss
    if loss.surrogate is not None:
        raise ValueError(
            f"{loss!r} has no model on centers: use loss='squared_hinge' or "
            f"'huberized_hinge', or {choice.way_to_exact(rows)}."
        )
    if kernel.indefinite:
        raise ValueError(
            f"{kernel!r} is not positive semi-definite, so a model on centers has no minimum: "
            f"choose another kernel, or {choice.way_to_exact(rows)}."
        )
    if choice.given:
        centers = _given_centers(choice.centers, prepared.columns, prepared.n_features)
        numbers = np.arange(len(centers))
    else:
        if choice.centers not in CENTERS:
            raise ValueError(
                f"Unknown centers {choice.centers!r}. Known names: {', '.join(CENTERS)}; or give "
                "the rows themselves."
            )
        m = choice.n_centers or min(DEFAULT_CENTERS, rows.shape[0])
        if kernel.convex:
            m = max(m, min(spanning_centers(prepared.columns.n_seen, rows), DEFAULT_CENTERS))
        p = prepared.columns.n_seen
        centers, numbers = _pick_centers(
            rows, prepared.columns, m, choice, kernel, np.full(p, 0.5 / p)
        )
    problem = NystromProblem(
        *seen_once(rows, prepared.columns),
        np.ascontiguousarray(centers),
        kernel,
        loss,
        n_outputs=prepared.targets.n_outputs,
        total_weight=prepared.total_weight,
        seed=choice.seed,
        **options,
    )
    return BuiltProblem(problem, numbers)


def refresh_centers(
    built: BuiltProblem, prepared: Prepared, choice: CenterChoice, w: np.ndarray
) -> BuiltProblem:
    """Return the problem with centers chosen anew in the geometry of the weights.

    Given centers are the user's, the exact method has none, and without a weight there is no
    geometry: the problem is then returned as it is.
    """
    problem = built.problem
    if problem.exact or choice.given or not w.any():
        return built
    everything = problem.features.everything
    v = np.empty(problem.n_columns)
    v[everything.columns] = everything.form_weights(w)
    again = CenterChoice(choice.n_centers, choice.centers, choice.memory_budget, choice.seed + 1)
    centers, numbers = _pick_centers(
        prepared.rows, prepared.columns, len(problem.centers), again, prepared.kernel, v
    )
    return BuiltProblem(problem.with_centers(centers), numbers)


def _pick_centers(
    rows: Rows, columns: Columns, m: int, choice: CenterChoice, kernel: Kernel, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return standardized centers and their row numbers, chosen where the rows are."""
    rng = np.random.default_rng(choice.seed)
    size = min(rows.n_counted, max(CANDIDATE_ROWS, CANDIDATES_PER_CENTER * m))
    index = rows.numbers(np.sort(rng.choice(rows.n_counted, size, replace=False)))
    arguments = (index, columns, m, choice.centers, kernel, v, choice.seed)
    return rows.fetch(rows.apply(_centers_of, rows.sample(index), *arguments))


def _centers_of(
    sample: Sample,
    index: np.ndarray,
    columns: Columns,
    m: int,
    how: str,
    kernel: Kernel,
    v: np.ndarray,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    counted = sample.counted()
    X = columns.take(sample.X[counted])
    chosen = choose_centers(X, m, how, kernel, v, seed)
    return X[chosen], index[counted[chosen]]


def _given_centers(centers: Any, columns: Columns, p: int) -> np.ndarray:
    """Return centers that the user gave, standardized."""
    Z = np.asarray(to_host(centers) if is_foreign(centers) else centers, dtype=float)
    if Z.ndim != 2 or Z.shape[1] != p:
        raise ValueError(f"centers must have {p} columns as X has, got shape {Z.shape}.")
    if not np.isfinite(Z).all():
        raise ValueError("centers contain NaN or infinity.")
    return columns.take(Z)
