"""What a selection returns, as plain data."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from kernelknife._tuning.splits import rows_of_splits
from kernelknife._utils.messages import listed
from kernelknife.app.options import SelectOptions, printed
from kernelknife.app.selection.effects import Effect, Interaction
from kernelknife.app.selection.evidence import AgainstNoise, ColumnInformation
from kernelknife.app.selection.products import products_as_json, products_in_words
from kernelknife.app.selection.rates import ErrorRate
from kernelknife.app.selection.verdict import TIERS, Verdict, decide, headline
from kernelknife.app.tables import Table, TableEncoder, expand_dates
from kernelknife.app.tables.making import as_pandas
from kernelknife.cross_validation import KnifeClassifierCV, KnifeRegressorCV
from kernelknife.estimators import KnifeClassifier, KnifeRegressor
from kernelknife.inspection.substitutes import Substitutes

__all__ = [
    "OWN_MODEL",
    "ClassQuality",
    "Feature",
    "HeldOut",
    "Score",
    "Selection",
    "WrongRow",
]

ERROR_NAMES = {
    "regression": "mean squared error",
    "classification": "misclassification rate",
    "survival": "partial likelihood lost per row",
}
BALANCED_ERROR_NAME = "balanced misclassification rate"
# The model with all columns where scikit-learn has none for the loss.
OWN_MODEL = "model of the same kernel and loss with equal weights"


@dataclass(frozen=True)
class Feature:
    """A column of the table with its weight and how often the folds select it.

    Attributes
    ----------
    name : str
        Its name in the table.
    weight : float
        Between 0 and 1; a column of weight 0 is not selected.
    frequency : float
        Share of the folds in which the column is selected.
    rank : int
        1 for the column that stays longest as the penalty rises.
    gaps : int
        Number of rows, of those that the selection uses, in which it has no value.

    Examples
    --------
    >>> from kernelknife.app.selection import Feature
    >>> Feature("age", weight=0.4, frequency=0.1, rank=3).selected
    True
    """

    name: str
    weight: float
    frequency: float
    rank: int
    gaps: int = 0

    @property
    def selected(self) -> bool:
        """Whether the selected model uses the column."""
        return self.weight > 0


@dataclass(frozen=True)
class Score:
    """A mean over folds, and the standard error of that mean as ``spread``."""

    mean: float
    spread: float


@dataclass(frozen=True)
class HeldOut:
    """Errors on rows that were used neither to fit nor to select.

    Attributes
    ----------
    error : float
        Error of the selected model.
    baseline : float
        Error of the baseline, a constant that is estimated from the other rows.
    rows : int
        Number of rows held out.
    """

    error: float
    baseline: float
    rows: int


@dataclass(frozen=True)
class WrongRow:
    """A row whose class is not predicted, when it is a test row.

    Attributes
    ----------
    name : str
        Its identifiers, or its number.
    actual, predicted : str
        Its class, and the class that it is taken for most frequently.
    share : float
        In which share of its predictions it is wrong; folds may be repeated.
    """

    name: str
    actual: str
    predicted: str
    share: float


@dataclass(frozen=True)
class ClassQuality:
    """How well single classes are predicted on the test rows of the folds.

    Attributes
    ----------
    classes : tuple of str
        The classes, sorted.
    confusion : ndarray of shape (n_classes, n_classes)
        Number of rows by their class (first axis) and by the predicted class. A row that is tested
        several times counts in parts.
    class_errors : ndarray of shape (n_classes,)
        Share of the rows of each class that is predicted wrongly.
    balanced_error : float
        Mean of these shares: every class counts the same, however rare it is.
    area : float or None
        Area under the ROC curve, the mean over the folds, and over the classes (one against the
        rest) where there are more than two: 0.5 is chance, 1 is perfect. None where no fold has
        test rows of two classes.
    wrong_rows : tuple of WrongRow
        The rows that are predicted wrongly, the most frequently wrong first.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelknife.datasets import make_skin_of_orange
    >>> from kernelknife.app.selection import select_features
    >>> X, y = make_skin_of_orange(80, 2, random_state=0)
    >>> frame = pd.DataFrame(X, columns=list("abcdef")).assign(fruit=y)
    >>> quality = select_features(frame, "fruit", alpha=1.0, sparsity=5.0, folds=3).quality
    >>> quality.classes, float(quality.confusion.sum())
    (('0', '1'), 80.0)
    """

    classes: tuple[str, ...]
    confusion: np.ndarray
    class_errors: np.ndarray
    balanced_error: float
    area: float | None
    wrong_rows: tuple[WrongRow, ...] = field(repr=False)

    def to_json(self) -> dict:
        """Return the figures as a dict that ``json.dumps`` accepts.

        Returns
        -------
        dict
            Classes, counts, errors and the rows that are wrong.
        """
        return {
            "classes": list(self.classes),
            "confusion": self.confusion.round(6).tolist(),
            "class_errors": [float(error) for error in self.class_errors],
            "balanced_error": self.balanced_error,
            "area_under_the_curve": self.area,
            "wrong_rows": [vars(row) for row in self.wrong_rows],
        }


@dataclass(frozen=True)
class Selection:
    """Which columns matter for a target.

    Attributes
    ----------
    features : tuple of Feature
        All columns: the selected ones first, by weight.
    error, baseline_error, full_error : Score
        Errors on the same folds: of the selected model, of the baseline (the mean of the target, or
        its most frequent class), and of a kernel model that uses all columns with equal weights.
        The first and the last are nested: every fold tests what the other folds have selected, so
        that selecting among many candidates does not make them too small.
    full_model : str
        Which model uses all columns, in words: one of scikit-learn, where it has one for the loss.
    advantage, full_advantage : Score
        Share of the baseline's error that the selected model saves, and that the one with all
        columns saves.
    held_out : HeldOut or None
        Errors on the rows that were held out, if there were any.
    quality : ClassQuality or None
        How well single classes are predicted; None for a number.
    effects : tuple of Effect
        How the prediction changes with each selected column.
    interactions : tuple of Interaction
        The columns of an ANOVA model that act together, at most eight pairs or triples with more
        than 0.5 % of the variance, the largest first. Empty for other kernels.
    substitutes : Substitutes
        Which columns could take the place of the selected ones, on the folds of the search.
    table : Table
        The table as it was read, with the notes on what was guessed.
    encoder : TableEncoder
        Turns a table into the columns that the model takes.
    search : KnifeRegressorCV or KnifeClassifierCV
        The cross-validation.
    model : KnifeRegressor or KnifeClassifier
        The selected model; it predicts from the columns that the encoder returns.
    settings : SelectOptions
        The arguments of :func:`select_features`.
    versions : dict
        Versions of the software.
    seconds : float
        How long it took.
    searched_products : dict
        In how many rows products of 2 and of 3 columns were searched for pure interactions, 0 where
        there are too many columns; empty where no kernel was compared that could use them.
    rates : ErrorRate or None
        Error rates of the columns by half-samples or knockoffs, if they were asked for. They then
        decide what is a finding.
    survival : SurvivalQuality or None
        Concordances and curves of risk groups; None for a target that is no time until an event.
    calibration : Calibration or None
        Predicted and observed means, or how many rows lie below quantiles, on the test rows of the
        folds; None where the loss is not one of counts, amounts or quantiles. The share of the
        deviance that is explained is ``advantage``.
    against_noise : AgainstNoise or None
        Which columns are stronger than the strongest of permuted targets; None for a quick look.
    information : dict of ColumnInformation
        By the name of a column, what it says about the target on its own.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelknife.datasets import make_sinusoidal
    >>> from kernelknife.app.selection import select_features
    >>> X, y = make_sinusoidal(80, 3, random_state=2)
    >>> frame = pd.DataFrame(X, columns=list("abcdefgh")).assign(y=y)
    >>> selection = select_features(frame, "y", alpha=0.3, folds=3)
    >>> sorted(selection.selected), selection.predict(frame).shape
    (['a', 'b', 'c', 'd', 'e'], (80,))
    >>> selection.error.mean < selection.baseline_error.mean
    True
    """

    features: tuple[Feature, ...] = field(repr=False)
    error: Score
    baseline_error: Score
    full_error: Score
    full_model: str
    advantage: Score
    full_advantage: Score
    held_out: HeldOut | None
    quality: ClassQuality | None = field(repr=False)
    effects: tuple[Effect, ...] = field(repr=False)
    interactions: tuple[Interaction, ...] = field(repr=False)
    substitutes: Substitutes = field(repr=False)
    table: Table = field(repr=False)
    encoder: TableEncoder = field(repr=False)
    search: KnifeRegressorCV | KnifeClassifierCV = field(repr=False)
    model: KnifeRegressor | KnifeClassifier = field(repr=False)
    settings: SelectOptions = field(repr=False)
    versions: dict = field(repr=False)
    seconds: float
    searched_products: dict[int, int] = field(default_factory=dict)
    rates: ErrorRate | None = None
    survival: Any = None
    calibration: Any = None
    against_noise: AgainstNoise | None = field(default=None, repr=False)
    information: dict[str, ColumnInformation] = field(default_factory=dict, repr=False)

    @property
    def selected(self) -> list[str]:
        """Names of the selected columns, the largest weight first."""
        return [feature.name for feature in self.features if feature.selected]

    @cached_property
    def verdict(self) -> Verdict:
        """What may be called a finding, and how sure its columns are.

        Headline, report, JSON and the exit status of the command read it.
        """
        return decide(self)

    def in_tier(self, tier: str) -> list[str]:
        """Return the names of the columns of one tier, the most frequently selected first.

        Parameters
        ----------
        tier : {"stable", "uncertain", "unstable"}
            A stable column is used by the model and selected in at least four of five folds, an
            uncertain one is selected in at least two of five, and an unstable one is used by the
            model, but fewer folds select it.

        Returns
        -------
        list of str
            Their names; none where there is no finding, or where an error rate was asked for, which
            then decides.
        """
        if tier not in TIERS:
            raise ValueError(f"tier must be one of {', '.join(TIERS)}, got {tier!r}.")
        return self.verdict.in_tier(tier)

    @property
    def full_model_in_words(self) -> str:
        """Whose model with all columns it is that the selected one is compared with."""
        if self.survival is not None:
            return str(self.full_model)
        owner = "the" if self.full_model == OWN_MODEL else "scikit-learn's"
        return f"{owner} {self.full_model}"

    @property
    def error_name(self) -> str:
        """What the errors are, in words."""
        own = self.search.score_name_
        if own.startswith("neg_mean_") and own != "neg_mean_squared_error":
            return own.removeprefix("neg_").replace("_", " ")  # that of a loss
        balanced = self.settings.class_weight is not None
        return BALANCED_ERROR_NAME if balanced else ERROR_NAMES[self.table.task]

    @property
    def better(self) -> bool:
        """Whether the selected model has a lower error than the baseline, by more than the scatter.

        If rows were held out, the error must be below the baseline's on them as well.
        """
        return self.verdict.better

    @property
    def asked(self) -> bool:
        """Whether a penalty or a number of columns was asked for and not left to the folds."""
        return self.settings.sparsity is not None or self.settings.n_features is not None

    @property
    def weighting(self) -> str:
        """What has become of the weights: "penalized", "relaxed" or "equal".

        That of a model that was asked for may differ from ``search.weighting_``.
        """
        if not self.model.learn_weights:
            return "equal"
        return "relaxed" if self.model.relax else "penalized"

    @property
    def keeps_all(self) -> bool:
        """Whether the folds preferred all columns with equal weights to every shorter list."""
        return self.weighting == "equal"

    @property
    def rows_searched(self) -> int:
        """Number of rows that the search has used."""
        return len(rows_of_splits(self.search.splits_))

    @property
    def model_in_words(self) -> str:
        """Which kernels were compared and what the selected model is."""
        search = self.search
        compared = list(dict.fromkeys(search.cv_results_["kernel"]))
        words = f"{search.kernel_name_}: {search.kernel_.words}"
        if not self.selected:
            kernels = "kernel" if len(compared) == 1 else "kernels"
            return f"No column is left with the {kernels} {listed(compared)}.{self._adjusted}"
        if len(compared) > 1:
            words = f"Among the kernels {listed(compared)}, cross-validation selected {words}."
        else:
            words = f"The kernel is {words}."
        if self.keeps_all and self.verdict.better:
            words += " All columns with equal weights have a lower error than every shorter list."
        return words + self._adjusted

    @property
    def _adjusted(self) -> str:
        """What is adjusted for, in words."""
        names = self.table.adjusted
        if not names:
            return ""
        return (
            f" Adjusted for {listed(list(names))}, by a linear part that nothing penalizes; the "
            "baseline is the model of that alone."
        )

    @property
    def baseline_name(self) -> str:
        """What the baseline is, in words."""
        names = self.table.adjusted
        return f"baseline ({listed(list(names))} alone)" if names else "baseline (constant)"

    @property
    def quality_in_words(self) -> str:
        """Why the figures of single classes look better than the error, where they do."""
        if self.quality is None or self.asked:
            return ""
        return (
            "Figures of single classes use the folds that selected the model and are slightly "
            f"optimistic; the error of the selected columns is nested: {self.nested_in_words}."
        )

    @property
    def nested_in_words(self) -> str:
        """What a nested error is of, and what optimism is left in it."""
        if self.settings.nested == "full":
            return "every fold tests what a whole search of its training rows selects"
        return (
            "every fold tests what the other folds select, which leaves a little optimism, because "
            "these have trained on its rows"
        )

    @property
    def products_in_words(self) -> str:
        """Which products of columns were not searched on all rows, nothing where all were."""
        return products_in_words(self.searched_products, self.rows_searched)

    @property
    def loses_to_all(self) -> bool:
        """Whether a model with all columns has a lower error, by more than one standard error.

        It must clearly be better than the baseline: otherwise neither has learned anything.
        """
        full, spread = self.full_error.mean, self.error.spread
        return self.verdict.all_better and full < self.error.mean - spread

    def predict(self, frame) -> np.ndarray:
        """Predict the target for the rows of a data frame.

        Parameters
        ----------
        frame : DataFrame
            It must hold the selected columns, and those that are adjusted for; others are ignored.

        Returns
        -------
        ndarray
            One prediction per row.
        """
        needed = [*self.selected, *self.table.adjusted]
        frame = expand_dates(as_pandas(frame)[0], self.table.dates, needed)
        return self.model.predict(self.encoder.transform(frame, needed))

    def to_json(self) -> dict:
        """Return the answer as a dict that ``json.dumps`` accepts.

        Returns
        -------
        dict
            Columns, penalties, errors, settings and versions.
        """
        from kernelknife.app.selection.record import as_plain, describe  # which reads selections

        return {
            "target": self.table.target_name,
            "verdict": {
                "finding": self.verdict.finding,
                "decided_by": self.verdict.decided_by,
                "p_value": self.verdict.p_value,
                "stronger_than_noise": list(self.verdict.stronger_than_noise),
                "carry_information": list(self.verdict.informative),
                "sentence": headline(self),
            },
            "task": self.table.task,
            "selected": self.selected,
            **{tier: self.in_tier(tier) for tier in TIERS},
            "features": [
                {**vars(feature), "tier": self.verdict.tiers.get(feature.name, "")}
                for feature in self.features
            ],
            "kernel": self.search.kernel_name_,
            "alpha": float(self.model.alpha),
            "sparsity": float(self.model.sparsity_),
            "error": self._errors_to_json(),
            "survival": None if self.survival is None else self.survival.to_json(),
            "calibration": None if self.calibration is None else self.calibration.to_json(),
            "better_than_baseline": self.verdict.better,
            "all_columns_better_than_baseline": self.verdict.all_better,
            "worse_than_all_columns": self.loses_to_all,
            "error_rate": None if self.rates is None else self.rates.to_json(),
            "against_noise": None if self.against_noise is None else self.against_noise.to_json(),
            "information": {name: vars(one) for name, one in self.information.items()},
            "rows": len(self.table.target),
            "rows_searched": self.rows_searched,
            "searched_products": products_as_json(self.searched_products),
            "columns": self.table.n_candidates,
            "kept": list(self.table.kept),
            "adjusted_for": list(self.table.adjusted),
            "settings": {name: as_plain(value) for name, value in printed(self.settings).items()},
            "versions": self.versions,
            **describe(self),
        }

    def _errors_to_json(self):
        """Return the errors and what they are compared with."""
        return {
            "name": self.error_name,
            "mean": self.error.mean,
            "standard_error": self.error.spread,
            "baseline": self.baseline_error.mean,
            "all_features": self.full_error.mean,
            "all_features_model": self.full_model,
            "advantage_over_baseline": self.advantage.mean,
            "advantage_standard_error": self.advantage.spread,
            "advantage_of_all_features": self.full_advantage.mean,
            "nested": self.settings.nested,
            "held_out": None if self.held_out is None else vars(self.held_out),
        }

    def _repr_html_(self):
        # Notebooks call this method. The report reads selections, so it is imported only when
        # there is something to show.
        from kernelknife.app.report import build_fragment

        return build_fragment(self)
