"""The weighted forms: against their definitions, and derivatives against finite differences."""

import array_api_strict
import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelknife._utils.arrays import to_host
from kernelknife.kernels.forms import FORMS, Scaled

DEFINITIONS = {
    "dot": lambda x, z: x * z,
    "distance": lambda x, z: (x - z) ** 2,
    "absolute": lambda x, z: abs(x - z),
}
LIBRARIES = pytest.mark.parametrize("library", [np, array_api_strict], ids=["numpy", "array API"])


@pytest.fixture
def instance(rng):
    X, Z, v = rng.normal(size=(7, 4)), rng.normal(size=(5, 4)), rng.uniform(size=4)
    return X, Z, v, rng.normal(size=(7, 5)), rng.normal(size=7), rng.normal(size=5)


def parts(name, X, Z):
    """Return the derivative of the form in ``v``, an array of rows by rows by columns."""
    return DEFINITIONS[name](X[:, None, :], Z[None, :, :])


def test_every_form_is_tested():
    assert set(FORMS) == set(DEFINITIONS)


@LIBRARIES
@pytest.mark.parametrize("name", FORMS)
def test_the_form_is_a_weighted_sum_over_columns(name, library, instance):
    X, Z, v, *_ = instance
    found = FORMS[name].matrix(*(library.asarray(part) for part in (X, Z, v)))
    assert_allclose(to_host(found), parts(name, X, Z) @ v, atol=1e-12)
    same = library.asarray(X)
    own = to_host(FORMS[name].matrix(same, same, library.asarray(v)))
    assert_allclose(own, parts(name, X, X) @ v, atol=1e-12)
    assert_allclose(FORMS[name].diag(X, v), own.diagonal(), atol=1e-12)


@LIBRARIES
@pytest.mark.parametrize("name", FORMS)
def test_contracted_first_derivatives(name, library, instance):
    X, Z, _, M, u, a = instance
    there = [library.asarray(part) for part in (X, Z, M, u, a)]
    slope = Scaled(there[2], 0.7)
    expected = 0.7 * np.einsum("il,l,ilj->ij", M, a, parts(name, X, Z))
    jacobian = FORMS[name].jacobian(slope, there[0], there[1], there[4])
    assert_allclose(to_host(jacobian), expected, atol=1e-12)
    gradient = FORMS[name].gradient(slope, there[0], there[1], there[3], there[4])
    assert_allclose(to_host(gradient), u @ expected, atol=1e-12)


@LIBRARIES
@pytest.mark.parametrize("same", [False, True], ids=["other rows", "same rows"])
@pytest.mark.parametrize(
    "name", [name for name, form in FORMS.items() if form.differentiable_twice]
)
def test_contracted_products_of_first_derivatives(name, same, library, instance, rng):
    X, Z, _, M, u, a = instance
    if same:
        Z, a, M = X, u, rng.normal(size=(7, 7))
        M = M + M.T
    there = [library.asarray(part) for part in (X, M, u)]
    left, matrix, row = there
    right, column = (left, row) if same else (library.asarray(Z), library.asarray(a))
    D = parts(name, X, Z)
    expected = 0.7 * np.einsum("i,il,l,ilj,ilk->jk", u, M, a, D, D)
    found = FORMS[name].hessian(Scaled(matrix, 0.7), left, right, row, column)
    assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("name", FORMS)
def test_translation_invariance_is_what_a_form_says(name, instance):
    X, Z, v, *_ = instance
    moved = FORMS[name].matrix(X + 3.0, Z + 3.0, v)
    agrees = np.allclose(moved, FORMS[name].matrix(X, Z, v))
    assert agrees == FORMS[name].translation_invariant


def test_distances_are_never_negative(rng):
    """Rounding would make them so where rows are nearly equal."""
    X = 1e6 + rng.normal(size=(50, 3))
    assert FORMS["distance"].matrix(X, X, np.ones(3)).min() >= 0.0


@pytest.mark.parametrize("p", [2, 40])
def test_the_absolute_form_in_pieces(p, rng, monkeypatch):
    """Rows are taken a few at a time; their number must not matter."""
    X, Z, a = rng.normal(size=(30, p)), rng.normal(size=(20, p)), rng.normal(size=20)
    M = Scaled(rng.normal(size=(30, 20)))
    results = []
    for cached in (1, 1000, 10**7):
        monkeypatch.setattr("kernelknife.kernels.forms.CACHED", cached)
        results.append(FORMS["absolute"].jacobian(M, X, Z, a))
    assert_allclose(results[1:], [results[0]] * 2, atol=1e-12)
