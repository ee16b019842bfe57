"""The estimators: open the rows, prepare them, build the problem, solve, publish."""

import warnings
from abc import ABC
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from types import MethodType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelknife._prepare import Prepared, column_names, measure_columns, prepare
from kernelknife._problem import (
    BuiltProblem,
    CenterChoice,
    Problem,
    build_problem,
    null_objective,
    refresh_centers,
)
from kernelknife._rows import Rows, open_rows, open_rows_to_predict
from kernelknife._rows.dask import is_dask
from kernelknife._rows.opening import check_sample_weight
from kernelknife._search import (
    Start,
    StartSettings,
    Trace,
    find_weights,
    fixed_weights,
    follow_path,
    refit_without_penalty,
    scaled_weights,
    solve_for_count,
)
from kernelknife._support.arrays import is_foreign, to_host
from kernelknife._support.checks import check_number
from kernelknife._support.inputs import describe_non_numbers, make_dense
from kernelknife._support.progress import SILENT, Task, root_task
from kernelknife._support.selecting import SelectedFeatures
from kernelknife._support.threads import limited_blas
from kernelknife._support.versions import CallbackSupportMixin, with_callbacks
from kernelknife.effects import Effect, EffectTable, decompose, evaluate_effect, rank_effects
from kernelknife.kernels import check_kernel
from kernelknife.losses import Loss, check_loss
from kernelknife.machine import build_machine, final_coefficients
from kernelknife.solvers import SOLVERS, Outcome, Solution, Solver
from kernelknife.stand_ins import StandIns, find_stand_ins

__all__ = ["KnifeClassifier", "KnifeRegressor"]

STARTS = ("auto", "scaled", "laplace")
# The penalty of "auto" per row. On Friedman's first function with 50 columns every penalty between
# 0.011 and 0.25 per row keeps the five columns that matter and no noise, from 250 to 2,000 rows
# (benchmarks/penalty_scale.py); this is the middle of that range on a logarithmic scale.
AUTO_SPARSITY = 0.05
FLOATS = (np.float64, np.float32)  # single precision stays as it is until a block is read


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

    def find_stand_ins(
        self, solver: Solver, w: np.ndarray, sparsity: float, folds: Any = 5, **options: Any
    ) -> StandIns:
        """Look for stand-ins of the features of a machine; see :meth:`KnifeRegressor.stand_ins`.

        ``folds`` is a number, or the fold of each of the user's rows.
        """
        if np.ndim(folds):
            folds, n = np.asarray(folds), self.prepared.rows.shape[0]
            if folds.shape != (n,):
                raise ValueError(
                    f"folds must be a number or the fold of each of the {n} rows, got shape "
                    f"{folds.shape}."
                )
            # The exact problem has the rows of positive weight only.
            folds = folds[self.built.center_rows] if self.problem.exact else folds
        problem, names = self.problem, self.prepared.weight_names
        with limited_blas(problem.n_rows):
            found = find_stand_ins(problem, solver, names, w, sparsity, folds=folds, **options)
        problem.forget()
        return found


