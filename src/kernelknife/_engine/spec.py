"""Every option of a fit in one frozen object, checked once.

:meth:`FitSpec.from_estimator` is the last line that sees an estimator. What differs between the
models of a cross-validation, of stability selection or of components is a :func:`replace` of some
of its fields.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from kernelknife._engine.data.columns import MISSING
from kernelknife._engine.policy import check_memory_budget, default_loss, task_of
from kernelknife._engine.solvers import SOLVERS, Solver
from kernelknife._utils.checks import check_number, draw_seed
from kernelknife.kernels import Kernel, check_kernel
from kernelknife.losses import Loss

__all__ = ["STARTS", "FitSpec", "check_sparsities"]

STARTS = ("auto", "scaled", "laplace")
AUTO, CALIBRATED = "auto", "calibrated"
PENALTIES = (AUTO, CALIBRATED)


@dataclass(frozen=True, eq=False)
class FitSpec:
    """What a user asks of a fit; the parameters of :class:`kernelknife.KnifeRegressor`, checked.

    Attributes
    ----------
    kernel : Kernel
    loss : Loss
        Its ``task`` is that of the target: numbers or classes.
    alpha : float
    sparsity : float, "auto" or "calibrated"
    n_permutations, level : int and float
        Of a calibration.
    n_features_to_select : int or None
    relax, learn_weights : bool
    solver : Solver
        With the tolerance and the limit of steps.
    start : str or ndarray
        A name, or weights of the user's columns.
    n_starts : int
    standardize, fit_intercept : bool
    missing : {"indicator", "mean", "error"}
    class_weight : dict, "balanced" or None
    feature_groups, feature_costs, always_keep, adjust_for : Any
        As the user gave them: names of columns are resolved when the data are opened. The weights
        of the columns that are always kept cost nothing and are never zero. The columns
        that are adjusted for have an unpenalized linear part and no weight.
    offset : bool
        Whether targets come with offsets, known parts of the scores, in columns behind them.
    n_centers : int, None or "auto"
    centers : str or array-like
    refresh_centers : bool
    memory_budget : float
    from_sums : bool
        Whether a problem that is determined by sums of products of its columns may be solved from
        these: its model has a coefficient per column, and not per row.
    n_jobs : int or None
    seed : int or None
        Drawn once per fit; None makes every fit the same.
    """

    kernel: Kernel
    loss: Loss
    solver: Solver
    alpha: float = 1.0
    sparsity: float | str = 1.0
    n_permutations: int = 20
    level: float = 0.05
    n_features_to_select: int | None = None
    relax: bool = False
    learn_weights: bool = True
    start: Any = "auto"
    n_starts: int = 0
    standardize: bool = True
    missing: str = "indicator"
    fit_intercept: bool = True
    class_weight: Any = None
    feature_groups: Any = None
    feature_costs: Any = None
    always_keep: Any = None
    adjust_for: Any = None
    offset: bool = False
    n_centers: Any = "auto"
    centers: Any = "kmeans++"
    refresh_centers: bool = False
    memory_budget: float = 2**31
    from_sums: bool = False
    n_jobs: int | None = None
    seed: int | None = None

    @classmethod
    def from_estimator(cls, estimator: Any, **fixed: Any) -> "FitSpec":
        """Return the specification that the parameters of an estimator make.

        Parameters
        ----------
        estimator : BaseEstimator
            Parameters that it does not have are as by default.
        **fixed
            Fields that take the place of a parameter; those named here are not read.
        """
        options = dict(fixed)
        if "kernel" not in fixed:
            options["kernel"] = check_kernel(estimator.kernel)
        if "loss" not in fixed:
            options["loss"] = default_loss(getattr(estimator, "loss", None), task_of(estimator))
        if "solver" not in fixed:
            options["solver"] = make_solver(estimator.solver, estimator.tol, estimator.max_iter)
        if "seed" not in fixed:
            options["seed"] = draw_seed(estimator.random_state)
        for field in fields(cls):
            if field.name not in options and hasattr(estimator, field.name):
                options[field.name] = getattr(estimator, field.name)
        return cls(**options)

    def __post_init__(self) -> None:
        check_number(self.alpha, "alpha", strict=True)
        if not isinstance(self.sparsity, str):
            check_number(self.sparsity, "sparsity")
        elif self.sparsity not in PENALTIES:
            raise ValueError(
                f"sparsity must be a number, 'auto' or 'calibrated', got {self.sparsity!r}."
            )
        if self.calibrated and self.n_features_to_select is not None:
            raise ValueError(
                "sparsity='calibrated' finds the number of features: leave out "
                "n_features_to_select, or give a number as the sparsity."
            )
        if self.n_features_to_select is not None:
            check_number(self.n_features_to_select, "n_features_to_select", low=1, integer=True)
        for name in ("relax", "learn_weights", "refresh_centers"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ValueError(f"{name} must be True or False, got {getattr(self, name)!r}.")
        if isinstance(self.start, str) and self.start not in STARTS:
            raise ValueError(
                f"Unknown start {self.start!r}. Known names: {', '.join(STARTS)}; or give the "
                "starting weights themselves."
            )
        check_number(self.n_starts, "n_starts", integer=True)
        if self.missing not in MISSING:
            raise ValueError(
                f"Unknown missing {self.missing!r}. Known names: {', '.join(MISSING)}."
            )
        if self.class_weight is not None and self.task != "classification":
            raise ValueError(f"class_weight is for classifiers: a {self.task} has no classes.")
        if not self.fit_intercept and self.loss.needs_rows:
            raise ValueError(
                f"{self.loss!r} needs fit_intercept=True: SVC always fits an intercept."
            )
        if self.loss.needs_rows and (self.offset or self.adjust_for is not None):
            raise ValueError(
                f"{self.loss!r} has no unpenalized part but an intercept, as SVC has: choose a "
                "smooth loss, or leave out adjust_for and offset."
            )
        if self.n_centers is not None and self.n_centers != "auto":
            check_number(self.n_centers, "n_centers", low=1, integer=True)
        check_memory_budget(self.memory_budget)

    @property
    def task(self) -> str:
        """One of "regression", "classification" and "survival"."""
        return self.loss.task

    @property
    def calibrated(self) -> bool:
        """Whether permutations of the target find the penalty on the weights."""
        return isinstance(self.sparsity, str) and self.sparsity == CALIBRATED and self.learn_weights

    @property
    def gives_centers(self) -> bool:
        """Whether the user gave the centers themselves."""
        return not isinstance(self.centers, str)


def make_solver(name: Any, tol: Any, max_iter: Any) -> Solver:
    """Return a solver by its name, with its tolerance and its limit of steps, all checked."""
    if name not in SOLVERS:
        known = ", ".join(sorted(SOLVERS))
        raise ValueError(f"Unknown solver {name!r}. Known names: {known}.")
    check_number(tol, "tol", strict=True)
    options: dict[str, Any] = {"tol": tol}
    if max_iter is not None:
        check_number(max_iter, "max_iter", low=1, integer=True)
        options["max_iter"] = max_iter
    return SOLVERS[name](**options)


def check_sparsities(sparsities: Any) -> int | np.ndarray:
    """Return the number of points, or the penalties as an increasing array."""
    if np.ndim(sparsities) == 0:
        check_number(sparsities, "sparsities", low=1, integer=True)
        return int(sparsities)
    grid = np.asarray(sparsities, dtype=float)
    if grid.ndim != 1 or not len(grid):
        raise ValueError("sparsities must be a number of points or a list of penalties.")
    if not np.isfinite(grid).all() or grid[0] < 0 or (np.diff(grid) <= 0).any():
        raise ValueError("sparsities must be finite, >= 0 and increasing.")
    return grid
