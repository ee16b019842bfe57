"""Kernel discriminants that use few columns, by optimal scoring.

Every class gets a score on each of ``k`` scales, the rows of ``theta`` (n_classes x k), and the
scores of the rows' classes are predicted by least squares:

    ||Y theta - K_w C - 1 b'||^2 + alpha tr(C' K_w C) + sparsity sum_j w_j,  theta' Y'Y theta = n I.

With one scale fewer than there are classes, every choice of ``theta`` spans the same space, so that
the weights do not depend on it: they come from one regression with several outputs. An eigenproblem
of that size then turns the scales so that the first one separates the classes best.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import validate_data

from kernelknife._components.eigenproblems import (
    TableSelector,
    check_count,
    check_fixed_weights,
    check_penalty,
    make_regressor,
    solution_at,
    table_job,
    with_targets,
)
from kernelknife._engine.data import measure_targets
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.data.opening import check_sample_weight, refuse_lazy_rows
from kernelknife._engine.fitting import STARTS, Job, make_solver, trace_path, warn_not_converged
from kernelknife._engine.model import build_model
from kernelknife._engine.search import StartSettings, find_weights, solve_for_count
from kernelknife._engine.solvers import Solution
from kernelknife._utils.checks import check_number
from kernelknife._utils.inputs import FLOATS
from kernelknife._utils.progress import Task, root_task
from kernelknife._utils.seeds import draw_seed
from kernelknife._utils.threads import limited_blas
from kernelknife._utils.versions import CallbackSupportMixin, with_callbacks
from kernelknife.cross_validation import KnifeRegressorCV
from kernelknife.estimators import KnifeRegressor
from kernelknife.path import PathResult, check_sparsities

__all__ = ["KnifeDiscriminant", "knife_discriminant_path"]

FOLDS = 5
LEAST_SHARE = 1e-6  # a share of variance so close to 0 or 1 is taken for that much away from it


@dataclass(frozen=True)
class Scoring:
    """The rows that count, their classes, and the scores that stand for the classes.

    Attributes
    ----------
    X : ndarray of shape (n, n_features)
        Rows whose weight is not zero.
    classes, priors : ndarray of shape (n_classes,)
        The classes and their shares.
    theta : ndarray of shape (n_classes, n_classes - 1)
        Score of each class on each scale.
    codes : ndarray of int of shape (n,)
        Class of every row.
    sample_weight : ndarray of shape (n,)
    """

    X: np.ndarray
    classes: np.ndarray
    priors: np.ndarray
    theta: np.ndarray
    codes: np.ndarray
    sample_weight: np.ndarray

    @property
    def targets(self) -> np.ndarray:
        """Scores of the rows."""
        return self.theta[self.codes]

    def publish(self, model: Any, job: Job, solution: Solution, results: Any = None) -> None:
        """Turn a model into the fitted one of a solution, as a path asks for it."""
        model._publish(job, solution, self)


class KnifeDiscriminant(
    TableSelector,
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    ClassifierMixin,
    TransformerMixin,
    BaseEstimator,
):
    """Kernel discriminant analysis, and the few columns that separate the classes.

    A weight between 0 and 1 sits on every column inside a kernel and is learned by optimal
    scoring; most weights become exactly zero. The model gives discriminant scores of new rows
    (``transform``) and classes (``predict``), for any number of classes.

    Parameters
    ----------
    n_components : int, default=None
        Number of discriminants that ``transform`` returns, at most one fewer than classes; None
        returns all. Weights and predictions use all of them.
    kernel : str or Kernel, default="rbf"
        See :class:`KnifeRegressor`.
    alpha : float or "auto", default=1.0
        Penalty on the squared norm of the model. "auto" chooses it together with an automatic
        ``sparsity``, as :class:`KnifeRegressorCV` does.
    sparsity : float or "auto", default=1.0
        Penalty on the sum of the weights; the larger, the fewer columns. "auto" chooses it by the
        error of the scores over five folds.
    n_features_to_select : int, default=None
        Exactly this many columns (or groups) instead of a ``sparsity``.
    weights : float or array-like of shape (n_features,), default=None
        Weights to keep as they are instead of learning them.
    solver, start, standardize, feature_groups, feature_costs : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    n_centers : int, default=None
        Build the model on so many centers instead of on all rows. None takes all rows up to
        1,500 of them, and 300 centers beyond.
    centers, memory_budget, max_iter, tol : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    random_state : int, RandomState or None, default=None
        For centers and folds; None makes every fit the same.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    weights_ : ndarray of shape (n_features,)
        Weights of the columns, many of them exactly zero.
    eigenvalues_ : ndarray of shape (n_classes - 1,)
        Share of the variance of each scale of class scores that the model explains, the largest
        first.
    scalings_ : ndarray of shape (n_classes, n_classes - 1)
        The score of each class on each scale, ``theta``.
    priors_ : ndarray of shape (n_classes,)
        Shares of the classes.
    alpha_, sparsity_ : float
        The penalties of the returned model.
    objective_, kkt_residual_, converged_, n_iter_ : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    n_features_in_ : int
        Number of columns that ``fit`` saw.
    feature_names_in_ : ndarray of str
        For data frames.

    See Also
    --------
    knife_discriminant_path : The weights for every penalty.
    KnifeClassifier : One score per class, with losses made for classification.

    Notes
    -----
    Rows are assigned as in flexible discriminant analysis (Hastie, Tibshirani and Buja): by the
    distance of their discriminant scores to the means of the classes, each scale by its variance
    within the classes, with the shares of the classes as prior.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from kernelknife import KnifeDiscriminant
    >>> X, y = load_wine(return_X_y=True)
    >>> model = KnifeDiscriminant(sparsity=10.0).fit(X[::2], y[::2])
    >>> model.transform(X[1::2]).shape
    (89, 2)
    >>> bool(model.score(X[1::2], y[1::2]) > 0.95)
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        kernel: Any = "rbf",
        *,
        alpha: Any = 1.0,
        sparsity: Any = 1.0,
        n_features_to_select: int | None = None,
        weights: Any = None,
        solver: str = "eliminate",
        start: str = "auto",
        standardize: bool = True,
        feature_groups: Any = None,
        feature_costs: Any = None,
        n_centers: int | None = None,
        centers: Any = "kmeans++",
        memory_budget: float = 2**31,
        max_iter: int | None = None,
        tol: float = 1e-4,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.alpha = alpha
        self.sparsity = sparsity
        self.n_features_to_select = n_features_to_select
        self.weights = weights
        self.solver = solver
        self.start = start
        self.standardize = standardize
        self.feature_groups = feature_groups
        self.feature_costs = feature_costs
        self.n_centers = n_centers
        self.centers = centers
        self.memory_budget = memory_budget
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    # -- fitting ----------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "KnifeDiscriminant":
        """Find the weights and the discriminants.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 counts as two rows.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        scoring = self._score_classes(X, y, sample_weight)
        regressor = self._make_regressor(scoring)
        grid = self._choose(regressor, scoring) if self._searches else None
        job = self._open(regressor, scoring)
        with limited_blas(job.problem.n_rows), root_task(self, total=None) as task:
            solution = self._solve(job, regressor, grid, task)
            self._publish(job, solution, scoring)
        if not self.converged_:
            warn_not_converged(type(self).__name__, [solution], stacklevel=4)
        return self

    def _score_classes(self, X: Any, y: Any, sample_weight: Any) -> Scoring:
        """Return the rows with a weight and the scores of their classes, after all checks."""
        refuse_lazy_rows(X, type(self).__name__)
        X, y = validate_data(self, X, y, dtype=FLOATS, ensure_all_finite=False)
        s = check_sample_weight(sample_weight, len(X))
        # This refuses missing values, numbers that are no classes, and a single class.
        measure_targets(ArrayRows(X, y, s), "classification", standardize=False, robust=False)
        classes, codes = np.unique(y, return_inverse=True)
        if self.n_components is not None and self.n_components >= len(classes):
            raise ValueError(
                f"n_components={self.n_components}, but {len(classes)} classes have at most "
                f"{len(classes) - 1} discriminant(s)."
            )
        priors = np.bincount(codes, s) / s.sum()
        # Rows that are left out by a weight of zero have no part in anything below.
        counted = s > 0
        return Scoring(
            X[counted], classes, priors, class_scores(priors), codes[counted], s[counted]
        )

    def _make_regressor(self, scoring: Scoring) -> KnifeRegressor:
        regressor = make_regressor(self, len(scoring.X), draw_seed(self.random_state))
        return regressor.set_params(start=self.start)

    def _open(self, regressor: KnifeRegressor, scoring: Scoring) -> Job:
        """Return the job whose targets are the scores of the rows' classes."""
        names = getattr(self, "feature_names_in_", None)
        job = table_job(regressor, scoring.X, names, scoring.sample_weight)
        return with_targets(job, scoring.targets)

    def _check_parameters(self) -> None:
        if self.n_components is not None:
            check_number(self.n_components, "n_components", low=1, integer=True)
        check_penalty(self.sparsity)
        if isinstance(self.alpha, str):
            if self.alpha != "auto":
                raise ValueError(f"alpha must be a number or 'auto', got {self.alpha!r}.")
            if not self._searches:
                raise ValueError("alpha='auto' is chosen together with sparsity='auto': pass both.")
        if self.start not in STARTS:
            raise ValueError(f"Unknown start {self.start!r}. Known names: {', '.join(STARTS)}.")

    @property
    def _searches(self) -> bool:
        """Whether folds choose the penalty."""
        fixed = self.weights is not None or self.n_features_to_select is not None
        return isinstance(self.sparsity, str) and not fixed

    def _solve(
        self, job: Job, regressor: KnifeRegressor, grid: np.ndarray | None, task: Task
    ) -> Solution:
        """Return the solution that the parameters ask for; ``grid`` ends at a chosen penalty."""
        if self.weights is not None:
            return solution_at(job, check_fixed_weights(self.weights, job))
        if self.n_features_to_select is not None:
            wanted = check_count(self.n_features_to_select, job.problem.n_weights)
            trace = trace_path(regressor, job, task=task)
            return solve_for_count(job.problem, make_solver(self), trace, wanted)
        if grid is not None:
            return trace_path(regressor, job, grid, task=task).points[-1]
        settings = StartSettings(self.start, seed=job.seed)
        watch = task.watch("iteration")
        return find_weights(
            job.problem, make_solver(self), settings, float(self.sparsity), callback=watch
        )[0]

    def _choose(self, regressor: KnifeRegressor, scoring: Scoring) -> np.ndarray:
        """Return the penalties of a path up to the one that the folds choose; set ``alpha``."""
        counts = np.bincount(scoring.codes)
        fewest = int(counts.min())
        if fewest < 2:
            raise ValueError(
                "sparsity='auto' needs at least two rows of every class to make folds, got "
                f"{fewest} of class {scoring.classes[int(counts.argmin())]!r}: pass a number."
            )
        folds = StratifiedKFold(min(FOLDS, fewest), shuffle=True, random_state=0)
        options = {
            name: value
            for name, value in regressor.get_params(deep=False).items()
            if name in KnifeRegressorCV().get_params(deep=False)
        }
        alphas = None if isinstance(self.alpha, str) else self.alpha
        search = KnifeRegressorCV(
            **options,
            alphas=alphas,
            include_all=False,
            cv=list(folds.split(scoring.X, scoring.codes)),
        )
        search.fit(scoring.X, scoring.targets, sample_weight=scoring.sample_weight)
        regressor.set_params(alpha=search.alpha_)
        grid = search.path_.sparsities
        return grid[grid <= search.sparsity_ * (1.0 + 1e-12)]

    def _publish(self, job: Job, solution: Solution, scoring: Scoring) -> None:
        """Set the fitted attributes from the weights of a solution."""
        model = build_model(job.prepared, job.built, solution.w, solution.C, solution.b)
        fitted = model.scores(job.prepared.rows)
        s = scoring.sample_weight
        # The scales are turned to where the model explains most; for two classes there is one.
        explained = scoring.targets.T @ (s[:, None] * fitted) / s.sum()
        values, turn = np.linalg.eigh(0.5 * (explained + explained.T))
        values, turn = values[::-1], turn[:, ::-1]
        turn = turn * np.where(turn[np.abs(turn).argmax(axis=0), np.arange(len(turn))] < 0, -1, 1)
        self.classes_, self.priors_ = scoring.classes, scoring.priors
        self.eigenvalues_ = np.clip(values, 0.0, 1.0)
        self.scalings_ = scoring.theta @ turn
        self.weights_ = job.prepared.user_values(solution.w)
        self.alpha_ = job.problem.alpha
        self.sparsity_ = solution.sparsity
        self.objective_ = solution.objective
        self.kkt_residual_ = solution.kkt_residual
        self.converged_ = solution.converged
        self.n_iter_ = max(solution.n_iter, 1)
        self.n_features_in_ = job.prepared.n_features
        if job.prepared.rows.names is not None:
            self.feature_names_in_ = job.prepared.rows.names
        self._model = replace(model, coef=model.coef @ turn, intercept=model.intercept @ turn)

    # -- scores and classes -----------------------------------------------------------

    @property
    def _n_features_out(self) -> int:
        return self.n_components or len(self.classes_) - 1

    def transform(self, X: Any) -> Any:
        """Return the discriminant scores of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to describe.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Numbers only, one row per row of the table.
        """
        return self._scores(X)[:, : self._n_features_out]

    def _log_posterior(self, X: Any) -> np.ndarray:
        """Return the logarithm of every class's posterior, up to a constant per row.

        On a scale of which the share ``e`` is explained, the scores of a class have the mean
        ``e theta``, and the variance within the classes is ``e (1 - e)``.
        """
        scores = self._scores(X)
        share = np.clip(self.eigenvalues_, LEAST_SHARE, 1.0 - LEAST_SHARE)
        means = share * self.scalings_
        axes = means / (share * (1.0 - share))
        # The term that is quadratic in the scores is the same for all classes.
        return scores @ axes.T - 0.5 * (means * axes).sum(axis=1) + np.log(self.priors_)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log odds of the second of two classes, or one column per class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The scores; the larger, the surer the class.
        """
        posterior = self._log_posterior(X)
        if len(self.classes_) == 2:
            return posterior[:, 1] - posterior[:, 0]
        return log_softmax(posterior, axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """Predict classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,)
            One prediction per row.
        """
        posterior = self._log_posterior(X)
        return self.classes_[np.argmax(posterior, axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return class probabilities of normal scores with a common covariance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One probability per class; those of a row add up to 1.
        """
        return softmax(self._log_posterior(X), axis=1)