class _BaseKnife(CallbackSupportMixin, SelectedFeatures, SelectorMixin, BaseEstimator, ABC):
    """What regression and classification share."""

    def __init__(
        self,
        kernel: Any = "rbf",
        loss: Any = None,
        *,
        alpha: float = 1.0,
        sparsity: float | str = 1.0,
        n_features_to_select: int | None = None,
        relax: bool = False,
        learn_weights: bool = True,
        class_weight: Any = None,
        solver: str = "eliminate",
        start: Any = "auto",
        n_starts: int = 0,
        standardize: bool = True,
        fit_intercept: bool = True,
        feature_groups: Any = None,
        feature_costs: Any = None,
        n_centers: int | None = None,
        centers: Any = "kmeans++",
        refresh_centers: bool = False,
        memory_budget: float = 2**31,
        max_iter: int | None = None,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.loss = loss
        self.alpha = alpha
        self.sparsity = sparsity
        self.n_features_to_select = n_features_to_select
        self.relax = relax
        self.learn_weights = learn_weights
        self.class_weight = class_weight
        self.solver = solver
        self.start = start
        self.n_starts = n_starts
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.feature_groups = feature_groups
        self.feature_costs = feature_costs
        self.n_centers = n_centers
        self.centers = centers
        self.refresh_centers = refresh_centers
        self.memory_budget = memory_budget
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    _task: str  # "regression" or "classification"
    _default_loss: str

    # -- fitting ----------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "_BaseKnife":
        """Find the weights and fit the machine.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Or a memory map, a device array, a Dask collection, or the path of Parquet files.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            For Parquet files the name of the target's column.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the loss; a row of weight 2 counts as two rows. For Parquet
            files the name of a column.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        job = prepare_job(self, X, y, sample_weight)
        rows = job.problem.n_rows if self.n_jobs is None else 0
        with limited_blas(rows), root_task(self, total=None) as task:
            solution, results = self._solve(job, task)
            job, solution = self._refresh(job, solution, task)
            if self.relax and self.learn_weights:
                solution = relax_solution(self, job, solution)
            publish(self, job, solution, results)
            if self.objective_ > empty_objective(job):
                # The smooth loss in its place liked this machine better than the loss itself.
                nothing = job.problem.solve(np.zeros(job.problem.n_weights))
                solution = Solution.at(nothing, solution.sparsity, nothing.smooth)
                publish(self, job, solution, results)
        if not self.converged_:
            if solution.converged:
                solution = replace(solution, outcome=Outcome.COEFFICIENTS)
            warn_not_converged(type(self).__name__, [solution], stacklevel=4)
        return self

    def _open(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Return the rows of any kind of data, and take over their names."""
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        sample_weight = weigh_classes(self, y, sample_weight)
        rows = open_rows(X, y, sample_weight, partial(check_arrays, self))
        self.n_features_in_ = rows.shape[1]
        if rows.names is not None:
            self.feature_names_in_ = rows.names
        else:
            rows.names = getattr(self, "feature_names_in_", None)
        return rows

    def _solve(self, job: Job, task: Task) -> tuple[Solution, list[tuple[str, Solution]]]:
        """Return the solution and those of all starts."""
        if not self.learn_weights:
            given = self._start_settings(job).start
            w = scaled_weights(job.problem) if isinstance(given, str) else given
            solution = fixed_weights(job.problem, w)
            return solution, [("given", solution)]
        if self.n_features_to_select is not None:
            return self._solve_for_count(job, task)
        return find_weights(
            job.problem,
            make_solver(self),
            self._start_settings(job),
            resolved_sparsity(self, job),
            n_jobs=self.n_jobs,
            callback=task.watch("iteration"),
        )

    def _solve_for_count(self, job: Job, task: Task) -> tuple[Solution, list[tuple[str, Solution]]]:
        """Return the solution with exactly as many features as were asked for."""
        available, wanted = job.problem.n_weights, self.n_features_to_select
        check_number(wanted, "n_features_to_select", low=1, integer=True)
        if wanted is None or wanted > available:
            raise ValueError(
                f"n_features_to_select={wanted} is more than the {available} features (or groups) "
                "that are not constant."
            )
        trace = trace_path(self, job, task=task)
        solution = solve_for_count(job.problem, make_solver(self), trace, wanted)
        own = any(solution is point for point in trace.points)
        spent = trace.n_solves + (0 if own else solution.n_solves)
        solution = replace(solution, solves=(*solution.solves[:-1], spent))
        return solution, [(trace.start, solution)]

    def _refresh(self, job: Job, solution: Solution, task: Task) -> tuple[Job, Solution]:
        """Choose the centres anew in the geometry of the weights and go on from there."""
        # An exact number of features belongs to its centres.
        if not self.refresh_centers or self.n_features_to_select is not None:
            return job, solution
        built = refresh_centers(job.built, job.prepared, job.choice, solution.w)
        if built is job.built:
            return job, solution
        watch = task.watch("iteration")
        after = make_solver(self).solve(
            built.problem, solution.w, solution.sparsity, callback=watch
        )
        return replace(job, built=built), after

    def _start_settings(self, job: Job) -> StartSettings:
        """Return which starts to try, checked."""
        check_number(self.n_starts, "n_starts", integer=True)
        start = self.start
        if not isinstance(start, str):
            start = self._given_start(np.asarray(start, dtype=float), job)
        elif start not in STARTS:
            raise ValueError(
                f"Unknown start {start!r}. Known names: {', '.join(STARTS)}; or give the "
                "starting weights themselves."
            )
        return StartSettings(start, self.n_starts, job.seed)

    def _given_start(self, start: np.ndarray, job: Job) -> np.ndarray:
        """Return starting weights of the problem from those of the user's columns."""
        p = job.prepared.n_features
        if start.shape not in ((), (p,)):
            raise ValueError(
                f"start must be a number or one weight per column ({p}), got shape {start.shape}."
            )
        start = np.broadcast_to(start, (p,))
        if not ((start > 0) & (start <= 1)).all():
            raise ValueError(
                "Starting weights must lie in (0, 1]: zero would never move for a non-linear "
                f"kernel. Got values from {start.min():g} to {start.max():g}."
            )
        return job.prepared.weight_values(start)

    # -- selection --------------------------------------------------------------------

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.weights_ > 0

    @property
    def feature_importances_(self) -> np.ndarray:
        """The weights, under the name that ``SelectFromModel`` looks for."""
        check_is_fitted(self)
        return self.weights_

    def kernel_matrices(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the kernel matrix of ``X`` with equal and with the fitted weights.

        The equal weights are those that the scaled start gives to all features, on columns
        standardised by ``X`` itself.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to compare with each other.

        Returns
        -------
        before, after : ndarray of shape (n_samples, n_samples)
            The two matrices.
        """
        check_is_fitted(self)
        rows = self._rows_to_predict(X)
        sample, _ = rows.load()
        machine, kernel = self._machine, self._machine.kernel
        columns, _ = measure_columns(
            rows, standardize=self.standardize, center=kernel.translation_invariant
        )
        Z = columns.take(sample.X)
        before = kernel(Z, Z, np.full(Z.shape[1], 0.5 / Z.shape[1]))
        return before, machine.kernel_matrix(sample.X)

    # -- stand-ins --------------------------------------------------------------------

    def stand_ins(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        n_candidates: int = 8,
        folds: Any = 5,
        random_state: int = 0,
    ) -> StandIns:
        """Find columns that could take the place of the selected ones.

        Each selected column is forbidden, together with other selected columns that say the same,
        and the machine is solved again from where it is with nothing and with each of a few
        candidates in its place: columns that are correlated with it, and columns that the gradient
        asks for. All of these machines are fitted on some folds and judged on another one, and the
        judged rows do not help to find candidates. Beyond 50 selected columns the heaviest are
        looked at.

        Parameters
        ----------
        X, y, sample_weight : see :meth:`fit`
            The data that the estimator was fitted on.
        n_candidates : int, default=8
            Most columns to try in each place, by correlation and by gradient each.
        folds : int or array-like of shape (n_samples,), default=5
            Number of folds, or the fold of every row: rows that belong together, such as the
            samples of one patient, should be in one fold.
        random_state : int, default=0
            Seed of the folds, and of the choice of 600 rows where there are more.

        Returns
        -------
        StandIns
            One place for every selected column.
        """
        check_is_fitted(self)
        if not self.learn_weights:
            return StandIns(())  # every column is in use, and none is left to stand in
        job = prepare_job(clone(self), X, y, sample_weight)
        if job.prepared.n_features != self.n_features_in_:
            raise ValueError(
                f"X has {job.prepared.n_features} columns, the estimator was fitted on "
                f"{self.n_features_in_}."
            )
        return job.find_stand_ins(
            make_solver(self),
            job.prepared.weight_values(self.weights_),
            0.0 if self.relax else self.sparsity_,
            n_candidates=n_candidates,
            folds=folds,
            random_state=random_state,
        )

    # -- effects ----------------------------------------------------------------------

    def _column_names(self) -> np.ndarray:
        return column_names(getattr(self, "feature_names_in_", None), self.n_features_in_)

    def effects(self) -> EffectTable:
        """Return what the columns do alone and together, for additive and ANOVA kernels.

        Returns
        -------
        EffectTable
            Every main effect, pair (and triple) with its share of the fitted variance, the largest
            first.
        """
        check_is_fitted(self)
        return rank_effects(self._machine, self._column_names())

    def effect(self, *columns: Any) -> Effect:
        """Return one effect on a grid of values, for additive and ANOVA kernels.

        Parameters
        ----------
        *columns : str or int
            A selected column, by name (``"x3"`` where the data had no names) or index, or two of
            them (three, with ``Anova(order=3)``) for what they do together.

        Returns
        -------
        Effect
            The grid of every column and the values on it.
        """
        check_is_fitted(self)
        return evaluate_effect(self._machine, self._column_names(), columns)

    def effect_values(self, X: Any) -> tuple[np.ndarray, dict[tuple[str, ...], np.ndarray]]:
        """Return every effect at given rows, for additive and ANOVA kernels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows at which the effects are wanted.

        Returns
        -------
        constant : ndarray of shape (n_outputs,)
            What is left when all effects are zero.
        effects : dict
            From names of columns to arrays of shape (n_samples, n_outputs). Constant and effects
            add up to the prediction of a regressor, or to the scores of a classifier.
        """
        check_is_fitted(self)
        sample, _ = self._rows_to_predict(X).load()
        machine, names = self._machine, self._column_names()
        constant, effects = decompose(machine, machine.columns.take(sample.X))
        scale, center = machine.targets.scale, machine.targets.center
        named = {
            tuple(str(names[machine.columns.index[j]]) for j in chosen): values * scale
            for chosen, values in effects.items()
        }
        return constant * scale + center, named

    # -- prediction -------------------------------------------------------------------

    def _check_array(self, X: Any) -> np.ndarray:
        X = make_dense(X, self.memory_budget)
        with explained_texts(X):
            return validate_data(self, X, reset=False, dtype=FLOATS, ensure_all_finite=False)

    def _rows_to_predict(self, X: Any) -> Rows:
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        rows = open_rows_to_predict(X, names, self.n_features_in_, self._check_array)
        if rows.names is None:
            rows.names = names
        return rows

    def predict(self, X: Any) -> Any:
        """Predict the target: numbers, or classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Or any other kind of rows that ``fit`` takes.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            One prediction per row.
        """
        rows = self._rows_to_predict(X)
        with limited_blas(max(rows.shape[0], len(self._machine.vectors))):
            return self._machine.predict(rows)


class KnifeRegressor(RegressorMixin, _BaseKnife):
    """Kernel regression that finds which features matter.

    A weight between 0 and 1 sits on every feature inside a kernel and is learned together
    with the kernel machine; most weights become exactly zero.

    Parameters
    ----------
    kernel : str or Kernel, default="rbf"
        "rbf" is one joint function of the selected columns, "additive" a sum of separate
        effects, "anova" such a sum with interactions of pairs. Also "linear", "polynomial",
        "laplace", "matern", "rational_quadratic", "sigmoid", or an object from
        :mod:`kernelknife.kernels`.
    loss : str or Loss, default=None
        "squared" (what None stands for), "huber", or an object from
        :mod:`kernelknife.losses`.
    alpha : float, default=1.0
        Penalty on the squared norm of the machine, as in ``KernelRidge``.
    sparsity : float or "auto", default=1.0
        Penalty on the sum of the weights; the larger, the fewer features. It is weighed against
        a sum over rows, so that a given number means less and less as the rows grow. "auto" means
        the same at any number of rows: 0.05 per row, and for linear and additive kernels
        ``log(n_features) / alpha`` per row. The penalty that was used is ``sparsity_``.
    n_features_to_select : int, default=None
        Exactly this many features (or groups) instead of a ``sparsity``, taken from the
        feature path.
    relax : bool, default=False
        Whether to refit the machine without the penalty on the weights, once that has selected
        the features: the selection stays, the weights are no longer shrunk.
    learn_weights : bool, default=True
        False keeps the weights of ``start``, equal ones unless it gives others: a kernel machine
        of all columns, to compare with.
    class_weight : None
        For :class:`KnifeClassifier` only; a regressor refuses everything else.
    solver : {"eliminate", "alternate"}, default="eliminate"
        "eliminate" takes Gauss-Newton steps with the coefficients eliminated; "alternate" is
        the paper's algorithm, much slower, with backtracking.
    start : {"auto", "scaled", "laplace"}, float or array-like, default="auto"
        Where the weights start. "auto" tries both named ones, and a third one where products of
        two or three features tell something that these have missed, and keeps the lowest
        objective.
    n_starts : int, default=0
        Random starts to add.
    standardize : bool, default=True
        Standardise the columns of X, and y, so that units do not matter.
    fit_intercept : bool, default=True
        Whether the machine has a constant that is not penalised.
    feature_groups : array-like of shape (n_features,), dict, "correlated" or \
CorrelatedGroups, default=None
        Columns that share one weight, such as the one-hot columns of one variable: a label
        per column, or a mapping from group names to lists of columns. "correlated" makes groups
        of columns whose rank correlation is at least 0.9; for another threshold or similarity
        pass :class:`kernelknife.CorrelatedGroups`.
    feature_costs : array-like of shape (n_features,), default=None
        Factors of the penalty on each column's weight.
    n_centers : int, default=None
        Build the machine on so many centres instead of on all rows: memory no longer grows
        with the square of the rows. None is the exact method where it fits. A linear kernel
        takes at least as many as there are columns, or rows where these are fewer.
    centers : {"kmeans++", "uniform", "leverage"} or array-like of shape (m, p), \
default="kmeans++"
        How to choose the centres, or the centres themselves.
    refresh_centers : bool, default=False
        Whether ``fit`` chooses them anew in the geometry of the weights once these are found.
        Paths, given centres and an exact number of features keep theirs.
    memory_budget : float, default=2**31
        Most bytes of a kernel matrix of all rows; beyond, 1,000 centres are used, with a
        warning.
    max_iter : int, default=None
        Limit of steps in the weights; None is the solver's own, 200 or 1000.
    tol : float, default=1e-4
        Relative accuracy of the objective.
    n_jobs : int, default=None
        Starts run in parallel, each on one BLAS thread; the answer does not depend on it.
        None runs them one after the other, with all threads where there are many rows.
    random_state : int, RandomState or None, default=None
        For random starts, and past 500 rows for those that the other starts look at.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        Weights of the features, many of them exactly zero.
    support_ : ndarray of bool of shape (n_features,)
        Which features are selected, as in ``sklearn.feature_selection.RFE`` and Boruta.
    ranking_ : ndarray of int of shape (n_features,)
        1 for the selected features, 2 for the others.
    support_vectors_rows_, support_vectors_, dual_coef_, intercept_ : ndarray
        The machine: numbers of the rows with a coefficient (of the given centres, where these
        were given), those rows in the selected columns (standardised), coefficients,
        intercepts.
    objective_ : float
        Objective at the returned machine, recomputed from it, with the penalty on the weights
        even where these were refitted without it. With centres it includes a ridge
        on the coefficients of ``1e-11`` times the loss's largest second derivative, the total
        sample weight and the mean squared diagonal of the kernel, which keeps the normal
        equations definite.
    history_ : ndarray
        Objective by iteration, from the best start; it never rises.
    starts_ : list of (str, ndarray)
        Name and history of every start.
    n_iter_, n_solves_ : int
        Steps from the best start, and factorisations of the coefficient system in all.
    converged_ : bool
        Whether the weights and the coefficients satisfy their optimality conditions to ``tol``.
        For the linear and the additive kernel, which are convex, the minimum is then the global
        one, certified by ``kkt_residual_``, and needs no starts; for the others it is a local
        one, the best of several starts.
    kkt_residual_ : float
        How far the weights are from a stationary point; it has no units.
    sparsity_ : float
        The penalty of the returned model.
    feature_groups_ : dict
        From the name of a group to the names of its columns; only with ``feature_groups``.
    n_features_in_ : int
        Number of columns that ``fit`` saw.
    feature_names_in_ : ndarray of str
        For data frames.

    See Also
    --------
    KnifeClassifier : The same for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 6))
    >>> y = np.sin(2 * X[:, 0]) + X[:, 3] ** 2
    >>> model = KnifeRegressor(sparsity=2.0).fit(X, y)
    >>> model.get_support(indices=True)
    array([0, 3])
    """

    _task = "regression"
    _default_loss = "squared"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def resolved_loss(estimator: Any) -> Loss:
    """Return the loss of an estimator as an object, checked against the estimator's task."""
    loss = estimator._default_loss if estimator.loss is None else estimator.loss
    return check_loss(loss, estimator._task)


