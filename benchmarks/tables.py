"""Measured tables that nobody planted: our defaults beside what people use, on outer folds.

Every method is fitted on the training rows of each outer fold with its own inner cross-validation
and judged on the test rows. The error is the balanced error of classes, or the share of the
variance left for numbers. The tables are taken in the order of the alphabet: every second one,
from the first, was used to choose our default settings, and only the others judge them.

The tables of CRAN and of the gene-expression collections are read from the folder ``tables`` of
``KERNELKNIFE_DATA``; the others come with scikit-learn or with our loaders.

    python benchmarks/tables.py --half judge --repeats 1
    python benchmarks/tables.py --summary
"""

import argparse
import csv
import os
import time
import warnings
from pathlib import Path

import numpy as np
from _common import RESULTS, provenance
from sklearn import datasets as bundled
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LassoCV, LogisticRegressionCV
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

from kernelknife import KnifeClassifierCV, KnifeRegressorCV, knife_path
from kernelknife.datasets import load_colon, load_parkinsons

NUMBERS = ("abalone", "chemical", "concrete", "diabetes", "permeability", "solubility")
BUNDLED = ("breast_cancer", "diabetes", "digits", "iris", "wine")
TABLES = (
    *("abalone", "breast_cancer", "chemical", "colon", "concrete", "diabetes", "digits", "glass"),
    *("gordon", "ionosphere", "iris", "parkinsons", "permeability", "pima", "segmentation"),
    *("shipp", "solubility", "sonar", "vehicle", "wine"),
)
CHOOSING, JUDGING = TABLES[::2], TABLES[1::2]
OUTER_FOLDS = 3
FILE = RESULTS / "tables.csv"
OURS = "kernelknife"
# Recursive elimination drops a tenth of the columns at a time; with thousands of them and a
# support vector machine in every step it is the only one here that takes hours.
MOST_COLUMNS_TO_ELIMINATE = 3000


def load(name):
    """Return X, y, groups of rows or None, and whether y is of classes."""
    if name in BUNDLED:
        X, y = getattr(bundled, f"load_{name}")(return_X_y=True)
        return X, y, None, name not in NUMBERS
    if name == "parkinsons":
        data = load_parkinsons()
        return (
            np.asarray(data.data, dtype=float),
            np.asarray(data.target),
            np.asarray(data.groups),
            True,
        )
    if name == "colon":
        data = load_colon()
        return np.log(np.asarray(data.data, dtype=float)), np.asarray(data.target), None, True
    import pandas

    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("KERNELKNIFE_DATA", beside)) / "tables"
    frame = pandas.read_csv(folder / f"{name}.csv.gz")
    y = frame.pop("target").to_numpy()
    frame = pandas.get_dummies(frame, dtype=float)
    return frame.to_numpy(dtype=float), y, None, name not in NUMBERS


def prepare(X, train, test):
    """Fill gaps with medians of the training rows and leave out columns that are constant there."""
    middle = np.nanmedian(X[train], axis=0)
    X = np.where(np.isnan(X), middle, X)
    kept = X[train].std(axis=0) > 0
    return X[train][:, kept], X[test][:, kept]


def outer_folds(X, y, groups, classes, repeats):
    """Return the outer folds."""
    if groups is not None:
        splits = []
        for repeat in range(repeats):
            folds = StratifiedGroupKFold(OUTER_FOLDS, shuffle=True, random_state=repeat)
            splits += list(folds.split(X, y, groups))
        return splits
    folds = RepeatedStratifiedKFold if classes else RepeatedKFold
    return list(folds(n_splits=OUTER_FOLDS, n_repeats=repeats, random_state=0).split(X, y))


def methods(classes):
    """Return the methods by name, not yet fitted; each chooses its own settings."""
    grid = {"C": np.logspace(-1, 3, 5), "gamma": np.logspace(-2, 1, 4)}

    def svm(p):
        machine = SVC() if classes else SVR()
        gammas = {"C": grid["C"], "gamma": grid["gamma"] / p}
        search = GridSearchCV(machine, gammas, cv=5, error_score=0.0)
        return _scaled(search, classes)

    def forest(p):
        kind = RandomForestClassifier if classes else RandomForestRegressor
        return kind(500, random_state=0)

    def boosting(p):
        kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
        return kind(random_state=0)

    def linear(p):
        if classes:
            return make_pipeline(
                StandardScaler(),
                LogisticRegressionCV(
                    Cs=8, l1_ratios=(1.0,), solver="saga", cv=5, max_iter=400, tol=1e-3,
                    use_legacy_attributes=False,
                ),
            )  # fmt: skip
        return make_pipeline(StandardScaler(), LassoCV(cv=5))

    def elimination(p):
        machine = LinearSVC(C=0.1) if classes else LinearSVR(C=0.1, max_iter=5000)
        return _scaled(RFECV(machine, step=0.1, cv=5), classes)

    return {
        OURS: lambda p: (KnifeClassifierCV if classes else KnifeRegressorCV)(),
        "RBF SVM": svm,
        "random forest": forest,
        "gradient boosting": boosting,
        "L1 linear": linear,
        "RFECV": elimination,
    }


def _scaled(machine, classes):
    """Return a machine that sees standardised columns, and a standardised number to predict."""
    pipe = make_pipeline(StandardScaler(), machine)
    if classes:
        return pipe
    return TransformedTargetRegressor(pipe, transformer=StandardScaler())


def selected_by(model, method, p):
    """Return which columns a method uses, all where it does not select."""
    if method == OURS:
        return model.get_support()
    if method == "L1 linear":
        return np.atleast_2d(model[-1].coef_).any(axis=0)
    if method == "RFECV":
        pipe = getattr(model, "regressor_", model)
        return pipe[-1].get_support()
    return np.ones(p, dtype=bool)


