"""
Text columns: one weight per variable
=====================================

A text column becomes several columns of zeros and ones (one-hot encoding). It is rarely useful to
select some of these columns and not the others. ``feature_groups`` gives all columns of a variable
one common weight.
"""

# %%
# In these simulated fields the yield depends on the soil and on the rain.

import numpy as np
import pandas as pd
from sklearn.preprocessing import OneHotEncoder

from kernelknife import knife_path

rng = np.random.default_rng(0)
n = 150
frame = pd.DataFrame(
    {
        "soil": rng.choice(["sand", "clay", "peat", "loam"], n),
        "color": rng.choice(["red", "gray", "brown"], n),
        "rain": rng.normal(size=n),
        "sun": rng.normal(size=n),
    }
)
yields = np.where(frame["soil"] == "peat", 2.0, 0.0) + np.sin(2 * frame["rain"])
yields += 0.2 * rng.normal(size=n)

# %%
# Encode the text columns, and keep the variable that each encoded column comes from.

encoder = OneHotEncoder(sparse_output=False).fit(frame[["soil", "color"]])
encoded = pd.DataFrame(
    encoder.transform(frame[["soil", "color"]]), columns=encoder.get_feature_names_out()
)
X = pd.concat([encoded, frame[["rain", "sun"]]], axis=1)
variable = [name.split("_")[0] for name in X.columns]

path = knife_path(X, yields, alpha=0.3, feature_groups=variable)
print(pd.Series(path.ranking, index=X.columns).groupby(variable).first().sort_values())

# %%
# The columns of a variable have the same weight, so their lines lie on top of each other. Soil and
# rain are eliminated last.

path.plot()

# %%
# :func:`kernelknife.select_features` and the command do all of this for you.

from kernelknife import select_features

selection = select_features(frame.assign(yields=yields), "yields", rule="1se")
print(selection.selected)
