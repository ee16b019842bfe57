"""
Skin of the orange: no column separates the classes alone
=========================================================

One class surrounds the other like the skin of an orange. No column differs in its mean between the
classes, so a linear method cannot separate them. Four of fifty columns matter.
"""

# %%
# The data have 100 rows, four true columns and 46 columns of noise.

import numpy as np
from sklearn.feature_selection import f_classif

from kernelknife import knife_path
from kernelknife.datasets import make_skin_of_orange

X, y = make_skin_of_orange(100, n_noise=46, random_state=0)
F = f_classif(X, y)[0]
print("ranks of x0 to x3 by univariate F:", (-F).argsort().argsort()[:4] + 1)

# %%
# On a path the penalty rises from zero until the last column has been eliminated. Columns that
# matter remain active longer, so the elimination order is a ranking.

path = knife_path(X, y)
print("ranks of x0 to x3 in elimination order:", path.ranking[:4])
model = path.at(n_features=4)
path.plot(sparsity=model.sparsity)

# %%
# On new rows, the model with four columns is compared with a support vector machine that uses all
# fifty.

from sklearn.svm import SVC

held_out, labels = make_skin_of_orange(2000, n_noise=46, random_state=1)
svm = SVC().fit(X, y)
print("misclassification rates")
print(f"four columns: {np.mean(model.predict(held_out) != labels):.3f}")
print(f"all columns:  {np.mean(svm.predict(held_out) != labels):.3f}")