def run(name, method, repeats):
    """Yield one row per outer fold."""
    X, y, groups, classes = load(name)
    chosen = []
    for i, (train, test) in enumerate(outer_folds(X, y, groups, classes, repeats)):
        A, B = prepare(X, train, test)
        if method == "RFECV" and A.shape[1] > MOST_COLUMNS_TO_ELIMINATE:
            return
        inner = {"groups": groups[train]} if groups is not None and method == OURS else {}
        begin, cpu = time.perf_counter(), time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = methods(classes)[method](A.shape[1]).fit(A, y[train], **inner)
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
        guess = model.predict(B)
        if classes:
            error = 1.0 - balanced_accuracy_score(y[test], guess)
        else:
            error = np.mean((guess - y[test]) ** 2) / np.var(y[test])
        chosen = selected_by(model, method, A.shape[1])
        row = {
            "table": name,
            "half": "choose" if name in CHOOSING else "judge",
            "method": method,
            "fold": i,
            "rows": len(train),
            "columns": A.shape[1],
            "error": f"{error:.4f}",
            "selected": int(chosen.sum()),
            "which": " ".join(map(str, np.flatnonzero(chosen))) if chosen.sum() <= 200 else "",
            "seconds": f"{seconds:.1f}",
            "cpu_seconds": f"{cpu:.1f}",
            "note": "",
        }
        if method == OURS:
            begin = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                task = "classification" if classes else "regression"
                knife_path(A, y[train], task=task)
            paths = cpu / (time.process_time() - begin)
            row["note"] = f"{model.kernel_name_} {model.alpha_:g} {model.weighting_} {paths:.0f}"
        yield row


def record(rows):
    """Add rows to the table, in place of older ones of the same table, method and fold."""
    extra = provenance()
    kept = []
    if FILE.exists():
        with FILE.open(newline="") as file:
            kept = list(csv.DictReader(file))
    keys = {(row["table"], row["method"], str(row["fold"])) for row in rows}
    kept = [r for r in kept if (r["table"], r["method"], r["fold"]) not in keys]
    kept += [{**row, **extra} for row in rows]
    kept.sort(key=lambda r: (TABLES.index(r["table"]), r["method"], int(r["fold"])))
    with FILE.open("w", newline="") as file:
        table = csv.DictWriter(file, list(kept[0]))
        table.writeheader()
        table.writerows(kept)


def jaccard(sets):
    """Return the mean similarity of the selections of two outer folds."""
    pairs = [len(a & b) / max(len(a | b), 1) for i, a in enumerate(sets) for b in sets[i + 1 :]]
    return float(np.mean(pairs)) if pairs else np.nan


def summarise():
    """Print errors by table and method, and the ratios that are asked for."""
    with FILE.open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = list(dict.fromkeys(row["method"] for row in rows))
    ratios = {"better of SVM and forest": [], "gradient boosting": []}
    shares, costs = [], []
    for name in TABLES:
        mine = [row for row in rows if row["table"] == name]
        if not any(row["method"] == OURS for row in mine):
            continue
        error = {
            method: np.mean([float(row["error"]) for row in mine if row["method"] == method])
            for method in names
            if any(row["method"] == method for row in mine)
        }
        ours = [row for row in mine if row["method"] == OURS]
        sets = [set(row["which"].split()) for row in ours if row["which"]]
        count = "-".join(sorted({row["selected"] for row in ours}, key=int))
        print(
            f"{name:14s} {ours[0]['half']:6s} "
            + "  ".join(f"{method} {value:.3f}" for method, value in error.items())
            + f"  [{count} of {ours[0]['columns']}; stability {jaccard(sets):.2f}; "
            + "; ".join(row["note"] for row in ours)
            + "]"
        )
        if ours[0]["half"] != "judge":
            continue
        peers = [error[m] for m in ("RBF SVM", "random forest") if m in error]
        if peers:
            # A table without errors has no ratio; a hundredth stands for none.
            floor = 0.01
            ratios["better of SVM and forest"].append(
                max(error[OURS], floor) / max(min(peers), floor)
            )
        if "gradient boosting" in error:
            ratios["gradient boosting"].append(
                max(error[OURS], 0.01) / max(error["gradient boosting"], 0.01)
            )
        shares += [int(row["selected"]) / int(row["columns"]) for row in ours]
        costs += [float(row["note"].split()[-1]) for row in ours if int(row["rows"]) <= 1000]
    for name, values in ratios.items():
        if values:
            print(
                f"judging half, ours / {name}: median {np.median(values):.2f}, "
                f"largest {max(values):.2f}, {len(values)} tables"
            )
    if shares:
        print(
            f"judging half, share of columns: median {np.median(shares):.2f}; "
            f"cost in Gaussian paths: median {np.median(costs):.0f}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=("choose", "judge", "all"), default="judge")
    parser.add_argument("--tables", nargs="*", help="some tables instead of a half")
    parser.add_argument("--methods", nargs="*", help="some methods instead of all")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--summary", action="store_true", help="print what is recorded")
    arguments = parser.parse_args()
    if arguments.summary:
        summarise()
        return
    half = {"choose": CHOOSING, "judge": JUDGING, "all": TABLES}[arguments.half]
    for name in arguments.tables or half:
        for method in arguments.methods or methods(True):
            rows = []
            for row in run(name, method, arguments.repeats):
                rows.append(row)
                print(
                    *(row[k] for k in ("table", "method", "fold", "error", "selected")),
                    row["seconds"],
                    row["note"],
                    flush=True,
                )
            if rows:
                record(rows)
    summarise()


if __name__ == "__main__":
    main()
