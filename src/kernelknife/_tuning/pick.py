"""Which setting the folds choose, and the table of everything that they have compared."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernelknife._tuning.judgments import Judgments
from kernelknife._tuning.settings import EQUAL, Line

# How far below the best mean score a rule goes for fewer features, in standard errors of it. Within
# a quarter of one the best is luck. On 36 small tables of classes drawn from the choosing half of
# benchmarks/tables.py that left 0.32 of the columns in the median instead of 0.44, at 0.99 times
# the error; half of one cost 1.02 times the error, one 1.05 times.
SLACK = {"min": 0.25, "1se": 1.0}

__all__ = ["Pick", "judged_by_others", "pick_setting", "settle_point", "tabulate"]


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
        Points of the path, this one too, whose models do as well in the folds with as many
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


def tabulate(lines: Sequence[Line], judgments: Judgments) -> dict[str, np.ndarray]:
    """Return one row per setting; a line that was dropped has NaN from then on.

    Parameters
    ----------
    lines : sequence of Line
    judgments : Judgments
        Of all settings of these lines, in their order.
    """
    blocks, first = [], 0
    for line in lines:
        mine = np.arange(first, first + len(line.settings))
        first += len(mine)
        n_folds = int(judgments.n_seen[mine[0]])
        seen = judgments.of(range(n_folds), mine)
        blocks.append(
            {
                "kernel": np.full(len(mine), line.kernel, dtype=object),
                "alpha": np.full(len(mine), line.alpha),
                "weighting": np.array([weighting for weighting, _ in line.settings], dtype=object),
                "sparsity": seen.sparsity,
                "mean_test_score": seen.scores.mean(axis=0),
                "std_test_score": seen.scores.std(axis=0),
                "standard_error": seen.standard_error,
                "mean_n_features": seen.mean_n_features,
                "n_distinct_features": seen.n_distinct_features,
                "n_folds": seen.n_seen,
                "n_training_rows": seen.n_training_rows,
                "followed": seen.followed,
            }
        )
    table = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
    return table | {f"split{i}_test_score": row for i, row in enumerate(judgments.scores)}


def pick_setting(lines: Sequence[Line], judgments: Judgments) -> dict[str, Pick]:
    """Return what each rule takes among the settings of lines that were followed to the end."""
    n_folds = len(judgments.scores)
    ran = np.flatnonzero(judgments.followed)
    cells = judgments.scores[:, ran]
    missing = np.isnan(cells)
    if missing.any():
        warnings.warn(
            f"{missing.sum()} of {missing.size} scores are NaN; settings with one are "
            "not chosen. Look at cv_results_, and consider another scoring or cv.",
            stacklevel=5,
        )
    known = ran[~missing.any(axis=0)]
    if not len(known):
        raise ValueError(
            "Every setting has a NaN score in some fold, so none can be chosen: use another "
            "scoring, or a cv whose folds hold every class."
        )
    seen = judgments.of(range(n_folds), known)
    picks = {}
    for rule, slack in SLACK.items():
        setting = seen.choose(slack)
        pick = _describe(lines, int(known[setting]))
        equals = known[seen.equals(setting)] - pick.index + pick.point
        count = float(seen.mean_n_features[setting])
        picks[rule] = replace(pick, n_features=count, equals=tuple(map(int, equals)))
    return picks


def settle_point(equals: Sequence[int], counts: Sequence[int], expected: float) -> int:
    """Return the point of a path that stands for the points that folds have chosen.

    Models that are refitted without a penalty do not change as long as the selection does not, so
    that many penalties may be equal in all folds. On the rows of this path they need not be: there,
    the largest of them may have lost features that all folds have, or all. So the penalty counts
    whose path has most nearly as many features as the folds have in the mean; of several, the
    largest. Where no feature is left at it although most folds have some, the last point that has
    features takes its place.

    Parameters
    ----------
    equals : sequence of int
        The chosen point and those that the folds cannot tell from it, by increasing penalty.
    counts : sequence of int
        Number of features at every point of this path.
    expected : float
        Mean number of features in the folds that have chosen.
    """
    # Reversed, so that of equal distances the one of the largest penalty counts.
    point = min(reversed(equals), key=lambda i: abs(counts[i] - expected))
    if not counts[point] and expected >= 0.5:
        # No feature is left where most folds have some: the last one has just gone.
        point = max((i for i in range(point) if counts[i]), default=point)
    return point


def judged_by_others(
    judgments: Judgments, splits: Sequence[tuple[np.ndarray, np.ndarray]], rule: str
) -> np.ndarray:
    """Return for every fold its score of the setting that other folds choose.

    The best mean over folds is partly luck, the more so the more settings are compared. What a fold
    says of a setting that was chosen without it is free of that luck. Only folds without a test row
    in common choose for each other, so that repeated folds are taken repeat by repeat. They choose
    among everything that they and the fold have seen, also what a first look has ruled out: which
    lines it left was luck, too.

    Parameters
    ----------
    judgments : Judgments
    splits : sequence of (ndarray, ndarray)
    rule : {"min", "1se"}
    """
    n_folds = len(splits)
    judged, counts = np.full(n_folds, np.nan), judgments.n_features
    for i in range(n_folds):
        mine = splits[i][1]
        others = [j for j in range(n_folds) if j != i and not np.isin(splits[j][1], mine).any()]
        others = others or [j for j in range(n_folds) if j != i]
        known = np.flatnonzero(np.isfinite(judgments.scores[[i, *others]]).all(axis=0))
        if len(known):
            seen = judgments.of(others, known)
            setting = seen.choose(SLACK[rule])
            # The training rows of the fold are to the others what all rows are to all folds.
            path = np.flatnonzero(judgments.path == judgments.path[known[setting]])
            equals = np.searchsorted(path, known[seen.equals(setting)])
            expected = seen.mean_n_features[setting]
            point = settle_point(equals.tolist(), counts[i, path].tolist(), expected)
            judged[i] = judgments.scores[i, path[point]]
    return judged


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
