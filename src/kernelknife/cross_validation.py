"""Choose the kernel, both penalties and what becomes of the weights by cross-validation.

The grid of weight penalties of a kernel with an absorbing zero depends on the number of rows and on
no data. In a fold of other size a penalty must mean the same, and what it means is which noise it
keeps out. What a useless feature gains by fitting noise grows much more slowly than the rows, and
over the step from a fold to all rows it is nearly the same. A non-linear kernel needs a weight of
fixed size to take that gain, so the fold uses the same penalty. A linear or additive kernel needs a
weight that shrinks like one over the rows, so the fold uses it in proportion to its rows.

Everything else that a fold's fit uses, standardization, starts and paths, comes from its
training rows alone.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from kernelknife._base import ProbabilityMethod
from kernelknife._engine.data.opening import check_class_weight
from kernelknife._fold_models import IntervalPrediction
from kernelknife._offsets import OffsetClassification
from kernelknife._search_base import BaseKnifeCV, models_of_folds
from kernelknife._utils.versions import with_callbacks
from kernelknife.estimators import KnifeClassifier, KnifeRegressor

__all__ = ["BaseKnifeCV", "KnifeClassifierCV", "KnifeRegressorCV", "models_of_folds"]


class KnifeRegressorCV(IntervalPrediction, RegressorMixin, BaseKnifeCV):
    """:class:`KnifeRegressor` with kernel and penalties chosen by cross-validation.

    Parameters
    ----------
    kernel : str, Kernel or list of them, default="auto"
        The folds choose among several. "auto" is the list of "linear" (straight lines), "additive"
        (a sum of separate effects), "anova" (with interactions of pairs) and "rbf" (one joint
        function).
    loss : str or Loss, default=None
        See :class:`KnifeRegressor`.
    alphas : float or array-like, default=None
        Penalties on the norm of the model to try. None begins with 0.1 and 1 (0.1 and 10 where
        weights enter linearly) and goes on by factors of ten on the side that does better, until
        that no longer pays; ``alphas_`` tells them after a fit.
    sparsities : int or array-like, default=25
        Number of weight penalties, or the increasing penalties themselves. A fold uses the
        same ones, or with a linear or additive kernel in proportion to its rows: see the notes.
    n_permutations, level : as in KnifeRegressor
        Of ``rule="calibrated"``.
    n_features_to_select : int, default=None
        Exactly this many features (or groups): the folds then choose kernel and ``alpha`` alone,
        and ``sparsities``, ``relax`` and ``include_all`` have no effect.
    relax : {"auto", True, False}, default="auto"
        Whether the model of the selected features is refitted without the penalty that has
        selected them. "auto" lets the folds decide; models of more than 50 features are then not
        refitted.
    include_all : bool, default=True
        Whether the model of all features with equal weights is compared too. Models that keep
        all features, with these or other weights, are then chosen only where they beat the best
        selection by more than one standard error of the difference over the folds. With three
        classes or more and fewer than 15 rows per class the best of many selections is chance:
        what other folds select is compared there, and half of a standard error decides either way.
    rule : {"min", "1se", "calibrated"}, default="min"
        The best mean score, or the fewest features within one standard error of it. Scores within
        a quarter of a standard error of the best count as equally good, and the fewest features
        decide. Features are counted over all folds together. "calibrated" lets permutations of the
        target decide how many features there are, as ``sparsity="calibrated"`` of
        :class:`KnifeRegressor` does, with a ``level`` that holds for all kernels together; the
        folds then choose the kernel, and ``alpha`` of the refitted model, and ``sparsities``,
        ``relax`` and ``include_all`` have no effect.
    scoring : str, callable or None, default=None
        None is the mean squared error, or the accuracy for classes (for labels its mean over them);
        of a loss with a score of its own that score, such as the mean deviance of counts.
    cv : int, splitter or iterable, default=None
        None is five folds of shuffled rows, stratified for classes; below 200 rows, where one
        split into folds is mostly chance, twice five. Where the rarer of two classes has fewer
        than five rows, as many folds as these; the rows of three classes or more are dealt to five
        all the same (not with a ``scoring``, which may need every class in every fold). A class of
        a single row, or with fewer rows than a number of folds that is given, cannot be judged: all
        folds train on its rows. With ``groups``, None and a number keep them together.
    nested : {"others", "full"}, default="others"
        What ``nested_scores_`` are. "others" scores in every fold what the other folds select,
        which costs nothing; they have trained on that fold's rows, so that a little optimism is
        left. "full" searches once more inside the training rows of every fold: an honest estimate,
        at about as many more searches as there are folds.
    class_weight, probability : None
        For :class:`KnifeClassifierCV` only; a regressor refuses everything else.
    solver, start, n_starts, standardize, missing, fit_intercept, feature_groups, feature_costs, \
