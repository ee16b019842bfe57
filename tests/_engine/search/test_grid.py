"""Placing the points of a path."""

import numpy as np
import pytest

from kernelknife import knife_path
from kernelknife._engine.objective import ExactProblem
from kernelknife._engine.search.grid import penalty_lower_bound
from kernelknife._engine.search.starts import scaled_weights
from kernelknife._engine.solvers.eliminate import Eliminate
from kernelknife.datasets import make_sinusoidal, make_skin_of_orange
from kernelknife.kernels import RBF, Laplace, Polynomial
from kernelknife.losses import SquaredLoss


@pytest.mark.parametrize("options", [{}, {"kernel": "polynomial"}, {"free": True}])
@pytest.mark.parametrize("n_points", [20, 50])
def test_it_has_about_as_many_points_as_asked_for(n_points, options):
    for X, y in (
        make_sinusoidal(80, 10, random_state=0),
        make_skin_of_orange(80, 10, random_state=0),
    ):
        given = {name: value for name, value in options.items() if name != "free"}
        if "free" in options:
            given["feature_costs"] = np.r_[0.0, np.ones(X.shape[1] - 1)]
        assert abs(len(knife_path(X, y, sparsities=n_points, **given)) - n_points) <= 3


@pytest.mark.parametrize("kernel", [RBF(), Laplace(), Polynomial()])
def test_features_stay_up_to_where_the_line_of_the_objective_reaches(kernel):
    X, y = make_sinusoidal(60, 5, random_state=3)
    Z, t = (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std()
    problem, solver = ExactProblem(Z, t[:, None], kernel, SquaredLoss()), Eliminate()
    found = solver.solve(problem, scaled_weights(problem), 0.1)
    for _ in range(3):
        reach = penalty_lower_bound(problem, found, problem.null_value)
        assert reach > found.sparsity
        found = solver.solve(problem, found.without_memory(), 0.999 * reach)
        assert found.w.any()
        assert found.objective <= problem.null_value
