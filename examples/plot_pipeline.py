"""
In a pipeline, under a grid search
==================================

The estimators follow scikit-learn's conventions: they predict, they select features, and a grid
search can set their parameters, including the kernel.
"""

# %%
# Here KNIFE selects columns for a random forest. Its own error is shown for comparison.

import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from kernelknife import KnifeRegressor
from kernelknife.datasets import make_sinusoidal
from kernelknife.kernels import Matern, RationalQuadratic

X, y = make_sinusoidal(150, n_noise=45, random_state=0)
forest = RandomForestRegressor(200, random_state=0)
for name, model in {
    "forest on 50 columns": forest,
    "forest on five": make_pipeline(KnifeRegressor(n_features_to_select=5), forest),
    "KNIFE itself": KnifeRegressor(alpha=0.1, n_features_to_select=5),
}.items():
    scores = cross_val_score(model, X, y, cv=3, scoring="neg_mean_squared_error")
    print(f"{name}: mean squared error {-scores.mean():.2f}")

# %%
# Kernels, losses and penalties can be searched in one grid.

search = GridSearchCV(
    KnifeRegressor(sparsity=3.0),
    {
        "kernel": ["rbf", "laplace", Matern(nu=2.5), RationalQuadratic()],
        "loss": ["squared", "huber"],
        "alpha": [0.1, 0.3],
    },
    scoring="neg_mean_squared_error",
    cv=3,
).fit(X, y)
table = pd.DataFrame(search.cv_results_).sort_values("rank_test_score")
print(table[["param_kernel", "param_loss", "param_alpha", "mean_test_score"]].head())

# %%
# These are the weights of the best combination:

from kernelknife.inspection import WeightsDisplay

WeightsDisplay.from_estimator(search.best_estimator_)
