"""Draw the pictures of the documentation: ``python docs/images/draw.py``."""

import re
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from kernelknife import KnifeClassifier, KnifeRegressorCV, knife_path
from kernelknife.datasets import make_sinusoidal, make_skin_of_orange
from kernelknife.inspection.displays import CVDisplay, KernelDisplay

HERE = Path(__file__).parent

# What the columns do, for the picture of kernels: the true columns stand first.
RELATIONS = {
    "six curves": lambda X: np.sin(2 * X[:, :6]).sum(axis=1),
    "three shells": lambda X: np.cos(2 * np.hypot(X[:, :6:2], X[:, 1:6:2])).sum(axis=1),
    "three products": lambda X: (X[:, :6:2] * X[:, 1:6:2]).sum(axis=1),
    "one joint wave": lambda X: np.sin(1.5 * X[:, :3].sum(axis=1)),
}
KERNELS = ("linear", "additive", "anova", "polynomial", "rbf")


def draw_kernels():
    """Return a figure of what each kernel makes of each relation, a slice in two columns."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(300, 12)), rng.normal(size=(4000, 12))
    noise = rng.normal(size=300)
    steps = np.linspace(-2, 2, 41)
    slice_ = np.zeros((len(steps) ** 2, 12))
    slice_[:, 0], slice_[:, 1] = (part.ravel() for part in np.meshgrid(steps, steps))
    shape = (len(RELATIONS), 1 + len(KERNELS))
    figure, axes = plt.subplots(*shape, figsize=(9.2, 7.0), layout="constrained")
    for ax, title in zip(axes[0], ("truth", *KERNELS), strict=True):
        ax.set_title(title)
    for row, (name, relation) in zip(axes, RELATIONS.items(), strict=True):
        signal = relation(X)
        y = signal + 0.2 * signal.std() * noise
        truth = relation(slice_)
        largest = np.abs(truth - truth.mean()).max()
        outcomes = [(truth, None)]
        for kernel in KERNELS:
            search = KnifeRegressorCV(kernel=kernel, cv=5, random_state=0).fit(X, y)
            outcomes.append((search.predict(slice_), search.score(new, relation(new))))
        best = max(score for _, score in outcomes[1:])
        for ax, (values, score) in zip(row, outcomes, strict=True):
            grid = (values - values.mean()).reshape(len(steps), -1)
            ax.pcolormesh(steps, steps, grid, cmap="RdBu_r", vmin=-largest, vmax=largest)
            ax.set(xticks=[], yticks=[], aspect="equal")
            if score is not None:
                shown = max(0.0, round(score, 2))  # a constant has 0, and noise can be just below
                weight = "bold" if score > best - 0.015 else "normal"
                ax.set_xlabel(f"{shown:.2f}", fontweight=weight)
        row[0].set_ylabel(name, fontsize="large")
    return figure


def draw_substitutes():
    """Return the figure of the guide to correlated columns, from the code of its first snippets."""
    page = (HERE.parent / "guide" / "correlated.md").read_text(encoding="utf-8")
    snippets = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names = {}
    for code in snippets[:2]:
        exec(compile(code, "correlated.md", "exec"), names)
    return names["substitutes"].plot().figure_


def draw_how_many():
    """Return a figure of the strengths of columns and of the strongest columns of noise."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 40))
    effects = np.array([1.0, 0.8, 0.6, 0.4, 0.3])
    y = X[:, :5] @ effects + 0.7 * rng.normal(size=300)
    found = knife_path(X, y, kernel="linear").calibrate()
    seen = np.flatnonzero(found.strengths)
    figure, ax = plt.subplots(figsize=(7.0, 2.6), layout="constrained")
    for nulls, height, label in (
        (found.null_sparsities, 1.0, "last of a permuted target"),
        (found.strengths[seen[seen >= 5]], 2.0, "columns that do nothing"),
        (found.strengths[seen[seen < 5]], 2.0, "columns that matter"),
    ):
        ax.plot(nulls, np.full(len(nulls), height), "o", alpha=0.6, label=label)
    first = found.null_sparsities.max()
    ax.axvline(first, color="gray", linestyle=":")
    ax.axvline(found.sparsity, color="gray")
    ax.annotate("first step", (first, 2.55), ha="center")
    ax.annotate("last step", (found.sparsity, 2.55), ha="center")
    ax.set(
        xscale="log", ylim=(0.5, 3.6), yticks=[1.0, 2.0], xlabel="penalty at which a column leaves"
    )
    ax.set_yticklabels(["permuted", "given"])
    ax.legend(ncols=3, fontsize="small", loc="upper center", frameon=False, columnspacing=0.8)
    return figure


def main():
    """Write every picture next to this file."""
    draw_substitutes().savefig(HERE / "substitutes.png", dpi=110)

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

    draw_how_many().savefig(HERE / "how_many.png", dpi=120)
    draw_kernels().savefig(HERE / "kernels.png", dpi=100)


if __name__ == "__main__":
    main()
