"""The whole way from a data frame to an answer: which columns matter, and how sure that is.

:func:`select_features` is what ``kernelknife select`` runs; its :class:`Selection` is what the
report shows.
"""

import platform
import time
import warnings
from dataclasses import dataclass, field, replace

import numpy as np
import scipy
import sklearn
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from kernelknife import __version__
from kernelknife._support.threads import limited_blas
from kernelknife.estimators import KnifeClassifier, KnifeRegressor
from kernelknife.model_selection import KnifeClassifierCV, KnifeRegressorCV
from kernelknife.tables import Table, TableEncoder, TableError, make_table

__all__ = ["Effect", "Feature", "HeldOut", "Score", "Selection", "select_features"]

MOST_EFFECTS = 8
EFFECT_ROWS = 200
EFFECT_POINTS = 40
FEWEST_ROWS = 10
MANY_ROWS, SOME_CENTERS = 1500, 300


@dataclass(frozen=True)
class Feature:
    """A column and what the fit says about it."""

    name: str
    weight: float
    frequency: float  # share of the folds that select it
    rank: int  # 1 for the one that survives longest

    @property
    def selected(self):
        return self.weight > 0


@dataclass(frozen=True)
class Score:
    """An error over folds: its mean and the standard error of the mean."""

    mean: float
    spread: float


@dataclass(frozen=True)
class HeldOut:
    """Errors on rows that took no part in anything."""

    error: float
    constant: float  # of the constant that the other rows suggest
    rows: int


@dataclass(frozen=True)
class Effect:
    """What the machine predicts on average as one column takes other values.

    ``values`` are numbers or texts, ``curves`` holds one array per output by its name, and
    ``rug`` the column's values in the data (none for texts).
    """

    name: str
    values: list
    curves: dict
    rug: np.ndarray


@dataclass(frozen=True)
class Selection:
    """Which columns matter for a target.

    Attributes
    ----------
    features : tuple of Feature
        All columns, the selected ones first, by weight.
    error, constant_error, full_error : Score
        Over the same folds: of the chosen machine, of a constant, of a machine with all columns
        and equal weights. The first is corrected for the choice of the penalties on these folds.
    advantage : Score
        By how much the chosen machine errs less than a constant, fold by fold, corrected too.
    error_name : str
    held_out : HeldOut or None
        Errors on rows that took no part in anything, where some were held out.
    effects : tuple of Effect
    table : Table
    encoder : TableEncoder
    search : KnifeRegressorCV or KnifeClassifierCV
    model : KnifeRegressor or KnifeClassifier
        The chosen machine; it predicts from the encoder's columns.
    settings : dict
        What was asked.
    versions : dict
    seconds : float
    """

    features: tuple[Feature, ...] = field(repr=False)
    error: Score
    constant_error: Score
    full_error: Score
    advantage: Score
    error_name: str
    held_out: HeldOut | None
    effects: tuple[Effect, ...] = field(repr=False)
    table: Table = field(repr=False)
    encoder: TableEncoder = field(repr=False)
    search: KnifeRegressorCV | KnifeClassifierCV = field(repr=False)
    model: KnifeRegressor | KnifeClassifier = field(repr=False)
    settings: dict = field(repr=False)
    versions: dict = field(repr=False)
    seconds: float

    @property
    def selected(self):
        """The names of the selected columns, the largest weight first."""
        return [feature.name for feature in self.features if feature.selected]

    @property
    def better(self):
        """Whether the chosen machine errs less than a constant, by two standard errors or more.

        Where rows were held out, they must agree.
        """
        noise = 2.0 * self.advantage.spread + 1e-9 * abs(self.constant_error.mean)
        sure = bool(self.selected) and self.advantage.mean > noise
        return sure and (self.held_out is None or self.held_out.error < self.held_out.constant)

    def predict(self, frame):
        """Predict for the rows of a data frame.

        Parameters
        ----------
        frame : DataFrame
            With the selected columns; others are ignored.

        Returns
        -------
        ndarray
        """
        return self.model.predict(self.encoder.transform(frame, self.selected))

    def to_json(self):
        """Return the answer as a dict of plain values."""
        return {
            "target": self.table.target_name,
            "task": self.table.task,
            "selected": self.selected,
            "features": [
                {
                    "name": feature.name,
                    "weight": feature.weight,
                    "frequency": feature.frequency,
                    "rank": feature.rank,
                }
                for feature in self.features
            ],
            "alpha": float(self.model.alpha),
            "sparsity": float(self.model.sparsity_),
            "error": {
                "name": self.error_name,
                "mean": self.error.mean,
                "standard_error": self.error.spread,
                "constant": self.constant_error.mean,
                "all_features": self.full_error.mean,
                "advantage_over_constant": self.advantage.mean,
                "advantage_standard_error": self.advantage.spread,
                "held_out": None if self.held_out is None else vars(self.held_out),
            },
            "better_than_a_constant": bool(self.better),
            "rows": len(self.table.target),
            "columns": self.table.features.shape[1],
            "notes": list(self.table.notes),
            "settings": self.settings,
            "versions": self.versions,
        }

    def _repr_html_(self):
        from kernelknife.report import build_fragment

        return build_fragment(self)


