"""Linear regression against least squares, ridge, lasso and elastic net [tab_linear]."""

import numpy as np
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, Ridge

from kernelknife.datasets import make_linear
from kernelknife.paper.document import Text
from kernelknife.paper.item import Claim, Item, compare, mean_error, method_table
from kernelknife.paper.simulations import ALPHAS, Draw, best, knife_models, on_columns

__all__ = ["LinearRegressions"]

PAPER = {
    "least squares": ("0.9220 (0.0026)", "1.0937 (0.0015)"),
    "ridge": ("0.9220 (0.0026)", "1.0937 (0.0015)"),
    "lasso": ("0.9452 (0.0026)", "1.0725 (0.0014)"),
    "elastic net": ("0.9472 (0.0026)", "1.0746 (0.0014)"),
    "KNIFE": ("0.9377 (0.0026)", "1.0738 (0.0016)"),
}
N_TRUE = 5


class LinearRegressions(Item):
    name = "linear"
    title = "Linear regression"
    labels = ("tab_linear",)
    repetitions = 50
    protocol = (
        "Five true and five noise features, fifty draws of 100 training, 1,000 validation and "
        "1,000 test rows; one parameter per method by validation, alpha = 1 for KNIFE with a "
        "linear kernel. The elastic net mixes both penalties half and half. Our standard errors "
        "are those of the mean over draws and much larger than the paper's, which says "
        "nowhere how its own were computed."
    )

    def repeat(self, seed, quick):
        data = Draw.of(make_linear, 5, seed)
        columns = np.arange(10)
        ridges = [
            on_columns(lambda a=a: Ridge(alpha=a), columns, data, penalty=a)
            for a in np.geomspace(1e-3, 1e3, 31)
        ]
        sparse = np.geomspace(1e-3, 3.0, 50)
        lassos = [on_columns(lambda a=a: Lasso(alpha=a), columns, data, penalty=a) for a in sparse]
        nets = [
            on_columns(lambda a=a: ElasticNet(alpha=a), columns, data, penalty=a) for a in sparse
        ]
        candidates = {
            "least squares": [on_columns(LinearRegression, columns, data)],
            "ridge": ridges,
            "lasso": lassos,
            "elastic net": nets,
            "KNIFE": knife_models(data, kernel="linear"),
            "KNIFE, alpha chosen too": knife_models(data, ALPHAS, kernel="linear"),
        }
        return {"linear": [best(name, found, data, N_TRUE) for name, found in candidates.items()]}

    def report(self, tables):
        frame = tables["linear"]
        return [
            method_table(
                frame, PAPER, {"train_error": "training error", "test_error": "test error"}
            ),
            Text("Mean squared errors, standard errors of the mean in brackets."),
        ]

    def claims(self, tables):
        frame = tables["linear"].pivot(index="repetition", columns="method", values="test_error")
        gap, spread = mean_error(frame["KNIFE"] - frame["lasso"])
        sparse, dense = frame["KNIFE"].mean(), frame["least squares"].mean()
        return [
            Claim(
                "Linear KNIFE performs like the lasso: mean test errors within 0.02.",
                f"difference {gap:+.4f} ({spread:.4f})",
                abs(gap) <= 0.02,
            ),
            Claim(
                "Linear KNIFE has a lower test error than least squares.",
                f"{compare(frame['KNIFE'])} against {compare(frame['least squares'])}",
                bool(sparse < dense),
            ),
        ]
