"""Which paths go on, with made-up scores whose right answer is known, and on which rows."""

from dataclasses import fields, replace

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import KFold, LeaveOneOut

from kernelknife import KnifeClassifierCV, KnifeRegressor, KnifeRegressorCV
from kernelknife._engine import FitSpec
from kernelknife._engine.policy import search_centers
from kernelknife._tuning import halving
from kernelknife._tuning.candidates import SearchSpec, penalties_of_path
from kernelknife._tuning.folds import FoldScores, score_paths
from kernelknife._tuning.halving import HALVING, Halving, is_last_alpha, plan_search
from kernelknife._tuning.splits import draw_rows
from kernelknife.cross_validation import models_of_folds
from kernelknife.datasets import make_sinusoidal, make_skin_of_orange
from kernelknife.kernels import RBF, check_kernel
from kernelknife.losses import check_loss

# -- which paths go on ----------------------------------------------------------------------------


@pytest.fixture
def run(monkeypatch, search_spec, search_data):
    """Return a function that compares paths which score ``quality(kernel, alpha)`` on every fold.

    A path has seven penalties. At the one numbered ``best`` it has that score, which falls to zero
    six further on. With ``by_fold`` it is ``quality(kernel, alpha, fold)``. The function returns
    what has become of the paths, and what was scored: kernel, alpha, fold and number of penalties.
    """

    def compare(
        quality, alphas, n_folds, n_rows=100, *, extends=False, best=0, by_fold=False, given=None
    ):
        spec = search_spec(
            sparsities=7 if given is None else given,
            relax=False,
            include_all=False,
            n_centers=3,
            search_rows=None,
        )
        kernels = {name: RBF() for name in alphas}
        spec = replace(spec, kernels=kernels, alphas=alphas, extends=extends)
        rows = np.arange(float(n_rows))
        found = Halving(spec, search_data(rows[:, None], rows), None)
        first = found.setup_of(next(iter(alphas))).problem
        grid = penalties_of_path(first, 7) if given is None else given
        scored = []

        def score(paths, data, train, test, *rest):
            fold = test[0] // len(test)
            results = []
            for path in paths:
                n_points = len(path.penalties)
                scored.append((path.kernel, path.alpha, int(fold), n_points))
                steps = np.abs(np.searchsorted(grid, path.penalties) - best)
                top = quality(path.kernel, path.alpha, *[fold] * by_fold)
                bits = np.zeros((n_points, 1), np.uint8)
                results.append(FoldScores(top * (1.0 - steps / 6.0), bits, 10))
            return results, [None] * len(paths)

        monkeypatch.setattr(halving, "score_paths", score)
        size = n_rows // min(n_folds, 5)
        tests = [np.arange(fold * size, (fold + 1) * size) for fold in range(n_folds)]
        found.run([(np.arange(10), test) for test in tests])
        assert plan_search(spec, n_rows, n_folds).n_paths == found.n_paths or extends
        assert len(scored) == found.n_paths
        return found, scored

    return compare


def kernels_of(found):
    return {found.paths[i].kernel for i in found.finalists}


def test_the_best_two_paths_are_followed_to_the_end(run):
    quality = {"a": 0.3, "b": 0.9, "c": 0.5, "d": 0.1}
    found, scored = run(lambda kernel, _: quality[kernel], {name: [1.0] for name in quality}, 10)
    assert kernels_of(found) == {"b", "c"}
    for i, path in enumerate(found.paths):
        finalist = i in found.finalists
        assert (len(path.penalties), len(found.scores[i])) == ((7, 10) if finalist else (3, 5))
    # The screening: five folds, a third of the penalties.
    screened = {(fold, n) for kernel, _, fold, n in scored if kernel == "a"}
    assert screened == {(fold, 3) for fold in range(5)}


def test_few_paths_are_not_screened(run):
    found, scored = run(lambda _, alpha: -alpha, {"a": [0.1, 1.0]}, 3)
    assert len(scored) == 2 * 3
    assert all(n == 7 for *_, n in scored)
    assert found.finalists == [0, 1]


