"""Curves of a cross-validation and of paths: which there are, and where they stand on axes."""

from dataclasses import dataclass

import numpy as np

from kernelknife._tuning.candidates import EQUAL, PENALIZED

__all__ = [
    "Curve",
    "as_errors",
    "best_by_count",
    "curve_points",
    "cv_curves",
    "fewest_within_error",
    "log_positions",
    "rows_of_path",
    "spread_labels",
]


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


def curve_points(results: dict[str, np.ndarray], chosen: int, errors: np.ndarray) -> list[dict]:
    """Return the points of the curves as plain data, with errors for the scores of ``results``.

    Parameters
    ----------
    results, chosen : as in cv_curves
    errors : ndarray
        One per row of the results.
    """
    curves = []
    for curve in cv_curves(results, chosen):
        known = curve.rows[np.isfinite(errors[curve.rows])]
        one = {"label": curve.label, "chosen": bool(curve.chosen), "error": errors[known].tolist()}
        one |= {key: results[key][known].tolist() for key in ("sparsity", "standard_error")}
        if len(known):
            curves.append(one)
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
    if name.replace(" ", "_") == "partial_likelihood":
        return "partial likelihood lost per row", -scores
    if name == "accuracy":
        return "misclassification error", 1.0 - scores
    if name == "balanced_accuracy":
        return "balanced error", 1.0 - scores
    return name, scores


def best_by_count(counts, errors) -> dict[int, int]:
    """Return for every number of features the index of the point with the least error.

    Parameters
    ----------
    counts : ndarray of int of shape (n_points,)
        Number of features at every point of a path.
    errors : ndarray of shape (n_points,)

    Returns
    -------
    dict
        From a number of features to an index, in the order of the numbers.
    """
    best: dict[int, int] = {}
    for i, (count, error) in enumerate(zip(map(int, counts), errors, strict=True)):
        if np.isfinite(error) and (count not in best or error < errors[best[count]]):
            best[count] = i
    return dict(sorted(best.items()))


def fewest_within_error(errors, spread) -> int:
    """Return the first index whose error is within one standard error of the least.

    Parameters
    ----------
    errors, spread : ndarray
        Mean errors and their standard errors, in the order of the number of features.
    """
    least = int(np.nanargmin(errors))
    return int(np.flatnonzero(errors <= errors[least] + spread[least])[0])


def spread_labels(heights, gap):
    """Return positions near ``heights``, in the same order, at least ``gap`` apart.

    Heights and positions are shares of the height of the axes. Labels that would reach above 1
    push those below them down.
    """
    order = np.argsort(heights, kind="stable")
    placed = np.array(heights, dtype=float)[order]
    for i in range(1, len(placed)):
        placed[i] = max(placed[i], placed[i - 1] + gap)
    excess = placed[-1] - 1.0 if len(placed) else 0.0
    if excess > 0:
        placed -= excess
        for i in range(len(placed) - 2, -1, -1):
            placed[i] = min(placed[i], placed[i + 1] - gap)
    result = np.empty_like(placed)
    result[order] = placed
    return result


def log_positions(sparsities):
    """Return positions of penalties on a logarithmic axis.

    A logarithm has no place for a penalty of zero: it is put one step to the left of the smallest
    positive penalty.
    """
    x = np.array(sparsities, dtype=float)
    positive = np.unique(x[x > 0])
    if not len(positive):
        return np.ones_like(x)
    step = positive[1] / positive[0] if len(positive) > 1 else 2.0
    x[x == 0] = positive[0] / max(step, 1.5)
    return x
