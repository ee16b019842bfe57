"""A job: a fit that is ready to be solved."""

from dataclasses import dataclass, replace
from typing import Any

from kernelknife._engine.data import Prepared, prepare
from kernelknife._engine.fitting.loss import resolved_loss
from kernelknife._engine.fitting.opening import open_training_rows
from kernelknife._engine.objective import BuiltProblem, CenterChoice, Problem, build_problem
from kernelknife._utils.checks import check_number
from kernelknife._utils.seeds import draw_seed
from kernelknife.kernels import check_kernel

__all__ = ["Job", "prepare_job"]


@dataclass(frozen=True)
class Job:
    """A fit that is ready to be solved: prepared data and the problem made of them."""

    prepared: Prepared
    built: BuiltProblem
    choice: CenterChoice
    seed: int | None  # drawn once per fit; None makes every fit the same

    @property
    def problem(self) -> Problem:
        """The problem to solve."""
        return self.built.problem

    def with_alpha(self, alpha: float) -> "Job":
        """Return the same job with another ``alpha``."""
        problem = self.problem.with_alpha(alpha)
        return replace(self, built=replace(self.built, problem=problem))


def prepare_job(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Job:
    """Check everything and build the problem; sets ``n_features_in_`` and names.

    Parameters
    ----------
    estimator : KnifeRegressor or KnifeClassifier
    X, y, sample_weight : see :meth:`KnifeRegressor.fit`
    """
    kernel, loss = check_kernel(estimator.kernel), resolved_loss(estimator)
    check_number(estimator.alpha, "alpha", strict=True)
    if not isinstance(estimator.sparsity, str):
        check_number(estimator.sparsity, "sparsity")
    elif estimator.sparsity != "auto":
        raise ValueError(f"sparsity must be a number or 'auto', got {estimator.sparsity!r}.")
    if not estimator.fit_intercept and loss.surrogate is not None:
        raise ValueError(f"{loss!r} needs fit_intercept=True: SVC always fits an intercept.")
    rows = open_training_rows(estimator, X, y, sample_weight)
    prepared = prepare(
        rows,
        kernel,
        loss,
        standardize=estimator.standardize,
        feature_groups=estimator.feature_groups,
        feature_costs=estimator.feature_costs,
    )
    seed = draw_seed(estimator.random_state)
    choice = CenterChoice(
        estimator.n_centers, estimator.centers, estimator.memory_budget, seed or 0
    )
    built = build_problem(
        prepared, choice, alpha=estimator.alpha, fit_intercept=estimator.fit_intercept
    )
    return Job(prepared, built, choice, seed)
