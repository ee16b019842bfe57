"""The knockoff sampler: Gaussian knockoffs of the second order, seen through a copula if need be.

A knockoff of a table of standardized columns with correlation ``Sigma`` has the same correlation,
and with the original the correlation ``Sigma - diag(s)``. Given the original it is normal:

    X~ | X  ~  N(X - X Sigma^-1 diag(s), 2 diag(s) - diag(s) Sigma^-1 diag(s)).

The larger ``s``, the easier it is to distinguish a feature from its knockoff; ``2 Sigma - diag(s)``
has to stay positive semi-definite. Columns that are not normal are seen through a Gaussian copula:
the knockoff of their normal scores is turned back into values of the column.

An estimate in the place of ``Sigma`` makes knockoffs that are a little too easy to distinguish from
their originals, and more features are false than promised. With more than twice as many rows as
columns no estimate is needed: given the mean and the covariance of the sample, the knockoffs are
drawn from all tables that have exactly these moments with it, whatever ``Sigma`` is (Huang and
Janson 2020).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dger
from scipy.special import ndtr, ndtri
from sklearn.covariance import ledoit_wolf

from kernelknife._engine.data.columns import filled
from kernelknife._utils.threads import limited_blas

__all__ = [
    "METHODS",
    "ConditionalKnockoffs",
    "CopulaColumn",
    "GaussianKnockoffs",
    "KnockoffSampler",
    "distribution_given_sample",
    "equicorrelated",
    "explained_by",
    "fill_at_random",
    "least_reconstructable",
    "normal_scores",
    "shrunk_correlation",
]

MOST_SWEEPS, SETTLED = 50, 1e-4  # of the descent over single entries of s
# Smallest eigenvalue of a correlation below which a column follows from others, and the inverse of
# the correlation is mostly rounding.
DEPENDENT = 1e-6
INSIDE = 1.0 - 1e-6  # how much of the largest equal s is taken, so that nothing becomes singular


def shrunk_correlation(Z: np.ndarray) -> np.ndarray:
    """Return the correlation of columns, shrunk toward none by Ledoit and Wolf's formula.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
        No column is constant.
    """
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    covariance, _ = ledoit_wolf(Z, assume_centered=True)
    return correlation_of(covariance)


def correlation_of(covariance: np.ndarray) -> np.ndarray:
    """Return the correlation matrix of a covariance matrix."""
    spread = np.sqrt(np.diag(covariance))
    correlation: np.ndarray = covariance / np.outer(spread, spread)
    return correlation


def equicorrelated(correlation: np.ndarray) -> np.ndarray:
    """Return the largest ``s`` that is the same for all columns, at most 1."""
    smallest = float(np.linalg.eigvalsh(correlation)[0])
    return np.full(len(correlation), INSIDE * min(1.0, max(2.0 * smallest, 0.0)))


def least_reconstructable(correlation: np.ndarray) -> np.ndarray:
    """Return the ``s`` for which the other columns and all knockoffs predict each column least.

    It minimizes the sum of the inverse conditional variances, ``sum_j 1 / s_j + tr((2 Sigma -
    diag(s))^-1)`` up to a factor (Spector and Janson 2022, minimum variance-based
    reconstructability), by coordinate descent with exact steps.

    Parameters
    ----------
    correlation : ndarray of shape (p, p)
        Positive definite.
    """
    p = len(correlation)
    s = np.full(p, float(np.linalg.eigvalsh(correlation)[0]))
    for _ in range(MOST_SWEEPS):
        # Rank-one updates lose digits: every sweep computes the inverse anew.
        inverse = np.asfortranarray(np.linalg.inv(2.0 * correlation - np.diag(s)))
        largest = 0.0
        for j in range(p):
            column = inverse[:, j].copy()
            root, diagonal = np.linalg.norm(column), column[j]
            # With c = |column|^2 the trace rises by delta c / (1 - delta diagonal), and the
            # derivative vanishes where 1 - delta diagonal = sqrt(c) (s_j + delta).
            step = (1.0 - root * s[j]) / (root + diagonal)
            factor = step / (1.0 - step * diagonal)
            inverse = dger(factor, column, column, a=inverse, overwrite_a=True)
            s[j] += step
            largest = max(largest, abs(step))
        if largest < SETTLED:
            break
    return s


METHODS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "mvr": least_reconstructable,
    "equicorrelated": equicorrelated,
}


# -- distributions --------------------------------------------------------------------------------


@dataclass(frozen=True)
class GaussianKnockoffs:
    """The conditional distribution of knockoffs, ready to draw from.

    Attributes
    ----------
    shrinkage : ndarray of shape (p, p)
        ``Sigma^-1 diag(s)``.
    root : ndarray of shape (p, p)
        Its transpose times itself is the conditional covariance.
    """

    shrinkage: np.ndarray
    root: np.ndarray

    @classmethod
    def from_correlation(cls, correlation: np.ndarray, s: np.ndarray) -> "GaussianKnockoffs":
        """Return the distribution for a correlation matrix and the entries of ``s``."""
        shrinkage = np.linalg.solve(correlation, np.diag(s))
        covariance = 2.0 * np.diag(s) - s[:, None] * shrinkage
        values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
        return cls(shrinkage, np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)

    def draw(self, Z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return knockoffs of standardized rows."""
        return self.around(Z, rng.standard_normal(Z.shape))

    def around(self, Z: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Return the knockoffs that noise of mean 0 and unit covariance makes."""
        knockoffs: np.ndarray = Z - Z @ self.shrinkage + noise @ self.root
        return knockoffs


@dataclass(frozen=True)
class ConditionalKnockoffs:
    """The distribution of knockoffs given the moments of the sample, which needs no covariance.

    Attributes
    ----------
    s : ndarray of shape (p,)
    """

    s: np.ndarray

    def draw(self, Z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return knockoffs of all rows of a standardized table; there are more than ``2 p``."""
        n, p = Z.shape
        gaussian = GaussianKnockoffs.from_correlation(Z.T @ Z / n, self.s)
        # Noise without a mean, orthogonal to the table and of unit covariance in the sample: a
        # uniformly random set of such columns.
        taken = np.linalg.qr(np.column_stack([np.ones(n), Z]))[0]
        noise = rng.standard_normal((n, p))
        noise -= taken @ (taken.T @ noise)
        noise, triangle = np.linalg.qr(noise)
        noise *= np.sqrt(n) * np.sign(np.diag(triangle))
        return gaussian.around(Z, noise)


def distribution_given_sample(
    Z: np.ndarray, choose: Callable[[np.ndarray], np.ndarray]
) -> GaussianKnockoffs | ConditionalKnockoffs:
    """Return the distribution of knockoffs of a table whose covariance is unknown.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
        Columns of mean 0 and deviation 1.
    choose : callable
        Returns the entries of ``s`` for a correlation matrix.
    """
    n, p = Z.shape
    correlation = Z.T @ Z / n
    if n > 2 * p and np.linalg.eigvalsh(correlation)[0] > DEPENDENT:
        return ConditionalKnockoffs(choose(correlation))
    # Too few rows, or a column that follows from others and could only be its own knockoff.
    correlation = shrunk_correlation(Z)
    return GaussianKnockoffs.from_correlation(correlation, choose(correlation))


# -- the copula -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class CopulaColumn:
    """The values of a column, by which normal scores are turned back into some of them.

    Attributes
    ----------
    ordered : ndarray of shape (n,)
        Its values, sorted.
    has_levels : bool
        Whether values occur more than once; the knockoff then takes no other values.
    """

    ordered: np.ndarray
    has_levels: bool

    @classmethod
    def of(cls, x: np.ndarray) -> "CopulaColumn":
        """Return the copula of a column."""
        ordered = np.sort(x)
        return cls(ordered, bool((np.diff(ordered) == 0).any()))

    def values(self, scores: np.ndarray) -> np.ndarray:
        """Return values of the column for normal scores."""
        n, share = len(self.ordered), ndtr(scores)
        values: np.ndarray
        if self.has_levels:
            values = self.ordered[np.minimum((share * n).astype(int), n - 1)]
        else:
            values = np.interp(share, (np.arange(n) + 0.5) / n, self.ordered)
        return values


def normal_scores(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the normal scores of every column; ties are broken at random.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    """
    n = len(X)
    places = ndtri((np.arange(n) + 0.5) / n)
    places /= places.std()
    scores = np.empty(X.shape)
    for j in range(X.shape[1]):
        scores[np.lexsort((rng.random(n), X[:, j])), j] = places
    return scores


def fill_at_random(X: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return columns with values of their own, drawn at random, in the place of gaps."""
    gap = np.isnan(X)
    if not gap.any():
        return X
    rng, result = np.random.default_rng(seed), X.copy()
    for j in np.flatnonzero(gap.any(axis=0)):
        result[gap[:, j], j] = rng.choice(X[~gap[:, j], j], gap[:, j].sum())
    return result


def explained_by(adjusted: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return what a linear regression on columns that are adjusted for explains of others.

    Knockoffs are drawn of the rest, so that columns and knockoffs can be exchanged given those.
    """
    X = filled(X)
    if not adjusted.shape[1]:
        return np.zeros_like(X)
    Z = filled(adjusted)
    Z = Z - Z.mean(axis=0)
    return np.asarray(Z @ np.linalg.lstsq(Z, X - X.mean(axis=0), rcond=None)[0])


# -- the sampler ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class KnockoffSampler:
    """Draws knockoffs of a table.

    Attributes
    ----------
    distribution : GaussianKnockoffs, ConditionalKnockoffs or None
        Of standardized columns, or of their normal scores. None where values are tied: scores then
        differ from draw to draw, and so does their distribution.
    choose : callable
        Returns the entries of ``s`` for a correlation matrix.
    center, spread : ndarray of shape (p,)
    copula : bool
        Whether the distribution is one of normal scores.
    estimated : bool
        Whether it is that of an estimated covariance.
    seed : int
    """

    distribution: GaussianKnockoffs | ConditionalKnockoffs | None
    choose: Callable[[np.ndarray], np.ndarray]
    center: np.ndarray
    spread: np.ndarray
    copula: bool
    estimated: bool
    seed: int

    @classmethod
    def of_table(
        cls,
        X: np.ndarray,
        *,
        method: str,
        copula: bool,
        covariance: np.ndarray | None = None,
        seed: int = 0,
    ) -> "KnockoffSampler":
        """Return the sampler of a table.

        Parameters
        ----------
        X : ndarray of shape (n, p)
            No column is constant.
        covariance : ndarray of shape (p, p), default=None
            Of the columns themselves; None if it is unknown.
        seed : int, default=0
        """
        choose = METHODS[method]
        distribution: GaussianKnockoffs | ConditionalKnockoffs
        # Several BLAS threads would sum in an order that changes from run to run.
        with limited_blas():
            center, spread = X.mean(axis=0), X.std(axis=0)
            if covariance is not None:
                spread, correlation = np.sqrt(np.diag(covariance)), correlation_of(covariance)
                distribution = GaussianKnockoffs.from_correlation(correlation, choose(correlation))
            else:
                rng = np.random.default_rng(seed)
                scores = normal_scores(X, rng) if copula else (X - center) / spread
                distribution = distribution_given_sample(scores, choose)
        estimated = covariance is None and isinstance(distribution, GaussianKnockoffs)
        tied = copula and any(CopulaColumn.of(x).has_levels for x in X.T)
        kept = None if tied else distribution
        return cls(kept, choose, center, spread, copula, estimated, seed)

    def draw(self, X: np.ndarray, number: int) -> np.ndarray:
        """Return draw number ``number``, which does not depend on other draws."""
        rng = np.random.default_rng([self.seed, number])
        Z = normal_scores(X, rng) if self.copula else (X - self.center) / self.spread
        distribution = self.distribution or distribution_given_sample(Z, self.choose)
        knockoffs = distribution.draw(Z, rng)
        if self.copula:
            columns = [CopulaColumn.of(x).values(z) for x, z in zip(X.T, knockoffs.T, strict=True)]
            knockoffs = np.column_stack(columns)
        else:
            knockoffs = self.center + self.spread * knockoffs
        return knockoffs
