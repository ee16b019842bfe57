"""Principal components of few columns: identities, planted clusters, what cannot be."""

import warnings
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA, KernelPCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelknife import KnifePCA, knife_pca_path
from kernelknife.kernels import KERNELS


def make_clusters(rng, n=120, p=12, columns=(1, 4, 6, 9)):
    """Two clusters that four of the columns show."""
    X = rng.normal(size=(n, p))
    X[:, list(columns)] += 1.5 * rng.choice([-1.0, 1.0], size=(n, 1))
    return X


class Recorder:
    """Counts the tasks that have ended, by name."""

    def __init__(self):
        self.ended = Counter()

    def setup(self, estimator, context):
        pass

    teardown = setup

    def on_fit_task_begin(self, estimator, context, **_):
        pass

    def on_fit_task_end(self, estimator, context, **_):
        self.ended[context.task_name] += 1


def assert_same_up_to_sign(ours, theirs, atol=1e-8):
    sign = np.sign((ours * theirs).sum(axis=0))
    assert_allclose(ours * sign, theirs, atol=atol)


# -- identities -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_centers", [None, 60], ids=["exact", "all rows as centers"])
def test_at_fixed_weights_it_is_kernel_principal_component_analysis(rng, n_centers):
    X, new = rng.normal(size=(60, 5)), rng.normal(size=(9, 5))
    ours = KnifePCA(3, weights=0.4, n_centers=n_centers).fit(X)
    scaler = StandardScaler().fit(X)
    theirs = KernelPCA(3, kernel="rbf", gamma=0.4**2).fit(scaler.transform(X))
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, atol=1e-8)
    for rows in (X, new):
        assert_same_up_to_sign(ours.transform(rows), theirs.transform(scaler.transform(rows)))


def test_with_the_linear_kernel_it_is_principal_component_analysis(rng):
    X = rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4))
    ours = KnifePCA(2, "linear", weights=1.0).fit(X)
    Z = StandardScaler().fit_transform(X)
    theirs = PCA(2).fit(Z)
    assert_same_up_to_sign(ours.transform(X), theirs.transform(Z))
    assert_allclose(ours.explained_variance_, theirs.explained_variance_)
    assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)


def test_given_weights_weigh_the_columns(rng):
    X = rng.normal(size=(40, 3))
    ours = KnifePCA(2, weights=[0.5, 0.0, 1.0]).fit(X)
    assert_allclose(ours.weights_, [0.5, 0.0, 1.0])
    Z = StandardScaler().fit_transform(X) * ours.weights_
    assert_same_up_to_sign(
        ours.transform(X), KernelPCA(2, kernel="rbf", gamma=1.0).fit_transform(Z)
    )


def test_scores_are_centered_and_uncorrelated(rng):
    X = make_clusters(rng)
    model = KnifePCA(3).fit(X)
    scores = model.transform(X)
    assert_allclose(scores.mean(axis=0), 0.0, atol=1e-10)
    assert_allclose(scores.T @ scores, np.diag(model.eigenvalues_), atol=1e-8)
    assert_allclose(scores.var(axis=0, ddof=1), model.explained_variance_)


# -- planted structure ----------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", sorted(set(KERNELS) - {"sigmoid"}))
def test_the_columns_of_two_clusters_are_found(rng, kernel):
    model = KnifePCA(1, kernel).fit(make_clusters(rng))
    assert model.get_support(indices=True).tolist() == [1, 4, 6, 9]


def test_the_score_tells_the_clusters_apart(rng):
    X = rng.normal(size=(150, 200))
    cluster = rng.choice([-1.0, 1.0], size=150)
    X[:, :4] += 1.2 * cluster[:, None]
    score = KnifePCA(1).fit_transform(X)[:, 0]
    everything = KnifePCA(1, weights=np.sqrt(0.5 / 200)).fit_transform(X)[:, 0]
    agreement = [abs(np.mean(np.sign(s) == cluster) - 0.5) + 0.5 for s in (score, everything)]
    assert agreement[0] > 0.97
    assert agreement[0] > agreement[1]


def test_one_binary_column_is_no_structure(rng):
    X = rng.normal(size=(150, 12))
    X[:, 5] = np.repeat([0.0, 1.0], 75)  # a perfect cluster of its own
    X[:, [1, 2]] += 1.5 * rng.choice([-1.0, 1.0], size=(150, 1))
    assert KnifePCA().fit(X).get_support(indices=True).tolist() == [1, 2]


def test_two_components_may_have_columns_of_their_own(rng):
    X = rng.normal(size=(200, 15))
    X[:, [0, 1, 2]] += 1.5 * rng.choice([-1.0, 1.0], size=(200, 1))
    X[:, [7, 8, 9]] += 1.5 * rng.choice([-1.0, 1.0], size=(200, 1))
    assert KnifePCA(2).fit(X).get_support(indices=True).tolist() == [0, 1, 2, 7, 8, 9]


