"""The estimator for times until an event: Cox's proportional hazards with a kernel for the risk."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelknife._engine import Model, Setup
from kernelknife._engine.data import Rows
from kernelknife._engine.data.opening import refuse_rows_elsewhere
from kernelknife._engine.data.survival import check_survival, survival_columns
from kernelknife._engine.solvers import Solution
from kernelknife._utils.versions import with_callbacks
from kernelknife.estimators import BaseKnife, KnifeClassifier, KnifeRegressor
from kernelknife.inspection.substitutes import Substitutes
from kernelknife.losses import CoxLoss
from kernelknife.survival_metrics import concordance

__all__ = ["ESTIMATORS", "KnifeSurvival", "SurvivalMethods", "SurvivalTable", "without_columns"]


@dataclass(frozen=True)
class SurvivalTable:
    """A table whose times and events have been taken out of it.

    Attributes
    ----------
    X : array-like of shape (n_samples, n_features)
        Without the columns that were named.
    y : ndarray of shape (n_samples, 4)
        Time, event, code of the stratum and time of entry.
    strata : ndarray or None
        The label of every code; None without strata.
    named : tuple of str
        The columns that were taken out.
    """

    X: Any
    y: np.ndarray
    strata: np.ndarray | None
    named: tuple[str, ...]

    @classmethod
    def of(
        cls, X: Any, y: Any, *, time: Any, event: Any, strata: Any, entry: Any
    ) -> "SurvivalTable":
        """Return the table that the arguments of a fit make."""
        refuse_rows_elsewhere(X)
        if (time is None) != (event is None):
            given, missing = ("event", "time") if time is None else ("time", "event")
            raise ValueError(f"{given}= needs {missing}= beside it.")
        if y is None and time is None:
            raise ValueError(
                "A survival model requires y to be passed, but the target y is None: give times "
                "and events as y, or as time= and event=."
            )
        if y is not None and time is not None:
            raise ValueError(
                "Give the times and events either as y or as time= and event=: as y, a structured "
                "array of a truth value and a number, or two columns, time and event."
            )
        columns = {"time": time, "event": event, "strata": strata, "entry": entry}
        values = {
            name: _column(X, given, name) for name, given in columns.items() if given is not None
        }
        named = tuple(given for given in columns.values() if isinstance(given, str))
        if y is None:
            y = np.column_stack([_as_numbers(values[name], name) for name in ("time", "event")])
        table, labels = survival_columns(y), None
        if "strata" in values:
            labels, table[:, 2] = np.unique(values["strata"], return_inverse=True)
        if "entry" in values:
            table[:, 3] = _as_numbers(values["entry"], "entry")
        return cls(without_columns(X, named), table, labels, named)


def _column(X: Any, given: Any, what: str) -> np.ndarray:
    """Return a column that was given by its name in a frame, or by its values."""
    if not isinstance(given, str):
        values = np.asarray(given)
        if values.shape != (len(X),):
            raise ValueError(
                f"{what} must have one value per row of X, shape ({len(X)},), got {values.shape}."
            )
        return values
    names = [str(name) for name in getattr(X, "columns", [])]
    if not names:
        raise ValueError(f"{what}={given!r} names a column, but X has no names: pass a data frame.")
    if given not in names:
        raise ValueError(f"{what}={given!r} is no column of X, which has {', '.join(names[:8])}.")
    return np.asarray(X[given])


def _as_numbers(values: Any, what: str) -> np.ndarray:
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            f"{what} must hold numbers, got {np.asarray(values).dtype}: an event is 1 or True "
            "where it was observed, 0 or False where the row is censored."
        ) from None


def without_columns(X: Any, named: tuple[str, ...]) -> Any:
    """Return a frame without some of its columns; anything else as it is."""
    if not named or not hasattr(X, "columns"):
        return X
    kept = [name for name in X.columns if str(name) not in named]
    return X if len(kept) == len(X.columns) else X[kept]


class SurvivalMethods:
    """What a survival estimator says of rows besides their risk: curves, and how good it is."""

    _named: tuple[str, ...] = ()
    predict: Callable[[Any], Any]

    def _fitted_survival(self) -> Any:
        """Return the fitted single estimator whose model has the baseline."""
        raise NotImplementedError

    def _set_table(self, table: SurvivalTable) -> None:
        """Set what prediction needs to know of the table of a fit."""
        self._named = table.named
        self.__dict__.pop("strata_", None)  # of an earlier fit
        if table.strata is not None:
            self.strata_ = table.strata

    def predict_cumulative_hazard(self, X: Any, times: Any = None, *, strata: Any = None) -> Any:
        """Predict the cumulative hazard of every row at some times.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.
        times : array-like of shape (n_times,), default=None
            Times at which it is wanted; None takes ``event_times_``. After the last of these the
            curve stays where it is.
        strata : str or array-like of shape (n_samples,), default=None
            The stratum of every row, where the model has several: the name of a column of the
            frame ``X``, or labels.

        Returns
        -------
        ndarray of shape (n_samples, n_times)
            The baseline of Breslow, times the exponential of the risk score.
        """
        check_is_fitted(self)
        fitted = self._fitted_survival()
        times = np.atleast_1d(fitted.event_times_ if times is None else np.asarray(times, float))
        if times.ndim != 1 or not np.isfinite(times).all():
            raise ValueError("times must be a list of finite numbers.")
        codes = self._stratum_codes(X, strata)
        rates = np.exp(np.asarray(self.predict(X), dtype=float))
        baseline = fitted.baseline_
        hazards = np.empty((len(rates), len(times)))
        for code in np.unique(codes):
            mine = codes == code
            hazards[mine] = np.multiply.outer(rates[mine], baseline.at(times, code))
        return hazards

    def predict_survival_function(self, X: Any, times: Any = None, *, strata: Any = None) -> Any:
        """Predict the probability that the event of every row is after some times.

        Parameters
        ----------
        X, times, strata : see :meth:`predict_cumulative_hazard`
            Rows, times, and the strata of the rows.

        Returns
        -------
        ndarray of shape (n_samples, n_times)
            ``exp(-cumulative hazard)``.
        """
        return np.exp(-self.predict_cumulative_hazard(X, times, strata=strata))

    def _stratum_codes(self, X: Any, strata: Any) -> np.ndarray:
        """Return the code of the stratum of every row."""
        codes = np.unique(self._fitted_survival().baseline_.strata)
        labels = getattr(self, "strata_", codes)
        if strata is None:
            if len(labels) > 1:
                raise ValueError(
                    f"The model has {len(labels)} strata with a baseline each: pass strata= with "
                    "that of every row."
                )
            return np.full(len(X), codes[0])
        values = _column(X, strata, "strata")
        unknown = np.setdiff1d(values, labels)
        if len(unknown):
            raise ValueError(f"The model was fitted without the stratum {unknown.tolist()[0]!r}.")
        # A fit numbers the labels in their order; without labels the strata are numbers.
        return np.searchsorted(labels, values) if hasattr(self, "strata_") else values

    def score(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        time: Any = None,
        event: Any = None,
        strata: Any = None,
    ) -> float:
        """Return Harrell's concordance of the risk scores with what was observed.

        Parameters
        ----------
        X, y : see :meth:`fit`
            Rows, their times and events.
        sample_weight : array-like of shape (n_samples,), default=None
            A pair of rows counts as much as the product of their weights.
        time, event, strata : see :meth:`fit`
            Rows of different strata are not compared.

        Returns
        -------
        float
            Share of the pairs of rows whose order is right; 0.5 is no better than chance.
        """
        check_is_fitted(self)
        table = SurvivalTable.of(X, y, time=time, event=event, strata=strata, entry=None)
        check_survival(table.y, np.ones(len(table.y)), for_fit=False)
        observed, happened, codes, _ = table.y.T
        return concordance(observed, happened, self.predict(X), sample_weight, strata=codes)


class KnifeSurvival(SurvivalMethods, BaseKnife):
    """Kernel survival analysis that finds which features matter.

    The logarithm of the hazard is a kernel model of the features (Cox's proportional hazards, with
    a function that need not be linear). A weight between 0 and 1 sits on every feature inside the
    kernel; most weights become exactly zero.

    Parameters
    ----------
    kernel : str or Kernel, default="rbf"
        See :class:`KnifeRegressor`.
    ties : {"efron", "breslow"}, default="efron"
        What is made of events at the same time: as if they came one after the other, in an order
        that is not known, or all at once. With "efron" a row of weight 2 is not quite two rows,
        which would be tied with each other.
    alpha : float, default=1.0
        Penalty on the squared norm of the log hazard.
    sparsity, n_permutations, level : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    n_features_to_select, relax, learn_weights : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    solver, start, n_starts : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    standardize, missing, feature_groups, feature_costs, always_keep, adjust_for : as in \
