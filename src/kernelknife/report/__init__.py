"""One self-contained page on a selection: no external request, light and dark, prints well."""

from datetime import date
from html import escape
from importlib.resources import files
from inspect import signature

import numpy as np

from kernelknife._support.formatting import number
from kernelknife.estimators import resolved_loss
from kernelknife.losses import LOSSES
from kernelknife.report.pieces import (
    cv_piece,
    effects_piece,
    feature_table,
    pairs_piece,
    path_piece,
    percent,
)
from kernelknife.selection import select_features

__all__ = ["build_fragment", "build_report", "path_fragment"]


def _asset(name):
    return (files(__package__) / name).read_text(encoding="utf-8")


def build_report(selection, source=None, reading=None):
    """Return the report as an HTML page.

    Parameters
    ----------
    selection : Selection
    source : str, default=None
        Where the data came from, for the page and its snippet.
    reading : dict, default=None
        Options of :func:`kernelknife.tables.read_table` that were used, for the snippet.

    Returns
    -------
    str
    """
    title = f"Which columns matter for {selection.table.target_name}"
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


def build_fragment(selection):
    """Return the report's pieces for a notebook."""
    return _fragment(_body(selection, None, None))


def path_fragment(path):
    """Return a path with its slider for a notebook."""
    names = [str(name) for name in path.feature_names]
    return _fragment(path_piece(names, path.sparsities, path.weights, path.ranking))


def _fragment(body):
    return (
        f"<style>{_asset('style.css')}</style>"
        f'<div class="kk"><div>{body}</div></div><script>{_asset("script.js")}</script>'
    )


def _body(selection, source, reading):
    parts = [
        _verdict(selection),
        "<h2>How sure</h2>",
        "<p>The weight is how much of a column the machine uses, between 0 and 1; weights say what "
        "is used, not how large an effect is. A column that nearly every fold selects does not "
        "hang on a few rows; one that few folds select may be an accident. Folds share most of "
        "their rows, so this is no proof. Of columns that carry the same information, one may "
        "stand for the others.</p>",
        feature_table(selection.features, len(selection.search.splits_)),
        "<h2>Feature paths</h2>",
        "<p>Raising the penalty drives columns out, the least useful first. Move the slider to see "
        "which are left.</p>",
        _path(selection),
        "<h2>Choosing the penalties</h2>",
        cv_piece(selection.search, selection.error_name),
    ]
    if selection.effects:
        parts += [
            "<h2>What each column does</h2>",
            "<p>Average output of the machine as one column takes other values while the others "
            "stay as they are. The marks at the foot are rows of the data.</p>",
            effects_piece(selection.effects),
        ]
    pairs = pairs_piece(selection.table, selection.selected)
    if pairs:
        parts += ["<h2>Pairs of the heaviest columns</h2>", pairs]
    parts += ["<h2>What was asked</h2>", _asked(selection, source)]
    parts += ["<h2>To do it again</h2>", _snippet(selection, source, reading)]
    return "\n".join(parts)


def _verdict(selection):
    """Return the answer in words and in three numbers."""
    names, total = selection.selected, len(selection.features)
    target = escape(selection.table.target_name)
    if not names:
        lead = f"No column helps to predict <b>{target}</b>: none is left at the chosen penalty."
    elif not selection.better:
        listed = ", ".join(f"<b>{escape(name)}</b>" for name in names[:12])
        lead = (
            f"No sure finding for {target}. The best guess is {len(names)} of {total} columns: "
            f"{listed}{' and more' if len(names) > 12 else ''}."
        )
    else:
        listed = ", ".join(f"<b>{escape(name)}</b>" for name in names[:12])
        more = f" and {len(names) - 12} more" if len(names) > 12 else ""
        verb = "matters" if len(names) == 1 else "matter"
        lead = f"{len(names)} of {total} columns {verb} for {target}: {listed}{more}."
    gain = f"{number(selection.advantage.mean)} &plusmn; {number(selection.advantage.spread)}"
    if selection.better:
        against = f"The machine errs less than a constant guess, by {gain}."
    else:
        against = (
            f"The machine does not clearly err less than a constant guess (by {gain}, where two "
            "standard errors are asked for): read the selection as a hint, not as a finding."
        )
    judged = (
        "Errors are means over the folds. The first is corrected for the luck of having chosen the "
        "penalties on the same folds."
    )
    if selection.held_out is not None:
        there = selection.held_out
        judged += (
            f" On the {there.rows} rows held out, which took no part in anything, the error is "
            f"{number(there.error)}, a constant's {number(there.constant)}."
        )
    name = escape(selection.error_name)
    full = f"with all columns, equal weights ({name})"
    cards = (
        (selection.error, f"with the selected columns ({name})"),
        (selection.full_error, full),
        (selection.constant_error, f"a constant guess ({name})"),
    )
    shown = "".join(
        f'<div class="card"><b>{number(score.mean)}</b><span>&plusmn; {number(score.spread)}, '
        f"{words}</span></div>"
        for score, words in cards
    )
    return (
        f'<p class="lead">{lead}</p><div class="cards">{shown}</div><p>{against}</p>'
        f'<p class="quiet">{judged}</p>'
    )


