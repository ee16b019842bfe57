"""
Text columns: one weight per variable
=====================================

A text column becomes several columns of zeros and ones. Selecting some of them and not others
answers a question nobody asked. ``feature_groups`` gives them one weight.
"""

# %%
import numpy as np
import pandas as pd
from sklearn.preprocessing import OneHotEncoder

from kernelknife import knife_path

rng = np.random.default_rng(0)
n = 150
frame = pd.DataFrame(
    {
        "soil": rng.choice(["sand", "clay", "peat", "loam"], n),
        "colour": rng.choice(["red", "grey", "brown"], n),
        "rain": rng.normal(size=n),
        "sun": rng.normal(size=n),
    }
)
yields = np.where(frame["soil"] == "peat", 2.0, 0.0) + np.sin(2 * frame["rain"])
yields += 0.2 * rng.normal(size=n)

# %%
# Encode, and remember which variable each column came from.

encoder = OneHotEncoder(sparse_output=False).fit(frame[["soil", "colour"]])
encoded = pd.DataFrame(
    encoder.transform(frame[["soil", "colour"]]), columns=encoder.get_feature_names_out()
)
X = pd.concat([encoded, frame[["rain", "sun"]]], axis=1)
variable = [name.split("_")[0] for name in X.columns]

path = knife_path(X, yields, alpha=0.3, feature_groups=variable)
print(pd.Series(path.ranking, index=X.columns).groupby(variable).first().sort_values())

# %%
# The lines of a variable's columns lie on top of each other: soil and rain stay, the others go.

path.plot()

# %%
# :func:`kernelknife.selection.select_features` and the command do all of this by themselves.

from kernelknife.selection import select_features

found = select_features(frame.assign(yields=yields), "yields", rule="1se")
print(found.selected)
