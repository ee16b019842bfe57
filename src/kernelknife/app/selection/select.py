"""The whole way from a data frame to a selection, as a sequence of named steps."""

import numbers
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelknife._engine import FitSpec, prepare_arrays, set_up
from kernelknife._engine.data.targets import stack_offset
from kernelknife._engine.policy import FOLDS, is_counted, quick_centers, unjudged_classes
from kernelknife._tuning.candidates import SearchSpec, penalty_for_share
from kernelknife._tuning.halving import plan_search
from kernelknife._tuning.splits import rows_of_splits
from kernelknife._utils.versions import versions
from kernelknife.app.messages import Hint
from kernelknife.app.options import SelectOptions
from kernelknife.app.selection.checks import (
    check_groups,
    check_loss_options,
    check_options,
    check_size,
    fewer_folds,
    loss_of,
)
from kernelknife.app.selection.comparison import (
    add_probabilities,
    advantage_over,
    compare_models,
    judge_classes,
    judge_held_out,
    loss_with_score,
    mean_score,
    select_model,
)
from kernelknife.app.selection.effects import find_effects, find_interactions
from kernelknife.app.selection.evidence import compare_with_noise, find_information
from kernelknife.app.selection.planning import (
    SUBSTITUTE_ROWS,
    announce_search,
    arguments_of_search,
    check_centers,
    draw_quick_rows,
    folds_in_time,
    split_held_out,
)
from kernelknife.app.selection.products import find_searched_products
from kernelknife.app.selection.quality import (
    compare_survival,
    judge_calibration,
    judge_survival,
)
from kernelknife.app.selection.rates import (
    check_copies,
    check_knockoffs,
    check_rates,
    find_rates,
)
from kernelknife.app.selection.result import Feature, Selection
from kernelknife.app.tables import Table, TableEncoder, TableError, make_table
from kernelknife.app.tables.columns import listing
from kernelknife.cross_validation import KnifeClassifierCV, KnifeRegressorCV, models_of_folds
from kernelknife.inspection.substitutes import Substitutes, find_substitutes, fold_of_rows
from kernelknife.losses import check_loss
from kernelknife.survival_cv import KnifeSurvivalCV

__all__ = ["select_features"]

SEARCHES = {
    "regression": KnifeRegressorCV,
    "classification": KnifeClassifierCV,
    "survival": KnifeSurvivalCV,
}


