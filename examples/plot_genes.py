"""
Sixty samples, two thousand genes
=================================

The data are 62 colon tissues, 40 tumours and 22 normal ones, with the activity of 2,000 genes. Some
patients gave both a tumour and a normal tissue, so the folds keep a patient's tissues together.
"""

# %%
# The data are not part of the package. Put the files into a folder that the environment variable
# ``KERNELKNIFE_DATA`` names, or let the loader try a download.

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedGroupKFold, cross_val_score

from kernelknife import KnifeClassifier
from kernelknife.datasets import load_colon

colon = load_colon()
X, y = np.log(colon.data), colon.target

# %%
# With few samples and many genes a linear kernel is enough. Its problem is convex, so the answer is
# the global minimum; the residual of the optimality conditions certifies this.

model = KnifeClassifier(kernel="linear", n_features_to_select=10).fit(X, y)
print("ten genes:", ", ".join(model.get_feature_names_out()))
print(f"optimality residual {model.kkt_residual_:.0e} of an objective of {model.objective_:.0f}")

# %%
# For an honest error the genes must be chosen again in every training part.

folds = StratifiedGroupKFold(5)
for name, classifier in {
    "ten genes": KnifeClassifier(kernel="linear", n_features_to_select=10),
    "the larger class": DummyClassifier(),
}.items():
    scores = cross_val_score(classifier, X, y, cv=folds, groups=colon.groups)
    print(f"{name}: {1 - scores.mean():.2f} wrong")

# %%
# A bar chart shows the weights of the chosen genes.

from kernelknife.display import WeightsDisplay

WeightsDisplay.from_estimator(model)
