"""The page of a report, and the same pieces for a notebook."""

from html import escape
from importlib.resources import files

import numpy as np

from kernelknife._utils.messages import number
from kernelknife.app.messages import in_python
from kernelknife.app.options import in_command
from kernelknife.app.report.information import information_piece
from kernelknife.app.report.judging import classes_piece, counts_piece, survival_piece
from kernelknife.app.report.paths import path_piece
from kernelknife.app.report.pieces import (
    cv_piece,
    effects_piece,
    feature_table,
    pairs_piece,
    together_piece,
)
from kernelknife.app.report.question import question_piece, snippet_piece
from kernelknife.app.report.substitutes import substitutes_piece
from kernelknife.app.report.verdict import verdict_piece
from kernelknife.app.selection.comparison import to_errors
from kernelknife.app.selection.effects import order_of
from kernelknife.inspection.curves import rows_of_path

__all__ = ["build_fragment", "build_report", "html_page", "path_fragment"]

ABOUT_WEIGHTS = (
    "The weight is how much of a column the model uses, between 0 and 1; it is no measure of how "
    "large an effect is. Of columns that carry the same information, one may stand for the others. "
    "The elimination order is 1 for the column that leaves last as the penalty rises."
)
ABOUT_TIERS = (
    "A stable column is used by the model and selected in at least four of five folds, so that it "
    "does not depend on a few rows. An uncertain column is selected in at least two of five. An "
    "unstable one is used by the model, but fewer folds select it: it is probably an accident, and "
    "no finding. Folds share most of their rows, so none of this is a proof. "
)
ABOUT_KEPT = (
    "The columns that are kept at the error rate that was asked for are marked; weights and folds "
    "of the model that cross-validation selected stand beside them. "
)
ABOUT_INFORMATION = (
    "Each of these columns says something about the target on its own, at a false discovery rate "
    "of 5 %, whether the model needs it or not: columns with the same information are all here. "
    "The test asks for any smooth relation with the ranks of a column. What a column explains is a "
    "share of the variance of the target's ranks, or of the classes."
)
NO_FINDING = (
    "These pieces describe the model with the least error in the folds. It does not clearly "
    "predict better than the baseline: what they show may be chance."
)
ABOUT_COUNTS = (
    "The fewest columns whose error is within one standard error of the least are often as good "
    "and easier to explain."
)
ABOUT_RISK = (
    "Concordance is the share of pairs of rows of which the one with the higher predicted risk has "
    "its event first; 0.5 is chance. The curves are Kaplan-Meier estimates of thirds of the test "
    "rows of the folds, by the risk that a model predicts which has not trained on them."
)
ABOUT_CLASSES = (
    "Rows are the classes of the data, columns the predicted ones. The figures come from models "
    "with the selected penalties that were fitted to the training rows of every fold and tested on "
    "its other rows; a row that is tested several times counts in parts. The balanced error is "
    "the mean misclassification rate of the classes, so that a rare class counts as much as a "
    "frequent one. The area under the curve is the chance that of two rows of different classes "
    "the right one has the higher score: 0.5 is guessing, 1 is perfect."
)
ABOUT_PENALTIES = (
    "Two penalties are selected by cross-validation. The sparsity is the price of using columns: "
    "the higher, the fewer are left. Alpha is the price of a wiggly relation: the higher, the "
    "smoother the model."
)
ABOUT_SUBSTITUTES = (
    "Of several columns with the same information, the model keeps one. Here each selected column "
    "is left out, and others are tried in its place: columns that are correlated with it, and "
    "those that would lower the error most once it is gone. A number is the change of the model's "
    "loss on rows that were used neither to fit nor to find the other column. A column is named "
    "where it makes up for more than chance would."
)
ABOUT_PATHS = (
    "Raising the penalty drives columns out, the least useful first. Move the slider to see which "
    "are left."
)
ABOUT_EFFECTS = (
    "Average output of the model as one column takes other values while the others stay as they "
    "are. The marks at the foot are rows of the data."
)
ABOUT_SCORES = (
    " The output for a class is its score: above 0 a row is predicted to belong to the class, "
    "below 0 it is not, and the farther from 0, the surer."
)
ABOUT_PAIRS = (
    "Every dot is one row of the data with its own values. Where rows are persons, think of that "
    "before you pass this page on."
)
ABOUT_JITTER = " Columns with few different values are jittered, so that dots do not overlap."
ABOUT_SEPARATE_EFFECTS = (
    "Each curve is what a column on its own adds to the prediction; its average is zero. The marks "
    "at the foot are rows of the data."
)
ABOUT_TEXTS = (
    " For a text column it is the average output of the model at each of its texts, less the "
    "average of all."
)
ABOUT_TOGETHER = (
    "Columns act together where their combination adds something beyond what each adds on its own. "
    "The share is the part of the variance of the model's output that is due to it."
)
ABOUT_SURFACES = (
    "A color is what the combination of two values adds: red raises the output, blue lowers it, "
    "and the color between them changes nothing. The dots are rows of the data; where there are "
    "none, a color is a guess."
)
NOTHING_TOGETHER = "No two columns have more than 0.5 % of the variance together."