KnifeRegressor
        See :class:`KnifeRegressor`.
    n_centers, centers, refresh_centers, memory_budget : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    max_iter, tol, n_jobs, random_state : as in KnifeRegressor
        See :class:`KnifeRegressor`.

    Attributes
    ----------
    event_times_ : ndarray of shape (n_times,)
        The distinct times of the observed events.
    baseline_ : Baseline
        Breslow's cumulative hazard of a risk score of zero, by stratum.
    strata_ : ndarray
        Labels of the strata; only with ``strata``.
    weights_, support_, ranking_, objective_, history_ : as in KnifeRegressor
        See :class:`KnifeRegressor`. The objective holds minus the log partial likelihood.
    support_vectors_rows_, support_vectors_, dual_coef_, intercept_ : ndarray
        The model of the risk score; its mean over the training rows is zero.
    starts_, searched_products_, n_iter_, n_factorizations_ : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    converged_, kkt_residual_, sparsity_, feature_groups_ : as in KnifeRegressor
        See :class:`KnifeRegressor`.
    n_features_in_ : int
        Number of columns that ``fit`` saw.
    feature_names_in_ : ndarray of str
        For data frames.

    See Also
    --------
    KnifeSurvivalCV : The same with kernel and penalties chosen by cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife import KnifeSurvival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 6))
    >>> time = rng.exponential(np.exp(-2 * np.cos(2 * X[:, 0]) - X[:, 3]))
    >>> censored = rng.exponential(2.0, size=150)
    >>> y = np.column_stack([np.minimum(time, censored), time <= censored])
    >>> model = KnifeSurvival(sparsity=8.0).fit(X, y)
    >>> model.get_support(indices=True)
    array([0, 3])
    >>> model.predict_survival_function(X[:2], [0.1, 1.0]).shape
    (2, 2)
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        ties: str = "efron",
        alpha: float = 1.0,
        sparsity: float | str = 1.0,
        n_permutations: int = 20,
        level: float = 0.05,
        n_features_to_select: int | None = None,
        relax: bool = False,
        learn_weights: bool = True,
        solver: str = "eliminate",
        start: Any = "auto",
        n_starts: int = 0,
        standardize: bool = True,
        missing: str = "indicator",
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
        self.ties = ties
        self.alpha = alpha
        self.sparsity = sparsity
        self.n_permutations = n_permutations
        self.level = level
        self.n_features_to_select = n_features_to_select
        self.relax = relax
        self.learn_weights = learn_weights
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
        self.refresh_centers = refresh_centers
        self.memory_budget = memory_budget
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def loss(self) -> CoxLoss:
        """The partial likelihood, with the handling of ties that was asked for."""
        return CoxLoss(self.ties)

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        time: Any = None,
        event: Any = None,
        strata: Any = None,
        entry: Any = None,
    ) -> Self:
        """Find the weights and fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            An array or a data frame. Columns that are named as time, event, strata or entry are
            taken out of it.
        y : array-like, default=None
            Times and events: a structured array of a truth value, whether the event was observed,
            and a number, as in scikit-survival; or two columns, time and event (0 or 1). Or None,
            with ``time`` and ``event``.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the partial likelihood.
        time, event : str or array-like of shape (n_samples,), default=None
            Names of columns of ``X``, or values.
        strata : str or array-like of shape (n_samples,), default=None
            Rows of each stratum have a baseline of their own and are compared with each other only.
        entry : str or array-like of shape (n_samples,), default=None
            The time from which a row is observed, where that is not the beginning: before it the
            row is not at risk.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        table = SurvivalTable.of(X, y, time=time, event=event, strata=strata, entry=entry)
        self._fit(table.X, table.y, sample_weight)
        self._set_table(table)
        return self

    def substitutes(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        time: Any = None,
        event: Any = None,
        strata: Any = None,
        entry: Any = None,
        **options: Any,
    ) -> Substitutes:
        """Find columns that could take the place of the selected ones.

        Parameters
        ----------
        X, y, sample_weight, time, event, strata, entry : see :meth:`fit`
            The data that the estimator was fitted on.
        **options
            ``n_candidates``, ``folds`` and ``random_state`` of :meth:`KnifeRegressor.substitutes`.

        Returns
        -------
        Substitutes
            One place for every selected column.
        """
        table = SurvivalTable.of(X, y, time=time, event=event, strata=strata, entry=entry)
        return super().substitutes(table.X, table.y, sample_weight, **options)

    def _set_model(self, setup: Setup, solution: Solution, model: Model) -> Self:
        super()._set_model(setup, solution, model)
        self.baseline_ = model.baseline
        if model.baseline is not None:
            self.event_times_ = np.unique(model.baseline.times)
        return self

    def _fitted_survival(self) -> Self:
        return self

    def _rows_to_predict(self, X: Any) -> Rows:
        return super()._rows_to_predict(without_columns(X, self._named))

    def predict(self, X: Any) -> Any:
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
        return super().predict(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "survival"
        tags.target_tags.required = True
        return tags


# The estimator of every task.
ESTIMATORS = {
    "regression": KnifeRegressor,
    "classification": KnifeClassifier,
    "survival": KnifeSurvival,
}
