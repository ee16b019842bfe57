"""Feature paths as rows of a table, and figures drawn from such rows."""

from matplotlib import pyplot

from kernelknife.inspection.displays import WeightPathDisplay

__all__ = ["draw_paths", "new_figure", "path_rows"]


def new_figure(columns=1, size=(4.6, 3.6)):
    """Return a figure with some axes side by side, and the list of these axes."""
    figure, axes = pyplot.subplots(
        1, columns, figsize=(size[0] * columns, size[1]), layout="constrained", squeeze=False
    )
    for ax in axes[0]:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, list(axes[0])


def path_rows(path, **labels):
    """Return one row per point and feature of a path; ``labels`` become columns of every row."""
    return [
        {
            **labels,
            "point": i,
            "sparsity": float(path.sparsities[i]),
            "feature": str(name),
            "weight": float(weight),
        }
        for i in range(len(path))
        for name, weight in zip(path.feature_names, path.weights[i], strict=True)
    ]


def draw_paths(frame, column, titles):
    """Draw paths side by side, one for each value of a column.

    Parameters
    ----------
    frame : DataFrame
        Rows of :func:`path_rows`.
    column : str
        The column that has another value for every path.
    titles : dict of str
        Title of every panel by value of the column, in the order of the panels.
    """
    figure, axes = new_figure(len(titles), (5.2, 3.8))
    for ax, (value, title) in zip(axes, titles.items(), strict=True):
        draw_path(frame[frame[column] == value], ax)
        ax.set_title(title)
    return figure


def draw_path(frame, ax, sparsity=None):
    """Draw one path from its rows, with a chosen penalty marked."""
    weights = frame.pivot(index="point", columns="feature", values="weight")
    names = list(dict.fromkeys(frame["feature"]))
    sparsities = frame.groupby("point")["sparsity"].first().to_numpy()
    WeightPathDisplay(sparsities, weights[names].to_numpy(), names, sparsity=sparsity).plot(ax=ax)
