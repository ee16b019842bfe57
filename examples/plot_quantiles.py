"""
A column that changes the spread
================================

A column may decide how far targets scatter and leave their mean alone. A search for the mean does
not find such a column, a search for a quantile does.
"""

# %%
# The mean depends on the first column alone, the spread on the second.

import matplotlib.pyplot as plt
import numpy as np

from kernelknife import KnifeRegressor, knife_path
from kernelknife.losses import QuantileLoss

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(400, 12))
y = np.sin(3 * X[:, 0]) + rng.normal(size=400) * np.exp(1.5 * X[:, 1])

for name, loss in (("mean", "squared"), ("quantile 0.9", QuantileLoss(0.9))):
    path = knife_path(X, y, loss=loss)
    print(f"{name}: eliminated last are the columns {path.ranking.argsort()[:2]}")

# %%
# Several quantiles share one selection and never cross. Four fifths of the rows lie between the
# outer ones.

model = KnifeRegressor(loss=QuantileLoss([0.1, 0.5, 0.9]), sparsity=10.0).fit(X, y)
low, _, high = model.predict(X).T
print("selected:", model.get_support(indices=True))
print(f"between the quantiles: {np.mean((low <= y) & (y <= high)):.2f}")

grid = np.zeros((100, 12))
grid[:, 1] = np.linspace(-1, 1, 100)
quantiles = model.predict(grid)

fig, ax = plt.subplots(layout="constrained")
ax.plot(X[:, 1], y - np.sin(3 * X[:, 0]), ".", color="0.7", label="rows, without the mean")
for level, line in zip((0.1, 0.5, 0.9), quantiles.T, strict=True):
    ax.plot(grid[:, 1], line, label=f"quantile {level}")
ax.set(xlabel="x1", ylabel="y", ylim=(-6, 6), title="Quantiles at x0 = 0")
ax.legend()
