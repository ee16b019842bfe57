"""The objective as a function of the two penalties [fig_params]."""

import numpy as np
from document import Text
from figures import new_figure
from item import Claim, Item
from simulations import Draw

from kernelknife import knife_path
from kernelknife.datasets import make_sinusoidal

__all__ = ["Penalties"]

# The paper gives no axes. These grids reach from all features selected to none.
ALPHA_GRID = np.geomspace(0.01, 10.0, 13)
SPARSITY_GRID = np.geomspace(0.1, 100.0, 13)


class Penalties(Item):
    """Objective and number of features over a grid of alpha and sparsity."""

    name = "penalties"
    title = "Objective over the two penalties"
    labels = ("fig_params",)
    repetitions = 1
    quick_repetitions = 1
    captions = {  # noqa: RUF012 - a constant of the class
        "penalties": "Objective, and number of features, over alpha and sparsity; darker is less."
    }
    protocol = (
        "The data are one draw of the sinusoidal problem; radial kernel, squared loss. For every "
        "alpha a path runs over the grid of sparsities. The paper gives no axes and no numbers for "
        "this figure."
    )

    def repeat(self, seed, quick):
        data = Draw.of(make_sinusoidal, 5, seed)
        rows = []
        for alpha in ALPHA_GRID[:: 4 if quick else 1]:
            path = knife_path(*data.train, alpha=alpha, sparsities=SPARSITY_GRID)
            for i, sparsity in enumerate(SPARSITY_GRID):
                point = min(i, len(path) - 1)  # a path ends where the last feature leaves
                rows.append(
                    {
                        "alpha": float(alpha),
                        "sparsity": float(sparsity),
                        "objective": float(path.objective[point]),
                        "n_selected": int(path.n_selected[point]),
                    }
                )
        return {"penalties": rows}

    def _grids(self, tables):
        """Return objective and number of features, one row per alpha, one column per sparsity."""
        frame = tables["penalties"]
        return [
            frame.pivot(index="alpha", columns="sparsity", values=column)
            for column in ("objective", "n_selected")
        ]

    def report(self, tables):
        objective, _ = self._grids(tables)
        low, high = objective.to_numpy().min(), objective.to_numpy().max()
        return [Text(f"The objective runs from {low:.2f} to {high:.2f} over the grid.")]

    def claims(self, tables):
        objective, selected = self._grids(tables)
        rises = [np.diff(objective.to_numpy(), axis=axis) for axis in (0, 1)]
        worst = min(float((rise / objective.to_numpy().max()).min()) for rise in rises)
        return [
            Claim(
                "Both penalties raise the objective wherever they rise (to 1 % of its range).",
                f"largest fall {max(-worst, 0.0):.1e} of the range",
                worst >= -0.01,
            ),
            Claim(
                "A larger sparsity never keeps more features at the same alpha.",
                f"most features kept {int(selected.to_numpy().max())}, fewest "
                f"{int(selected.to_numpy().min())}",
                bool((np.diff(selected.to_numpy(), axis=1) <= 0).all()),
            ),
        ]

    def draw(self, tables):
        figure, axes = new_figure(2, (4.6, 3.8))
        for ax, grid, title in zip(
            axes, self._grids(tables), ("objective", "features"), strict=True
        ):
            mesh = ax.pcolormesh(grid.columns, grid.index, grid.to_numpy(), cmap="Grays_r")
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.set_xlabel("sparsity (lambda_2)")
            ax.set_ylabel("alpha (lambda_1)")
            ax.set_title(title)
            figure.colorbar(mesh, ax=ax)
        return {"penalties": figure}
