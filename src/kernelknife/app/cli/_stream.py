"""``kernelknife select`` of more rows than are read at once: files, folders, globs, databases."""

import glob
from pathlib import Path

from kernelknife._utils.files import write_file
from kernelknife._utils.messages import import_optional, number
from kernelknife.app.cli.console import (
    Failure,
    check_outputs,
    out,
    print_json,
    print_note,
    print_places,
    print_table,
    warned,
    writing,
)
from kernelknife.app.options import FLAGS, changed
from kernelknife.export import to_sql
from kernelknife.sources import open_source
from kernelknife.streaming import ALPHAS, select_stream

__all__ = ["is_streamed", "select"]

# Numbers of a table beyond which it is not read as a whole: 50 columns of four million rows. As an
# encoded data frame and its copies they would take several times as many bytes.
MOST_NUMBERS = 200_000_000
BYTES_PER_NUMBER = 8  # of a text file, roughly
KNOWN = {
    *("drop", "ids", "group", "exposure"),
    *("kernel", "loss", "alpha", "rule", "folds", "random_state"),
}
KERNELS = {"auto": "additive", "additive": "additive", "linear": "linear"}
SURE = 2.0  # standard errors by which a finding is better than a constant


def is_streamed(data):
    """Return whether the rows of some data are read in blocks: several files, or too many rows.

    Parameters
    ----------
    data : str
        What the user names: a file, a folder, a glob or a URL.
    """
    if data.lower().startswith(("http://", "https://")):
        return False  # one file, to be downloaded first
    if "://" in data or (glob.has_magic(data) and not Path(data).exists()):
        return True
    path = Path(data)
    if path.is_dir():
        return True
    if not path.is_file():
        return False
    if path.suffix in (".parquet", ".pq"):
        parquet = import_optional("pyarrow.parquet", "kernelknife[cli]", "A Parquet file")
        try:
            facts = parquet.ParquetFile(path).metadata
        except (OSError, ValueError):
            return False  # whoever reads it as a whole says what is wrong
        return facts.num_rows * facts.num_columns > MOST_NUMBERS
    plain = path.suffix in (".csv", ".feather", ".arrow")
    return plain and path.stat().st_size > BYTES_PER_NUMBER * MOST_NUMBERS


def select(data, options, reading, *, sql, checkpoint, json):
    """Select columns in a few scans, print them and write the files that were asked for.

    Parameters
    ----------
    data : str
    options : SelectOptions
    reading : ReadOptions
    sql : path or None
        Where to write the model as an expression of SQL.
    checkpoint : path or None
        Keeps the sums of a run that is interrupted.
    json : bool
        Whether to print JSON instead of tables.

    Returns
    -------
    int
        The exit status: 0 if the selected columns predict better than a constant, else 1.
    """
    _check_options(data, options, reading)
    check_outputs(sql, checkpoint)
    with warned():
        source = open_source(data)
        loss = options.loss
        if loss is None and source.dtypes.get(options.target) == "text":
            print_note(f"took the texts of {options.target} for classes: --loss logistic")
            loss = "logistic"
        found = select_stream(
            source,
            options.target,
            loss=loss or "squared",
            drop=[*options.drop, *options.ids],
            groups=options.group,
            exposure=options.exposure,
            kernel=KERNELS[options.kernel],
            alphas=ALPHAS if options.alpha is None else options.alpha,
            rule=options.rule,
            cv=options.folds or 5,
            n_workers=None if options.n_jobs in (None, -1) else options.n_jobs,
            random_state=options.random_state,
            checkpoint=checkpoint,
            announce=print_note,
        )
    if sql is not None:
        with writing(sql):
            write_file(sql, to_sql(found) + "\n")
    better = found.baseline_error - found.error > SURE * found.standard_error
    finding = bool(found.selected) and better
    if json:
        print_json(_as_json(found, options.target, finding), indent=2)
    else:
        _print(found, options.target, finding)
    print_places(SQL=sql)
    return 0 if finding else 1


def _check_options(data, options, reading):
    """Raise where an option is given that scans have no answer for."""
    given = {**changed(options), **changed(reading)}
    unknown = [name for name in given if name not in KNOWN]
    if options.kernel not in KERNELS and "kernel" not in unknown:
        unknown.append("kernel")
    if unknown:
        flags = ", ".join(FLAGS[name] for name in unknown)
        raise Failure(
            f"{data} is read in blocks, and {flags} cannot be used with that: leave it out, or "
            "select from a sample of the rows."
        )


def _rows(found):
    order = [found.names.index(name) for name in found.selected]
    return [
        (
            found.names[j],
            f"{100 * found.importance[j]:.2f} %",
            f"{100 * found.frequency[j]:.0f} %",
            number(found.weights[j]),
        )
        for j in order
    ]


def _print(found, target, finding):
    """Print the answer, the columns and the errors as tables."""
    n, p = len(found.selected), len(found.names)
    verb = "matters" if n == 1 else "matter"
    head = f"{n} of {p} columns {verb} for {target}"
    if not finding:
        head = f"No column predicts {target} better than a constant does"
    out.print(f"{head}: {found.n_rows:,} rows, {found.n_scans} scans.")
    if found.p_value is not None:
        out.print(f"Permuted targets: p = {number(found.p_value)} for the whole selection.")
    out.print()
    print_table(
        ("column", "of the fit", "in half-samples", "weight"), _rows(found), numeric=(1, 2, 3)
    )
    out.print()
    rows = [
        ("selected columns", number(found.error), number(found.standard_error)),
        ("baseline (constant)", number(found.baseline_error), ""),
    ]
    print_table((found.error_name, "mean", "standard error"), rows, numeric=(1, 2))


def _as_json(found, target, finding):
    """Return the answer as a JSON object."""
    return {
        "target": target,
        "finding": finding,
        "rows": found.n_rows,
        "scans": found.n_scans,
        "memory": found.memory,
        "seconds": found.seconds,
        "features": [
            {
                "name": name,
                "weight": float(found.weights[j]),
                "share_of_fit": float(found.importance[j]),
                "frequency": float(found.frequency[j]),
                "adjusted_p_value": None
                if found.adjusted_p_values is None
                else float(found.adjusted_p_values[j]),
            }
            for name in found.selected
            for j in [found.names.index(name)]
        ],
        "error": {
            "name": found.error_name,
            "mean": found.error,
            "standard_error": found.standard_error,
        },
        "baseline_error": found.baseline_error,
        "p_value": found.p_value,
        "alpha": found.alpha,
        "sparsity": found.sparsity,
        "weighting": found.weighting,
    }
