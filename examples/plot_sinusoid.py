"""
A sum of sines: choosing the kernel and both penalties
======================================================

``sparsity`` controls how many columns remain, ``alpha`` how smooth the model is, and the kernel
which relations it can represent. All of them affect the error, so cross-validation chooses them
together, along one path of penalties for every kernel, ``alpha`` and fold.
"""

# %%
# Five of ten columns matter. The target is a sum of their sines, plus noise.

import numpy as np

from kernelknife import KnifeRegressorCV
from kernelknife.datasets import make_sinusoidal
from kernelknife.inspection import CVDisplay, WeightPathDisplay

X, y = make_sinusoidal(100, n_noise=5, random_state=0)
search = KnifeRegressorCV(cv=5).fit(X, y)
print(f"kernel {search.kernel_name_}, alpha {search.alpha_:g}, sparsity {search.sparsity_:.3g}")
print("selected:", search.get_support(indices=True))

# %%
# This picture shows the cross-validated error, one line per kernel with its best ``alpha``, and in
# gray the number of columns, with its axis on the right. Kernels that were eliminated in the
# screening round have fewer points.

CVDisplay.from_estimator(search)

# %%
# This is the path on all rows with the selected kernel and ``alpha``.

WeightPathDisplay.from_estimator(search)

# %%
# How certain is the selection? One measure is the share of folds that select each column.

for j, share in enumerate(search.selection_frequency_):
    print(f"x{j}: {share:.0%}")

# %%
# On new rows the mean squared error can be compared with the variance of the noise, which is 1.

held_out, target = make_sinusoidal(2000, n_noise=5, random_state=1)
print(f"mean squared error {np.mean((search.predict(held_out) - target) ** 2):.2f}, noise 1")
