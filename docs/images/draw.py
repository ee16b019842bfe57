"""Draw the pictures of the documentation: ``python docs/images/draw.py``."""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from kernelknife import KnifeClassifier, KnifeRegressorCV, knife_path
from kernelknife.datasets import make_sinusoidal, make_skin_of_orange
from kernelknife.display import CVDisplay, KernelDisplay

HERE = Path(__file__).parent


def main():
    """Write every picture next to this file."""
    X, y = make_skin_of_orange(100, 46, random_state=0)
    path = knife_path(X, y)
    display = path.plot(sparsity=path.at(n_features=4).sparsity)
    display.figure_.savefig(HERE / "feature_paths.png", dpi=150)

    X, y = make_skin_of_orange(100, 16, random_state=0)
    model = KnifeClassifier(n_features_to_select=4).fit(X, y)
    display = KernelDisplay.from_estimator(model, X, y)
    display.figure_.savefig(HERE / "kernel_before_after.png", dpi=120)

    X, y = make_sinusoidal(100, 5, random_state=0)
    search = KnifeRegressorCV(cv=5).fit(X, y)
    CVDisplay.from_estimator(search).figure_.savefig(HERE / "cross_validation.png", dpi=120)


if __name__ == "__main__":
    main()
