"""How well the selected model predicts, and what it is compared with.

The comparisons are the baseline, a constant prediction, and a kernel model of scikit-learn that
uses all columns with equal weights. All errors are taken on the folds of the search. What is said
of single classes comes from the models of the selected candidate on the training rows of every
fold, and from the test rows of that fold.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import check_scoring, roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from kernelknife._base import fitted_with, with_probabilities
from kernelknife._engine import FitSpec, finish, prepare_arrays, set_up
from kernelknife._engine.data.targets import stack_offset
from kernelknife._engine.policy import default_loss
from kernelknife._engine.search import solve_for_support
from kernelknife._tuning.candidates import SearchSpec, penalty_for_share
from kernelknife._tuning.choose import ScoreTable, nested_scores
from kernelknife._tuning.halving import plan_search
from kernelknife._tuning.probabilities import learn_probabilities, scores_of_folds
from kernelknife._tuning.splits import rows_of_splits
from kernelknife._utils.arrays import spread
from kernelknife._utils.threads import limited_blas
from kernelknife.app.options import SearchOptions
from kernelknife.app.selection.quality import (
    ClassQuality,
    HeldOut,
    Score,
    WrongRow,
    partial_error,
)
from kernelknife.app.selection.result import OWN_MODEL
from kernelknife.cross_validation import KnifeClassifierCV
from kernelknife.estimators import KnifeClassifier, KnifeRegressor
from kernelknife.inspection.curves import as_errors
from kernelknife.kernels import Kernel, Linear, Polynomial, check_kernel
from kernelknife.losses import Loss
from kernelknife.survival import KnifeSurvival

EMPTY = 1e12  # a penalty at which no column is left
ALMOST_FREE = 1e4  # inverse penalty of a logistic model, which without any may not exist

__all__ = [
    "SelectedModel",
    "add_probabilities",
    "advantage_over",
    "compare_models",
    "judge_classes",
    "judge_held_out",
    "loss_with_score",
    "mean_score",
    "select_model",
    "to_errors",
]

# The kernels of scikit-learn that come closest to ours; all others are compared with a Gaussian.
NEAREST_KERNELS: tuple[tuple[type[Kernel], dict], ...] = (
    (Linear, {"kernel": "linear"}),
    (Polynomial, {"kernel": "poly", "degree": 2, "coef0": 1.0}),
)
GAUSSIAN = {"kernel": "rbf"}
LARGEST_EXPONENT = 300  # of two; the squares of larger numbers, or smaller ones, leave the range
KERNEL_WORDS = {"linear": "linear", "poly": "quadratic", "rbf": "Gaussian"}


@dataclass(frozen=True)
class SelectedModel:
    """The selected model and its errors on the folds.

    Attributes
    ----------
    model : KnifeRegressor or KnifeClassifier
        Fitted on all training rows.
    errors : ndarray of shape (n_folds,)
        Nested errors, so that selecting among many candidates does not make them too small: every
        fold tests what the other folds select, or what a search of its training rows does.
    frequency : ndarray of shape (n_columns,)
        Share of the folds in which every column of numbers is selected.
    models : list of KnifeRegressor or of KnifeClassifier
        Fitted on the training rows of every fold; empty for the model of the search.
    """

    model: KnifeRegressor | KnifeClassifier
    errors: np.ndarray
    frequency: np.ndarray
    models: list


def select_model(search, X, y, options: SearchOptions, exposure=None) -> SelectedModel:
    """Return the model that the search selected, or the one that was asked for.

    Parameters
    ----------
    search : KnifeRegressorCV or KnifeClassifierCV
        Fitted.
    X, y : ndarray
        The training rows.
    options : SearchOptions
        A penalty or a number of columns in it takes the place of the selected one.
    exposure : ndarray, default=None
        What the counts of the rows are proportional to.
    """
    if options.sparsity is None and options.n_features is None:
        errors = to_errors(search.nested_scores_, search)
        return SelectedModel(search.best_estimator_, errors, search.selection_frequency_, [])
    wanted = clone(search.best_estimator_).set_params(learn_weights=True)
    if options.n_features is not None:
        found = search.path_.at(n_features=options.n_features)
        wanted.set_params(n_features_to_select=options.n_features, relax=False)
        model = _refit_found(wanted, found, search, X, y, exposure)
        wanted.set_params(n_centers=found.n_centers)
    else:
        wanted.set_params(sparsity=options.sparsity)
        model = clone(wanted).fit(X, y, **_of_rows(exposure))
    models = _fit_folds(wanted, search.splits_, X, y, options.n_jobs, exposure)
    pairs = list(zip(models, search.splits_, strict=True))
    if isinstance(model, KnifeSurvival):
        errors = np.array([partial_error(m.loss, y, m.predict(X), *split) for m, split in pairs])
    elif (loss := loss_with_score(search)) is not None:
        errors = np.array([_loss_error(m, loss, X, y, exposure, test) for m, (_, test) in pairs])
    else:
        scorer = check_scoring(model, search.score_name_)
        scores = [scorer(fitted, X[test], y[test]) for fitted, (_, test) in pairs]
        errors = to_errors(np.array(scores), search)
    frequency = np.mean([fitted.get_support() for fitted in models], axis=0)
    return SelectedModel(model, errors, frequency, models)


def _of_rows(exposure, rows=slice(None)) -> dict:
    """Return the exposure of some rows as an argument of ``fit`` and ``predict``, if there is."""
    return {} if exposure is None else {"exposure": exposure[rows]}


def _loss_error(fitted, loss, X, y, exposure, test):
    """Return the error of a fitted model on some rows, by the score of a loss."""
    predicted = fitted.predict(X[test], **_of_rows(exposure, test))
    return -loss.score(y[test], predicted, np.ones(len(test)))


def _refit_found(model, found, search, X, y, exposure):
    """Return a copy of a model that has the columns that were found, fitted to all rows.

    The search may have found them on some of the rows, and on fewer centers than a single fit can
    have. The penalty is lowered where one of the columns would leave.
    """
    spec = FitSpec.from_estimator(model, offset=exposure is not None)
    y = y if exposure is None else stack_offset(y, np.log(exposure))
    setup = set_up(spec, prepare_arrays(spec, X, y))
    growth = len(X) / len(rows_of_splits(search.splits_))
    convex = setup.problem.convex
    sparsity = penalty_for_share(float(found.sparsity_), growth, convex=convex)
    start = setup.data.weight_values(found.weights_)
    with limited_blas(len(X)):
        solution = solve_for_support(setup.problem, spec.solver, start, sparsity)
        return fitted_with(clone(model), finish(setup, solution, [(search.path_.start, solution)]))


def to_errors(scores, search):
    """Return the errors behind scores; an accuracy becomes the misclassification rate.

    Parameters
    ----------
    scores : ndarray
    search : KnifeRegressorCV or KnifeClassifierCV
        What the scores are of; it has their name.
    """
    return as_errors(search.score_name_, scores)[1]


def _fit_folds(model, splits, X, y, n_jobs, exposure=None) -> list:
    """Return a model fitted on the training rows of every fold.

    Parameters
    ----------
    model : KnifeRegressor or KnifeClassifier
        With the penalty of all rows.
    splits : list of (ndarray, ndarray)
        Training and test rows of every fold.
    X, y : ndarray
        All rows.
    n_jobs : int or None
    exposure : ndarray, default=None
    """
    convex = check_kernel(model.kernel).convex
    jobs = []
    for train, _ in splits:
        sparsity = penalty_for_share(model.sparsity, len(train) / len(y), convex=convex)
        mine = clone(model).set_params(sparsity=sparsity)
        jobs.append(delayed(_fit)(mine, X[train], y[train], **_of_rows(exposure, train)))
    return Parallel(n_jobs=n_jobs)(jobs)


def _fit(model, X, y, **known):
    """Fit on one BLAS thread, as the folds of the search do."""
    with limited_blas():
        return model.fit(X, y, **known)


def loss_with_score(model) -> Loss | None:
    """Return the loss of a regressor where it has a score of its own.

    Parameters
    ----------
    model : KnifeRegressor, KnifeRegressorCV or a classifier
    """
    if isinstance(model, KnifeClassifier | KnifeClassifierCV):
        return None
    loss = default_loss(model.loss, "regression")
    return None if loss.score is None else loss


def _cross_validate(model, search, X, y, n_jobs):
    """Return the errors of a model of scikit-learn on the folds of a search."""
    scores = cross_val_score(
        model, X, y, cv=search.splits_, scoring=search.score_name_, n_jobs=n_jobs
    )
    return to_errors(scores, search)


def _fold_errors(model, loss, splits, X, y, exposure, n_jobs):
    """Return the errors of one of our models on folds, by the score of its loss."""
    jobs = (
        delayed(_fit)(clone(model), X[train], y[train], **_of_rows(exposure, train))
        for train, _ in splits
    )
    fitted = zip(Parallel(n_jobs=n_jobs)(jobs), splits, strict=True)
    return np.array([_loss_error(m, loss, X, y, exposure, test) for m, (_, test) in fitted])


def mean_score(errors: np.ndarray) -> Score:
    """Return the mean error over folds and its standard error.

    Parameters
    ----------
    errors : ndarray of shape (n_folds,)
    """
    return Score(float(errors.mean()), float(spread(errors) / np.sqrt(len(errors))))


def advantage_over(baseline_errors: np.ndarray, errors: np.ndarray, splits) -> Score:
    """Return which share of the baseline's error a model saves, and how sure that is.

    It is one minus the ratio of the mean errors. Its standard error is that of a ratio, from the
    excess of the model's error in each fold over that share of the baseline's error there: folds
    with a few extreme targets have large errors for both, and are as informative about the ratio.
    For a model that is as good as the baseline it is the standard error of the difference, as a
    share of the baseline's error.

    Training sets of different folds share most of their rows, so errors of folds are not
    independent. The standard error allows for that (C. Nadeau and Y. Bengio 2003, Inference for
    the generalization error).

    Parameters
    ----------
    baseline_errors, errors : ndarray of shape (n_folds,)
    splits : list of (ndarray, ndarray)
        Training and test rows of every fold.
    """
    scale = float(baseline_errors.mean())
    if scale == 0.0:
        return Score(0.0, 0.0)  # the baseline makes no error at all
    ratio = float(errors.mean()) / scale
    beyond = errors - ratio * baseline_errors
    test_to_train = np.mean([len(test) / len(train) for train, test in splits])
    error = float(spread(beyond) * np.sqrt(1.0 / len(beyond) + test_to_train))
    return Score(1.0 - ratio, error / scale)


def add_probabilities(model, models, splits, X, y) -> None:
    """Let a model have probabilities, from what those of the folds say of their test rows.

    Parameters
    ----------
    model : KnifeClassifier
        Fitted. A model whose loss has probabilities keeps them.
    models : list of KnifeClassifier
        Fitted on the training rows of every fold.
    splits : list of (ndarray, ndarray)
    X, y : ndarray
    """
    if FitSpec.from_estimator(model).loss.probability is not None:
        return
    tested = np.concatenate([test for _, test in splits])
    scores = scores_of_folds(models, splits, X)
    codes = np.searchsorted(model.classes_, y[tested])
    with_probabilities(model, learn_probabilities(scores, codes, np.ones(len(tested)), "sigmoid"))


def judge_held_out(model, X, y, Z, y_held, exposure=None, exposure_held=None) -> HeldOut | None:
    """Return the errors on rows held out, or None where there are none.

    Parameters
    ----------
    model : KnifeRegressor or KnifeClassifier
        Fitted on the training rows.
    X, y : ndarray
        The training rows.
    Z, y_held : ndarray
        The rows held out.
    exposure, exposure_held : ndarray, default=None
        Those of the training rows and of the rows held out.
    """
    if not len(y_held):
        return None
    if isinstance(model, KnifeSurvival):
        both, scores = np.concatenate([y, y_held]), model.predict(np.concatenate([X, Z]))
        train, test = np.arange(len(y)), np.arange(len(y), len(both))
        error = partial_error(model.loss, both, scores, train, test)
        nothing = partial_error(model.loss, both, 0.0 * scores, train, test)
        return HeldOut(error, nothing, len(y_held))
    task = "classification" if isinstance(model, KnifeClassifier) else "regression"
    loss, every = loss_with_score(model), np.arange(len(y_held))
    if loss is not None:
        baseline, columns = _baseline_of_loss(loss, model.adjust_for, X)
        baseline.fit(X[:, columns], y, **_of_rows(exposure))
        error, least = (
            _loss_error(judged, loss, rows, y_held, exposure_held, every)
            for judged, rows in ((model, Z), (baseline, Z[:, columns]))
        )
        return HeldOut(error, least, len(y_held))
    baseline = _baseline(task, model.adjust_for).fit(X, y)
    errors = []
    for judged in (model, baseline):
        predicted = judged.predict(Z)
        if task == "regression":
            errors.append(float(np.mean((predicted - y_held) ** 2)))
        elif model.class_weight is None:
            errors.append(float(np.mean(predicted != y_held)))
        else:
            errors.append(_balanced_error(y_held, predicted))
    return HeldOut(errors[0], errors[1], len(y_held))


def _balanced_error(y, predicted):
    """Return the mean misclassification rate of the classes."""
    return float(np.mean([np.mean(predicted[y == label] != label) for label in np.unique(y)]))


def compare_models(
    search, X, y, *, task, adjusted, n_jobs, exposure=None
) -> tuple[np.ndarray, np.ndarray, str]:
    """Return the errors by fold of the baseline and of a model with all columns, and its name.

    The model is tried with every ``alpha`` of the search, and its errors are nested as those of the
    selected model: every fold tests the one that the other folds select.

    Parameters
    ----------
    search : KnifeRegressorCV or KnifeClassifierCV
        Fitted.
    X, y : ndarray
        The training rows.
    task : {"regression", "classification"}
    adjusted : list of int or None
        Columns that are adjusted for; the baseline is then their model.
    n_jobs : int or None
    exposure : ndarray, default=None
    """
    X = _in_range(X)
    n_centers = plan_search(SearchSpec.from_estimator(search), len(X)).n_centers
    kernel, loss = _nearest(search.kernel_), loss_with_score(search)
    models = [
        _model_with_all_columns(task, kernel, alpha, X.shape[1], n_centers, search.class_weight)
        if loss is None
        else KnifeRegressor(
            search.kernel_, loss, alpha=alpha, learn_weights=False, n_centers=n_centers
        )
        for alpha in search.alphas_
    ]

    def errors_of(model, columns=slice(None)):
        if loss is None:
            return _cross_validate(model, search, X, y, n_jobs)
        return _fold_errors(model, loss, search.splits_, X[:, columns], y, exposure, n_jobs)

    with limited_blas(), warnings.catch_warnings():
        # scikit-learn warns of folds without test rows of a class, and of models that have not
        # quite converged; neither changes the comparison.
        warnings.simplefilter("ignore")
        if loss is None:
            baseline_errors = errors_of(_baseline(task, adjusted))
        else:
            baseline_errors = errors_of(*_baseline_of_loss(loss, adjusted, X))
        errors = [errors_of(model) for model in models]
    name = _name_model(task, kernel, n_centers) if loss is None else OWN_MODEL
    # The least mean over the folds suffers from selection bias, as that of the selection would.
    table = ScoreTable.of_scores(-np.transpose(errors))
    return baseline_errors, -nested_scores(table, search.splits_, "min"), name


def _in_range(X):
    """Return columns times powers of two, which is exact, where their squares leave the range.

    scikit-learn's scaler would make infinities of them, or take them for constants.
    """
    exponents = np.frexp(np.fmax.reduce(np.abs(X), axis=0))[1]
    return np.ldexp(X, np.where(np.abs(exponents) > LARGEST_EXPONENT, -exponents, 0))


def _baseline(task, adjusted):
    """Return an estimator that predicts the mean, or the most frequent class.

    Where columns are adjusted for it is a linear model of these, without a penalty to speak of.
    """
    if adjusted is None:
        return DummyRegressor() if task == "regression" else DummyClassifier()
    chosen = make_column_transformer((make_pipeline(StandardScaler(), SimpleImputer()), adjusted))
    linear = LinearRegression() if task == "regression" else LogisticRegression(C=ALMOST_FREE)
    return make_pipeline(chosen, linear)


def _baseline_of_loss(loss, adjusted, X):
    """Return the model of a loss in which no column has a weight, and the columns that it takes.

    It is the constant, or the linear model of the adjusted columns, that minimizes the loss.
    """
    columns = [] if adjusted is None else list(adjusted)
    # A problem has a kernel, which is given a column that is not constant.
    others = np.setdiff1d(np.flatnonzero(np.nanmax(X, axis=0) > np.nanmin(X, axis=0)), columns)
    places = list(range(1, len(columns) + 1)) or None
    n_centers = None if loss.needs_rows else 1
    model = KnifeRegressor(
        "linear", loss, sparsity=EMPTY, adjust_for=places, n_centers=n_centers, random_state=0
    )
    return model, [int(others[0]), *columns]


def _nearest(kernel: Kernel) -> dict:
    """Return the options of scikit-learn's kernel that comes closest to one of ours."""
    fitting = (options for kind, options in NEAREST_KERNELS if isinstance(kernel, kind))
    return next(fitting, GAUSSIAN)