def _path(selection):
    """Return the path over the table's columns; those of a text share one line."""
    path, encoder = selection.search.path_, selection.encoder
    first = encoder.first_columns
    results = selection.search.cv_results_
    here = results["alpha"] == selection.search.alpha_
    scores = results["mean_test_score"][here][: len(path)]
    flip = 1.0 if selection.search.score_name_ == "accuracy" else 0.0
    chosen = int(np.argmin(np.abs(path.sparsities - selection.model.sparsity_)))
    return path_piece(
        encoder.columns_,
        path.sparsities,
        path.weights[:, first],
        path.ranking[first],
        chosen=chosen,
        errors=flip - scores,
        error_name=selection.error_name,
    )


def _asked(selection, source):
    """Return settings and the data in brief."""
    table, search, model = selection.table, selection.search, selection.model
    target = table.target
    if table.task == "classification":
        values, counts = np.unique(target, return_counts=True)
        brief = ", ".join(f"{v} ({c})" for v, c in zip(values, counts, strict=True))
    else:
        brief = (
            f"from {number(target.min())} to {number(target.max())}, mean {number(target.mean())}, "
            f"standard deviation {number(target.std())}"
        )
    alphas = ", ".join(map(number, np.atleast_1d(search.alphas)))
    rows = {
        "data": source or "a data frame",
        "rows and columns": f"{len(target)} rows, {table.features.shape[1]} columns to choose from",
        f"target {table.target_name}": brief,
        "guessed or left out": "; ".join(table.notes),
        "kernel and loss": f"{model.kernel}, {_loss_name(model)}",
        "alpha": f"{number(model.alpha)} (of {alphas})",
        "sparsity": number(float(model.sparsity_)),
        "folds": f"{len(search.splits_)}"
        + (
            f", rows of one {selection.settings['group']} together"
            if table.groups is not None
            else ""
        ),
        "converged": "yes" if model.converged_ else "no: raise max_iter",
        "seed": str(selection.settings["random_state"]),
        "versions": ", ".join(f"{k} {v}" for k, v in selection.versions.items()),
        "date and time taken": f"{date.today().isoformat()}, {selection.seconds:.0f} s",
    }
    if selection.held_out is not None:
        rows["held out"] = percent(selection.settings["hold_out"]) + " of the rows"
    items = (f"<dt>{escape(k)}</dt><dd>{escape(str(v))}</dd>" for k, v in rows.items())
    return f"<dl>{''.join(items)}</dl>"


def _snippet(selection, source, reading):
    """Return Python code that gives the same answer."""
    settings = selection.settings
    options = _options(settings)
    code = (
        "from kernelknife.selection import select_features\n"
        "from kernelknife.tables import read_table\n\n"
        f"frame = read_table({_arguments(source, reading)})\n"
        f"selection = select_features(\n    frame,\n    {settings['target']!r}{options},\n)\n"
        "selection.selected\n"
    )
    return f"<pre><code>{escape(code)}</code></pre>"


def _loss_name(model):
    kind = type(resolved_loss(model))
    return next((name for name, loss in LOSSES.items() if loss is kind), kind.__name__)


def _arguments(source, reading):
    """Return what the table was read with, as code."""
    defaults = {"encoding": "utf-8", "missing": (), "decimal": "."}
    changed = {k: v for k, v in (reading or {}).items() if v != defaults[k]}
    name = "data.csv" if source in (None, "-") else source
    return ", ".join([repr(name), *(f"{k}={v!r}" for k, v in changed.items())])


def _options(settings):
    """Return the arguments that differ from their defaults, as code."""
    lines = []
    parameters = signature(select_features).parameters.values()
    defaults = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    for name, default in defaults.items():
        value = settings.get(name, default)
        value = list(value) if isinstance(value, (tuple, list)) else value
        if value not in (default, list(default) if isinstance(default, tuple) else default):
            lines.append(f",\n    {name}={value!r}")
    return "".join(lines)
