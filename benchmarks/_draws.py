"""Random problems for the audit: data, and the arguments of an estimator.

Draw ``index`` of a seed is always the same. The data hold what tables hold: copies and mirror
images of columns, constants, scales that are far apart, long tails, few values, values that are
equal but for rounding, and texts as groups of indicators.
"""

from dataclasses import dataclass

import numpy as np

from kernelknife import KnifeClassifier, KnifeRegressor, kernels, losses

__all__ = ["KERNEL_SHARES", "LOSSES", "Draw", "draw"]

KERNEL_SHARES = {
    "rbf": 0.16,
    "additive": 0.15,
    "anova": 0.17,
    "joint": 0.12,
    "polynomial": 0.12,
    "linear": 0.08,
    "laplace": 0.07,
    "matern": 0.06,
    "rational_quadratic": 0.05,
    "sigmoid": 0.02,
}
LOSSES = {
    "regression": ("squared", "squared", "huber"),
    "classification": ("squared_hinge", "logistic", "huberized_hinge", "hinge"),
}


@dataclass(frozen=True)
class Draw:
    """One random problem: data, and the arguments of the estimator."""

    X: np.ndarray
    y: np.ndarray
    sample_weight: np.ndarray | None
    new_rows: np.ndarray
    task: str
    kernel: tuple[str, dict]
    loss: tuple[str, dict]
    options: dict

    def estimator(self):
        """Return the unfitted estimator."""
        kernel = kernels.KERNELS[self.kernel[0]](**self.kernel[1])
        loss = losses.LOSSES[self.loss[0]](**self.loss[1])
        knife = KnifeRegressor if self.task == "regression" else KnifeClassifier
        return knife(kernel, loss, **self.options)

    def fit(self):
        """Return the fitted estimator."""
        return self.estimator().fit(self.X, self.y, sample_weight=self.sample_weight)


