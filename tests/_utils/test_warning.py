"""A warning names the line of the user, not one of ours."""

import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelknife import KnifePCA, KnifeRegressor, KnifeRegressorCV, knife_path
from kernelknife.datasets import make_sinusoidal

HASTY = {"max_iter": 1, "tol": 1e-12}
CALLS = {
    "fit": lambda X, y: KnifeRegressor(sparsity=0.1, **HASTY).fit(X, y),
    "in a pipeline": lambda X, y: make_pipeline(
        StandardScaler(), KnifeRegressor(sparsity=0.1, **HASTY)
    ).fit(X, y),
    "path": lambda X, y: knife_path(X, y, **HASTY),
    "folds": lambda X, y: KnifeRegressorCV("rbf", cv=3, alphas=1.0, **HASTY).fit(X, y),
    "components": lambda X, y: KnifePCA(max_iter=1, tol=1e-14).fit(X),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_a_warning_names_the_line_outside_the_package(call):
    X, y = make_sinusoidal(40, 6, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(X, y)
    ours = [entry for entry in caught if issubclass(entry.category, ConvergenceWarning)]
    assert ours
    assert {entry.filename for entry in ours} == {__file__}