def test_dependence_need_not_be_linear(rng):
    angle = rng.uniform(0.0, 2.0 * np.pi, 200)
    X = rng.normal(size=(200, 8))
    X[:, 2], X[:, 5] = np.cos(angle), np.sin(angle)  # uncorrelated, and yet a circle
    X[:, [2, 5]] += 0.05 * rng.normal(size=(200, 2))
    assert KnifePCA().fit(X).get_support(indices=True).tolist() == [2, 5]


def test_noise_alone_is_called_so(rng):
    with pytest.warns(UserWarning, match="share no component"):
        model = KnifePCA().fit(rng.normal(size=(100, 6)))
    assert model.get_support().all()


def test_groups_stay_together_and_costs_count(rng):
    X = make_clusters(rng, p=8, columns=(0, 1, 2, 3))
    groups = [0, 0, 1, 2, 3, 3, 4, 5]
    grouped = KnifePCA(1, feature_groups=groups).fit(X)
    assert grouped.weights_[0] == grouped.weights_[1] > 0
    free = KnifePCA(1, sparsity=5.0).fit(X)
    costly = KnifePCA(1, sparsity=5.0, feature_costs=[20.0, *[1.0] * 7]).fit(X)
    assert free.weights_[0] > 0 == costly.weights_[0]


# -- invariances ----------------------------------------------------------------------------------


def test_units_signs_and_the_order_of_columns_do_not_matter(rng):
    X = make_clusters(rng)
    order = rng.permutation(X.shape[1])
    moved = (X * rng.choice([-3.0, 0.5, 1e4], size=X.shape[1]) + 7.0)[:, order]
    options = {"sparsity": 2.0, "start": "scaled", "tol": 1e-10}
    model, other = KnifePCA(2, **options).fit(X), KnifePCA(2, **options).fit(moved)
    assert_allclose(other.weights_, model.weights_[order], atol=1e-6)
    assert_same_up_to_sign(other.transform(moved), model.transform(X), 1e-5)
    # The permutations that chance is judged by go by position, so that weights differ a little.
    model, other = KnifePCA().fit(X), KnifePCA().fit(moved)
    assert (other.get_support() == model.get_support()[order]).all()


def test_the_order_of_rows_does_not_matter_for_given_weights(rng):
    X = make_clusters(rng)
    order = rng.permutation(len(X))
    here, there = KnifePCA(2, weights=0.3).fit(X), KnifePCA(2, weights=0.3).fit(X[order])
    assert_allclose(here.transform(X), there.transform(X), atol=1e-8)


def test_many_rows_go_to_centers_and_give_the_same_columns(rng):
    X = make_clusters(rng, n=1510, p=10)
    model = KnifePCA(1).fit(X)
    assert model.get_support(indices=True).tolist() == [1, 4, 6, 9]
    assert len(model._model.vectors) == 300
    with_centers = KnifePCA(1, n_centers=40).fit(X)
    assert len(with_centers._model.vectors) <= 40
    scores = model.transform(X)[:, 0], with_centers.transform(X)[:, 0]
    assert abs(np.corrcoef(*scores)[0, 1]) > 0.98


# -- interface ------------------------------------------------------------------------------------


def test_a_path_gives_models_and_a_ranking(rng):
    X = make_clusters(rng)
    path = knife_pca_path(X, sparsities=40)
    assert path.task == "regression"
    assert set(np.argsort(path.ranking)[:4]) <= {1, 4, 6, 9}
    model = path.at(n_features=3)
    assert model.get_support().sum() == 3
    assert model.transform(X).shape == (120, 2)
    first = path.model(0)
    assert_allclose(first.weights_, path.weights[0])
    again = KnifePCA(n_features_to_select=3).fit(X)
    assert again.get_support(indices=True).tolist() == model.get_support(indices=True).tolist()
    with pytest.raises(ValueError, match="drives every column out"):
        path.model(-1)


def test_a_path_has_constant_columns_and_groups_at_their_places(rng):
    X = make_clusters(rng)
    X[:, [0, 5]] = 1.0
    path = knife_pca_path(X, sparsities=10, feature_groups=[*range(9), 9, 9, 9])
    assert not path.weights[:, [0, 5]].any()
    assert (path.ranking[[0, 5]] == path.ranking.max()).all()
    assert_allclose(path.weights[:, [10, 11]], path.weights[:, [9, 9]])


