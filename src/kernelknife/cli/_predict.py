"""``kernelknife predict``: the predictions of a saved model for the rows of a table."""

import sys

from kernelknife._support.files import write_file
from kernelknife.cli.console import say, warned
from kernelknife.cli.files import announce, check_outputs, writing
from kernelknife.storage import load_model
from kernelknife.tables import check_column, read_table, reading_notes, unseen_levels

__all__ = ["predict"]


def predict(model, data, reading, *, ids, output):
    """Print the predictions as CSV, or write them to a file.

    Parameters
    ----------
    model : path
        What ``kernelknife select --save`` wrote.
    data : str
        The table.
    reading : dict
        Arguments of :func:`kernelknife.tables.read_table`.
    ids : list of str
        Columns of the table to repeat beside the predictions.
    output : path or None
        None prints to standard output.
    """
    check_outputs(output, inputs=[model, data])
    encoder, machine, facts = load_model(model)
    frame = read_table(data, **reading)
    for name in ids:
        check_column(name, frame.columns)
    with warned():
        predictions = machine.predict(encoder.transform(frame, facts["selected"]))
    for note in [*reading_notes(frame), *unseen_levels(encoder, frame, facts["selected"])]:
        say(note)
    result = frame[list(ids)].copy()
    result[f"predicted {facts['target']}"] = predictions
    text = result.to_csv(index=False)
    if output is None:
        sys.stdout.write(text)
        return
    with writing(output):
        write_file(output, text)
    announce("Predictions", output)