@pytest.mark.parametrize("best", [1e-3, 0.1, 1.0, 100.0])
def test_the_search_for_alpha_ends_where_the_curve_has_turned(run, best):
    def quality(_, alpha):
        return 10.0 - np.log10(alpha / best) ** 2

    found, _ = run(quality, {"a": [0.1, 1.0]}, 5, extends=True)
    alphas = sorted(path.alpha for path in found.paths)
    assert min(alphas) < best * 1.001
    assert max(alphas) > best * 0.999
    assert min(abs(np.log10(found.paths[i].alpha / best)) for i in found.finalists) < 1e-9
    # No alpha beyond the one after the turn.
    assert alphas[0] >= min(0.1, best / 10.001)
    assert alphas[-1] <= max(1.0, best * 10.001)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_search_for_alpha_stops_at_its_limits(run, sign):
    def quality(_, alpha):
        return 10.0 + sign * np.log10(alpha)

    found, _ = run(quality, {"a": [0.1, 1.0]}, 5, extends=True)
    alphas = [path.alpha for path in found.paths]
    last = max(alphas) if sign > 0 else min(alphas)
    limit = HALVING.alpha_highest if sign > 0 else HALVING.alpha_lowest
    assert last == pytest.approx(limit)
    assert is_last_alpha(last)
    assert not any(is_last_alpha(alpha) for alpha in alphas if alpha != last)


def test_every_kernel_searches_its_own_alpha(run):
    best = {"a": 0.01, "b": 10.0}
    found, _ = run(
        lambda kernel, alpha: 10.0 - np.log10(alpha / best[kernel]) ** 2,
        {"a": [0.1, 1.0], "b": [0.1, 1.0]},
        5,
        extends=True,
    )
    chosen = {found.paths[i].kernel: found.paths[i].alpha for i in found.finalists}
    assert chosen == pytest.approx(best)


def test_a_flat_curve_is_not_searched(run):
    def quality(_, alpha):
        return 1.0 - 1e-3 * np.log10(alpha)

    found, _ = run(quality, {"a": [0.1, 1.0]}, 5, extends=True)
    assert sorted({path.alpha for path in found.paths}) == [0.1, 1.0]


@pytest.mark.parametrize(("chance", "searched"), [(0.0, [0.01, 0.1, 1.0]), (0.5, [0.1, 1.0])])
def test_a_gain_must_be_more_than_chance(run, chance, searched):
    """What the smaller alpha gains differs from fold to fold by so much."""

    def quality(_, alpha, fold):
        return 10.0 + (alpha == 0.1) * (0.1 + chance * (-1.0) ** fold)

    found, _ = run(quality, {"a": [0.1, 1.0]}, 5, extends=True, by_fold=True)
    assert sorted({path.alpha for path in found.paths}) == searched


def test_an_alpha_without_a_score_neither_goes_on_nor_is_followed_by_others(run):
    found, _ = run(
        lambda _, alpha: np.nan if alpha < 1.0 else 1.0 / alpha,
        {"a": [0.1, 1.0, 10.0]},
        5,
        extends=True,
    )
    assert sorted(found.paths[i].alpha for i in found.finalists) == [1.0, 10.0]
    assert min(path.alpha for path in found.paths) == 0.1


def test_a_tie_goes_to_the_simpler_kernel(run):
    alphas = {"simple": [1.0], "second": [1.0], "third": [1.0]}
    found, _ = run(lambda *_: 1.0, alphas, 3)
    assert kernels_of(found) == {"simple", "second"}


def test_paths_of_different_kernels_go_on(run):
    best = {"a": 0.9, "b": 0.5, "c": 0.1}
    found, _ = run(
        lambda kernel, alpha: best[kernel] + 0.01 * alpha, {name: [0.1, 1.0] for name in "abc"}, 5
    )
    finalists = {(found.paths[i].kernel, found.paths[i].alpha) for i in found.finalists}
    assert finalists == {("a", 1.0), ("b", 1.0)}


@pytest.mark.parametrize(("n_rows", "screened"), [(100, 5), (800, 5), (1000, 4), (5000, 2)])
def test_many_rows_need_fewer_folds_for_a_screening(run, n_rows, screened):
    alphas = {name: [1.0] for name in "abc"}
    _, scored = run(lambda kernel, _: ord(kernel), alphas, 5, n_rows)
    assert {fold for kernel, _, fold, _ in scored if kernel == "a"} == set(range(screened))


