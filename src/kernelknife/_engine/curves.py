"""A linear or additive model as what it is to its user: a constant and a curve per column."""

from dataclasses import dataclass

import numpy as np

from kernelknife._engine.model import Model

__all__ = ["SumOfCurves", "sum_of_curves"]


@dataclass(frozen=True, eq=False)
class SumOfCurves:
    """A model whose prediction is a constant and one curve per selected column.

    Attributes
    ----------
    constant : float
    columns : ndarray of int
        The user's number of every selected column.
    positions, values : list of ndarray
        By column: values of the column, and what it adds to the prediction there; straight lines
        lie between them.
    linear : bool
        Whether the curves are lines, given by two points each, that go on beyond these.
    logarithm : bool
        Whether the sum is the logarithm of the prediction.
    """

    constant: float
    columns: np.ndarray
    positions: list[np.ndarray]
    values: list[np.ndarray]
    linear: bool
    logarithm: bool


def sum_of_curves(model: Model) -> SumOfCurves | None:
    """Return the curves of a model, None where it is no sum of them, or has several outputs.

    Nor has a model with a link other than the logarithm.
    """
    kernel, columns = model.kernel, model.columns
    sums = kernel.form == "dot" and kernel.identity and kernel.order <= 1
    if not sums or model.coef.shape[1] != 1 or model.adjusted is not None:
        return None
    link = model.targets.loss
    if link is not None and not link.has_log_link:
        return None
    # Scores are phi' beta: a linear kernel needs no support vectors to predict.
    beta = model.v * (model.vectors.T @ model.coef[:, 0])
    scale, center = float(model.targets.scale[0]), float(model.targets.center[0])
    positions, values = [], []
    sources = columns.sources
    for j in range(len(columns.index)):
        if columns.basis is None:
            at, added = np.array([0.0, 1.0]), np.array([0.0, beta[j]])
        else:
            curve = columns.basis.curve(j)
            at, added = curve.positions, curve.table @ beta[sources == j]
        positions.append(columns.center[j] + columns.scale[j] * at)
        values.append(scale * added)
    constant = center + scale * float(model.intercept[0])
    lines, logarithm = columns.basis is None, link is not None
    return SumOfCurves(constant, columns.index, positions, values, lines, logarithm)
