"""Which pairs of columns act together beyond their curves: one more scan, a score test each.

Products of the functions of two columns are functions of the pair. Whether they explain what a
model of curves leaves follows from sums of products, in which the functions of the single columns
are taken out. For a loss that is not squared the quadratic at the model's scores takes its place.

A column that acts together with another one leaves more where its values are extreme, and so do its
products with all others. So the variance of a sum is estimated from the rows themselves (White's),
and not from one variance for all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
from scipy.stats import chi2

from kernelknife._streaming.scan import Scans
from kernelknife._streaming.search import Found, coefficients
from kernelknife._streaming.source import Columnar, Layout, read_part
from kernelknife._streaming.sums import Expansion, chunks, coded, join_products
from kernelknife.losses import Loss

__all__ = ["PairTest", "search_pairs"]

FUNCTIONS = 4  # of a column, the smoothest ones, whose products are functions of a pair
DEPENDENT = 1e-9  # share of a function of a pair that single columns have to leave


@dataclass(frozen=True)
class PairTest:
    """What two columns explain together, beyond their curves.

    Attributes
    ----------
    names : tuple of str
    share : float
        Of the variance that the model leaves.
    p_value : float
        Of the statement that they only add up, times the number of pairs that were tested.
    """

    names: tuple[str, str]
    share: float
    p_value: float


def places_of(expansion: Expansion, columns: Sequence[int]) -> list[np.ndarray]:
    """Return where the functions of some of the kernel's columns stand."""
    sources = expansion.columns.sources
    return [np.flatnonzero(sources == j) for j in columns]


def block_pairs(
    block: Columnar,
    number: int,
    layout: Layout,
    expansion: Expansion,
    loss: Loss,
    beta: np.ndarray,
    level: float,
    pairs: Sequence[tuple[int, int]],
) -> tuple[np.ndarray, ...]:
    """Return the sums of a block that the tests of some pairs need.

    Parameters
    ----------
    block, number, layout
        See :func:`read_part`.
    expansion : Expansion
        To the functions of the columns of all pairs and of the model.
    loss : Loss
    beta, level : ndarray and float
        The model.
    pairs : sequence of (int, int)
        Columns of the expansion.
    """
    part = read_part(block, number, layout)
    X, y = coded(part, layout, expansion.levels), expansion.encoded(part, layout.target)
    places = places_of(expansion, range(int(expansion.columns.sources.max(initial=-1)) + 1))
    short = [place[:FUNCTIONS] for place in places]
    sizes = [len(short[i]) * len(short[j]) for i, j in pairs]
    most, width = max(sizes), expansion.width - 1
    # Of curvatures, and of squares of what the model leaves.
    inner, outer = np.zeros((2, len(pairs), most, most)), np.zeros((2, len(pairs), most, width))
    slopes, singles = np.zeros((len(pairs), most)), np.zeros((2, width, width))
    single_slopes, left = np.zeros(width), np.zeros(1)
    for rows in chunks(np.zeros(len(part.s), dtype=np.intp), width + sum(sizes)):
        A = expansion.fill(X, y, rows)
        risk = loss.bind(np.column_stack([A[-1], part.offset[rows]]), part.s[rows], 1)
        F = (beta @ A[:-2] + level)[:, None]
        g, h = -0.5 * risk.gradient(F)[:, 0], 0.5 * risk.curvature(F)[:, 0]
        curved = h > 0.0
        A, g, h = A[:-1, curved], g[curved], h[curved]
        left += float((g * g / h).sum())
        single_slopes += A @ g
        for which, weight in enumerate((h, g * g)):
            singles[which] += (A * weight) @ A.T
        for k, (i, j) in enumerate(pairs):
            T = (A[short[i]][:, None] * A[short[j]][None]).reshape(sizes[k], -1)
            slopes[k, : sizes[k]] += T @ g
            for which, weight in enumerate((h, g * g)):
                weighted = T * weight
                inner[which, k, : sizes[k], : sizes[k]] += weighted @ T.T
                outer[which, k, : sizes[k]] += weighted @ A.T
    return inner, outer, slopes, singles, single_slopes, left


def compare_pairs(sums: tuple[np.ndarray, ...], names: Sequence[tuple[str, str]]) -> list[PairTest]:
    """Return what the sums say of every pair, the strongest first."""
    inner, outer, slopes, singles, single_slopes, everything = sums
    found = []
    for k, name in enumerate(names):
        S, across, u = inner[0, k], outer[0, k], slopes[k]
        onto = np.linalg.lstsq(singles[0], np.column_stack([across.T, single_slopes]))[0]
        B, rest = onto[:, :-1], u - across @ onto[:, -1]
        values, vectors = np.linalg.eigh(S - across @ B)
        kept = values > DEPENDENT * max(float(S.diagonal().max()), 1e-300)
        axes, u = vectors[:, kept], vectors[:, kept].T @ rest
        crossed = outer[1, k] @ B
        spread = axes.T @ (inner[1, k] - crossed - crossed.T + B.T @ singles[1] @ B) @ axes
        gain, p_value = float((u**2 / values[kept]).sum()), 1.0
        if kept.any():
            statistic = float(u @ np.linalg.lstsq(spread, u)[0])
            p_value = min(float(chi2.sf(statistic, int(kept.sum()))) * len(names), 1.0)
        found.append(PairTest(name, min(gain / float(everything[0]), 1.0), p_value))
    return sorted(found, key=lambda pair: (pair.p_value, -pair.share))


def search_pairs(
    asked: int | Sequence[tuple[str, str]],
    scans: Scans,
    layout: Layout,
    expansion: Expansion,
    found: Found,
) -> list[PairTest]:
    """Return what pairs of features explain together, by one more scan.

    Parameters
    ----------
    asked : int or sequence of (str, str)
        Of how many features pairs are tested, or the names of the pairs.
    scans : Scans
    layout : Layout
    expansion : Expansion
    found : Found
    """
    data, solution = found.setup.data, found.result.solution
    place = {layout.features[j]: i for i, j in enumerate(data.columns.index)}
    names = list(place)
    if isinstance(asked, int | np.integer):
        last = np.array([point.w > 0 for point in found.trace.points]).sum(axis=0)
        strongest = sorted(range(len(last)), key=lambda i: (not solution.w[i], -last[i]))
        pairs = list(combinations([names[i] for i in sorted(strongest[:asked])], 2))
    else:
        pairs = [(str(one), str(other)) for one, other in asked]
    pairs = [pair for pair in pairs if set(pair) <= set(names)]  # a constant acts with nothing
    if not pairs:
        return []
    involved = {place[name] for pair in pairs for name in pair}
    involved |= set(np.flatnonzero(solution.w).tolist())
    kept = sorted(involved)
    functions = np.concatenate(places_of(expansion, kept))
    function = partial(
        block_pairs,
        layout=layout,
        expansion=expansion.restricted(functions),
        loss=data.smooth_loss,
        beta=coefficients(found.setup.problem, solution)[functions, 0],
        level=float(solution.b[-1, 0]),
        pairs=[(kept.index(place[one]), kept.index(place[other])) for one, other in pairs],
    )
    what = f"scan of {len(pairs)} pairs"
    return compare_pairs(scans.run(what, function, layout.columns, join_products), pairs)