def select_features(
    frame,
    target,
    *,
    drop=(),
    ids=(),
    group=None,
    event=None,
    exposure=None,
    order=None,
    forward=False,
    task=None,
    always_keep=(),
    adjust_for=(),
    feature_groups=None,
    levels=(),
    log=(),
    impute=None,
    drop_missing=False,
    dates=(),
    kernel="auto",
    loss=None,
    quantile=None,
    class_weight=None,
    alpha=None,
    sparsity=None,
    n_features=None,
    rule="min",
    folds=None,
    nested="others",
    hold_out=0.0,
    n_centers="auto",
    stability=False,
    max_false=1.0,
    fdr=None,
    n_permutations=20,
    level=0.05,
    quick=False,
    random_state=0,
    n_jobs=None,
    callbacks=(),
    announce=None,
):
    """Find which columns of a data frame matter for one of them.

    A text column has one weight and is selected as a whole. The penalty on its weight is that of a
    column of numbers, however many levels it has; of more than 30 levels the rare ones are joined.
    Ordered categories keep their order.

    Parameters
    ----------
    frame : DataFrame
        One row per observation, one column per variable, the target among them. Of pandas or
        polars; lazy frames, pyarrow tables and DuckDB relations are collected, with a note.
    target : str
        Name of the column to predict; with ``event`` a time.
    drop, ids : sequence of str, default=()
        Columns to leave out. Here and in all other sequences of columns ``"a,b"`` are two columns,
        and ``"x*"`` are all whose names begin so, unless a column has that very name.
    group : str, default=None
        Column whose equal values mark rows that belong together and stay in one fold.
    event : str, default=None
        Column that is 1 where the event was observed at the time ``target``, and 0 where the row is
        censored then: columns are selected by a survival model.
    exposure : str, default=None
        Of counts: column that they are proportional to, such as years or persons. Predictions are
        then counts for the exposure of their row; effects are those of an exposure of one.
    order : str, default=None
        Column of the time of the rows, dates or numbers, by which they are sorted: folds are blocks
        of neighbors, the last rows are held out, and half-samples are of blocks.
    forward : bool, default=False
        With ``order``, whether every fold tests the rows after its training rows, instead of a
        block between them.
    task : {"regression", "classification"}, default=None
        None guesses from the target.
    always_keep : sequence of str, default=()
        Columns that are never dropped: no penalty, a weight that is learned.
    adjust_for : sequence of str, default=()
        Columns such as sex or batch that have a linear part of their own (a number for each level
        of a text) beside the kernel, and are not among the columns to choose from. The baseline is
        then the model of these columns alone.
    feature_groups : dict or path, default=None
        Groups of columns that share one weight and are selected as a whole, by the name of their
        group: a dict from groups to columns, a CSV file of columns and groups with the first line
        ``column,group``, or gene sets (``.gmt``). The penalty on the weight is that of all its
        columns together. Groups must not overlap; columns in none stay alone.
    levels : sequence of str, default=()
        Columns whose values are names of levels: numbers such as the code of a site, and texts that
        would be taken for identifiers because few of them occur more than once.
    log : sequence of str, default=()
        Columns of positive numbers, such as intensities, whose natural logarithm is used. It is
        part of the model: predictions are made from the columns as they are.
    impute : {None, "median"}, default=None
        None uses gaps as they are: a missing number is the mean of its column and an indicator
        with the column's weight, learned inside every fold, and a missing text is a level of its
        own. ``"median"`` replaces missing numbers by the median of their column. Medians come from
        all rows that are not held out, before these are split into folds; they never see the
        target.
    drop_missing : bool, default=False
        Whether to leave out rows with missing values.
    dates : sequence of {"days", "year", "month"}, default=()
        What columns of dates become: days since the first date, years, months. Empty refuses them.
    kernel : str, Kernel or list of them, default="auto"
        Cross-validation selects one of several; "auto" is linear, additive, ANOVA and Gaussian.
    loss : str, default=None
        See :class:`kernelknife.KnifeRegressor` and :class:`kernelknife.KnifeClassifier`.
    quantile : float or sequence of float, default=None
        Select the columns of this quantile of a number, such as 0.9, instead of those of its mean,
        or of several at once; the loss is then the pinball loss.
    class_weight : "balanced" or dict, default=None
        See :class:`kernelknife.KnifeClassifier`. With it the error is the balanced one: the mean
        misclassification rate of the classes.
    alpha : float, default=None
        Penalty on the norm of the model. None selects one of several by cross-validation.
    sparsity : float, default=None
        Penalty on the weights. None selects it by cross-validation.
    n_features : int, default=None
        Number of columns to select, instead of a sparsity.
    rule : {"min", "1se"}, default="min"
        Select the penalties of the least error (up to a quarter of a standard error, within which
        the fewest columns decide), or those of the fewest columns within one standard error of it.
    folds : int or splitter, default=None
        Number of folds, or a splitter of scikit-learn. None is five folds, twice five below 200
        rows, and as many as the rarer of two classes has rows where these are fewer than five.
    nested : {"others", "full"}, default="others"
        What the errors of the selected columns are. "others" tests in every fold what the other
        folds select, which costs nothing; they have trained on that fold's rows, so that a little
        optimism is left. "full" searches once more inside the training rows of every fold: an
        honest estimate, at about as many more searches as there are folds, and the time announced
        before the work begins includes them.
    hold_out : float or str, default=0.0
        Share of the rows (or of the groups, if there are any) that is kept for judging alone, or a
        column and the value that marks these rows, such as ``"split=test"``.
    n_centers : int or "auto", default="auto"
        Number of Nystrom centers of the model. 0 is the exact method. "auto" lets the number of
        rows decide: see :class:`kernelknife.KnifeRegressorCV`.
    stability : bool, default=False
        Whether columns are also selected by their share of random half-samples, with the kernel and
        the ``alpha`` of the selected model; see :class:`kernelknife.KnifeStability`.
    max_false : float, default=1.0
        Largest expected number of false columns in that selection.
    fdr : float, default=None
        Largest expected share of false columns among those that beat their knockoffs; see
        :class:`kernelknife.KnifeKnockoffs`. None draws no knockoffs. Text columns and a ``group``
        are refused: knockoffs are of single columns, and of rows that are independent.
    n_permutations, level : int and float, default=20 and 0.05
        Permutations of the target whose strongest column of noise the columns are compared with,
        on the path of the selected kernel; see :meth:`kernelknife.PathResult.calibrate`. 0 for
        none; a quick look has none.
    quick : bool, default=False
        Whether a first answer within about ten seconds is enough: on at most 1,000 rows, fewer for
        many columns or classes, with the linear and the Gaussian kernel, one ``alpha``, three folds
        and few penalties. A ``kernel``, ``alpha``, ``folds`` or ``n_centers`` of yours is used
        instead.
    random_state : int, default=0
        Seed of everything random.
    n_jobs : int, default=None
        Number of folds to run at the same time.
    callbacks : sequence, default=()
        Callbacks of scikit-learn, such as a progress bar.
    announce : callable, default=None
        Called with every note on what was guessed or left out, before the work begins; ``print``
        shows them.

    Returns
    -------
    Selection
        The selected columns, their errors and the fitted model.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelknife.datasets import make_sinusoidal
    >>> X, y = make_sinusoidal(80, 3, random_state=2)
    >>> frame = pd.DataFrame(X, columns=list("abcdefgh")).assign(y=y)
    >>> selection = select_features(frame, "y", alpha=0.3, folds=3)
    >>> sorted(selection.selected)
    ['a', 'b', 'c', 'd', 'e']
    """
    begin = time.perf_counter()
    options = SelectOptions(
        target=target, drop=drop, ids=ids, group=group, event=event, exposure=exposure,
        order=order, forward=forward, task=task, always_keep=always_keep, adjust_for=adjust_for,
        feature_groups=feature_groups, levels=levels, log=log, impute=impute,
        drop_missing=drop_missing, dates=dates, kernel=kernel, loss=loss, quantile=quantile,
        class_weight=class_weight, alpha=alpha, sparsity=sparsity, n_features=n_features,
        rule=rule, folds=folds, nested=nested, hold_out=hold_out, n_centers=n_centers,
        stability=stability, max_false=max_false, fdr=fdr, n_permutations=n_permutations,
        level=level, quick=quick, random_state=random_state, n_jobs=n_jobs,
    )  # fmt: skip
    check_options(options)
    check_rates(options)
    data = _read_data(make_table(frame, options), options)
    search, spec = _make_search(data, options, callbacks)
    plan = plan_search(spec, len(data.X), data.n_folds)
    for callback in callbacks:
        if hasattr(callback, "expect"):
            callback.expect(plan.n_paths)
    if announce is not None:
        for note in data.notes(options):
            announce(note)
        permuted = 0 if quick else n_permutations
        announce(announce_search(spec, plan, data.X, data.y, quick=quick, n_permutations=permuted))
    with warnings.catch_warnings():
        # A note has said it.
        warnings.filterwarnings("ignore", ".*too few rows for the folds cannot be judged")
        of_counts = {} if data.exposure is None else {"exposure": data.exposure}
        search.fit(data.X, data.y, groups=data.groups, **of_counts)
    return _make_selection(search, data, options, callbacks, begin)


