"""Small tables of classes, drawn from the tables that our defaults were chosen on.

Half of the measured tables judge our defaults (``tables.py``), and most of them are small tables of
classes. The other half has few of that kind, so that rules of choice are tried on tables like
these: some of the rows of a larger table, classes that are thinned out, numbers that are cut into
classes. None of them has a row of the judging half. Every method is fitted to a draw and judged on
all rows that the draw has left.

    python benchmarks/small_tables.py --draws 4
    python benchmarks/small_tables.py --summary
"""

import argparse
import csv
import sys
import warnings

import numpy as np
from _common import RESULTS, write
from sklearn.model_selection import train_test_split
from tables import CHOOSING, floored, judge, load, methods, prepare

from kernelknife import KnifeClassifier, KnifeClassifierCV

NAME = "small_tables"
# Training rows, and where numbers are cut into classes.
DRAWS = {
    "abalone": (250, (0.75,)),
    "chemical": (117, (0.75,)),
    "concrete": (220, (0.4, 0.75, 0.9)),
    "digits": (90, None),
    "gordon": (70, None),
    "iris": (100, None),
    "permeability": (110, (0.7,)),
    "segmentation": (150, None),
    "vehicle": (200, None),
}
OURS, ALL = "kernelknife", "kernelknife, all columns"


def draw(name, seed):
    """Return training rows and the others, each with their classes."""
    assert name in CHOOSING, "the other tables judge"
    rng = np.random.default_rng(seed)
    X, y, _, _ = load(name)
    n, cuts = DRAWS[name]
    if cuts is not None:
        y = np.digitize(y, np.quantile(y, cuts))
    y = np.unique(y, return_inverse=True)[1]
    if name == "gordon":
        X = X[:, rng.choice(X.shape[1], 2000, replace=False)]
    elif name == "vehicle":
        X, y = _thinned(X, y, y < 2, 0.3, rng)
    elif name == "digits":
        few = np.isin(y, (3, 8, 9))
        X, y = _thinned(X[few], y[few], y[few] == 3, 0.35, rng)
    train, test = train_test_split(np.arange(len(y)), train_size=n, stratify=y, random_state=seed)
    A, B = prepare(X, train, test)
    return A, y[train], B, y[test]


def _thinned(X, y, whole, share, rng):
    """Return the rows of some classes, and a share of the others'."""
    kept = whole | (rng.random(len(y)) < share)
    return X[kept], y[kept]


def all_columns(search):
    """Return the best of the models of all columns that a search has compared, not yet fitted."""
    table = search.cv_results_
    equal = (table["weighting"] == "equal") & table["followed"]
    best = np.flatnonzero(equal)[np.argmax(table["mean_test_score"][equal])]
    return KnifeClassifier(table["kernel"][best], alpha=table["alpha"][best], learn_weights=False)


def run(name, seed):
    """Return one row per method."""
    A, y, B, target = draw(name, seed)
    search = KnifeClassifierCV(random_state=0).fit(A, y)
    models = {OURS: search, ALL: all_columns(search).fit(A, y)}
    for peer in ("RBF SVM", "random forest"):
        models[peer] = methods(classes=True)[peer](A.shape[1]).fit(A, y)
    return [
        {
            "table": name,
            "seed": seed,
            "method": method,
            "rows": len(y),
            "columns": A.shape[1],
            "error": f"{judge(target, model.predict(B), classes=True):.4f}",
            "selected": int(model.get_support().sum()) if model is search else A.shape[1],
            "note": f"{search.kernel_name_} {search.weighting_}" if model is search else "",
        }
        for method, model in models.items()
    ]


def summarize(rows):
    """Print mean errors, and the median over all draws of those over the better of two peers."""
    cells = {(row["table"], row["seed"], row["method"]): row for row in rows}
    drawn = list(dict.fromkeys((row["table"], row["seed"]) for row in rows))
    print(f"{len(drawn)} draws of {len({name for name, _ in drawn})} tables")
    for method in dict.fromkeys(row["method"] for row in rows):
        errors, ratios, shares = [], [], []
        for key in drawn:
            row = cells[(*key, method)]
            peers = [float(cells[(*key, p)]["error"]) for p in ("RBF SVM", "random forest")]
            errors.append(float(row["error"]))
            ratios.append(floored(errors[-1]) / floored(min(peers)))
            shares.append(int(row["selected"]) / int(row["columns"]))
        print(
            f"{method}: error {np.mean(errors):.4f}, over the better of SVM and forest "
            f"{np.median(ratios):.2f} in the median, columns {np.median(shares):.2f}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--summary", action="store_true", help="print what is recorded")
    given = parser.parse_args()
    if given.summary:
        with (RESULTS / f"{NAME}.csv").open(newline="") as file:
            summarize(list(csv.DictReader(file)))
        return
    warnings.simplefilter("ignore")
    rows = []
    for seed in range(given.draws):
        for name in DRAWS:
            rows += run(name, seed)
            print(*rows[-4].values(), file=sys.stderr, flush=True)
    write(NAME, rows)
    summarize(rows)


if __name__ == "__main__":
    main()
