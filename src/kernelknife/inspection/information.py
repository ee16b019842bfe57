"""All that matters: which columns carry information about a target on their own.

A selection holds the fewest columns that predict. Others may carry the same information, or some
that the selected ones make superfluous; they are not selected, and it would be wrong to say that
they do not matter. Here every column is tested alone, by an F test on smooth functions of its
ranks, so that a column that matters by its square or its sine is found as one is that rises with
the target.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtri
from scipy.stats import f as fisher
from scipy.stats import rankdata
from sklearn.utils.validation import check_array, check_consistent_length

from kernelknife._engine.data import column_names
from kernelknife._engine.policy import infer_task
from kernelknife._utils.checks import FLOATS
from kernelknife._utils.messages import import_optional
from kernelknife.kernels import Additive
from kernelknife.kernels.basis import Basis, make_basis

__all__ = ["Information", "carries_information"]

# Part of what a column explains that a line through its ranks must explain for it to be called
# rising or falling, and a parabola for it to be called an arch or a valley.
MOST_OF_IT = 0.5
SMALL_DIRECTION = 1e-7  # share of the largest below which a function of a column adds nothing
CHUNK = 2_000_000  # numbers of functions that are made at a time


@dataclass(frozen=True, eq=False)
class Information:
    """What single columns say about a target; from :func:`carries_information`.

    Attributes
    ----------
    p_values : ndarray of shape (n_features,)
        Of the statement that a column and the target are independent. Columns of a group share
        theirs; 1 for constant columns.
    q_values : ndarray of shape (n_features,)
        Smallest false discovery rate at which a column is listed, by Benjamini and Hochberg.
    shares : ndarray of shape (n_features,)
        Effect size: share of the variance of the target's ranks, or of the classes, that a curve of
        the column explains.
    correlations : ndarray of shape (n_features,)
        Correlation of the ranks of column and target (normal scores), with its sign. NaN for more
        than two classes, several targets and groups.
    class_means : ndarray of shape (n_classes, n_features)
        Mean of every column by class; no rows for numbers.
    classes : tuple
        The classes, none for numbers.
    shapes : tuple of str
        In words, how the target changes with a column: "rises", "falls", "valley" (high at both
        ends), "arch" (high in the middle) or "wavy"; for more than two classes and groups
        "differs".
    feature_names : ndarray of str

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.inspection import carries_information
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> found = carries_information(X, X[:, 1] ** 2)
    >>> found.listed(), found.shapes[1]
    (array([1]), 'valley')
    """

    p_values: np.ndarray
    q_values: np.ndarray
    shares: np.ndarray
    correlations: np.ndarray
    class_means: np.ndarray = field(repr=False)
    classes: tuple = field(repr=False)
    shapes: tuple[str, ...] = field(repr=False)
    feature_names: np.ndarray = field(repr=False)

    def listed(self, fdr: float = 0.05) -> np.ndarray:
        """Return the columns that carry information, the surest first.

        Parameters
        ----------
        fdr : float, default=0.05
            Expected share of false ones among them.

        Returns
        -------
        ndarray of int
            Numbers of columns.
        """
        order = np.lexsort((-self.shares, self.p_values))
        return np.asarray(order[self.q_values[order] <= fdr])

    def to_frame(self):
        """Return a pandas data frame with one row per column, the surest first.

        Returns
        -------
        DataFrame
            Tests, effects and shapes, and the mean of every class.
        """
        pandas = import_optional("pandas", "pandas", "Information.to_frame")
        columns = {
            "p_value": self.p_values,
            "q_value": self.q_values,
            "share": self.shares,
            "correlation": self.correlations,
            "shape": self.shapes,
        }
        means = zip(self.classes, self.class_means, strict=True)
        columns |= {f"mean of {label}": row for label, row in means}
        frame = pandas.DataFrame(columns, index=pandas.Index(self.feature_names, name="column"))
        return frame.iloc[np.lexsort((-self.shares, self.p_values))]


def carries_information(X, y, *, task=None, feature_groups=None, n_functions=5):
    """Test every column for information about the target, whatever the shape of their relation.

    The ranks of a column are seen through a few smooth functions, those of the additive kernel, and
    the target is regressed on them. Numbers are replaced by the normal scores of their ranks, which
    makes the p-values hold for all distributions; of several targets or classes it is Pillai's
    trace.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The columns. A gap counts as the median of its column: whether it is there is not tested.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Numbers or classes.
    task : {"regression", "classification"}, default=None
        None takes it from ``y``, as :func:`kernelknife.knife_path` does.
    feature_groups : array-like of shape (n_features,), default=None
        Columns with the same label are tested together, as they are, such as the indicators of one
        variable.
    n_functions : int, default=5
        Functions of a column: fewer for few rows and simple shapes, more for finer ones.

    Returns
    -------
    Information
        Tests, effects and shapes.

    See Also
    --------
    sklearn.feature_selection.f_regression : Straight lines only.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelknife.inspection import carries_information
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> found = carries_information(X, np.sin(2 * X[:, 2]) - X[:, 0])
    >>> np.sort(found.listed()), found.shapes[0]
    (array([0, 2]), 'falls')
    """
    names = np.asarray(X.columns, dtype=object) if hasattr(X, "columns") else None
    X = _without_gaps(check_array(X, dtype=FLOATS, ensure_all_finite="allow-nan"))
    check_consistent_length(X, y)
    if task not in (None, "regression", "classification"):
        raise ValueError(f"task must be 'regression' or 'classification', got {task!r}.")
    p = X.shape[1]
    y = np.asarray(y)
    classes = (task or infer_task(y)) == "classification"
    scores, labels = _scores_of_classes(y) if classes else (_scores_of_numbers(y), np.zeros(0))
    groups = None if feature_groups is None else np.asarray(feature_groups)
    if groups is not None and groups.shape != (p,):
        raise ValueError(f"feature_groups must have shape ({p},), got {groups.shape}.")
    traces, df, along, curved = _traces(X, scores, groups, n_functions)
    p_values = _pillai(traces, df, scores.shape[1], len(X))
    single = scores.shape[1] == 1
    means = [X[y.ravel() == label].mean(axis=0) for label in labels]
    return Information(
        p_values=p_values,
        q_values=_benjamini_hochberg(p_values, groups),
        shares=traces / np.maximum(np.minimum(df, scores.shape[1]), 1),
        correlations=along if single else np.full(p, np.nan),
        class_means=np.array(means).reshape(len(labels), p),
        classes=tuple(labels.tolist()),
        shapes=tuple(_shape(*one, single) for one in zip(traces, along, curved, strict=True)),
        feature_names=column_names(names, p),
    )


def _without_gaps(X: np.ndarray) -> np.ndarray:
    """Return the columns with their median in the place of gaps, which then say nothing."""
    gap = np.isnan(X)
    if not gap.any():
        return X
    known = np.where(gap.all(axis=0), 0.0, X)  # of a column of gaps alone
    return np.asarray(np.where(gap, np.nanmedian(known, axis=0), X))


# -- targets --------------------------------------------------------------------------------------


def _normal_scores(values: np.ndarray) -> np.ndarray:
    """Return the normal scores of the ranks of every column; equal values have one."""
    n = len(values)
    return np.asarray(ndtri((rankdata(values, axis=0) - 0.5) / n))


def _scores_of_numbers(y: np.ndarray) -> np.ndarray:
    """Return orthonormal columns that span the normal scores of the targets."""
    numbers = check_array(y.reshape(len(y), -1), dtype=FLOATS, input_name="y")
    return _orthonormal(_normal_scores(numbers)[None])[0][0]


def _scores_of_classes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return orthonormal columns that span the indicators of the classes, and the classes."""
    labels, codes = np.unique(y.ravel(), return_inverse=True)
    if len(labels) < 2:
        raise ValueError(f"The target has one class ({labels.tolist()[0]!r}): at least 2 needed.")
    indicators = (codes[:, None] == np.arange(1, len(labels))).astype(float)
    return _orthonormal(indicators[None])[0][0], labels