always_keep, adjust_for : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    n_centers : int, None or "auto", default="auto"
        "auto" is the exact method up to 1,000 rows, with the linear and the additive kernel up to
        3,000; beyond, 300 centers in the search. The chosen model has as many up to 3,000 rows,
        so that it is what the folds have judged, and beyond one for ten rows, up to 500. On a table
        longer than ``search_rows`` it is fitted once more to all rows; ``path_``, which only leads
        there, then has the tolerance of a fold, at least 0.001. A number holds for everything, and
        None is the exact method where it fits.
    centers, memory_budget : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    search_rows : int or None, default=3000
        Rows that the search looks at, drawn at random, by class where there are classes; the chosen
        model is fitted to all rows. None looks at all rows, and so does a splitter given as
        ``cv``.
    max_iter, tol : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    n_jobs : int, default=None
        Folds and kernels run in parallel through joblib, on any of its backends, each on one
        BLAS thread; the answer does not depend on it.
    random_state : as in KnifeRegressor
        See :class:`KnifeRegressor`.

    Attributes
    ----------
    kernel_ : Kernel
        The chosen kernel, and ``kernel_name_`` its name in ``cv_results_``.
    alpha_, sparsity_ : float
        The chosen penalties, those of a point of ``path_``. Where the search has looked at some of
        the rows only, ``best_estimator_`` of a linear or additive kernel has the ``sparsity_`` in
        proportion to all rows.
    weighting_ : {"penalized", "relaxed", "equal"}
        What has become of the weights: as the penalty leaves them, refitted without it, or all
        alike.
    alphas_ : ndarray
        The penalties on the norm that were tried with the chosen kernel.
    weights_ : ndarray of shape (n_features,)
        Weights of the features in the chosen model.
    best_estimator_ : KnifeRegressor
        Fitted on all rows.
    best_score_ : float
        Mean score over the folds of the chosen setting. The best of many has a selection bias: see
        ``nested_scores_``.
    nested_scores_ : ndarray of shape (n_folds,)
        Every fold's score of what the other folds choose, or with ``nested="full"`` of what a
        search of its training rows alone chooses. Its mean estimates the error of the whole
        search.
    score_name_ : str
        What is scored.
    splits_ : list of (ndarray, ndarray)
        Training and test rows of every fold.
    feature_groups_ : dict
        From the name of a group to the names of its columns; only with ``feature_groups``.
    selection_frequency_ : ndarray of shape (n_features,)
        Share of the folds in which a feature is selected at the chosen penalties.
    path_ : PathResult
        On the rows that the search has looked at, with the chosen ``alpha_``.
    cv_results_ : dict of ndarray
        One entry per setting: "kernel", "alpha", "weighting" and "sparsity", their scores,
        "n_folds" that have judged them, "n_training_rows" of such a fold, "mean_n_features" that a
        fold selects, and "n_distinct_features" that all folds select together. Settings of kernels
        and alphas that a first look has ruled out have fewer penalties and perhaps fewer rows and
        folds; they are not "followed" and cannot be chosen.
    p_value_, adjusted_p_values_, null_sparsities_, n_steps_ : as in KnifeRegressor
        Only with ``rule="calibrated"``.
    n_paths_ : int
        Paths that were followed in the folds.
    n_factorizations_ : int
        Factorizations of the coefficient system in all folds and on all rows; with
        ``rule="calibrated"`` without those of permuted targets.
    choices_ : dict of int
        What each rule would choose, as indices into ``cv_results_``.

    Notes
    -----
    All kernels and alphas get a first look: a third of the penalties, on at most 600 training
    rows of at most five folds, or of as many folds as have 800 test rows. The two that do best are
    then followed on all folds, and the best of everything on them is chosen. They have all
    penalties that the user gives, or of a number of ``sparsities`` those from just below the best
    of the first look on.

    Where folds cannot tell penalties apart, because refitted models of the same features are the
    same, the one is taken whose path on all rows has most nearly as many features as the folds.

    What a useless feature gains by fitting noise grows much more slowly than the rows, and over the
    step from a fold to all rows it is nearly the same. A non-linear kernel needs a weight of fixed
    size to take that gain, so a penalty keeps out the same noise in a fold as in all rows. A linear
    or additive kernel needs one that shrinks like one over the rows, so there the penalty is taken
    in proportion to them.

    Examples
    --------
    >>> from kernelknife import KnifeRegressorCV
    >>> from kernelknife.datasets import make_sinusoidal
    >>> X, y = make_sinusoidal(100, 5, random_state=0)
    >>> model = KnifeRegressorCV(["additive", "rbf"], rule="1se").fit(X, y)
    >>> model.get_support(indices=True)
    array([0, 1, 2, 3, 4])
    """

    _single = KnifeRegressor
    _default_scoring = "neg_mean_squared_error"

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        offset: Any = None,
        exposure: Any = None,
    ) -> Self:
        """Choose by cross-validation, then fit what was chosen to all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Target of every row.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, in the loss and in the scores.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, such as the samples of one patient, stay in one fold. A
            splitter given as ``cv`` gets them, and is refused if it tears a group apart.
        offset, exposure : array-like of shape (n_samples,), default=None
            See :meth:`KnifeRegressor.fit`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight, groups, offset, exposure)

    def predict(self, X, offset=None, exposure=None):
        """Predict with the chosen model, on the scale of y.

        Parameters
        ----------
        X, offset, exposure : as in KnifeRegressor.predict
            See :meth:`KnifeRegressor.predict`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            One prediction per row, or one per quantile.
        """
        return self._chosen.predict(X, offset, exposure)

    def _class_codes(self, y):
        return None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class KnifeClassifierCV(OffsetClassification, ClassifierMixin, BaseKnifeCV):
    """:class:`KnifeClassifier` with kernel and penalties chosen by cross-validation.

    Parameters
    ----------
    kernel, loss, alphas, sparsities, n_permutations, level, n_features_to_select, relax, \
include_all, rule, scoring, cv, nested : as in KnifeRegressorCV
        See :class:`KnifeRegressorCV`; losses are those of :class:`KnifeClassifier`.
    class_weight : as in KnifeClassifier
        See :class:`KnifeClassifier`. With class_weight="balanced",
        ``scoring="balanced_accuracy"`` chooses in the same spirit.
    probability : {None, "sigmoid", "isotonic"}, default=None
        How probabilities are learned where the loss has none of its own, from the scores that the
        models of the folds give to their test rows; see :class:`KnifeClassifier`.
    solver, start, n_starts, standardize, missing, fit_intercept, feature_groups, feature_costs, \
always_keep, adjust_for : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    n_centers, centers, memory_budget, search_rows, max_iter, tol, n_jobs, random_state : as in \
KnifeRegressorCV
        See :class:`KnifeRegressorCV`.

    Attributes
    ----------
    classes_ : ndarray
        The classes; all other attributes are those of :class:`KnifeRegressorCV`.

    Examples
    --------
    >>> from kernelknife import KnifeClassifierCV
    >>> from kernelknife.datasets import make_skin_of_orange
    >>> X, y = make_skin_of_orange(100, 6, random_state=0)
    >>> model = KnifeClassifierCV("rbf", alphas=[0.1, 1.0], rule="1se").fit(X, y)
    >>> model.get_support(indices=True)
    array([0, 1, 2, 3])
    """

    _single = KnifeClassifier
    _default_scoring = "accuracy"

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, offset: Any = None
    ) -> Self:
        """Choose by cross-validation, then fit what was chosen to all rows.

        Parameters
        ----------
        X, y, sample_weight, groups : as in KnifeRegressorCV.fit
            See :meth:`KnifeRegressorCV.fit`; y holds the class of every row.
        offset : as in KnifeClassifier.fit
            See :meth:`KnifeClassifier.fit`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight, groups, offset)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _class_codes(self, y):
        if y.ndim == 2:  # labels, which folds cannot all be stratified by
            self.classes_ = np.arange(y.shape[1])
            return None
        self.classes_, codes = np.unique(y, return_inverse=True)
        check_class_weight(self.class_weight, self.classes_)
        return codes

    def predict(self, X, offset=None):
        """Predict with the chosen model.

        Parameters
        ----------
        X, offset : as in KnifeClassifier.predict
            See :meth:`KnifeClassifier.predict`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_labels)
            One prediction per row.
        """
        return self._chosen.predict(X, offset)

    def decision_function(self, X, offset=None):
        """Return the scores of the chosen model, as :meth:`KnifeClassifier.decision_function`.

        Parameters
        ----------
        X, offset : as in KnifeClassifier.predict
            See :meth:`KnifeClassifier.predict`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The scores; the larger, the surer the class.
        """
        return self._chosen.decision_function(X, offset)

    @ProbabilityMethod
    def predict_proba(self, X, offset=None):
        """Return class probabilities of the chosen model: its loss's, or by ``probability``.

        Parameters
        ----------
        X, offset : as in KnifeClassifier.predict
            See :meth:`KnifeClassifier.predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One probability per class; those of a row add up to 1.
        """
        return self._chosen.predict_proba(X, offset)
