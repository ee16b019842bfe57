"""Solutions of a job: from the best start, by a path, relaxed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife import KnifeClassifier, KnifeRegressor, knife_path
from kernelknife._engine.fitting import prepare_job, relax_solution, solve_job, trace_path
from kernelknife._utils.progress import SILENT


def test_the_best_start_is_kept(orange):
    X, y = orange
    model = KnifeClassifier(n_starts=5, sparsity=2.0, random_state=0).fit(X, y)
    assert [name for name, _ in model.starts_] == [
        "scaled",
        "laplace",
        *(f"random {i}" for i in range(1, 6)),
    ]
    assert_allclose(model.objective_, min(history[-1] for _, history in model.starts_))
    single = KnifeClassifier(sparsity=2.0).fit(X, y)
    assert model.objective_ <= single.objective_ * (1 + 1e-9)


@pytest.mark.parametrize(
    "params", [{"sparsity": 4.0}, {"n_features_to_select": 3}, {"learn_weights": False}]
)
def test_a_job_is_solved_as_a_fit_solves_it(params, sinusoid):
    model = KnifeRegressor(**params).fit(*sinusoid)
    solution, results = solve_job(model, prepare_job(model, *sinusoid), SILENT)
    assert_array_equal(solution.w, model.weights_)
    assert [name for name, _ in results] == [name for name, _ in model.starts_]


def test_a_traced_path_is_that_of_knife_path(sinusoid):
    template = KnifeRegressor()
    grid = np.geomspace(1.0, 30.0, 4)
    trace = trace_path(template, prepare_job(template, *sinusoid), grid)
    path = knife_path(*sinusoid, sparsities=grid)
    assert_allclose([point.w for point in trace.points], path.weights)


def test_a_relaxed_solution_names_the_penalty_that_selected_it(sinusoid):
    model = KnifeRegressor(sparsity=4.0)
    job = prepare_job(model, *sinusoid)
    solution, _ = solve_job(model, job, SILENT)
    relaxed = relax_solution(model, job, solution)
    assert relaxed.sparsity == 4.0
    assert_array_equal(relaxed.w > 0, solution.w > 0)
    assert relaxed.n_factorizations > solution.n_factorizations
