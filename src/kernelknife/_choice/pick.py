"""Which setting the folds choose, and the table of everything that they have compared."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernelknife._choice.folds import FoldScores
from kernelknife._choice.settings import EQUAL, Line

ROUNDING = 1e-9
# How far below the best mean score a rule goes for fewer features, in standard errors of it. Within
# a quarter of one the best is luck. On 36 small tables of classes drawn from the choosing half of
# benchmarks/tables.py that left 0.32 of the columns in the median instead of 0.44, at 0.99 times
# the error; half of one cost 1.02 times the error, one 1.05 times.
SLACK = {"min": 0.25, "1se": 1.0}

__all__ = ["Pick", "judged_by_others", "pick_setting", "tabulate"]


@dataclass(frozen=True)
class Pick:
    """The setting that a rule takes.

    Attributes
    ----------
    index : int
        Into the table.
    position, setting : int
        Of the line among all lines, and of the setting on it.
    line : Line
    weighting : str
    point : int
        Of the line's path; 0 for equal weights.
    n_features : float
        Mean number of features in the folds.
    equals : tuple of int
        Points of the path, this one too, whose machines do as well in the folds with as many
        features: the folds cannot tell them apart.
    """

    index: int
    position: int
    setting: int
    line: Line
    weighting: str
    point: int
    n_features: float = 0.0
    equals: tuple[int, ...] = ()

    def moved_to(self, point: int) -> "Pick":
        """Return the setting of the same weights at another point of the path."""
        step = point - self.point
        return replace(self, index=self.index + step, setting=self.setting + step, point=point)

    def weighted_as(self, weighting: str) -> "Pick":
        """Return the setting of other weights at the same point of the path."""
        setting = self.line.setting(weighting, self.point)
        index = self.index + setting - self.setting
        return replace(self, index=index, setting=setting, weighting=weighting)


def tabulate(
    lines: Sequence[Line], scores: Sequence[Sequence[FoldScores]], n_folds: int
) -> dict[str, np.ndarray]:
    """Return one row per setting; a line that was dropped has NaN from then on.

    Parameters
    ----------
    lines : sequence of Line
    scores : sequence of sequence of FoldScores
        By line and fold.
    n_folds : int
    """
    blocks = []
    for line, folds in zip(lines, scores, strict=True):
        by_fold = np.full((n_folds, len(line.settings)), np.nan)
        for i, fold in enumerate(folds):
            by_fold[i] = fold.scores
        seen = by_fold[: len(folds)]
        bits = np.array([fold.selected for fold in folds])
        count = np.bitwise_count(bits).sum(axis=2).mean(axis=0)
        distinct = np.bitwise_count(np.bitwise_or.reduce(bits, axis=0)).sum(axis=1)
        spread = seen.std(axis=0, ddof=1) if len(folds) > 1 else np.full(seen.shape[1], np.nan)
        blocks.append(
            {
                "kernel": np.full(seen.shape[1], line.kernel, dtype=object),
                "alpha": np.full(seen.shape[1], line.alpha),
                "weighting": np.array([weighting for weighting, _ in line.settings], dtype=object),
                "sparsity": np.array([sparsity for _, sparsity in line.settings]),
                "mean_test_score": seen.mean(axis=0),
                "std_test_score": seen.std(axis=0),
                "standard_error": spread / np.sqrt(len(folds)),
                "mean_n_features": count,
                "n_distinct_features": distinct,
                "n_folds": np.full(seen.shape[1], len(folds)),
                **{f"split{i}_test_score": row for i, row in enumerate(by_fold)},
            }
        )
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def pick_setting(
    lines: Sequence[Line], table: dict[str, np.ndarray], n_folds: int
) -> dict[str, Pick]:
    """Return what each rule takes among the settings that have seen all folds."""
    mean = np.where(table["n_folds"] == n_folds, table["mean_test_score"], -np.inf)
    ran = table["n_folds"] == n_folds
    missing = np.isnan(mean)
    if missing.any():
        cells = np.array([table[f"split{i}_test_score"][ran] for i in range(n_folds)])
        warnings.warn(
            f"{np.isnan(cells).sum()} of {cells.size} scores are NaN; settings with one are "
            "not chosen. Look at cv_results_, and consider another scoring or cv.",
            stacklevel=5,
        )
        if missing[ran].all():
            raise ValueError(
                "Every setting has a NaN score in some fold, so none can be chosen: use another "
                "scoring, or a cv whose folds hold every class."
            )
    mean = np.where(missing, -np.inf, mean)
    scores = np.array([table[f"split{i}_test_score"] for i in range(n_folds)])
    mean = np.where(_beaten_by_fewer(scores, mean, _keeps_all(table)), -np.inf, mean)
    best = mean.max()
    # Of several best settings the one with the smallest spread sets the bar.
    error = np.min(table["standard_error"][mean >= best]) if n_folds > 1 else 0.0
    # Fewest features first, then the better score, then the larger penalty. What counts is how many
    # features the folds name together: a short list that is another one in every fold is luck.
    keys = (-table["sparsity"], -mean, table["n_distinct_features"])
    return {
        rule: _with_equals(
            _describe(lines, int(np.lexsort((*keys, ~_reaches(mean, best - slack * error)))[0])),
            table,
            mean,
        )
        for rule, slack in SLACK.items()
    }


def _reaches(mean: np.ndarray, bar: float) -> np.ndarray:
    """Return which means reach a bar, up to rounding: sums of other rows in other orders differ."""
    return mean >= bar - ROUNDING * abs(bar)


def _keeps_all(table: dict[str, np.ndarray]) -> np.ndarray:
    """Return which settings keep every feature in every fold, where that is a setting at all."""
    count, equal = table["mean_n_features"], table["weighting"] == EQUAL
    return count >= count[equal].max() if equal.any() else equal


def _beaten_by_fewer(scores: np.ndarray, mean: np.ndarray, keeps_all: np.ndarray) -> np.ndarray:
    """Return which machines of all features do not clearly beat the best one that selects some.

    Who asks for a selection takes all features only where these do better by more than one standard
    error of the difference.
    """
    fewer = np.where(keeps_all, -np.inf, mean)
    if not keeps_all.any() or not np.isfinite(fewer).any():
        return np.zeros(len(mean), dtype=bool)
    gains = scores - scores[:, [int(np.argmax(fewer))]]
    error = gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
    return keeps_all & ~(gains.mean(axis=0) > error)


def judged_by_others(
    table: dict[str, np.ndarray], splits: Sequence[tuple[np.ndarray, np.ndarray]], rule: str
) -> np.ndarray:
    """Return for every fold its score of the setting that other folds choose.

    The best mean over folds is partly luck, the more so the more settings are compared. What a fold
    says of a setting that was chosen without it is free of that luck. Only folds without a test row
    in common choose for each other, so that repeated folds are taken repeat by repeat. They choose
    among everything that they and the fold have seen, also what a first look has ruled out: which
    lines it left was luck, too.

    Parameters
    ----------
    table : dict of ndarray
        Of :func:`tabulate`.
    splits : sequence of (ndarray, ndarray)
    rule : {"min", "1se"}
    """
    n_folds = len(splits)
    scores = np.array([table[f"split{i}_test_score"] for i in range(n_folds)])
    judged = np.empty(n_folds)
    for i in range(n_folds):
        mine = splits[i][1]
        others = [j for j in range(n_folds) if j != i and not np.isin(splits[j][1], mine).any()]
        others = others or [j for j in range(n_folds) if j != i]
        known = np.flatnonzero(np.isfinite(scores[[i, *others]]).all(axis=0))
        # Lines that were ruled out have fewer folds, which together name fewer features.
        seen, count = scores[others][:, known], table["mean_n_features"][known]
        mean = seen.mean(axis=0)
        if len(seen) > 1:
            beaten = _beaten_by_fewer(seen, mean, _keeps_all(table)[known])
            mean = np.where(beaten, -np.inf, mean)
        bar = mean.max(initial=-np.inf)
        if len(seen) > 1:
            bar -= SLACK[rule] * seen[:, int(np.argmax(mean))].std(ddof=1) / np.sqrt(len(seen))
        order = np.lexsort((-mean, count, ~_reaches(mean, bar)))
        judged[i] = scores[i, known[order[0]]] if len(known) else np.nan
    return judged


def _with_equals(pick: Pick, table: dict[str, np.ndarray], mean: np.ndarray) -> Pick:
    """Return the pick with the points of its path that the folds cannot tell from it."""
    alike_in = [mean, table["mean_n_features"], table["n_distinct_features"]]
    block = range(pick.index - pick.point, pick.index - pick.point + len(pick.line.penalties))
    if pick.weighting == EQUAL:
        block = range(pick.index, pick.index + 1)
    alike = [
        i - block.start
        for i in block
        if all(abs(v[i] - v[pick.index]) <= ROUNDING * abs(v[pick.index]) for v in alike_in)
    ]
    count = float(table["mean_n_features"][pick.index])
    return replace(pick, n_features=count, equals=tuple(alike))


def _describe(lines: Sequence[Line], index: int) -> Pick:
    """Return which line, kind of weights and point a row of the table stands for."""
    within = index
    for position, line in enumerate(lines):
        settings = line.settings
        if within < len(settings):
            weighting = settings[within][0]
            point = 0 if weighting == EQUAL else line.point(within)
            return Pick(index, position, within, line, weighting, point)
        within -= len(settings)
    raise IndexError(index)