def test_penalties_far_below_the_best_are_not_followed_unless_they_were_given(run):
    alphas = {name: [1.0] for name in "abc"}
    found, _ = run(lambda kernel, _: ord(kernel), alphas, 5, best=6)
    grid = found.make_path("c", 1.0).penalties
    # The screening has those numbered 0, 3 and 6; before the best comes 3.
    assert_array_equal(found.paths[2].penalties, grid[3:])
    assert_array_equal(found.paths[0].penalties, grid[[0, 3, 6]])
    given = np.arange(7.0)
    found, _ = run(lambda kernel, _: ord(kernel), alphas, 5, best=6, given=given)
    assert_array_equal(found.paths[2].penalties, given)


@pytest.mark.parametrize(("gap", "followed"), [(5.0, {"a"}), (0.1, {"a", "b"})])
def test_a_kernel_that_is_surely_behind_is_not_followed(run, gap, followed):
    """Sure is a gain of more than two standard errors over the folds."""
    chance = np.random.default_rng(0).normal(size=(3, 5))
    behind = {"a": 0.0, "b": gap, "c": gap + 5.0}

    def quality(kernel, alpha, fold):
        noise = chance["abc".index(kernel), fold]
        return 20.0 - behind[kernel] + 0.5 * noise + np.log10(alpha)

    alphas = {name: [0.1, 1.0] for name in "abc"}
    found, _ = run(quality, alphas, 5, extends=True, by_fold=True)
    assert kernels_of(found) == followed
    # One that cannot become one of the best two is not tried with other alphas.
    tried = {name: [p.alpha for p in found.paths if p.kernel == name] for name in "abc"}
    assert tried["c"] == [0.1]
    assert len(tried["a"]) > 2


