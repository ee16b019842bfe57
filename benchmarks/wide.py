"""60 samples, 20,000 features: time and peak memory of one fit, in a process of its own."""

import resource
import subprocess
import sys
import time

from _common import write


def fit(kernel):
    import numpy as np

    from kernelknife import KnifeClassifier

    X = np.random.default_rng(0).normal(size=(60, 20_000))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    begin = time.perf_counter()
    model = KnifeClassifier(kernel=kernel, sparsity=10.0).fit(X, X[:, 5] + X[:, 17] > 0)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{seconds:.2f},{before:.0f},{peak:.0f},{int(model.get_support().sum())}")


def main():
    rows = []
    for kernel in ("linear", "rbf"):
        done = subprocess.run(
            [sys.executable, __file__, kernel], capture_output=True, text=True, check=True
        )
        seconds, before, peak, selected = done.stdout.strip().split(",")
        rows.append(
            {
                "kernel": kernel,
                "n": 60,
                "p": 20_000,
                "seconds": seconds,
                "mib_before": before,
                "mib_peak": peak,
                "selected": selected,
            }
        )
        print(f"{kernel:7s} {seconds} s, peak {peak} MiB, {selected} features")
    write("wide", rows)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        fit(sys.argv[1])
    else:
        main()
