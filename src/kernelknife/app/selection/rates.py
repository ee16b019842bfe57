"""Error rates beside a selection: by stability over half-samples, or against knockoffs."""

import warnings
from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from kernelknife._error_rates import find_copies
from kernelknife.app.messages import Hint
from kernelknife.app.options import SearchOptions, SelectOptions
from kernelknife.app.selection.evidence import BLOCKS
from kernelknife.app.tables import Table, TableEncoder, TableError
from kernelknife.app.tables.columns import leave_out, listing
from kernelknife.kernels import check_kernel
from kernelknife.knockoffs import KnifeKnockoffs
from kernelknife.stability import PATH_TOL, KnifeStability

__all__ = [
    "ColumnRate",
    "ErrorRate",
    "check_copies",
    "check_knockoffs",
    "check_rates",
    "find_rates",
]


@dataclass(frozen=True)
class ColumnRate:
    """How often one column is selected, and how sure that is.

    Attributes
    ----------
    share : float
        Share of the half-samples, or of the draws of knockoffs, that select the column.
    q_value : float
        Expected share of false columns among those with at least this column's evidence.
    selected : bool
        Whether the column is kept at the rate that was asked for.
    """

    share: float
    q_value: float
    selected: bool


@dataclass(frozen=True)
class ErrorRate:
    """A selection whose errors are bounded.

    Attributes
    ----------
    method : {"stability", "knockoffs"}
    columns : dict of ColumnRate
        One for every column of the table, by its name.
    n_samples : int
        Number of half-samples, or of draws.
    bound : float
        Of stability: largest expected number of false columns among the selected ones. Of
        knockoffs: largest expected share.
    note : str
        Why nothing is selected, if nothing is.
    """

    method: str
    columns: dict[str, ColumnRate]
    n_samples: int
    bound: float
    note: str

    @property
    def selected(self) -> list[str]:
        """Names of the columns that are kept, the most often selected first."""
        kept = [name for name, column in self.columns.items() if column.selected]
        return sorted(kept, key=lambda name: -self.columns[name].share)

    @property
    def sentence(self) -> str:
        """The selected columns and the bound on their errors, in words."""
        return self.in_words(", ".join(self.selected))

    def in_words(self, names: str, target: str = "", total: str = "") -> str:
        """Return the sentence with the selected columns as a text.

        Parameters
        ----------
        names : str
            The selected columns, as they are shown.
        target : str, default=""
            What they are selected for, as it is shown.
        total : str, default=""
            Among what they are selected; the number of columns if absent.
        """
        count = len(self.selected)
        if not count:
            return self.note
        among = total or f"{len(self.columns)} columns"
        columns = f"{count} of {among}{f' for {target}' if target else ''}"
        if self.method == "stability":
            method, most = "Stability selection keeps", f"{self.bound:.2g}"
        else:
            method, most = "Knockoffs keep", f"{100 * self.bound:.2g} %"
        return f"{method} {columns}: {names}. At most {most} of them are expected to be false."

    def without(self, names: Container[str]) -> "ErrorRate":
        """Return the rates of all columns but some, which were not chosen among."""
        columns = {name: rate for name, rate in self.columns.items() if name not in names}
        return replace(self, columns=columns)

    def to_json(self) -> dict:
        """Return the rates as a dict that ``json.dumps`` accepts."""
        return {
            "method": self.method,
            "selected": self.selected,
            "bound": self.bound,
            "n_samples": self.n_samples,
            "sentence": self.sentence,
            "columns": {name: vars(column) for name, column in self.columns.items()},
        }


def check_rates(options: SearchOptions) -> None:
    """Raise where both rates are asked for, or one that cannot be."""
    stability, max_false, fdr = options.stability, options.max_false, options.fdr
    if stability and fdr is not None:
        raise TableError("Ask for stability or for a false discovery rate, not both.")
    if not stability and max_false != SearchOptions.max_false:
        raise TableError(
            "A number of false columns belongs to stability selection.",
            Hint("ask for it with {}", {"stability": True}),
            Hint("leave the number out"),
        )
    if max_false <= 0:
        raise TableError(f"The number of false columns must be above 0, got {max_false:g}.")
    if fdr is not None and not 0 < fdr < 1:
        raise TableError(f"The false discovery rate must lie between 0 and 1, got {fdr:g}.")