def test_a_path_that_is_surely_behind_after_two_folds_goes_no_further(search_spec, search_data):
    """The rows tell: the sum of two squares is nothing that a linear kernel could describe."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    data = search_data(X, X[:, 0] ** 2 + X[:, 1] ** 2)
    spec = search_spec(["linear", "rbf"], sparsities=6, random_state=0)
    found = Halving(spec, data, None)
    found.run(list(KFold(5).split(X)))
    seen = {
        path.kernel: len(scores) for path, scores in zip(found.paths, found.scores, strict=True)
    }
    assert seen["linear"] == HALVING.fewest_folds
    assert kernels_of(found) == {"rbf"}
    given = search_spec(["linear", "rbf"], alphas=[0.1, 1.0], sparsities=6, random_state=0)
    asked = Halving(given, data, None)
    asked.run(list(KFold(5).split(X)))
    assert [path.alpha for path in asked.paths] == [0.1, 1.0, 0.1, 1.0], "the user asked for them"


def test_no_more_than_the_turned_end_of_a_path_is_left_out(search_spec, search_data):
    X, y = make_sinusoidal(120, 3, random_state=0)
    data, splits = search_data(X, y), list(KFold(4).split(X))
    path = Halving(search_spec("rbf", sparsities=15), data, None).make_path("rbf", 0.3)
    for train, test in splits:
        (whole,), _ = score_paths([path], data, train, test)
        (early,), _ = score_paths([path], data, train, test, (), None, True)
        n = early.turned
        assert whole.turned is None
        assert 1 < n < len(path.penalties)
        assert_array_equal(early.scores[:n], whole.scores[:n])
        assert whole.scores[n : len(path.penalties)].max() <= early.scores.max()
        assert early.n_factorizations < whole.n_factorizations


# -- the paths ------------------------------------------------------------------------------------


def test_a_path_has_its_kernel_and_alpha_and_everything_else_of_the_user(search_spec, search_data):
    options = {"tol": 1e-3, "standardize": False, "solver": "alternate", "random_state": 3}
    spec = search_spec(["linear", "rbf"], **options, n_centers=20)
    found = Halving(spec, search_data(*make_sinusoidal(60, 2, random_state=0)), None)
    path = found.make_path("linear", 0.3)
    own = {"kernel": spec.kernels["linear"], "alpha": 0.3, "n_centers": 20}
    alone = FitSpec.from_estimator(KnifeRegressor(**options, **own, sparsity=0.0))
    for field in fields(FitSpec):
        ours, theirs = getattr(path.spec, field.name), getattr(alone, field.name)
        assert ours is theirs or repr(ours) == repr(theirs), field.name
    assert (path.kernel, path.alpha, path.weightings) == ("linear", 0.3, spec.weightings)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_penalties_are_those_of_all_rows_or_of_the_user(search_spec, search_data, kernel):
    data = search_data(*make_sinusoidal(60, 2, random_state=0))
    found = Halving(search_spec(["linear", "rbf"], sparsities=5), data, None)
    problem = found.setup_of(kernel).with_alpha(0.3).problem
    assert_array_equal(found.make_path(kernel, 0.3).penalties, penalties_of_path(problem, 5))
    given = [1.0, 4.0]
    found = Halving(search_spec(["linear", "rbf"], sparsities=given), data, None)
    assert_array_equal(found.make_path(kernel, 0.3).penalties, given)


def test_a_number_of_features_makes_a_path_of_one_candidate(search_spec, search_data):
    data = search_data(*make_sinusoidal(60, 2, random_state=0))
    path = Halving(search_spec(n_features_to_select=2), data, None).make_path("rbf", 1.0)
    (candidate,) = path.candidates
    assert candidate.weighting == "penalized"
    assert np.isnan(candidate.sparsity)


# -- the rows that are scored ---------------------------------------------------------------------


@pytest.fixture
def sinusoid(search_data):
    return search_data(*make_sinusoidal(150, 2, random_state=0))


@pytest.fixture
def screening_rows(monkeypatch):
    """Return a function that sets how many training rows a screening has."""

    def change(number, **others):
        changed = replace(HALVING, screening_rows=number, **others)
        monkeypatch.setattr(halving, "HALVING", changed)

    return change


@pytest.fixture
def calls(monkeypatch):
    """The arguments of every fold that is scored."""
    seen = []

    def watched(*arguments):
        seen.append(arguments)
        return score_paths(*arguments)

    monkeypatch.setattr(halving, "score_paths", watched)
    return seen


SPLITS = list(KFold(3).split(np.zeros((150, 1))))
SIMPLE = {"sparsities": [0.5, 5.0], "relax": False, "include_all": False, "random_state": 0}
THREE = {"alphas": [0.3, 10.0, 100.0]}  # one more than are followed without a screening


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_scores_of_a_path_are_its_own_in_the_order_of_the_folds(search_spec, sinusoid, n_jobs):
    spec = search_spec(["linear", "rbf"], alphas=1.0, n_jobs=n_jobs, **SIMPLE)
    found = Halving(spec, sinusoid, None)
    with joblib.parallel_config(backend="threading"):
        found.run(SPLITS)
    assert [path.kernel for path in found.paths] == ["linear", "rbf"]
    for path, scores in zip(found.paths, found.scores, strict=True):
        for fold, (train, test) in zip(scores, SPLITS, strict=True):
            (alone,), _ = score_paths([path], sinusoid, train, test)
            assert_array_equal(fold.scores, alone.scores)


def test_only_many_training_rows_are_screened_in_part(search_spec, sinusoid, calls, screening_rows):
    spec = search_spec(n_centers=20, **THREE, **SIMPLE)
    Halving(spec, sinusoid, None).run(SPLITS)
    screening_rows(60)
    Halving(spec, sinusoid, None).run(SPLITS)
    seen = [(len(train), paths[0].spec.n_centers) for paths, _, train, *_ in calls]
    assert seen == [(100, 20)] * 6 + [(60, None)] * 3 + [(100, 20)] * 3


def test_centers_begin_where_few_exact_rows_of_the_fold_do(
    search_spec, sinusoid, calls, screening_rows
):
    """Folds that no screening has seen find their start as those that one has."""
    screening_rows(60, finalists=1)
    screened, alone = (
        Halving(search_spec(n_centers=20, alphas=alphas, **SIMPLE), sinusoid, None)
        for alphas in ([0.3, 1e3], 0.3)
    )
    screened.run(SPLITS)
    alone.run(SPLITS)
    assert screened.finalists == [0]
    for ours, theirs in zip(screened.scores[0], alone.scores[0], strict=True):
        assert_array_equal(ours.scores, theirs.scores)
    begun = [found.starts_of(found.paths[0]) for found in (screened, alone)]
    for ours, theirs in zip(*begun, strict=True):
        assert ours.name == theirs.name
        assert_array_equal(ours.weights, theirs.weights)
    # Without centers every row is looked at.
    calls.clear()
    for n_centers in (20, None):
        spec = search_spec(n_centers=n_centers, alphas=0.3, **SIMPLE)
        Halving(spec, sinusoid, None).run(SPLITS[:2])
    start_rows = [rows for *_, rows, _, _ in calls]
    assert [None if rows is None else len(rows) for rows in start_rows] == [60, 60, None, None]


def test_a_path_goes_on_where_its_screening_has_been(search_spec, sinusoid, calls, screening_rows):
    """It begins at the penalty before the best one, with the weights there, on the same rows."""
    spec = search_spec(alphas=[0.3, 10.0, 100.0], sparsities=9, random_state=0)
    found = Halving(spec, sinusoid, None)
    found.run(SPLITS)
    screened, final = calls[0], calls[-1]
    for path, begin in zip(final[0], final[4], strict=True):
        coarse = next(one for one in screened[0] if one.alpha == path.alpha)
        assert begin.sparsity == path.penalties[0]
        assert begin.sparsity in coarse.penalties
        assert begin.weights.any()
    # With more rows than the screening had, weaker features are worth the same penalty.
    calls.clear()
    screening_rows(60)
    Halving(spec, sinusoid, None).run(SPLITS)
    for path, begin in zip(calls[-1][0], calls[-1][4], strict=True):
        assert begin.sparsity <= 0.6 * path.penalties[0]
        assert begin.weights.any()


@pytest.mark.parametrize("constant", ["target", "columns"])
def test_rows_that_reveal_nothing_are_not_taken_alone(
    search_spec, search_data, calls, screening_rows, constant
):
    """A few rows of a sparse table may all be zero; the whole fold then takes their place."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 2)), rng.normal(size=150)
    (X if constant == "columns" else y)[8:] = 0.0
    screening_rows(8)
    drawn = draw_rows(np.arange(100), False, 8, 3)
    assert drawn.min() >= 8, "otherwise some of the rows reveal something"
    spec = search_spec(n_centers=20, **THREE, **{**SIMPLE, "random_state": 3})
    found = Halving(spec, search_data(X, y), None)
    found.run([(np.arange(100), np.arange(100, 150))])
    assert [len(train) for _, _, train, *_ in calls] == [100, 100]
    assert [start_rows for *_, start_rows, _, _ in calls] == [None, None]
    assert all(np.isfinite(fold.scores).all() for scores in found.scores for fold in scores)