def gives_probabilities(estimator: Any) -> bool:
    """Whether the loss has probabilities; decided before a fit, as scikit-learn expects."""
    return resolved_loss(estimator).probability is not None


class ProbabilityMethod:
    """A method that exists only where the loss has probabilities, and else says which loss has.

    Parameters
    ----------
    function : callable
        The method.
    """

    def __init__(self, function: Callable):
        self.function = function
        self.__doc__ = function.__doc__

    def __get__(self, estimator: Any, owner: Any = None) -> Any:
        if estimator is None:
            return self.function
        if not gives_probabilities(estimator):
            raise AttributeError(
                f"{self.function.__name__} needs loss='logistic': {resolved_loss(estimator)!r} has "
                "scores, from decision_function, and no probabilities."
            )
        return MethodType(self.function, estimator)


class KnifeClassifier(ClassifierMixin, _BaseKnife):
    """Kernel classification that finds which features matter.

    A weight between 0 and 1 sits on every feature inside a kernel and is learned together
    with the kernel machine; most weights become exactly zero. More than two classes get one
    score column each (one class against the rest) and share one weight vector.

    Parameters
    ----------
    kernel : str or Kernel, default="rbf"
        See :class:`KnifeRegressor`.
    loss : str or Loss, default=None
        "squared_hinge" (what None stands for), "huberized_hinge", "hinge", "logistic", or an
        object from :mod:`kernelknife.losses`.
    alpha : float, default=1.0
        Penalty on the squared norm of the machine; ``SVC``'s ``C`` is ``1 / (2 alpha)``.
    sparsity, n_features_to_select, relax, learn_weights : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    class_weight : dict or "balanced", default=None
        Factors of the sample weights by class. "balanced" gives all classes the same total, so
        that a rare class counts as much as a frequent one. Not for lazy rows, which take
        ``sample_weight``.
    solver, start, n_starts : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    standardize, fit_intercept, feature_groups, feature_costs : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    n_centers, centers, refresh_centers, memory_budget : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    max_iter, tol, n_jobs, random_state : as in KnifeRegressor
        See :class:`KnifeRegressor`.

    Attributes
    ----------
    classes_ : ndarray
        The classes; all other attributes are those of :class:`KnifeRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(200, 20))
    >>> y = X[:, 2] * X[:, 7] > 0          # a pure interaction
    >>> model = KnifeClassifier(sparsity=5.0).fit(X, y)
    >>> model.get_support(indices=True)
    array([2, 7])
    """

    _task = "classification"
    _default_loss = "squared_hinge"

    def decision_function(self, X: Any) -> Any:
        """Return the scores: the second class's for two classes, else one column per class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The scores; the larger, the surer the class.
        """
        rows = self._rows_to_predict(X)
        with limited_blas(max(rows.shape[0], len(self._machine.vectors))):
            return self._machine.decisions(rows)

    @ProbabilityMethod
    def predict_proba(self, X: Any) -> Any:
        """Return class probabilities, for a loss that has them (logistic).

        Beyond two classes they are those of each class against the rest, normalised.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One probability per class; those of a row add up to 1.
        """
        rows = self._rows_to_predict(X)
        with limited_blas(max(rows.shape[0], len(self._machine.vectors))):
            return self._machine.probabilities(rows, resolved_loss(self))


