"""Odd tables and odd options through the command: an answer or a sentence, and nothing lost.

    python benchmarks/fuzz_tables.py --tables 500 --options 100
    python benchmarks/fuzz_tables.py --show 17 [--of options]

A table has columns of many kinds, names that are markup or formulas, and one of six formats. It
goes through ``select``, ``path`` or ``explore``, in this process. No other error may come up than
a sentence with exit status 2, no warning of another package, no invalid JSON, no unescaped markup
in a report. A model that was saved then predicts the same file, its first row alone, and the same
rows in another format: every identifier comes back character for character, every row has a finite
prediction, and it is the same everywhere. The draws of options take a plain table and up to four
options, some of them wrong.
"""

import argparse
import contextlib
import io
import json
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path
from unittest import mock

import _common  # noqa: F401  # one thread
import numpy as np
import pandas as pd

from kernelknife.app.cli import main as command

NAMES = (
    "a", "B b", "", "x;y", 'quo"te', "<script>alert(1)</script>", "=1+1", "ünïcode", "#A1", "1.5",
    "a.b", "tab\there", "NaN", "y_", "very " * 30, "-t", "[x]", "col\n2", "None", "%", "a,b",
)  # fmt: skip
LEVELS = (("01", "02", "x"), ("red", "<b>blue</b>", "ü"), ("true", "1.50", "NA?"), ("#A1", "#B2"))
PLAIN = tuple("abcdefghi")
IDS = ("0017", "1.10", "1E2", "true", "NA", "null", "9007199254740993", "7", "007", "ü")


def _texts(rng, n):
    return rng.choice(LEVELS[rng.integers(len(LEVELS))], n)


def _days(n, step, form):
    return pd.date_range("1999-12-01", periods=n, freq=step).strftime(form).to_numpy()


def _with_gaps(values, rng):
    values = values.astype(object)
    values[rng.random(len(values)) < rng.choice([0.02, 0.3, 0.9])] = None
    return values


KINDS = (
    lambda rng, n: rng.normal(size=n),
    lambda rng, n: np.exp(3.0 * rng.normal(size=n)),
    lambda rng, n: rng.integers(0, 4, n),
    lambda rng, n: rng.integers(2, size=n).astype(bool),
    lambda rng, n: np.where(rng.random(n) < 0.1, 0.1 + 0.2, 0.3) + rng.integers(3, size=n),
    lambda rng, n: 1e12 + rng.normal(size=n),
    lambda rng, n: rng.normal(size=n) * 10.0 ** rng.choice([-200, -20, 20, 150]),
    lambda rng, n: np.full(n, 3.0),
    lambda rng, n: rng.choice([0, 1, 99999999], n, p=[0.5, 0.45, 0.05]),
    lambda rng, n: _days(n, "37h", "%d.%m.%Y"),
    lambda rng, n: _days(n, "D", "%Y-%m-%d"),
    _texts,
    _texts,
    lambda rng, n: np.array([f"id{j}" for j in rng.permutation(n)]),
    lambda rng, n: np.where(rng.random(n) < 0.05, "n/a", rng.normal(size=n).round(2).astype(str)),
    lambda rng, n: np.array([f"{v:.2f} %" for v in rng.normal(size=n)]),
    lambda rng, n: np.array([f"1,{v:03d}" for v in rng.integers(1000, size=n)]),
)  # fmt: skip
TARGETS = (
    lambda s, rng: s + 0.1 * rng.normal(size=len(s)),
    lambda s, rng: np.where(s > np.median(s), "yes", "no"),
    lambda s, rng: np.where(s > np.quantile(s, 0.9), "01", "02"),
    lambda s, rng: np.digitize(s, np.quantile(s, [0.3, 0.6])),
    lambda s, rng: rng.poisson(np.exp(np.clip(s, -2, 2))),
    lambda s, rng: s > 0,
    lambda s, rng: 10.0 ** rng.choice([-120, 120]) * s,
    lambda s, rng: np.full(len(s), 2),
    lambda s, rng: np.where(rng.random(len(s)) < 0.1, None, s.round(3)),
)
FORMATS = ("csv", "csv", "csv", "tsv", "csv.gz", "xlsx", "parquet")


def draw_table(rng):
    """Return a frame of odd columns with identifiers ``key`` and a target ``y``."""
    n, p = int(rng.integers(8, 90)), int(rng.integers(1, 7))
    frame, signal = {}, rng.normal(size=n)
    odd = rng.random() < 0.5
    for name in rng.choice(NAMES if odd else PLAIN, p, replace=False):
        # The last kinds are refused for most of their tables.
        values = np.asarray(KINDS[rng.integers(len(KINDS) if rng.random() < 0.2 else 13)](rng, n))
        frame[str(name)] = _with_gaps(values, rng) if rng.random() < 0.2 else values
    frame["signal"] = np.sin(2.0 * signal)
    frame["y"] = TARGETS[rng.choice(len(TARGETS), p=[0.28, 0.2, *[0.08] * 6, 0.04])](signal, rng)
    keys = [*IDS, *(f"{k:05d}" for k in rng.permutation(10**4)[:n])]
    return pd.DataFrame({"key": rng.permutation(keys[:n]), **frame})


