"""Cross-validation scores of all candidates, and the rule that selects one of them.

The rule takes the fewest features among the candidates that are about as good as the best.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelknife._tuning.candidates import EQUAL, Candidate, CandidatePath
from kernelknife._tuning.folds import FoldScores
from kernelknife._utils.arrays import spread
from kernelknife._utils.messages import warn

__all__ = [
    "ScoreTable",
    "Selected",
    "folds_that_judge",
    "nested_scores",
    "select_candidates",
    "settle_penalty",
]

# How far below the best mean score a rule goes for fewer features, in standard errors of it. Within
# a quarter of one the best is chance. On 36 small tables of classes drawn from the choosing half of
# benchmarks/tables.py that left 0.32 of the columns in the median instead of 0.44, at 0.99 times
# the error; half of one cost 1.02 times the error, one 1.05 times.
SLACK = {"min": 0.25, "1se": 1.0}
# How far all features must be ahead of a selection where rows are few and classes several, both
# taken from what other folds select. On 13 draws of simulated expressions, digits and vehicle none
# had 1.03 times the error of a linear SVM in the mean with all features in most draws, half of one
# 1.04 with 0.7 of them, and the comparison with the best mean 1.08 with 0.45.
HELD_OUT_GAIN = 0.5
ROUNDING = 1e-9  # share of a mean score: sums of other rows in other orders differ by as much


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores and selected features of every candidate, by fold.

    Attributes
    ----------
    candidates : tuple of Candidate
        The columns of ``scores``.
    scores : ndarray of shape (n_folds, n_candidates)
        NaN where a fold has not seen a candidate, because a screening round has ruled it out.
    selected : ndarray of shape (n_folds, n_candidates, n_bytes)
        Which features a candidate selects in a fold, packed to bits.
    n_seen : ndarray of int of shape (n_candidates,)
        Number of folds that have seen a candidate, the first ones. Some scorings are NaN, too, so
        that the scores do not show it.
    n_training_rows : ndarray of int of shape (n_candidates,)
        Rows that the models of the first fold were fitted to.
    finalist : ndarray of bool of shape (n_candidates,)
        Candidates on paths that were followed to the end. The folds of a screening round may be all
        folds, so that their number does not show it.
    judges : ndarray of bool of shape (n_folds, n_folds) or None
        Where rows are so few that the best of many candidates is chance: which folds select for
        which, because they have no test row in common.
    """

    candidates: tuple[Candidate, ...]
    scores: np.ndarray
    selected: np.ndarray
    n_seen: np.ndarray
    n_training_rows: np.ndarray
    finalist: np.ndarray
    judges: np.ndarray | None = None

    @classmethod
    def gathered(
        cls,
        paths: Sequence[CandidatePath],
        scores: Sequence[Sequence[FoldScores]],
        n_folds: int,
        finalists: Iterable[int],
    ) -> "ScoreTable":
        """Gather the scores of all paths, given by path and fold."""
        sizes = [len(path.candidates) for path in paths]
        shape = (n_folds, sum(sizes))
        by_fold = np.full(shape, np.nan)
        selected = np.zeros((*shape, scores[0][0].selected.shape[1]), dtype=np.uint8)
        ends = np.cumsum(sizes)
        for size, end, folds in zip(sizes, ends, scores, strict=True):
            for i, fold in enumerate(folds):
                by_fold[i, end - size : end] = fold.scores
                selected[i, end - size : end] = fold.selected
        return cls(
            tuple(candidate for path in paths for candidate in path.candidates),
            by_fold,
            selected,
            np.repeat([len(folds) for folds in scores], sizes),
            np.repeat([folds[0].n_training_rows for folds in scores], sizes),
            np.repeat(np.isin(np.arange(len(paths)), list(finalists)), sizes),
        )

    @classmethod
    def of_scores(cls, scores: np.ndarray) -> "ScoreTable":
        """Return the table of models that differ in nothing but their scores, by fold."""
        n_folds, n_models = scores.shape
        return cls(
            tuple(Candidate("", float(i), "", 0.0) for i in range(n_models)),
            scores,
            np.zeros((n_folds, n_models, 1), dtype=np.uint8),
            np.full(n_models, n_folds),
            np.zeros(n_models, dtype=int),
            np.ones(n_models, dtype=bool),
        )

    def restricted(self, folds: Sequence[int], kept: np.ndarray) -> "ScoreTable":
        """Return what some folds have found of some candidates, which they have all seen."""
        cells = np.ix_(np.asarray(folds), kept)
        return ScoreTable(
            tuple(self.candidates[i] for i in kept),
            self.scores[cells],
            self.selected[cells],
            np.full(len(kept), len(folds)),
            self.n_training_rows[kept],
            self.finalist[kept],
            None if self.judges is None else self.judges[np.ix_(folds, folds)],
        )

    def row(self, candidate: Candidate) -> int:
        """Return which column of the scores is that of a candidate."""
        return self.candidates.index(candidate)

    @property
    def n_features(self) -> np.ndarray:
        """Number of features that a fold selects, by fold and candidate."""
        return np.asarray(np.bitwise_count(self.selected).sum(axis=2))

    @property
    def n_distinct_features(self) -> np.ndarray:
        """Number of features that all folds select together, by candidate."""
        together = np.bitwise_or.reduce(self.selected, axis=0)
        return np.asarray(np.bitwise_count(together).sum(axis=1))

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the mean score, by candidate; NaN for a single fold."""
        n_folds = len(self.scores)
        if n_folds < 2:
            return np.full(self.scores.shape[1], np.nan)
        return np.asarray(spread(self.scores) / np.sqrt(n_folds))

    def choose(self, slack: float) -> "Selected":
        """Return the candidate with the fewest features among those about as good as the best.

        All folds must have seen all candidates.

        Parameters
        ----------
        slack : float
            How far below the best mean score a candidate is about as good, in standard errors.
        """
        mean = np.where(self._ruled_out(), -np.inf, self.scores.mean(axis=0))
        best = mean.max()
        # Of several best candidates the one with the smallest spread sets the bar.
        error = np.min(self.standard_error[mean >= best]) if len(self.scores) > 1 else 0.0
        bar = best - slack * error
        good = mean >= bar - ROUNDING * abs(bar)
        # Fewest features first, then the better score, then the larger penalty. What counts is how
        # many features the folds select together: a short list that is another one in every fold
        # is chance.
        penalty = np.array([candidate.sparsity for candidate in self.candidates])
        i = int(np.lexsort((-penalty, -mean, self.n_distinct_features, ~good))[0])
        alike = np.array([other.curve == self.candidates[i].curve for other in self.candidates])
        n_features = self.n_features.mean(axis=0)
        for values in (self.scores.mean(axis=0), n_features, self.n_distinct_features):
            alike &= np.abs(values - values[i]) <= ROUNDING * abs(values[i])
        ties = tuple(self.candidates[j] for j in np.flatnonzero(alike))
        return Selected(self.candidates[i], ties, float(n_features[i]))

    def _ruled_out(self) -> np.ndarray:
        """Return either the models of all features or, where these are ahead, those of fewer.

        Who asks for a selection takes all features only where these do better by more than one
        standard error of the difference. Then they take part beside the others. Where rows are few
        the best of many selections is chance, so that what other folds select is compared, and
        whichever is behind is ruled out.
        """
        count, mean = self.n_features.mean(axis=0), self.scores.mean(axis=0)
        equal = np.array([candidate.weighting == EQUAL for candidate in self.candidates])
        keeps_all = count >= count[equal].max() if equal.any() else equal
        fewer = np.where(keeps_all, -np.inf, mean)
        if len(self.scores) < 2 or not keeps_all.any() or not np.isfinite(fewer).any():
            return np.zeros(len(mean), dtype=bool)
        if self.judges is not None:
            gains = self._held_out(keeps_all) - self._held_out(~keeps_all)
            error = gains.std(ddof=1) / np.sqrt(len(gains))
            return keeps_all ^ bool(gains.mean() > HELD_OUT_GAIN * error)
        gains = self.scores - self.scores[:, [int(np.argmax(fewer))]]
        error = spread(gains) / np.sqrt(len(gains))
        return np.asarray(keeps_all & ~(gains.mean(axis=0) > error))

    def _held_out(self, kept: np.ndarray) -> np.ndarray:
        """Return every fold's score of the best of some candidates in the folds that judge it."""
        assert self.judges is not None
        scores, judges = self.scores[:, kept], self.judges
        alone = ~judges.any(axis=1, keepdims=True)  # all others then judge it
        others = np.where(alone, ~np.eye(len(scores), dtype=bool), judges)
        best = np.argmax(others @ scores / others.sum(axis=1)[:, None], axis=1)
        return np.asarray(scores[np.arange(len(scores)), best])

    def as_results(self) -> dict[str, np.ndarray]:
        """Return ``cv_results_``; a candidate that was ruled out has NaN from then on."""
        results: dict[str, Any] = {
            "kernel": np.array([c.kernel for c in self.candidates], dtype=object),
            "alpha": np.array([c.alpha for c in self.candidates]),
            "weighting": np.array([c.weighting for c in self.candidates], dtype=object),
            "sparsity": np.array([c.sparsity for c in self.candidates]),
        }
        statistics = (
            *("mean_test_score", "std_test_score", "standard_error"),
            *("mean_n_features", "n_distinct_features"),
        )
        results |= {name: np.full(len(self.candidates), np.nan) for name in statistics}
        for n_folds in np.unique(self.n_seen):
            mine = np.flatnonzero(self.n_seen == n_folds)
            seen = self.restricted(range(n_folds), mine)
            results["mean_test_score"][mine] = seen.scores.mean(axis=0)
            results["std_test_score"][mine] = spread(seen.scores, ddof=0)
            results["standard_error"][mine] = seen.standard_error
            results["mean_n_features"][mine] = seen.n_features.mean(axis=0)
            results["n_distinct_features"][mine] = seen.n_distinct_features
        results["n_distinct_features"] = results["n_distinct_features"].astype(int)
        results["n_folds"] = self.n_seen
        results["n_training_rows"] = self.n_training_rows
        results["followed"] = self.finalist
        return results | {f"split{i}_test_score": row for i, row in enumerate(self.scores)}


