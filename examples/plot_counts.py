"""
Counts of rows that were observed for different times
=====================================================

Visits per row, each row observed for a number of years of its own. The exposure makes rates of
counts, and the loss knows that a count scatters more where its mean is large.
"""

# %%
# The logarithm of the yearly rate depends on a curve in the first column and on a product of two
# others.

import matplotlib.pyplot as plt
import numpy as np

from kernelknife import KnifeRegressorCV

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(600, 12))
years = rng.uniform(0.5, 4.0, size=600)
rate = np.exp(0.5 + np.sin(3 * X[:, 0]) + 1.5 * X[:, 1] * X[:, 2])
visits = rng.poisson(years * rate)
train, test = slice(400), slice(400, 600)

search = KnifeRegressorCV("anova", loss="poisson", alphas=[1.0], rule="1se", random_state=0)
search.fit(X[train], visits[train], exposure=years[train])
print("selected:", search.get_support(indices=True))
score = search.score(X[test], visits[test], exposure=years[test])
print(f"deviance explained on new rows: {score:.2f}")

# %%
# Calibration: in groups of new rows with similar predictions, as many visits came as were
# predicted.

predicted = search.predict(X[test], exposure=years[test])
groups = np.array_split(np.argsort(predicted), 10)
means = np.array([[predicted[part].mean(), visits[test][part].mean()] for part in groups])

fig, ax = plt.subplots(layout="constrained")
ax.plot(predicted, visits[test], ".", color="0.7", label="new rows")
ax.plot(*means.T, "o-", label="means of tenths of the rows")
ax.axline((0, 0), slope=1, color="k", linewidth=0.8)
ax.set(xlabel="predicted visits", ylabel="visits", title="Predicted and observed counts")
ax.legend()
