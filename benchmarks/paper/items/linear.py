"""KNIFE with a linear kernel beside least squares, ridge, lasso, elastic net [tab_linear]."""

import numpy as np
from document import Text
from item import Claim, Item, format_mean, mean_and_error, method_table
from simulations import (
    ALPHAS,
    Draw,
    fit_on_columns,
    knife_candidates,
    row_of_best,
)
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, Ridge

from kernelknife.datasets import make_linear

__all__ = ["LinearRegressions"]

# The paper's training and test errors.
PAPER = {
    "least squares": ("0.9220 (0.0026)", "1.0937 (0.0015)"),
    "ridge": ("0.9220 (0.0026)", "1.0937 (0.0015)"),
    "lasso": ("0.9452 (0.0026)", "1.0725 (0.0014)"),
    "elastic net": ("0.9472 (0.0026)", "1.0746 (0.0014)"),
    "KNIFE": ("0.9377 (0.0026)", "1.0738 (0.0016)"),
}
N_TRUE = 5  # true features, the first columns


class LinearRegressions(Item):
    """Training and test errors of linear methods."""

    name = "linear"
    title = "Linear regression"
    labels = ("tab_linear",)
    repetitions = 50
    protocol = (
        "There are five true and five noise features, and fifty draws of 100 training, 1,000 "
        "validation and 1,000 test rows. One parameter per method is chosen by validation; KNIFE "
        "has a linear kernel and alpha = 1. The elastic net gives both of its penalties the same "
        "weight. Our standard errors are those of the mean over draws. They are much larger than "
        "the paper's, and the paper does not say how its own were computed."
    )

    def repeat(self, seed, quick):
        data = Draw.of(make_linear, 5, seed)
        columns = np.arange(10)
        ridges = [
            fit_on_columns(lambda a=a: Ridge(alpha=a), columns, data, penalty=a)
            for a in np.geomspace(1e-3, 1e3, 31)
        ]
        sparse = np.geomspace(1e-3, 3.0, 50)
        lassos = [
            fit_on_columns(lambda a=a: Lasso(alpha=a), columns, data, penalty=a) for a in sparse
        ]
        nets = [
            fit_on_columns(lambda a=a: ElasticNet(alpha=a), columns, data, penalty=a)
            for a in sparse
        ]
        candidates = {
            "least squares": [fit_on_columns(LinearRegression, columns, data)],
            "ridge": ridges,
            "lasso": lassos,
            "elastic net": nets,
            "KNIFE": knife_candidates(data, kernel="linear"),
            "KNIFE, alpha chosen too": knife_candidates(data, ALPHAS, kernel="linear"),
        }
        rows = [row_of_best(name, group, data, N_TRUE) for name, group in candidates.items()]
        return {"linear": rows}

    def report(self, tables):
        frame = tables["linear"]
        return [
            method_table(
                frame, PAPER, {"train_error": "training error", "test_error": "test error"}
            ),
            Text(
                "The table shows mean squared errors, with standard errors of the mean in brackets."
            ),
        ]

    def claims(self, tables):
        frame = tables["linear"].pivot(index="repetition", columns="method", values="test_error")
        gap, spread = mean_and_error(frame["KNIFE"] - frame["lasso"])
        sparse, dense = frame["KNIFE"].mean(), frame["least squares"].mean()
        return [
            Claim(
                "Linear KNIFE performs like the lasso: mean test errors within 0.02.",
                f"difference {gap:+.4f} ({spread:.4f})",
                abs(gap) <= 0.02,
            ),
            Claim(
                "Linear KNIFE has a lower test error than least squares.",
                f"{format_mean(frame['KNIFE'])} against {format_mean(frame['least squares'])}",
                bool(sparse < dense),
            ),
        ]