def draw(seed: int, index: int) -> Draw:
    """Return problem ``index`` of a seed."""
    rng = np.random.default_rng([seed, index])
    n = int(np.exp(rng.uniform(np.log(20), np.log(81))))
    standardize = bool(rng.random() < 0.75)
    X, signal, labels, n_levels = _draw_columns(rng, n + 5, standardize)
    task = "regression" if rng.random() < 0.5 else "classification"
    y = _draw_targets(rng, signal[:n], task)
    kernel = _draw_kernel(rng)
    loss = _draw_loss(rng, task)
    sample_weight = _draw_sample_weight(rng, n, y if task == "classification" else np.zeros(n))
    alpha, sparsity = 10.0 ** rng.uniform(-5, 2), n * 10.0 ** rng.uniform(-4, 0.3)
    options = {
        "alpha": float(alpha),
        "sparsity": 0.0 if rng.random() < 0.15 else float(sparsity),
        "standardize": standardize,
        "fit_intercept": bool(rng.random() < 0.8 or loss[0] == "hinge"),
    }
    p = X.shape[1]
    costs = np.ones(p)
    if rng.random() < 0.3:
        costs = rng.uniform(0.2, 3.0, size=p) * (rng.random(p) < 0.8)
        options["feature_costs"] = costs.tolist()
    if n_levels:
        # As a table's encoder does: the indicators of a column share a weight and its cost.
        options["feature_groups"] = labels.tolist()
        options["feature_costs"] = (costs / np.bincount(labels)[labels]).tolist()
    elif rng.random() < 0.2:
        options["feature_groups"] = rng.integers(max(1, p // 2), size=p).tolist()
    if rng.random() < 0.2 and loss[0] != "hinge" and kernel[0] != "sigmoid":
        options.update(_draw_centers(rng, X[:n]))
    return Draw(X[:n], y, sample_weight, X[n:], task, kernel, loss, options)


def _heavy_tailed(rng, n):
    return np.exp(rng.uniform(0.8, 2.0) * rng.normal(size=n))


def _mostly_zero(rng, n):
    """Return counts of which at least two are not zero."""
    values = np.where(rng.random(n) < 0.15, rng.integers(1, 5, size=n), 0).astype(float)
    values[:2] = 1.0, 2.0
    return rng.permutation(values)


def _rounded(rng, n):
    """Return values of one decimal, some of them computed in another way: 3 * 0.1 is not 0.3."""
    k = rng.integers(-12, 13, size=n)
    return np.where(rng.random(n) < 0.5, 0.1 * k, k / 10)


# What a column of numbers may look like, and how often.
KINDS = (
    (lambda rng, n: rng.normal(size=n), 0.46),
    (lambda rng, n: rng.uniform(size=n), 0.2),
    (lambda rng, n: rng.integers(3, size=n).astype(float), 0.1),
    (_heavy_tailed, 0.1),
    (_mostly_zero, 0.04),
    (_rounded, 0.1),
)


def _draw_columns(rng, n, standardize):
    """Return columns, those that the target may depend on, labels of groups, number of levels."""
    p = int(rng.integers(1, 9))
    which = rng.choice(len(KINDS), p, p=[share for _, share in KINDS])
    plain = np.column_stack([KINDS[i][0](rng, n) for i in which])
    extra = []
    for _ in range(int(rng.integers(5)) if rng.random() < 0.6 else 0):
        source = plain[:, rng.integers(p)]
        what = rng.random()
        extra.append(
            source if what < 0.5 else 1.0 - source if what < 0.8 else np.full(n, source[0])
        )
    X = np.column_stack([plain, *extra])
    if standardize:
        scale = 10.0 ** rng.uniform(-6, 6, size=X.shape[1])
        far = rng.random(X.shape[1]) < 0.01
        scale[far] = 10.0 ** rng.choice([-150.0, 150.0], size=far.sum())
        if rng.random() < 0.5:
            scale[:] = 1.0
    else:
        scale = 10.0 ** rng.uniform(-1.0, 0.5, size=X.shape[1])
    X, labels = X * scale, np.arange(X.shape[1])
    n_levels = int(rng.integers(2, 6)) if rng.random() < 0.2 else 0
    if n_levels:
        codes = rng.permutation(np.arange(n) % n_levels)
        X = np.column_stack([X, codes[:, None] == np.arange(n_levels)])
        labels = np.append(labels, np.full(n_levels, len(labels)))
        plain = np.column_stack([plain, 2.0 * (codes == 0)])
    order = rng.permutation(X.shape[1])
    return X[:, order], plain, labels[order], n_levels


def _draw_targets(rng, plain, task):
    """Return targets that depend on some of the columns, or on none."""
    n, p = plain.shape
    outputs = int(rng.choice([1, 1, 1, 2, 3])) if task == "regression" else 1
    columns = []
    for _ in range(outputs):
        a, b = plain[:, rng.integers(p)], plain[:, rng.integers(p)]
        truth = (np.sin(2 * a) + b, a * b, a**2 - b, a + b, 0.0 * a)[rng.integers(5)]
        columns.append(truth + 10.0 ** rng.uniform(-2, 0) * rng.normal(size=n))
    if task == "regression":
        y = np.column_stack(columns) * 10.0 ** rng.uniform(-1, 1)
        return y[:, 0] if outputs == 1 else y
    classes = int(rng.choice([2, 2, 2, 3, 4]))
    codes = np.empty(n, dtype=int)
    codes[np.argsort(columns[0])] = np.arange(n) * classes // n
    return codes


def _draw_kernel(rng):
    name = str(rng.choice(list(KERNEL_SHARES), p=list(KERNEL_SHARES.values())))
    gamma = {"gamma": float(10.0 ** rng.uniform(-1, 0.5))}
    curves = {
        "gamma": float(10.0 ** rng.uniform(-0.6, 0.5)),
        "n_functions": int(rng.integers(1, 7)),
        "n_knots": int(rng.integers(8, 21)),
    }
    given = {
        "linear": {},
        "additive": curves,
        "anova": {"order": int(rng.choice([2, 2, 2, 3])), **curves},
        "polynomial": {"degree": int(rng.choice([1, 2, 2, 3])), "coef0": float(rng.integers(2))},
        "matern": {**gamma, "nu": float(rng.choice([1.5, 2.5]))},
        "rational_quadratic": {**gamma, "shape": float(10.0 ** rng.uniform(-0.5, 1))},
        "sigmoid": {"gamma": float(rng.uniform(0.02, 0.2)), "coef0": 0.0},
    }
    return name, given.get(name, gamma)


def _draw_loss(rng, task):
    name = str(rng.choice(LOSSES[task]))
    given = {
        "huber": {"delta": float(rng.uniform(0.3, 2.0))},
        "huberized_hinge": {"width": float(10.0 ** rng.uniform(-2, 0.5))},
        "hinge": {"width": float(10.0 ** rng.uniform(-1, 0.3))},
    }
    return name, given.get(name, {})


def _draw_sample_weight(rng, n, codes):
    """Return None or weights, some of them zero, with two rows of every class left."""
    kind = rng.random()
    if kind < 0.5:
        return None
    s = rng.uniform(0.2, 2.0, size=n) if kind < 0.8 else rng.integers(4, size=n).astype(float)
    if kind > 0.65:
        s[rng.random(n) < 0.15] = 0.0
    for code in np.unique(codes):
        mine = np.flatnonzero(codes == code)
        s[mine[:2]] = np.maximum(s[mine[:2]], 0.5)
    return s


def _draw_centers(rng, X):
    """Return the arguments of centers: a number and a rule, or the centers themselves."""
    m = int(rng.integers(3, max(4, len(X) // 2)))
    if rng.random() < 0.6:
        return {"n_centers": m, "centers": str(rng.choice(["kmeans++", "uniform", "leverage"]))}
    rows = X[rng.choice(len(X), m, replace=False)]
    return {
        "centers": rows
        + 0.05 * np.std(X / _unit(X), axis=0) * _unit(X) * rng.normal(size=rows.shape)
    }


def _unit(X):
    largest = np.abs(X).max(axis=0)
    return np.where(largest > 0, largest, 1.0)
