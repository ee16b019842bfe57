"""The two estimators: scikit-learn's interface around fits, selections, effects, predictions."""

from abc import ABC
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from kernelknife._base import (
    KernelPredictor,
    ProbabilityMethod,
    open_data,
    with_column_numbers,
)
from kernelknife._engine import FitSpec, fit, set_up
from kernelknife._engine.data import TrainingData, refuse_lazy_rows
from kernelknife._engine.data.opening import check_sample_weight
from kernelknife._engine.policy import default_loss, task_of
from kernelknife._error_rates import fit_calibrated
from kernelknife._offsets import OffsetClassification, OffsetPrediction, known_scores
from kernelknife._tuning.probabilities import (
    held_out_scores,
    learn_probabilities,
    learns_probabilities,
)
from kernelknife._tuning.splits import make_splitter
from kernelknife._utils.progress import root_progress
from kernelknife._utils.threads import limited_blas
from kernelknife._utils.versions import with_callbacks
from kernelknife.inspection.substitutes import Substitutes, find_substitutes

__all__ = ["BaseKnife", "KnifeClassifier", "KnifeRegressor"]


class BaseKnife(KernelPredictor, ABC):
    """What the estimators of every kind of target share."""

    def __init__(
        self,
        kernel: Any = "rbf",
        loss: Any = None,
        *,
        alpha: float = 1.0,
        sparsity: float | str = 1.0,
        n_permutations: int = 20,
        level: float = 0.05,
        n_features_to_select: int | None = None,
        relax: bool = False,
        learn_weights: bool = True,
        class_weight: Any = None,
        probability: str | None = None,
        solver: str = "eliminate",
        start: Any = "auto",
        n_starts: int = 0,
        standardize: bool = True,
        missing: str = "indicator",
        fit_intercept: bool = True,
        feature_groups: Any = None,
        feature_costs: Any = None,
        always_keep: Any = None,
        adjust_for: Any = None,
        n_centers: int | str | None = "auto",
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
        self.n_permutations = n_permutations
        self.level = level
        self.n_features_to_select = n_features_to_select
        self.relax = relax
        self.learn_weights = learn_weights
        self.class_weight = class_weight
        self.probability = probability
        self.solver = solver
        self.start = start
        self.n_starts = n_starts
        self.standardize = standardize
        self.missing = missing
        self.fit_intercept = fit_intercept
        self.feature_groups = feature_groups
        self.feature_costs = feature_costs
        self.always_keep = always_keep
        self.adjust_for = adjust_for
        self.n_centers = n_centers
        self.centers = centers
        self.refresh_centers = refresh_centers
        self.memory_budget = memory_budget
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, sample_weight: Any, known: Any = None) -> Self:
        spec = FitSpec.from_estimator(self, offset=known is not None)
        data = open_data(self, X, y, sample_weight, spec, known)
        rows = data.rows.n_counted if self.n_jobs is None else 0
        with limited_blas(rows), root_progress(self, total=None) as progress:
            result = (fit_calibrated if spec.calibrated else fit)(spec, data, progress)
        self._set_fitted(result)
        self._learn_probabilities(data, spec, X, y, sample_weight, known)
        if not result.converged:
            result.warn_not_converged(type(self).__name__)
        return self

    def _learn_probabilities(
        self, data: TrainingData, spec: FitSpec, X: Any, y: Any, s: Any, known: Any
    ) -> None:
        """Learn probabilities, where they are asked for and the loss has none."""
        self.__dict__.pop("probability_map_", None)  # of an earlier fit
        if not learns_probabilities(getattr(self, "probability", None), spec):
            return
        refuse_lazy_rows(X, "probability")
        table, index = data.rows.load()
        y = y.toarray() if issparse(y) else np.asarray(y)
        labels = y.ndim == 2 and y.shape[1] > 1
        y, s = (y if labels else y.ravel())[index], check_sample_weight(s, len(y))[index]
        codes = y if labels else np.unique(y, return_inverse=True)[1]
        splitter = make_splitter(None, codes, not labels, None, spec.seed)
        splits = list(splitter.split(table.X, codes))
        spec = with_column_numbers(spec, data.rows.names, data.n_features)
        with limited_blas():
            offset = None if known is None else known[index]
            scores = held_out_scores(spec, splits, table.X, y, s, offset)
        tested = np.concatenate([test for _, test in splits])
        self._set_probabilities(
            learn_probabilities(scores, codes[tested], s[tested], str(self.probability))
        )

    def substitutes(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        exposure: Any = None,
        n_candidates: int = 8,
        folds: Any = 5,
        random_state: int = 0,
    ) -> Substitutes:
        """Find columns that could take the place of the selected ones.

        Each selected column is removed, together with selected columns of the same information, and
        the model is solved again from where it is with nothing and with each of a few
        candidates in its place: columns that are correlated with it, and columns that the gradient
        asks for. All of these models are fitted on some folds and judged on another one, and the
        judged rows do not help to find candidates. Beyond 50 selected columns the heaviest are
        looked at.

        Parameters
        ----------
        X, y, sample_weight, offset, exposure : see :meth:`fit`
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
        Substitutes
            One place for every selected column.
        """
        check_is_fitted(self)
        if not self.learn_weights:
            return Substitutes(())  # every column is in use, and none is left to stand in
        known = None
        if offset is not None or exposure is not None:
            known = known_scores(offset, exposure, X, default_loss(self.loss, task_of(self)))
        spec = FitSpec.from_estimator(self, offset=known is not None)
        data = open_data(clone(self), X, y, sample_weight, spec, known)
        if data.n_features != self.n_features_in_:
            raise ValueError(
                f"X has {data.n_features} columns, the estimator was fitted on "
                f"{self.n_features_in_}."
            )
        return find_substitutes(
            set_up(spec, data),
            data.weight_values(self.weights_),
            0.0 if self.relax else self.sparsity_,
            n_candidates=n_candidates,
            folds=folds,
            random_state=random_state,
        )