def class_scores(priors: np.ndarray) -> np.ndarray:
    """Return scores of classes on one scale fewer: mean 0 and covariance I over the rows.

    Two classes get the standardized code of -1 and +1.
    """
    g = len(priors)
    root = np.sqrt(priors)
    # An orthonormal basis of what is orthogonal to the square roots of the shares.
    basis = np.linalg.qr(np.column_stack([root, np.eye(g)[:, 1:]]))[0][:, 1:]
    basis = basis * np.where(basis[-1] < 0, -1.0, 1.0)
    return basis / root[:, None]


def knife_discriminant_path(
    X: Any,
    y: Any,
    *,
    kernel: Any = "rbf",
    alpha: float = 1.0,
    sparsities: Any = 50,
    sample_weight: Any = None,
    callbacks: Any = (),
    **options: Any,
) -> PathResult:
    """Follow every column's weight in the discriminants as the penalty rises.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training rows.
    y : array-like of shape (n_samples,)
        Classes.
    kernel : str or Kernel, default="rbf"
        See :class:`KnifeDiscriminant`.
    alpha : float, default=1.0
        Penalty on the squared norm of the model, the same along the path.
    sparsities : int or array-like, default=50
        Number of points, or increasing penalties, as in :func:`knife_path`.
    sample_weight : array-like of shape (n_samples,), default=None
        A row of weight 2 counts as two rows.
    callbacks : sequence of callbacks, default=()
        For example ``[sklearn.callback.ProgressBar()]``.
    **options
        Further parameters of :class:`KnifeDiscriminant`.

    Returns
    -------
    PathResult
        Its models are fitted :class:`KnifeDiscriminant`. The last one has no column left and
        predicts the most frequent class.

    See Also
    --------
    KnifeDiscriminant : The discriminants at one penalty, or at one that folds choose.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kernelknife import knife_discriminant_path
    >>> X, y = load_wine(return_X_y=True)
    >>> path = knife_discriminant_path(X, y, sparsities=20)
    >>> model = path.at(n_features=4)
    >>> model.transform(X).shape, bool(model.score(X, y) > 0.95)
    ((178, 2), True)
    """
    for name in ("sparsity", "n_features_to_select", "weights"):
        if name in options:
            raise TypeError(f"knife_discriminant_path takes no {name}: it follows all penalties.")
    if isinstance(alpha, str):
        raise ValueError(
            f"alpha must be a number along a path, got {alpha!r}: take the alpha_ that "
            "KnifeDiscriminant(alpha='auto', sparsity='auto') finds."
        )
    grid = check_sparsities(sparsities)
    template = KnifeDiscriminant(kernel=kernel, alpha=alpha, **options)
    if callbacks:
        template.set_callbacks(*callbacks)
    return _run(template, X, y, sample_weight, grid)


@with_callbacks
def _run(template: KnifeDiscriminant, X: Any, y: Any, sample_weight: Any, grid: Any) -> PathResult:
    template._check_parameters()
    scoring = template._score_classes(X, y, sample_weight)
    regressor = template._make_regressor(scoring)
    job = template._open(regressor, scoring)
    total = None if np.ndim(grid) == 0 else len(grid)
    with limited_blas(job.problem.n_rows), root_task(template, "path", total) as task:
        trace = trace_path(regressor, job, grid, task=task)
    path = PathResult.from_trace(clone(template), job, trace, scoring.publish)
    # The regression underneath does not know that its targets stand for classes.
    path = replace(path, task="classification")
    path.warn_not_converged(stacklevel=5)
    return path
