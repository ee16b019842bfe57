"""
A pure interaction of three
===========================

The class is the sign of a product of three columns. No single column and no pair of columns carries
any information about it, so that filters, linear models and forests cannot find the three.
"""

# %%
# Three of 200 columns matter; their positions are random.

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
# Other methods rank the wrong columns first.

forest = RandomForestClassifier(500, random_state=0).fit(X, y)
print("mutual information:", np.argsort(-mutual_info_classif(X, y, random_state=0))[:3])
print("random forest:", np.argsort(-forest.feature_importances_)[:3])

# %%
# The path tries several starts. One of them considers all products of two and of three columns, and
# gives large weights to columns whose product is larger than noise would explain.

path = knife_path(X, y)
print("feature path:", np.sort(path.ranking.argsort()[:3]), "from the start", repr(path.start))

# %%
# The three columns remain active until the end, because each is useless without the others.

path.plot()

# %%
# Finally, the model with the three columns is evaluated on new rows.

X_new = rng.uniform(-1, 1, size=(2000, 200))
y_new = (X_new[:, true].prod(axis=1) > 0).astype(int)
print(f"accuracy: {path.at(n_features=3).score(X_new, y_new):.0%}")
