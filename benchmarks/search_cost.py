"""What the default search costs beside an earlier commit, on tables with the same folds.

Both versions run in processes of their own, one after the other and with one thread, so that a load
of the computer strikes both. A tuned support vector machine runs beside them. The CPU seconds are
those of the fit; the error is the misclassification rate, or the share of the variance that is not
explained, on the rows of an outer fold. The tables are those of ``tables.py``: defaults are chosen
on the choosing half only; longer ones are cut to 1,200 training rows.

    python benchmarks/search_cost.py --half choose
    python benchmarks/search_cost.py --half planted --only friedman
    python benchmarks/search_cost.py --summary
"""

import argparse
import csv
import io
import json
import math
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
FILE = HERE / "results" / "search_cost.csv"
BEFORE = "c353e54"
MOST_ROWS = 1200
PLANTED = {
    "friedman": (300, 20),
    "interaction": (400, 30),
    "orange": (200, 50),
    "sinusoid": (150, 15),
    "lines": (120, 40),
    "wide": (72, 4000),
    "long": (2400, 50),
}
LEAST_ERROR = 0.01  # a hundredth stands for none at all in ratios of errors


# -- one fit, in a process of its own -------------------------------------------------------------


def fit_once(path, method):
    """Fit the rows of a file, and print what it has cost and found."""
    data = np.load(path)
    classes = bool(data["classes"])
    if method == "svm":
        from tables import methods

        make = methods(classes)["RBF SVM"]
        model = make(data["A"].shape[1])
    else:
        from kernelknife import KnifeClassifierCV, KnifeRegressorCV

        model = (KnifeClassifierCV if classes else KnifeRegressorCV)()
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(data["A"], data["a"])
    seconds = time.process_time() - begin
    guess, target = model.predict(data["B"]), data["b"]
    error = np.mean(guess != target) if classes else np.mean((guess - target) ** 2) / target.var()
    found = {"cpu": seconds, "error": float(error)}
    found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if method != "svm":
        chosen = np.flatnonzero(model.weights_)
        found |= {"kept": len(chosen), "paths": model.n_paths_, "kernel": model.kernel_name_}
        found["true"] = int(np.isin(chosen, data["truth"]).sum())
    print(json.dumps(found))


# -- the problems ---------------------------------------------------------------------------------


def planted(name, seed):
    """Return training and test rows with known features."""
    n, p = PLANTED[name]
    rng = np.random.default_rng(seed)
    X, m = rng.normal(size=(n + 1000, p)), n
    noise, truth, classes = rng.normal(size=n + 1000), np.arange(4), True
    if name == "friedman":
        X, truth, classes = rng.uniform(size=X.shape), np.arange(5), False
        y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
        y += 10 * X[:, 3] + 5 * X[:, 4] + noise
    elif name == "orange":
        classes_of = rng.integers(2, size=len(X))
        radius = np.where(classes_of == 1, np.sqrt(8 + rng.uniform(size=len(X))), 0.0)
        shell = X[:, :4] / np.linalg.norm(X[:, :4], axis=1)[:, None] * radius[:, None]
        X[:, :4] = np.where(classes_of[:, None] == 1, shell, X[:, :4])
        y = classes_of
    elif name == "sinusoid":
        X, truth, classes = rng.uniform(-2, 2, size=X.shape), np.arange(5), False
        y = 2.0 * np.sin(2.0 * X[:, :5]).sum(axis=1) + noise
    elif name == "lines":
        truth = np.arange(6)
        y = (X[:, :6].sum(axis=1) + 2 * noise > 0).astype(int)
    else:
        f = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3]
        classes = name != "long"
        y = (f + 0.3 * noise > 0).astype(int) if classes else f + 0.5 * noise
    return X[:m], y[:m], X[m:], y[m:], classes, truth


def measured(name, seed):
    """Return training and test rows of one outer fold of a measured table."""
    from tables import load, outer_folds, prepare

    X, y, groups, classes = load(name)
    train, test = outer_folds(X, y, groups, classes, 1)[seed % 3]
    train = np.random.default_rng(seed).permutation(train)[:MOST_ROWS]
    A, B = prepare(X, train, test)
    y = np.unique(y, return_inverse=True)[1] if classes else y.astype(float)
    return A, y[train], B, y[test], classes, np.zeros(0, int)


def problems(half, only, seeds):
    """Yield names, seeds and rows."""
    from tables import CHOOSING, JUDGING

    names = {"planted": tuple(PLANTED), "choose": CHOOSING, "judge": JUDGING}[half]
    for name in names:
        if only and name not in only:
            continue
        for seed in range(seeds):
            yield name, seed, (planted if half == "planted" else measured)(name, seed)


