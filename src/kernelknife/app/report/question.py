"""What a report answers: the data and the settings in brief, and the code that repeats it."""

from datetime import date
from html import escape

import numpy as np

from kernelknife._engine.policy import DEFAULT_LOSSES
from kernelknife._utils.messages import number
from kernelknife.app.messages import as_code, spelled
from kernelknife.app.options import ReadOptions, as_arguments, command_line
from kernelknife.app.report.elements import percent

__all__ = ["common_terms", "notes_in_words", "question_piece", "snippet_piece", "terms_piece"]

WEIGHTING_WORDS = {
    "penalized": "as the penalty leaves them",
    "relaxed": "refitted without the penalty that has selected the columns",
    "equal": "the same for all columns",
}


def question_piece(selection, source, spell) -> str:
    """Return the data and the settings as a list of terms.

    Parameters
    ----------
    source : str or None
        Where the data came from.
    spell : callable
        How the hints of a note name options.
    """
    table, search, model = selection.table, selection.search, selection.model
    alphas = ", ".join(number(alpha) for alpha in search.alphas_)
    terms = {
        "data": source or "a data frame",
        "rows and columns": f"{len(table.target)} rows, {table.features.shape[1]} columns to choose"
        " from",
        f"target {table.target_name}": _describe_target(table),
        "guessed or left out": notes_in_words(table.notes, spell),
        "kernel and loss": f"{search.kernel_name_}, {_loss_name(model.loss, table.task)}",
        "alpha": f"{number(model.alpha)} (of {alphas})",
        "sparsity": number(float(model.sparsity_)),
        "compared": f"{', '.join(dict.fromkeys(search.cv_results_['kernel']))}; "
        f"{search.n_paths_} paths in the folds",
        "weights": WEIGHTING_WORDS[selection.weighting],
        "folds": _describe_folds(selection),
        "converged": "yes" if model.converged_ else "no: see the warning at the top",
        **common_terms(selection),
    }
    if selection.held_out is not None:
        share = selection.settings.hold_out
        kept = f"rows with {share}" if isinstance(share, str) else f"{percent(share)} of the rows"
        terms["held out"] = kept
    return terms_piece(terms)


def common_terms(result) -> dict[str, str]:
    """Return the terms that every result has: seed, versions, date and time taken."""
    return {
        "seed": str(result.settings.random_state),
        "versions": ", ".join(f"{name} {v}" for name, v in result.versions.items()),
        "date and time taken": f"{date.today().isoformat()}, {result.seconds:.0f} s",
    }


def notes_in_words(notes, spell) -> str:
    """Return notes as one text."""
    return "; ".join(spelled(note, spell) for note in notes) or "nothing"


def terms_piece(terms) -> str:
    """Return terms and their values as a list."""
    items = (f"<dt>{escape(k)}</dt><dd>{escape(str(v))}</dd>" for k, v in terms.items())
    return f"<dl>{''.join(items)}</dl>"


def _describe_target(table):
    """Return the classes and their counts, or the range of a number."""
    y = table.target
    if table.task == "survival":
        return (
            f"times from {number(y[:, 0].min())} to {number(y[:, 0].max())}, "
            f"{int(y[:, 1].sum())} events observed in {len(y)} rows"
        )
    if table.task == "classification":
        classes, counts = np.unique(y, return_counts=True)
        return ", ".join(f"{value} ({n})" for value, n in zip(classes, counts, strict=True))
    return (
        f"from {number(y.min())} to {number(y.max())}, mean {number(y.mean())}, standard deviation "
        f"{number(y.std())}"
    )


def _describe_folds(selection):
    """Return the number of folds, and what they keep together."""
    folds = str(len(selection.search.splits_))
    if selection.table.groups is None:
        return folds
    return f"{folds}, rows of one {selection.settings.group} together"


def _loss_name(loss, task):
    """Return the name of a model's loss, which may be None, a name or an object."""
    if loss is None:
        return DEFAULT_LOSSES[task]
    return loss if isinstance(loss, str) else type(loss).__name__


def snippet_piece(selection, source, reading, *, command) -> str:
    """Return the command, for those who used it, and Python code that give the same answer.

    Parameters
    ----------
    source : str or None
        Where the data came from.
    reading : ReadOptions or None
        How the data were read.
    """
    name, options, reading = source or "data.csv", selection.settings, reading or ReadOptions()
    file = as_code("data.csv" if name == "-" else name)
    code = (
        "from kernelknife.app.selection import select_features\n"
        "from kernelknife.app.tables import read_table\n\n"
        f"frame = read_table({', '.join([file, *as_arguments(reading)])})\n"
        "selection = select_features(\n    frame,\n    "
        + ",\n    ".join([as_code(options.target), *as_arguments(options)])
        + ",\n)\nselection.selected\n"
    )
    python = f'<pre tabindex="0"><code>{escape(code)}</code></pre>'
    if not command:
        return python
    return (
        f'<pre tabindex="0"><code>{escape(command_line(name, options, reading))}</code></pre>'
        f"<details><summary>The same in Python</summary>{python}</details>"
    )
