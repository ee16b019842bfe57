"""
Reading a report
================

``kernelknife select data.csv --target outcome --report report.html`` writes one page. This is how
to read it, on the progression of diabetes after a year.
"""

# %%
# The same from Python: :func:`kernelknife.selection.select_features` takes a data frame.

from sklearn.datasets import load_diabetes

from kernelknife.report import build_report
from kernelknife.selection import select_features

frame = load_diabetes(as_frame=True).frame
found = select_features(frame, "target", alpha=0.3, rule="1se", folds=5)

# %%
# **The verdict** comes first: which columns, and three errors over the same folds. If the first is
# not clearly below the third, a constant guess, the selection is a hint at most. The second is a
# machine with all columns: when the first is no larger, leaving columns out costs nothing.

print("selected:", ", ".join(found.selected))
for name, score in {
    "selected columns": found.error,
    "all columns": found.full_error,
    "a constant": found.constant_error,
}.items():
    print(f"{name:17s} {score.mean:7.0f} +- {score.spread:.0f}")

# %%
# **How sure**: the share of folds that select a column. Folds differ in their rows, so a column
# that all of them select does not hang on a few rows. Columns that carry the same information
# share their votes.

for feature in found.features:
    print(
        f"{feature.name:4s} weight {feature.weight:.2f}, in {feature.frequency:4.0%} of the folds"
    )

# %%
# **The path** shows what a larger or a smaller penalty would have chosen; in the page a slider
# moves over it.

found.search.path_.plot(sparsity=found.model.sparsity_)

# %%
# **What each column does**: the average prediction as one column takes other values.

import matplotlib.pyplot as plt

figure, axes = plt.subplots(
    1, len(found.effects), sharey=True, figsize=(3 * len(found.effects), 2.6), squeeze=False
)
for ax, effect in zip(axes[0], found.effects, strict=True):
    ax.plot(effect.values, effect.curves["prediction"])
    ax.set_xlabel(effect.name)
axes[0, 0].set_ylabel("progression")

# %%
# The page itself is a string, to write wherever it is wanted.

page = build_report(found, "diabetes.csv")
print(f"{len(page) / 1000:.0f} kB")
