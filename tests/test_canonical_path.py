"""The path of a canonical pair: single fits, both ends, planted columns, invariances."""

import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from kernelknife import CCAPathResult, KnifeCCA, knife_cca_path


def make_tables(rng, n=80, p=6, q=5, noise=0.05):
    """Columns 1 and 4 of X go together with columns 2 and 3 of Y, and nothing else does."""
    X, Y = rng.normal(size=(n, p)), rng.normal(size=(n, q))
    Y[:, 3] = np.sin(X[:, 1] + X[:, 4]) - Y[:, 2] + noise * rng.normal(size=n)
    return X, Y


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


def support(weights):
    return np.flatnonzero(weights).tolist()


def test_a_frame_keeps_columns_of_the_same_name_apart(rng):
    X, Y = make_tables(rng)
    X = pd.DataFrame(X, columns=[f"a{j}" for j in range(6)])
    Y = pd.DataFrame(Y, columns=[f"a{j}" for j in range(5)])
    path = knife_cca_path(X, Y, sparsities=4)
    frame = path.to_frame()
    assert len(frame) == len(path)
    assert_allclose(frame["path", "sparsity"], path.sparsities)
    assert_allclose(frame["path", "correlation"], path.correlations)
    assert_allclose(frame["x"][list(X.columns)], path.x_weights)
    assert_allclose(frame["y"][list(Y.columns)], path.y_weights)


# -- against single fits --------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [(1.0, 1.0), (0.5, 2.0)])
def test_a_path_of_one_point_is_the_fit_at_its_penalty(rng, ratio):
    X, Y = make_tables(rng, noise=0.5)
    path = knife_cca_path(X, Y, sparsities=[3.0], ratio=ratio)
    alone = KnifeCCA(sparsity=(3.0 * ratio[0], 3.0 * ratio[1]), hold_out=0.0).fit(X, Y)
    model = path.model(0)
    assert isinstance(model, KnifeCCA)
    assert model.get_params() == alone.get_params()
    assert vars(model).keys() == vars(alone).keys()
    assert_allclose(path.x_weights, alone.x_weights_)
    assert_allclose(path.y_weights, alone.y_weights_)
    assert_allclose(path.correlations, alone.correlations_)
    assert_allclose(model.sparsities_, alone.sparsities_)
    for ours, theirs in zip(model.transform(X, Y), alone.transform(X, Y), strict=True):
        assert_allclose(ours, theirs)


def test_the_points_are_near_the_fits_at_their_penalties(rng):
    X, Y = make_tables(rng)
    path = knife_cca_path(X, Y, sparsities=8)
    assert path.settled.all()
    for i in (2, 4, 5):
        alone = KnifeCCA(sparsity=float(path.sparsities[i]), hold_out=0.0).fit(X, Y)
        assert support(path.x_weights[i]) == support(alone.x_weights_[0])
        assert support(path.y_weights[i]) == support(alone.y_weights_[0])
        # It ends when the columns no longer change, so that weights may still move a little.
        assert_allclose(path.x_weights[i], alone.x_weights_[0], atol=0.05)
        assert_allclose(path.y_weights[i], alone.y_weights_[0], atol=0.05)
        assert_allclose(path.correlations[i], alone.correlations_[0], atol=0.02)


def test_with_linear_kernels_the_correlations_are_those_of_single_fits(rng):
    X = rng.normal(size=(80, 4))
    Y = X[:, [1, 3]] @ [[1.0, 0.5], [0.3, 1.0]] + 0.3 * rng.normal(size=(80, 2))
    grid = [0.5, 2.0, 8.0]
    path = knife_cca_path(X, Y, kernel="linear", sparsities=grid)
    for i, sparsity in enumerate(grid):
        alone = KnifeCCA(kernel="linear", sparsity=sparsity, hold_out=0.0).fit(X, Y)
        assert_allclose(path.correlations[i], alone.correlations_[0], atol=0.01)


# -- along the path -------------------------------------------------------------------------------


