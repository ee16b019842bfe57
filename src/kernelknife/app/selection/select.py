"""The whole way from a data frame to a selection, as a sequence of named steps."""

import numbers
import time
from copy import copy

import numpy as np

from kernelknife._tuning import (
    DEFAULT_FOLDS,
    kernels_to_compare,
    penalty_for_share,
    rows_of_splits,
)
from kernelknife._utils.checks import check_number
from kernelknife._utils.versions import versions
from kernelknife.app.selection.classes import judge_classes
from kernelknife.app.selection.comparison import (
    advantage_over_constant,
    choose_model,
    compare_models,
    judge_held_out,
    mean_score,
)
from kernelknife.app.selection.duration import announce_search
from kernelknife.app.selection.effects import find_effects, find_interactions
from kernelknife.app.selection.quick import (
    STAND_IN_ROWS,
    chosen_options,
    draw_quick_rows,
    quick_centers,
)
from kernelknife.app.selection.rates import (
    DEFAULT_MAX_FALSE,
    check_copies,
    check_knockoffs,
    check_rates,
    find_rates,
)
from kernelknife.app.selection.result import Feature, Selection
from kernelknife.app.selection.splitting import FEWEST_ROWS, split_held_out
from kernelknife.app.tables import TableEncoder, TableError, make_table
from kernelknife.cross_validation import KnifeClassifierCV, KnifeRegressorCV, models_of_folds
from kernelknife.inspection.substitutes import fold_of_rows
from kernelknife.kernels import check_kernel
from kernelknife.losses import check_loss

__all__ = ["select_features"]

FEWEST_FOLDS = 2
MOST_CLASSES_NAMED = 5  # in a message
ERROR_NAMES = {"regression": "mean squared error", "classification": "share of wrong classes"}
BALANCED_ERROR_NAME = "balanced share of wrong classes"
# Arguments that are no part of the question, so that a report does not repeat them.
NOT_SETTINGS = ("frame", "callbacks", "n_jobs", "tell")
TABLE_SETTINGS = ("drop", "ids", "group", "task", "impute", "drop_missing", "dates")


