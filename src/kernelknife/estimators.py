"""The estimators: validate, build the problem, solve, publish."""

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from kernelknife._support.arrays import is_foreign, like, namespace, to_host
from kernelknife._support.checks import check_number
from kernelknife._support.progress import SILENT, root_task
from kernelknife._support.threads import limited_blas
from kernelknife.kernels import Kernel, check_kernel
from kernelknife.large import (
    FEW_CENTERS,
    choose_small,
    is_large,
    is_lazy,
    on_some_rows,
    open_source,
    prepare_large,
    refreshed_centers,
    scores_of,
    solve_small,
    warn_centers,
)
from kernelknife.losses import Loss, check_loss
from kernelknife.machine import build_machine, refit_hinge
from kernelknife.nystrom import NystromProblem
from kernelknife.preparation import (
    Columns,
    Targets,
    check_costs,
    check_finite,
    check_groups,
    prepare_columns,
)
from kernelknife.problem import Problem
from kernelknife.solvers import SOLVERS
from kernelknife.solvers.starts import Start, best_start, make_starts
from kernelknife.solvers.trace import exactly, trace_path

__all__ = ["KnifeClassifier", "KnifeRegressor"]

STARTS = ("auto", "scaled", "laplace")


@dataclass(frozen=True)
class Prepared:
    """A fit's data, ready to solve: the problem and the way back to the user's units."""

    problem: Problem | NystromProblem
    kernel: Kernel
    loss: Loss
    columns: Columns
    targets: Targets
    rows: np.ndarray  # the user's rows with a positive sample weight
    groups: np.ndarray | None  # group of each varying column
    classes: np.ndarray | None
    n_features: int
    squeeze: bool  # one-dimensional targets

    def with_alpha(self, alpha):
        """Return the same data with another ``alpha``."""
        return replace(self, problem=self.problem.with_alpha(alpha))

    def column_weights(self, w):
        """Return the weight of every varying column."""
        return w if self.groups is None else w[self.groups]


