"""What a selection returns, as plain data."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kernelknife._tuning.splits import rows_of_splits
from kernelknife._utils.messages import listed, number
from kernelknife.app.options import SelectOptions, printed
from kernelknife.app.selection.effects import Effect, Interaction
from kernelknife.app.selection.evidence import AgainstNoise, ColumnInformation
from kernelknife.app.selection.products import products_as_json, products_in_words
from kernelknife.app.selection.quality import (
    Calibration,
    ClassQuality,
    HeldOut,
    Score,
    SurvivalQuality,
)
from kernelknife.app.selection.rates import ErrorRate
from kernelknife.app.selection.verdict import TIERS, Verdict, decide, headline
from kernelknife.app.tables import Table, TableEncoder, rows_to_predict
from kernelknife.app.tables.making import as_pandas
from kernelknife.cross_validation import KnifeClassifierCV, KnifeRegressorCV
from kernelknife.estimators import KnifeClassifier, KnifeRegressor
from kernelknife.inspection.substitutes import Substitutes

__all__ = ["OWN_MODEL", "Feature", "Selection"]

ERROR_NAMES = {
    "regression": "mean squared error",
    "classification": "misclassification rate",
    "survival": "partial likelihood lost per row",
}
BALANCED_ERROR_NAME = "balanced misclassification rate"
MOST_NAMED = 8  # columns in the text of a selection
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
    columns : tuple of str
        The columns of the table that share the weight: the column itself, or those of a group.

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
    columns: tuple[str, ...] = ()

    def __post_init__(self):
        object.__setattr__(self, "columns", tuple(self.columns) or (self.name,))

    @property
    def selected(self) -> bool:
        """Whether the selected model uses the column."""
        return self.weight > 0


@dataclass(frozen=True, repr=False)
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

    features: tuple[Feature, ...]
    error: Score
    baseline_error: Score
    full_error: Score
    full_model: str
    advantage: Score
    full_advantage: Score
    held_out: HeldOut | None
    quality: ClassQuality | None
    effects: tuple[Effect, ...]
    interactions: tuple[Interaction, ...]
    substitutes: Substitutes
    table: Table
    encoder: TableEncoder
    search: KnifeRegressorCV | KnifeClassifierCV
    model: KnifeRegressor | KnifeClassifier
    settings: SelectOptions
    versions: dict
    seconds: float
    searched_products: dict[int, int] = field(default_factory=dict)
    rates: ErrorRate | None = None
    survival: SurvivalQuality | None = None
    calibration: Calibration | None = None
    against_noise: AgainstNoise | None = None
    information: dict[str, ColumnInformation] = field(default_factory=dict)

    @property
    def selected(self) -> list[str]:
        """Names of the selected columns, or of groups of them, the largest weight first."""
        return [feature.name for feature in self.features if feature.selected]

    @property
    def columns(self) -> list[str]:
        """Columns of a table that a prediction needs: selected, adjusted for, the exposure."""
        chosen = [name for one in self.features if one.selected for name in one.columns]
        own = [] if self.table.exposure_name is None else [self.table.exposure_name]
        return [*chosen, *self.table.adjusted, *own]

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
            It must hold the columns in ``columns``; others are ignored.

        Returns
        -------
        ndarray
            One prediction per row, or several quantiles; of counts for the exposure of the row.
        """
        rows = rows_to_predict(
            self.encoder,
            as_pandas(frame)[0],
            self.table.dates,
            self.columns,
            self.table.exposure_name,
        )
        return self.model.predict(**rows)

    def to_frame(self, table="columns"):
        """Return one of the tables of the answer as a pandas data frame.

        Parameters
        ----------
        table : str, default="columns"
            "columns" has one row per column of the table, or per group of columns, the selected
            ones first. ``tier`` says how sure a column is, empty where it is not known to matter;
            ``p_value``, ``q_value``, ``share`` and ``shape`` are of the column alone. Also
            "errors", "effects", "path" and what else the report offers as CSV.

        Returns
        -------
        DataFrame
            The same numbers as in the report.

        Examples
        --------
        >>> import pandas as pd
        >>> from kernelknife.datasets import make_sinusoidal
        >>> from kernelknife.app.selection import select_features
        >>> X, y = make_sinusoidal(80, 1, random_state=0)
        >>> frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
        >>> selection = select_features(frame, "y", alpha=0.3, sparsity=5.0, folds=3)
        >>> sorted(selection.to_frame()["column"].head(5))
        ['a', 'b', 'c', 'd', 'e']
        """
        from kernelknife.app.selection.record import frame_of, tables_of

        return frame_of(tables_of(self.to_json()), table)

    def figures(self):
        """Return the figures of the report by their names, drawn by matplotlib.

        Returns
        -------
        dict of Figure
            Such as "errors", "path" and "effect_1"; ``savefig`` writes one to a file.
        """
        from kernelknife.app.report import draw_figures

        return draw_figures(self.to_json())

    def __repr__(self) -> str:
        names = ", ".join(map(repr, self.selected[:MOST_NAMED]))
        more = len(self.selected) - MOST_NAMED
        others = f" and {more} more" if more > 0 else ""
        error, least = self.error, self.baseline_error
        return (
            f"<Selection of {self.table.target_name!r}: {names or 'no column'}{others}, of "
            f"{self.table.in_words(len(self.features))}; {self.error_name} {number(error.mean)} +- "
            f"{number(error.spread)}, baseline {number(least.mean)}"
            f"{'' if self.verdict.finding else '; no sure finding'}>"
        )

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
                {
                    **vars(feature),
                    "columns": list(feature.columns),
                    "tier": self.verdict.tiers.get(feature.name, ""),
                }
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
            **self._roles_to_json(),
            "settings": {name: as_plain(value) for name, value in printed(self.settings).items()},
            "versions": self.versions,
            **describe(self),
        }

    def _roles_to_json(self):
        """Return what columns are used for, other than to choose from."""
        return {
            "kept": list(self.table.kept),
            "adjusted_for": list(self.table.adjusted),
            "logarithms": list(self.table.logs),
            "groups": self.table.column_groups,
            "exposure": self.table.exposure_name,
            "order": self.table.order,
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
