"""What a selection returns, as plain data."""

from dataclasses import dataclass, field

import numpy as np
from scipy.stats import t as student

from kernelknife.estimators import KnifeClassifier, KnifeRegressor
from kernelknife.model_selection import KnifeClassifierCV, KnifeRegressorCV
from kernelknife.tables import Table, TableEncoder

__all__ = [
    "Effect",
    "Feature",
    "HeldOut",
    "Interaction",
    "Score",
    "Selection",
    "Surface",
]

# A finding must exceed the constant so clearly that chance alone would do so in one table of a
# hundred, if folds were independent. They are not quite, hence so few.
CONFIDENCE = 0.99
# Differences below this share of the constant's error are rounding and no advantage.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Feature:
    """A column of the table and what the fit says about it.

    Attributes
    ----------
    name : str
    weight : float
        Between 0 and 1; a column of weight 0 is not selected.
    frequency : float
        Share of the folds in which the column is selected.
    rank : int
        1 for the column that stays longest as the penalty rises.
    """

    name: str
    weight: float
    frequency: float
    rank: int

    @property
    def selected(self) -> bool:
        """Whether the chosen model uses the column."""
        return self.weight > 0


@dataclass(frozen=True)
class Score:
    """A mean over folds, and the standard error of that mean as ``spread``."""

    mean: float
    spread: float


@dataclass(frozen=True)
class HeldOut:
    """Errors on rows that were used neither for fitting nor for choosing.

    Attributes
    ----------
    error : float
        Error of the chosen model.
    constant : float
        Error of a constant, which is estimated from the other rows.
    rows : int
        Number of rows held out.
    """

    error: float
    constant: float
    rows: int


@dataclass(frozen=True)
class Effect:
    """What one column does to the prediction as it takes different values.

    Of an additive or ANOVA machine it is what the column adds on its own, of all others the average
    output while the other columns stay as they are.

    Attributes
    ----------
    name : str
    values : list of float or of str
        Values that the column takes.
    curves : dict of ndarray
        For every output by its name, one number per value.
    rug : ndarray
        Some of the column's values in the data; empty for a text column.
    separate : bool
        Whether the curves are what the column adds, with an average of zero. For a text column of
        such a machine they are average outputs less the average over all rows.
    """

    name: str
    values: list
    curves: dict
    rug: np.ndarray
    separate: bool = False


@dataclass(frozen=True)
class Surface:
    """What two columns of numbers do together, on a grid of cells.

    Attributes
    ----------
    edges : tuple of two ndarray
        Where the cells of each column begin and end.
    values : ndarray of shape (n_cells, n_cells)
        What the combination adds beyond what each column adds on its own, in the middle of each
        cell; the first axis is the first column.
    output : str
        What it is added to; with several classes the score that it changes most.
    points : ndarray of shape (n_points, 2)
        Both columns of some rows of the data.
    """

    edges: tuple[np.ndarray, np.ndarray]
    values: np.ndarray
    output: str
    points: np.ndarray