def _orthonormal(P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return orthonormal bases of centered columns, shape (q, n, r), and their dimensions.

    Directions that add nothing become zero. A single column keeps its sign.
    """
    P = P - P.mean(axis=1, keepdims=True)
    if P.shape[2] == 1:
        size = np.linalg.norm(P, axis=1, keepdims=True)
        good = size > 0
        return P / np.where(good, size, 1.0), good[:, 0, 0].astype(int)
    U, s, _ = np.linalg.svd(P, full_matrices=False)
    good = (s > SMALL_DIRECTION * s[:, :1]) & (s > 0)
    return U * good[:, None, :], good.sum(axis=1)


# -- columns --------------------------------------------------------------------------------------


def _traces(
    X: np.ndarray, scores: np.ndarray, groups: np.ndarray | None, n_functions: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return how much of the scores the functions of every column explain, and their number.

    With them come the correlation of the first score with the column, and with its square.
    """
    n, p = X.shape
    traces, df = np.zeros(p), np.zeros(p, dtype=int)
    along, curved = np.full(p, np.nan), np.full(p, np.nan)
    members = [] if groups is None else [np.flatnonzero(groups == g) for g in np.unique(groups)]
    joined = [mine for mine in members if len(mine) > 1]
    for mine in joined:
        Q, dimension = _orthonormal(X[None][:, :, mine])
        traces[mine], df[mine] = ((Q[0].T @ scores) ** 2).sum(), dimension[0]
    alone = np.setdiff1d(np.arange(p), np.concatenate([*joined, np.zeros(0, dtype=int)]))
    order = np.argsort(X[:, alone], axis=0)
    ranked = np.take_along_axis(X[:, alone], order, axis=0)
    tied = (ranked[1:] <= ranked[:-1]).any(axis=0)
    untied = alone[~tied]
    if len(untied):
        # All columns without ties have the same ranks, and the same functions of them.
        grid = _normal_scores(np.arange(n)[:, None])
        Q = _orthonormal(_basis(grid, n_functions).expand(grid)[None])[0][0]
        sorted_scores = scores[order[:, ~tied]].reshape(n, -1)
        explained = (Q.T @ sorted_scores) ** 2
        traces[untied] = explained.sum(axis=0).reshape(len(untied), -1).sum(axis=1)
        df[untied] = np.count_nonzero(Q.any(axis=0))
        first = sorted_scores.reshape(n, len(untied), -1)[:, :, 0]
        along[untied], curved[untied] = _lines(grid[:, :1], first)
    step = max(1, CHUNK // (n * n_functions))
    for some in np.split(alone[tied], range(step, int(tied.sum()), step)):
        if len(some):
            T = _normal_scores(X[:, some])
            traces[some], df[some] = _traces_of_tied(T, scores, n_functions)
            along[some], curved[some] = _lines(T, np.repeat(scores[:, :1], len(some), axis=1))
    return traces, df, along, curved


def _basis(T: np.ndarray, n_functions: int) -> Basis:
    like = Additive(n_functions=n_functions)
    like.validate()
    ones = np.ones(len(T))
    return make_basis(T, ones, gamma=like.gamma, n_functions=n_functions, n_knots=like.n_knots)


def _traces_of_tied(
    T: np.ndarray, scores: np.ndarray, n_functions: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the same for columns that have functions of their own, because values are equal."""
    basis = _basis(T, n_functions)
    functions, widths = basis.expand(T), basis.widths
    traces, df = np.zeros(T.shape[1]), np.zeros(T.shape[1], dtype=int)
    for width in np.unique(widths):
        mine = np.flatnonzero(widths == width)
        P = functions[:, np.isin(basis.sources, mine)].reshape(len(T), len(mine), width)
        Q, df[mine] = _orthonormal(P.swapaxes(0, 1))
        traces[mine] = ((Q.swapaxes(1, 2) @ scores) ** 2).sum(axis=(1, 2))
    return traces, df


def _lines(T: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the correlations of target columns with columns, and with what their squares add."""
    T = T - T.mean(axis=0)
    size = np.linalg.norm(T, axis=0)
    line = T / np.where(size > 0, size, 1.0)
    square = line**2 - (line**2).mean(axis=0)
    square = square - line * (line * square).sum(axis=0)
    size = np.linalg.norm(square, axis=0)
    square = square / np.where(size > 1e-12, size, 1.0)
    return (line * target).sum(axis=0), (square * target).sum(axis=0)


# -- tests ----------------------------------------------------------------------------------------


def _pillai(traces: np.ndarray, df: np.ndarray, n_outputs: int, n: int) -> np.ndarray:
    """Return p-values of Pillai's trace; for one output it is the F test."""
    s = np.minimum(df, n_outputs)
    left = n - 1 - df  # degrees of freedom of what is not explained
    first = np.maximum(df, n_outputs)
    second = left - n_outputs + s
    known = (df > 0) & (second > 0)
    s, first, second = (np.where(known, v, 1) for v in (s, first, second))
    rest = np.maximum(s - traces, 1e-300)
    statistic = second / first * traces / rest
    return np.asarray(np.where(known, fisher.sf(statistic, s * first, s * second), 1.0))


def _benjamini_hochberg(p_values: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    """Return the q-values of all columns; those of a group are one test."""
    place = np.arange(len(p_values))
    if groups is not None:
        place = np.unique(groups, return_inverse=True)[1]
    tests = np.ones(int(place.max(initial=-1)) + 1)
    tests[place] = p_values
    order = np.argsort(tests)
    scaled = tests[order] * len(tests) / np.arange(1, len(tests) + 1)
    q = np.empty(len(tests))
    q[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return np.asarray(q[place])


def _shape(trace: float, along: float, curved: float, single: bool) -> str:
    """Return in a word how the target changes with a column."""
    if not single or np.isnan(along):
        return "differs"
    if along**2 >= MOST_OF_IT * trace:
        return "rises" if along > 0 else "falls"
    if curved**2 >= MOST_OF_IT * trace:
        return "valley" if curved > 0 else "arch"
    return "wavy"
