"""The page of a report, and the same pieces for a notebook."""

from html import escape
from importlib.resources import files

import numpy as np

from kernelknife._choice import rows_of_path
from kernelknife.report.paths import path_piece
from kernelknife.report.pieces import (
    cv_piece,
    effects_piece,
    feature_table,
    pairs_piece,
    together_piece,
)
from kernelknife.report.question import question_piece, snippet_piece
from kernelknife.report.verdict import verdict_piece
from kernelknife.selection.effects import order_of

__all__ = ["build_fragment", "build_report", "path_fragment"]

ABOUT_WEIGHTS = (
    "The weight is how much of a column the machine uses, between 0 and 1; weights say what is "
    "used, not how large an effect is. A column that nearly every fold selects does not depend on "
    "a few rows; one that few folds select may be an accident. Folds share most of their rows, so "
    "this is no proof. Of columns that carry the same information, one may stand for the others."
)
ABOUT_PATHS = (
    "Raising the penalty drives columns out, the least useful first. Move the slider to see which "
    "are left."
)
ABOUT_EFFECTS = (
    "Average output of the machine as one column takes other values while the others stay as they "
    "are. The marks at the foot are rows of the data."
)
ABOUT_SEPARATE_EFFECTS = (
    "Each curve is what a column on its own adds to the prediction; its average is zero. The marks "
    "at the foot are rows of the data."
)
ABOUT_TEXTS = (
    " For a text column it is the average output of the machine at each of its texts, less the "
    "average of all."
)
ABOUT_TOGETHER = (
    "Columns act together where their combination adds something beyond what each adds on its own. "
    "The share is the part of the variance of the machine's output that is due to it."
)
ABOUT_SURFACES = (
    "A colour is what the combination of two values adds: red raises the output, blue lowers it, "
    "and the colour between them changes nothing. The dots are rows of the data; where there are "
    "none, a colour is a guess."
)
NOTHING_TOGETHER = "No two columns have more than 0.5 % of the variance together."


def _asset(name):
    """Return the text of a file that is shipped beside this module."""
    return (files(__package__) / name).read_text(encoding="utf-8")


def build_report(selection, source=None, reading=None) -> str:
    """Return the report as an HTML page.

    Parameters
    ----------
    selection : Selection
        What :func:`kernelknife.selection.select_features` returned.
    source : str, default=None
        Where the data came from; the page and its Python code name it.
    reading : dict, default=None
        Options of :func:`kernelknife.tables.read_table` that the data were read with.

    Returns
    -------
    str
        A whole HTML page, to be written to a file.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelknife.datasets import make_sinusoidal
    >>> from kernelknife.report import build_report
    >>> from kernelknife.selection import select_features
    >>> X, y = make_sinusoidal(60, 1, random_state=0)
    >>> frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    >>> page = build_report(select_features(frame, "y", alpha=0.3, sparsity=5.0, folds=3))
    >>> page[:15], "Which columns matter for y" in page
    ('<!doctype html>', True)
    """
    title = f"Which columns matter for {selection.table.target_name}"
    # The policy forbids every request, so that a page never tells anybody that it was opened.
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
        f"<title>{escape(title)}</title>\n<style>{_asset('style.css')}</style>\n</head>\n"
        f'<body class="kk">\n<main>\n<h1>{escape(title)}</h1>\n'
        f"{_body(selection, source, reading)}\n</main>\n"
        f"<script>{_asset('script.js')}</script>\n</body>\n</html>\n"
    )


def build_fragment(selection) -> str:
    """Return the report as a fragment of HTML for a notebook."""
    return _fragment(_body(selection, None, None))


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


def _body(selection, source, reading):
    """Return all pieces of the report, each under its heading."""
    sections = [
        ("How sure", ABOUT_WEIGHTS, _features(selection)),
        ("Feature paths", ABOUT_PATHS, _paths(selection)),
        ("Choosing the penalties", "", cv_piece(selection.search, selection.error_name)),
        ("What each column does", _about_effects(selection), effects_piece(selection.effects)),
        ("What acts together", ABOUT_TOGETHER, _together(selection)),
        ("Pairs of the heaviest columns", "", pairs_piece(selection.table, selection.selected)),
        ("What was asked", "", question_piece(selection, source)),
        ("To do it again", "", snippet_piece(selection, source, reading)),
    ]
    parts = [verdict_piece(selection)]
    for heading, about, piece in sections:
        # A selection without columns has no effects and no pairs.
        if piece:
            parts += [f"<h2>{heading}</h2>", f"<p>{about}</p>" if about else "", piece]
    return "\n".join(part for part in parts if part)


def _about_effects(selection):
    """Return how to read the effects of this kind of machine."""
    if not any(effect.separate for effect in selection.effects):
        return ABOUT_EFFECTS
    texts = any(not len(effect.rug) for effect in selection.effects)
    return ABOUT_SEPARATE_EFFECTS + (ABOUT_TEXTS if texts else "")


def _together(selection):
    """Return the columns that act together, or that none do; nothing if the machine cannot say."""
    if selection.interactions:
        return together_piece(selection.interactions, ABOUT_SURFACES)
    several = order_of(selection.model) > 1 and len(selection.selected) > 1
    return f"<p>{NOTHING_TOGETHER}</p>" if several else ""


def _features(selection):
    """Return the table of columns."""
    return feature_table(selection.features, len(selection.search.splits_))


def _paths(selection):
    """Return the paths of the table's columns.

    The columns that a text column becomes share one weight, so the first of them speaks for all.
    """
    search, encoder = selection.search, selection.encoder
    path, first = search.path_, encoder.first_columns
    results = search.cv_results_
    scores = results["mean_test_score"][rows_of_path(results, search.best_index_)]
    # The path ends where the last column leaves; the folds go on to the end of the grid.
    scores = scores[: len(path)]
    return path_piece(
        encoder.columns_,
        path.sparsities,
        path.weights[:, first],
        path.ranking[first],
        chosen=int(np.argmin(np.abs(path.sparsities - selection.model.sparsity_))),
        errors=1.0 - scores if search.score_name_ == "accuracy" else -scores,
        error_name=selection.error_name,
    )
