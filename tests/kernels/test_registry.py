"""Kernels by name: what is known, what is refused, and under which path a kernel is stored."""

import pickle

import pytest
from sklearn.base import clone

from kernelknife import kernels
from kernelknife.kernels import KERNELS, RBF, Matern, Polynomial, RationalQuadratic, check_kernel


def test_names_and_instances_resolve_and_clone():
    assert isinstance(check_kernel("rbf"), RBF)
    kernel = clone(Polynomial(degree=4))
    assert check_kernel(kernel).degree == 4


@pytest.mark.parametrize(
    ("spec", "error", "words"),
    [
        ("gauss", ValueError, "laplace, linear, matern"),
        (RBF, TypeError, r"RBF\(\)"),
        (3, TypeError, "rbf"),
        (RBF(gamma=-1.0), ValueError, "gamma must be a number > 0"),
        (RBF(gamma="scale"), TypeError, "gamma must be a number > 0"),
        (Polynomial(degree=0), ValueError, "degree must be an integer >= 1"),
        (Polynomial(degree=1.5), TypeError, "degree must be an integer"),
        (Polynomial(coef0=-1.0), ValueError, "coef0"),
        (Matern(nu=0.7), ValueError, "nu must be 1.5 or 2.5"),
        (RationalQuadratic(shape=0.0), ValueError, "shape"),
    ],
)
def test_wrong_kernels_are_explained(spec, error, words):
    with pytest.raises(error, match=words):
        check_kernel(spec)


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_is_public_and_stored_under_its_public_path(name):
    """So that a saved model stays readable when the class moves to another module."""
    kernel = KERNELS[name]
    assert getattr(kernels, kernel.__name__) is kernel
    assert kernel.__name__ in kernels.__all__
    assert kernel.__module__ == "kernelknife.kernels"
    assert type(pickle.loads(pickle.dumps(kernel()))) is kernel


def test_matrices_and_functions_are_refused_with_the_reason():
    with pytest.raises(ValueError, match="which column they come from"):
        check_kernel("precomputed")
    with pytest.raises(TypeError, match="profile and slope"):
        check_kernel(lambda x, z: x @ z)