def select_features(
    frame,
    target,
    *,
    drop=(),
    ids=(),
    group=None,
    task=None,
    impute=None,
    drop_missing=False,
    dates=(),
    kernel="auto",
    loss=None,
    class_weight=None,
    alpha=None,
    sparsity=None,
    n_features=None,
    rule="min",
    folds=None,
    hold_out=0.0,
    n_centers="auto",
    stability=False,
    max_false=DEFAULT_MAX_FALSE,
    fdr=None,
    quick=False,
    random_state=0,
    n_jobs=None,
    callbacks=(),
    tell=None,
):
    """Find which columns of a data frame matter for one of them.

    A text column has one weight and is selected as a whole. The penalty on its weight is that of a
    column of numbers, however many levels it has.

    Parameters
    ----------
    frame : DataFrame
        One row per observation, one column per variable, the target among them.
    target : str
        Name of the column to predict.
    drop, ids : sequence of str, default=()
        Columns to leave out.
    group : str, default=None
        Column whose equal values mark rows that belong together and stay in one fold.
    task : {"regression", "classification"}, default=None
        None guesses from the target.
    impute : {None, "median"}, default=None
        ``"median"`` replaces missing numbers by the median of their column and makes missing
        texts a level of their own; None refuses missing values. Medians come from all rows that
        are not held out, before these are split into folds; they never see the target.
    drop_missing : bool, default=False
        Whether to leave out rows with missing values.
    dates : sequence of {"days", "year", "month"}, default=()
        What columns of dates become: days since the first date, years, months. Empty refuses them.
    kernel : str, Kernel or list of them, default="auto"
        The folds choose among several; "auto" is linear, additive, ANOVA and Gaussian.
    loss : str, default=None
        See :class:`kernelknife.KnifeRegressor` and :class:`kernelknife.KnifeClassifier`.
    class_weight : "balanced" or dict, default=None
        See :class:`kernelknife.KnifeClassifier`. With it the error is the balanced one: the mean
        over the classes of their shares of wrong rows.
    alpha : float, default=None
        Penalty on the norm of the model. None chooses among several by cross-validation.
    sparsity : float, default=None
        Penalty on the weights. None chooses by cross-validation.
    n_features : int, default=None
        Number of columns to select, instead of a sparsity.
    rule : {"min", "1se"}, default="min"
        Choose the penalties of the least error (up to a quarter of a standard error, within which
        the fewest columns decide), or those of the fewest columns within one standard error of it.
    folds : int or splitter, default=None
        Number of folds, or a splitter of scikit-learn. None is five folds, twice five below 200
        rows, and as many as the rarest class has rows where these are fewer than five.
    hold_out : float or str, default=0.0
        Share of the rows (or of the groups, if there are any) that is kept for judging alone, or a
        column and the value that marks these rows, such as ``"split=test"``.
    n_centers : int or "auto", default="auto"
        Number of centers of the model. 0 is the exact method. "auto" lets the number of rows
        decide: see :class:`kernelknife.KnifeRegressorCV`.
    stability : bool, default=False
        Whether random halves of the rows vote on the columns, with the kernel and the ``alpha`` of
        the chosen model; see :class:`kernelknife.KnifeStability`.
    max_false : float, default=1.0
        Largest expected number of false columns among those that the votes keep.
    fdr : float, default=None
        Largest expected share of false columns among those that beat their knockoffs; see
        :class:`kernelknife.KnifeKnockoffs`. None draws no knockoffs. Text columns and a ``group``
        are refused: knockoffs are of single columns, and of rows that are independent.
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
    tell : callable, default=None
        Called with a line of text for everything that was guessed or left out, before the work
        begins; ``print`` shows it.

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
    # The first statement, so that there are no other local names than the arguments.
    settings = {name: value for name, value in locals().items() if name not in NOT_SETTINGS}
    started = time.perf_counter()
    _check_question(kernel, alpha, sparsity, n_features)
    check_rates(stability, max_false, fdr)
    marked = hold_out if isinstance(hold_out, str) else None
    table = make_table(
        frame, target, hold_out=marked, **{name: settings[name] for name in TABLE_SETTINGS}
    )
    _check_size(table, n_features)
    train, held = split_held_out(table, 0.0 if marked else hold_out, random_state)
    encoder = TableEncoder(impute=impute).fit(table.features.iloc[train])
    if fdr is not None:
        check_knockoffs(encoder, group)
    if loss is not None:
        check_loss(loss, table.task)
    if class_weight is not None and table.task == "regression":
        raise TableError(
            f"Class weights are for classes; the target {table.target_name} is a number."
        )
    options = chosen_options(quick, kernel=kernel, alpha=alpha, folds=folds, n_centers=n_centers)
    _check_groups(table, train, options.get("cv"))
    if isinstance(folds, numbers.Integral) and int(folds) > len(train):
        raise TableError(f"{folds} folds need as many rows, got {len(train)}: use fewer folds.")
    fewer = _fewer_folds(table, table.target[train], options.get("cv"), asked=folds is not None)
    if fewer is not None and options.get("cv") is not None:
        options["cv"] = fewer  # otherwise the search does the same, and shuffles the rows
    if quick:
        train = train[
            draw_quick_rows(
                table.target[train], len(encoder.feature_groups_), table.task, folds, random_state
            )
        ]
    X, y = encoder.transform(table.features.iloc[train]), table.target[train]
    if fdr is not None:
        check_copies(encoder, X)
    search = _make_search(
        table.task,
        callbacks,
        **options,
        loss=loss,
        rule=rule,
        random_state=random_state,
        n_jobs=n_jobs,
        feature_groups=encoder.feature_groups_,
        feature_costs=encoder.feature_costs,
        class_weight=class_weight,
        scoring=None if class_weight is None else "balanced_accuracy",
    )
    if quick and n_centers == "auto":
        search.set_params(n_centers=quick_centers(search, len(X)))
    groups = None if table.groups is None else table.groups[train]
    if tell is not None:
        for note in table.notes:
            tell(note)
        if fewer is not None:
            tell(f"{fewer} folds, because the rarest class of {target} has {fewer} rows")
        tell(f"selecting among {table.features.shape[1]} columns with {len(X)} rows")
        known = DEFAULT_FOLDS if groups is not None and search.cv is None else fewer
        tell(announce_search(search, table.task, X, y, n_folds=known, quick=quick))
    search.fit(X, y, groups=groups)
    choice = choose_model(search, X, y, sparsity=sparsity, n_features=n_features, n_jobs=n_jobs)
    features = _describe_features(choice, search, encoder)
    selected = [feature.name for feature in features if feature.selected]
    constant_errors, full_errors, full_model = compare_models(
        search, X, y, task=table.task, n_jobs=n_jobs
    )
    rates = find_rates(
        choice.model,
        encoder,
        X,
        y,
        groups,
        stability=stability,
        max_false=max_false,
        fdr=fdr,
        random_state=random_state,
        n_jobs=n_jobs,
        callbacks=callbacks,
    )
    # Encoding no rows of many columns takes as long as encoding some.
    Z = encoder.transform(table.features.iloc[held]) if len(held) else X[:0]
    return Selection(
        features=features,
        error=mean_score(choice.errors),
        constant_error=mean_score(constant_errors),
        full_error=mean_score(full_errors),
        full_model=full_model,
        advantage=advantage_over_constant(constant_errors, choice, search.splits_),
        error_name=ERROR_NAMES[table.task] if class_weight is None else BALANCED_ERROR_NAME,
        held_out=judge_held_out(choice.model, X, y, Z, table.target[held]),
        quality=_judge_classes(choice, search, X, y, table, train, n_jobs),
        effects=find_effects(choice.model, encoder, X, selected, random_state),
        interactions=find_interactions(choice.model, encoder, X, random_state),
        substitutes=_find_substitutes(choice.model, search, X, y, quick),
        table=table,
        encoder=encoder,
        search=search,
        model=choice.model,
        settings=settings,
        versions=versions(),
        rates=rates,
        seconds=time.perf_counter() - started,
    )


def _find_substitutes(model, search, X, y, quick):
    """Return what could replace the selected columns, on the rows and folds of the search."""
    rows = rows_of_splits(search.splits_)
    fold = fold_of_rows(search.splits_, rows)
    every = -(-len(rows) // STAND_IN_ROWS) if quick else 1
    rows, fold = rows[::every], fold[::every]
    # The fitted model, with the penalty that means on these rows what its own means on all.
    model = copy(model)
    model.sparsity_ = penalty_for_share(
        model.sparsity_, len(rows) / len(X), convex=check_kernel(model.kernel).convex
    )
    return model.substitutes(X[rows], y[rows], folds=fold)


def _check_question(kernel, alpha, sparsity, n_features):
    """Raise where the arguments are wrong or contradict each other, whatever the table."""
    kernels_to_compare(kernel)
    if alpha is not None:
        check_number(alpha, "alpha", strict=True)
    if sparsity is not None:
        check_number(sparsity, "sparsity")
    if sparsity is not None and n_features is not None:
        raise TableError("Give a sparsity or a number of features, not both.")
    if n_features is not None and n_features < 1:
        raise TableError(f"The number of features must be at least 1, got {n_features}.")


def _check_size(table, n_features):
    """Raise where the table has too few rows, or fewer columns than are asked for."""
    n_rows, n_columns = table.features.shape
    if n_rows < FEWEST_ROWS:
        raise TableError(f"The table has {n_rows} rows; at least {FEWEST_ROWS} are needed.")
    if n_features is not None and n_features > n_columns:
        raise TableError(
            f"{n_features} features asked for, the table has {n_columns} to choose from."
        )


def _check_groups(table, train, folds):
    """Raise where there are fewer groups of rows than folds."""
    if table.groups is None or not (folds is None or isinstance(folds, numbers.Integral)):
        return
    n_folds = DEFAULT_FOLDS if folds is None else int(folds)
    n_groups = len(np.unique(table.groups[train]))
    if n_groups < n_folds:
        raise TableError(
            f"{n_folds} folds need as many groups, got {n_groups}: use fewer folds, or another "
            "column as the group."
        )


def _fewer_folds(table, y, folds, asked):
    """Return as many folds as the rarest class has rows, None where that changes nothing.

    Folds that were asked for are kept, and a class with fewer rows is refused; so is a class of a
    single row. Groups of rows are split as a whole, so that with them the number of rows says
    nothing; nor does it for folds that are no number but a splitter of scikit-learn.
    """
    counted = folds is None or isinstance(folds, numbers.Integral)
    if table.task == "regression" or table.groups is not None or not counted:
        return None
    n_folds = DEFAULT_FOLDS if folds is None else int(folds)
    labels, counts = np.unique(y, return_counts=True)
    fewest = int(counts.min())
    needed = n_folds if asked else FEWEST_FOLDS
    if fewest < needed:
        sizes = {str(label): int(n) for label, n in zip(labels, counts, strict=True)}
        raise TableError(_name_rare_classes(table.target_name, sizes, needed, asked))
    return fewest if fewest < n_folds else None


def _name_rare_classes(target, sizes, n_folds, asked):
    """Say which classes have fewer rows than there are folds, and what can be done about it."""
    rare = {label: n for label, n in sizes.items() if n < n_folds}
    hints = []
    for label in rare:
        twins = [other for other in sizes if _plain(other) == _plain(label) and other != label]
        if twins:
            hints.append(f" {label!r} differs from {twins[0]!r} only in blanks or capitals.")
    shown = ", ".join(f"{label!r} ({n})" for label, n in list(rare.items())[:MOST_CLASSES_NAMED])
    advice = "Correct these classes, join them with others, or leave their rows out"
    if min(rare.values()) > 1:
        advice += f", or use --folds {min(rare.values())}"
    need = f"{n_folds} folds need {n_folds} rows of every class of {target}"
    if not asked:
        need = f"Every class of {target} needs {n_folds} rows or more"
    return f"{need}, and some have fewer: {shown}.{''.join(hints[:1])} {advice}."


def _plain(label):
    """Return a label without the differences that are mostly slips."""
    return str(label).strip().casefold()


def _make_search(task, callbacks, **options):
    """Return the cross-validated estimator, not yet fitted."""
    estimator = KnifeRegressorCV if task == "regression" else KnifeClassifierCV
    search = estimator(**options)
    if callbacks:
        search.set_callbacks(*callbacks)
    return search


def _judge_classes(choice, search, X, y, table, train, n_jobs):
    """Return how well single classes are told apart, or None for a number."""
    if table.task == "regression":
        return None
    models = choice.models or models_of_folds(search, X, y, n_jobs)
    return judge_classes(models, search.splits_, X, y, table.row_names[train])


def _describe_features(choice, search, encoder):
    """Return one entry per column of the table, the heaviest first.

    The columns that a text column becomes share one weight, so the first of them speaks for all.
    """
    features = [
        Feature(
            name,
            float(choice.model.weights_[j]),
            float(choice.frequency[j]),
            int(search.path_.ranking[j]),
        )
        for name, j in zip(encoder.columns_, encoder.first_columns, strict=True)
    ]
    return tuple(sorted(features, key=lambda feature: (-feature.weight, feature.rank)))
