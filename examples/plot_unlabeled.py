"""
Wine without labels: the columns that carry the components
==========================================================

No target is given here. :class:`~kernelknife.KnifePCA` selects columns that share a component with
other columns, and eliminates the rest; a comparison with columns that are permuted independently
determines how many remain. The three cultivars only color the picture afterwards.
"""

# %%
# The data are thirteen measurements of 178 wines, among 65 columns of noise. The noise columns are
# permuted measurements: they differ from the measurements only in their relation to other columns.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from kernelknife import KnifePCA

rng = np.random.default_rng(0)
wine = load_wine()
noise = np.hstack([rng.permuted(wine.data, axis=0) for _ in range(5)])
X = np.hstack([wine.data, noise])

model = KnifePCA(random_state=0).fit(X)
kept = model.get_support()
print(f"{kept[:13].sum()} of 13 measurements are kept, {kept[13:].sum()} of 65 columns of noise")

# %%
# On the left are the components of all columns with equal weights, which the noise blurs.

p = X.shape[1]
plain = KnifePCA(weights=np.sqrt(0.5 / p)).fit(X)

figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
for axis, scores, title in (
    (axes[0], plain.transform(X), "all 78 columns, equal weights"),
    (axes[1], model.transform(X), f"{kept.sum()} of 78 columns"),
):
    for k, name in enumerate(wine.target_names):
        axis.scatter(*scores[wine.target == k].T, s=14, label=name)
    axis.set(title=title, xlabel="component 1", ylabel="component 2")
axes[1].legend(title="cultivar", fontsize="small")
order = np.argsort(model.weights_[:13])
axes[2].barh(np.array(wine.feature_names)[order], model.weights_[:13][order])
axes[2].set(title="weights of the measurements")
axes[2].tick_params(axis="y", labelsize=8)

# %%
# The last picture shows how far the explained variance exceeds that of permuted columns, along the
# path. The fewest columns within one standard deviation of the maximum are selected.

counts, lead, spread = model.gap_.T
figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
axis.errorbar(counts, lead, spread, fmt="o", ms=4)
axis.axvline(kept.sum(), color="k", lw=0.8, ls="--")
axis.set(xlabel="columns", ylabel="lead over permuted columns", xscale="log")
plt.show()
