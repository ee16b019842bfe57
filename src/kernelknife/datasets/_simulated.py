"""The paper's simulated problems, separate effects, and a table of genes."""

import numpy as np
from scipy.stats import norm
from sklearn.utils import Bunch, check_random_state

from kernelknife._utils.checks import check_number

__all__ = [
    "make_genes",
    "make_linear",
    "make_separate_effects",
    "make_sinusoidal",
    "make_skin_of_orange",
]

COEFFICIENTS = (6.0, -4.0, 3.0, 2.0, -2.0)  # of the true features, as in the paper
# Squared radii between which the class around the other lies, as in the paper.
INNER, OUTER = 9.0, 16.0


def _make_regression(n_samples, n_noise, random_state, transform):
    """Return standard normal features, and a linear function of the transformed true ones."""
    check_number(n_samples, "n_samples", low=1, integer=True)
    check_number(n_noise, "n_noise", integer=True)
    rng = check_random_state(random_state)
    X = rng.standard_normal((n_samples, len(COEFFICIENTS) + n_noise))
    signal = transform(X[:, : len(COEFFICIENTS)]) @ np.array(COEFFICIENTS)
    return X, signal + rng.standard_normal(n_samples)


def make_linear(n_samples=100, n_noise=5, random_state=None):
    """Linear regression with five true features.

    ``y = 6 x1 - 4 x2 + 3 x3 + 2 x4 - 2 x5 + noise``; features and noise are standard normal.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    n_noise : int, default=5
        Number of features without effect.
    random_state : int, RandomState or None, default=None
        Seed; the same number gives the same data.

    Returns
    -------
    X : ndarray of shape (n_samples, 5 + n_noise)
        Features; the first five are the true ones.
    y : ndarray of shape (n_samples,)
        Target.

    Examples
    --------
    >>> from kernelknife.datasets import make_linear
    >>> X, y = make_linear(100, n_noise=20, random_state=0)
    >>> X.shape
    (100, 25)
    """
    return _make_regression(n_samples, n_noise, random_state, lambda X: X)


def make_sinusoidal(n_samples=100, n_noise=5, random_state=None):
    """Regression on the sines of five true features.

    ``y = 6 sin x1 - 4 sin x2 + 3 sin x3 + 2 sin x4 - 2 sin x5 + noise``; features and noise are
    standard normal.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    n_noise : int, default=5
        Number of features without effect.
    random_state : int, RandomState or None, default=None
        Seed; the same number gives the same data.

    Returns
    -------
    X : ndarray of shape (n_samples, 5 + n_noise)
        Features; the first five are the true ones.
    y : ndarray of shape (n_samples,)
        Target.

    Examples
    --------
    >>> from kernelknife.datasets import make_sinusoidal
    >>> X, y = make_sinusoidal(100, n_noise=20, random_state=0)
    >>> X.shape
    (100, 25)
    """
    return _make_regression(n_samples, n_noise, random_state, np.sin)


