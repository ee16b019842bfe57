"""
Several labels, one selection
=============================

A row may have several labels, or none. Every label has a model of its own, and all share one weight
per column: a column is kept if any label needs it.
"""

# %%
# Three labels need four of ten columns: one a threshold, one a pure interaction, one a band.

import matplotlib.pyplot as plt
import numpy as np

from kernelknife import KnifeClassifier

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(400, 10))
labels = ["x0 > 0.2", "x1 x2 > 0", "|x3| > 0.5"]
Y = np.column_stack([X[:, 0] > 0.2, X[:, 1] * X[:, 2] > 0, np.abs(X[:, 3]) > 0.5]).astype(int)
train, test = slice(250), slice(250, 400)

model = KnifeClassifier("anova", loss="logistic", sparsity=3.0).fit(X[train], Y[train])
print("selected:", model.get_support(indices=True))
for name, right in zip(labels, (model.predict(X[test]) == Y[test]).mean(axis=0), strict=True):
    print(f"{name}: {right:.2f} of the new rows are right")

# %%
# The shared weights beside those of a model of each label alone.

fig, ax = plt.subplots(layout="constrained")
places = np.arange(X.shape[1])
ax.bar(places - 0.3, model.weights_, width=0.2, label="all labels")
for i, name in enumerate(labels):
    alone = KnifeClassifier("anova", loss="logistic", sparsity=3.0).fit(X[train], Y[train, i])
    ax.bar(places - 0.1 + 0.2 * i, alone.weights_, width=0.2, label=f"{name} alone")
ax.set(xlabel="column", ylabel="weight", xticks=places, title="Shared and separate weights")
ax.legend()
