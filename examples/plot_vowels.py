"""
Two vowels, new speakers
========================

Ten measures of the vowels of *heed* and *hid*, spoken by eight people to learn from and seven
others to be judged on.
"""

# %%
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
# Frames of one speaker are not independent: they stay in one fold. On the published scale and
# with the width of the paper:

search = KnifeClassifierCV(kernel=RBF(gamma=0.1), standardize=False, alphas=1.0)
search.fit(X[train], y[train], groups=speaker[train])
print("selected:", ", ".join(search.get_feature_names_out()))
wrong = np.sum(search.predict(X[~train]) != y[~train])
print(f"{wrong} of {np.sum(~train)} frames of new speakers wrong")

# %%
WeightPathDisplay.from_estimator(search)

# %%
# The kernel matrix, rows ordered by vowel, with equal and with the learned weights: what was a
# haze falls into two blocks.

KernelDisplay.from_estimator(search.best_estimator_, X[train], y[train])
