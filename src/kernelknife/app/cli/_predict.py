"""``kernelknife predict``: the predictions of a saved model for the rows of a table."""

import sys

import numpy as np

from kernelknife.app.cli.console import check_outputs, print_note, print_places, warned, write_table
from kernelknife.app.storage import load_model
from kernelknife.app.tables import (
    TableError,
    check_column,
    check_format,
    expand_dates,
    is_formula,
    new_gaps,
    outside_range,
    read_table,
    reading_notes,
    rows_to_predict,
    unseen_levels,
)
from kernelknife.app.tables.columns import as_texts, text_columns

__all__ = ["predict"]


def predict(model, data, reading, *, ids, output):
    """Print the predictions as CSV, or write them to a file.

    Classes come with their probabilities where the loss has them, and with their scores where not.

    Parameters
    ----------
    model : path
        What ``kernelknife select --save`` wrote.
    data : str
        The table.
    ids : list of str
        Columns of the table to repeat beside the predictions.
    output : path or None
        None prints CSV to standard output; else the ending names the format, CSV, Parquet or xlsx.
    """
    check_outputs(output, inputs=[model, data])
    if output is not None:
        check_format(output)
    encoder, fitted, facts = load_model(model)
    # What the model knows as texts is read as texts, whatever the cells of this file look like.
    texts = [*encoder.levels_, *facts["dates"]]
    frame = read_table(data, **vars(reading), texts=texts, keys=ids)
    for name in ids:
        check_column(name, frame.columns)
    selected = [*facts["selected"], *facts["adjusted"]]
    rows = rows_to_predict(encoder, frame, facts["dates"], selected, facts["exposure"])
    with warned():
        columns = _predictions(fitted, rows, facts["target"])
    numbers = expand_dates(frame, facts["dates"], selected)
    finders = (new_gaps, unseen_levels, outside_range)
    notes = [note for find in finders for note in find(encoder, numbers, selected)]
    for note in [*reading_notes(frame), *notes]:
        print_note(note)
    result = frame[list(dict.fromkeys(ids))].copy()
    for name, values in columns.items():
        if name in result.columns:
            raise TableError(
                f"{name!r} is repeated by --id and is the name of a column of predictions: rename "
                f"it in {data}, or leave it out."
            )
        result.insert(result.shape[1], name, values)
    for note in spreadsheet_notes(result, output):
        print_note(note)
    if output is None:
        sys.stdout.write(result.to_csv(index=False))
        return
    write_table(output, result, exact=ids)
    print_places(Predictions=output)


def spreadsheet_notes(result, output):
    """Return a note where a spreadsheet would run texts of a text file as formulas.

    They are written as they are, because identifiers have to come back character for character.
    """
    if output is not None and output.suffix.lower() in (".xlsx", ".parquet"):
        return []
    texts = [text for name in text_columns(result) for text in as_texts(result[name])]
    formulas = [text for text in texts if is_formula(text)]
    if not formulas:
        return []
    return [
        f"a spreadsheet would run {formulas[0]!r} as a formula when it opens a text file "
        f"({len(formulas)} such cells): write a workbook (-o predictions.xlsx), where texts stay "
        "texts"
    ]


def _predictions(fitted, rows, target):
    """Return the columns of the answer by their names: the prediction, and how sure it is."""
    name = f"risk before {target}" if hasattr(fitted, "baseline_") else f"predicted {target}"
    predicted, X = fitted.predict(**rows), rows["X"]
    if predicted.ndim > 1:
        levels = fitted.loss.quantile
        return {f"quantile {q:g} of {target}": predicted[:, k] for k, q in enumerate(levels)}
    columns = {name: predicted}
    if not hasattr(fitted, "classes_"):
        return columns
    if hasattr(fitted, "predict_proba"):
        shares = fitted.predict_proba(X)
        names = [f"probability of {label}" for label in fitted.classes_]
        return {**columns, **dict(zip(names, shares.T, strict=True))}
    scores = np.reshape(fitted.decision_function(X), (len(X), -1))
    labels = fitted.classes_[1:] if len(fitted.classes_) == 2 else fitted.classes_
    names = [f"score of {label}" for label in labels]
    return {**columns, **dict(zip(names, scores.T, strict=True))}