def select_features(
    frame,
    target,
    *,
    drop=(),
    ids=(),
    group=None,
    task=None,
    impute=None,
    drop_missing=False,
    kernel="rbf",
    loss=None,
    alpha=None,
    sparsity=None,
    n_features=None,
    rule="min",
    folds=None,
    hold_out=0.0,
    n_centers=None,
    random_state=0,
    n_jobs=None,
    callbacks=(),
):
    """Find which columns of a data frame matter for one of them.

    Parameters
    ----------
    frame : DataFrame
    target : str
    drop, ids : sequence of str, default=()
        Columns to leave out.
    group : str, default=None
        Column whose equal values mark rows that belong together and stay in one fold.
    task : {"regression", "classification"}, default=None
        None guesses from the target.
    impute : {None, "median"}, default=None
    drop_missing : bool, default=False
    kernel, loss : str, default="rbf" and None
        See :class:`kernelknife.KnifeRegressor` and :class:`kernelknife.KnifeClassifier`.
    alpha : float, default=None
        None chooses among several.
    sparsity : float, default=None
        None chooses by the folds.
    n_features : int, default=None
        Exactly so many columns, instead of a sparsity.
    rule : {"min", "1se"}, default="min"
    folds : int, default=None
    hold_out : float, default=0.0
        Share of the rows (of the groups, where there are some) kept for judging alone.
    n_centers : int, default=None
        Centres of the machine; None is 300 beyond 1,500 rows, else the exact method; 0 is the
        exact method.
    random_state : int, default=0
    n_jobs : int, default=None
    callbacks : sequence, default=()
        Scikit-learn callbacks, such as a progress bar.

    Returns
    -------
    Selection

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelknife.datasets import make_sinusoidal
    >>> X, y = make_sinusoidal(80, 3, random_state=0)
    >>> frame = pd.DataFrame(X, columns=list("abcdefgh")).assign(y=y)
    >>> found = select_features(frame, "y", alpha=0.3, folds=3)
    >>> sorted(found.selected)
    ['a', 'b', 'c', 'd', 'e']
    """
    begin = time.perf_counter()
    settings = {
        name: value
        for name, value in locals().items()
        if name not in ("frame", "begin", "callbacks", "n_jobs")
    }
    if sparsity is not None and n_features is not None:
        raise TableError("Give a sparsity or a number of features, not both.")
    if n_features is not None and n_features < 1:
        raise TableError(f"The number of features must be at least 1, got {n_features}.")
    table = make_table(
        frame,
        target,
        drop=drop,
        ids=ids,
        group=group,
        task=task,
        impute=impute,
        drop_missing=drop_missing,
    )
    if len(table.target) < FEWEST_ROWS:
        raise TableError(f"The table has {len(table.target)} rows; at least {FEWEST_ROWS} needed.")
    if n_features is not None and n_features > table.features.shape[1]:
        raise TableError(
            f"{n_features} features asked for, the table has {table.features.shape[1]} to choose "
            "from."
        )
    train, test = _hold_out(table, hold_out, random_state)
    encoder = TableEncoder(impute=impute).fit(table.features.iloc[train])
    X, y = encoder.transform(table.features.iloc[train]), table.target[train]
    groups = None if table.groups is None else table.groups[train]
    search = (KnifeRegressorCV if table.task == "regression" else KnifeClassifierCV)(
        kernel=kernel,
        loss=loss,
        rule=rule,
        cv=folds,
        random_state=random_state,
        n_jobs=n_jobs,
        feature_groups=encoder.feature_groups_,
    )
    if n_centers is None and len(X) > MANY_ROWS:
        n_centers = SOME_CENTERS
        said = f"{len(X)} rows: machines on {n_centers} centres (--centers 0 for the exact method)"
        table = replace(table, notes=(*table.notes, said))
    if n_centers:
        search.set_params(n_centers=n_centers)
    if alpha is not None:
        search.set_params(alphas=[alpha])
    if callbacks:
        search.set_callbacks(*callbacks)
    search.fit(X, y, groups=groups)
    model, errors, optimism, frequency = _choose(search, X, y, sparsity, n_features, n_jobs)
    features = _features(model, search, frequency, encoder)
    held_out = None
    if len(test):
        Z, target_there = encoder.transform(table.features.iloc[test]), table.target[test]
        dummy = _constant(table.task).fit(X, y)
        held_out = HeldOut(
            _error(model, Z, target_there, table.task),
            _error(dummy, Z, target_there, table.task),
            len(test),
        )
    constants, full = _baselines(search, X, y, table.task, kernel, n_jobs)
    selected = [feature.name for feature in features if feature.selected]
    return Selection(
        features=tuple(features),
        error=_score(errors, optimism),
        constant_error=_score(constants),
        full_error=full,
        advantage=_advantage(constants - errors, optimism, search.splits_),
        error_name="mean squared error" if table.task == "regression" else "share of wrong classes",
        held_out=held_out,
        effects=tuple(_effects(model, encoder, table, X, selected, random_state)),
        table=table,
        encoder=encoder,
        search=search,
        model=model,
        settings=settings,
        versions=versions(),
        seconds=time.perf_counter() - begin,
    )


