"""What the folds say of every setting, and which setting they take."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernelknife._tuning.folds import FoldScores
from kernelknife._tuning.settings import EQUAL, Line

__all__ = ["Judgments"]

ROUNDING = 1e-9  # share of a mean score: sums of other rows in other orders differ by as much


@dataclass(frozen=True)
class Judgments:
    """Scores and selected features of every setting, by fold.

    Attributes
    ----------
    scores : ndarray of shape (n_folds, n_settings)
        NaN where a fold has not seen a setting, because a first look has ruled it out.
    selected : ndarray of shape (n_folds, n_settings, n_bytes)
        Which features a setting selects in a fold, packed to bits.
    sparsity : ndarray of shape (n_settings,)
    equal : ndarray of bool of shape (n_settings,)
        Settings that give all features the same weight.
    path : ndarray of int of shape (n_settings,)
        Number of the path that a setting is a point of: settings of one number differ in their
        penalty alone, and stand in its order.
    n_seen : ndarray of int of shape (n_settings,)
        Number of folds that have seen a setting, the first ones. Some scorings are NaN, too, so
        that the scores do not tell.
    n_training_rows : ndarray of int of shape (n_settings,)
        Rows that the models of the first fold were fitted to.
    followed : ndarray of bool of shape (n_settings,)
        Settings of lines that were followed to the end. The folds of a first look may be all folds,
        so that their number does not tell.
    """

    scores: np.ndarray
    selected: np.ndarray
    sparsity: np.ndarray
    equal: np.ndarray
    path: np.ndarray
    n_seen: np.ndarray
    n_training_rows: np.ndarray
    followed: np.ndarray

    @classmethod
    def gathered(
        cls,
        lines: Sequence[Line],
        scores: Sequence[Sequence[FoldScores]],
        n_folds: int,
        followed: Sequence[int],
    ) -> "Judgments":
        """Gather the scores of all lines, given by line and fold.

        Parameters
        ----------
        lines : sequence of Line
        scores : sequence of sequence of FoldScores
            By line and fold.
        n_folds : int
        followed : sequence of int
            The lines that were followed to the end.
        """
        sizes = [len(line.settings) for line in lines]
        shape = (n_folds, sum(sizes))
        by_fold = np.full(shape, np.nan)
        selected = np.zeros((*shape, scores[0][0].selected.shape[1]), dtype=np.uint8)
        first = 0
        for size, folds in zip(sizes, scores, strict=True):
            for i, fold in enumerate(folds):
                by_fold[i, first : first + size] = fold.scores
                selected[i, first : first + size] = fold.selected
            first += size
        settings = [(i, *setting) for i, line in enumerate(lines) for setting in line.settings]
        paths = {key: i for i, key in enumerate(dict.fromkeys(key[:2] for key in settings))}
        return cls(
            by_fold,
            selected,
            np.array([sparsity for *_, sparsity in settings]),
            np.array([weighting == EQUAL for _, weighting, _ in settings]),
            np.array([paths[key[:2]] for key in settings]),
            np.repeat([len(folds) for folds in scores], sizes),
            np.repeat([folds[0].n_training_rows for folds in scores], sizes),
            np.repeat(np.isin(np.arange(len(lines)), followed), sizes),
        )

    def of(self, folds: Sequence[int], settings: np.ndarray) -> "Judgments":
        """Return what some folds say of some settings that they have all seen."""
        cells = np.ix_(np.asarray(folds), settings)
        return Judgments(
            self.scores[cells],
            self.selected[cells],
            self.sparsity[settings],
            self.equal[settings],
            self.path[settings],
            np.full(len(settings), len(folds)),
            self.n_training_rows[settings],
            self.followed[settings],
        )

    @property
    def n_features(self) -> np.ndarray:
        """Number of features that a fold selects, by fold and setting."""
        return np.bitwise_count(self.selected).sum(axis=2)

    @property
    def mean_n_features(self) -> np.ndarray:
        """Mean number of features that a fold selects, by setting."""
        return self.n_features.mean(axis=0)

    @property
    def n_distinct_features(self) -> np.ndarray:
        """Number of features that all folds select together, by setting."""
        return np.bitwise_count(np.bitwise_or.reduce(self.selected, axis=0)).sum(axis=1)

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the mean score, by setting; NaN for a single fold."""
        n_folds = len(self.scores)
        if n_folds < 2:
            return np.full(self.scores.shape[1], np.nan)
        return self.scores.std(axis=0, ddof=1) / np.sqrt(n_folds)

    def choose(self, slack: float) -> int:
        """Return the setting of the fewest features among those about as good as the best.

        All folds must have seen all settings.

        Parameters
        ----------
        slack : float
            How far below the best mean score a setting is about as good, in standard errors.
        """
        mean = np.where(self._beaten_by_fewer(), -np.inf, self.scores.mean(axis=0))
        best = mean.max()
        # Of several best settings the one with the smallest spread sets the bar.
        error = np.min(self.standard_error[mean >= best]) if len(self.scores) > 1 else 0.0
        bar = best - slack * error
        good = mean >= bar - ROUNDING * abs(bar)
        # Fewest features first, then the better score, then the larger penalty. What counts is how
        # many features the folds name together: a short list that is another one in every fold is
        # luck.
        return int(np.lexsort((-self.sparsity, -mean, self.n_distinct_features, ~good))[0])

    def equals(self, setting: int) -> np.ndarray:
        """Return a setting and those of its path that the folds cannot tell from it."""
        alike = self.path == self.path[setting]
        for values in (self.scores.mean(axis=0), self.mean_n_features, self.n_distinct_features):
            alike &= np.abs(values - values[setting]) <= ROUNDING * abs(values[setting])
        return np.flatnonzero(alike)

    def _beaten_by_fewer(self) -> np.ndarray:
        """Return which models of all features do not clearly beat the best one that selects some.

        Who asks for a selection takes all features only where these do better by more than one
        standard error of the difference.
        """
        count, mean = self.mean_n_features, self.scores.mean(axis=0)
        keeps_all = count >= count[self.equal].max() if self.equal.any() else self.equal
        fewer = np.where(keeps_all, -np.inf, mean)
        if len(self.scores) < 2 or not keeps_all.any() or not np.isfinite(fewer).any():
            return np.zeros(len(mean), dtype=bool)
        gains = self.scores - self.scores[:, [int(np.argmax(fewer))]]
        error = gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
        return keeps_all & ~(gains.mean(axis=0) > error)
