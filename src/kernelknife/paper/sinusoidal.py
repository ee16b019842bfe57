"""Sinusoidal regression [tab_l2] and its feature paths [fig_l2_paths]."""

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from kernelknife import knife_path
from kernelknife.baselines import SIS, KernelRFE
from kernelknife.datasets import make_sinusoidal
from kernelknife.kernels import RBF
from kernelknife.paper.document import Text
from kernelknife.paper.figures import draw_paths, path_rows
from kernelknife.paper.item import Claim, Item, compare, method_table
from kernelknife.paper.simulations import ALPHAS, Draw, best, knife_models, on_columns

__all__ = ["Sinusoidal"]

PAPER = {
    "ridge": ("4.8337 (0.0202)", "6.2589 (0.0109)"),
    "kernel ridge": ("0.0874 (0.0005)", "6.1239 (0.0106)"),
    "SIS + kernel ridge": ("0.9592 (0.0122)", "3.8119 (0.0389)"),
    "RFE + kernel ridge": ("0.7848 (0.0074)", "5.4386 (0.0366)"),
    "KNIFE, radial": ("2.1187 (0.0058)", "3.5498 (0.0083)"),
    "KNIFE, polynomial": ("5.2376 (0.0181)", "6.8591 (0.0186)"),
}
N_TRUE = 5
PENALTIES = np.geomspace(1e-3, 1e2, 16)
KERNELS = {"polynomial": "polynomial of order 2", "rbf": "radial"}


class Sinusoidal(Item):
    name = "sinusoidal"
    title = "Sinusoidal regression"
    labels = ("tab_l2", "fig_l2_paths")
    repetitions = 50
    captions = {  # noqa: RUF012 - a constant of the class
        "sinusoidal_paths": "Feature paths on one draw, polynomial kernel on the left and radial "
        "kernel on the right; x0 to x4 are the true features."
    }
    protocol = (
        "Five true and five noise features, sizes and validation as above. As in the paper one "
        "parameter per method is validated: the penalty of ridge and kernel ridge, the number of "
        "features of SIS and RFE, the sparsity of KNIFE; all other penalties are 1, which is "
        "lambda_1's default. Radial machines other than KNIFE use gamma = 1/p, KNIFE uses 1. The "
        "paper does not give the penalty of the kernel ridge behind SIS and RFE; their figures "
        "there fit one that was validated as well, which is the rows 'both validated'."
    )

    def repeat(self, seed, quick):
        data = Draw.of(make_sinusoidal, 5, seed)
        columns = np.arange(10)
        sis = np.argsort(SIS().fit(*data.train).ranking_)
        rankings = {
            a: np.argsort(KernelRFE(kernel=RBF(gamma=0.1), alpha=a).fit(*data.train).ranking_)
            for a in {1.0, *(PENALTIES[::5] if quick else PENALTIES)}
        }

        def kernel_ridges(ranking, penalties, counts):
            return [
                on_columns(
                    lambda a=a: KernelRidge(alpha=a, kernel="rbf", gamma=0.1),
                    ranking[:k],
                    data,
                    penalty=a,
                    features=k,
                )
                for a in penalties
                for k in counts
            ]

        numbers = range(1, 11)
        candidates = {
            "ridge": [
                on_columns(lambda a=a: Ridge(alpha=a), columns, data, penalty=a)
                for a in np.geomspace(1e-2, 1e3, 26)
            ],
            "kernel ridge": kernel_ridges(columns, PENALTIES, [10]),
            "SIS + kernel ridge": kernel_ridges(sis, [1.0], numbers),
            "RFE + kernel ridge": kernel_ridges(rankings[1.0], [1.0], numbers),
            "KNIFE, radial": knife_models(data),
            "KNIFE, polynomial": knife_models(data, kernel="polynomial"),
            "SIS + kernel ridge, both validated": kernel_ridges(sis, PENALTIES, numbers),
            "RFE + kernel ridge, both validated": [
                machine
                for a, ranking in rankings.items()
                for machine in kernel_ridges(ranking, [a], numbers)
            ],
            "KNIFE, radial, alpha chosen too": knife_models(data, ALPHAS),
        }
        found = {"sinusoidal": [best(name, ms, data, N_TRUE) for name, ms in candidates.items()]}
        if seed == 0:
            found["sinusoidal_paths"] = [
                row
                for kernel in KERNELS
                for row in path_rows(knife_path(*data.train, kernel=kernel), kernel=kernel)
            ]
        return found

    def report(self, tables):
        return [
            method_table(
                tables["sinusoidal"],
                PAPER,
                {"train_error": "training error", "test_error": "test error"},
            ),
            Text("Mean squared errors, standard errors of the mean in brackets."),
        ]

    def claims(self, tables):
        frame = tables["sinusoidal"]
        test = frame.pivot(index="repetition", columns="method", values="test_error")
        mean = test.mean()
        ours, chosen = mean["KNIFE, radial"], "KNIFE, radial, alpha chosen too"
        own = frame[frame["method"] == "KNIFE, radial"]
        noise, chances = int(own["noise_features"].sum()), 5 * len(own)
        baselines = [name for name in mean.index if not name.startswith("KNIFE")]
        within = [name for name in baselines if name in PAPER]
        strongest = min(within, key=mean.__getitem__)
        any_of = min(baselines, key=mean.__getitem__)
        true = own["true_features"].eq(N_TRUE).mean()
        return [
            Claim(
                "Radial KNIFE with alpha = 1 reaches the paper's 3.55 (at most 3.6).",
                compare(test["KNIFE, radial"]),
                bool(ours <= 3.6),
            ),
            Claim(
                "With alpha chosen too, at most 2.6.",
                compare(test[chosen]),
                bool(mean[chosen] <= 2.6),
            ),
            Claim(
                "Radial KNIFE outperforms every other method of the table.",
                f"{ours:.4f} against {mean[strongest]:.4f} of {strongest}",
                bool(ours < mean[strongest]),
            ),
            Claim(
                "And with all parameters of all methods validated.",
                f"{mean[chosen]:.4f} against {mean[any_of]:.4f} of {any_of}",
                bool(mean[chosen] < mean[any_of]),
            ),
            Claim(
                "Radial KNIFE keeps at most 5 noise features in 250 chances.",
                f"{noise} of {chances}; all five true features in {true:.0%} of the draws",
                noise <= 5 * chances / 250,
            ),
            Claim(
                "The radial kernel gives much lower errors than the polynomial one.",
                f"{ours:.4f} against {mean['KNIFE, polynomial']:.4f}",
                bool(ours < 0.75 * mean["KNIFE, polynomial"]),
            ),
        ]

    def draw(self, tables):
        return {"sinusoidal_paths": draw_paths(tables["sinusoidal_paths"], "kernel", KERNELS)}