@dataclass(frozen=True)
class SelectionData:
    """The rows that columns are selected on, as numbers.

    Attributes
    ----------
    table : Table
    encoder : TableEncoder
        Fitted on all rows that are not held out.
    rows, held_out : ndarray of int
        The rows of the table that the selection uses, and those held out.
    X, y, groups, exposure : ndarray
        Of the former; the last two are None without a column of groups, or of exposures.
    cv : int, splitter or None
    n_folds : int or None
        Number of folds where the rows decide it.
    fewer_folds : int or None
        The same where a rare class is the reason.
    unjudged : tuple of str
        Classes with too few rows for the folds, which train on all of them.
    """

    table: Table
    encoder: TableEncoder
    rows: np.ndarray
    held_out: np.ndarray
    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray | None
    cv: Any
    n_folds: int | None
    fewer_folds: int | None
    unjudged: tuple[str, ...] = ()
    exposure: np.ndarray | None = None

    @property
    def known(self) -> np.ndarray | None:
        """The logarithms of the exposures, which are known parts of the scores."""
        return None if self.exposure is None else np.log(self.exposure)

    def notes(self, options: SelectOptions) -> list[str]:
        """Return what was guessed or left out, and what is going to be done."""
        notes = list(self.table.notes)
        if self.fewer_folds is not None:
            notes.append(
                f"{self.fewer_folds} folds, because the rarest class of {options.target} has "
                f"{self.fewer_folds} rows"
            )
        if self.unjudged:
            notes.append(
                f"too few rows of {options.target} to judge {listing(self.unjudged)}: these rows "
                "are in the training rows of every fold"
            )
        if self.table.order is not None:
            way = "every fold tests rows after its training rows"
            blocks = "folds are blocks of neighbors"
            notes.append(
                f"took the rows in the order of {self.table.order}: "
                f"{way if options.forward else blocks}"
            )
        chosen = self.table.in_words(self.table.n_candidates)
        return [*notes, f"selecting among {chosen} with {len(self.X)} rows"]


