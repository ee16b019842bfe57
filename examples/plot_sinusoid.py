"""
A sum of sines: choosing both penalties
=======================================

``sparsity`` decides how many columns stay, ``alpha`` how smooth the machine is. Both matter for
the error, so cross-validation chooses them together, along one path per ``alpha`` and fold.
"""

# %%
import numpy as np

from kernelknife import KnifeRegressorCV
from kernelknife.datasets import make_sinusoidal
from kernelknife.display import CVDisplay, WeightPathDisplay

X, y = make_sinusoidal(100, n_noise=5, random_state=0)
search = KnifeRegressorCV(cv=5).fit(X, y)
print(f"alpha {search.alpha_:g}, sparsity {search.sparsity_:.3g}")
print("selected:", search.get_support(indices=True))

# %%
# The error over the folds, one line per ``alpha``, with the number of columns on the right.

CVDisplay.from_estimator(search)

# %%
# The path on all rows with the chosen ``alpha``.

WeightPathDisplay.from_estimator(search)

# %%
# How sure is the selection? The share of folds that select each column:

for j, share in enumerate(search.selection_frequency_):
    print(f"x{j}: {share:.0%}")

# %%
# And on rows that took no part:

held_out, target = make_sinusoidal(2000, n_noise=5, random_state=1)
print(f"mean squared error {np.mean((search.predict(held_out) - target) ** 2):.2f}, noise alone 1")