def _asset(name):
    """Return the text of a file that is shipped beside this module."""
    return (files(__package__) / name).read_text(encoding="utf-8")


def build_report(selection, source=None, reading=None, *, command=False) -> str:
    """Return the report as an HTML page.

    Parameters
    ----------
    selection : Selection
        What :func:`kernelknife.app.selection.select_features` returned.
    source : str, default=None
        Where the data came from; the page and its Python code name it.
    reading : ReadOptions, default=None
        How the data were read from a file; None is as ``read_table`` does by default.
    command : bool, default=False
        Whether the page is for a user of the command: its hints then name flags, and the command
        line that gives the same answer stands beside the Python code.

    Returns
    -------
    str
        A whole HTML page, to be written to a file.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelknife.datasets import make_sinusoidal
    >>> from kernelknife.app.report import build_report
    >>> from kernelknife.app.selection import select_features
    >>> X, y = make_sinusoidal(60, 1, random_state=0)
    >>> frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    >>> page = build_report(select_features(frame, "y", alpha=0.3, sparsity=5.0, folds=3))
    >>> page[:15], "Which columns matter for y" in page
    ('<!doctype html>', True)
    """
    title = f"Which columns matter for {selection.table.target_name}"
    return html_page(title, _body(selection, source, reading, command))


def html_page(title, body) -> str:
    """Return a page of its own with a title, the style sheet and the script."""
    # The policy forbids every request, so that nobody can notice that a page was opened.
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
        f"<title>{escape(title)}</title>\n<style>{_asset('style.css')}</style>\n</head>\n"
        f'<body class="kk">\n<main>\n<h1>{escape(title)}</h1>\n'
        f"{body}\n</main>\n"
        f"<script>{_asset('script.js')}</script>\n</body>\n</html>\n"
    )


def build_fragment(selection) -> str:
    """Return the report as a fragment of HTML for a notebook."""
    return _fragment(_body(selection, None, None, False))


def path_fragment(path) -> str:
    """Return a path with its slider as a fragment of HTML for a notebook."""
    names = [str(name) for name in path.feature_names]
    return _fragment(path_piece(names, path.sparsities, path.weights, path.ranking))


def _fragment(body):
    """Return HTML together with the style sheet and the script that it needs."""
    return (
        f"<style>{_asset('style.css')}</style>"
        f'<div class="kk"><div>{body}</div></div><script>{_asset("script.js")}</script>'
    )


def _body(selection, source, reading, command):
    """Return all pieces of the report; those on a model that predicts nothing are folded away."""
    spell = in_command if command else in_python
    tiers, about = selection.verdict.tiers, ABOUT_WEIGHTS
    if tiers:
        about = (ABOUT_TIERS if selection.rates is None else ABOUT_KEPT) + about
    n_folds = len(selection.search.splits_)
    table = feature_table(selection.features, tiers, n_folds, selection.rates)
    columns = ("How sure", about, table)
    model = _model_sections(selection)
    # What a rate keeps is a finding, whatever the model predicts.
    first = [columns] if selection.verdict.better or selection.rates else []
    rest = model if first else [columns, *model]
    first.append(("What carries information", ABOUT_INFORMATION, information_piece(selection)))
    parts = [verdict_piece(selection, spell), *_under_headings(first)]
    if selection.verdict.better:
        parts += _under_headings(rest)
    else:
        parts += [
            "<details><summary>The model that was fitted all the same</summary>",
            f"<p>{NO_FINDING}</p>",
            *_under_headings(rest),
            "</details>",
        ]
    question = [
        ("What was asked", "", question_piece(selection, source, spell)),
        ("To do it again", "", snippet_piece(selection, source, reading, command=command)),
    ]
    return "\n".join(part for part in [*parts, *_under_headings(question)] if part)


def _under_headings(sections):
    """Return pieces under their headings; a selection without columns has no effects, no pairs."""
    parts = []
    for heading, about, piece in sections:
        if piece:
            parts += [f"<h2>{heading}</h2>", f"<p>{about}</p>" if about else "", piece]
    return parts