@dataclass(frozen=True)
class Selected:
    """The candidate that a rule selects.

    Attributes
    ----------
    candidate : Candidate
    ties : tuple of Candidate
        Candidates of the same curve, this one too, that do as well in the folds with as many
        features.
    n_features : float
        Mean number of features in the folds.
    """

    candidate: Candidate
    ties: tuple[Candidate, ...]
    n_features: float


def select_candidates(
    table: ScoreTable, slack: Mapping[str, float] | None = None
) -> dict[str, Selected]:
    """Return what each rule selects among the candidates that were followed to the end.

    ``slack`` has the rules by name, in the units of :meth:`ScoreTable.choose`.
    """
    finalists = np.flatnonzero(table.finalist)
    missing = np.isnan(table.scores[:, finalists])
    if missing.any():
        warn(
            f"{missing.sum()} of {missing.size} scores are NaN; candidates with one are "
            "not selected. Look at cv_results_, and consider another scoring or cv.",
        )
    known = finalists[~missing.any(axis=0)]
    if not len(known):
        raise ValueError(
            "Every candidate has a NaN score in some fold, so none can be selected: use another "
            "scoring, or a cv whose folds hold every class."
        )
    seen = table.restricted(range(len(table.scores)), known)
    return {rule: seen.choose(most) for rule, most in (slack or SLACK).items()}


