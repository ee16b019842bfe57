"""What is raced on: data with known features, and the paper's three data sets.

Every problem puts its true features first and then shuffles the columns with the seed, so that no
method gains from an order. The number of rows is one at which the problem is neither trivial nor
hopeless; two problems are also drawn at several sizes.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import make_classification, make_friedman1
from sklearn.model_selection import GroupShuffleSplit

from kernelknife.datasets import (
    load_colon,
    load_parkinsons,
    load_vowel,
    make_separate_effects,
    make_sinusoidal,
    make_skin_of_orange,
)

N_TEST = 2000


@dataclass(frozen=True)
class Race:
    """One draw of a problem: rows to fit, rows to judge, and the truth where it is known."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    task: str
    k: int
    true: np.ndarray | None


@dataclass(frozen=True)
class Problem:
    """A problem and how to draw it: ``draw(n, seed)`` gives a :class:`Race`."""

    name: str
    n: int
    draw: Callable[[int, int], Race]
    synthetic: bool = True

    @property
    def key(self):
        return f"{self.name}, n={self.n}"


def _simulated(make, n_true, task, k=None):
    def draw(n, seed):
        X, y = make(n + N_TEST, seed)
        order = np.random.default_rng([seed, 1]).permutation(X.shape[1])
        true = np.flatnonzero(np.isin(order, np.arange(n_true)))
        X = X[:, order]
        return Race(X[:n], y[:n], X[n:], y[n:], task, k or n_true, true)

    return draw


def _orange(noise):
    def make(n, seed):
        return make_skin_of_orange(n, noise, random_state=seed)

    return _simulated(make, 4, "classification")


def _sinusoidal(noise):
    return _simulated(lambda n, seed: make_sinusoidal(n, noise, random_state=seed), 5, "regression")


def _friedman(noise):
    def make(n, seed):
        return make_friedman1(n, n_features=5 + noise, noise=1.0, random_state=seed)

    return _simulated(make, 5, "regression")


def _sign(ways, noise):
    """The class is the sign of a product: no subset of the true features tells anything."""

    def make(n, seed):
        X = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(n, ways + noise))
        return X, (X[:, :ways].prod(axis=1) > 0).astype(int)

    return _simulated(make, ways, "classification")


def _union(effects, noise):
    """The class is 1 where at least one of several effects is, each in two features of its own."""

    def make(n, seed):
        table = make_separate_effects(n, noise, effects=effects, random_state=seed)
        return table.data, table.target

    return _simulated(make, 2 * len(effects), "classification")


def _redundant(n, seed):
    """Five informative features, five mixtures of them, forty of noise.

    The five and their mixtures span the same space, and any five of the ten do: all ten count as
    true, and the top five are looked at.
    """
    X, y = make_classification(
        n, 50, n_informative=5, n_redundant=5, shuffle=False, random_state=seed
    )
    rows = np.random.default_rng([seed, 2]).permutation(n)
    return X[rows], y[rows]


def _measured(load, k, split):
    def draw(n, seed):
        X, y, train, test = split(load(), seed)
        return Race(X[train], y[train], X[test], y[test], "classification", k, None)

    return draw


def _vowel(bunch, seed):
    """The vowels i and I of the published speakers, nine tenths of the rows to fit."""
    X, y = bunch.data.to_numpy(float), bunch.target.to_numpy()
    two = np.isin(y, ["i", "I"])
    train = np.random.default_rng(seed).permutation(np.flatnonzero(two & bunch.train))
    kept = train[: int(0.9 * len(train))]
    return X, (y == "i").astype(int), kept, np.flatnonzero(two & ~bunch.train)


def _by_group(positive, transform=lambda X: X):
    """Two thirds of the people to fit, the others to judge, both classes in both."""

    def split(bunch, seed):
        X = transform(bunch.data.to_numpy(float))
        y = (bunch.target.to_numpy() == positive).astype(int)
        splits = GroupShuffleSplit(100, test_size=1 / 3, random_state=seed)
        for train, test in splits.split(X, y, bunch.groups):
            if len(set(y[train])) == len(set(y[test])) == 2:
                return X, y, train, test
        raise ValueError("No split has both classes in both parts.")

    return split


PROBLEMS = [
    Problem("orange, 6 noise", 100, _orange(6)),
    Problem("orange, 46 noise", 100, _orange(46)),
    Problem("orange, 196 noise", 200, _orange(196)),
    Problem("orange, 996 noise", 200, _orange(996)),
    Problem("sinusoidal, 5 noise", 100, _sinusoidal(5)),
    Problem("sinusoidal, 95 noise", 100, _sinusoidal(95)),
    Problem("sinusoidal, 995 noise", 200, _sinusoidal(995)),
    Problem("Friedman 1, 0 noise", 200, _friedman(0)),
    Problem("Friedman 1, 50 noise", 200, _friedman(50)),
    Problem("Friedman 1, 500 noise", 200, _friedman(500)),
    Problem("sign of 2, 8 noise", 200, _sign(2, 8)),
    Problem("sign of 2, 48 noise", 200, _sign(2, 48)),
    Problem("sign of 2, 198 noise", 200, _sign(2, 198)),
    Problem("sign of 3, 8 noise", 400, _sign(3, 8)),
    Problem("sign of 3, 48 noise", 400, _sign(3, 48)),
    Problem("sign of 3, 198 noise", 400, _sign(3, 198)),
    Problem("union of 2, 60 noise", 833, _union(("shell", "checkerboard"), 60)),
    Problem("union of 3, 58 noise", 833, _union(("shell", "checkerboard", "sum"), 58)),
    Problem("union of 3, 250 noise", 833, _union(("shell", "checkerboard", "sum"), 250)),
    Problem("redundant copies", 200, _simulated(_redundant, 10, "classification", k=5)),
    Problem("vowel i/I", 0, _measured(load_vowel, 6, _vowel), False),
    Problem("Parkinson's", 0, _measured(load_parkinsons, 5, _by_group(1)), False),
    Problem("colon", 0, _measured(load_colon, 10, _by_group("tumor", np.log)), False),
]
SIZES = [
    Problem("orange, 46 noise", 1000, _orange(46)),
    Problem("orange, 46 noise", 5000, _orange(46)),
    Problem("Friedman 1, 50 noise", 1000, _friedman(50)),
]
BY_KEY = {problem.key: problem for problem in PROBLEMS + SIZES}
