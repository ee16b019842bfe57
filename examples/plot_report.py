"""
Reading a report
================

``kernelknife select data.csv --target outcome --report report.html`` writes a report in one HTML
page. This example explains its parts, with data on the progression of diabetes after one year.
"""

# %%
# In Python, :func:`kernelknife.select_features` gives the same results for a data frame.

from sklearn.datasets import load_diabetes

from kernelknife import select_features
from kernelknife.app.report import build_report

frame = load_diabetes(as_frame=True).frame
selection = select_features(frame, "target", alpha=0.3, rule="1se", folds=5)

# %%
# **The verdict** comes first. It names the selected columns and compares three errors over the same
# folds: with the selected columns, with all columns, and of the baseline, a constant prediction. If
# the first error is not clearly below the third, the selection is a hint at most. If it is no
# larger than the second, nothing is lost by leaving the other columns out. The kernel, too, is
# chosen by cross-validation.

print("selected:", ", ".join(selection.selected))
for name, score in {
    "selected columns": selection.error,
    "all columns": selection.full_error,
    "baseline": selection.baseline_error,
}.items():
    print(f"{name:17s} {score.mean:7.0f} +- {score.spread:.0f}")

# %%
# **How certain the selection is**: the report shows for every column the share of folds that select
# it. Folds differ in their rows, so a column that all folds select does not depend on a few rows.
# A column that the model uses and hardly any fold selects is called unstable and is no finding. Of
# several columns with the same information, different folds may select different ones.

for feature in selection.features:
    print(
        f"{feature.name:4s} weight {feature.weight:.2f}, in {feature.frequency:4.0%} of the folds"
    )

# %%
# **The path** shows what a larger or a smaller penalty would have selected. In the report a slider
# moves along the penalties.

selection.search.path_.plot(sparsity=selection.model.sparsity_)

# %%
# **The data** of the page are one dictionary, which ``--json`` writes as well. The tables and the
# figures are made from it, and can be taken away: in the page by a button, and here in Python.

from kernelknife.app.report import draw_figures

record = selection.to_json()
print(record["schema"], *record["errors"][0].values())
sorted(draw_figures(record))

# %%
# :func:`kernelknife.app.report.build_report` returns the page as text, to be written to a file. A
# notebook shows the same page where a selection is the last value of a cell, as it is here.

page = build_report(selection, "diabetes.csv")
print(f"{len(page) / 1000:.0f} kB")
selection  # noqa: B018