def _model_sections(selection):
    """Return heading, explanation and piece of everything that describes the selected model."""
    pairs, jittered = pairs_piece(selection.table, selection.selected)
    better = selection.verdict.better
    substitutes = substitutes_piece(selection.substitutes) if better else ""
    return [
        (
            "Which classes are told apart",
            f"{ABOUT_CLASSES} {selection.quality_in_words}".rstrip(),
            classes_piece(selection.quality),
        ),
        ("Low, middle and high risk", ABOUT_RISK, survival_piece(selection.survival)),
        ("Columns with the same information", ABOUT_SUBSTITUTES, substitutes),
        ("How many columns", ABOUT_COUNTS, _counts(selection)),
        ("Feature paths", _about_paths(selection), _paths(selection)),
        ("Choosing the penalties", ABOUT_PENALTIES, cv_piece(selection)),
        ("What each column does", _about_effects(selection), effects_piece(selection.effects)),
        ("What acts together", ABOUT_TOGETHER, _together(selection)),
        (
            "Pairs of the columns with the largest weights",
            ABOUT_PAIRS + (ABOUT_JITTER if jittered else ""),
            pairs,
        ),
    ]


def _about_effects(selection):
    """Return how to read the effects of this kind of model."""
    scores = ABOUT_SCORES if selection.table.task == "classification" else ""
    if not any(effect.separate for effect in selection.effects):
        return ABOUT_EFFECTS + scores
    texts = any(not len(effect.rug) for effect in selection.effects)
    return ABOUT_SEPARATE_EFFECTS + (ABOUT_TEXTS if texts else "") + scores


def _about_paths(selection):
    """Return how to read the paths, and why the slider shows another error than the headline."""
    plain = _fold_errors(selection)[_chosen_point(selection)]
    shown, first = number(float(plain)), number(selection.error.mean)
    if shown == first:
        return ABOUT_PATHS
    if selection.asked:
        why = "is of the model that was asked for, fitted anew on every fold"
    else:
        why = f"is nested: {selection.nested_in_words}"
    return (
        f"{ABOUT_PATHS} The slider shows plain means over the folds, {shown} at the selected "
        f"penalty; the error at the top, {first}, {why}."
    )


def _together(selection):
    """Return the columns that act together, or that none do; nothing for a joint function."""
    if selection.interactions:
        return together_piece(selection.interactions, ABOUT_SURFACES)
    several = order_of(selection.model) > 1 and len(selection.selected) > 1
    return f"<p>{NOTHING_TOGETHER}</p>" if several else ""


def _fold_errors(selection):
    """Return the mean errors over the folds at the points of the path."""
    search, results = selection.search, selection.search.cv_results_
    scores = results["mean_test_score"][rows_of_path(results, search.best_index_)]
    # The path ends where the last column leaves; the folds go on to the end of the grid.
    return to_errors(scores[: len(search.path_)], search)


def _chosen_point(selection):
    """Return the index of the point of the path that is nearest to the selected model."""
    wanted = selection.settings.n_features
    if wanted is not None:
        counts = (_table_weights(selection) > 0).sum(axis=1)
        return int(np.argmin(np.abs(counts - wanted)))
    sparsities = selection.search.path_.sparsities
    search, model = selection.search, selection.model
    # The search may have used some of the rows only, where penalties are on another scale.
    sparsity = search.sparsity_ if model is search.best_estimator_ else model.sparsity_
    return int(np.argmin(np.abs(sparsities - sparsity)))


def _table_weights(selection):
    """Return the weights of the table's columns at every point of the path.

    The columns that a text column becomes share one weight, so the first of them stands for all.
    """
    return selection.search.path_.weights[:, selection.encoder.first_columns]


def _counts(selection):
    """Return the error against the number of columns."""
    results = selection.search.cv_results_
    spread = results["standard_error"][rows_of_path(results, selection.search.best_index_)]
    counts = (_table_weights(selection) > 0).sum(axis=1)
    return counts_piece(
        counts,
        _fold_errors(selection),
        spread[: len(counts)],
        len(selection.selected),
        selection.error_name,
    )


def _paths(selection):
    """Return the paths of the table's columns."""
    search, encoder = selection.search, selection.encoder
    return path_piece(
        encoder.columns_,
        search.path_.sparsities,
        _table_weights(selection),
        search.path_.ranking[encoder.first_columns],
        chosen=_chosen_point(selection),
        errors=_fold_errors(selection),
        error_name=selection.error_name,
    )
