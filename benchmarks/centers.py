"""From how many rows on centers pay, and how many of them: the thresholds of cross-validation.

A path of 25 penalties is followed exactly and on 100, 300 and 500 centers, for the Gaussian and
the ANOVA kernel, numbers and classes, by number of rows. Beside the seconds stands the error of the
best point of the path on 5,000 other rows, and how many of the five true columns are among the
first five of its ranking. The data are Friedman's first problem with 45 columns of noise; the
classes are whether a row is above the median.
"""

import sys
import time

import numpy as np
from _common import write
from sklearn.datasets import make_friedman1

from kernelknife import knife_path

ROWS = (400, 800, 1200, 1600, 2400)
CENTERS = (None, 100, 300, 500)
TEST_ROWS = 5000
MEDIAN = 14.4  # of Friedman's first problem, so that classes are about equally large


def draw(n, classes, seed):
    X, y = make_friedman1(n, n_features=50, noise=1.0, random_state=seed)
    return X, (y > MEDIAN).astype(int) if classes else y


def judge(n, classes, kernel, n_centers):
    """Follow one path and judge it."""
    X, y = draw(n, classes, 0)
    begin = time.process_time()
    path = knife_path(X, y, kernel=kernel, sparsities=25, n_centers=n_centers)
    seconds = time.process_time() - begin
    Z, target = draw(TEST_ROWS, classes, 10_000)
    errors = [1.0 - path.model(i).score(Z, target) for i in range(len(path))]
    return {
        "target": "classes" if classes else "numbers",
        "kernel": kernel,
        "n": n,
        "n_centers": n_centers or "exact",
        "cpu_seconds": f"{seconds:.2f}",
        "best_error": f"{min(errors):.4f}",
        "true_in_top": int(np.sum(path.ranking[:5] <= 5)),
    }


def main():
    rows = []
    for classes in (False, True):
        for kernel in ("rbf", "anova"):
            for n in ROWS:
                for n_centers in CENTERS:
                    if n_centers is None or n_centers < n:
                        rows.append(judge(n, classes, kernel, n_centers))
                        print(*rows[-1].values(), file=sys.stderr, flush=True)
    write("centers", rows)


if __name__ == "__main__":
    main()
