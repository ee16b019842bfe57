"""Selectors to compare with: sure independence screening, and elimination for kernel models.

Both are scikit-learn selectors, with the attributes ``ranking_`` and ``support_``.
"""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin, f_classif, r_regression
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelknife._engine.data import check_finite, measure_columns, prepare
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.objective.coefficients import solve_columns
from kernelknife._engine.objective.factors import DenseMatrix
from kernelknife._engine.policy import default_loss, infer_task, task_of_loss
from kernelknife._utils.checks import check_number
from kernelknife._utils.threads import limited_blas
from kernelknife.kernels import RBF, check_kernel
from kernelknife.kernels.forms import FORMS

__all__ = ["SIS", "KernelRFE"]


class _Ranker(SelectorMixin, BaseEstimator):
    """A selector that keeps the features of the best ranks."""

    def _get_support_mask(self):
        check_is_fitted(self)
        return self.support_

    def _prepare(self, X, y):
        """Return validated data, and set ``task_`` to what the target is taken for."""
        check_number(self.n_features_to_select, "n_features_to_select", low=1, integer=True)
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite=False)
        check_finite(X, getattr(self, "feature_names_in_", None))
        if self.n_features_to_select > X.shape[1]:
            raise ValueError(
                f"n_features_to_select={self.n_features_to_select} is more than the "
                f"{X.shape[1]} columns of X."
            )
        self.task_ = infer_task(y)
        if self.task_ == "classification" and len(np.unique(y)) < 2:
            raise ValueError("The target y has one class; at least two are needed.")
        return X, y

    def _publish(self, order):
        """Set ranking and support from the features in order of worth."""
        self.ranking_ = np.empty(len(order), dtype=int)
        self.ranking_[order] = np.arange(1, len(order) + 1)
        self.support_ = self.ranking_ <= self.n_features_to_select
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class SIS(_Ranker):
    """Sure independence screening: the features that go with the target one by one.

    Parameters
    ----------
    n_features_to_select : int, default=1
        Number of features to keep.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Absolute correlation with a numeric target, absolute t statistic between two classes,
        root of the F statistic between more; 0 for constant columns.
    ranking_ : ndarray of int of shape (n_features,)
        1 for the best feature.
    support_ : ndarray of bool of shape (n_features,)
        Which features are kept.
    task_ : {"regression", "classification"}
        What the target was taken for: texts, truth values and at most ten different whole
        numbers are classes.

    References
    ----------
    J. Fan and J. Lv (2008), Sure independence screening for ultrahigh dimensional feature
    space, Journal of the Royal Statistical Society B 70, 849-911.

    Examples
    --------
    >>> from baselines import SIS
    >>> from kernelknife.datasets import make_linear
    >>> SIS(n_features_to_select=2).fit(*make_linear(100, 5, random_state=0)).ranking_[:2]
    array([1, 2])
    """

    def __init__(self, n_features_to_select=1):
        self.n_features_to_select = n_features_to_select

    def fit(self, X, y):
        """Rank the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Target of every row.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = self._prepare(X, y)
        columns, _ = measure_columns(ArrayRows(X), standardize=True, center=True)
        Z = columns.take(X)
        if self.task_ == "classification":
            # With two classes F is the square of t.
            values = np.sqrt(f_classif(Z, y)[0])
        else:
            values = np.abs(r_regression(Z, y))
        self.scores_ = np.zeros(X.shape[1])
        self.scores_[columns.index] = values
        return self._publish(np.argsort(-self.scores_, kind="stable"))


class KernelRFE(_Ranker):
    """Recursive feature elimination for any kernel model.

    The model is fitted on the remaining features; the feature whose removal changes
    ``c' K c`` least, the coefficients ``c`` held, is dropped; and so on. This is the method as
    its authors define it for non-linear models, where ``sklearn.feature_selection.RFE``
    asks for coefficients that such models do not have.

    Parameters
    ----------
    n_features_to_select : int, default=1
        Number of features to keep.
    kernel : str or Kernel, default=None
        None is the Gaussian kernel with ``gamma`` one over the number of features.
    loss : str or Loss, default=None
        None is the squared loss for numbers and the squared hinge for classes.
    alpha : float, default=1.0
        Penalty on the squared norm of the model.
    step : int or list of (int, int), default=1
        Features dropped at a time. A list of pairs ``(above, step)`` drops ``step`` while more
        than ``above`` are left: ``[(500, 50), (100, 10), (0, 1)]`` drops 50, then 10, then 1.
    standardize : bool, default=True
        Standardize the columns before anything else.

    Attributes
    ----------
    ranking_ : ndarray of int of shape (n_features,)
        1 for the feature that would be dropped last. Elimination goes on to the last one, so
        the ranking does not depend on ``n_features_to_select``.
    support_ : ndarray of bool of shape (n_features,)
        Which features are kept.
    task_ : {"regression", "classification"}
        What the target was taken for: texts, truth values and at most ten different whole
        numbers are classes.

    References
    ----------
    I. Guyon, J. Weston, S. Barnhill and V. Vapnik (2002), Gene selection for cancer
    classification using support vector machines, Machine Learning 46, 389-422.

    Examples
    --------
    >>> from baselines import KernelRFE
    >>> from kernelknife.datasets import make_skin_of_orange
    >>> X, y = make_skin_of_orange(150, 6, random_state=0)
    >>> KernelRFE(4, kernel="polynomial").fit(X, y).get_support(indices=True)
    array([0, 1, 2, 3])
    """

    def __init__(
        self,
        n_features_to_select=1,
        *,
        kernel=None,
        loss=None,
        alpha=1.0,
        step=1,
        standardize=True,
    ):
        self.n_features_to_select = n_features_to_select
        self.kernel = kernel
        self.loss = loss
        self.alpha = alpha
        self.step = step
        self.standardize = standardize

    def fit(self, X, y):
        """Eliminate features one by one, or step by step.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Target of every row.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = self._prepare(X, y)
        check_number(self.alpha, "alpha", strict=True)
        schedule = self._schedule()
        kernel = RBF(gamma=1.0 / X.shape[1]) if self.kernel is None else check_kernel(self.kernel)
        loss = self._loss()
        prepared = prepare(ArrayRows(X, y), kernel, loss, standardize=self.standardize)
        sample, _ = prepared.rows.load()
        Z, Y, ones = prepared.columns.take(sample.X), sample.y, sample.s
        left, dropped = list(range(Z.shape[1])), []
        with limited_blas(len(X)):
            while len(left) > 1:
                change = self._changes(Z[:, left], Y, kernel, loss.surrogate or loss, ones)
                count = min(_step_at(schedule, len(left)), len(left) - 1)
                for i in sorted(np.argsort(change, kind="stable")[:count], key=change.__getitem__):
                    dropped.append(left[i])
                gone = set(dropped[-count:])
                left = [j for j in left if j not in gone]
        varying = prepared.columns.index
        best_first = varying[[*left, *reversed(dropped)]]
        constant = np.setdiff1d(np.arange(X.shape[1]), varying)
        return self._publish(np.concatenate([best_first, constant]))

    def _loss(self):
        """Return the loss, and set ``task_`` to that of a loss that is given."""
        self.task_ = task_of_loss(self.loss) or self.task_
        return default_loss(self.loss, self.task_)

    def _changes(self, Z, Y, kernel, loss, ones):
        """Return how much ``c' K c`` changes when each feature is removed."""
        form = FORMS[kernel.form]
        S = form.matrix(Z, Z, np.ones(Z.shape[1]))
        K = kernel.profile(S)
        k = Y.shape[1]
        risk = loss.bind(Y, ones, k)
        C = solve_columns(DenseMatrix(K), risk, k, self.alpha, ones[:, None]).C
        used = np.flatnonzero(C.any(axis=1))
        C, S, Z = C[used], S[np.ix_(used, used)], Z[used]
        product = C @ C.T
        whole = np.vdot(product, kernel.profile(S))
        changes = np.empty(Z.shape[1])
        one = np.ones(1)
        for j in range(Z.shape[1]):
            without = S - form.matrix(Z[:, [j]], Z[:, [j]], one)
            if kernel.translation_invariant:
                np.maximum(without, 0.0, out=without)  # a distance, but for rounding
            changes[j] = abs(whole - np.vdot(product, kernel.profile(without)))
        return changes

    def _schedule(self):
        """Return the pairs (above, step), the largest number first."""
        pairs = [(0, self.step)] if np.ndim(self.step) == 0 else list(self.step)
        for pair in pairs:
            if np.ndim(pair) != 1 or len(pair) != 2:
                raise ValueError("step must be an integer or a list of pairs (above, step).")
            check_number(pair[0], "step", integer=True)
            check_number(pair[1], "step", low=1, integer=True)
        return sorted(pairs, reverse=True)


def _step_at(schedule, n_left):
    """Return the step at ``n_left`` features, which never jumps past the next threshold."""
    for above, step in schedule:
        if n_left > above:
            return min(step, n_left - above)
    return 1
