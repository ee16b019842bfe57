"""Objective by iteration from ten random starts, and the smooth hinge losses [fig_conv]."""

import numpy as np
from document import Table
from figures import new_figure
from item import Claim, Item
from simulations import Draw

from kernelknife import KnifeRegressor
from kernelknife.datasets import make_sinusoidal
from kernelknife.inspection.displays.style import COLORS
from kernelknife.losses import HuberizedHinge, SquaredHinge

__all__ = ["Convergence"]

SOLVERS = {"alternate": "the paper's algorithm", "eliminate": "eliminate"}
SPARSITY = 1.0
HINGES = {"hinge": None, "squared": SquaredHinge(), "Huberized": HuberizedHinge()}


class Convergence(Item):
    """The objective along the iterations of the paper's algorithm and of ours."""

    name = "convergence"
    title = "Convergence from random starts"
    labels = ("fig_conv",)
    repetitions = 10
    quick_repetitions = 3
    captions = {  # noqa: RUF012 - a constant of the class
        "convergence": "Objective by iteration from ten random starts, the paper's algorithm and "
        "ours, and on the right the hinge and its smooth versions."
    }
    protocol = (
        "The data are one draw of the sinusoidal problem; radial kernel, squared loss, alpha = "
        f"1, sparsity = {SPARSITY:g}. Each repetition starts from weights drawn uniformly from "
        "(0, 1]. The paper's alternating algorithm and our default solver start from the same "
        "weights; the alternation has backtracking, so that its objective cannot rise."
    )

    def repeat(self, seed, quick):
        X, y = Draw.of(make_sinusoidal, 5, 0).train
        start = 1.0 - np.random.default_rng(seed).random(X.shape[1])
        rows = []
        for solver in SOLVERS:
            model = KnifeRegressor(
                solver=solver, start=start, sparsity=SPARSITY, max_iter=2000, tol=1e-5
            ).fit(X, y)
            rows += [
                {
                    "solver": solver,
                    "start": seed,
                    "iteration": i,
                    "objective": float(value),
                    "factorizations": model.n_factorizations_,
                    "converged": int(model.converged_),
                }
                for i, value in enumerate(model.history_)
            ]
        if seed > 0:
            return {"convergence": rows}
        return {"convergence": rows, "hinges": _hinge_rows()}

    def _ends(self, frame):
        """Return the last row of every start, by solver."""
        last = frame.sort_values("iteration").groupby(["solver", "start"]).last()
        return {solver: last.loc[solver] for solver in SOLVERS}

    def report(self, tables):
        rows = []
        for solver, end in self._ends(tables["convergence"]).items():
            rows.append(
                (
                    SOLVERS[solver],
                    f"{end['objective'].min():.3f}",
                    f"{end['objective'].median():.3f}",
                    f"{end['objective'].max():.3f}",
                    f"{end['iteration'].median():.0f}",
                    f"{end['factorizations'].median():.0f}",
                )
            )
        header = ("solver", "lowest objective", "median", "highest", "iterations", "factorizations")
        return [Table(header, tuple(rows))]

    def claims(self, tables):
        frame = tables["convergence"]
        rises = frame.sort_values("iteration").groupby(["solver", "start"])["objective"].diff()
        largest = float((rises / frame["objective"]).max())
        ends = self._ends(frame)
        paper, ours = ends["alternate"], ends["eliminate"]
        return [
            Claim(
                "The objective decreases monotonically from every start.",
                f"largest relative rise of one iteration {max(largest, 0.0):.1e}",
                largest <= 1e-9,
            ),
            Claim(
                "Our solver ends no higher than the paper's, in the median over starts.",
                f"{ours['objective'].median():.3f} against {paper['objective'].median():.3f}, "
                f"{ours['factorizations'].median():.0f} against "
                f"{paper['factorizations'].median():.0f} factorizations",
                bool(ours["objective"].median() <= paper["objective"].median() * (1 + 1e-4)),
            ),
        ]

    def draw(self, tables):
        frame, hinges = tables["convergence"], tables["hinges"]
        figure, axes = new_figure(3, (4.0, 3.4))
        for ax, (solver, title) in zip(axes, SOLVERS.items(), strict=False):
            for _, part in frame[frame["solver"] == solver].groupby("start"):
                ax.plot(part["iteration"] + 1, part["objective"], color=COLORS[0], alpha=0.6)
            ax.set_xscale("log")
            ax.set_title(f"(a) {title}")
            ax.set_xlabel("iteration")
            ax.set_ylabel("objective")
            ax.set_ylim(0.9 * frame["objective"].min(), 1.05 * frame["objective"].max())
        for color, (name, part) in zip(COLORS, hinges.groupby("loss", sort=False), strict=False):
            axes[2].plot(part["margin"], part["value"], color=color, label=name, linewidth=1.8)
        axes[2].set_title("(b) hinge losses")
        axes[2].set_xlabel("margin y f(x)")
        axes[2].set_ylabel("loss")
        axes[2].set_ylim(0, 5)
        axes[2].legend(frameon=False)
        return {"convergence": figure}


def _hinge_rows():
    """Return the values of the hinge and of its smooth versions on a grid of margins."""
    margins = np.linspace(-2.0, 2.0, 81)
    losses = {
        name: np.maximum(0.0, 1.0 - margins)
        if loss is None
        else loss.value(np.ones_like(margins), margins)
        for name, loss in HINGES.items()
    }
    return [
        {"loss": name, "margin": float(m), "value": float(v)}
        for name, values in losses.items()
        for m, v in zip(margins, values, strict=True)
    ]
