"""
A pure interaction of three
===========================

The class is the sign of a product of three columns. No column and no pair of columns tells
anything about it: a filter, a linear model or a forest has nothing to begin with.
"""

# %%
# Three columns of 200 matter, and the columns are in no order.

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import mutual_info_classif

from kernelknife import knife_path

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(400, 200))
true = np.sort(rng.choice(200, 3, replace=False))
y = (X[:, true].prod(axis=1) > 0).astype(int)
print("true:", true)

# %%
# What others rank first.

forest = RandomForestClassifier(500, random_state=0).fit(X, y)
print("mutual information:", np.argsort(-mutual_info_classif(X, y, random_state=0))[:3])
print("random forest:", np.argsort(-forest.feature_importances_)[:3])

# %%
# The path begins from several starts. One of them looks at all products of two and three columns
# and lifts those that stand out of what noise would give.

path = knife_path(X, y)
print("feature path:", np.sort(path.ranking.argsort()[:3]), "from the start", repr(path.start))

# %%
# The three stay together until the end: none of them is of use without the others.

path.plot()

# %%
# The machine with the three columns, on rows that it has not seen.

X_new = rng.uniform(-1, 1, size=(2000, 200))
y_new = (X_new[:, true].prod(axis=1) > 0).astype(int)
print(f"right: {path.at(n_features=3).score(X_new, y_new):.0%}")