def test_the_columns_that_go_together_remain_active_longest(rng):
    X, Y = make_tables(rng, noise=0.5)
    path = knife_cca_path(X, Y, sparsities=12)
    assert set(np.argsort(path.x_ranking)[:2]) == {1, 4}
    assert set(np.argsort(path.y_ranking)[:2]) == {2, 3}
    assert (np.diff(path.sparsities) > 0).all()
    assert_allclose(path.sparsities[0], 0.001 * 80)
    assert (path.n_x_selected == np.count_nonzero(path.x_weights, axis=1)).all()
    assert (path.n_y_selected == np.count_nonzero(path.y_weights, axis=1)).all()
    assert path.n_x_selected[0] > 2
    # The automatic penalty of a single fit is one of the points.
    assert np.isclose(path.sparsities, 0.03 * 80).any()
    assert path.at(sparsity=0.03 * 80).score(X, Y) > 0.8


def test_the_end_has_no_pair(rng):
    X, Y = make_tables(rng)
    path = knife_cca_path(X, Y, sparsities=6)
    assert not path.x_weights[-1].any()
    assert not path.y_weights[-1].any()
    assert path.correlations[-1] == 0.0
    assert (path.n_x_selected[:-1] > 0).all()
    assert (path.n_y_selected[:-1] > 0).all()
    assert (path.correlations[:-1] > 0).all()
    with pytest.raises(ValueError, match=r"no pair: take a point with a smaller sparsity"):
        path.model(-1)
    with pytest.raises(IndexError, match="there is no point 99"):
        path.model(99)


def test_the_higher_penalty_empties_its_table_first(rng):
    X, Y = make_tables(rng)
    even = knife_cca_path(X, Y, sparsities=5)
    steep = knife_cca_path(X, Y, sparsities=5, ratio=(1.0, 4.0))
    assert steep.sparsities[-1] < 0.5 * even.sparsities[-1]
    assert_allclose(steep.model(1).sparsities_[0], steep.sparsities[1] * np.array([1.0, 4.0]))


def test_a_given_grid_is_followed_until_nothing_is_left(rng):
    X, Y = make_tables(rng)
    path = knife_cca_path(X, Y, sparsities=[0.0, 1.0, 10.0, 1e4, 1e5])
    assert path.sparsities.tolist() == [0.0, 1.0, 10.0, 1e4]
    assert path.n_x_selected[-1] == 0 < path.n_x_selected[-2]
    nothing = knife_cca_path(X, Y, sparsities=[1e4, 1e5])
    assert nothing.sparsities.tolist() == [1e4]
    assert nothing.correlations.tolist() == [0.0]
    one = knife_cca_path(X, Y, sparsities=1)
    assert_allclose(one.sparsities, [0.03 * 80])


# -- invariances ----------------------------------------------------------------------------------


def test_the_order_of_columns_permutes_the_path(rng):
    X, Y = make_tables(rng, noise=0.3)
    left, right = rng.permutation(6), rng.permutation(5)
    options = {"sparsities": [0.5, 2.4, 10.0], "tol": 1e-8}
    path = knife_cca_path(X, Y, **options)
    moved = knife_cca_path(X[:, left], Y[:, right], **options)
    assert_allclose(moved.x_weights, path.x_weights[:, left], atol=1e-4)
    assert_allclose(moved.y_weights, path.y_weights[:, right], atol=1e-4)
    assert_allclose(moved.correlations, path.correlations, atol=1e-5)
    assert_allclose(moved.x_ranking, path.x_ranking[left])
    assert_allclose(moved.y_ranking, path.y_ranking[right])


def test_groups_share_a_rank_and_constant_columns_come_last(rng):
    X, Y = make_tables(rng)
    Y[:, 0] = 7.0
    path = knife_cca_path(X, Y, sparsities=5, feature_groups=([0, 0, 1, 2, 3, 4], None))
    assert path.x_ranking[0] == path.x_ranking[1]
    assert_allclose(path.x_weights[:, 0], path.x_weights[:, 1])
    assert path.y_ranking[0] == path.y_ranking.max() == 5
    assert not path.y_weights[:, 0].any()


