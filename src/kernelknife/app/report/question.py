"""What a report answers: the data and the settings in brief, and the code that repeats it."""

from datetime import date
from html import escape
from inspect import signature

import numpy as np

from kernelknife._utils.formatting import number
from kernelknife.app.report.elements import percent
from kernelknife.app.selection import select_features
from kernelknife.app.tables import read_table

__all__ = ["changed_arguments", "question_piece", "snippet_piece"]

WEIGHTING_WORDS = {
    "penalized": "as the penalty leaves them",
    "relaxed": "refitted without the penalty that has selected the columns",
    "equal": "the same for all columns",
}
DEFAULT_LOSSES = {"regression": "squared", "classification": "squared_hinge"}


def question_piece(selection, source) -> str:
    """Return the data and the settings as a list of terms.

    Parameters
    ----------
    selection : Selection
    source : str or None
        Where the data came from.
    """
    table, search, model = selection.table, selection.search, selection.model
    alphas = ", ".join(number(alpha) for alpha in search.alphas_)
    terms = {
        "data": source or "a data frame",
        "rows and columns": f"{len(table.target)} rows, {table.features.shape[1]} columns to choose"
        " from",
        f"target {table.target_name}": _describe_target(table),
        "guessed or left out": "; ".join(table.notes),
        "kernel and loss": f"{search.kernel_name_}, {_loss_name(model.loss, table.task)}",
        "alpha": f"{number(model.alpha)} (of {alphas})",
        "sparsity": number(float(model.sparsity_)),
        "compared": f"{', '.join(dict.fromkeys(search.cv_results_['kernel']))}; "
        f"{search.n_paths_} paths in the folds",
        "weights": WEIGHTING_WORDS[selection.weighting],
        "folds": _describe_folds(selection),
        "converged": "yes" if model.converged_ else "no: see the warning at the top",
        "seed": str(selection.settings["random_state"]),
        "versions": ", ".join(f"{name} {v}" for name, v in selection.versions.items()),
        "date and time taken": f"{date.today().isoformat()}, {selection.seconds:.0f} s",
    }
    if selection.held_out is not None:
        share = selection.settings["hold_out"]
        kept = f"rows with {share}" if isinstance(share, str) else f"{percent(share)} of the rows"
        terms["held out"] = kept
    items = (f"<dt>{escape(k)}</dt><dd>{escape(str(v))}</dd>" for k, v in terms.items())
    return f"<dl>{''.join(items)}</dl>"


def _describe_target(table):
    """Return the classes and their counts, or the range of a number."""
    y = table.target
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
    return f"{folds}, rows of one {selection.settings['group']} together"


def _loss_name(loss, task):
    """Return the name of a model's loss, which may be None, a name or an object."""
    if loss is None:
        return DEFAULT_LOSSES[task]
    return loss if isinstance(loss, str) else type(loss).__name__


def snippet_piece(selection, source, reading, command=None) -> str:
    """Return the command, for those who used it, and Python code that give the same answer.

    Parameters
    ----------
    selection : Selection
    source : str or None
        Where the data came from.
    reading : dict or None
        Options that the data were read with.
    command : str, default=None
        The command line.
    """
    name = "data.csv" if source in (None, "-") else source
    read = "".join(f", {code}" for code in changed_arguments(read_table, reading or {}))
    select = "".join(
        f",\n    {code}" for code in changed_arguments(select_features, selection.settings)
    )
    code = (
        "from kernelknife.app.selection import select_features\n"
        "from kernelknife.app.tables import read_table\n\n"
        f"frame = read_table({name!r}{read})\n"
        "selection = select_features(\n    frame,\n"
        f"    {selection.settings['target']!r}{select},\n)\n"
        "selection.selected\n"
    )
    python = f'<pre tabindex="0"><code>{escape(code)}</code></pre>'
    if command is None:
        return python
    return (
        f'<pre tabindex="0"><code>{escape(command)}</code></pre>'
        f"<details><summary>The same in Python</summary>{python}</details>"
    )


def changed_arguments(function, arguments):
    """Return the arguments of a function that differ from their defaults, as code."""
    code = []
    for parameter in signature(function).parameters.values():
        if parameter.default is parameter.empty or parameter.name not in arguments:
            continue
        # A list and a tuple of the same values mean the same.
        value, default = (
            list(v) if isinstance(v, (tuple, list)) else v
            for v in (arguments[parameter.name], parameter.default)
        )
        if value != default:
            code.append(f"{parameter.name}={value!r}")
    return code
