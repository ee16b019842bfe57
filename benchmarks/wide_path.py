"""200 rows, 50,000 columns, linear kernel, squared hinge: a path with a certificate."""

import resource
import time

import numpy as np
from _common import write

from kernelknife import knife_path

N, P = 200, 50_000


def main():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P))
    y = (X[:, :5] @ np.array([2, -2, 1.5, 1.5, -1.0]) + 0.3 * rng.normal(size=N) > 0).astype(int)
    begin = time.perf_counter()
    path = knife_path(X, y, kernel="linear", sparsities=50)
    seconds = time.perf_counter() - begin
    residual = max(path.model(i).kkt_residual_ for i in range(len(path)))
    row = {
        "n": N,
        "p": P,
        "points": len(path),
        "seconds": f"{seconds:.1f}",
        "factorizations": path.n_factorizations,
        "largest_kkt_residual": f"{residual:.1e}",
        "true_features_in_first_five": int((path.ranking[:5] <= 5).sum()),
        "peak_gib": f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f}",
    }
    print(row)
    write("wide_path", [row])


if __name__ == "__main__":
    main()
