"""``kernelknife demo``: a demonstration on simulated data, in a few seconds.

Four true features among fifty, none with a linear trace: class 1 surrounds class 0 like the
skin of an orange.
"""

import sys
import time
from pathlib import Path

from kernelknife import knife_path
from kernelknife.datasets import make_skin_of_orange


def run():
    """Follow a feature path, print it, and draw it where matplotlib is installed."""
    X, y = make_skin_of_orange(100, 46, random_state=0)
    begin = time.perf_counter()
    path = knife_path(X, y)
    seconds = time.perf_counter() - begin
    print("Skin of the orange: 100 rows, 50 features, of which only x0 to x3 matter.")
    print(f"Path of {len(path)} penalties in {seconds:.2f} s, {path.n_solves} factorisations.\n")
    print(f"{'sparsity':>9s} {'features':>9s}   selected")
    for i in range(0, len(path), max(1, len(path) // 12)):
        names = path.feature_names[path.weights[i] > 0]
        shown = " ".join(names[:8]) + (" ..." if len(names) > 8 else "")
        print(f"{path.sparsities[i]:9.3g} {path.n_selected[i]:9d}   {shown}")
    model = path.at(n_features=4)
    held_out = make_skin_of_orange(2000, 46, random_state=1)
    print(f"\nLongest survivors: {' '.join(path.feature_names[path.ranking.argsort()[:4]])}")
    print(f"Test error of the machine with four features: {1 - model.score(*held_out):.3f}")
    draw(path, model.sparsity)


def draw(path, sparsity):
    """Write the picture next to the user, or say what is missing."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        print("For a picture of the path: pip install 'kernelknife[cli]'", file=sys.stderr)
        return
    mpl.use("Agg")
    target = Path("kernelknife-demo.png")
    path.plot(sparsity=sparsity).figure_.savefig(target, dpi=150)
    print(f"Picture of the path: {target.resolve()}")
