"""
Main effects and interactions
=============================

A Gaussian kernel is one joint function of its columns. If a class is a union of separate effects,
each in columns of its own, it finds some of them and then noise. The ANOVA kernel is a sum of
effects of single columns and of pairs. It finds all of them, and shows which columns have a main
effect and which interact.
"""

# %%
# A row is positive if it lies in a shell of columns 0 and 1, or on a checkerboard of columns 2 and
# 3, or if columns 4 and 5 have a large sum. The other 44 columns are noise.

import matplotlib.pyplot as plt
import numpy as np

from kernelknife import knife_path
from kernelknife.datasets import make_separate_effects
from kernelknife.inspection.displays import EffectsDisplay

union = make_separate_effects(800, n_noise=44, random_state=0)
print(union.data.shape, union.pairs)

# %%
# The elimination order ranks the columns. On the path of the Gaussian kernel two of the three
# effects come first, then columns of noise. On the path of the ANOVA kernel all six columns do.

kernels = {"rbf": "one joint function (rbf)", "anova": "separate effects (anova)"}
paths = {kernel: knife_path(union.data, union.target, kernel=kernel) for kernel in kernels}
for kernel, path in paths.items():
    print(f"{kernel:>5}:", path.ranking.argsort()[:6])

# %%
# Noise is gray. With the Gaussian kernel the shell has no weight at any penalty, but noise has one.
# With the ANOVA kernel the noise is eliminated before the shell.

colors = {"shell": "#0072B2", "checkerboard": "#D55E00", "sum": "#009E73"}
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, (kernel, path) in zip(axes, paths.items(), strict=True):
    x, weights = path.sparsities[1:], path.weights[1:]  # zero has no logarithm
    ax.semilogx(x, weights[:, 6:], color="0.75", linewidth=0.8)
    for name, pair in union.pairs.items():
        first, _ = ax.semilogx(x, weights[:, pair], color=colors[name], linewidth=2)
        first.set_label(name)
    ax.set(title=kernels[kernel], xlabel="sparsity", ylabel="weight")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].legend(frameon=False)

# %%
# Effects are easiest to interpret if they add up to a number. Here the target is the sum of the
# three effects instead of their union.

total = make_separate_effects(500, n_noise=24, union=False, random_state=0)
model = knife_path(total.data, total.target, kernel="anova").at(n_features=6)
print(f"{'columns':>8}  share of the variance")
for effect in list(model.effects())[:8]:
    print(f"{' and '.join(effect.names):>9}  {effect.share:.1%}")

# %%
# The columns of the shell have main effects and an interaction, because a shell is more than a sum
# of two curves. Those of the checkerboard have only an interaction: neither is informative alone.
# Those of the sum have only main effects. A curve is the contribution of one column to the
# prediction. A surface is the contribution of two columns beyond their curves: red raises the
# prediction, blue lowers it.

EffectsDisplay.from_estimator(model, most=6)

# %%
# The parts add up to the prediction, exactly.

constant, parts = model.effect_values(total.data)
gap = np.abs(constant[0] + np.sum(list(parts.values()), axis=0)[:, 0] - model.predict(total.data))
print(f"largest difference: {gap.max():.0e}")
