"""How well the chosen model predicts, and what it is compared with.

The comparisons are a constant, and a kernel model of scikit-learn that uses all columns with
equal weights. All errors are taken on the folds of the search.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics import check_scoring
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from kernelknife._engine.fitting import make_solver, prepare_job, publish
from kernelknife._engine.search import solve_for_support
from kernelknife._tuning import (
    Judgments,
    as_errors,
    judged_by_others,
    penalty_for_share,
    plan_search,
    rows_of_splits,
)
from kernelknife._utils.threads import limited_blas
from kernelknife.app.selection.result import HeldOut, Score
from kernelknife.estimators import KnifeClassifier, KnifeRegressor
from kernelknife.kernels import Kernel, Linear, Polynomial, check_kernel

__all__ = [
    "Choice",
    "advantage_over_constant",
    "choose_model",
    "compare_models",
    "judge_held_out",
    "mean_score",
    "to_errors",
]

# The kernels of scikit-learn that come closest to ours; all others are compared with a Gaussian.
NEAREST_KERNELS: tuple[tuple[type[Kernel], dict], ...] = (
    (Linear, {"kernel": "linear"}),
    (Polynomial, {"kernel": "poly", "degree": 2, "coef0": 1.0}),
)
GAUSSIAN = {"kernel": "rbf"}
KERNEL_WORDS = {"linear": "linear", "poly": "quadratic", "rbf": "Gaussian"}


@dataclass(frozen=True)
class Choice:
    """The chosen model and how it did on the folds.

    Attributes
    ----------
    model : KnifeRegressor or KnifeClassifier
        Fitted on all training rows.
    errors : ndarray of shape (n_folds,)
        Every fold's error of what the other folds choose, so that the choice among many settings
        does not make it too small.
    frequency : ndarray of shape (n_columns,)
        Share of the folds in which every column of numbers is selected.
    models : list of KnifeRegressor or of KnifeClassifier
        Fitted on the training rows of every fold; empty where the search has not kept them.
    """

    model: KnifeRegressor | KnifeClassifier
    errors: np.ndarray
    frequency: np.ndarray
    models: list


def choose_model(search, X, y, *, sparsity, n_features, n_jobs) -> Choice:
    """Return the model that the search chose, or the one that was asked for.

    Parameters
    ----------
    search : KnifeRegressorCV or KnifeClassifierCV
        Fitted.
    X, y : ndarray
        The training rows.
    sparsity : float or None
        Use this penalty instead of the chosen one.
    n_features : int or None
        Select so many columns instead.
    n_jobs : int or None
    """
    if sparsity is None and n_features is None:
        errors = to_errors(search.nested_scores_, search)
        return Choice(search.best_estimator_, errors, search.selection_frequency_, [])
    template = clone(search.best_estimator_).set_params(learn_weights=True)
    if n_features is not None:
        found = search.path_.at(n_features=n_features)
        template.set_params(n_features_to_select=n_features, relax=False)
        model = _refit_found(template, found, search, X, y)
        template.set_params(n_centers=found.n_centers)
    else:
        template.set_params(sparsity=sparsity)
        model = clone(template).fit(X, y)
    models = _fit_folds(template, search.splits_, X, y, n_jobs)
    scorer = check_scoring(model, search.score_name_)
    scores = [
        scorer(fitted, X[test], y[test])
        for fitted, (_, test) in zip(models, search.splits_, strict=True)
    ]
    errors = to_errors(np.array(scores), search)
    frequency = np.mean([fitted.get_support() for fitted in models], axis=0)
    return Choice(model, errors, frequency, models)


def _refit_found(template, found, search, X, y):
    """Return the model of the columns that were found, fitted to all rows.

    The search may have found them on some of the rows, and on fewer centers than a single fit can
    have. Its penalty is lowered where one of them would leave.
    """
    model = clone(template)
    job = prepare_job(model, X, y)
    sparsity = float(found.sparsity_)
    growth = len(X) / len(rows_of_splits(search.splits_))
    sparsity = penalty_for_share(sparsity, growth, convex=job.problem.convex)
    start = job.prepared.weight_values(found.weights_)
    with limited_blas(len(X)):
        solution = solve_for_support(job.problem, make_solver(model), start, sparsity)
        publish(model, job, solution, [(search.path_.start, solution)])
    return model


def to_errors(scores, search):
    """Return the errors behind scores; an accuracy becomes the share of wrong classes.

    Parameters
    ----------
    scores : ndarray
    search : KnifeRegressorCV or KnifeClassifierCV
        What the scores are of; it knows their name.
    """
    return as_errors(search.score_name_, scores)[1]


def _fit_folds(model, splits, X, y, n_jobs) -> list:
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
    """
    convex = check_kernel(model.kernel).convex
    jobs = []
    for train, _ in splits:
        sparsity = penalty_for_share(model.sparsity, len(train) / len(y), convex=convex)
        jobs.append(delayed(_fit)(clone(model).set_params(sparsity=sparsity), X[train], y[train]))
    return Parallel(n_jobs=n_jobs)(jobs)


def _fit(template, X, y):
    """Fit on one BLAS thread, as the folds of the search do."""
    with limited_blas():
        return template.fit(X, y)


def _cross_validate(model, search, X, y, n_jobs):
    """Return the errors of a model of scikit-learn on the folds of a search."""
    scores = cross_val_score(
        model, X, y, cv=search.splits_, scoring=search.score_name_, n_jobs=n_jobs
    )
    return to_errors(scores, search)