def check_knockoffs(encoder: TableEncoder, options: SelectOptions, table: Table) -> None:
    """Raise where knockoffs cannot be made of the columns, or their rate would not hold."""
    if options.group is not None or options.order is not None:
        rows = f"rows of one {options.group}" if options.order is None else "neighbors in time"
        raise TableError(
            f"Knockoffs need rows that are independent of each other, and {rows} are not.",
            Hint("use {} instead, which keeps them together", {"stability": True}),
            Hint(f"do without the {'group' if options.order is None else 'order'}"),
        )
    if table.column_groups:
        raise TableError(
            "Knockoffs are made of single columns, and not of groups of columns.",
            Hint("use {} instead", {"stability": True}),
            Hint("do without the groups"),
        )
    if table.kept:
        raise TableError(
            f"Knockoffs are made of all columns, and {listing(table.kept)} must not be dropped.",
            Hint("use {} instead", {"adjust_for": list(table.kept)}),
            Hint("use {} instead", {"stability": True}),
        )
    texts = [name for name in encoder.levels_ if name not in table.adjusted]
    if texts:
        raise TableError(
            "Knockoffs are made of single columns, and the table has text columns.",
            Hint("use {} instead", {"stability": True}),
            leave_out(*texts),
        )


def check_copies(encoder: TableEncoder, X: np.ndarray, adjusted: Container[str] = ()) -> None:
    """Raise where two columns have the same values, which no knockoffs can distinguish."""
    chosen = np.array([name not in adjusted for name in encoder.feature_groups_])
    copies = find_copies(X, np.flatnonzero((np.ptp(X, axis=0) > 0) & chosen))
    if copies is not None:
        first, second = (str(encoder.feature_groups_[j]) for j in copies)
        raise TableError(
            f"Columns {first!r} and {second!r} are copies of each other, and knockoffs cannot show "
            "which of them matters.",
            Hint("leave one of them out, such as with {}", {"drop": [second]}),
        )


def find_rates(
    model: Any,
    encoder: TableEncoder,
    X: np.ndarray,
    y: np.ndarray,
    groups: np.ndarray | None,
    options: SelectOptions,
    callbacks: Any = (),
    exposure: np.ndarray | None = None,
) -> ErrorRate | None:
    """Return the rate that was asked for, None if none was.

    Parameters
    ----------
    model : KnifeRegressor or KnifeClassifier
        The selected model; its kernel, loss and ``alpha`` are used.
    encoder : TableEncoder
    X, y, groups : ndarray
        The rows that the model was fitted on, and which of them belong together.
    options : SelectOptions
    callbacks : sequence
        Callbacks of scikit-learn.
    exposure : ndarray, default=None
        What counts are proportional to.
    """
    with warnings.catch_warnings():
        # The table has been checked, and its notes name what is wrong with it.
        warnings.simplefilter("ignore")
        if options.stability:
            known = {} if exposure is None else {"exposure": exposure}
            return _stability(model, encoder, X, y, {"groups": groups, **known}, options, callbacks)
        return None if options.fdr is None else _knockoffs(model, encoder, X, y, options, callbacks)


def _stability(model, encoder, X, y, known, options, callbacks):
    """Return the columns that enough half-samples select."""
    selector = KnifeStability(
        clone(model).set_params(tol=PATH_TOL),
        max_false=options.max_false,
        blocks=None if options.order is None else max(len(y) // BLOCKS, 1),
        n_jobs=options.n_jobs,
        random_state=options.random_state,
    )
    _with_callbacks(selector, callbacks).fit(X, y, **known)
    note = (
        "Stability selection keeps no column: none is selected in "
        f"{100 * selector.threshold_:.0f} % of the half-samples."
    )
    shares, count = selector.selection_probabilities_, 2 * selector.n_pairs
    return _rate("stability", selector, shares, encoder, count, selector.error_bound_, note)


def _knockoffs(model, encoder, X, y, options, callbacks):
    """Return the columns that beat their knockoffs."""
    # Kernels of joint functions distinguish a column from its knockoff badly: the additive kernel
    # is the default of the method.
    own = None
    if check_kernel(model.kernel).convex:
        own = clone(model).set_params(feature_groups=None, feature_costs=None)
    elif model.adjust_for is not None:
        own = type(model)("additive", tol=PATH_TOL, adjust_for=model.adjust_for)
    selector = KnifeKnockoffs(
        own, fdr=options.fdr, n_jobs=options.n_jobs, random_state=options.random_state
    )
    _with_callbacks(selector, callbacks).fit(X, y)
    shares, count = selector.selection_frequency_, selector.n_draws
    return _rate("knockoffs", selector, shares, encoder, count, options.fdr, selector.explanation_)


def _with_callbacks(selector, callbacks):
    """Return a selector that reports its progress."""
    return selector.set_callbacks(*callbacks) if callbacks else selector


def _rate(method, selector, shares, encoder, count, bound, note):
    """Return the rates of the columns of the table by a fitted selector."""
    columns = {
        name: ColumnRate(float(shares[j]), float(selector.q_values_[j]), bool(selector.support_[j]))
        for name, j in encoder.first_of_units.items()
    }
    return ErrorRate(method, columns, int(count), float(bound), note)
