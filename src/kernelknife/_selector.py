"""What stability selection and knockoffs share: how a table is opened, and the selected columns."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from kernelknife._base import check_arrays, choose_columns, with_column_numbers
from kernelknife._engine import FitSpec, prepare_arrays
from kernelknife._engine.data import TrainingData, refuse_lazy_rows
from kernelknife._engine.data.grouping import column_names
from kernelknife._engine.data.targets import stack_offset
from kernelknife._engine.policy import fit_centers, infer_task
from kernelknife._offsets import known_scores
from kernelknife._utils.messages import import_optional, warn
from kernelknife._utils.versions import CallbackSupportMixin
from kernelknife.survival import ESTIMATORS

__all__ = [
    "ErrorRateSelector",
    "Table",
]


SHARES = ("selection_probabilities_", "selection_frequency_")


@dataclass(frozen=True)
class Table:
    """A table in memory, opened for many fits to parts or extensions of it.

    Attributes
    ----------
    spec : FitSpec
    X, y : ndarray
        Checked in scikit-learn's way, otherwise as the user gave them.
    data : TrainingData
        What is measured of all rows.
    """

    spec: FitSpec
    X: np.ndarray
    y: np.ndarray
    data: TrainingData

    @property
    def varying(self) -> np.ndarray:
        """Numbers of the columns that are not constant."""
        return self.data.columns.index

    @property
    def kept(self) -> np.ndarray:
        """Numbers of the columns that are always kept."""
        data = self.data
        return (
            self.varying[:0] if data.kept is None else self.varying[data.column_values(data.kept)]
        )

    @property
    def adjusted(self) -> np.ndarray:
        """Numbers of the columns that are adjusted for, constant ones not counted."""
        adjusted = self.data.adjusted
        return np.zeros(0, dtype=int) if adjusted is None else adjusted.index

    def with_exposure(self, exposure: Any) -> "Table":
        """Return the table with what its counts are proportional to."""
        known = known_scores(None, exposure, self.X, self.spec.loss)
        y, spec = stack_offset(self.y, known), replace(self.spec, offset=True)
        return Table(spec, self.X, y, prepare_arrays(spec, self.X, y, names=self.data.rows.names))

    def name(self, j: int) -> str:
        """Return the name of a column for messages."""
        names = self.data.rows.names
        return f"x{j}" if names is None else repr(str(names[j]))


class ErrorRateSelector(CallbackSupportMixin, SelectorMixin, BaseEstimator):
    """A selection with an error rate, based on many fits of one ``estimator``."""

    estimator: Any
    support_: np.ndarray

    def _open(
        self, X: Any, y: Any, what: str, *, kernel: str, tol: float, rows_per_fit: float = 1.0
    ) -> Table:
        """Open, check and measure a table; warn of what the fits, which are silent, will not.

        Parameters
        ----------
        X, y : see ``fit``
        what : str
            The name of the method, for messages.
        kernel, tol : str and float
            Parameters of the estimator by default.
        rows_per_fit : float, default=1
            Share of the rows that a single fit has.
        """
        refuse_lazy_rows(X, what)
        estimator = self._clone_estimator(y, kernel, tol)
        spec = choose_columns(FitSpec.from_estimator(estimator), X)
        X, y = check_arrays(estimator, X, y)
        names = getattr(estimator, "feature_names_in_", None)
        spec = with_column_numbers(spec, names, X.shape[1])
        data = prepare_arrays(spec, X, y, names=names)
        table = Table(spec, X, y, data)
        fit_centers(  # for its warning where memory limits the exact method
            spec.n_centers,
            spec.kernel,
            spec.loss,
            given=spec.gives_centers,
            in_memory=True,
            n_rows=int(np.ceil(rows_per_fit * len(X))),
            memory_budget=spec.memory_budget,
        )
        used = np.concatenate([table.varying, table.adjusted])
        constant = np.setdiff1d(np.arange(data.n_features), used)
        if len(constant):
            others = f" and {len(constant) - 1} more" if len(constant) > 1 else ""
            warn(
                f"Column {table.name(constant[0])}{others} is constant: it is never selected, and "
                "is not counted among the features to choose from.",
            )
        return table

    def _clone_estimator(self, y: Any, kernel: str, tol: float) -> Any:
        """Return a copy of the estimator, or one that suits the target if there is none."""
        if self.estimator is None:
            if y is None:
                raise ValueError("A selection requires y to be passed, but the target y is None.")
            return ESTIMATORS[infer_task(y)](kernel=kernel, tol=tol)
        if not isinstance(self.estimator, tuple(ESTIMATORS.values())):
            raise TypeError(
                "estimator must be a KnifeRegressor, a KnifeClassifier, a KnifeSurvival or None, "
                f"got {type(self.estimator).__name__}. Of a cross-validated estimator pass its "
                "best_estimator_."
            )
        return clone(self.estimator)

    def _set_table(self, table: Table) -> None:
        """Set the fitted attributes that describe the data."""
        self.task_ = table.spec.task
        self.n_features_in_ = table.data.n_features
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if table.data.rows.names is not None:
            self.feature_names_in_ = table.data.rows.names

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "support_")
        return self.support_

    def to_frame(self) -> Any:
        """Return a pandas data frame: one row per column, whether it is kept and how surely.

        Returns
        -------
        DataFrame
            The share of the half-samples or of the draws that select the column, and its q-value,
            the smallest first.
        """
        check_is_fitted(self, "support_")
        pandas = import_optional("pandas", "pandas", f"{type(self).__name__}.to_frame")
        names = column_names(getattr(self, "feature_names_in_", None), self.n_features_in_)
        (share,) = (one for one in SHARES if hasattr(self, one))
        facts = {one.rstrip("_"): getattr(self, one) for one in (share, "q_values_")}
        frame = pandas.DataFrame({"feature": names, "selected": self.support_, **facts})
        order = np.lexsort((-getattr(self, share), self.q_values_))
        return frame.iloc[order].reset_index(drop=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = getattr(self.estimator, "missing", None) != "error"
        return tags