def versions():
    """Return what an answer may depend on."""
    return {
        "kernelknife": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "sklearn": sklearn.__version__,
    }


def _hold_out(table, share, random_state):
    """Return rows to choose with and rows to judge with, groups whole."""
    n = len(table.target)
    if not 0.0 <= share < 1.0:
        raise TableError(f"The share to hold out must lie between 0 and 1, got {share:g}.")
    if share == 0.0:
        return np.arange(n), np.arange(0)
    rng = np.random.default_rng(random_state)
    held = np.zeros(n, dtype=bool)
    if table.groups is not None:
        units = np.unique(table.groups)
        kept = rng.choice(units, max(1, round(share * len(units))), replace=False)
        held = np.isin(table.groups, kept)
    else:
        # Each class gives its share.
        classes = table.target if table.task == "classification" else np.zeros(n)
        for value in np.unique(classes):
            rows = np.flatnonzero(classes == value)
            held[rng.choice(rows, round(share * len(rows)), replace=False)] = True
    if n - held.sum() < FEWEST_ROWS or not held.any():
        raise TableError(f"Holding out {share:g} of {n} rows leaves too few to choose or to judge.")
    if table.task == "classification":
        lost = np.setdiff1d(table.target, table.target[~held])
        if len(lost):
            raise TableError(f"Holding out {share:g} leaves no row of class {lost[0]!r}: lower it.")
    return np.flatnonzero(~held), np.flatnonzero(held)


def _error(model, X, y, task):
    found = model.predict(X)
    return float(np.mean((found - y) ** 2) if task == "regression" else np.mean(found != y))


def _errors(values, name):
    """Return the errors behind scores; an accuracy becomes the share of wrong ones."""
    return 1.0 - values if name == "accuracy" else -values


def _score(errors, optimism=0.0):
    spread = float(errors.std(ddof=1) / np.sqrt(len(errors)))
    return Score(float(errors.mean()) + optimism, spread)


def _advantage(gains, optimism, splits):
    """Return the mean gain and its standard error, which knows that folds share rows.

    C. Nadeau and Y. Bengio (2003), Inference for the generalization error.
    """
    overlap = np.mean([len(test) / len(train) for train, test in splits])
    spread = float(gains.std(ddof=1) * np.sqrt(1.0 / len(gains) + overlap))
    return Score(float(gains.mean()) - optimism, spread)


def _optimism(search, errors):
    """Return how much too good the chosen error is, for having been chosen on the same folds.

    Each fold would have chosen its own penalties; the mean of what it loses by the common choice
    estimates what the common choice gains by luck (R. J. Tibshirani and R. Tibshirani 2009, A bias
    correction for the minimum error rate in cross-validation).
    """
    split = [f"split{i}_test_score" for i in range(len(search.splits_))]
    every = _errors(np.array([search.cv_results_[key] for key in split]), search._default_scoring)
    return float(np.mean(errors - np.nanmin(every, axis=1)))


def _choose(search, X, y, sparsity, n_features, n_jobs):
    """Return the model, its errors by fold, their optimism, and how often columns are selected."""
    name = search._default_scoring
    if sparsity is None and n_features is None:
        split = [f"split{i}_test_score" for i in range(len(search.splits_))]
        scores = np.array([search.cv_results_[key][search.best_index_] for key in split])
        errors = _errors(scores, name)
        optimism = _optimism(search, errors)
        return search.best_estimator_, errors, optimism, search.selection_frequency_
    model = clone(search.best_estimator_)
    if n_features is not None:
        # The exact number also where the path jumps over it.
        model.set_params(n_features_to_select=n_features)
        fitted = search.path_.at(n_features=n_features)
    else:
        model.set_params(sparsity=sparsity)
        fitted = clone(model).fit(X, y)
    found = cross_validate(
        model, X, y, cv=search.splits_, scoring=name, n_jobs=n_jobs, return_estimator=True
    )
    support = np.mean([one.get_support() for one in found["estimator"]], axis=0)
    return fitted, _errors(found["test_score"], name), 0.0, support