def save(frame, path, ending):
    """Write a table in a format."""
    if ending == "xlsx":
        frame.to_excel(path, index=False)
    elif ending == "parquet":
        # Columns of numbers and gaps are numbers, columns of numbers and texts are texts.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pandas tries whole numbers for 1e120
            typed = frame.convert_dtypes()
        mixed = typed.select_dtypes(object).columns
        typed.astype(dict.fromkeys(mixed, "string")).to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")


def run_command(*arguments):
    """Return status, output and errors of the command; an exception of any other kind is raised."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["kernelknife", *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        try:
            command()
            status = 0
        except SystemExit as stop:
            status = stop.code or 0
    return status, out.getvalue(), err.getvalue()


def complaints(status, out, err, *, as_json=False, report=None):
    """Return what is wrong with an answer, nothing if all is well."""
    if status not in (0, 1, 2):
        return f"exit status {status!r}"
    if "Traceback" in out + err:
        return "a traceback"
    if any(name in err for name in ("PerformanceWarning", "RuntimeWarning", "FutureWarning")):
        return f"a warning of another package: {err[-300:]}"
    if status == 2:
        return "" if err.strip() else "refused without a word"
    if as_json:
        try:
            json.loads(out)
        except ValueError as error:
            return f"no JSON: {error}"
    if report is not None and report.exists() and "<script>alert" in report.read_text():
        return "markup of a table in a report"
    return ""


def predictions(path, model, folder, name):
    """Return the table of predictions of a file, or the sentence of a refusal."""
    output = Path(folder) / f"{name}.csv"
    status, _, err = run_command("predict", model, path, "--id", "key", "-o", output)
    if status == 2:
        return err
    return pd.read_csv(output, dtype=str, keep_default_na=False)


def differs(one, other, rtol=1e-9):
    """Return where two tables of predictions differ, nothing if they are the same."""
    for column in one.columns:
        for row, (a, b) in enumerate(zip(one[column], other[column], strict=True)):
            try:
                equal = np.isclose(float(a), float(b), rtol=rtol, atol=1e-12)
            except ValueError:
                equal = a == b
            if not equal and column != "key":
                return f"{column} of row {row}: {a} and {b}"
    return ""


def lost(frame, path, ending, model, folder, rng):
    """Return what is lost when a model predicts the file that it comes from.

    The first row alone, and the same rows in a file of another format, have the same predictions.
    """
    first, other = Path(folder) / f"first.{ending}", Path(folder) / f"other.{rng.choice(FORMATS)}"
    save(frame.iloc[:1], first, ending)
    save(frame, other, other.suffixes[0][1:])
    all_rows, alone, elsewhere = (
        predictions(p, model, folder, name)
        for p, name in ((path, "all"), (first, "one"), (other, "else"))
    )
    refused = [name for name, found in (("the first row alone", alone), (other.name, elsewhere))
               if isinstance(found, str)]  # fmt: skip
    if isinstance(all_rows, str):
        return ""  # in a sentence
    if refused:
        return f"refused: {refused}: {alone} {elsewhere}"[:600]
    if list(all_rows["key"]) != list(frame["key"]):
        return f"identifiers: {list(all_rows['key'])[:12]} for {list(frame['key'])[:12]}"
    predicted = all_rows.filter(like="predicted").to_numpy(dtype=str)
    if np.isin(predicted, ["", "nan", "inf", "-inf"]).any():
        return "a prediction that is no number"
    if alone_differs := differs(alone, all_rows.iloc[:1]):
        return f"alone and beside the others, {alone_differs}"
    # A workbook has 16 digits of a number, which 1e12 plus noise needs 17 of.
    books = "xlsx" in (ending, other.suffix[1:])
    elsewhere_differs = differs(elsewhere, all_rows, rtol=1e-3 if books else 1e-9)
    return f"in {other.name}, {elsewhere_differs}" if elsewhere_differs else ""


def try_table(seed, index):
    """Return what happened with a table: its status, and what is wrong."""
    rng = np.random.default_rng([seed, index])
    frame, ending = draw_table(rng), str(rng.choice(FORMATS))
    with tempfile.TemporaryDirectory() as folder:
        path, model, page = (Path(folder) / name for name in (f"t.{ending}", "m.kk", "r.html"))
        save(frame, path, ending)
        what = str(rng.choice(["select", "select", "select", "path", "explore"]))
        arguments = [what, path, "--id", "key"]
        as_json = bool(rng.random() < 0.4)
        arguments += ["--json"] if as_json else []
        if what != "explore":
            arguments += ["-t", "y"]
        dates = any(str(value).count(".") == 2 or "-12-" in str(value) for value in frame.iloc[0])
        if dates if rng.random() < 0.9 else not dates:
            arguments += ["--dates", "days"]
        if rng.random() < 0.3:
            arguments += ["--impute", "median"]
        if what == "select":
            arguments += ["--quick", "--permutations", "0", "--save", model, "--report", page]
        status, out, err = run_command(*arguments)
        wrong = complaints(status, out, err, as_json=as_json, report=page)
        if not wrong and model.exists():
            wrong = lost(frame, path, ending, model, folder, rng)
        return f"{what} {status}", wrong, (arguments, frame, out, err)


# Of each option a value that is right and some that are odd; None stands for the option alone.
OPTIONS = {
    "--drop": ("a", "nothere", "a,b"), "--id": ("g", "y"), "--levels": ("k", "a", "zz"),
    "--impute": ("median", "mean"), "--drop-missing": (None,), "--dates": ("days", "hours"),
    "--group": ("g", "y", "none"), "--task": ("regression", "classification", "both"),
    "--keep": ("a", "k", "y"), "--adjust-for": ("a", "k", "y"), "--hold-out": ("0.2", "2", "k=v"),
    "--kernel": ("rbf", "anova", "gauss"), "--loss": ("huber", "poisson", "hinge", "cox"),
    "--class-weight": ("balanced", "x"), "--alpha": ("0.1", "0", "-1", "nan", "inf", "x"),
    "--sparsity": ("0.5", "-1", "nan", "1e9"), "--features": ("1", "0", "99", "-3"),
    "--rule": ("1se", "2se"), "--folds": ("2", "1", "1000"), "--nested": ("full", "none"),
    "--centers": ("10", "-1", "100000"), "--stability": (None,), "--max-false": ("1", "0", "nan"),
    "--fdr": ("0.2", "0", "2"), "--permutations": ("19", "2", "-1"), "--level": ("0.1", "0", "2"),
    "--quick": (None,), "--seed": ("3", "-1", "1e5"), "--jobs": ("1", "0"),
    "--encoding": ("latin-1", "klingon"), "--missing": ("x",), "--decimal": (",", "..", ""),
    "--thousands": (",", "."), "--sheet": ("one",), "--transpose": (None,), "--event": ("e", "a"),
    "--json": (None,), "--report": ("r.html", "r.pdf"), "--save": ("m.kk", "m.pkl"),
}  # fmt: skip


def plain_table():
    """Return a table to try options on."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    frame["k"], frame["g"] = rng.choice(["u", "v"], 60), np.arange(60) // 5
    frame["e"], frame["key"] = rng.integers(2, size=60), [f"{j:03d}" for j in range(60)]
    return frame.assign(y=np.exp(np.sin(2.0 * frame.a)) + (frame.k == "u"))


