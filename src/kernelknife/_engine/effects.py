"""The effects that an additive or ANOVA model is made of, and their moments over the training rows.

With ``a_j = v_j phi_j(x_j)' phi_j(z_j)`` the kernel is ``s + s**2 / 2 (+ s**3 / 6)`` of
``s = sum_j a_j``, and multiplying out leaves terms of one column, of two and of three:

    a_j + a_j**2 / 2 (+ a_j**3 / 6)            what column j does alone
    a_j a_k (+ (a_j**2 a_k + a_j a_k**2) / 2)  what j and k do together
    a_j a_k a_l                                what three do together

A gap is an effect of its own: the indicator of a column and its functions are never both different
from zero, so that ``a_j`` falls into two such terms, which do nothing together. What is called a
column below is such a part of one.

Summed over the coefficients they are functions that can be drawn, and together with a constant they
are the scores. Each is centered over the training rows, by their weights, so that its average there
is zero; its share is its covariance with the scores, divided by their variance.

Up to order 2 an effect is a linear or a quadratic form in the functions of its columns, so that one
pass over the rows gives the moments of all of them: the sums of products of two functions, and the
same weighted by the scores.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TypeAlias

import numpy as np

from kernelknife._engine.data import Block, Columns, Rows
from kernelknife._engine.data.rows import Sums
from kernelknife._utils.arrays import Array, like, namespace, to_host
from kernelknife.kernels import Kernel

__all__ = ["EffectMoments", "column_terms", "effect_term", "list_effects", "measure_effects"]

# Kernel, columns, ``v``, support vectors, coefficients and intercepts of a model.
Parts: TypeAlias = tuple[Kernel, Columns, np.ndarray, np.ndarray, np.ndarray, np.ndarray]

# Functions of all columns whose products are summed: a matrix of as many rows and columns.
MOST_FUNCTIONS = 3000
MOST_TRIPLES = 5000  # effects of a kernel of order 3, which are evaluated one by one


@dataclass(frozen=True, eq=False)
class EffectMoments:
    """Moments of every effect over the training rows.

    Attributes
    ----------
    columns : list of tuple of int
        Columns of every effect, as positions among the parts of the selected ones.
    means : ndarray of shape (n_effects, k)
        What is taken off an effect so that its average is zero, on the scale of the scores.
    shares : ndarray of shape (n_effects,)
        Share of the variance of the scores.
    """

    columns: list[tuple[int, ...]]
    means: np.ndarray
    shares: np.ndarray

    @classmethod
    def of_sums(
        cls,
        chosen: list[tuple[int, ...]],
        total: float | np.ndarray,
        scores: np.ndarray,
        squares: np.ndarray,
        first: np.ndarray,
        crossed: np.ndarray,
    ) -> "EffectMoments":
        """Return the moments, from sums over rows.

        Parameters
        ----------
        chosen : list of tuple of int
            Columns of every effect.
        total : float
            Sum of the weights.
        scores, squares : ndarray of shape (k,)
            Of the scores and of their squares.
        first, crossed : ndarray of shape (n_effects, k)
            Of every effect, and of its products with the scores.
        """
        mean = scores / total
        variance = max(float((squares / total - mean**2).sum()), 1e-300)
        covariance = (crossed / total - (first / total) * mean).sum(axis=1)
        return cls(chosen, first / total, covariance / variance)

    @cached_property
    def places(self) -> dict[tuple[int, ...], int]:
        """Where each effect stands."""
        return {chosen: i for i, chosen in enumerate(self.columns)}

    def __getstate__(self) -> dict[str, object]:
        # A file holds no dict with tuples for keys, and the places follow from the columns.
        return {name: value for name, value in vars(self).items() if name != "places"}

    def mean(self, chosen: tuple[int, ...]) -> np.ndarray:
        """Return what is taken off an effect; the order of its columns does not matter."""
        mean: np.ndarray = self.means[self.places[tuple(sorted(chosen))]]
        return mean


def column_terms(columns: Columns, v: Array, Z: Array, vectors: Array) -> list[Array]:
    """Return ``a_j`` between some rows and the support vectors, for every part of a column."""
    terms, (of_part, source, _) = [], columns.parts
    for j in range(len(source)):
        mine = np.flatnonzero(of_part == j)
        terms.append((Z[:, mine] * v[mine]) @ vectors[:, mine].T)
    return terms


def effect_term(factors: list[Array], order: int, coef: Array) -> Array:
    """Return one effect at some rows, not centered, from the ``a_j`` of its columns."""
    if len(factors) == 1:
        a = factors[0]
        series = a if order == 1 else a * (1.0 + 0.5 * a)
        if order == 3:
            series = series + a**3 / 6.0
    elif len(factors) == 2:
        a, b = factors
        series = a * b
        if order == 3:
            series = series * (1.0 + 0.5 * (a + b))
    else:
        series = factors[0] * factors[1] * factors[2]
    return series @ coef


def list_effects(columns: Columns, order: int) -> list[tuple[int, ...]]:
    """Return the parts of columns that each effect is of, by their number and in their order."""
    source = columns.parts[1].tolist()
    every = (c for size in range(1, order + 1) for c in combinations(range(len(source)), size))
    if not len(columns.gaps):
        return list(every)
    return [c for c in every if len({source[j] for j in c}) == len(c)]


def measure_effects(
    rows: Rows,
    kernel: Kernel,
    columns: Columns,
    v: np.ndarray,
    vectors: np.ndarray,
    coef: np.ndarray,
    intercept: np.ndarray,
) -> EffectMoments | None:
    """Return the moments of a model's effects over its training rows, by one pass over them.

    None for a model without columns, for kernels without effects, and where the effects are too
    many to be measured.
    """
    order = kernel.order
    if not order or not len(columns.index) or (order > 1 and len(v) > MOST_FUNCTIONS):
        return None
    chosen = list_effects(columns, order)
    if order == 3 and len(chosen) > MOST_TRIPLES:
        return None
    model = (kernel, columns, v, vectors, coef, intercept)
    width = max(1, len(vectors))
    if order == 3:
        sums = rows.total(_evaluated_sums, model, chosen, width=width)
        total, scores, squares, first, crossed = map(to_host, rows.fetch(sums))
    else:
        sums = rows.total(_product_sums, model, order, width=width)
        total, scores, squares, first, crossed = _from_products(
            [to_host(part) for part in rows.fetch(sums)], model, order, chosen
        )
    return EffectMoments.of_sums(chosen, total, scores, squares, first, crossed)


def _block_scores(block: Block, model: Parts) -> tuple[Array, Array, Array]:
    """Return what the kernel sees of a block, the model's scores there, the weights as a column."""
    kernel, columns, v, vectors, coef, intercept = model
    Z = columns.of_block(block)
    K = kernel(Z, like(vectors, Z), like(v, Z))
    return Z, K @ like(coef, K) + like(intercept, K), like(to_host(block.s), Z)[:, None]