def _read_data(table: Table, options: SelectOptions) -> SelectionData:
    """Return the rows of a table that the selection uses, after all checks that need no search."""
    check_size(table, options.n_features)
    rows, held_out = split_held_out(table, options.hold_out, options.random_state)
    encoder = TableEncoder(options.impute, table.logs, table.column_groups or None)
    encoder.fit(table.features.iloc[rows])
    check_loss_options(options, table, rows)
    if options.fdr is not None:
        check_knockoffs(encoder, options, table)
    loss = loss_of(options)
    check_centers(options, None if loss is None else check_loss(loss, table.task))
    if options.class_weight is not None and table.task != "classification":
        kind = "a number" if table.task == "regression" else "a time"
        raise TableError(
            f"Class weights are for classes; the target {table.target_name} is {kind}."
        )
    cv = arguments_of_search(options).get("cv")
    if table.order is not None and is_counted(cv):
        cv = folds_in_time(cv, table, options)
    check_groups(table, rows, cv)
    if isinstance(options.folds, numbers.Integral) and int(options.folds) > len(rows):
        raise TableError(
            f"{options.folds} folds need as many rows, got {len(rows)}.",
            Hint("use {}, or fewer", {"folds": len(rows)}),
        )
    fewer = fewer_folds(table, table.target[rows], cv, asked=options.folds is not None)
    if fewer is not None and cv is not None:
        cv = fewer  # otherwise the search does the same, and shuffles the rows
    if options.quick:
        y, width = table.target[rows], len(encoder.feature_groups_)
        drawn = draw_quick_rows(y, width, table.task, options.folds, options.random_state)
        rows = rows[drawn if table.order is None else np.sort(drawn)]
    X, y = encoder.transform(table.features.iloc[rows]), table.target[rows]
    if options.fdr is not None:
        check_copies(encoder, X, table.adjusted)
    groups = None if table.groups is None else table.groups[rows]
    n_folds = FOLDS.n_folds if groups is not None and cv is None else fewer
    unjudged: tuple[str, ...] = ()
    if table.task == "classification" and groups is None:
        labels, codes = np.unique(y, return_inverse=True)
        unjudged = tuple(str(labels[k]) for k in unjudged_classes(codes, cv))
    exposure = None if table.exposure is None else table.exposure[rows]
    return SelectionData(
        table, encoder, rows, held_out, X, y, groups, cv, n_folds, fewer, unjudged, exposure
    )