def folds_that_judge(splits: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return which folds have no test row in common with a fold, a matrix."""
    tests = [test for _, test in splits]
    apart = [[not np.isin(other, mine).any() for other in tests] for mine in tests]
    return np.array(apart) & ~np.eye(len(tests), dtype=bool)


def settle_penalty(selected: Selected, counts: dict[float, int]) -> Candidate:
    """Return the candidate whose penalty stands on this path for the one that the folds select.

    Models that are refitted without a penalty do not change as long as the selection does not, so
    that many penalties may be tied in all folds. On the rows of this path they need not be: there,
    the largest of them may have lost features that all folds have, or all. So the penalty counts
    whose path has most nearly as many features as the folds have in the mean; of several, the
    largest. Where no feature is left at it although most folds have some, the last penalty that
    leaves features takes its place.

    Parameters
    ----------
    selected : Selected
    counts : dict of int
        Number of features at every penalty of this path, by increasing penalty.
    """
    expected = selected.n_features
    # Reversed, so that of equal distances the one of the largest penalty counts.
    ties = sorted(selected.ties, key=lambda tie: -tie.sparsity)
    settled = min(ties, key=lambda tie: abs(counts[tie.sparsity] - expected))
    if not counts[settled.sparsity] and expected >= 0.5:
        # No feature is left where most folds have some: the last one has just gone.
        left = [s for s, count in counts.items() if s < settled.sparsity and count]
        settled = settled._replace(sparsity=max(left, default=settled.sparsity))
    return settled


def nested_scores(
    table: ScoreTable, splits: Sequence[tuple[np.ndarray, np.ndarray]], rule: str
) -> np.ndarray:
    """Return for every fold its score of the candidate that the other folds select.

    The best mean over folds suffers from selection bias, the more so the more candidates are
    compared. What a fold finds of a candidate that was selected without it is free of that bias.
    Only folds without a test row in common select for each other, so that repeated folds are taken
    repeat by repeat. They select among everything that they and the fold have seen, also what a
    screening round has ruled out: which paths it left was chance, too.

    Parameters
    ----------
    table : ScoreTable
    splits : sequence of (ndarray, ndarray)
    rule : {"min", "1se"}
    """
    n_folds = len(splits)
    nested = np.full(n_folds, np.nan)
    n_features, judges = table.n_features, folds_that_judge(splits)
    for i in range(n_folds):
        others = np.flatnonzero(judges[i]).tolist() or [j for j in range(n_folds) if j != i]
        known = np.flatnonzero(np.isfinite(table.scores[[i, *others]]).all(axis=0))
        if not len(known):
            continue
        selected = table.restricted(others, known).choose(SLACK[rule])
        # The training rows of the fold are to the others what all rows are to all folds.
        mine_of = {
            candidate.sparsity: j
            for j, candidate in enumerate(table.candidates)
            if candidate.curve == selected.candidate.curve
        }
        counts = {sparsity: int(n_features[i, j]) for sparsity, j in mine_of.items()}
        nested[i] = table.scores[i, mine_of[settle_penalty(selected, counts).sparsity]]
    return nested
