"""
Two tables of the same rows: the columns that are related
=========================================================

Two tables describe the same rows. :class:`~kernelknife.KnifeCCA` finds the columns of each whose
functions are correlated with those of the other, and gives the correlation on held-out rows with
its p-value under independence of the tables.
"""

# %%
# The sum of two columns of one table is the sine of the sum of two columns of the other. No column
# shows it on its own: ``y1`` and ``x1`` are weakly correlated, and ``y2`` is independent of the
# first table.

import matplotlib.pyplot as plt
import numpy as np

from kernelknife import KnifeCCA, knife_cca_path

rng = np.random.default_rng(0)
n = 200
X, Y = rng.normal(size=(n, 10)), rng.normal(size=(n, 10))
Y[:, 0] = np.sin(X[:, 0] + X[:, 1]) - Y[:, 1] + 0.05 * rng.normal(size=n)

model = KnifeCCA(random_state=0).fit(X, Y)
print("columns of X:", model.get_support(indices=True))
print("columns of Y:", model.get_support(indices=True, table="y"))
print(f"correlation on held-out rows: {model.held_out_correlations_[0]:.2f}, "
      f"p-value {model.p_values_[0]:.3f}")  # fmt: skip

# %%
# These are the scores of new rows, by the selected columns of each table.

fresh, other = rng.normal(size=(n, 10)), rng.normal(size=(n, 10))
other[:, 0] = np.sin(fresh[:, 0] + fresh[:, 1]) - other[:, 1] + 0.05 * rng.normal(size=n)
f, g = model.transform(fresh, other)

figure, axes = plt.subplots(1, 3, figsize=(11, 3.5), layout="constrained")
axes[0].bar(np.arange(10) - 0.2, model.x_weights_[0], width=0.4, label="X")
axes[0].bar(np.arange(10) + 0.2, model.y_weights_[0], width=0.4, label="Y")
axes[0].set(title="weights", xlabel="column")
axes[0].legend()
axes[1].scatter(f, g, s=10)
axes[1].set(title="new rows", xlabel="score by X", ylabel="score by Y")
total = fresh[:, 0] + fresh[:, 1]
axes[2].scatter(total, f, s=10, label="score by X")
grid = np.linspace(total.min(), total.max(), 200)
sign = np.sign(np.corrcoef(np.sin(total), f[:, 0])[0, 1])
axes[2].plot(grid, sign * np.sin(grid) / np.sin(total).std(), "k", lw=1, label="true function")
axes[2].set(title="fitted and true function", xlabel="x1 + x2")
axes[2].legend()

# %%
# The path shows whether the result depends on the penalty. Here it does not: the same four columns
# are selected until no pair remains.

path = knife_cca_path(X, Y, sparsities=15, random_state=0)
path.plot(sparsity=model.sparsities_[0, 0])

# %%
# If there is no relation, the p-value is uniformly distributed, however high the correlation on the
# rows of the fit is.

nothing = KnifeCCA(random_state=0).fit(X, rng.normal(size=(n, 10)))
print(f"rows of the fit {nothing.correlations_[0]:.2f}, "
      f"held-out rows {nothing.held_out_correlations_[0]:.2f}, "
      f"p-value {nothing.p_values_[0]:.2f}")  # fmt: skip
plt.show()
