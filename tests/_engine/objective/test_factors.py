"""Factorizations of a kernel matrix and a diagonal, against dense linear algebra."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.kernel_ridge import KernelRidge

from kernelknife import KnifeClassifier, KnifeRegressor, knife_path
from kernelknife._engine.objective import factors
from kernelknife._engine.objective.factors import (
    THIN_ROWS,
    CholeskyFactor,
    DenseMatrix,
    IndefiniteKernelError,
    ProductMatrix,
    ThinFactor,
    is_thin,
)


def parts(rng, n=THIN_ROWS + 20, r=4):
    """Columns, a diagonal over six orders of magnitude, and the rows that are factorized."""
    rows = np.sort(rng.choice(n, size=n - 20, replace=False))
    return rng.normal(size=(n, r)), 10.0 ** rng.uniform(-3, 3, size=n - 20), rows


@pytest.mark.parametrize("edge", [0, 1, 3])
@pytest.mark.parametrize("known", ["columns", "entries"])
def test_factors_solve_what_dense_algebra_solves(rng, edge, known):
    P, shift, rows = parts(rng)
    matrix = ProductMatrix(P) if known == "columns" else DenseMatrix(P @ P.T)
    U = np.hstack([rng.normal(size=(len(P), 2)), np.ones((len(P), 1))])[:, 3 - edge :]
    factor = matrix.factorize(rows, shift, U)
    assert isinstance(factor, ThinFactor if known == "columns" else CholeskyFactor)
    n = len(rows)
    M = P[rows] @ P[rows].T + np.diag(shift)
    border = U[rows]
    bordered = np.block([[M, border], [border.T, np.zeros((edge, edge))]])
    z, total = rng.normal(size=(n, 2)), rng.normal(size=(edge, 2))
    expected = np.linalg.solve(bordered, np.vstack([z, total]))
    c, b = factor.solve_bordered(z.copy(), total)
    assert_allclose(c, expected[:n], rtol=1e-8, atol=1e-10)
    assert_allclose(b, expected[n:], rtol=1e-8, atol=1e-10)
    A = rng.normal(size=(n, 3))
    V = factor.whiten(A.copy())
    inverse = np.linalg.inv(bordered)[:n, :n]
    assert_allclose(V.T @ V, A.T @ inverse @ A, rtol=1e-8)
    v = factor.down(z[:, 0])
    assert_allclose(factor.unwhiten(v), np.linalg.solve(M, z[:, 0]), rtol=1e-8, atol=1e-10)


def test_columns_that_depend_on_each_other_count_once(rng):
    P, shift, rows = parts(rng)
    U = np.hstack([rng.normal(size=(len(P), 1)), np.ones((len(P), 1))])
    twice = np.hstack([U, U @ [[1.0], [2.0]], np.zeros((len(P), 1))])
    z = rng.normal(size=len(rows))
    one, two = (DenseMatrix(P @ P.T).factorize(rows, shift, border) for border in (U, twice))
    c, b = one.solve_bordered(z.copy())
    same, more = two.solve_bordered(z.copy())
    assert_allclose(same, c, rtol=1e-8, atol=1e-10)
    assert_allclose(twice @ more, U @ b, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("r", [2, 60])
def test_a_product_is_the_matrix_that_it_stands_for(rng, r):
    P, _, rows = parts(rng, r=r)
    product, dense = ProductMatrix(P), DenseMatrix(P @ P.T)
    C = rng.normal(size=(len(P), 3))
    assert_allclose(product @ C, dense @ C, rtol=1e-10, atol=1e-10)
    everything = np.arange(len(P))
    for some in (rows, everything, rows[:0]):
        assert_allclose(product.part(some), (P @ P.T)[np.ix_(some, some)], atol=1e-12)
        assert_allclose(dense.part(some), (P @ P.T)[np.ix_(some, some)], atol=1e-12)
    # What a part is used for must not change the matrix.
    dense.part(everything)[:] = 0.0
    assert_allclose(dense.K, P @ P.T)


def test_many_columns_or_few_rows_are_left_to_cholesky(rng):
    for n, r in ((THIN_ROWS - 1, 2), (THIN_ROWS, THIN_ROWS // 2)):
        assert not is_thin(n, r)
        P, shift = rng.normal(size=(n, r)), rng.uniform(0.5, 2.0, size=n)
        factor = ProductMatrix(P).factorize(np.arange(n), shift, np.ones((n, 1)))
        assert isinstance(factor, CholeskyFactor)
        z = rng.normal(size=n)
        c, b = factor.solve_bordered(z.copy())
        assert_allclose((P @ P.T + np.diag(shift)) @ c + b, z, atol=1e-9)
        assert abs(c.sum()) < 1e-9


def test_an_indefinite_matrix_is_refused():
    with pytest.raises(IndefiniteKernelError, match="raise alpha"):
        DenseMatrix(-np.eye(5)).factorize(np.arange(5), np.full(5, 0.5), np.ones((5, 1)))


def test_a_thin_ridge_model_is_kernel_ridge(rng, setup_of):
    X = rng.normal(size=(400, 5))
    y = X @ [1.0, -2.0, 0.5, 0.0, 0.0] + 0.1 * rng.normal(size=400)
    estimator = KnifeRegressor(kernel="linear", alpha=1e-3, fit_intercept=False)
    problem = setup_of(estimator, X, y).problem
    w = np.array([0.9, 0.5, 0.7, 0.0, 0.1])
    inner = problem.solve(w).inner
    assert isinstance(inner.factors[0], ThinFactor)
    oracle = KernelRidge(alpha=1e-3).fit(problem.centers * np.sqrt(w), problem.Y)
    assert_allclose(inner.C, oracle.dual_coef_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "additive"])
def test_thin_and_dense_models_agree(rng, kernel, monkeypatch):
    X = rng.normal(size=(500, 6))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=500) > 0
    thin = KnifeClassifier(kernel=kernel, alpha=0.1, sparsity=20.0).fit(X, y)
    monkeypatch.setattr(factors, "THIN_ROWS", 10_000)
    dense = KnifeClassifier(kernel=kernel, alpha=0.1, sparsity=20.0).fit(X, y)
    assert_allclose(thin.weights_, dense.weights_, atol=1e-6)
    assert_allclose(thin.decision_function(X), dense.decision_function(X), atol=1e-5)


def test_without_a_weight_a_thin_factor_is_the_diagonal(rng, capfd):
    shift = rng.uniform(1.0, 2.0, 7)
    thin = ThinFactor.of(np.arange(7), np.ones((7, 1)), np.zeros((7, 0)), shift)
    z = rng.normal(size=(7, 2))
    assert_allclose(thin.down(z), z / np.sqrt(shift)[:, None])
    assert_allclose(thin.up(thin.down(z)), z / shift[:, None])
    rows = rng.normal(size=(THIN_ROWS + 20, 2))
    knife_path(rows, rows[:, 0] > 0, kernel="linear")
    assert capfd.readouterr() == ("", "")  # LAPACK complains where Python does not see it
