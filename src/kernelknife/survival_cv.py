"""Cox's proportional hazards with the kernel and both penalties chosen by cross-validation."""

from typing import Any, Self

import numpy as np

from kernelknife._engine.data.survival import check_survival
from kernelknife._engine.policy import FOLDS, is_counted
from kernelknife._utils.versions import with_callbacks
from kernelknife.cross_validation import BaseKnifeCV
from kernelknife.survival import KnifeSurvival, SurvivalMethods, SurvivalTable, without_columns

__all__ = ["KnifeSurvivalCV"]


def _score_concordance(
    estimator: KnifeSurvival, X: Any, y: Any, sample_weight: Any = None
) -> float:
    return estimator.score(X, y, sample_weight)


class KnifeSurvivalCV(SurvivalMethods, BaseKnifeCV):
    """:class:`KnifeSurvival` with kernel and penalties chosen by cross-validation.

    Parameters
    ----------
    kernel : as in KnifeRegressorCV
        See :class:`KnifeRegressorCV`.
    ties : as in KnifeSurvival
        See :class:`KnifeSurvival`.
    alphas : as in KnifeRegressorCV
        See :class:`KnifeRegressorCV`; None begins with 1 and 10 in place of 0.1 and 1.
    sparsities, n_permutations, level, n_features_to_select : as in KnifeRegressorCV
        See :class:`KnifeRegressorCV`.
    relax, include_all, rule : as in KnifeRegressorCV
        See :class:`KnifeRegressorCV`.
    scoring : "concordance", callable or None, default=None
        None is the partial likelihood that test rows add to that of the training rows (Verweij and
        van Houwelingen), per test row. It notices how far apart risks are and not only their order,
        so that it chooses better than Harrell's concordance.
    cv : int, splitter or iterable, default=None
        As in :class:`KnifeRegressorCV`, with as many events in every fold.
    nested : as in KnifeRegressorCV
        See :class:`KnifeRegressorCV`.
    solver, start, n_starts, standardize, missing : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    feature_groups, feature_costs, always_keep, adjust_for : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    n_centers, centers, memory_budget, search_rows : as in KnifeRegressorCV
        See :class:`KnifeRegressorCV`.
    max_iter, tol, n_jobs, random_state : as in KnifeRegressorCV
        See :class:`KnifeRegressorCV`.

    Attributes
    ----------
    event_times_, baseline_, strata_ : as in KnifeSurvival
        See :class:`KnifeSurvival`; all other attributes are those of :class:`KnifeRegressorCV`.

    References
    ----------
    P. J. M. Verweij and H. C. van Houwelingen (1993), Cross-validation in survival analysis,
    Statistics in Medicine 12, 2305-2314.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeSurvivalCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 6))
    >>> time = rng.exponential(np.exp(-2 * np.cos(2 * X[:, 0]) - X[:, 3]))
    >>> censored = rng.exponential(2.0, size=150)
    >>> y = np.column_stack([np.minimum(time, censored), time <= censored])
    >>> model = KnifeSurvivalCV(["linear", "rbf"], alphas=1.0, rule="1se").fit(X, y)
    >>> model.kernel_name_, model.get_support(indices=True)
    ('rbf', array([0, 3]))
    """

    _single = KnifeSurvival
    _default_scoring = "partial_likelihood"

    def __init__(
        self,
        kernel="auto",
        *,
        ties="efron",
        alphas=None,
        sparsities=25,
        n_permutations=20,
        level=0.05,
        n_features_to_select=None,
        relax="auto",
        include_all=True,
        rule="min",
        scoring=None,
        cv=None,
        nested="others",
        solver="eliminate",
        start="auto",
        n_starts=0,
        standardize=True,
        missing="indicator",
        feature_groups=None,
        feature_costs=None,
        always_keep=None,
        adjust_for=None,
        n_centers="auto",
        centers="kmeans++",
        memory_budget=2**31,
        search_rows=3000,
        max_iter=None,
        tol=1e-4,
        n_jobs=None,
        random_state=None,
    ):
        self.kernel = kernel
        self.ties = ties
        self.alphas = alphas
        self.sparsities = sparsities
        self.n_permutations = n_permutations
        self.level = level
        self.n_features_to_select = n_features_to_select
        self.relax = relax
        self.include_all = include_all
        self.rule = rule
        self.scoring = scoring
        self.cv = cv
        self.nested = nested
        self.solver = solver
        self.start = start
        self.n_starts = n_starts
        self.standardize = standardize
        self.missing = missing
        self.feature_groups = feature_groups
        self.feature_costs = feature_costs
        self.always_keep = always_keep
        self.adjust_for = adjust_for
        self.n_centers = n_centers
        self.centers = centers
        self.memory_budget = memory_budget
        self.search_rows = search_rows
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    loss = KnifeSurvival.loss

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        time: Any = None,
        event: Any = None,
        strata: Any = None,
        entry: Any = None,
    ) -> Self:
        """Choose by cross-validation, then fit what was chosen to all rows.

        Parameters
        ----------
        X, y, sample_weight : see :meth:`KnifeSurvival.fit`
            Rows, their times and events, and their weights.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, such as the samples of one patient, stay in one fold.
        time, event, strata, entry : see :meth:`KnifeSurvival.fit`
            Names of columns, or values.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        table = SurvivalTable.of(X, y, time=time, event=event, strata=strata, entry=entry)
        check_survival(table.y, np.ones(len(table.y)))
        self._fit(table.X, table.y, sample_weight, groups)
        self._set_table(table)
        return self

    def _find_scoring(self) -> Any:
        return _score_concordance if self.scoring == "concordance" else self.scoring

    def _class_codes(self, y: np.ndarray) -> np.ndarray:
        """Return the events, which are spread evenly over the folds.

        Every fold needs an event; censored rows it can do without.
        """
        event = (y[:, 1] > 0).astype(int)
        n_folds = self.cv if is_counted(self.cv) and self.cv is not None else FOLDS.n_folds
        n_events = int(event.sum())
        if self.cv is not None and is_counted(self.cv) and n_events < n_folds:
            raise ValueError(
                f"{n_folds} folds need as many observed events, got {n_events}: use fewer folds."
            )
        return event if len(event) - n_events >= n_folds else np.zeros_like(event)

    def _fitted_survival(self) -> KnifeSurvival:
        return self._chosen

    @property
    def event_times_(self) -> np.ndarray:
        """The distinct times of the observed events."""
        return self._chosen.event_times_

    @property
    def baseline_(self) -> Any:
        """Breslow's cumulative hazard of a risk score of zero, by stratum."""
        return self._chosen.baseline_

    def predict(self, X: Any) -> np.ndarray:
        """Predict the risk score: the logarithm of the hazard ratio to the mean training row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,)
            The higher, the earlier the event.
        """
        return self._chosen.predict(without_columns(X, self._named))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "survival"
        tags.target_tags.required = True
        return tags
