"""What was chosen on all rows: the path of a line, and models that are those of plain fits."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife import KnifeRegressor, KnifeRegressorCV
from kernelknife._engine.fitting import prepare_job, trace_path
from kernelknife._tuning import (
    Data,
    Line,
    Pick,
    chosen_sparsity,
    final,
    fit_chosen,
    fit_count,
    follow_line,
    is_final,
    settings,
    settle,
)
from kernelknife.datasets import make_linear, make_sinusoidal

KINDS = ("penalized", "relaxed", "equal")


def follow(make, template, n_searched=120, penalties=(1.0, 6.0, 1e6)):
    """Return all rows, the line, the prepared rows of its search and its path."""
    X, y = make(120, 3, random_state=0)
    data = Data(X, y, np.ones(120), None)
    line = Line(template.kernel, template, np.array(penalties), KINDS)
    job = prepare_job(template, X[:n_searched], y[:n_searched])
    return data, line, job, follow_line(line, job)


def pick_of(line, weighting, point=1):
    return Pick(0, 0, 0, line, weighting, point)


def test_a_path_that_leads_to_another_model_need_not_be_exact():
    data, line, job, exactly = follow(make_sinusoidal, KnifeRegressor("rbf", tol=1e-6))
    assert is_final(line, job, data, None)
    assert not is_final(line, job, data, 50)
    fewer = prepare_job(line.template, data.X[:100], data.y[:100])
    assert not is_final(line, fewer, data, None)
    roughly = follow_line(line, job, roughly=True)
    assert roughly.n_factorizations < exactly.n_factorizations
    objectives = [[point.objective for point in trace.points] for trace in (roughly, exactly)]
    assert_allclose(*objectives, rtol=1e-2)
    assert line.template.tol == 1e-6


def test_penalties_that_folds_cannot_tell_apart_are_told_apart_by_all_rows():
    """The largest of them has lost features that every fold has."""
    template = KnifeRegressor("rbf", alpha=0.3)
    _, line, job, trace = follow(make_sinusoidal, template, penalties=(0.01, 0.1, 1.0, 200.0, 1e6))
    counts = [np.count_nonzero(point.w) for point in trace.points]
    assert counts[0] > counts[3] > counts[4] == 0, "otherwise there is nothing to tell"
    equals = (1, 2, 3, 4)
    for wanted in (1, 2, 3):
        pick = Pick(14, 0, 9, line, "relaxed", 4, float(counts[wanted]), equals)
        chosen = settle(pick, trace, job)
        assert counts[chosen.point] == counts[wanted]
        assert chosen.index - chosen.setting == pick.index - pick.setting
        assert chosen.index - chosen.point == pick.index - pick.point
    # With nothing to choose from, it is the last penalty that leaves a feature.
    alone = Pick(4, 0, 4, line, "penalized", 4, 1.8, (4,))
    assert settle(alone, trace, job).point == 3
    # Folds without features mean it.
    empty = Pick(4, 0, 4, line, "penalized", 4, 0.2, (4,))
    assert settle(empty, trace, job) == empty


def test_a_support_too_large_to_be_refitted_in_a_fold_is_not_refitted_on_all_rows(monkeypatch):
    _, line, job, trace = follow(make_sinusoidal, KnifeRegressor("rbf", alpha=0.3))
    n_kept = np.count_nonzero(trace.points[1].w)
    pick = Pick(14, 0, 4, line, "relaxed", 1, float(n_kept), (1,))
    monkeypatch.setattr(settings, "MOST_RELAXED", n_kept)
    assert settle(pick, trace, job) == pick
    monkeypatch.setattr(settings, "MOST_RELAXED", n_kept - 1)
    penalized = settle(pick, trace, job)
    assert (penalized.weighting, penalized.point) == ("penalized", 1)
    assert (penalized.setting, penalized.index) == (1, 11)
    # Where the penalized model is not compared, the refitted one is what was asked for.
    alone = replace(pick, line=replace(line, weightings=("relaxed",)), setting=1, index=11)
    assert settle(alone, trace, job) == alone


@pytest.mark.parametrize(
    ("weighting", "n_searched"),
    [(kind, 120) for kind in KINDS] + [("penalized", 80), ("equal", 80)],
)
def test_the_chosen_model_is_that_of_a_fit_to_all_rows(weighting, n_searched):
    template = KnifeRegressor("rbf", alpha=0.3, tol=1e-7)
    data, line, job, trace = follow(make_sinusoidal, template, n_searched)
    pick = pick_of(line, weighting)
    model, _ = fit_chosen(pick, template, job, trace, data, None)
    assert chosen_sparsity(pick, trace) == (0.0 if weighting == "equal" else 6.0)
    assert model.sparsity == model.sparsity_ == chosen_sparsity(pick, trace)
    alone = KnifeRegressor(**model.get_params(deep=False)).fit(data.X, data.y)
    assert_allclose(model.weights_, alone.weights_, atol=1e-3)
    assert_allclose(model.predict(data.X), alone.predict(data.X), atol=0.01)


def test_features_that_some_rows_have_selected_are_refitted_on_all_rows():
    template = KnifeRegressor("rbf", alpha=0.3, tol=1e-7)
    data, line, job, trace = follow(make_sinusoidal, template, 80)
    selected = job.prepared.user_values(trace.points[1].w) > 0
    model, _ = fit_chosen(pick_of(line, "relaxed"), template, job, trace, data, None)
    assert 0 < selected.sum() < len(selected)
    assert_array_equal(model.get_support(), selected)
    # A fit of these columns without penalty that begins here stays here, up to the tolerance of
    # refits, while the weights of the path are much further away.
    w = model.weights_[selected]
    stays = KnifeRegressor("rbf", alpha=0.3, sparsity=0.0, start=w, tol=1e-7)
    stays.fit(data.X[:, selected], data.y)
    on_path = job.prepared.user_values(trace.points[1].w)[selected]
    assert np.abs(stays.weights_ - w).max() < 0.02 < 0.05 < np.abs(w - on_path).max()


def test_a_convex_penalty_grows_with_the_rows():
    template = KnifeRegressor("linear", tol=1e-8)
    data, line, job, trace = follow(make_linear, template, 80)
    pick = pick_of(line, "penalized")
    model, _ = fit_chosen(pick, template, job, trace, data, None)
    assert chosen_sparsity(pick, trace) == 6.0
    assert_allclose(model.sparsity_, 6.0 * 120 / 80)


def test_past_the_end_of_the_path_the_last_point_is_chosen():
    template = KnifeRegressor("rbf")
    data, line, job, trace = follow(make_sinusoidal, template, penalties=(1.0, 1e6, 1e7, 1e8))
    assert len(trace.points) < 4
    pick = pick_of(line, "penalized", 3)
    model, _ = fit_chosen(pick, template, job, trace, data, None)
    assert chosen_sparsity(pick, trace) == trace.points[-1].sparsity
    assert not model.weights_.any()


def test_the_chosen_model_has_its_own_number_of_centers():
    template = KnifeRegressor("rbf", n_centers=30, random_state=0)
    data, line, job, trace = follow(make_sinusoidal, template)
    for n_centers in (30, 60, None):
        model, _ = fit_chosen(pick_of(line, "relaxed"), template, job, trace, data, n_centers)
        assert model.n_centers == n_centers
        assert len(model.dual_coef_) == (n_centers or 120)
    assert template.n_centers == 30


def test_a_number_of_features_is_that_of_a_fit_with_the_groups_of_the_user():
    groups = [0, 0, 1, 2, 3, 4, 5, 6]
    template = KnifeRegressor("rbf", n_features_to_select=2, feature_groups=groups)
    data, line, job, _ = follow(make_sinusoidal, template)
    names = np.array([f"column {j}" for j in range(8)], dtype=object)
    job.prepared.rows.names = names
    given = {"pair": ["column 0", "column 1"]}
    model = fit_count(line.template, job, data, None, given)
    assert model.feature_groups == given
    assert_array_equal(model.feature_names_in_, names)
    alone = KnifeRegressor(**template.get_params(deep=False)).fit(data.X, data.y)
    assert_array_equal(model.weights_, alone.weights_)


@pytest.mark.parametrize(
    ("seed", "given", "expected"),
    [(0, "auto", "auto"), (1, "auto", "scaled"), (1, "laplace", "laplace")],
)
def test_the_path_on_all_rows_tries_only_the_start_that_won_in_every_fold(
    monkeypatch, seed, given, expected
):
    tried = []

    def spy(template, *rest, **options):
        tried.append(template.start)
        return trace_path(template, *rest, **options)

    monkeypatch.setattr(final, "trace_path", spy)
    X, y = make_sinusoidal(150, 2, random_state=seed)  # at seed 0 the folds differ
    search = KnifeRegressorCV("rbf", alphas=0.1, sparsities=5, cv=3, start=given).fit(X, y)
    assert tried == [expected]
    assert search.best_estimator_.start == given
