"""
Two vowels, new speakers
========================

The data are ten measurements of the vowels in *heed* and *hid*. A model learns from eight speakers
and is tested on seven others.
"""

# %%
# The data set has eleven vowels; two of them are kept.

import numpy as np

from kernelknife import KnifeClassifierCV
from kernelknife.datasets import load_vowel
from kernelknife.display import KernelDisplay, WeightPathDisplay
from kernelknife.kernels import RBF

vowel = load_vowel()
pair = vowel.target.isin(["i", "I"]).to_numpy()
X, y = vowel.data[pair], vowel.target[pair].to_numpy()
train, speaker = vowel.train[pair], vowel.groups[pair].to_numpy()

# %%
# Frames of one speaker are not independent, so they stay in one fold. Scale and kernel width are
# those of the paper.

search = KnifeClassifierCV(kernel=RBF(gamma=0.1), standardize=False, alphas=1.0)
search.fit(X[train], y[train], groups=speaker[train])
print("selected:", ", ".join(search.get_feature_names_out()))
wrong = np.sum(search.predict(X[~train]) != y[~train])
print(f"{wrong} of {np.sum(~train)} frames of new speakers wrong")

# %%
# The path shows which measurements survive longest; the chosen penalty is marked.

WeightPathDisplay.from_estimator(search)

# %%
# The kernel matrix, its rows ordered by vowel: with equal weights on the left, with the learned
# weights on the right, where the two vowels become visible as two blocks.

KernelDisplay.from_estimator(search.best_estimator_, X[train], y[train])
