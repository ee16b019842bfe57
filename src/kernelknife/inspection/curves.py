"""Curves of a cross-validation: one per kernel, or one per alpha of a single kernel."""

from dataclasses import dataclass

import numpy as np

from kernelknife._tuning.candidates import EQUAL, PENALIZED

__all__ = ["Curve", "as_errors", "cv_curves", "rows_of_path"]


@dataclass(frozen=True)
class Curve:
    """Candidates of one kernel and alpha that differ in their penalty alone.

    Attributes
    ----------
    label : str
        Name for a legend.
    rows : ndarray of int
        Into ``cv_results_``, by increasing penalty.
    chosen : bool
        Whether the selected candidate is one of them.
    """

    label: str
    rows: np.ndarray
    chosen: bool


def rows_of_path(results: dict[str, np.ndarray], chosen: int) -> np.ndarray:
    """Return the rows that differ from the selected candidate in their penalty alone."""
    return _rows(results, results["kernel"][chosen], results["alpha"][chosen], chosen)


def cv_curves(results: dict[str, np.ndarray], chosen: int) -> list[Curve]:
    """Return the curves to draw.

    With several kernels there is one curve for each: that of its best alpha, and of the selected
    kernel that of the selected alpha. A single kernel has a curve for every alpha.

    Parameters
    ----------
    results : dict of ndarray
        ``cv_results_`` of a cross-validated estimator.
    chosen : int
        Index of the selected candidate.
    """
    kernels = list(dict.fromkeys(results["kernel"]))
    curves = []
    for kernel in kernels:
        mine = results["kernel"] == kernel
        alphas = np.unique(results["alpha"][mine])
        is_chosen = kernel == results["kernel"][chosen]
        if len(kernels) > 1:
            score = np.where(mine, np.nan_to_num(results["mean_test_score"], nan=-np.inf), -np.inf)
            # Candidates that were followed to the end are compared on more folds than the others.
            followed = mine & results["followed"]
            known = followed if followed.any() else mine
            best = int(np.argmax(np.where(known, score, -np.inf)))
            alphas = results["alpha"][[chosen if is_chosen else best]]
        for alpha in alphas:
            here = is_chosen and alpha == results["alpha"][chosen]
            label = f"alpha = {alpha:g}" if len(kernels) == 1 else f"{kernel}, alpha {alpha:g}"
            rows = _rows(results, kernel, alpha, chosen if here else None)
            curves.append(Curve(label, rows, here))
    return curves


def _rows(
    results: dict[str, np.ndarray], kernel: str, alpha: float, chosen: int | None = None
) -> np.ndarray:
    """Return the rows of a kernel and an alpha, with the weighting of the selected candidate."""
    line = (results["kernel"] == kernel) & (results["alpha"] == alpha)
    kinds = list(dict.fromkeys(results["weighting"][line]))
    wanted = PENALIZED if chosen is None else results["weighting"][chosen]
    if wanted == EQUAL or wanted not in kinds:
        wanted = next(kind for kind in kinds if kind != EQUAL)
    return np.flatnonzero(line & (results["weighting"] == wanted))


def as_errors(name: str, scores: np.ndarray) -> tuple[str, np.ndarray]:
    """Return a readable name and the scores, as errors where the name says how to convert them."""
    if name.startswith("neg_"):
        return name.removeprefix("neg_").replace("_", " "), -scores
    if name == "partial_likelihood":
        return "partial likelihood lost per row", -scores
    if name == "accuracy":
        return "misclassification error", 1.0 - scores
    if name == "balanced_accuracy":
        return "balanced error", 1.0 - scores
    return name, scores
