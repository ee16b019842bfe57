"""The methods of the benchmark, each with its parameters and the reasons for them.

Every method is given the same standardized features (and, in a regression, the same standardized
target), the seed, the number of threads, and ``k``, the number of features to find: methods that
need this number as a parameter are given the truth. It returns an :class:`Outcome`.

Parameters that the authors recommend, in their documentation or README, are used without change;
where they leave it open, the choice favors the method, and the docstring says why. The first line
of a docstring is the method, the second paragraph its settings and their reason; both are printed
in the documentation.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Outcome:
    """The result of a method: the larger a score, the more a feature matters.

    ``selected`` is a mask where the method itself decides how many to keep; ``predict`` is its own
    predictor, on features standardized like those of the fit.
    """

    scores: np.ndarray
    selected: np.ndarray | None = None
    predict: Callable | None = None


@dataclass(frozen=True)
class Method:
    """A method and where it comes from."""

    name: str
    package: str
    run: Callable

    @property
    def settings(self):
        """The settings and their reason, from the docstring."""
        return " ".join(self.run.__doc__.split("\n\n", 1)[1].split())


METHODS: dict[str, Method] = {}


def method(name, package):
    def register(run):
        METHODS[name] = Method(name, package, run)
        return run

    return register


def _picked(order, p):
    """Scores from an ordered choice: the first is best, those not chosen have none."""
    scores = np.zeros(p)
    scores[np.asarray(order, dtype=int)] = np.arange(len(order), 0, -1)
    return scores


# -- ours -----------------------------------------------------------------------------------------


def _centers(race):
    return {"n_centers": 200} if len(race.X) >= 1000 else {}


@method("kernelknife path", "kernelknife")
def knife_path_(race, seed, threads):
    """A whole path of 50 penalties, ranked by elimination order, without cross-validation.

    Defaults: Gaussian kernel, squared loss or squared hinge, several starts; from 1,000 rows on
    200 centers. Its predictor is the model of the path with k features; it makes no selection of
    its own.
    """
    from kernelknife import knife_path

    path = knife_path(race.X, race.y, **_centers(race))
    return Outcome(-path.ranking.astype(float), None, path.at(n_features=race.k).predict)


@method("kernelknife path, ANOVA", "kernelknife")
def anova_path(race, seed, threads):
    """The same path with the kernel of main effects and interactions of pairs.

    ``Anova()`` with its defaults, otherwise as above.
    """
    from kernelknife import knife_path

    path = knife_path(race.X, race.y, kernel="anova", **_centers(race))
    return Outcome(-path.ranking.astype(float), None, path.at(n_features=race.k).predict)


@method("kernelknife CV", "kernelknife")
def knife_cv(race, seed, threads):
    """Kernel and penalties chosen by cross-validation: what a user gets from ``fit``.

    Defaults of KnifeClassifierCV and KnifeRegressorCV, centers as above.
    """
    from kernelknife import KnifeClassifierCV, KnifeRegressorCV

    chosen = KnifeClassifierCV if race.task == "classification" else KnifeRegressorCV
    model = chosen(n_jobs=threads, random_state=seed, **_centers(race)).fit(race.X, race.y)
    return Outcome(-model.path_.ranking.astype(float), model.get_support(), model.predict)


# -- scikit-learn ---------------------------------------------------------------------------------


@method("univariate F", "scikit-learn")
def univariate_f(race, seed, threads):
    """F test of each feature on its own, selected at a false discovery rate.

    SelectFdr at its default level, 0.05. It has no predictor.
    """
    from sklearn.feature_selection import SelectFdr, f_classif, f_regression

    test = f_classif if race.task == "classification" else f_regression
    found = SelectFdr(test).fit(race.X, race.y)
    return Outcome(np.nan_to_num(found.scores_), found.get_support())


@method("mutual information", "scikit-learn")
def mutual_information(race, seed, threads):
    """Mutual information of each feature with the target, by nearest neighbors.

    Defaults, three neighbors. It has neither a selection nor a predictor of its own.
    """
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

    measure = mutual_info_classif if race.task == "classification" else mutual_info_regression
    return Outcome(measure(race.X, race.y, random_state=seed, n_jobs=threads))


def _eliminated(race, model):
    from sklearn.base import clone
    from sklearn.feature_selection import RFE

    if race.X.shape[1] <= 50:
        found = RFE(model, n_features_to_select=race.k).fit(race.X, race.y)
        return Outcome(-found.ranking_.astype(float), None, found.predict)
    # RFE's ``step`` is a share of the features there were at first: 100 of 1,000, down to the last
    # hundred. A tenth of those left, as Guyon and others remove chunks, needs a loop of its own.
    left, gone = np.arange(race.X.shape[1]), []
    while True:
        model = clone(model).fit(race.X[:, left], race.y)
        if len(left) == race.k:
            break
        weights = getattr(model, "coef_", None)
        sizes = model.feature_importances_ if weights is None else (weights**2).sum(axis=0)
        drop = min(len(left) - race.k, max(1, len(left) // 10))
        order = np.argsort(sizes, kind="stable")
        gone = [*left[order[:drop][::-1]], *gone]
        left = left[np.sort(order[drop:])]
    scores = _picked([*left, *gone], race.X.shape[1])
    return Outcome(scores, None, lambda X: model.predict(X[:, left]))


@method("RFE, linear SVM", "scikit-learn")
def rfe_svm(race, seed, threads):
    """Recursive elimination by the weights of a linear SVM.

    RFE down to k features, one at a time up to 50 features and a tenth of those left at a time
    beyond (Guyon and others, 2002, remove chunks of many features); SVC or SVR, linear, C = 1.
    """
    from sklearn.svm import SVC, SVR

    model = SVC if race.task == "classification" else SVR
    return _eliminated(race, model(kernel="linear"))


def _forest(race, seed, threads, **settings):
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    forest = RandomForestClassifier if race.task == "classification" else RandomForestRegressor
    return forest(random_state=seed, n_jobs=threads, **settings)


@method("RFE, random forest", "scikit-learn")
def rfe_forest(race, seed, threads):
    """Recursive elimination by the impurity importances of a random forest.

    RFE down to k features with steps as for the SVM; forests with their defaults, 100 trees.
    """
    return _eliminated(race, _forest(race, seed, threads))


@method("sequential, RBF SVM", "scikit-learn")
def sequential(race, seed, threads):
    """Forward selection of k features by the cross-validated score of a Gaussian SVM.

    SequentialFeatureSelector's defaults (forward, five folds) with SVC's or SVR's (C = 1, gamma =
    "scale"), which are sensible on standardized features.
    """
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.svm import SVC, SVR

    model = SVC() if race.task == "classification" else SVR()
    mask = np.ones(race.X.shape[1], dtype=bool)
    if race.k < len(mask):  # it refuses to select all
        found = SequentialFeatureSelector(model, n_features_to_select=race.k, n_jobs=threads)
        mask = found.fit(race.X, race.y).get_support()
    model.fit(race.X[:, mask], race.y)
    return Outcome(mask.astype(float), None, lambda X: model.predict(X[:, mask]))


@method("GP ARD, scikit-learn", "scikit-learn")
def gaussian_process(race, seed, threads):
    """A Gaussian process with one length scale per feature, short for an important feature.

    As in the user guide: constant times RBF, plus white noise in a regression, marginal likelihood
    by L-BFGS. The length scales start at the square root of the number of features and not at 1,
    where the kernel of many features is the identity and the gradient vanishes.
    """
    from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, WhiteKernel

    p = race.X.shape[1]
    kernel = 1.0 * RBF(np.full(p, np.sqrt(p)))
    if race.task == "classification":
        model = GaussianProcessClassifier(kernel, random_state=seed).fit(race.X, race.y)
        lengths = model.kernel_.k2.length_scale
    else:
        model = GaussianProcessRegressor(kernel + WhiteKernel(), random_state=seed)
        lengths = model.fit(race.X, race.y).kernel_.k1.k2.length_scale
    return Outcome(1.0 / np.atleast_1d(lengths), None, model.predict)


def _permuted(race, model, seed, threads):
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import train_test_split

    kept = race.y if race.task == "classification" else None
    X, X_held, y, y_held = train_test_split(race.X, race.y, random_state=seed, stratify=kept)
    model.fit(X, y)
    found = permutation_importance(
        model, X_held, y_held, n_repeats=10, random_state=seed, n_jobs=threads
    )
    model.fit(race.X, race.y)
    return Outcome(found.importances_mean, None, model.predict)


@method("permutation, forest", "scikit-learn")
def permutation_forest(race, seed, threads):
    """Permutation importance of a random forest on held-out rows.

    A quarter of the rows is held out, ten repetitions, as in the user guide; a forest with its
    defaults. The predictor is the forest of all rows and features.
    """
    return _permuted(race, _forest(race, seed, threads), seed, threads)


@method("permutation, RBF SVM", "scikit-learn")
def permutation_svm(race, seed, threads):
    """Permutation importance of a Gaussian SVM on held-out rows.

    As with the forest; SVC or SVR with its defaults.
    """
    from sklearn.svm import SVC, SVR

    return _permuted(race, SVC() if race.task == "classification" else SVR(), seed, threads)


# -- kernels and Gaussian processes ---------------------------------------------------------------


@method("HSIC lasso", "pyHSICLasso")
def hsic_lasso(race, seed, threads):
    """Lasso on kernel dependence measures, one Gaussian kernel per feature.

    The full method (B = 0), which its README advises if memory suffices, and not the block
    approximation that is its default; the number of features is k. It has no predictor.
    """
    from pyHSICLasso import HSICLasso

    found = HSICLasso()
    found.input(race.X, race.y)
    fit = found.classification if race.task == "classification" else found.regression
    # It cannot select all features, nor list more neighbors of one than there are.
    others = race.X.shape[1] - 1
    fit(min(race.k, others), B=0, n_jobs=threads, max_neighbors=min(10, others))
    return Outcome(_picked(found.get_index()[: race.k], race.X.shape[1]))


def _gpytorch(race, seed, n_steps, patience):
    import gpytorch
    import torch

    class ExactGP(gpytorch.models.ExactGP):
        def __init__(self, X, y, likelihood):
            super().__init__(X, y, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(
                gpytorch.kernels.RBFKernel(ard_num_dims=X.shape[1])
            )

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(x), self.covar_module(x)
            )

    torch.manual_seed(seed)
    X = torch.as_tensor(race.X, dtype=torch.float32)
    y = torch.as_tensor(_signed(race), dtype=torch.float32)
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = ExactGP(X, y, likelihood)
    model.covar_module.base_kernel.lengthscale = float(np.sqrt(X.shape[1]))
    model.train()
    likelihood.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    best, since = np.inf, 0
    for _ in range(n_steps):
        optimizer.zero_grad()
        loss = -objective(model(X), y)
        loss.backward()
        optimizer.step()
        best, since = (loss.item(), 0) if loss.item() < best - 1e-3 else (best, since + 1)
        if since >= patience:
            break
    lengths = model.covar_module.base_kernel.lengthscale.detach().numpy().ravel()
    model.eval()
    likelihood.eval()

    def scores(X):
        with torch.no_grad():
            return model(torch.as_tensor(X, dtype=torch.float32)).mean.numpy()

    return Outcome(1.0 / lengths, None, _labeled(race, scores))


def _signed(race):
    """The target of a method that only regresses: classes become -1 and 1."""
    return 2.0 * race.y - 1.0 if race.task == "classification" else race.y


def _labeled(race, scores):
    """The predictor of a method that only regresses."""
    if race.task == "classification":
        return lambda X: (np.ravel(scores(X)) > 0).astype(int)
    return lambda X: np.ravel(scores(X))


@method("GPyTorch ARD", "gpytorch")
def gpytorch_ard(race, seed, threads):
    """An exact Gaussian process with one length scale per feature, fitted to convergence.

    The regression tutorial's model and optimizer (ScaleKernel of an RBFKernel with ard_num_dims,
    Adam, rate 0.1) with up to 500 steps, until 20 gain less than 0.001: the 50 steps of the
    tutorial, which has one feature, are too few for fifty length scales (next row). These start at
    the square root of the number of features, for the reason given with scikit-learn's. Classes are
    regressed as -1 and 1: in trials this found more features of the skin of the orange than the
    tutorial's Dirichlet likelihood (3 draws with 46 of noise: all, against three quarters).
    """
    return _gpytorch(race, seed, 500, 20)


@method("GPyTorch ARD, 50 steps", "gpytorch")
def gpytorch_short(race, seed, threads):
    """The same, stopped after 50 steps.

    The number of steps of the tutorial.
    """
    return _gpytorch(race, seed, 50, 50)


@method("MAP-SAAS", "botorch")
def map_saas(race, seed, threads):
    """A Gaussian process whose prior drives most length scales to infinity.

    EnsembleMapSaasSingleTaskGP with its four global shrinkages, fitted by fit_gpytorch_mll, inputs
    scaled to the unit cube and outcomes standardized, as the documentation requires. The score is
    the median inverse length scale of the ensemble. Classes are regressed as -1 and 1: it has no
    likelihood for them. Its prior has an open defect (botorch#3360): the global shrinkage enters as
    its inverse, compared with the method's paper and with botorch's fully Bayesian model, which may
    affect its results.
    """
    import torch
    from botorch.fit import fit_gpytorch_mll
    from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
    from botorch.models.transforms import Normalize
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.manual_seed(seed)
    X = torch.as_tensor(race.X, dtype=torch.double)
    y = torch.as_tensor(_signed(race), dtype=torch.double)
    model = EnsembleMapSaasSingleTaskGP(X, y[:, None], input_transform=Normalize(X.shape[1]))
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    lengths = model.covar_module.base_kernel.lengthscale.detach().numpy()

    def mean(X):
        with torch.no_grad():
            return model.posterior(torch.as_tensor(X, dtype=torch.double)).mixture_mean.numpy()

    scores = np.median(1.0 / lengths.reshape(-1, X.shape[1]), axis=0)
    return Outcome(scores, None, _labeled(race, mean))


@method("himalaya, kernel per feature", "himalaya")
def himalaya_kernels(race, seed, threads):
    """Multiple-kernel ridge with one Gaussian kernel per feature, weights by cross-validation.

    MultipleKernelRidgeCV with the "hyper_gradient" solver, which its documentation advises beyond
    about 20 kernels, and "random_search" below; otherwise defaults. Gamma is 1, the scale of one
    standardized feature. The score is the weight of the kernel. Classes are -1 and 1.
    """
    from himalaya.kernel_ridge import MultipleKernelRidgeCV

    def kernels(X, Z):
        return np.exp(-((X.T[:, :, None] - Z.T[:, None, :]) ** 2))

    few = race.X.shape[1] <= 20
    model = MultipleKernelRidgeCV(
        kernels="precomputed",
        solver="random_search" if few else "hyper_gradient",
        solver_params={"progress_bar": False},
        fit_intercept=False,
        random_state=seed,
    ).fit(kernels(race.X, race.X), _signed(race))

    predict = _labeled(race, lambda X: model.predict(kernels(X, race.X)))
    return Outcome(np.ravel(model.deltas_), None, predict)


def _xrfm(race, seed, diagonal):
    import torch
    from sklearn.model_selection import train_test_split
    from xrfm import xRFM

    torch.manual_seed(seed)
    kept = race.y if race.task == "classification" else None
    parts = train_test_split(race.X, _signed(race), test_size=0.2, random_state=seed, stratify=kept)
    X, X_held, y, y_held = (np.asarray(part, dtype=np.float32) for part in parts)
    model = xRFM(
        rfm_params={
            "model": {"kernel": "l2", "bandwidth": 10.0, "exponent": 1.0, "diag": diagonal},
            "fit": {"reg": 1e-3, "iters": 5, "get_agop_best_model": True, "verbose": False},
        },
        device=torch.device("cpu"),
        tuning_metric="mse",
        random_state=seed,
        verbose=False,
    )
    model.fit(X, y[:, None], X_held, y_held[:, None])
    matrix = np.asarray(model.collect_best_agops()[0])
    scores = np.diag(matrix) if matrix.ndim == 2 else matrix
    return Outcome(scores, None, _labeled(race, lambda X: model.predict(X.astype(np.float32))))


@method("xRFM", "xrfm")
def xrfm_full(race, seed, threads):
    """A kernel model whose metric is updated by the average gradient outer product.

    The package's defaults: Laplace kernel ("l2"), bandwidth 10, regularization 0.001, five
    iterations; a fifth of the rows held out to choose among them by the squared error, features
    standardized, as in the README. Classes are -1 and 1. The score is the diagonal of the metric.
    """
    return _xrfm(race, seed, False)


@method("xRFM, diagonal", "xrfm")
def xrfm_diagonal(race, seed, threads):
    """The same with a diagonal metric.

    ``diag=True``: one weight per feature is closer to the purpose of this comparison.
    """
    return _xrfm(race, seed, True)


# -- trees ----------------------------------------------------------------------------------------


@method("EBM", "interpret-core")
def ebm(race, seed, threads):
    """Explainable boosting: shape functions of single features and of pairs.

    Defaults, which include pairwise interactions. A feature's score is the importance of its own
    term plus that of its pairs.
    """
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    classes = race.task == "classification"
    chosen = ExplainableBoostingClassifier if classes else ExplainableBoostingRegressor
    model = chosen(n_jobs=threads, random_state=seed).fit(race.X, race.y)
    scores = np.zeros(race.X.shape[1])
    for features, importance in zip(model.term_features_, model.term_importances(), strict=True):
        scores[list(features)] += importance
    return Outcome(scores, None, model.predict)


@method("Boruta", "Boruta")
def boruta(race, seed, threads):
    """Random forests, with permuted copies of the features for comparison.

    The README's parameters: forests of depth 5 with balanced classes, n_estimators = "auto", 100
    iterations. Its selection is the confirmed features; the mean importance breaks ties of ranks.
    """
    from boruta import BorutaPy

    settings = {"class_weight": "balanced"} if race.task == "classification" else {}
    forest = _forest(race, seed, threads, max_depth=5, **settings)
    found = BorutaPy(forest, n_estimators="auto", random_state=seed).fit(race.X, race.y)
    history = np.nan_to_num(found.importance_history_).mean(axis=0)
    return Outcome(-found.ranking_ + history / (1.0 + history.max()), found.support_)


# -- networks -------------------------------------------------------------------------------------


@method("LassoNet", "lassonet")
def lassonet_path(race, seed, threads):
    """A network with a linear skip layer whose lasso penalty eliminates features, as a path.

    Defaults: one hidden layer of 100, M = 10, penalty raised by 2 % at a time. The score is the
    penalty at which a feature is eliminated; its selection and predictor are those of the point of
    the path with the lowest loss on the rows that it holds out itself.
    """
    from lassonet import LassoNetClassifier, LassoNetRegressor

    chosen = LassoNetClassifier if race.task == "classification" else LassoNetRegressor
    model = chosen(random_state=seed, torch_seed=seed, verbose=0, device="cpu")
    X = race.X.astype(np.float32)
    y = race.y if race.task == "classification" else race.y.astype(np.float32)
    path = model.path(X, y, return_state_dicts=True)
    scores = np.nan_to_num(np.asarray(model.feature_importances_), posinf=1e30)
    best = min(path, key=lambda item: item.val_loss)
    model.load(best.state_dict)

    def predict(X):
        return np.ravel(model.predict(X.astype(np.float32)))

    return Outcome(scores, np.asarray(best.selected, dtype=bool), predict)


def _restore_collections():
    """Put the abstract classes back where they were before Python 3.10."""
    import collections
    import collections.abc

    for name in collections.abc.__all__:
        if not hasattr(collections, name):
            setattr(collections, name, getattr(collections.abc, name))


@method("STG", "stg")
def stochastic_gates(race, seed, threads):
    """A network with a stochastic gate on every feature.

    It needs names of `collections` that moved to `collections.abc` in Python 3.10; they are
    restored while it runs. Parameters are those of the authors' examples. Regression: layers 500,
    50, 10, lam = 0.1, 3,000 epochs; classification: layers 60, 20, lam = 0.5, 5,000 epochs; tanh,
    SGD at rate 0.1 on all rows at once. The score is the gate, the selection the open gates.
    """
    import torch

    _restore_collections()
    from stg import STG

    torch.manual_seed(seed)
    classes = race.task == "classification"
    settings = (
        {"output_dim": 2, "hidden_dims": [60, 20], "lam": 0.5}
        if classes
        else {"output_dim": 1, "hidden_dims": [500, 50, 10], "lam": 0.1}
    )
    model = STG(
        task_type=race.task,
        input_dim=race.X.shape[1],
        activation="tanh",
        optimizer="SGD",
        learning_rate=0.1,
        batch_size=len(race.X),
        feature_selection=True,
        sigma=0.5,
        random_state=seed,
        device="cpu",
        **settings,
    )
    X = race.X.astype(np.float32)
    y = race.y.astype(np.int64) if classes else race.y.astype(np.float32)[:, None]
    model.fit(X, y, nr_epochs=5000 if classes else 3000, verbose=False)
    gates = model.get_gates(mode="raw")

    def predict(X):
        return np.ravel(model.predict(X.astype(np.float32), verbose=False))

    return Outcome(gates, gates + 0.5 > 0, predict)


# -- filters --------------------------------------------------------------------------------------


@method("MultiSURF", "skrebate")
def multisurf(race, seed, threads):
    """A Relief method: features that differ between neighboring rows of different classes.

    Defaults. It scores every feature; it has neither a selection nor a predictor of its own.
    """
    from skrebate import MultiSURF

    found = MultiSURF(n_features_to_select=race.k, n_jobs=threads).fit(race.X, race.y)
    return Outcome(np.asarray(found.feature_importances_))


@method("mRMR", "mrmr_selection")
def mrmr_(race, seed, threads):
    """Forward selection by relevance (F test) over redundancy (correlation).

    Defaults of mrmr_classif and mrmr_regression, k features.
    """
    import pandas as pd
    from mrmr import mrmr_classif, mrmr_regression

    fit = mrmr_classif if race.task == "classification" else mrmr_regression
    frame = pd.DataFrame(race.X)
    chosen = fit(frame, pd.Series(race.y), K=race.k, show_progress=False, n_jobs=threads)
    return Outcome(_picked(chosen, race.X.shape[1]))


# -- error rates ----------------------------------------------------------------------------------


@method("ipss, boosting", "ipss")
def ipss_boosting(race, seed, threads):
    """Integrated path stability selection over importances of gradient boosting.

    Defaults, which infer regression or classification. The score is the negative expected number
    of false positives, and the q-value breaks ties; the selection has a false discovery rate of
    0.1, as in the package's examples. It has no predictor.
    """
    from ipss import ipss

    np.random.seed(seed)  # noqa: NPY002 - the package draws from NumPy's global generator
    found = ipss(race.X, race.y, n_jobs=threads)
    p = race.X.shape[1]
    q, efp = (np.array([found[name][j] for j in range(p)]) for name in ("q_values", "efp_scores"))
    return Outcome(-efp - 1e-6 * q, q <= 0.1)


@method("hidimstat CFI, forest", "hidimstat")
def conditional_importance(race, seed, threads):
    """Conditional feature importance of a random forest, tested on held-out rows.

    A quarter of the rows is held out, as for the permutation importances; a forest and CFI with
    their defaults (50 permutations, each feature predicted from the others by ridge regression).
    The score is the importance; the selection has p-values below 0.05. The predictor is the forest.
    """
    from hidimstat import CFI
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.metrics import log_loss
    from sklearn.model_selection import train_test_split

    classes = race.task == "classification"
    forest = (RandomForestClassifier if classes else RandomForestRegressor)(
        n_jobs=threads, random_state=seed
    )
    X, X_out, y, y_out = train_test_split(
        race.X, race.y, random_state=seed, stratify=race.y if classes else None
    )
    forest.fit(X, y)
    settings = {"method": "predict_proba", "loss": log_loss} if classes else {}
    found = CFI(forest, random_state=seed, n_jobs=threads, **settings)
    found.fit(X, y)
    scores = np.ravel(found.importance(X_out, y_out))
    return Outcome(scores, np.ravel(found.pvalues_) < 0.05, forest.predict)
