"""How many centers the model should have that a search on 300 centers has chosen.

The folds of a search beyond 1,000 rows judge models on 300 centers. The chosen one could then
have more of them, or be exact, when it is fitted to all rows. Here a search among the ANOVA and the
Gaussian kernel chooses with 300 centers, and the same kernel, penalties and columns are solved once
more with 500 centers and exactly, beginning with the chosen weights; all are judged on other rows.
No table has a row of the half that judges our defaults in ``tables.py``.

    python benchmarks/chosen_centers.py --draws 2
"""

import argparse
import sys
import warnings

import numpy as np
from _common import write
from large_tables import draw_wide
from sklearn.datasets import make_friedman1
from sklearn.model_selection import train_test_split
from tables import CHOOSING, judge, load, prepare

from kernelknife import KnifeClassifier, KnifeClassifierCV, KnifeRegressor, KnifeRegressorCV

KERNELS = ["anova", "rbf"]
SEARCHED, OTHERS = 300, {"500": 500, "exact": None}
FIRST_SEED = 10  # the first draws of the wide table are those of large_tables.py
ROWS = {"abalone": 2000, "segmentation": 1500, "solubility": 1100}
TABLES = ("wide", "friedman, numbers", "friedman, classes", *ROWS)


def draw(name, seed):
    """Return training rows, other rows, and whether their target is of classes."""
    if name == "wide":
        return *draw_wide(FIRST_SEED + seed), True
    if name.startswith("friedman"):
        X, y = make_friedman1(12_000, n_features=50, noise=1.0, random_state=seed)
        classes = name.endswith("classes")
        y = (y > np.median(y)).astype(int) if classes else y
        return X[:2000], y[:2000], X[2000:], y[2000:], classes
    assert name in CHOOSING, "the other tables judge"
    X, y, _, classes = load(name)
    rows = np.arange(len(y))
    labels = y if classes else None
    train, test = train_test_split(rows, train_size=ROWS[name], stratify=labels, random_state=seed)
    A, B = prepare(X, train, test)
    return A, y[train], B, y[test], classes


def run(name, seed):
    """Return one row: what was chosen, and the errors by number of centers."""
    A, y, B, target, classes = draw(name, seed)
    search_kind = KnifeClassifierCV if classes else KnifeRegressorCV
    search = search_kind(KERNELS, n_centers=SEARCHED, random_state=0).fit(A, y)
    errors = {str(SEARCHED): judge(target, search.predict(B), classes)}
    relaxed, equal = search.weighting_ == "relaxed", search.weighting_ == "equal"
    kept = search.get_support()
    for label, n_centers in OTHERS.items():
        model = (KnifeClassifier if classes else KnifeRegressor)(
            search.kernel_,
            alpha=search.alpha_,
            sparsity=0.0 if relaxed else search.sparsity_,
            learn_weights=not equal,
            start="scaled" if equal else search.weights_[kept],
            n_centers=n_centers,
            random_state=0,
        ).fit(A[:, kept], y)
        errors[label] = judge(target, model.predict(B[:, kept]), classes)
    return {
        "table": name,
        "seed": seed,
        "rows": len(y),
        "columns": A.shape[1],
        "kernel": search.kernel_name_,
        "alpha": f"{search.alpha_:g}",
        "weighting": search.weighting_,
        "selected": int(search.get_support().sum()),
        **{f"error_{label}": f"{error:.4f}" for label, error in errors.items()},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=2)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for seed in range(given.draws):
        for name in TABLES:
            rows.append(run(name, seed))
            print(*rows[-1].values(), file=sys.stderr, flush=True)
            write("chosen_centers", rows)  # what is done is kept if the rest is not waited for
    for label in OTHERS:
        ratios = [float(r[f"error_{label}"]) / float(r[f"error_{SEARCHED}"]) for r in rows]
        print(f"{label} over {SEARCHED}: {np.exp(np.mean(np.log(ratios))):.3f}, ", end="")
        print(f"from {min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} draws")


if __name__ == "__main__":
    main()
