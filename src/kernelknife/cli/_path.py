"""``kernelknife path``: every column's weight as the penalty rises."""

import io
import json as json_module
from pathlib import Path

import numpy as np

from kernelknife import knife_path
from kernelknife._support.files import write_file
from kernelknife._support.formatting import number
from kernelknife.cli._select import check_writable, writing
from kernelknife.cli.console import errors, out, show_table, warned
from kernelknife.display import WeightPathDisplay
from kernelknife.tables import TableEncoder, make_table, read_table

__all__ = ["path"]


def path(data, target, columns, options, reading, *, csv, plot, json):
    """Follow the path, print it, write what was asked for."""
    import pandas

    check_writable(csv, plot, source=data)
    table = make_table(read_table(data, **reading), target, **columns)
    encoder = TableEncoder(impute=columns["impute"])
    X = encoder.fit_transform(table.features)
    with warned(), errors.status("following the path") if errors.is_terminal else warned():
        found = knife_path(
            X, table.target, task=table.task, feature_groups=encoder.feature_groups_, **options
        )
    first = encoder.first_columns
    weights, ranking = found.weights[:, first], found.ranking[first]
    frame = pandas.DataFrame(weights, columns=encoder.columns_)
    frame.insert(0, "sparsity", found.sparsities, allow_duplicates=True)
    if csv is not None:
        with writing(csv):
            write_file(csv, frame.to_csv(index=False))
    if plot is not None:
        _draw(found.sparsities, weights, encoder.columns_, ranking, plot)
    order = np.argsort(ranking, kind="stable")
    if json:
        content = {
            "ranking": [encoder.columns_[j] for j in order],
            "sparsities": found.sparsities.tolist(),
            "weights": {name: weights[:, j].tolist() for j, name in enumerate(encoder.columns_)},
        }
        out.print(json_module.dumps(content), markup=False)
        return
    for note in table.notes:
        errors.print(note, markup=False)
    rows = []
    for j in order:
        alive = np.flatnonzero(weights[:, j])
        leaves = number(float(found.sparsities[alive[-1]])) if len(alive) else "0"
        rows.append((encoder.columns_[j], int(ranking[j]), leaves, number(float(weights[0, j]))))
    show_table(
        ("column", "order of survival", "stays up to", "weight at 0"), rows, numeric=(1, 2, 3)
    )
    for name, target_path in (("Table", csv), ("Picture", plot)):
        if target_path is not None:
            errors.print(f"{name}: {Path(target_path).resolve()}", markup=False)


def _draw(sparsities, weights, names, ranking, plot):
    from kernelknife._support.optional import import_optional

    matplotlib = import_optional("matplotlib", "kernelknife[cli]", "Drawing")
    ending = Path(plot).suffix.lstrip(".").lower() or "png"
    with matplotlib.rc_context({"backend": "Agg"}), writing(plot):
        display = WeightPathDisplay(sparsities, weights, names, ranking=ranking).plot()
        buffer = io.BytesIO()
        display.figure_.savefig(buffer, format=ending, dpi=150)
        write_file(plot, buffer.getvalue())
