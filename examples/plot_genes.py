"""
Sixty samples, two thousand genes
=================================

Colon cancer tissues: 40 tumours and 22 normal ones, 2,000 genes. Some patients gave both a tumour
and a normal tissue, so the folds keep a patient's tissues together.
"""

# %%
# The data are not shipped: put the files into a folder named by ``KERNELKNIFE_DATA``, or let the
# loader try a download.

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedGroupKFold, cross_val_score

from kernelknife import KnifeClassifier
from kernelknife.datasets import load_colon

colon = load_colon()
X, y = np.log(colon.data), colon.target

# %%
# With few samples and many genes a linear kernel is enough, and its problem is convex: the
# answer is the global minimum, certified by the residual of the optimality conditions.

model = KnifeClassifier(kernel="linear", n_features_to_select=10).fit(X, y)
print("ten genes:", ", ".join(model.get_feature_names_out()))
print(f"optimality residual {model.kkt_residual_:.0e} of an objective of {model.objective_:.0f}")

# %%
# An honest error: the genes are chosen anew in every training part.

folds = StratifiedGroupKFold(5)
for name, machine in {
    "ten genes": KnifeClassifier(kernel="linear", n_features_to_select=10),
    "the larger class": DummyClassifier(),
}.items():
    scores = cross_val_score(machine, X, y, cv=folds, groups=colon.groups)
    print(f"{name}: {1 - scores.mean():.2f} wrong")

# %%
# The weights of the chosen genes:

from kernelknife.display import WeightsDisplay

WeightsDisplay.from_estimator(model)