def mean_score(errors: np.ndarray) -> Score:
    """Return the mean error over folds and its standard error.

    Parameters
    ----------
    errors : ndarray of shape (n_folds,)
    """
    return Score(float(errors.mean()), float(errors.std(ddof=1) / np.sqrt(len(errors))))


def advantage_over_constant(constant_errors: np.ndarray, choice: Choice, splits) -> Score:
    """Return which share of a constant's error the chosen model saves, and how sure that is.

    It is one minus the ratio of the mean errors. Its standard error is that of a ratio, from what
    the model errs in each fold beyond that share of the constant's error there: folds with a few
    far targets have large errors for both, and say no less about their ratio. For a model that is
    as good as the constant it is the standard error of the difference, as a share of its error.

    Training sets of different folds share most of their rows, so errors of folds are not
    independent. The standard error allows for that (C. Nadeau and Y. Bengio 2003, Inference for
    the generalization error).

    Parameters
    ----------
    constant_errors : ndarray of shape (n_folds,)
    choice : Choice
    splits : list of (ndarray, ndarray)
        Training and test rows of every fold.
    """
    scale = float(constant_errors.mean())
    if scale == 0.0:
        return Score(0.0, 0.0)  # a constant makes no error at all
    ratio = float(choice.errors.mean()) / scale
    beyond = choice.errors - ratio * constant_errors
    test_to_train = np.mean([len(test) / len(train) for train, test in splits])
    spread = float(beyond.std(ddof=1) * np.sqrt(1.0 / len(beyond) + test_to_train))
    return Score(1.0 - ratio, spread / scale)


def judge_held_out(model, X, y, Z, y_held) -> HeldOut | None:
    """Return the errors on rows held out, or None where there are none.

    Parameters
    ----------
    model : KnifeRegressor or KnifeClassifier
        Fitted on the training rows.
    X, y : ndarray
        The training rows.
    Z, y_held : ndarray
        The rows held out.
    """
    if not len(y_held):
        return None
    task = "classification" if isinstance(model, KnifeClassifier) else "regression"
    constant = _constant(task).fit(X, y)
    errors = []
    for judged in (model, constant):
        predicted = judged.predict(Z)
        if task == "regression":
            errors.append(float(np.mean((predicted - y_held) ** 2)))
        elif model.class_weight is None:
            errors.append(float(np.mean(predicted != y_held)))
        else:
            errors.append(_balanced_error(y_held, predicted))
    return HeldOut(errors[0], errors[1], len(y_held))


def _balanced_error(y, predicted):
    """Return the mean over the classes of their shares of wrong rows."""
    return float(np.mean([np.mean(predicted[y == label] != label) for label in np.unique(y)]))


def compare_models(search, X, y, *, task, n_jobs) -> tuple[np.ndarray, np.ndarray, str]:
    """Return the errors by fold of a constant and of a model with all columns, and its name.

    The model is tried with every ``alpha`` of the search. As for the selection, every fold judges
    the one that the other folds choose.

    Parameters
    ----------
    search : KnifeRegressorCV or KnifeClassifierCV
        Fitted.
    X, y : ndarray
        The training rows.
    task : {"regression", "classification"}
    n_jobs : int or None
    """
    n_centers = plan_search(search, len(X)).n_centers
    kernel = _nearest(search.kernel_)
    models = [
        _model_with_all_columns(task, kernel, alpha, X.shape[1], n_centers, search.class_weight)
        for alpha in search.alphas_
    ]
    with limited_blas(), warnings.catch_warnings():
        # scikit-learn warns of folds without test rows of a class, and of models that have not
        # quite converged; neither changes what the comparison says.
        warnings.simplefilter("ignore")
        constant_errors = _cross_validate(_constant(task), search, X, y, n_jobs)
        errors = [_cross_validate(model, search, X, y, n_jobs) for model in models]
    name = _name_model(task, kernel, n_centers)
    return constant_errors, _errors_of_others_choice(np.array(errors), search.splits_), name


def _errors_of_others_choice(errors, splits):
    """Return every fold's error of the model that the other folds choose.

    The least mean over the folds is partly luck, and the selection has no such advantage.

    Parameters
    ----------
    errors : ndarray of shape (n_models, n_folds)
    splits : list of (ndarray, ndarray)
    """
    n_models, n_folds = errors.shape
    # To the rule that chooses they differ in nothing but their scores.
    judgments = Judgments(
        -errors.T,
        np.zeros((n_folds, n_models, 1), dtype=np.uint8),
        sparsity=np.zeros(n_models),
        equal=np.zeros(n_models, dtype=bool),
        path=np.arange(n_models),
        n_seen=np.full(n_models, n_folds),
        n_training_rows=np.full(n_models, len(splits[0][0])),
        followed=np.ones(n_models, dtype=bool),
    )
    return -judged_by_others(judgments, splits, "min")


def _constant(task):
    """Return an estimator that predicts the mean, or the most frequent class."""
    return DummyRegressor() if task == "regression" else DummyClassifier()


def _nearest(kernel: Kernel) -> dict:
    """Return the options of scikit-learn's kernel that comes closest to one of ours."""
    fitting = (options for kind, options in NEAREST_KERNELS if isinstance(kernel, kind))
    return next(fitting, GAUSSIAN)


def _model_with_all_columns(task, kernel, alpha, n_columns, n_centers, class_weight):
    """Return scikit-learn's kernel model with equal weights, on as many centers as ours."""
    options = {**kernel, "gamma": 1.0 / n_columns}
    steps = [StandardScaler()]
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