def _model_with_all_columns(task, kernel, alpha, n_columns, n_centers, class_weight):
    """Return scikit-learn's kernel model with equal weights, on as many centers as ours."""
    options = {**kernel, "gamma": 1.0 / n_columns}
    # Its gaps are filled by the means of the training rows, as those of most users are.
    steps = [StandardScaler(), SimpleImputer(keep_empty_features=True)]
    # Our objective has alpha where a support vector machine has 1 / (2 C).
    C = 0.5 / alpha
    if n_centers is not None:
        steps.append(Nystroem(n_components=n_centers, random_state=0, **options))
        classifier = LinearSVC(C=C, class_weight=class_weight)
        regressor = Ridge(alpha=alpha)
    else:
        classifier = SVC(C=C, class_weight=class_weight, **options)
        regressor = KernelRidge(alpha=alpha, **options)
    if task == "classification":
        return make_pipeline(*steps, classifier)
    # The target is scaled like the columns, as our estimators do.
    return make_pipeline(
        *steps, TransformedTargetRegressor(regressor, transformer=StandardScaler())
    )


def _name_model(task, kernel, n_centers):
    """Return in words which model of scikit-learn uses all columns."""
    words = KERNEL_WORDS[kernel["kernel"]]
    kind = "kernel ridge regression" if task == "regression" else "support vector machine"
    centers = "" if n_centers is None else f" on {n_centers} centers"
    return f"{kind} with a {words} kernel{centers}"


