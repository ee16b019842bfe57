"""
Several classes, one selection
==============================

With more than two classes every class has a score of its own, and all scores share one weight per
feature. A feature is therefore selected for all classes or for none.
"""

# %%
# This is the path of thirteen measurements of wines from three growers.

import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score

from kernelknife import KnifeClassifier, knife_path

wine = load_wine(as_frame=True)
path = knife_path(wine.data, wine.target)
path.plot()

# %%
# How many features are needed? Cross-validation selects the features again in every training part.

for k in (1, 2, 3, 5, 8, 13):
    classifier = KnifeClassifier(n_features_to_select=k)
    scores = cross_val_score(classifier, wine.data, wine.target, cv=5)
    print(f"{k:2d} features: misclassification rate {1 - scores.mean():.3f}")

# %%
# These three features are eliminated last:

order = np.argsort(path.ranking)
print(", ".join(wine.feature_names[j] for j in order[:3]))