def _product_sums(block: Block, model: Parts, order: int) -> Sums:
    """Return sums over a block: of functions and scores, and of their products."""
    Z, F, s = _block_scores(block, model)
    xp, k = namespace(Z), F.shape[1]
    by_score = [s * F[:, q : q + 1] for q in range(k)]
    sums = [xp.sum(part, axis=0) for part in (s, s * F, s * F * F, s * Z)]
    sums += [xp.sum(weight * Z, axis=0) for weight in by_score]
    if order > 1:
        sums += [(Z * weight).T @ Z for weight in (s, *by_score)]
    return tuple(sums)


def _from_products(
    sums: list[np.ndarray], model: Parts, order: int, chosen: list[tuple[int, ...]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the sums of every effect, and of its products with the scores, from those of products.

    A main effect is ``phi_j' b_j (+ phi_j' M_jj phi_j / 2)`` and a pair ``phi_j' M_jk phi_k``, with
    ``b = (Z v)' c`` and ``M = (Z v)' diag(c) (Z v)`` of the support vectors.
    """
    _, columns, v, vectors, coef, _ = model
    k = coef.shape[1]
    total, scores, squares, functions = sums[:4]
    by_score, products = sums[4 : 4 + k], sums[4 + k :]
    starts = np.unique(columns.parts[0], return_index=True)[1]
    weighted = vectors * v
    pairs = tuple(np.array([c for c in chosen if len(c) == 2], dtype=int).reshape(-1, 2).T)
    first, crossed = [], []
    for q in range(k):
        slope = weighted.T @ coef[:, q]
        main = [np.add.reduceat(slope * part, starts) for part in (functions, by_score[q])]
        if order > 1:
            M = (weighted * coef[:, q : q + 1]).T @ weighted
            forms = [
                np.add.reduceat(np.add.reduceat(M * gram, starts, 0), starts, 1)
                for gram in (products[0], products[1 + q])
            ]
            main = [a + 0.5 * form.diagonal() for a, form in zip(main, forms, strict=True)]
            main = [np.concatenate([a, form[pairs]]) for a, form in zip(main, forms, strict=True)]
        first.append(main[0])
        crossed.append(main[1])
    return total, scores, squares, np.transpose(first), np.transpose(crossed)


def _evaluated_sums(block: Block, model: Parts, chosen: list[tuple[int, ...]]) -> Sums:
    """Return sums over a block of every effect, and of its products with the scores."""
    kernel, columns, v, vectors, coef, _ = model
    Z, F, s = _block_scores(block, model)
    terms = column_terms(columns, like(v, Z), Z, like(vectors, Z))
    xp = namespace(Z)
    first, crossed = [], []
    for effect in chosen:
        values = effect_term([terms[j] for j in effect], kernel.order, like(coef, Z))
        first.append(to_host(xp.sum(s * values, axis=0)))
        crossed.append(to_host(xp.sum(s * values * F, axis=0)))
    sums = (to_host(xp.sum(part, axis=0)) for part in (s, s * F, s * F * F))
    return (*sums, np.array(first), np.array(crossed))