def judge_classes(models, splits, X, y, row_names) -> ClassQuality:
    """Return which classes are taken for which on the test rows of the folds.

    A row that is tested several times, because the folds are repeated, counts once in all.

    Parameters
    ----------
    models : list of KnifeClassifier
        One per fold, fitted on its training rows.
    splits : list of (ndarray, ndarray)
    X, y : ndarray
    row_names : ndarray of str
    """
    classes = np.unique(y)
    votes = np.zeros((len(y), len(classes)))
    areas = []
    for model, (_, test) in zip(models, splits, strict=True):
        predicted = model.predict(X[test])
        votes[test, np.searchsorted(classes, predicted)] += 1.0
        areas.append(_area(model, X[test], y[test], classes))
    tested = votes.sum(axis=1)
    shares = votes / np.maximum(tested, 1.0)[:, None]
    codes = np.searchsorted(classes, y)
    confusion = np.array([shares[codes == i].sum(axis=0) for i in range(len(classes))])
    counts = confusion.sum(axis=1)
    errors = 1.0 - np.divide(
        np.diag(confusion), counts, out=np.full(len(classes), np.nan), where=counts > 0
    )
    known = [area for area in areas if area is not None]
    return ClassQuality(
        classes=tuple(str(label) for label in classes),
        confusion=confusion,
        class_errors=errors,
        balanced_error=float(np.nanmean(errors)),
        area=float(np.mean(known)) if known else None,
        wrong_rows=_wrong_rows(shares, codes, classes, row_names),
    )


def _area(model, X, y, classes):
    """Return the area under the ROC curve of one fold, the mean over classes for more than two."""
    there = np.unique(y)
    if len(there) < 2:
        return None
    scores = model.decision_function(X)
    if len(classes) == 2:
        return roc_auc_score(y == classes[1], scores)
    places = np.searchsorted(classes, there)
    return np.mean([roc_auc_score(y == classes[j], scores[:, j]) for j in places])


def _wrong_rows(shares, codes, classes, row_names):
    """Return the rows that are taken for another class, the most frequently wrong first."""
    wrong = shares.copy()
    wrong[np.arange(len(codes)), codes] = 0.0
    total = wrong.sum(axis=1)
    rows = [i for i in np.argsort(-total, kind="stable") if total[i] > 0]
    return tuple(
        WrongRow(
            str(row_names[i]), str(classes[codes[i]]), str(classes[wrong[i].argmax()]), total[i]
        )
        for i in rows
    )
