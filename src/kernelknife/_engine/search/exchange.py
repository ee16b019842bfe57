"""Which features can take the place of those that a model has.

A selected feature is removed, together with the selected features that are redundant with it, and
the model is solved again from where it is, once without a replacement and once with each of a few
candidates. Candidates are features similar to the removed one (found without the target) and
features with a large gradient in the model without it. Every model is fitted on the training rows
of a fold and scored on the others, and the gradient is that of the training rows, so that the test
rows have no part in the choice of a candidate.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse.csgraph import connected_components

from kernelknife._engine.objective import (
    ExactProblem,
    IndefiniteKernelError,
    Problem,
    State,
    rows_of_sample,
)
from kernelknife._engine.solvers import Solution, Solver

__all__ = [
    "ExchangeSettings",
    "Removal",
    "Replacement",
    "choose_sufficient",
    "make_folds",
    "measure_exchanges",
]

TINY = 1e-300


@dataclass(frozen=True)
class ExchangeConstants:
    """Which candidates are tried, when one is a substitute, and how many of everything.

    The thresholds were set with benchmarks/copies.py, on draws that its table does not use.

    Attributes
    ----------
    redundant : float
        Squared correlation of two selected features beyond which they are removed together: with
        one of them left, the model would not miss the other, and its substitutes could not be
        found.
    least_similar, least_gradient : float
        A candidate has at least this squared correlation with the removed feature, or at least this
        share of its gradient.
    least_help, sure_gradient, sure_similar : float
        A candidate surely helps if it makes up for at least the first share of the loss, by two
        standard errors where it was picked among many by the gradient, for which the target was
        used, and by one where it is redundant with the removed feature.
    half : float
        It is a substitute if it is redundant with that feature or makes up for half of the loss.
    sure_needed : float
        A feature is needed if the loss without it rises by two standard errors.
    copy : float
        Features with a larger squared correlation are substitutes for one that is not needed, too.
    steps, steps_tol, steps_damping : int, float, float
        Of a model that starts close to its end.
    inner_tol : float
        Accuracy of the coefficients where a candidate is first put in.
    rows : int
        The cost grows with the cube of the rows, and shares of a loss are clear with as many.
    places : int
        Most features that are removed, those of the largest weights.
    points, features : int
        Points of a path that are compared, and features of the largest model among them.
    """

    redundant: float = 0.7
    least_similar: float = 0.25
    least_gradient: float = 0.25
    least_help: float = 0.1
    sure_gradient: float = 2.0
    sure_similar: float = 1.0
    half: float = 0.5
    sure_needed: float = 2.0
    copy: float = 0.98
    steps: int = 3
    steps_tol: float = 1e-3
    steps_damping: float = 1e-2
    inner_tol: float = 1e-3
    rows: int = 600
    places: int = 50
    points: int = 10
    features: int = 30


EXCHANGE = ExchangeConstants()


@dataclass(frozen=True)
class ExchangeSettings:
    """How exchanges are searched for.

    Attributes
    ----------
    n_candidates : int
        Most features that are tried in each place by either measure.
    n_folds : int
    seed : int
        Of the folds, and of the subset of the rows where there are many.
    """

    n_candidates: int = 8
    n_folds: int = 5
    seed: int = 0


@dataclass(frozen=True)
class Replacement:
    """One feature in the place of others.

    Attributes
    ----------
    weight : int
        Index of the feature's weight.
    alike : float
        Largest squared correlation with a feature that it replaces.
    cost : float
        Rise of the held-out loss of the whole model, as a share of it.
    makes_up : float
        Share of what is lost without the removed features that it makes up for: 1 for one that is
        as good, 0 for one without use. NaN where nothing is lost.
    standard_error : float
        Of ``makes_up``.
    helps : bool
        Whether that is more than chance.
    is_substitute : bool
        Whether it is also enough to call it a substitute.
    """

    weight: int
    alike: float
    cost: float
    makes_up: float
    standard_error: float
    helps: bool
    is_substitute: bool


@dataclass(frozen=True)
class Removal:
    """What a model loses without some of its features, and what makes up for it.

    Attributes
    ----------
    members : tuple of int
        The removed features: one, or several that are redundant.
    cost : float
        Rise of the held-out loss without them, as a share of it.
    standard_error : float
        Of ``cost``.
    replacements : tuple of Replacement
        Every candidate that was tried, the best first. Where several features were removed, each of
        them is a candidate too.
    """

    members: tuple[int, ...]
    cost: float
    standard_error: float
    replacements: tuple[Replacement, ...]

    @property
    def needed(self) -> bool:
        """Whether the model is worse without them by more than chance."""
        return self.cost > EXCHANGE.sure_needed * self.standard_error


def measure_exchanges(
    problem: Problem,
    solver: Solver,
    w: np.ndarray,
    sparsity: float,
    settings: ExchangeSettings | None = None,
    labels: np.ndarray | None = None,
) -> tuple[Removal, ...]:
    """Remove every feature of a model in turn and try others in its place.

    Parameters
    ----------
    w : ndarray of shape (n_weights,)
        Weights of the model.
    sparsity : float
        Penalty that they were found with.
    labels : ndarray of int of shape (n_rows,), default=None
        Fold of every row; None deals the rows out so that all folds have the same targets.
    """
    settings = settings or ExchangeSettings()
    if not w.any():
        return ()
    sample, labels = _sample(problem, settings, labels)
    sparsity *= _share(sample, problem)
    return _Search(sample, solver, w, sparsity, settings, labels).run()


def choose_sufficient(
    problem: Problem,
    solver: Solver,
    points: Sequence[Solution],
    settings: ExchangeSettings | None = None,
) -> int:
    """Return the point of a path with the fewest features that suffice.

    Its held-out loss is within one standard error of the least one. Of points with the same number
    of features the one of the lowest penalty is compared, and of many numbers about ten.

    Parameters
    ----------
    points : sequence of Solution
        Of one path, by rising penalty.
    """
    settings = settings or ExchangeSettings()
    first: dict[int, int] = {}
    for i, point in enumerate(points):
        first.setdefault(int(np.count_nonzero(point.w)), i)
    counts = sorted(count for count in first if count > 0)
    if not counts:
        return 0
    few = [count for count in counts if count <= EXCHANGE.features] or counts[:1]
    spread = np.unique(
        np.geomspace(1, len(few), min(len(few), EXCHANGE.points)).round().astype(int)
    )
    compared = [first[few[k - 1]] for k in spread]
    sample, labels = _sample(problem, settings, None)
    share = _share(sample, problem)
    losses = np.empty((len(compared), sample.n_rows))
    for label in np.unique(labels):
        test = labels == label
        for row, i in enumerate(compared):
            w = points[i].w
            small = sample.restricted(np.flatnonzero(w))
            fold = _Fold(small, test, solver, points[i].sparsity * share)
            losses[row, test] = fold.losses(fold.settle(fold.problem.solve(w[w > 0])))
    losses *= sample.sample_weight
    best = losses[int(np.argmin(losses.sum(axis=1)))]
    enough = [(loss - best).sum() <= _spread(loss - best) for loss in losses]
    return compared[int(np.argmax(enough))]  # they are in order of their number of features


def _sample(
    problem: Problem, settings: ExchangeSettings, labels: np.ndarray | None
) -> tuple[ExactProblem, np.ndarray]:
    """Return the problem on a subset of the rows, and the fold of each of them."""
    sample = problem.subsample(EXCHANGE.rows, settings.seed)
    if labels is None:
        return sample, make_folds(sample.Y, settings.n_folds, settings.seed)
    labels = labels[rows_of_sample(len(labels), EXCHANGE.rows, settings.seed)]
    if len(labels) != sample.n_rows:
        raise ValueError("Leave out the rows of weight zero, or give a number of folds.")
    if len(np.unique(labels)) < 2:
        raise ValueError("The rows must lie in two or more folds.")
    return sample, labels


def _share(sample: Problem, problem: Problem) -> float:
    """Return how much of the weight of all rows those of a sample have.

    The penalty is scaled by it, whatever the kernel. At that of all rows, which outweighs the loss
    of few, features leave that all rows need. Between a sample and a fold of it, which has nearly
    as many rows, the rule is that of cross-validation.
    """
    return sample.total_weight / problem.total_weight


def make_folds(Y: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """Return the fold of every row; targets are spread evenly over the folds."""
    rng = np.random.default_rng(seed)
    order = np.lexsort((rng.random(len(Y)), *Y.T))
    labels = np.empty(len(Y), dtype=int)
    for begin in range(0, len(Y), n_folds):
        block = order[begin : begin + n_folds]
        labels[block] = rng.permutation(n_folds)[: len(block)]
    return labels


@dataclass
class _Place:
    """Features that are removed together, the candidates, and the held-out losses."""

    members: np.ndarray
    alike: np.ndarray  # largest squared correlation of every feature with a member
    candidates: list[int]  # to be tried in every fold
    without: np.ndarray  # held-out loss of every row with nothing in the place
    pulled: dict[int, list[int]] = field(default_factory=dict)  # by gradients, with their folds
    starts: list[np.ndarray] = field(default_factory=list)  # weights without the members, by fold
    losses: dict[int, np.ndarray] = field(default_factory=dict)  # NaN where a fold did not try

    def tried_in(self, number: int) -> list[int]:
        """Return the candidates of one fold."""
        return [*self.candidates, *(k for k, folds in self.pulled.items() if number in folds)]


class _Fold:
    """A problem on training rows, and the rows to score its models on."""

    def __init__(self, problem: ExactProblem, test: np.ndarray, solver: Solver, sparsity: float):
        self.problem = problem.at_rows(np.flatnonzero(~test))
        self.X, self.U = problem.centers[test], problem.U[test]
        # A loss that couples rows is that of the held-out rows among themselves.
        self.risk = problem.loss.bind(
            problem.Y[test], problem.sample_weight[test], problem.n_outputs
        )
        self.quick = solver.loosened(EXCHANGE.steps_tol, EXCHANGE.steps)
        # As in cross-validation, a convex kernel's penalty is proportional to the number of rows.
        share = self.problem.total_weight / problem.total_weight if problem.convex else 1.0
        self.sparsity = sparsity * share

    def model_at(self, w: np.ndarray) -> State | None:
        """Return the model at given weights, None where there is none."""
        try:
            return self.problem.solve(w, tol=EXCHANGE.inner_tol)
        except IndefiniteKernelError:
            return None

    def settle(self, state: State) -> State:
        """Return the model after a few steps of its weights; those at zero stay there."""
        problem, w = self.problem, state.w
        kept = np.flatnonzero(w)
        if not len(kept):
            return state
        if not problem.absorbing:
            # Zero is not absorbing: the others have to be left out.
            problem = problem.restricted(kept)
            state = problem.solve(w[kept])
        objective = state.smooth + self.sparsity * float(problem.costs @ state.w)
        begun = Solution.at(state, self.sparsity, objective, damping=EXCHANGE.steps_damping)
        after = self.quick.solve(problem, begun, self.sparsity)
        if problem is self.problem:
            return after.state
        settled = np.zeros_like(w)
        settled[kept] = after.w
        return self.problem.solve(settled)

    def losses(self, state: State) -> np.ndarray:
        """Return the loss of every held-out row."""
        problem, subset = self.problem, self.problem.features.select(np.flatnonzero(state.w))
        Z, X = problem.centers[:, subset.columns], self.X[:, subset.columns]
        K = problem.kernel(X, Z, subset.form_weights(state.w))
        scores = K @ state.inner.C + self.U @ state.inner.b
        return np.asarray(self.risk.values(scores).sum(axis=1))


class _Search:
    """The folds, and the features that are exchanged in each of them."""

    def __init__(
        self,
        problem: ExactProblem,
        solver: Solver,
        w: np.ndarray,
        sparsity: float,
        settings: ExchangeSettings,
        labels: np.ndarray,
    ):
        self.problem, self.solver, self.w, self.sparsity = problem, solver, w, sparsity
        self.most, self.active = settings.n_candidates, np.flatnonzero(w)
        self.tests = [labels == label for label in np.unique(labels)]
        self.base = np.empty(problem.n_rows)  # held-out loss of every row with all features
        self.places = self._make_places()

    def _make_places(self) -> list[_Place]:
        """Return the selected features, redundant ones together, and candidates similar to them."""
        # A column that is always kept is not to be replaced.
        active = self.active[self.problem.lowest[self.active] == 0]
        if not len(active):
            return []
        alike = self.problem.similarity_to_all(active)
        # Chains of features of which each is redundant with the next are one family.
        n_families, family = connected_components(
            alike[:, active] >= EXCHANGE.redundant, directed=False
        )
        heaviest = np.array([self.w[active[family == label]].max() for label in range(n_families)])
        places = []
        for label in np.sort(np.argsort(-heaviest, kind="stable")[: EXCHANGE.places]):
            members, similar = active[family == label], alike[family == label].max(axis=0)
            others = np.setdiff1d(np.flatnonzero(similar >= EXCHANGE.least_similar), self.active)
            best = others[np.argsort(-similar[others], kind="stable")][: self.most]
            several = members.tolist() if len(members) > 1 else []
            empty = np.empty(self.problem.n_rows)
            places.append(_Place(members, similar, [*several, *best.tolist()], empty))
        return places

    def run(self) -> tuple[Removal, ...]:
        """Return what every place loses and what makes up for it."""
        for number, test in enumerate(self.tests):
            self._remove(number, test)
        for place in self.places:
            # In one fold alone the gradient of a noise feature may be large.
            often = {k: f for k, f in place.pulled.items() if 2 * len(f) >= len(self.tests)}
            place.pulled = {k: often[k] for k in sorted(often) if k not in place.candidates}
            for k in (*place.candidates, *place.pulled):
                place.losses[k] = np.full(self.problem.n_rows, np.nan)
        tried = [k for place in self.places for k in place.losses]
        pool = np.unique([*self.active, *tried]).astype(int)
        small = self.problem.restricted(pool)
        for number, test in enumerate(self.tests):
            self._exchange(number, _Fold(small, test, self.solver, self.sparsity), test, pool)
        return tuple(self._summary(place) for place in self.places)

    def _remove(self, number: int, test: np.ndarray) -> None:
        """Score the model with all its features and without each, and collect candidates."""
        fold = _Fold(self.problem, test, self.solver, self.sparsity)
        whole = fold.settle(fold.problem.solve(self.w))
        self.base[test] = fold.losses(whole)
        for place in self.places:
            w = whole.w.copy()
            w[place.members] = 0.0
            bare = fold.problem.solve(w, whole.warm)
            place.without[test] = fold.losses(fold.settle(bare))
            # The other weights are kept as they were: those that act only together with a member
            # are of no use until something takes its place, and would soon be gone.
            place.starts.append(w)
            pull = fold.problem.potential(bare)
            own = pull[place.members].max()
            pull[self.active] = -np.inf
            if own > 0:
                strong = np.flatnonzero(pull >= EXCHANGE.least_gradient * own)
                for k in strong[np.argsort(-pull[strong], kind="stable")][: self.most]:
                    place.pulled.setdefault(int(k), []).append(number)

    def _exchange(self, number: int, fold: _Fold, test: np.ndarray, pool: np.ndarray) -> None:
        """Score every candidate in its place, in one fold, after a few steps of the weights."""
        squared = self.problem.features.squared
        for place in self.places:
            size = float(np.linalg.norm(self.w[place.members], 2 if squared else 1))
            start = place.starts[number][pool]
            for k in place.tried_in(number):
                w = start.copy()
                w[np.searchsorted(pool, k)] = min(size, 1.0)
                state = fold.model_at(w)
                if state is not None:
                    place.losses[k][test] = fold.losses(fold.settle(state))

    def _summary(self, place: _Place) -> Removal:
        """Turn held-out losses of rows into costs and shares."""
        s = self.problem.sample_weight
        base, lost = self.base * s, (place.without - self.base) * s
        removal = Removal(
            members=tuple(int(j) for j in place.members),
            cost=float(lost.sum() / max(base.sum(), TINY)),
            standard_error=_spread(lost) / max(float(base.sum()), TINY),
            replacements=(),
        )
        found = []
        for k, losses in place.losses.items():
            known = np.isfinite(losses)
            if not known.any():
                continue
            won, missing = (place.without - losses)[known] * s[known], float(lost[known].sum())
            share = float(won.sum()) / missing if missing > 0 else np.nan
            spread = _spread(won) / missing if missing > 0 else np.nan
            alike = float(place.alike[k])
            sure = EXCHANGE.sure_similar if alike >= EXCHANGE.redundant else EXCHANGE.sure_gradient
            helps = alike >= EXCHANGE.copy or (
                removal.needed and share >= max(EXCHANGE.least_help, sure * spread)
            )
            found.append(
                Replacement(
                    weight=k,
                    alike=alike,
                    cost=float((lost[known] - won).sum() / max(base[known].sum(), TINY)),
                    makes_up=share,
                    standard_error=spread,
                    helps=helps,
                    is_substitute=helps and (alike >= EXCHANGE.redundant or share >= EXCHANGE.half),
                )
            )
        found.sort(key=lambda replacement: (replacement.cost, replacement.weight))
        return replace(removal, replacements=tuple(found))


def _spread(values: np.ndarray) -> float:
    """Return the standard error of a sum over rows."""
    return float(np.linalg.norm(values - values.mean()))