@dataclass(frozen=True)
class Interaction:
    """Two or three columns that act together.

    Attributes
    ----------
    names : tuple of str
    share : float
        Part of the variance of the machine's output that is due to their acting together.
    surface : Surface or None
        What they do, for the largest pairs of columns of numbers.
    """

    names: tuple[str, ...]
    share: float
    surface: Surface | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Selection:
    """Which columns matter for a target.

    Attributes
    ----------
    features : tuple of Feature
        All columns: the selected ones first, by weight.
    error, constant_error, full_error : Score
        Errors on the same folds: of the chosen model, of a constant, and of a kernel machine that
        uses all columns with equal weights. For the first, every fold judges what the other folds
        have chosen, so that choosing among many settings does not flatter it.
    advantage : Score
        The constant's error minus that error, fold by fold.
    error_name : str
        What the errors are, in words.
    held_out : HeldOut or None
        Errors on the rows that were held out, if there were any.
    effects : tuple of Effect
        How the prediction changes with each selected column.
    interactions : tuple of Interaction
        The columns of an ANOVA machine that act together, at most eight pairs or triples with more
        than 0.5 % of the variance, the largest first. Empty for other kernels.
    table : Table
        The table as it was read, with the notes on what was guessed.
    encoder : TableEncoder
        Turns a table into the columns that the model takes.
    search : KnifeRegressorCV or KnifeClassifierCV
        The cross-validation.
    model : KnifeRegressor or KnifeClassifier
        The chosen model; it predicts from the columns that the encoder returns.
    settings : dict
        The arguments of :func:`select_features`.
    versions : dict
        Versions of the software.
    seconds : float
        How long it took.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelknife.datasets import make_sinusoidal
    >>> from kernelknife.selection import select_features
    >>> X, y = make_sinusoidal(80, 3, random_state=0)
    >>> frame = pd.DataFrame(X, columns=list("abcdefgh")).assign(y=y)
    >>> selection = select_features(frame, "y", alpha=0.3, folds=3)
    >>> sorted(selection.selected), selection.predict(frame).shape
    (['a', 'b', 'c', 'd', 'e'], (80,))
    >>> selection.error.mean < selection.constant_error.mean
    True
    """

    features: tuple[Feature, ...] = field(repr=False)
    error: Score
    constant_error: Score
    full_error: Score
    advantage: Score
    error_name: str
    held_out: HeldOut | None
    effects: tuple[Effect, ...] = field(repr=False)
    interactions: tuple[Interaction, ...] = field(repr=False)
    table: Table = field(repr=False)
    encoder: TableEncoder = field(repr=False)
    search: KnifeRegressorCV | KnifeClassifierCV = field(repr=False)
    model: KnifeRegressor | KnifeClassifier = field(repr=False)
    settings: dict = field(repr=False)
    versions: dict = field(repr=False)
    seconds: float

    @property
    def selected(self) -> list[str]:
        """Names of the selected columns, the largest weight first."""
        return [feature.name for feature in self.features if feature.selected]

    @property
    def better(self) -> bool:
        """Whether the chosen model errs less than a constant, by clearly more than folds scatter.

        The more folds, the better their scatter is known: 3.7 standard errors are asked of five
        folds, 2.8 of ten. If rows were held out, the model must err less than the constant on them
        as well.
        """
        standard_errors = float(student.ppf(CONFIDENCE, len(self.search.splits_) - 1))
        bar = standard_errors * self.advantage.spread + ROUNDING * abs(self.constant_error.mean)
        sure = bool(self.selected) and self.advantage.mean > bar
        return sure and (self.held_out is None or self.held_out.error < self.held_out.constant)

    @property
    def machine_in_words(self) -> str:
        """Say which kernels were compared and what the chosen machine is."""
        search = self.search
        compared = list(dict.fromkeys(search.cv_results_["kernel"]))
        words = f"{search.kernel_name_}: {search.kernel_.words}"
        if len(compared) > 1:
            listed = ", ".join(compared[:-1]) + f" and {compared[-1]}"
            words = f"The folds compared the kernels {listed} and chose {words}."
        else:
            words = f"The kernel is {words}."
        if search.weighting_ == "equal":
            words += " All columns with equal weights did better than every shorter list."
        return words

    @property
    def loses_to_all(self) -> bool:
        """Whether a machine with all columns errs less, by more than one standard error."""
        return self.full_error.mean < self.error.mean - self.error.spread

    def predict(self, frame) -> np.ndarray:
        """Predict the target for the rows of a data frame.

        Parameters
        ----------
        frame : DataFrame
            It must hold the selected columns; others are ignored.

        Returns
        -------
        ndarray
            One prediction per row.
        """
        return self.model.predict(self.encoder.transform(frame, self.selected))

    def to_json(self) -> dict:
        """Return the answer as a dict that ``json.dumps`` accepts.

        Returns
        -------
        dict
            Columns, penalties, errors, settings and versions.
        """
        return {
            "target": self.table.target_name,
            "task": self.table.task,
            "selected": self.selected,
            "features": [vars(feature) for feature in self.features],
            "interactions": [
                {"names": list(together.names), "share": together.share}
                for together in self.interactions
            ],
            "kernel": self.search.kernel_name_,
            "alpha": float(self.model.alpha),
            "sparsity": float(self.model.sparsity_),
            "error": {
                "name": self.error_name,
                "mean": self.error.mean,
                "standard_error": self.error.spread,
                "constant": self.constant_error.mean,
                "all_features": self.full_error.mean,
                "advantage_over_constant": self.advantage.mean,
                "advantage_standard_error": self.advantage.spread,
                "held_out": None if self.held_out is None else vars(self.held_out),
            },
            "better_than_a_constant": self.better,
            "rows": len(self.table.target),
            "columns": self.table.features.shape[1],
            "notes": list(self.table.notes),
            "settings": self.settings,
            "versions": self.versions,
        }

    def _repr_html_(self):
        # Notebooks call this method. The report reads selections and stands in a layer below, so
        # it is imported only when there is something to show.
        from kernelknife.report import build_fragment

        return build_fragment(self)