def test_rows_of_a_screening_keep_every_column_that_a_number_of_features_needs(
    search_spec, search_data, calls, screening_rows
):
    X = np.random.default_rng(0).normal(size=(150, 3))
    y = X[:, 0] + X[:, 1]
    X[draw_rows(np.arange(100), False, 40, 0), 2] = 0.0  # and varies in the whole fold
    screening_rows(40)
    for options, n_rows in ((SIMPLE, 40), ({**SIMPLE, "n_features_to_select": 2}, 100)):
        calls.clear()
        spec = search_spec("linear", **THREE, **options)
        Halving(spec, search_data(X, y), None).run([(np.arange(100), np.arange(100, 150))])
        assert len(calls[0][2]) == n_rows


def test_rows_without_weight_are_not_screened(search_spec, search_data, calls, screening_rows):
    X, y = make_sinusoidal(150, 2, random_state=0)
    s = np.tile([1.0, 0.0], 75)
    screening_rows(30)
    Halving(search_spec(**THREE, **SIMPLE), search_data(X, y, s), None).run(SPLITS)
    for _, _, train, *_ in calls[:3]:
        assert len(train) == 30
        assert (s[train] > 0).all()


def test_a_small_memory_budget_is_enough_for_few_rows(search_spec, sinusoid, screening_rows):
    """Warnings are errors here: few rows need no centers instead of the exact method."""
    screening_rows(60)
    spec = search_spec(n_centers=20, memory_budget=20_000, **THREE, **SIMPLE)
    Halving(spec, sinusoid, None).run(SPLITS)


def test_a_screening_is_exact_and_keeps_the_shares_of_the_classes(calls, screening_rows):
    X, y = make_skin_of_orange(400, 2, random_state=0)
    rare = np.where(np.arange(400) % 40 == 0, 2, y)  # ten rows of a third class
    screening_rows(100)
    search = KnifeClassifierCV(
        ["linear", "rbf"], alphas=[1.0, 10.0], sparsities=4, n_centers=50, cv=3, random_state=0
    )
    search.fit(X, rare)
    seen = [
        (paths[0].spec.n_centers, len(train), np.bincount(rare[train]))
        for paths, _, train, *_ in calls
    ]
    screened = [(n, counts) for n_centers, n, counts in seen if n_centers is None]
    # Two folds see both kernels, the third one perhaps the better one only.
    assert len(screened) in (5, 2 * 3)
    assert {n for n, _ in screened} <= set(range(100, 111))  # a rare class adds a few rows
    assert min(counts.min() for _, counts in screened) >= 5
    shares = np.bincount(rare)[:2] / 400
    for n, counts in screened:
        np.testing.assert_allclose(counts[:2] / n, shares, atol=0.06)
    followed = [n for n_centers, n, _ in seen if n_centers == 50]
    # By kernel: both, or one where the other is surely behind.
    assert len(followed) in (3, 2 * 3)
    assert min(followed) > 260


