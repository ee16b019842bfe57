"""Holding rows out: they are used neither to fit nor to select, only to judge the selection."""

import numpy as np

from kernelknife.app.tables import Table, TableError

__all__ = ["FEWEST_ROWS", "split_held_out"]

# A standard error over folds needs five folds of two rows each.
FEWEST_ROWS = 10


def split_held_out(
    table: Table, share: float | str, random_state: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the training rows and of the rows to hold out.

    Where a column of the table marks the rows to hold out, these are taken. Otherwise groups of
    rows are held out as a whole, and without groups the same share of every class.

    Parameters
    ----------
    table : Table
    share : float or str
        Share of the rows, or of the groups, to hold out; a text names the column that the table
        has read already.
    random_state : int
    """
    n = len(table.target)
    if table.held_out is not None:
        return _check_split(table, table.held_out, "Holding out the rows that the column marks")
    share = float(share)
    if not 0.0 <= share < 1.0:
        raise TableError(f"The share to hold out must lie between 0 and 1, got {share:g}.")
    if share == 0.0:
        return np.arange(n), np.arange(0)
    rng = np.random.default_rng(random_state)
    draw = _draw_rows if table.groups is None else _draw_groups
    held = draw(table, share, rng)
    return _check_split(table, held, f"Holding out {share:g} of {n} rows")


def _check_split(table, held, what):
    """Return the indices of both kinds of rows, if there are enough of each."""
    if (~held).sum() < FEWEST_ROWS or not held.any():
        raise TableError(
            f"{what} leaves too few: {FEWEST_ROWS} rows are needed to select columns, and one to "
            "judge the selection."
        )
    if table.task == "classification":
        lost = np.setdiff1d(table.target, table.target[~held])
        if len(lost):
            raise TableError(f"{what} leaves no row of class {lost[0]!r} to learn from.")
    if table.groups is not None:
        split = np.intersect1d(table.groups[held], table.groups[~held])
        if len(split):
            raise TableError(f"{what} splits the group {split[0]!r}: hold out whole groups.")
    return np.flatnonzero(~held), np.flatnonzero(held)


def _draw_groups(table, share, rng):
    """Return which rows to hold out, as whole groups."""
    groups = np.unique(table.groups)
    drawn = rng.choice(groups, max(1, round(share * len(groups))), replace=False)
    return np.isin(table.groups, drawn)


def _draw_rows(table, share, rng):
    """Return which rows to hold out, the same share of every class."""
    held = np.zeros(len(table.target), dtype=bool)
    strata = table.target if table.task == "classification" else np.zeros(len(held))
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        held[rng.choice(rows, round(share * len(rows)), replace=False)] = True
    return held