def test_the_gap_is_shown_along_the_path(rng):
    model = KnifePCA().fit(make_clusters(rng))
    counts, gap, spread = model.gap_.T
    assert (np.diff(counts) <= 0).all()
    assert (spread >= 0).all()
    assert gap[counts == 4].max() > gap[counts == 1].max()
    assert len(model.path_) > 5
    refitted = model.set_params(sparsity=1.0).fit(make_clusters(rng))
    assert not hasattr(refitted, "gap_")
    assert not hasattr(refitted, "path_")


def test_names_frames_and_pipelines(rng):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(make_clusters(rng), columns=[f"c{j}" for j in range(12)])
    model = KnifePCA().set_output(transform="pandas").fit(frame)
    scores = model.transform(frame)
    assert list(scores.columns) == ["knifepca0", "knifepca1"]
    assert list(model.feature_names_in_[model.get_support()]) == ["c1", "c4", "c6", "c9"]
    assert make_pipeline(StandardScaler(), KnifePCA()).fit_transform(frame).shape == (120, 2)


@pytest.mark.usefixtures("callbacks")
def test_every_step_and_every_point_is_reported(rng):
    X, steps, points, path_points = make_clusters(rng), Recorder(), Recorder(), Recorder()
    model = KnifePCA(sparsity=1.0).set_callbacks(steps).fit(X)
    assert steps.ended == {"fit": 1, "iteration": model.n_iter_}
    model = KnifePCA(n_features_to_select=2).set_callbacks(points).fit(X)
    assert points.ended == {"fit": 1, "point": len(model.path_)}
    path = knife_pca_path(X, sparsities=5, callbacks=[path_points])
    assert path_points.ended == {"path": 1, "point": len(path)}


@pytest.mark.usefixtures("callbacks")
def test_warnings_are_about_the_line_of_the_user(rng):
    shared = rng.normal(size=60)
    X = np.stack([shared + 0.1 * rng.normal(size=60), shared, *rng.normal(size=(3, 60))], axis=1)
    for message, fit in {
        "share no component": lambda: KnifePCA().fit(rng.normal(size=(100, 6))),
        "have 1 component": lambda: KnifePCA(2, "linear", n_features_to_select=1).fit(X),
        "KnifePCA did not": lambda: KnifePCA(sparsity=1.0, max_iter=1).fit(X),
        "points of the path": lambda: knife_pca_path(X, sparsities=[1.0, 2.0], max_iter=1),
        "1 column": lambda: knife_pca_path(X, kernel="linear", sparsities=5).at(n_features=1),
    }.items():
        with pytest.warns(UserWarning, match=message) as caught:
            fit()
        assert {warning.filename for warning in caught} == {__file__}


# -- what cannot be -------------------------------------------------------------------------------


def test_constant_columns_have_no_weight(rng):
    X = make_clusters(rng)
    X[:, 3] = 2.0
    assert KnifePCA().fit(X).weights_[3] == 0.0
    with pytest.raises(ValueError, match="constant"):
        KnifePCA().fit(np.ones((10, 3)))


def test_more_components_than_rank(rng):
    X = rng.normal(size=(30, 2))
    with pytest.raises(ValueError, match=r"has rank 2: ask for at most 2"):
        KnifePCA(3, "linear").fit(X)
    shared = rng.normal(size=60)
    X = np.stack([shared + 0.1 * rng.normal(size=60), shared, *rng.normal(size=(3, 60))], axis=1)
    with pytest.warns(UserWarning, match="have 1 component"):
        model = KnifePCA(2, "linear", n_features_to_select=1).fit(X)
    assert model.transform(X).shape == (60, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"sparsity": "many"}, "'auto'"),
        ({"sparsity": -1.0}, "sparsity"),
        ({"sparsity": 1e6}, "drives every column out"),
        ({"start": "laplace"}, "Unknown start"),
        ({"weights": [0.5, 0.5]}, r"one weight per column \(12\)"),
        ({"weights": 0.0}, "between 0 and 1"),
        ({"n_permutations": 1}, "n_permutations"),
        ({"n_features_to_select": 13}, "more than the 12"),
    ],
)
def test_bad_parameters_get_a_sentence(rng, options, message):
    with pytest.raises(ValueError, match=message):
        KnifePCA(**options).fit(make_clusters(rng))


def test_bad_tables_get_a_sentence(rng):
    X = make_clusters(rng)
    X[3, 2] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        KnifePCA().fit(X)
    with pytest.raises(TypeError, match="needs an array or a data frame"):
        KnifePCA().fit("folder")
    with pytest.raises(TypeError, match="follows all penalties"):
        knife_pca_path(X, sparsity=1.0)


def test_a_fit_is_the_same_every_time(rng):
    X = make_clusters(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = KnifePCA().fit(X), KnifePCA().fit(X)
    assert_allclose(first.weights_, second.weights_, atol=0.0)
    assert_allclose(first.gap_, second.gap_, atol=0.0)