# -- what paths and cross-validation ask of an estimator ------------------------------------


def prepare_job(estimator: "_BaseKnife", X: Any, y: Any, sample_weight: Any = None) -> Job:
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
    rows = estimator._open(X, y, sample_weight)
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


def resolved_sparsity(estimator: "_BaseKnife", job: Job) -> float:
    """Return the penalty on the weights as a number.

    With a convex kernel, a penalty ``sparsity`` on the weights is one of ``2 sqrt(alpha sparsity)``
    on the size of a column's coefficient, and of p columns of noise the largest gets through up to
    ``2 sqrt(2 n log(p) s)``, with ``s`` the share of the target's variance that is left. "auto" is
    where both are equal for a share of one half.
    """
    if estimator.sparsity != "auto":
        return float(estimator.sparsity)
    problem = job.problem
    if problem.convex:
        return max(1.0, np.log(problem.n_weights)) * problem.total_weight / estimator.alpha
    return AUTO_SPARSITY * problem.total_weight


def weigh_classes(estimator: "_BaseKnife", y: Any, sample_weight: Any) -> Any:
    """Return the sample weights, multiplied by those of the classes where there are some."""
    if estimator.class_weight is None:
        return sample_weight
    if estimator._task == "regression":
        raise ValueError("class_weight is for classifiers: a regression has no classes.")
    if y is None or isinstance(y, str) or is_dask(y):
        raise ValueError(
            "class_weight needs the classes in memory: pass sample_weight with the weight of every "
            "row instead."
        )
    labels = np.ravel(to_host(y) if is_foreign(y) else np.asarray(y))
    factors = compute_sample_weight(estimator.class_weight, labels)
    if sample_weight is None:
        return factors
    return check_sample_weight(sample_weight, len(labels)) * factors