class KnifeRegressor(OffsetPrediction, RegressorMixin, BaseKnife):
    """Kernel regression that finds which features matter.

    A weight between 0 and 1 sits on every feature inside a kernel and is learned together
    with the kernel model; most weights become exactly zero.

    Parameters
    ----------
    kernel : str or Kernel, default="rbf"
        "rbf" is one joint function of the selected columns, "additive" a sum of separate
        effects, "anova" such a sum with interactions of pairs. Also "joint", "linear",
        "polynomial", "laplace", "matern", "rational_quadratic", "sigmoid", or an object from
        :mod:`kernelknife.kernels`.
    loss : str or Loss, default=None
        "squared" (what None stands for), "huber"; "quantile" or "expectile", by default the median
        and the mean; "poisson" or "negative_binomial" for counts, "gamma" for positive amounts,
        "tweedie" for amounts that may be zero; or an object from :mod:`kernelknife.losses`, such as
        ``QuantileLoss(0.9)``. The losses of counts and amounts have a logarithmic link, and
        predictions are on the scale of y.
    alpha : float, default=1.0
        Penalty on the squared norm of the model, as in ``KernelRidge``.
    sparsity : float, "auto" or "calibrated", default=1.0
        Penalty on the sum of the weights; the larger, the fewer features. It is weighed against
        a sum over rows, so that a given number means less and less as the rows grow. "auto" means
        the same at any number of rows: 0.05 per row, and for linear and additive kernels
        ``log(n_features) / alpha`` per row. "calibrated" finds it by
        permutations of the target: features are selected that remain active on the path beyond the
        last one of nearly every permuted target. The penalty that was used is
        ``sparsity_``.
    n_permutations, level : int and float, default=20 and 0.05
        Of ``sparsity="calibrated"``: a feature is selected if its adjusted p-value is at most
        ``level``. No p-value is below ``1 / (n_permutations + 1)``.
    n_features_to_select : int, default=None
        Exactly this many features (or groups) instead of a ``sparsity``, taken from the
        feature path.
    relax : bool, default=False
        Whether to refit the model without the penalty on the weights, once that has selected
        the features: the selection stays, the weights are no longer shrunk.
    learn_weights : bool, default=True
        False keeps the weights of ``start``, equal ones unless it gives others: a kernel model
        of all columns, to compare with.
    class_weight, probability : None
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
        Standardize the columns of X, and y, so that units do not matter.
    missing : {"indicator", "mean", "error"}, default="indicator"
        What becomes of gaps in X (NaN, None, ``pandas.NA``). "indicator" puts the mean in their
        place and an indicator beside it, which has the weight of the column: a gap may then mean
        something. A column without gaps in training has no indicator, and a gap in a later row is
        the mean there. "mean" never has an indicator, and "error" refuses gaps. What is needed is
        learned from the training rows, inside every fold. Infinite values are always refused.
    fit_intercept : bool, default=True
        Whether the model has a constant that is not penalized.
    feature_groups : array-like of shape (n_features,), dict, "correlated" or \
CorrelatedGroups, default=None
        Columns that share one weight, such as the one-hot columns of one variable: a label
        per column, or a mapping from group names to lists of columns. "correlated" makes groups
        of columns whose rank correlation is at least 0.9; for another threshold or similarity
        pass :class:`kernelknife.CorrelatedGroups`.
    feature_costs : array-like of shape (n_features,), default=None
        Factors of the penalty on each column's weight.
    always_keep : array-like of str, int or bool, or callable, default=None
        Columns that are never dropped, by name, number or mask, or a function of the data frame
        that returns their names, such as ``sklearn.compose.make_column_selector``. Their weights
        cost nothing, are learned as all others, and stay above zero.
    adjust_for : array-like of str, int or bool, or callable, default=None
        Columns that the kernel does not see, such as age, sex or batch: they have a linear part
        that nothing penalizes, beside the intercept, in all models, paths and folds. A column of
        levels is given as zeros and ones, without one of its levels.
    n_centers : int, None or "auto", default="auto"
        Build the model on so many centers instead of on all rows: time and memory no longer grow
        with the cube and the square of the rows. None is the exact method where it fits. "auto" is
        the exact method up to 1,000 rows, or 3,000 for kernels that make the problem convex, and
        300 to 500 centers beyond, as in cross-validation. A linear kernel takes at least as many as
        there are columns, or rows where these are fewer.
    centers : {"kmeans++", "uniform", "leverage"} or array-like of shape (m, p), \
default="kmeans++"
        How to choose the centers, or the centers themselves.
    refresh_centers : bool, default=False
        Whether ``fit`` chooses them anew in the geometry of the weights once these are found.
        Paths, given centers and an exact number of features keep theirs.
    memory_budget : float, default=2**31
        Most bytes of a kernel matrix of all rows; beyond, 1,000 centers are used, with a
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
        The model: numbers of the rows with a coefficient (of the given centers, where these
        were given), those rows in the selected columns (standardized), coefficients,
        intercepts.
    objective_ : float
        Objective at the returned model, recomputed from it, with the penalty on the weights
        even where these were refitted without it. With centers it includes a ridge
        on the coefficients of ``1e-11`` times the loss's largest second derivative, the total
        sample weight and the mean squared diagonal of the kernel, which keeps the normal
        equations definite.
    history_ : ndarray
        Objective by iteration, from the best start; it never rises.
    starts_ : list of (str, ndarray)
        Name and history of every start.
    searched_products_ : dict
        In how many rows products of 2 and of 3 columns were searched for pure interactions, 0 where
        there are too many columns; empty for convex kernels and for a ``start`` of your own.
    n_iter_, n_factorizations_ : int
        Steps from the best start, and factorizations of the coefficient system in all.
    converged_ : bool
        Whether the weights and the coefficients satisfy their optimality conditions to ``tol``.
        For the linear and the additive kernel, which are convex, the minimum is then the global
        one, certified by ``kkt_residual_``, and needs no starts; for the others it is a local
        one, the best of several starts.
    kkt_residual_ : float
        How far the weights are from a stationary point; it has no units.
    sparsity_ : float
        The penalty of the returned model.
    adjusted_coef_ : ndarray of shape (n_adjusted, n_outputs)
        Of the standardized columns that vary, on the scale of the scores; only with ``adjust_for``.
        A column with gaps has a second row, for them.
    p_value_ : float
        Only with ``sparsity="calibrated"``, as the next three: the permutation p-value of the
        statement that the target has nothing to do with any column.
    adjusted_p_values_ : ndarray of shape (n_features,)
        Share of the targets, permuted ones and the given one, whose strongest column of noise is at
        least as strong as this one. It claims that there is something, and that the column is
        stronger than the strongest of noise: weak control of the family-wise error, exact where no
        column matters and approximate where others do. It is not the p-value of the column given
        the others: of columns with the same information, one may have a small value and the others
        large ones. NaN for columns that cost nothing.
    null_sparsities_ : ndarray of shape (n_permutations,)
        Penalty at which the last feature leaves the path of every permuted target. Paths that are
        decided end early, so that none is above the last one of the given target.
    n_steps_ : int
        How many times features were compared with noise: after each step in which some entered,
        what they leave unexplained is permuted, and those outside are compared once more.
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

    Counts, of rows that were observed for different times:

    >>> years = rng.uniform(1, 5, size=80)
    >>> counts = rng.poisson(years * np.exp(X[:, 2]))
    >>> model = KnifeRegressor(loss="poisson", sparsity=20.0).fit(X, counts, exposure=years)
    >>> model.get_support(indices=True)
    array([2])
    """

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, exposure: Any = None
    ) -> Self:
        """Find the weights and fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Or a memory map, a device array, a Dask collection, or the path of Parquet files.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            For Parquet files the name of the target's column.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the loss; a row of weight 2 counts as two rows. For Parquet
            files the name of a column.
        offset : array-like of shape (n_samples,), default=None
            Known part of every row's prediction, for a loss with a logarithmic link of its
            logarithm. For Parquet files the name of a column.
        exposure : array-like of shape (n_samples,), default=None
            For how long or how much a row was observed: the prediction is proportional to it. It is
            an offset, its logarithm, for losses with a logarithmic link. For Parquet files the name
            of a column.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight, known_scores(offset, exposure, X, self._loss()))

    def predict(self, X: Any, offset: Any = None, exposure: Any = None) -> Any:
        """Predict the target, on its own scale.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Or any other kind of rows that ``fit`` takes.
        offset, exposure : array-like of shape (n_samples,), default=None
            See :meth:`fit`; without them predictions are those at an offset of zero or an exposure
            of one.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            One prediction per row, or one per quantile.
        """
        check_is_fitted(self)
        known = self._known_scores(X, offset, exposure)
        return self._apply(partial(self._model.predict, offset=known), X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class KnifeClassifier(OffsetClassification, ClassifierMixin, BaseKnife):
    """Kernel classification that finds which features matter.

    A weight between 0 and 1 sits on every feature inside a kernel and is learned together
    with the kernel model; most weights become exactly zero. More than two classes get one
    score column each (one class against the rest) and share one weight vector. So do several
    labels, an indicator matrix as y, of which a row may have several or none: there is one model
    per label, and one selection for all.

    Parameters
    ----------
    kernel : str or Kernel, default="rbf"
        See :class:`KnifeRegressor`.
    loss : str or Loss, default=None
        "squared_hinge" (what None stands for), "huberized_hinge", "hinge", "logistic", or an
        object from :mod:`kernelknife.losses`.
    alpha : float, default=1.0
        Penalty on the squared norm of the model; ``SVC``'s ``C`` is ``1 / (2 alpha)``.
    sparsity, n_permutations, level, n_features_to_select : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    relax, learn_weights : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    class_weight : dict or "balanced", default=None
        Factors of the sample weights by class. "balanced" gives all classes the same total, so
        that a rare class counts as much as a frequent one. Not for lazy rows, which take
        ``sample_weight``.
    probability : {None, "sigmoid", "isotonic"}, default=None
        How probabilities are learned where the loss has none of its own: by a sigmoid of the scores
        (Platt's method) or by isotonic regression, from the scores that models of folds give to the
        rows that they have not seen. It takes as many more fits as there are folds, five, or ten
        below 200 rows. The most probable class need not be the predicted one.
    solver, start, n_starts : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    standardize, missing, fit_intercept, feature_groups, feature_costs : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    always_keep, adjust_for : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    n_centers, centers, refresh_centers, memory_budget : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    max_iter, tol, n_jobs, random_state : as in KnifeRegressor
        See :class:`KnifeRegressor`.

    Attributes
    ----------
    classes_ : ndarray
        The classes, or the numbers of the labels; all other attributes are those of
        :class:`KnifeRegressor`.

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Self:
        """Find the weights and fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Or a memory map, a device array, a Dask collection, or the path of Parquet files.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            The class of every row, or an indicator matrix of 0 and 1 with a column per label; for
            Parquet files the name of the target's column.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the loss; a row of weight 2 counts as two rows. For Parquet
            files the name of a column.
        offset : array-like of shape (n_samples,), default=None
            Known part of the score of the second class, or of every label; of log-odds for the
            logistic loss. For two classes or several labels, and rows in memory.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight, known_scores(offset, None, X, self._loss()))

    def predict(self, X: Any, offset: Any = None) -> Any:
        """Predict the class of every row, or 0 and 1 for every label.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Or any other kind of rows that ``fit`` takes.
        offset : array-like of shape (n_samples,), default=None
            See :meth:`fit`; without it, predictions are those at an offset of zero.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_labels)
            One prediction per row.
        """
        check_is_fitted(self)
        known = self._known_scores(X, offset)
        return self._apply(partial(self._model.predict, offset=known), X)

    def decision_function(self, X: Any, offset: Any = None) -> Any:
        """Return the scores: the second class's for two classes, else one column per class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.
        offset : array-like of shape (n_samples,), default=None
            See :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The scores; the larger, the surer the class.
        """
        check_is_fitted(self)
        known = self._known_scores(X, offset)
        return self._apply(partial(self._model.decisions, offset=known), X)

    @ProbabilityMethod
    def predict_proba(self, X: Any, offset: Any = None) -> Any:
        """Return class probabilities, for a loss that has them (logistic) or with ``probability``.

        Beyond two classes they are those of each class against the rest, normalized. Of labels
        each has its own probability.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.
        offset : array-like of shape (n_samples,), default=None
            See :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One probability per class; those of a row add up to 1. Or one per label.
        """
        check_is_fitted(self)
        known = self._known_scores(X, offset)
        if hasattr(self, "probability_map_"):
            mapped = partial(self._model.mapped, after=self.probability_map_, offset=known)
            return self._apply(mapped, X)
        chances = partial(self._model.probabilities, loss=self._loss(), offset=known)
        return self._apply(chances, X)