# -- side by side ---------------------------------------------------------------------------------


def sources_of(commit, folder):
    """Unpack the package as it was at a commit; return the folder to import it from."""
    archive = subprocess.run(
        ["git", "archive", commit, "src"], cwd=HERE.parent, capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return Path(folder) / "src"


def compare(half, only, seeds, before):
    """Yield one row per problem and version."""
    now = os.environ.get("PYTHONPATH", str(HERE.parent / "src")).split(os.pathsep)[0]
    with tempfile.TemporaryDirectory() as folder:
        versions = {"before": sources_of(before, folder), "now": now, "svm": now}
        for name, seed, (A, a, B, b, classes, truth) in problems(half, only, seeds):
            path = Path(folder) / "data.npz"
            np.savez(path, A=A, a=a, B=B, b=b, classes=classes, truth=truth)
            for version, source in versions.items():
                method = "svm" if version == "svm" else "kernelknife"
                threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
                run = subprocess.run(
                    [sys.executable, __file__, "--fit", str(path), method],
                    env={**os.environ, **threads, "PYTHONPATH": str(source)},
                    capture_output=True,
                    text=True,
                    check=True,
                )
                size = {"half": half, "problem": name, "seed": seed, "rows": len(A)}
                found = json.loads(run.stdout.splitlines()[-1])
                yield {**size, "columns": A.shape[1], "version": version, **found}


FIELDS = (
    *("half", "problem", "seed", "rows", "columns", "version", "cpu", "memory", "error"),
    *("kept", "true", "kernel", "paths", "commit"),
)


def record(rows):
    """Add rows to the table, in place of older ones of the same problem and version."""
    from _common import provenance

    commit = provenance()["commit"]
    old = read() if FILE.exists() else []

    def key(row):
        return row["half"], row["problem"], str(row["seed"]), row["version"]

    new = {key(row) for row in rows}
    for row in rows:
        row |= {name: f"{row[name]:.4g}" for name in ("cpu", "memory", "error")}
        row["commit"] = commit
    with FILE.open("w", newline="") as file:
        table = csv.DictWriter(file, FIELDS)
        table.writeheader()
        table.writerows([row for row in old if key(row) not in new] + rows)


def read():
    """Return the recorded rows."""
    with FILE.open(newline="") as file:
        return list(csv.DictReader(file))


def summarize(rows):
    """Print the ratios, in geometric means with standard errors, by half and kind of table."""
    by_key = {}
    for row in rows:
        by_key.setdefault((row["half"], row["problem"], row["seed"]), {})[row["version"]] = row
    kinds = {}
    for (half, *_), versions in by_key.items():
        if {"before", "now", "svm"} <= versions.keys():
            wide = int(versions["now"]["columns"]) > 1000
            long = int(versions["now"]["rows"]) > MOST_ROWS
            kind = "wide" if wide else "long" if long else "usual"
            kinds.setdefault((half, kind), []).append(versions)
    for (half, kind), found in kinds.items():

        def ratios(value, over, found=found, least=0.0):
            pairs = [(float(v["now"][value]), float(v[over][value])) for v in found]
            logs = [math.log(max(a, least) / max(b, least)) for a, b in pairs]
            error = np.std(logs, ddof=1) / math.sqrt(len(logs)) if len(logs) > 1 else math.nan
            return f"{math.exp(np.mean(logs)):.2f} (x{math.exp(error):.2f})"

        kept = [sum(int(v[which]["kept"]) for v in found) for which in ("before", "now")]
        print(
            f"{half} {kind}: {len(found)} tables; CPU over before {ratios('cpu', 'before')}, over "
            f"SVM {ratios('cpu', 'svm')}; error over before "
            f"{ratios('error', 'before', least=LEAST_ERROR)}; memory "
            f"{ratios('memory', 'before')}; columns kept {kept[0]} before, {kept[1]} now"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--half", choices=("planted", "choose", "judge"), default="planted")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--before", default=BEFORE)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--summary", action="store_true")
    options = parser.parse_args()
    if options.fit:
        fit_once(*options.fit)
        return
    if options.summary:
        summarize(read())
        return
    rows = []
    for row in compare(options.half, options.only, options.seeds, options.before):
        shown = {key: row[key] for key in ("problem", "seed", "version", "rows", "columns")}
        print(*shown.values(), *(f"{row[k]:.3g}" for k in ("cpu", "memory", "error")),
              row.get("kept", ""), row.get("kernel", ""), flush=True)  # fmt: skip
        rows.append(row)
        if options.record:
            record([dict(row)])
    summarize([{**row, "seed": str(row["seed"])} for row in rows])


if __name__ == "__main__":
    main()