class _BaseKnife(CallbackSupportMixin, SelectorMixin, BaseEstimator, ABC):
    """What regression and classification share."""

    def __init__(
        self,
        kernel="rbf",
        loss=None,
        *,
        alpha=1.0,
        sparsity=1.0,
        n_features_to_select=None,
        solver="eliminate",
        start="auto",
        n_starts=0,
        standardize=True,
        fit_intercept=True,
        feature_groups=None,
        feature_costs=None,
        n_centers=None,
        centers="kmeans++",
        refresh_centers=False,
        memory_budget=2**31,
        max_iter=None,
        tol=1e-4,
        n_jobs=None,
        random_state=None,
    ):
        self.kernel = kernel
        self.loss = loss
        self.alpha = alpha
        self.sparsity = sparsity
        self.n_features_to_select = n_features_to_select
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

    _task: str
    _default_loss: str

    @abstractmethod
    def _check_targets(self, y):
        """Return the targets as numbers or class codes, and the classes if there are some."""

    def _resolved_loss(self):
        return check_loss(self._default_loss if self.loss is None else self.loss, self._task)

    # -- fitting ----------------------------------------------------------------------

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Find the weights and fit the machine.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the loss; a row of weight 2 counts as two rows.

        Returns
        -------
        self : object
        """
        prepared = self._prepare(X, y, sample_weight)
        rows = len(prepared.rows) if self.n_jobs is None else 0
        with limited_blas(rows), root_task(self, total=None) as task:
            solution, results = self._solve(prepared, task)
            prepared, solution = self._refresh(prepared, solution, task)
            self._publish(prepared, solution, results)
        if not solution.converged:
            warn_not_converged(
                type(self).__name__, solution.message, solution.kkt_residual, stacklevel=4
            )
        return self

    def _solve(self, prepared, task=SILENT):
        """Return the solution and those of all starts."""
        problem, solver = prepared.problem, self._make_solver()
        if self.n_features_to_select is None:
            if isinstance(problem, NystromProblem):
                return self._solve_on_centers(prepared, solver, task)
            return best_start(
                problem,
                solver,
                self._make_starts(prepared),
                float(self.sparsity),
                n_jobs=self.n_jobs,
                callback=task.watch("iteration"),
            )
        available = problem.n_weights
        check_number(self.n_features_to_select, "n_features_to_select", low=1, integer=True)
        if self.n_features_to_select > available:
            raise ValueError(
                f"n_features_to_select={self.n_features_to_select} is more than the {available} "
                "features (or groups) that are not constant."
            )
        trace = self._trace(prepared, task=task)
        solution = exactly(problem, solver, trace, self.n_features_to_select)
        own = any(solution is point for point in trace.points)
        spent = trace.n_solves + (0 if own else solution.n_solves)
        solution = replace(solution, solves=(*solution.solves[:-1], spent))
        return solution, [(trace.start, solution)]

    def _solve_on_centers(self, prepared, solver, task):
        """Solve on some of the rows first, then on all of them from there."""
        problem = prepared.problem
        sparsity = float(self.sparsity)
        results: list = []
        if not problem.many_rows:
            starts = self._make_starts(prepared)
        else:
            settings = self._start_settings(prepared)
            small = on_some_rows(problem, solve_small, solver, settings, sparsity)
            if small is None:
                starts = self._make_starts(prepared)
            else:
                starts, results = [Start("subsample", small[0], relax=False)], small[1]
        watch = task.watch("iteration")
        solution, found = best_start(problem, solver, starts, sparsity, callback=watch)
        return solution, [*results, *found]

    def _refresh(self, prepared, solution, task):
        """Choose the centres anew in the geometry of the weights and go on from there."""
        problem = prepared.problem
        wanted = self.refresh_centers and isinstance(problem, NystromProblem)
        # Given centres are the user's, an exact number of features belongs to its centres, and
        # without a weight there is no geometry.
        given = not isinstance(self.centers, str) or self.n_features_to_select is not None
        if not wanted or given or not solution.w.any():
            return prepared, solution
        Z = refreshed_centers(problem, prepared.columns, solution.w, self.centers, self._seed())
        problem = problem.with_centers(Z)
        watch = task.watch("iteration")
        after = self._make_solver().solve(problem, solution.w, solution.sparsity, callback=watch)
        return replace(prepared, problem=problem), after

    def _trace(self, prepared, sparsities=50, **options):
        """Follow the path of the prepared data."""
        problem, solver = prepared.problem, self._make_solver()
        if isinstance(problem, NystromProblem) and problem.many_rows:
            small = on_some_rows(problem, choose_small, solver, self._start_settings(prepared))
            starts = self._make_starts(prepared) if small is None else [small]
        else:
            starts = self._make_starts(prepared)
        return trace_path(problem, solver, starts, sparsities, **options)

    def _make_solver(self):
        if self.solver not in SOLVERS:
            known = ", ".join(sorted(SOLVERS))
            raise ValueError(f"Unknown solver {self.solver!r}. Known names: {known}.")
        check_number(self.tol, "tol", strict=True)
        if self.max_iter is None:
            return SOLVERS[self.solver](tol=self.tol)
        check_number(self.max_iter, "max_iter", low=1, integer=True)
        return SOLVERS[self.solver](max_iter=self.max_iter, tol=self.tol)

    def _make_starts(self, prepared):
        return make_starts(prepared.problem, *self._start_settings(prepared))

    def _start_settings(self, prepared):
        """Return start, number of random starts and seed, checked."""
        check_number(self.n_starts, "n_starts", integer=True)
        seed = None if self.random_state is None else self._seed()
        start = self.start
        if isinstance(start, str):
            if start not in STARTS:
                raise ValueError(
                    f"Unknown start {start!r}. Known names: {', '.join(STARTS)}; or give the "
                    "starting weights themselves."
                )
        else:
            start = self._given_start(np.asarray(start, dtype=float), prepared)
        return start, self.n_starts, seed

    def _given_start(self, start, prepared):
        p = prepared.n_features
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
        start = start[prepared.columns.varying]
        if prepared.groups is None:
            return start
        # Columns of a group share one weight: take their mean.
        return np.bincount(prepared.groups, start) / np.bincount(prepared.groups)

    def _prepare(self, X, y, sample_weight=None) -> Prepared:
        """Validate everything and build the problem; sets ``n_features_in_`` and names."""
        kernel = check_kernel(self.kernel)
        loss = self._resolved_loss()
        check_number(self.alpha, "alpha", strict=True)
        check_number(self.sparsity, "sparsity")
        if not self.fit_intercept and loss.surrogate is not None:
            raise ValueError(f"{loss!r} needs fit_intercept=True: SVC always fits an intercept.")
        if self._on_centers(X):
            return self._prepare_on_centers(X, y, sample_weight, kernel, loss)
        X, y = self._validate(X, y)
        y, classes = self._check_targets(y)
        s = check_sample_weight(sample_weight, len(X))
        rows = np.flatnonzero(s)
        if len(rows) < len(X):
            X, y, s = X[rows], y[rows], s[rows]
            if classes is not None and len(np.unique(y)) < len(classes):
                raise ValueError(
                    "After removing rows of zero sample weight, less than one row per class is "
                    f"left: {len(np.unique(y))} of {len(classes)} classes remain."
                )
        if len(X) < 2:
            raise ValueError(f"Found array with {len(X)} sample(s) while at least 2 are needed.")
        if classes is not None and len(classes) > 2 and loss.binary_only:
            raise ValueError(
                f"{loss!r} is for two classes, got {len(classes)}: choose another loss, or wrap "
                "the estimator in sklearn.multiclass.OneVsRestClassifier."
            )
        names = getattr(self, "feature_names_in_", None)
        n_features = X.shape[1]
        columns = prepare_columns(
            X, s, standardize=self.standardize, center=kernel.translation_invariant
        )
        if classes is None:
            squeeze = y.ndim == 1
            targets = Targets.from_values(
                y.reshape(len(y), -1), s, self.standardize, robust=loss.robust
            )
        else:
            squeeze = len(classes) == 2
            targets = Targets.from_classes(y, len(classes))
        groups = costs = None
        if self.feature_groups is not None:
            labels = check_groups(self.feature_groups, n_features, names)[columns.varying]
            groups = np.unique(labels, return_inverse=True)[1]
        if self.feature_costs is not None:
            costs = check_costs(self.feature_costs, n_features)[columns.varying]
        problem = Problem(
            columns.transform(X),
            targets.Y,
            kernel,
            loss.surrogate or loss,
            alpha=self.alpha,
            sample_weight=s,
            groups=groups,
            costs=costs,
            fit_intercept=self.fit_intercept,
        )
        return Prepared(
            problem, kernel, loss, columns, targets, rows, groups, classes, n_features, squeeze
        )

    def _on_centers(self, X):
        """Whether a fit uses centres: asked for, or X is not an array that fits in memory."""
        if self.n_centers is not None:
            check_number(self.n_centers, "n_centers", low=1, integer=True)
            return True
        if is_lazy(X) or not isinstance(self.centers, str):
            return True
        check_number(self.memory_budget, "memory_budget", strict=True)
        n_rows = X.shape[0] if hasattr(X, "shape") and len(X.shape) else 0
        if not is_large(n_rows, self.memory_budget):
            return False
        warn_centers(n_rows, min(FEW_CENTERS, n_rows), self.memory_budget)
        return True

    def _prepare_on_centers(self, X, y, sample_weight, kernel, loss) -> Prepared:
        """Build the problem with centres, from data of any size and place."""
        if loss.surrogate is not None:
            raise ValueError(
                f"{loss!r} has no machine on centres: use loss='squared_hinge' or "
                "'huberized_hinge', or leave n_centers=None."
            )
        if self.solver != "eliminate":
            raise ValueError("With centres the solver is 'eliminate', the others need all rows.")
        if not is_lazy(X):
            X, y = self._validate(X, y, dtype=(np.float64, np.float32))
            if sample_weight is not None:
                sample_weight = check_sample_weight(sample_weight, len(X))
                counted = np.flatnonzero(sample_weight)
                if len(counted) < len(X):
                    X, y, sample_weight = X[counted], y[counted], sample_weight[counted]
        elif is_foreign(X) and sample_weight is not None:
            host = to_host(sample_weight) if is_foreign(sample_weight) else sample_weight
            sample_weight = check_sample_weight(host, X.shape[0])
        source = open_source(X, y, sample_weight, self._task, loss, self.standardize)
        if is_lazy(X):
            self.n_features_in_ = source.rows.shape[1]
            if source.names is not None:
                self.feature_names_in_ = source.names
        names = getattr(self, "feature_names_in_", None)
        n_features = source.rows.shape[1]
        if source.classes is not None and len(source.classes) > 2 and loss.binary_only:
            raise ValueError(f"{loss!r} is for two classes, got {len(source.classes)}.")

        def groups(varying):
            if self.feature_groups is None:
                return None
            labels = check_groups(self.feature_groups, n_features, names)[varying]
            return np.unique(labels, return_inverse=True)[1]

        def costs(varying):
            if self.feature_costs is None:
                return None
            return check_costs(self.feature_costs, n_features)[varying]

        columns, problem = prepare_large(self, source, kernel, loss, groups, costs, names)
        return Prepared(
            problem,
            kernel,
            loss,
            columns,
            source.targets,
            np.arange(len(problem.data)),
            problem.groups,
            source.classes,
            n_features,
            source.squeeze,
        )

    def _seed(self):
        """Return a seed from ``random_state``; without one every fit is the same."""
        if self.random_state is None:
            return 0
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _validate(self, X, y, dtype=np.float64):
        X, y = validate_data(
            self,
            X,
            y,
            dtype=dtype,
            ensure_all_finite=False,
            multi_output=self._task == "regression",
            y_numeric=self._task == "regression",
        )
        if dtype is np.float64:
            check_finite(X, getattr(self, "feature_names_in_", None))
        return X, y

    def _publish(self, prepared, solution, results=()):
        """Set the fitted attributes from a solution."""
        problem, loss = prepared.problem, prepared.loss
        C, b = solution.C, solution.b
        weights = prepared.column_weights(solution.w)
        if loss.surrogate is not None:
            _, K = problem.kernel_matrix(solution.w)
            C, b = refit_hinge(K, problem.Y, problem.sample_weight, problem.alpha)
        machine = build_machine(problem, prepared.columns, prepared.rows, weights, C, b)
        self.weights_ = np.zeros(prepared.n_features)
        self.weights_[prepared.columns.varying] = weights
        self.sparsity_ = solution.sparsity
        self.objective_ = problem.value(solution.w, C, b, solution.sparsity, loss)
        self.history_ = np.array(solution.history)
        self.n_iter_ = max(solution.n_iter, 1)
        self.n_solves_ = sum(result.n_solves for _, result in results) or solution.n_solves
        self.converged_ = bool(solution.converged)
        self.kkt_residual_ = solution.kkt_residual
        self.starts_ = [(name, np.array(result.history)) for name, result in results]
        self.support_ = machine.support
        self.support_vectors_ = machine.vectors
        self.dual_coef_ = machine.coef
        self.intercept_ = machine.intercept
        self._machine = machine

    # -- selection --------------------------------------------------------------------

    def _get_support_mask(self):
        check_is_fitted(self)
        return self.weights_ > 0

    @property
    def feature_importances_(self):
        """The weights, under the name that ``SelectFromModel`` looks for."""
        check_is_fitted(self)
        return self.weights_

    def kernel_matrices(self, X):
        """Return the kernel matrix of ``X`` with equal and with the fitted weights.

        The equal weights are those that the scaled start gives to all features, on columns
        standardised by ``X`` itself.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        before, after : ndarray of shape (n_samples, n_samples)
        """
        check_is_fitted(self)
        X = self._check_rows(X)
        machine, kernel = self._machine, self._machine.kernel
        columns = prepare_columns(
            X, np.ones(len(X)), standardize=self.standardize, center=kernel.translation_invariant
        )
        Z = columns.transform(X)
        before = kernel(Z, Z, np.full(Z.shape[1], 0.5 / Z.shape[1]))
        return before, machine.kernel_matrix(X)

    # -- prediction -------------------------------------------------------------------

    def _check_rows(self, X):
        X = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite=False)
        check_finite(X, getattr(self, "feature_names_in_", None))
        return X

    def _scores(self, X):
        check_is_fitted(self)
        if is_lazy(X):
            names = getattr(self, "feature_names_in_", None)
            return scores_of(self._machine, X, names, self.n_features_in_)
        X = self._check_rows(X)
        with limited_blas(max(len(X), len(self._machine.vectors))):
            return self._machine.scores(X)


class KnifeRegressor(RegressorMixin, _BaseKnife):
    """Kernel regression that finds which features matter.

    A weight between 0 and 1 sits on every feature inside a kernel and is learned together
    with the kernel machine; most weights become exactly zero.

    Parameters
    ----------
    kernel : str or Kernel, default="rbf"
        "linear", "rbf", "polynomial", "laplace", "matern", "rational_quadratic", "sigmoid",
        or an object from :mod:`kernelknife.kernels`.
    loss : str or Loss, default=None
        "squared" (what None stands for), "huber", or an object from
        :mod:`kernelknife.losses`.
    alpha : float, default=1.0
        Penalty on the squared norm of the machine, as in ``KernelRidge``.
    sparsity : float, default=1.0
        Penalty on the sum of the weights; the larger, the fewer features. The notes of
        :class:`KnifeRegressorCV` say how it depends on the number of rows.
    n_features_to_select : int, default=None
        Exactly this many features (or groups) instead of a ``sparsity``, taken from the
        feature path.
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
    feature_groups : array-like of shape (n_features,) or dict, default=None
        Columns that share one weight, such as the one-hot columns of one variable: a label
        per column, or a mapping from group names to lists of columns.
    feature_costs : array-like of shape (n_features,), default=None
        Factors of the penalty on each column's weight.
    n_centers : int, default=None
        Build the machine on so many centres instead of on all rows: memory no longer grows
        with the square of the rows. None is the exact method where it fits.
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
    support_, support_vectors_, dual_coef_, intercept_ : ndarray
        The machine: rows with a coefficient, those rows in the selected columns
        (standardised), coefficients, intercepts.
    objective_ : float
        Objective at the returned machine, recomputed from it.
    history_ : ndarray
        Objective by iteration, from the best start; it never rises.
    starts_ : list of (str, ndarray)
        Name and history of every start.
    n_iter_, n_solves_ : int
        Steps from the best start, and factorisations of the coefficient system in all.
    converged_ : bool
    kkt_residual_ : float
        How far the weights are from a stationary point; it has no units.
    sparsity_ : float
        The penalty of the returned model.
    n_features_in_ : int
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

    def _check_targets(self, y):
        return np.asarray(y, dtype=float), None

    def _publish(self, prepared, solution, results=()):
        super()._publish(prepared, solution, results)
        self._target_center = prepared.targets.center
        self._target_scale = prepared.targets.scale
        self._one_output = prepared.squeeze

    def predict(self, X):
        """Predict the target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        scores = self._scores(X)
        scale, center = self._target_scale, self._target_center
        if is_foreign(scores):
            scale, center = like(scale, scores), like(center, scores)
        values = scores * scale + center
        return values[:, 0] if self._one_output else values

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def gives_probabilities(estimator):
    """Whether the loss has probabilities; decided before a fit, as scikit-learn expects."""
    return estimator._resolved_loss().probability is not None


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
    sparsity, n_features_to_select, solver, start, n_starts : see :class:`KnifeRegressor`
    standardize, fit_intercept, feature_groups, feature_costs : see :class:`KnifeRegressor`
    n_centers, centers, refresh_centers, memory_budget : see :class:`KnifeRegressor`
    max_iter, tol, n_jobs, random_state : see :class:`KnifeRegressor`

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

    def _check_targets(self, y):
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"The target y has one class ({classes[0]!r}): a classifier needs at least two "
                "classes."
            )
        return codes, classes

    def _publish(self, prepared, solution, results=()):
        super()._publish(prepared, solution, results)
        self.classes_ = prepared.classes

    def decision_function(self, X):
        """Return the scores: the second class's for two classes, else one column per class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X):
        """Predict the class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self.decision_function(X)
        if is_foreign(scores):
            return self._device_classes(scores)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        if isinstance(codes, np.ndarray):
            return self.classes_[codes]
        return codes.map_blocks(self.classes_.__getitem__, dtype=self.classes_.dtype)  # Dask

    def _device_classes(self, scores):
        """Return the classes in the namespace of the scores, texts on the host."""
        xp = namespace(scores)
        binary = scores.ndim == 1
        codes = xp.astype(scores > 0, xp.int64) if binary else xp.argmax(scores, axis=1)
        if self.classes_.dtype.kind not in "biuf":
            return self.classes_[to_host(codes).astype(int)]
        return xp.take(xp.asarray(self.classes_, device=scores.device), codes, axis=0)

    @available_if(gives_probabilities)
    def predict_proba(self, X):
        """Return class probabilities, for a loss that has them (logistic).

        Beyond two classes they are those of each class against the rest, normalised.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        scores = self._scores(X)
        chance = self._resolved_loss().probability(scores)
        if len(self.classes_) == 2:
            return np.hstack([1.0 - chance, chance])
        total = chance.sum(axis=1, keepdims=True)
        # Where every class is as good as impossible, none is better than another.
        return np.where(total > 0, chance / np.where(total > 0, total, 1.0), 1.0 / chance.shape[1])


def warn_not_converged(name, message, residual, stacklevel):
    """Issue a ConvergenceWarning with advice that fits the reason."""
    advice = {
        "max_iter": "raise max_iter or tol",
        "no step": "raise alpha or tol, or look for features of extreme scale",
        "fewer": "ask for fewer features",
        "stopped": "the result is that of the last step",
    }
    hint = next((text for start, text in advice.items() if message.startswith(start)), "")
    warnings.warn(
        f"{name} did not converge ({message}; KKT residual {residual:.1e}): {hint}.",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )


def check_sample_weight(sample_weight, n):
    """Return the weights of the rows as floats; ones for None."""
    if sample_weight is None:
        return np.ones(n)
    s = np.asarray(sample_weight, dtype=float)
    if s.ndim == 0:
        s = np.full(n, float(s))
    if s.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},), one per row, got {s.shape}.")
    if not np.isfinite(s).all() or (s < 0).any():
        raise ValueError("sample_weight must be finite and >= 0.")
    if not s.any():
        raise ValueError("sample_weight must not be all zero.")
    return s
