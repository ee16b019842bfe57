"""
Times until an event
====================

Of many columns two change the hazard: one of them is dangerous where it is low and where it is
high, which no straight line can tell. Nearly half of the rows are censored. ``KnifeSurvivalCV``
finds both columns, and rows that it has not trained on fare as it predicts.
"""

# %%
# The first column acts both ways, the second in one direction, and the other 18 are noise.

import matplotlib.pyplot as plt
import numpy as np

from kernelknife import KnifeSurvivalCV
from kernelknife.survival_metrics import concordance, kaplan_meier

rng = np.random.default_rng(0)
X = rng.normal(size=(500, 20))
hazard = np.exp(-2.0 * np.cos(2.0 * X[:, 0]) + 0.8 * X[:, 1])
days, wait = rng.exponential(1.0 / hazard), rng.exponential(2.0, size=500)
y = np.column_stack([np.minimum(days, wait), days <= wait])
train, test = np.arange(250), np.arange(250, 500)
print(f"{y[:, 1].mean():.0%} of the events are observed")

# %%
# Straight lines and one joint function are compared by the partial likelihood that the test rows
# of every fold add to that of the training rows.

model = KnifeSurvivalCV(["linear", "rbf"], alphas=1.0).fit(X[train], y[train])
risk = model.predict(X[test])
print("kernel:", model.kernel_name_, "- columns:", model.get_support(indices=True))
print(f"concordance on new rows: {concordance(y[test, 0], y[test, 1], risk):.2f}")

# %%
# On the left: how thirds of the new rows fare (steps), and the mean of the curves that the model
# predicts for them (dashed). On the right: the risk that it has learned for the first column, at
# the mean of all others, beside the truth.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
thirds = np.argsort(np.argsort(risk)) * 3 // len(risk)
times = np.linspace(0.0, 3.0, 100)
for third, color, name in zip(
    range(3), ("#0072B2", "#D55E00", "#009E73"), ("low", "middle", "high"), strict=True
):
    rows = test[thirds == third]
    seen, share = kaplan_meier(y[rows, 0], y[rows, 1])
    left.step([0.0, *seen], [1.0, *share], where="post", color=color, label=f"{name} risk")
    curve = model.predict_survival_function(X[rows], times).mean(axis=0)
    left.plot(times, curve, color=color, linestyle="--", linewidth=1)
left.set(xlim=(0, 3), ylim=(0, 1), xlabel="time", ylabel="share without an event")
left.legend(frameon=False)

grid = np.zeros((100, 20))
grid[:, 0] = np.linspace(-2.0, 2.0, 100)
learned, truth = model.predict(grid), -2.0 * np.cos(2.0 * grid[:, 0])
right.plot(grid[:, 0], learned - learned.mean(), color="#0072B2", label="learned")
right.plot(grid[:, 0], truth - truth.mean(), color="0.6", label="truth")
right.set(xlabel="first column", ylabel="logarithm of the hazard")
right.legend(frameon=False)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