def make_skin_of_orange(n_samples=100, n_noise=6, random_state=None):
    """Two classes, one around the other like the skin of an orange.

    In class 0 four features are standard normal. In class 1 they are standard normal under the
    condition ``9 <= sum x_j**2 <= 16``. No feature differs in its mean between the classes.

    Parameters
    ----------
    n_samples : int, default=100
        Half of them (rounded down) are in class 0.
    n_noise : int, default=6
        Number of standard normal features without effect.
    random_state : int, RandomState or None, default=None
        Seed; the same number gives the same data.

    Returns
    -------
    X : ndarray of shape (n_samples, 4 + n_noise)
        Features; the first four are the true ones.
    y : ndarray of int of shape (n_samples,)
        Classes, in random order.

    Examples
    --------
    >>> from kernelknife.datasets import make_skin_of_orange
    >>> X, y = make_skin_of_orange(100, n_noise=20, random_state=0)
    >>> X.shape
    (100, 24)
    """
    check_number(n_samples, "n_samples", low=2, integer=True)
    check_number(n_noise, "n_noise", integer=True)
    rng = check_random_state(random_state)
    y = rng.permutation(np.arange(n_samples) >= n_samples // 2).astype(int)
    X = rng.standard_normal((n_samples, 4 + n_noise))
    # Rows of class 1 are drawn again until all of them lie between the two radii.
    outside = np.flatnonzero(y)
    while len(outside):
        X[outside, :4] = rng.standard_normal((len(outside), 4))
        squared_radius = np.sum(X[outside, :4] ** 2, axis=1)
        outside = outside[(squared_radius < INNER) | (squared_radius > OUTER)]
    return X, y


EFFECTS = ("shell", "checkerboard", "sum")  # each of two features of its own
SIGNAL_TO_NOISE = 3.0  # deviation of the sum of effects over that of its noise


def make_separate_effects(
    n_samples=500,
    n_noise=60,
    effects=("shell", "checkerboard", "sum"),
    union=True,
    random_state=None,
):
    """Make effects of disjoint pairs of features, united into classes or added up to a number.

    All features are standard normal. A shell is positive between two radii of its pair, a
    checkerboard where the product of its pair is large, a sum where the sum of its pair is. Each is
    positive for the same share of rows, so that about half of the rows are positive for at least
    one of them.

    Parameters
    ----------
    n_samples : int, default=500
        Number of rows.
    n_noise : int, default=60
        Number of features without effect.
    effects : sequence of {"shell", "checkerboard", "sum"}
        Each takes the next two features.
    union : bool, default=True
        Whether ``y`` holds classes, 1 where at least one effect is positive. Otherwise it is the
        sum of the effects, each scaled to variance 1, plus noise of a third of its deviation.
    random_state : int, RandomState or None, default=None
        Seed; the same number gives the same data.

    Returns
    -------
    Bunch
        With ``data``, ``target``, ``relevant`` (indices of the true features) and ``pairs`` (the
        features of every effect, by its name).

    Examples
    --------
    >>> from kernelknife.datasets import make_separate_effects
    >>> table = make_separate_effects(300, 10, effects=("shell", "sum"), random_state=0)
    >>> table.data.shape, table.pairs
    ((300, 14), {'shell': (0, 1), 'sum': (2, 3)})
    """
    check_number(n_samples, "n_samples", low=1, integer=True)
    check_number(n_noise, "n_noise", integer=True)
    effects = list(effects)
    unknown = [name for name in effects if name not in EFFECTS]
    if unknown or not effects or len(set(effects)) < len(effects):
        raise ValueError(
            f"effects must be different names among {', '.join(EFFECTS)}, got {effects!r}."
        )
    rng = check_random_state(random_state)
    X = rng.standard_normal((n_samples, 2 * len(effects) + n_noise))
    pairs = {name: (2 * i, 2 * i + 1) for i, name in enumerate(effects)}
    # The share of rows with a positive effect is such that the effects together cover half of them.
    share = 1.0 - 0.5 ** (1.0 / len(effects))
    strengths = [_strength(name, X[:, pairs[name]], share) for name in effects]
    if union:
        y = (np.array(strengths) > 0).any(axis=0).astype(int)
    else:
        signal = np.sum([strength / strength.std() for strength in strengths], axis=0)
        y = signal + signal.std() / SIGNAL_TO_NOISE * rng.standard_normal(n_samples)
    return Bunch(data=X, target=y, relevant=np.arange(2 * len(effects)), pairs=pairs)


def _strength(name, pair, share):
    """Return a number per row that is positive for about this share of rows."""
    if name == "sum":
        return pair.sum(axis=1) - np.sqrt(2.0) * norm.ppf(1.0 - share)
    if name == "checkerboard":
        # The product of two standard normal numbers, whose quantiles have no formula.
        draws = np.random.default_rng(0).standard_normal((2, 200_000)).prod(axis=0)
        return pair.prod(axis=1) - np.quantile(draws, 1.0 - share)
    # The squared radius has an exponential distribution; the shell begins at a radius of 1.
    squared = (pair**2).sum(axis=1)
    outer = -2.0 * np.log(np.exp(-0.5) - share)
    return np.minimum(squared - 1.0, outer - squared)


MODULE_SIZE = 10  # genes that are regulated together
MODULE_SHARE = 0.5  # share of a gene's variance that it has in common with its module
PATIENT_SHARE = 0.3  # deviation of what is peculiar to a patient, beside genes of deviation 1


def make_genes(n_patients=31, n_genes=500, n_relevant=3, shift=1.5, random_state=None):
    """Make the activity of genes in a tumor and a normal tissue of every patient.

    It looks like a small study with microarrays: many more genes than tissues, genes that are
    regulated together in modules of ten, two tissues of every patient that resemble each other.
    Numbers are logarithms of activities, with variance 1 in each kind of tissue (and a little more
    for what is peculiar to a patient). A few genes of different modules are higher or lower in
    tumors; the other genes of their modules are not, so they are correlated with a gene that
    matters and do not matter themselves.

    Parameters
    ----------
    n_patients : int, default=31
        Number of patients; there are twice as many tissues.
    n_genes : int, default=500
        Number of genes.
    n_relevant : int, default=3
        Number of genes that differ between the tissues, at most one in ten.
    shift : float, default=1.5
        By how many standard deviations they differ.
    random_state : int, RandomState or None, default=None
        Seed; the same number gives the same data.

    Returns
    -------
    Bunch
        With ``data`` (tissues by genes), ``target`` ("normal" or "tumor"), ``groups`` (the number
        of the patient), ``feature_names`` and ``relevant`` (indices of the genes that differ).

    See Also
    --------
    load_colon : A measured table of this kind.

    Examples
    --------
    >>> from kernelknife.datasets import make_genes
    >>> genes = make_genes(random_state=0)
    >>> genes.data.shape, [genes.feature_names[j] for j in genes.relevant]
    ((62, 500), ['g000', 'g010', 'g020'])
    """
    check_number(n_patients, "n_patients", low=2, integer=True)
    check_number(n_genes, "n_genes", low=1, integer=True)
    check_number(n_relevant, "n_relevant", low=1, integer=True)
    check_number(shift, "shift")
    n_modules = -(-n_genes // MODULE_SIZE)
    if n_relevant > n_modules:
        raise ValueError(
            f"n_relevant={n_relevant} is more than the {n_modules} modules of ten genes each."
        )
    rng = check_random_state(random_state)
    patient = np.repeat(np.arange(n_patients), 2)
    tumor = np.tile([True, False], n_patients)
    module = np.arange(n_genes) // MODULE_SIZE
    X = np.sqrt(1.0 - MODULE_SHARE) * rng.standard_normal((2 * n_patients, n_genes))
    X += np.sqrt(MODULE_SHARE) * rng.standard_normal((2 * n_patients, n_modules))[:, module]
    X += PATIENT_SHARE * rng.standard_normal((n_patients, n_genes))[patient]
    relevant = np.arange(n_relevant) * MODULE_SIZE
    X[np.ix_(tumor, relevant)] += shift * np.where(np.arange(n_relevant) % 2, -1.0, 1.0)
    digits = max(3, len(str(n_genes - 1)))
    return Bunch(
        data=X,
        target=np.where(tumor, "tumor", "normal"),
        groups=patient,
        feature_names=[f"g{j:0{digits}d}" for j in range(n_genes)],
        relevant=relevant,
    )
