"""``kernelknife path``: the weight of every column as the penalty rises."""

import io
from pathlib import Path

import numpy as np

from kernelknife import knife_path
from kernelknife._utils.files import write_file
from kernelknife._utils.messages import import_optional, number
from kernelknife.app.cli.console import (
    busy,
    check_outputs,
    out,
    print_json,
    print_note,
    print_places,
    print_table,
    writing,
)
from kernelknife.app.options import TableOptions
from kernelknife.app.selection.products import products_as_json, products_in_words
from kernelknife.app.tables import TableEncoder, make_table, read_table
from kernelknife.inspection.displays import WeightPathDisplay

__all__ = ["path"]

ABOUT_ORDERS = (
    "The elimination order is 1 for the column that leaves last; its first columns are the\n"
    "fewest that suffice. The first columns by relevance are everything that matters: a column\n"
    "that could replace another one is beside it."
)


def path(data, columns, options, reading, *, csv, plot, json):
    """Follow the path, print it and write the files that were asked for.

    Parameters
    ----------
    data : str
        The table.
    csv, plot : path or None
        Where to write the weights and the picture.
    json : bool
        Whether to print JSON instead of a table.
    """
    check_outputs(csv, plot, inputs=[data])
    frame = read_table(data, **vars(reading))
    about = {name: getattr(options, name) for name in ("target", "event", "task")}
    asked = about | vars(columns)
    table = make_table(frame, TableOptions(**asked), asked)
    for note in table.notes:
        print_note(note)
    encoder = TableEncoder(columns.impute, table.logs)
    X = encoder.fit_transform(table.features)
    with busy("following the path"):
        result = knife_path(
            X,
            table.target,
            kernel=options.kernel,
            loss=options.loss,
            alpha=options.alpha,
            sparsities=options.sparsities,
            random_state=options.random_state,
            task=table.task,
            feature_groups=encoder.feature_groups_,
            feature_costs=encoder.feature_costs,
        )
        relevance = result.relevance
    # The columns that a text column becomes share one weight: the first stands for all.
    first = encoder.first_columns
    names, weights, ranking = encoder.columns_, result.weights[:, first], result.ranking[first]
    relevance = np.argsort(np.argsort(relevance[first], kind="stable")) + 1
    if csv is not None:
        _write_weights(csv, names, result.sparsities, weights)
    if plot is not None:
        _draw(plot, names, result.sparsities, weights, ranking)
    if json:
        products = products_as_json(result.searched_products)
        _print_json(names, result.sparsities, weights, ranking, relevance, products)
        return
    _print_table(names, result.sparsities, weights, ranking, relevance)
    unsearched = products_in_words(result.searched_products, len(X))
    if unsearched:
        out.print(f"\n{unsearched}")
    print_places(Table=csv, Picture=plot)


def _write_weights(csv, names, sparsities, weights):
    """Write one row per point of the path: the penalty and the weight of every column."""
    import pandas

    frame = pandas.DataFrame(weights, columns=names)
    # A column of the user's table may be called sparsity as well.
    frame.insert(0, "sparsity", sparsities, allow_duplicates=True)
    with writing(csv):
        write_file(csv, frame.to_csv(index=False))


def _print_json(names, sparsities, weights, ranking, relevance, products):
    """Print the path as one JSON object."""
    content = {
        "ranking": [names[j] for j in np.argsort(ranking, kind="stable")],
        "relevance": [names[j] for j in np.argsort(relevance, kind="stable")],
        "sparsities": sparsities.tolist(),
        "searched_products": products,
        "weights": {name: weights[:, j].tolist() for j, name in enumerate(names)},
    }
    print_json(content)


def _print_table(names, sparsities, weights, ranking, relevance):
    """Print one row per column, the one that stays longest first."""
    rows = []
    for j in np.argsort(ranking, kind="stable"):
        active = np.flatnonzero(weights[:, j])
        last_penalty = number(float(sparsities[active[-1]])) if len(active) else "0"
        weight = number(float(weights[0, j]))
        rows.append((names[j], int(ranking[j]), int(relevance[j]), last_penalty, weight))
    heads = (
        "column",
        "elimination order",
        "relevance",
        "active up to penalty",
        "weight at penalty 0",
    )
    print_table(heads, rows, numeric=(1, 2, 3, 4))
    out.print(f"\n{ABOUT_ORDERS}")


def _draw(plot, names, sparsities, weights, ranking):
    """Write the picture of the path in the format that the ending of the file names."""
    matplotlib = import_optional("matplotlib", "kernelknife[cli]", "Drawing")
    ending = Path(plot).suffix.lstrip(".").lower() or "png"
    # Agg draws without a display, which a server does not have.
    with matplotlib.rc_context({"backend": "Agg"}), writing(plot):
        display = WeightPathDisplay(sparsities, weights, names, ranking=ranking).plot()
        buffer = io.BytesIO()
        display.figure_.savefig(buffer, format=ending, dpi=150)
        write_file(plot, buffer.getvalue())
