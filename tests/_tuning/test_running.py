"""Runs of lines on folds: the rows of a first look, and what is remembered of the starts."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import KFold

from kernelknife import KnifeClassifierCV, KnifeRegressor
from kernelknife._tuning import Data, Line, Runner, draw_rows, running, score_lines
from kernelknife.datasets import make_sinusoidal, make_skin_of_orange


def make_runner(seed=0, n_jobs=None):
    X, y = make_sinusoidal(150, 2, random_state=seed)
    splits = list(KFold(3).split(X))
    return Runner(Data(X, y, np.ones(150), None), splits, None, n_jobs, 0)


def line_of(kernel, alpha):
    template = KnifeRegressor(kernel, alpha=alpha)
    return Line(kernel, template, np.array([0.5, 5.0]), ("penalized",))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_scores_come_in_the_order_of_the_batches(n_jobs):
    runner = make_runner(n_jobs=n_jobs)
    batches = [([line_of("rbf", 0.1), line_of("rbf", 1.0)], 1), ([line_of("linear", 1.0)], 0)]
    results = runner(batches, first_look=False)
    assert [len(scores) for scores in results] == [2, 1]
    for (lines, fold), scores in zip(batches, results, strict=True):
        alone, _ = score_lines(lines, runner.data, *runner.splits[fold])
        for one, other in zip(scores, alone, strict=True):
            assert_array_equal(one.scores, other.scores)


@pytest.mark.parametrize(("seed", "expected"), [(0, None), (1, "scaled")])
def test_a_start_is_common_where_it_won_in_every_fold(seed, expected):
    runner = make_runner(seed)
    runner([([line_of("rbf", 0.1)], fold) for fold in range(3)], first_look=False)
    names = {
        score_lines([line_of("rbf", 0.1)], runner.data, *split)[1].name for split in runner.splits
    }
    assert runner.common_start("rbf") == expected == (names.pop() if len(names) == 1 else None)
    assert runner.common_start("linear") is None  # it has not run


def test_few_training_rows_are_all_looked_at(monkeypatch):
    seen = []

    def spy(lines, data, train, *rest):
        seen.append((lines[0].template.n_centers, len(train)))
        return score_lines(lines, data, train, *rest)

    monkeypatch.setattr(running, "score_lines", spy)
    centered = line_of("rbf", 1.0).with_options(n_centers=20)
    make_runner()([([centered], 0)], first_look=True)
    monkeypatch.setattr(running, "FIRST_LOOK_ROWS", 60)
    make_runner()([([centered], 0)], first_look=True)
    make_runner()([([centered], 0)], first_look=False)
    assert seen == [(20, 100), (None, 60), (20, 100)]


def test_centers_begin_where_few_exact_rows_of_the_fold_do(monkeypatch):
    """Folds that a first look has not seen find their start as those that it has."""
    monkeypatch.setattr(running, "FIRST_LOOK_ROWS", 60)
    centered = line_of("rbf", 1.0).with_options(n_centers=20)
    seen, alone = make_runner(), make_runner()
    seen([([centered], 0)], first_look=True)
    begun = [runner([([centered], 0)], first_look=False) for runner in (seen, alone)]
    assert_array_equal(begun[0][0][0].scores, begun[1][0][0].scores)
    start = {name: runner._starts["rbf", 0] for name, runner in (("a", seen), ("b", alone))}
    assert start["a"].name == start["b"].name
    assert_array_equal(start["a"].weights, start["b"].weights)
    # Without centers every row is looked at.
    looks = []

    def spy(lines, data, train, test, begin, look, task):
        looks.append(look)
        return [], None

    monkeypatch.setattr(running, "score_lines", spy)
    for line in (centered, line_of("rbf", 1.0)):
        make_runner()([([line], 0)], first_look=False)
    assert [None if look is None else len(look) for look in looks] == [60, None]


@pytest.mark.parametrize("constant", ["target", "columns"])
@pytest.mark.parametrize("first_look", [True, False])
def test_rows_that_tell_nothing_are_not_looked_at_alone(constant, first_look, monkeypatch):
    """A few rows of a sparse table may all be zero; the whole fold is then looked at."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 2)), rng.normal(size=150)
    (X if constant == "columns" else y)[8:] = 0.0
    monkeypatch.setattr(running, "FIRST_LOOK_ROWS", 8)
    splits = [(np.arange(100), np.arange(100, 150))]
    runner = Runner(Data(X, y, np.ones(150), None), splits, None, None, 3)
    drawn = draw_rows(np.arange(100), False, 8, 3)
    assert drawn.min() >= 8, "otherwise some of the rows tell something"
    line = line_of("rbf", 1.0).with_options(n_centers=20)
    (scores,) = runner([([line], 0)], first_look=first_look)
    assert np.isfinite(scores[0].scores).all()


def test_a_small_memory_budget_is_enough_for_few_rows(monkeypatch):
    """Warnings are errors here: few rows need no centers instead of the exact method."""
    monkeypatch.setattr(running, "FIRST_LOOK_ROWS", 60)
    line = line_of("rbf", 1.0).with_options(n_centers=20, memory_budget=20_000)
    for first_look in (True, False):
        make_runner()([([line], 0)], first_look=first_look)


def test_a_first_look_is_exact_and_sees_some_rows_of_every_class(monkeypatch):
    X, y = make_skin_of_orange(400, 2, random_state=0)
    rare = np.where(np.arange(400) % 40 == 0, 2, y)  # ten rows of a third class
    seen = []

    def spy(lines, data, train, *rest):
        seen.append((lines[0].template.n_centers, len(train), np.bincount(data.y[train]).min()))
        return score_lines(lines, data, train, *rest)

    monkeypatch.setattr(running, "score_lines", spy)
    monkeypatch.setattr(running, "FIRST_LOOK_ROWS", 100)
    search = KnifeClassifierCV(
        ["linear", "rbf"], alphas=[1.0, 10.0], sparsities=4, n_centers=50, cv=3, random_state=0
    )
    search.fit(X, rare)
    looks = [entry for entry in seen if entry[0] is None]
    assert len(looks) == 2 * 3
    assert {n for _, n, _ in looks} <= set(range(100, 111))  # a rare class adds a few rows
    assert min(least for *_, least in looks) >= 5
    followed = [n for n_centers, n, _ in seen if n_centers == 50]
    assert len(followed) == 2 * 3
    assert min(followed) > 260