def _make_search(
    data: SelectionData, options: SelectOptions, callbacks: Sequence
) -> tuple[KnifeRegressorCV | KnifeClassifierCV, SearchSpec]:
    """Return the cross-validated estimator, not yet fitted, and its specification."""
    estimator = SEARCHES[data.table.task]
    balanced = options.class_weight is not None
    of_loss = {"loss": loss_of(options), "class_weight": options.class_weight}
    if data.table.task == "survival":
        of_loss = {}
    search = estimator(
        **{**arguments_of_search(options), "cv": data.cv},
        **of_loss,
        rule=options.rule,
        nested=options.nested,
        random_state=options.random_state,
        n_jobs=options.n_jobs,
        feature_groups=data.encoder.feature_groups_,
        feature_costs=data.encoder.feature_costs,
        always_keep=data.encoder.places(data.table.kept),
        adjust_for=data.encoder.places(data.table.adjusted),
        scoring="balanced_accuracy" if balanced else None,
    )
    if callbacks:
        search.set_callbacks(*callbacks)
    spec = SearchSpec.from_estimator(search)
    if options.quick and options.n_centers == "auto":
        n_centers = quick_centers(spec.kernels.values(), spec.fit.loss, len(data.X))
        search.set_params(n_centers=n_centers)
        spec = replace(spec, n_centers=n_centers)
    return search, spec


def _make_selection(
    search: KnifeRegressorCV | KnifeClassifierCV,
    data: SelectionData,
    options: SelectOptions,
    callbacks: Sequence,
    begin: float,
) -> Selection:
    """Return the answer of a fitted search: the model, its errors, and what the columns do."""
    table, encoder, X, y = data.table, data.encoder, data.X, data.y
    selected = select_model(search, X, y, options, data.exposure)
    model, seed = selected.model, options.random_state
    features = _describe_features(selected, search, encoder, table.adjusted)
    names = [name for feature in features if feature.selected for name in feature.columns]
    baseline_errors, full_errors, full_model = _compare(search, data, options.n_jobs)
    quality = _judge_classes(selected, search, data, options.n_jobs)
    rates = find_rates(model, encoder, X, y, data.groups, options, callbacks, data.exposure)
    if rates is not None:
        rates = rates.without(table.adjusted)
    # Encoding no rows of many columns takes as long as encoding some.
    held = data.held_out
    Z = encoder.transform(table.features.iloc[held]) if len(held) else X[:0]
    return Selection(
        features=features,
        error=mean_score(selected.errors),
        baseline_error=mean_score(baseline_errors),
        full_error=mean_score(full_errors),
        full_model=full_model,
        advantage=advantage_over(baseline_errors, selected.errors, search.splits_),
        full_advantage=advantage_over(baseline_errors, full_errors, search.splits_),
        held_out=judge_held_out(
            model,
            X,
            y,
            Z,
            table.target[held],
            data.exposure,
            None if table.exposure is None else table.exposure[held],
        ),
        quality=quality,
        survival=_judge_survival(selected, search, data, options.n_jobs),
        calibration=_judge_calibration(selected, search, data, options.n_jobs),
        effects=find_effects(model, encoder, X, names, seed),
        interactions=find_interactions(model, encoder, X, seed),
        substitutes=_find_substitutes(model, search, data, options.quick),
        table=table,
        encoder=encoder,
        search=search,
        model=model,
        settings=options,
        versions=versions(),
        searched_products=_searched_products(search, data),
        rates=rates,
        against_noise=compare_with_noise(search, encoder, data.groups, options),
        information=find_information(encoder, X, y, table.task, data.exposure),
        seconds=time.perf_counter() - begin,
    )


