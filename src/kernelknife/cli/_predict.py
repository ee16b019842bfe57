"""``kernelknife predict``: a saved model on new rows."""

from pathlib import Path

from kernelknife._support.files import write_file
from kernelknife.cli._select import check_writable, writing
from kernelknife.cli.console import errors, warned
from kernelknife.storage import load_model
from kernelknife.tables import TableError, read_table, unseen_levels

__all__ = ["predict"]


def predict(model, data, reading, *, ids, output):
    """Print the predictions as CSV, or write them to a file."""
    import sys

    check_writable(output, source=data)
    encoder, machine, facts = load_model(model)
    frame = read_table(data, **reading)
    absent = [name for name in ids if name not in frame.columns]
    if absent:
        raise TableError(f"There is no column {absent[0]!r} in {data}.")
    with warned():
        found = machine.predict(encoder.transform(frame, facts["selected"]))
    for note in unseen_levels(encoder, frame, facts["selected"]):
        errors.print(note, markup=False)
    result = frame[list(ids)].copy()
    result[f"predicted {facts['target']}"] = found
    text = result.to_csv(index=False)
    if output is None:
        sys.stdout.write(text)
        return
    with writing(output):
        write_file(output, text)
    errors.print(f"Predictions: {Path(output).resolve()}", markup=False)
