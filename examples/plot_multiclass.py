"""
Several classes, one selection
==============================

With more than two classes every class gets a score column of its own, and all of them share one
weight per feature: a feature is in for all classes or for none.
"""

# %%
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score

from kernelknife import KnifeClassifier, knife_path

wine = load_wine(as_frame=True)
path = knife_path(wine.data, wine.target)
path.plot()

# %%
# How many features are needed? The error over folds, features chosen anew in every training part.

for k in (1, 2, 3, 5, 8, 13):
    machine = KnifeClassifier(n_features_to_select=k)
    scores = cross_val_score(machine, wine.data, wine.target, cv=5)
    print(f"{k:2d} features: {1 - scores.mean():.3f} wrong")

# %%
# The three that survive longest:

order = np.argsort(path.ranking)
print(", ".join(wine.feature_names[j] for j in order[:3]))