def _compare(search, data, n_jobs):
    """Return the errors of the baseline and of all columns on the folds, and the latter's model."""
    if data.table.task == "survival":
        return compare_survival(search, data.y)
    return compare_models(
        search,
        data.X,
        data.y,
        task=data.table.task,
        adjusted=search.adjust_for,
        exposure=data.exposure,
        n_jobs=n_jobs,
    )


def _searched_products(search, data):
    """Return in how many rows products of two and of three columns were searched."""
    spec, (n_rows, n_columns) = SearchSpec.from_estimator(search), data.X.shape
    n_rows = min(n_rows, len(rows_of_splits(search.splits_)))
    n_classes = len(np.unique(data.y)) if data.table.task == "classification" else 0
    n_outputs = n_classes if n_classes > 2 else 1
    kernels = spec.kernels.values()
    return find_searched_products(
        search.path_.searched_products, kernels, n_rows, n_columns, n_outputs
    )


def _find_substitutes(model, search, data, quick):
    """Return what could replace the selected columns, on the rows and folds of the search."""
    X, y = data.X, data.y if data.known is None else stack_offset(data.y, data.known)
    rows = rows_of_splits(search.splits_)
    fold = fold_of_rows(search.splits_, rows)
    every = -(-len(rows) // SUBSTITUTE_ROWS) if quick else 1
    rows, fold = rows[::every], fold[::every]
    if not model.learn_weights:
        return Substitutes(())  # every column is selected, and none is left as a substitute
    spec = FitSpec.from_estimator(model, offset=data.known is not None)
    setup = set_up(spec, prepare_arrays(spec, X[rows], y[rows]))
    # The penalty on these rows that corresponds to that of the model on all rows.
    share, convex = len(rows) / len(X), setup.problem.convex
    sparsity = 0.0 if model.relax else penalty_for_share(model.sparsity_, share, convex=convex)
    return find_substitutes(setup, setup.data.weight_values(model.weights_), sparsity, folds=fold)


def _judge_classes(selected, search, data, n_jobs):
    """Return how well single classes are predicted, or None for a number.

    The models of the folds that show it also tell how probable classes are at their scores.
    """
    if data.table.task != "classification":
        return None
    models = selected.models or models_of_folds(search, data.X, data.y, n_jobs)
    row_names = data.table.row_names[data.rows]
    add_probabilities(selected.model, models, search.splits_, data.X, data.y)
    return judge_classes(models, search.splits_, data.X, data.y, row_names)


def _judge_survival(selected, search, data, n_jobs):
    """Return how well times until an event are predicted, or None for another target."""
    if data.table.task != "survival":
        return None
    models = selected.models or models_of_folds(search, data.X, data.y, n_jobs)
    return judge_survival(models, search, data.X, data.y, n_jobs)


def _judge_calibration(selected, search, data, n_jobs):
    """Return whether predictions are as large as they should be, None for a loss without scores."""
    loss = loss_with_score(search) if data.table.task == "regression" else None
    if loss is None:
        return None
    models = selected.models or models_of_folds(search, data.X, data.y, n_jobs, data.known)
    return judge_calibration(models, search.splits_, data.X, data.y, loss, exposure=data.exposure)


def _describe_features(selected, search, encoder, adjusted):
    """Return one entry per column of the table, or per group of columns, the heaviest first.

    What a text column becomes shares one weight, as the columns of a group do: the first stands for
    all.
    """
    units = encoder.units
    features = [
        Feature(
            name,
            float(selected.model.weights_[j]),
            float(selected.frequency[j]),
            int(search.path_.ranking[j]),
            sum(encoder.gaps_.get(column, 0) for column in units[name]),
            tuple(units[name]),
        )
        for name, j in encoder.first_of_units.items()
        if name not in adjusted
    ]
    return tuple(sorted(features, key=lambda feature: (-feature.weight, feature.rank)))