def _features(model, search, frequency, encoder):
    """Return one entry per column of the table; columns of a text share weight and rank."""
    features = [
        Feature(name, float(model.weights_[j]), float(frequency[j]), int(search.path_.ranking[j]))
        for name, j in zip(encoder.columns_, encoder.first_columns, strict=True)
    ]
    return sorted(features, key=lambda f: (-f.weight, f.rank))


def _baselines(search, X, y, task, kernel, n_jobs):
    """Return a constant's errors by fold, and the error of a machine with all columns."""
    name = search._default_scoring
    constant = _constant(task)
    n_centers = search.n_centers
    machines = [
        _machine(task, kernel, alpha, X.shape[1], n_centers)
        for alpha in np.atleast_1d(search.alphas)
    ]
    scores = []
    with limited_blas(), warnings.catch_warnings():
        # A fold may leave a class out of its test rows, which is no matter here.
        warnings.simplefilter("ignore")
        for model in [constant, *machines]:
            found = cross_validate(
                model, X, y, cv=search.splits_, scoring=get_scorer(name), n_jobs=n_jobs
            )
            scores.append(_errors(found["test_score"], name))
    return scores[0], min((_score(errors) for errors in scores[1:]), key=lambda score: score.mean)


def _constant(task):
    return DummyRegressor() if task == "regression" else DummyClassifier()


def _machine(task, kernel, alpha, p, n_centers):
    """Return scikit-learn's machine on all columns with equal weights, on centres if there are."""
    shape: dict[str, object] = {"kernel": "rbf"}
    if kernel == "linear":
        shape = {"kernel": "linear"}
    elif kernel == "polynomial":
        shape = {"kernel": "poly", "degree": 2, "coef0": 1.0}
    shape["gamma"] = 1.0 / p
    if n_centers is not None:
        features = Nystroem(n_components=n_centers, random_state=0, **shape)
        if task == "classification":
            return make_pipeline(StandardScaler(), features, LinearSVC(C=0.5 / alpha))
        ridge = TransformedTargetRegressor(Ridge(alpha=alpha), transformer=StandardScaler())
        return make_pipeline(StandardScaler(), features, ridge)
    if task == "classification":
        return make_pipeline(StandardScaler(), SVC(C=0.5 / alpha, **shape))
    ridge = TransformedTargetRegressor(
        KernelRidge(alpha=alpha, **shape), transformer=StandardScaler()
    )
    return make_pipeline(StandardScaler(), ridge)


def _effects(model, encoder, table, X, selected, random_state):
    """Return what the machine predicts as each of the heaviest columns takes other values."""
    rng = np.random.default_rng(random_state)
    rows = np.sort(rng.choice(len(X), min(EFFECT_ROWS, len(X)), replace=False))
    effects = []
    for name in selected[:MOST_EFFECTS]:
        columns = np.flatnonzero(encoder.feature_groups_ == name)
        if name in encoder.levels_:
            values = encoder.levels_[name]
            settings = np.eye(len(values)).tolist()
            rug = np.empty(0)
        else:
            observed = X[:, columns[0]]
            low, high = np.quantile(observed, [0.02, 0.98])
            grid = np.linspace(low, high, EFFECT_POINTS) if high > low else np.unique(observed)
            if len(np.unique(observed)) <= EFFECT_POINTS // 2:
                grid = np.unique(observed)
            values, settings, rug = [float(v) for v in grid], [[v] for v in grid], observed[rows]
        outputs = []
        for setting in settings:
            Z = X[rows].copy()
            Z[:, columns] = setting
            outputs.append(_outputs(model, Z))
        names = outputs[0].keys()
        curves = {key: np.array([output[key] for output in outputs]) for key in names}
        effects.append(Effect(name, list(values), curves, rug))
    return effects


def _outputs(model, Z):
    """Return the mean outputs of a machine by name: prediction, or the score of each class."""
    if not hasattr(model, "classes_"):
        return {"prediction": float(model.predict(Z).mean())}
    scores = model.decision_function(Z)
    if scores.ndim == 1:
        return {f"score of {model.classes_[1]}": float(scores.mean())}
    return {
        f"score of {label}": float(column.mean())
        for label, column in zip(model.classes_, scores.T, strict=True)
    }
