"""Kernel discriminants that use few columns, by optimal scoring.

Every class gets a score on each of ``k`` scales, the rows of ``theta`` (n_classes x k), and the
scores of the rows' classes are predicted by least squares:

    ||Y theta - K_w C - 1 b'||^2 + alpha tr(C' K_w C) + sparsity sum_j w_j,  theta' Y'Y theta = n I.

With one scale fewer than there are classes, every choice of ``theta`` spans the same space, so that
the weights do not depend on it: they come from one regression with several outputs. An eigenproblem
of that size then rotates the scales so that the first one separates the classes best.
"""

from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.model_selection import StratifiedKFold

from kernelknife._components.eigenproblems import set_up_table
from kernelknife._components.scoring import (
    ClassScores,
    Discriminants,
    discriminants_at,
    score_classes,
)
from kernelknife._engine import FitSpec, Setup, fit, follow, warn_not_converged
from kernelknife._engine.policy import FOLDS, affordable_folds, default_loss
from kernelknife._engine.search import fixed_weights
from kernelknife._table_base import (
    ResultAt,
    TableTransformer,
    check_weights,
    open_table,
    refuse_options,
    run_path,
)
from kernelknife._utils.checks import check_number
from kernelknife._utils.progress import root_progress
from kernelknife._utils.threads import limited_blas
from kernelknife._utils.versions import with_callbacks
from kernelknife.cross_validation import KnifeRegressorCV
from kernelknife.path import PathResult, check_sparsities

__all__ = ["KnifeDiscriminant", "knife_discriminant_path"]

LEAST_SHARE = 1e-6  # a share of variance so close to 0 or 1 is taken for that much away from it


class KnifeDiscriminant(ClassifierMixin, TableTransformer):
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
    solver, start, standardize, missing, feature_groups, feature_costs : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    n_centers : int, default=None
        Build the model on this number of centers instead of on all rows. None takes all rows up to
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
        missing: str = "indicator",
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
        self.missing = missing
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
        spec = self._specification()
        setup, scores = self._open(spec, X, y, sample_weight)
        sparsities = None
        if self._searches:
            setup, sparsities = self._search(spec.seed, setup, scores)
        with limited_blas(setup.problem.n_rows), root_progress(self, total=None) as progress:
            if self.weights is not None:
                w = check_weights(self.weights, setup.data)
                solution = fixed_weights(setup.problem, w)
            elif sparsities is not None:
                solution = follow(setup, sparsities, progress=progress).points[-1]
            else:
                solution = fit(setup.spec, setup.data, progress).solution
        self._set_fitted(discriminants_at(setup, solution, scores))
        if not self.converged_:
            warn_not_converged(type(self).__name__, [solution])
        return self

    def _specification(self) -> FitSpec:
        """Return the regression of class scores that the parameters ask for, checked."""
        if self.n_components is not None:
            check_number(self.n_components, "n_components", low=1, integer=True)
        alpha = self.alpha
        if isinstance(alpha, str):
            if alpha != "auto":
                raise ValueError(f"alpha must be a number or 'auto', got {alpha!r}.")
            if not self._searches:
                raise ValueError("alpha='auto' is chosen together with sparsity='auto': pass both.")
            alpha = 1.0  # until the folds have chosen it
        return FitSpec.from_estimator(self, loss=default_loss(None, "regression"), alpha=alpha)

    @property
    def _searches(self) -> bool:
        """Whether folds choose the penalty."""
        fixed = self.weights is not None or self.n_features_to_select is not None
        return isinstance(self.sparsity, str) and not fixed

    def _open(self, spec: FitSpec, X: Any, y: Any, sample_weight: Any) -> tuple[Setup, ClassScores]:
        """Return the regression of the class scores of the rows that count, and these scores."""
        rows, scores = score_classes(open_table(self, X, y, sample_weight))
        n_classes = len(scores.classes)
        if self.n_components is not None and self.n_components >= n_classes:
            raise ValueError(
                f"n_components={self.n_components}, but {n_classes} classes have at most "
                f"{n_classes - 1} discriminant(s)."
            )
        return set_up_table(spec, rows).with_targets(scores.targets), scores

    def _open_path(self, X: Any, y: Any, sample_weight: Any) -> tuple[Setup, ResultAt]:
        """Return the setup of a path, and what makes the result of a point."""
        setup, scores = self._open(self._specification(), X, y, sample_weight)
        return setup, partial(discriminants_at, scores=scores)

    def _search(
        self, seed: int | None, setup: Setup, scores: ClassScores
    ) -> tuple[Setup, np.ndarray]:
        """Return the setup at the chosen ``alpha``, and the penalties up to the chosen one."""
        codes = scores.codes
        counts = np.bincount(codes)
        if counts.min() < 2:
            raise ValueError(
                "sparsity='auto' needs at least two rows of every class to make folds, got "
                f"{counts.min()} of class {scores.classes[counts.argmin()]!r}: pass a number."
            )
        n_folds = affordable_folds(codes, FOLDS.n_folds) or FOLDS.n_folds
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
        shared = KnifeRegressorCV().get_params(deep=False).keys()
        given = {name: v for name, v in self.get_params(deep=False).items() if name in shared}
        search = KnifeRegressorCV(
            **given
            | {
                "alphas": None if isinstance(self.alpha, str) else self.alpha,
                "relax": False,
                "include_all": False,
                # Groups may be given by names of columns, which the search does not see.
                "feature_groups": setup.data.grouping,
                "n_centers": setup.spec.n_centers,
                "cv": list(folds.split(codes, codes)),
                "random_state": seed,
            }
        )
        sample, _ = setup.data.rows.load()
        search.fit(sample.X, scores.targets, sample_weight=scores.sample_weight)
        grid = search.path_.sparsities
        return setup.with_alpha(search.alpha_), grid[grid <= search.sparsity_ * (1.0 + 1e-12)]

    def _set_fitted(self, found: Discriminants) -> Self:
        """Set every fitted attribute."""
        super()._set_fitted(found)
        self.classes_, self.priors_ = found.scores.classes, found.scores.priors
        self.eigenvalues_, self.scalings_ = found.shares, found.scalings
        self.alpha_ = found.setup.spec.alpha
        return self

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
    refused = ("sparsity", "n_features_to_select", "weights")
    refuse_options("knife_discriminant_path", options, *refused)
    if isinstance(alpha, str):
        raise ValueError(
            f"alpha must be a number along a path, got {alpha!r}: take the alpha_ that "
            "KnifeDiscriminant(alpha='auto', sparsity='auto') finds."
        )
    grid = check_sparsities(sparsities)
    estimator = KnifeDiscriminant(kernel=kernel, alpha=alpha, **options)
    estimator.set_callbacks(*callbacks)
    path = run_path(estimator, partial(estimator._open_path, X, y, sample_weight), grid)
    # The setup is that of a regression, whose targets stand for classes.
    return replace(path, task="classification")