# -- interface and what cannot be -----------------------------------------------------------------


def test_names_copies_and_one_column_as_second_table(rng):
    pandas = pytest.importorskip("pandas")
    X, Y = make_tables(rng)
    left, right = pandas.DataFrame(X, columns=list("abcdef")), pandas.Series(X[:, 3] ** 2)
    path = knife_cca_path(left, right, sparsities=4)
    assert list(path.x_names) == list("abcdef")
    assert list(path.y_names) == ["y0"]
    assert list(path.model(0).feature_names_in_) == list("abcdef")
    assert path.x_names[path.x_ranking.argmin()] == "d"
    again = pickle.loads(pickle.dumps(path))
    assert isinstance(again, CCAPathResult)
    assert len(again) == len(path)
    assert_allclose(again.model(1).transform(left), path.model(1).transform(left))
    named = knife_cca_path(X, pandas.DataFrame(Y, columns=list("vwxyz")), sparsities=[2.0])
    assert list(named.model(0).y_feature_names_in_) == list(named.y_names) == list("vwxyz")


@pytest.mark.usefixtures("callbacks")
@pytest.mark.parametrize("sparsities", [[1.0, 2.0], 3])
def test_every_point_is_reported(rng, sparsities):
    X, Y = make_tables(rng, n=40)
    recorder = Recorder()
    path = knife_cca_path(X, Y, sparsities=sparsities, callbacks=[recorder])
    assert recorder.ended == {"path": 1, "point": len(path)}


@pytest.mark.usefixtures("callbacks")
def test_every_component_of_a_fit_is_reported(rng):
    recorder = Recorder()
    KnifeCCA(2, n_permutations=9).set_callbacks(recorder).fit(*make_tables(rng))
    # Once without the rows that are held out, and once with all of them.
    assert recorder.ended == {"fit": 1, "component": 4}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"sparsity": 1.0}, TypeError, "takes no sparsity: it follows all penalties"),
        ({"weights": (0.5, 0.5)}, TypeError, "takes no weights"),
        ({"n_components": 2}, TypeError, "follows the first pair"),
        ({"hold_out": 0.5}, TypeError, "fit KnifeCCA at the sparsity of a point"),
        ({"n_permutations": 9}, TypeError, "takes no n_permutations"),
        ({"bandwidth": 2}, TypeError, "unexpected keyword"),
        ({"sparsities": []}, ValueError, "a number of points or a list"),
        ({"sparsities": 0}, ValueError, "sparsities must be an integer >= 1, got 0"),
        ({"ratio": 2.0}, ValueError, r"a pair of numbers > 0, of X and of Y.*got 2\.0"),
        ({"ratio": (1.0, 0.0)}, ValueError, r"entry of ratio must be a number > 0, got 0\.0"),
        ({"ratio": (1.0, "2")}, TypeError, "entry of ratio must be a number > 0, got '2'"),
        ({"alpha": 1e12}, ValueError, "leaves a table without columns.*lower alpha"),
        ({"kernel": ("rbf", "rbf", "rbf")}, ValueError, "one value or a pair"),
    ],
)
def test_bad_parameters_get_a_sentence(rng, options, error, message):
    with pytest.raises(error, match=message):
        knife_cca_path(*make_tables(rng, n=30), **options)


def test_bad_tables_get_a_sentence(rng):
    X, Y = make_tables(rng, n=30)
    with pytest.raises(ValueError, match="X has 30 rows and y has 20"):
        knife_cca_path(X, Y[:20])
    with pytest.raises(ValueError, match="second table"):
        knife_cca_path(X, None)
    with pytest.raises(ValueError, match="constant"):
        knife_cca_path(X, np.ones((30, 2)))
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        knife_cca_path(X, Y)
