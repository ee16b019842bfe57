"""
What acts alone, what acts together
===================================

A Gaussian kernel is one joint function of its columns. Where a class is a union of separate
effects, each in columns of its own, it finds some of them and then noise. The ANOVA kernel is a sum
of effects of single columns and of pairs. It finds all of them, and says which columns act alone
and which act together.
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
# Both kernels rank the columns by how long they survive as the penalty rises. The Gaussian path
# keeps two of the three effects, then columns of noise. The path of the ANOVA kernel keeps all six
# columns.

kernels = {"rbf": "one joint function (rbf)", "anova": "separate effects (anova)"}
paths = {kernel: knife_path(union.data, union.target, kernel=kernel) for kernel in kernels}
for kernel, path in paths.items():
    print(f"{kernel:>5}:", path.ranking.argsort()[:6])

# %%
# Noise is gray. With the Gaussian kernel the shell has no weight at any penalty, but noise has one.
# With the ANOVA kernel the noise leaves before the shell.

colors = {"shell": "#0072B2", "checkerboard": "#D55E00", "sum": "#009E73"}
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, (kernel, path) in zip(axes, paths.items(), strict=True):
    x, weights = path.sparsities[1:], path.weights[1:]  # a logarithm has no place for zero
    ax.semilogx(x, weights[:, 6:], color="0.75", linewidth=0.8)
    for name, pair in union.pairs.items():
        first, _ = ax.semilogx(x, weights[:, pair], color=colors[name], linewidth=2)
        first.set_label(name)
    ax.set(title=kernels[kernel], xlabel="sparsity", ylabel="weight")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].legend(frameon=False)

# %%
# Effects are read most easily where they add up to a number. Here the three effects are added
# instead of united.

total = make_separate_effects(500, n_noise=24, union=False, random_state=0)
model = knife_path(total.data, total.target, kernel="anova").at(n_features=6)
print(f"{'columns':>8}  share of the variance")
for effect in list(model.effects())[:8]:
    print(f"{' and '.join(effect.names):>9}  {effect.share:.1%}")

# %%
# The columns of the shell act alone and together, because a shell is more than a sum of two
# curves. Those of the checkerboard act only together: alone, neither says anything. Those of the
# sum act only alone. A curve is what a column adds to the prediction. A surface is what two
# columns add beyond their curves: red raises the prediction, blue lowers it.

EffectsDisplay.from_estimator(model, most=6)

# %%
# The parts add up to the prediction, exactly.

constant, parts = model.effect_values(total.data)
gap = np.abs(constant[0] + np.sum(list(parts.values()), axis=0)[:, 0] - model.predict(total.data))
print(f"largest difference: {gap.max():.0e}")