def try_options(seed, index):
    """Return what happened with a draw of options."""
    rng, frame = np.random.default_rng([seed, index, 1]), plain_table()
    chosen = rng.choice(list(OPTIONS), int(rng.integers(1, 5)), replace=False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        save(frame, path, "csv")
        arguments = ["select", path, "-t", "y", "--id", "key"]
        for name in chosen:
            values = OPTIONS[name]
            value = values[0] if rng.random() < 0.85 else values[rng.integers(len(values))]
            if name in ("--report", "--save"):
                value = Path(folder) / value
            arguments += [name] if value is None else [name, value]
        if "--quick" not in chosen and "--folds" not in chosen:
            arguments += ["--folds", "2"]
        if "--permutations" not in chosen:
            arguments += ["--permutations", "0"]
        status, out, err = run_command(*arguments)
        wrong = complaints(status, out, err, as_json="--json" in chosen)
        return f"options {status}", wrong, (arguments, frame, out, err)


def attempt(what, seed, index):
    """Return what happened, an exception among what is wrong."""
    try:
        return (try_options if what == "options" else try_table)(seed, index)
    except Exception as error:  # whatever comes up is a finding
        return "exception", f"{type(error).__name__}: {error}", (traceback.format_exc(),)


def main():
    """Read the arguments, and print what the tables did."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=500)
    parser.add_argument("--options", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, metavar="K", help="print what draw K does")
    parser.add_argument("--of", choices=("tables", "options"), default="tables")
    given = parser.parse_args()
    if given.show is not None:
        print(*attempt(given.of, given.seed, given.show), sep="\n")
        return
    counts, n_wrong = Counter(), 0
    for what, number in (("tables", given.tables), ("options", given.options)):
        for index in range(number):
            status, wrong, _ = attempt(what, given.seed, index)
            counts[status] += 1
            if wrong:
                n_wrong += 1
                print(what, index, status, wrong, flush=True)
    print(dict(sorted(counts.items())))
    total = sum(counts.values())
    print(f"{n_wrong} of {total} draws end in anything else than an answer or a sentence")
    sys.exit(bool(n_wrong))


if __name__ == "__main__":
    main()
