"""Error rates beside a selection: votes of half-samples, or races against knockoffs."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from kernelknife.app.tables import TableEncoder, TableError
from kernelknife.kernels import check_kernel
from kernelknife.knockoffs import KnifeKnockoffs
from kernelknife.stability import PATH_TOL, KnifeStability, find_twins

__all__ = [
    "DEFAULT_MAX_FALSE",
    "ColumnRate",
    "ErrorRate",
    "check_copies",
    "check_knockoffs",
    "check_rates",
    "find_rates",
]

DEFAULT_MAX_FALSE = 1.0


@dataclass(frozen=True)
class ColumnRate:
    """What votes or races say about one column.

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
        """What is promised, in words."""
        names = self.selected
        if not names:
            return self.note
        columns = f"{len(names)} column{'s' if len(names) > 1 else ''}"
        listed = ", ".join(names)
        if self.method == "stability":
            return (
                f"Stability selection keeps {columns}: {listed}. At most {self.bound:.2g} of them "
                "are expected to be false."
            )
        return (
            f"Knockoffs keep {columns}: {listed}. At most {100 * self.bound:.2g} % of them are "
            "expected to be false."
        )

    def to_json(self) -> dict:
        """Return the rates as a dict that ``json.dumps`` accepts."""
        return {
            "method": self.method,
            "selected": self.selected,
            "bound": self.bound,
            "sentence": self.sentence,
            "columns": {name: vars(column) for name, column in self.columns.items()},
        }


def check_rates(stability: bool, max_false: float, fdr: float | None) -> None:
    """Raise where both rates are asked for, or one that is none."""
    if stability and fdr is not None:
        raise TableError("Ask for stability or for a false discovery rate, not both.")
    if not stability and max_false != DEFAULT_MAX_FALSE:
        raise TableError("--max-false is for --stability: ask for both, or leave --max-false out.")
    if max_false <= 0:
        raise TableError(f"The number of false columns must be above 0, got {max_false:g}.")
    if fdr is not None and not 0 < fdr < 1:
        raise TableError(f"The false discovery rate must lie between 0 and 1, got {fdr:g}.")


def check_knockoffs(encoder: TableEncoder, group: str | None) -> None:
    """Raise where knockoffs cannot be made of the columns, or their rate would not hold."""
    if group is not None:
        raise TableError(
            f"Knockoffs need rows that are independent of each other, and rows of one {group} are "
            "not: use --stability, which keeps them together, or leave out --group."
        )
    if len(np.unique(encoder.feature_groups_)) < len(encoder.feature_groups_):
        raise TableError(
            "Knockoffs are made of single columns, and the table has text columns: use "
            "--stability, or leave the text columns out with --drop."
        )


def check_copies(encoder: TableEncoder, X: np.ndarray) -> None:
    """Raise where two columns have the same values, which no knockoffs can tell apart."""
    twins = find_twins(X, np.flatnonzero(np.ptp(X, axis=0) > 0))
    if twins is not None:
        first, second = (encoder.columns_[j] for j in twins)
        raise TableError(
            f"Columns {first!r} and {second!r} are copies of each other, and no knockoff can tell "
            f"which of them matters: leave one of them out, --drop {second!r}."
        )


def find_rates(
    model: Any,
    encoder: TableEncoder,
    X: np.ndarray,
    y: np.ndarray,
    groups: np.ndarray | None,
    *,
    stability: bool,
    max_false: float,
    fdr: float | None,
    random_state: int,
    n_jobs: int | None,
    callbacks: Any = (),
) -> ErrorRate | None:
    """Return the rate that was asked for, None if none was.

    Parameters
    ----------
    model : KnifeRegressor or KnifeClassifier
        The chosen model; its kernel, loss and ``alpha`` are used.
    encoder : TableEncoder
    X, y, groups : ndarray
        The rows that the model was fitted on, and which of them belong together.
    stability, max_false, fdr, random_state, n_jobs, callbacks : see :func:`select_features`
    """
    with warnings.catch_warnings():
        # The table has been checked, and says in its notes what is wrong with it.
        warnings.simplefilter("ignore")
        if stability:
            own = clone(model).set_params(tol=PATH_TOL)
            votes = KnifeStability(
                own, max_false=max_false, n_jobs=n_jobs, random_state=random_state
            )
            _listen(votes, callbacks).fit(X, y, groups=groups)
            note = (
                "Stability selection keeps no column: none has votes from "
                f"{100 * votes.threshold_:.0f} % of the half-samples."
            )
            shares, count = votes.selection_probabilities_, 2 * votes.n_pairs
            return _rate("stability", votes, shares, encoder, count, votes.error_bound_, note)
        if fdr is None:
            return None
        # Kernels of joint functions make weak races: the additive one is the method's default.
        own = None
        if check_kernel(model.kernel).convex:
            own = clone(model).set_params(feature_groups=None, feature_costs=None)
        races = KnifeKnockoffs(own, fdr=fdr, n_jobs=n_jobs, random_state=random_state)
        _listen(races, callbacks).fit(X, y)
        shares, count = races.selection_frequency_, races.n_draws
        return _rate("knockoffs", races, shares, encoder, count, fdr, races.explanation_)


def _listen(selector, callbacks):
    """Return a selector that reports its progress."""
    return selector.set_callbacks(*callbacks) if callbacks else selector


def _rate(method, selector, shares, encoder, count, bound, note):
    """Return what a fitted selector says about the columns of the table."""
    columns = {
        name: ColumnRate(float(shares[j]), float(selector.q_values_[j]), bool(selector.support_[j]))
        for name, j in zip(encoder.columns_, encoder.first_columns, strict=True)
    }
    return ErrorRate(method, columns, int(count), float(bound), note)