# -- centers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [None, 40])
def test_a_given_number_of_centers_holds_for_every_model(given):
    squared = check_loss("squared", "regression")
    for n_rows in (10, 10_000):
        for kernel in ("rbf", "linear", "additive"):
            assert search_centers(given, check_kernel(kernel), squared, n_rows) == given


@pytest.mark.parametrize(
    ("kernel", "exact_rows"), [("rbf", 1000), ("linear", 3000), ("additive", 3000)]
)
def test_few_rows_are_exact_and_convex_kernels_up_to_more(kernel, exact_rows):
    kernel, squared = check_kernel(kernel), check_loss("squared", "regression")
    assert search_centers("auto", kernel, squared, exact_rows) is None
    assert search_centers("auto", kernel, squared, exact_rows + 1) == 300


def test_neither_the_hinge_nor_the_sigmoid_kernel_has_a_model_on_centers():
    squared, hinge = check_loss("squared", "regression"), check_loss("hinge", "classification")
    assert search_centers("auto", check_kernel("sigmoid"), squared, 10_000) is None
    assert search_centers("auto", RBF(), hinge, 10_000) is None


def test_a_joint_kernel_has_centers_where_an_additive_one_is_exact():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1100, 5))
    y = np.sin(2.0 * X[:, 0])
    for kernel, expected in (("rbf", 300), ("additive", None)):
        search = KnifeRegressorCV(
            kernel, alphas=1.0, sparsities=3, cv=2, relax=False, include_all=False
        ).fit(X, y)
        assert {model.n_centers for model in models_of_folds(search, X, y)} == {expected}
        assert search.weights_[0] == search.weights_.max()


# -- known before it begins -----------------------------------------------------------------------


def plan(search, n_rows, n_folds=None):
    return plan_search(SearchSpec.from_estimator(search), n_rows, n_folds)


@pytest.mark.parametrize("alphas", [1.0, [0.1, 1.0]])
def test_a_plan_is_what_a_search_does(rng, alphas):
    X = rng.normal(size=(300, 3))
    y = X[:, 0] ** 2 + 0.1 * rng.normal(size=300)
    search = KnifeRegressorCV(["linear", "rbf"], alphas=alphas, search_rows=120, sparsities=4)
    planned = plan(search, len(X))
    search.fit(X, y)
    assert planned.n_rows == len(np.unique(np.concatenate(search.splits_[0]))) == 120
    assert planned.n_folds == len(search.splits_)
    # A path that is surely behind another one is neither screened further nor followed to the end.
    fewer = planned.n_paths - search.n_paths_
    assert 0 <= fewer <= len(search.splits_) + 3
    assert planned.n_centers is None


def test_the_centers_of_a_plan_are_those_of_its_most_general_kernel():
    assert plan(KnifeRegressorCV(), 10_000).n_centers == 300
    # The time is that of a Gaussian step, which has centers where convex kernels have none yet.
    assert plan(KnifeRegressorCV("linear"), 2000).n_centers == 300
    assert plan(KnifeRegressorCV(["rbf", "additive"]), 2000).n_centers == 300
    # Neither the hinge nor the sigmoid kernel has a model on centers.
    assert plan(KnifeClassifierCV("rbf", "hinge"), 10_000).n_centers is None
    assert plan(KnifeClassifierCV("sigmoid"), 10_000).n_centers is None


def test_folds_that_are_planned_are_those_that_are_made():
    assert plan(KnifeRegressorCV(), 150).n_folds == 10
    assert plan(KnifeRegressorCV(), 150, n_folds=5).n_folds == 5  # groups, or a rare class
    assert plan(KnifeRegressorCV(cv=KFold(3)), 150).n_folds == 3
    assert plan(KnifeRegressorCV(cv=[(0, 1)] * 4), 150).n_folds == 4
    assert plan(KnifeRegressorCV(cv=LeaveOneOut()), 150).n_folds == 5, "not known before"