@contextmanager
def explained_texts(X: Any) -> Iterator[None]:
    """Name columns of texts and dates where scikit-learn repeats NumPy's words about one value."""
    if _has_dates(X):
        # NumPy would count nanoseconds and not complain.
        raise ValueError(describe_non_numbers(X))
    try:
        yield
    except (TypeError, ValueError) as error:
        words = describe_non_numbers(X)
        if not words:
            raise
        raise ValueError(words) from error


def _has_dates(X: Any) -> bool:
    """Return whether some column has a type for dates or durations."""
    kinds = X.dtypes if hasattr(X, "dtypes") else [getattr(X, "dtype", None)]
    return any(getattr(kind, "kind", "") in ("M", "m") for kind in kinds)


def draw_seed(random_state: Any) -> int | None:
    """Return a seed, None for None: a fit without a random state is the same every time."""
    if random_state is None:
        return None
    return int(check_random_state(random_state).randint(2**31 - 1))


def check_arrays(estimator: "_BaseKnife", X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return a table in memory and its target as arrays, in scikit-learn's way."""
    numeric = estimator._task == "regression"
    X = make_dense(X, estimator.memory_budget)
    with explained_texts(X):
        return validate_data(
            estimator,
            X,
            y,
            dtype=FLOATS,
            ensure_all_finite=False,
            multi_output=numeric,
            y_numeric=numeric,
        )


def empty_objective(job: Job) -> float:
    """Return the objective of the machine without features for a loss that is not smooth.

    For the other losses the search has seen to it, and nothing is computed.
    """
    loss = job.prepared.loss
    if loss.surrogate is None:
        return np.inf
    problem = job.problem
    return null_objective(loss, problem.Y, problem.sample_weight, problem.fit_intercept)


def trace_path(
    estimator: "_BaseKnife",
    job: Job,
    sparsities: int | np.ndarray = 50,
    *,
    updates_per_point: int | None = None,
    begin: Start | None = None,
    task: Task = SILENT,
) -> Trace:
    """Follow the path of prepared data.

    Parameters
    ----------
    estimator : KnifeRegressor or KnifeClassifier
    job : Job
    sparsities, updates_per_point : see :func:`kernelknife.knife_path`
    begin : Start, default=None
        Where to begin; None takes the best of the starts that the estimator asks for.
    task : Task
    """
    return follow_path(
        job.problem,
        make_solver(estimator),
        estimator._start_settings(job),
        sparsities,
        updates_per_point=updates_per_point,
        begin=begin,
        task=task,
    )


def relax_solution(estimator: "_BaseKnife", job: Job, solution: Solution) -> Solution:
    """Return the machine of the selected features, refitted without the penalty on the weights.

    It keeps the penalty that has selected them, so that ``sparsity_`` tells it.
    """
    relaxed = refit_without_penalty(job.problem, make_solver(estimator), solution.w)
    spent = solution.n_solves + relaxed.n_solves
    return replace(relaxed, sparsity=solution.sparsity, solves=(*relaxed.solves[:-1], spent))


def make_solver(estimator: "_BaseKnife") -> Solver:
    """Return the solver that the parameters ask for."""
    if estimator.solver not in SOLVERS:
        known = ", ".join(sorted(SOLVERS))
        raise ValueError(f"Unknown solver {estimator.solver!r}. Known names: {known}.")
    check_number(estimator.tol, "tol", strict=True)
    options: dict[str, Any] = {"tol": estimator.tol}
    if estimator.max_iter is not None:
        check_number(estimator.max_iter, "max_iter", low=1, integer=True)
        options["max_iter"] = estimator.max_iter
    return SOLVERS[estimator.solver](**options)


def publish(
    estimator: "_BaseKnife",
    job: Job,
    solution: Solution,
    results: list[tuple[str, Solution]] | None = None,
) -> None:
    """Set the fitted attributes from a solution.

    Parameters
    ----------
    estimator : KnifeRegressor or KnifeClassifier
    job : Job
    solution : Solution
    results : list of (str, Solution), default=None
        Name and solution of every start.
    """
    results = results or []
    C, b, accurate = publish_machine(estimator, job, solution)
    estimator.sparsity_ = solution.sparsity
    estimator.objective_ = job.problem.value(solution.w, C, b, solution.sparsity, job.prepared.loss)
    estimator.history_ = np.array(solution.history)
    estimator.n_iter_ = max(solution.n_iter, 1)
    estimator.n_solves_ = sum(result.n_solves for _, result in results) or solution.n_solves
    estimator.converged_ = bool(solution.converged and accurate)
    estimator.kkt_residual_ = solution.kkt_residual
    estimator.starts_ = [(name, np.array(result.history)) for name, result in results]


def publish_machine(
    estimator: "_BaseKnife", job: Job, solution: Solution
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Set what prediction and selection need, and no account of how it was found.

    Returns
    -------
    C, b : ndarray
        Coefficients of all rows (or centres) and intercepts, for the user's own loss.
    accurate : bool
        Whether they reached their minimum.
    """
    C, b, accurate = final_coefficients(job.prepared, job.built, solution)
    machine = build_machine(job.prepared, job.built, solution.w, C, b)
    estimator.weights_ = job.prepared.user_values(solution.w)
    estimator.support_vectors_rows_ = machine.support
    estimator.support_vectors_ = machine.vectors
    estimator.dual_coef_ = machine.coef
    estimator.intercept_ = machine.intercept
    estimator.n_features_in_ = job.prepared.n_features
    estimator.__dict__.pop("feature_groups_", None)  # of an earlier fit
    if job.prepared.grouping is not None:
        estimator.feature_groups_ = job.prepared.group_members()
    if job.prepared.rows.names is not None:
        estimator.feature_names_in_ = job.prepared.rows.names
    if machine.targets.classes is not None:
        estimator.classes_ = machine.targets.classes
    estimator._machine = machine
    return C, b, accurate


def warn_not_converged(name: str, failed: Iterable[Solution], stacklevel: int) -> None:
    """Issue a ConvergenceWarning about the worst of some solutions, with advice that fits it."""
    worst = max(failed, key=lambda solution: solution.kkt_residual)
    outcome: Outcome = worst.outcome
    warnings.warn(
        f"{name} did not converge ({outcome.reason}; KKT residual {worst.kkt_residual:.1e}): "
        f"{outcome.advice}.",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )
