"""Sums and unions of separate effects: what additive and ANOVA kernels find, and what it costs.

    python benchmarks/separate_effects.py --jobs 2 --part unions

Four parts, each a table in ``results``:

unions      classes that are unions of two or three effects among 64, 256 and 1,024 features, 833
            rows: share of the true features among the first of a ranking, by the ANOVA path, the
            Gaussian path and a random forest of 500 trees
sinusoidal  the paper's sums of sines: test error of cross-validation with the ANOVA kernel, and the
            ranking among 95 features of noise
planted     the joint signals of ``recovery.py``, by the ANOVA path and the Gaussian path
cost        seconds of an ANOVA path over those of a Gaussian path, side by side, on one thread
"""

import argparse
import sys
import time

import numpy as np
from _common import write
from joblib import Parallel, delayed
from sklearn.datasets import make_friedman1
from sklearn.ensemble import RandomForestClassifier

from kernelknife import KnifeRegressorCV, knife_path
from kernelknife.datasets import make_separate_effects, make_sinusoidal, make_skin_of_orange
from kernelknife.kernels import Anova

ROWS = 833
NAMES = ("shell", "checkerboard", "sum")


def recall(order, n_true):
    """Return the share of the true features, which come first, among the first of an order."""
    return len(set(order[:n_true].tolist()) & set(range(n_true))) / n_true


def path_recall(X, y, kernel, n_true):
    path = knife_path(X, y, kernel=kernel)
    return recall(np.argsort(path.ranking), n_true)


def union(n_effects, n_features, seed, gamma):
    """Compare the three rankings on one draw."""
    n_true = 2 * n_effects
    table = make_separate_effects(
        ROWS, n_features - n_true, effects=NAMES[:n_effects], random_state=seed
    )
    X, y = table.data, table.target
    forest = RandomForestClassifier(500, random_state=seed).fit(X, y)
    return {
        "problem": f"union of {n_effects}",
        "features": n_features,
        "seed": seed,
        "gamma": gamma,
        "anova": path_recall(X, y, Anova(gamma=gamma), n_true),
        "rbf": path_recall(X, y, "rbf", n_true),
        "forest": recall(np.argsort(-forest.feature_importances_), n_true),
    }


def sinusoidal(seed, gamma):
    """Cross-validate one draw, and rank the features of another with more noise."""
    X, y = make_sinusoidal(100, 5, random_state=seed)
    new_X, new_y = make_sinusoidal(1000, 5, random_state=10_000 + seed)
    model = KnifeRegressorCV(kernel=Anova(gamma=gamma)).fit(X, y)
    wide = make_sinusoidal(100, 95, random_state=seed)
    return {
        "problem": "sinusoidal",
        "seed": seed,
        "gamma": gamma,
        "test_error": float(np.mean((model.predict(new_X) - new_y) ** 2)),
        "exactly_the_true_five": int(set(model.get_support(indices=True)) == set(range(5))),
        "alpha": model.alpha_,
        "recall_among_95": path_recall(*wide, Anova(gamma=gamma), 5),
    }


def load_planted(name, seed):
    """Return a planted problem, its number of true features and the order that it needs."""
    rng = np.random.default_rng(seed)
    if name.startswith("orange"):
        return *make_skin_of_orange(200, int(name.split()[1]), random_state=seed), 4, 2
    if name.startswith("Friedman"):
        p = 5 + int(name.split()[1])
        return *make_friedman1(200, p, noise=1.0, random_state=seed), 5, 2
    if name == "sign of 2 among 198":
        X = rng.uniform(-1, 1, size=(200, 200))
        return X, X[:, 0] * X[:, 1] > 0, 2, 2
    X = rng.uniform(-1, 1, size=(400, 51))
    return X, X[:, :3].prod(axis=1) > 0, 3, 3


PLANTED = ("orange 46", "orange 996", "Friedman 50", "Friedman 500", "sign of 2 among 198",
           "sign of 3 among 48")  # fmt: skip


def planted(name, seed, gamma):
    """Compare the two paths on one draw."""
    X, y, n_true, order = load_planted(name, seed)
    return {
        "problem": name,
        "seed": seed,
        "gamma": gamma,
        "anova": path_recall(X, y, Anova(order=order, gamma=gamma), n_true),
        "rbf": path_recall(X, y, "rbf", n_true),
    }


def cost(n, p, gamma, repeats=3):
    """Time both paths, alternating."""
    table = make_separate_effects(n, p - 6, union=False, random_state=0)
    seconds = {"anova": [], "rbf": []}
    for _ in range(repeats):
        for name, kernel in (("anova", Anova(gamma=gamma)), ("rbf", "rbf")):
            begin = time.perf_counter()
            knife_path(table.data, table.target, kernel=kernel)
            seconds[name].append(time.perf_counter() - begin)
    ours, theirs = min(seconds["anova"]), min(seconds["rbf"])
    return {
        "n": n,
        "p": p,
        "anova_seconds": f"{ours:.3f}",
        "rbf_seconds": f"{theirs:.3f}",
        "ratio": f"{ours / theirs:.2f}",
    }


def jobs_of(part, draws, gamma):
    """Return the calls that a part is made of."""
    if part == "unions":
        sizes = [(k, p) for k in (2, 3) for p in (64, 256, 1024)]
        return [delayed(union)(k, p, seed, gamma) for k, p in sizes for seed in range(draws)]
    if part == "sinusoidal":
        # Errors of single draws scatter by 0.15: the standard error of their mean is 0.015.
        return [delayed(sinusoidal)(seed, gamma) for seed in range(4 * draws)]
    if part == "planted":
        return [delayed(planted)(name, seed, gamma) for name in PLANTED for seed in range(draws)]
    sizes = [(n, p) for n in (200, 500, 1000) for p in (50, 200, 500)]
    return [delayed(cost)(n, p, gamma) for n, p in sizes]


def summarize(rows):
    """Print the means of every problem."""
    keys = dict.fromkeys((row.get("problem"), row.get("features")) for row in rows)
    for key in keys:
        mine = [row for row in rows if (row.get("problem"), row.get("features")) == key]
        names = [name for name in mine[0] if name not in ("problem", "features", "seed", "gamma")]
        means = {name: np.mean([float(row[name]) for row in mine]) for name in names}
        shown = ", ".join(f"{name} {value:.3f}" for name, value in means.items())
        print(*(part for part in key if part is not None), f"({len(mine)}):", shown)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=["unions", "sinusoidal", "planted", "cost"], nargs="*")
    parser.add_argument("--draws", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--gamma", type=float, default=Anova().gamma)
    parser.add_argument("--no-table", action="store_true", help="print without writing a table")
    given = parser.parse_args()
    for part in given.part or ("unions", "sinusoidal", "planted", "cost"):
        # Times are taken one after the other.
        n_jobs = 1 if part == "cost" else given.jobs
        rows = Parallel(n_jobs=n_jobs)(jobs_of(part, given.draws, given.gamma))
        summarize(rows)
        if not given.no_table:
            write(f"separate_effects_{part}", rows)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
