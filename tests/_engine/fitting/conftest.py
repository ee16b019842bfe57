"""Data that the tests of a fit share."""

import pytest

from kernelknife.datasets import make_sinusoidal, make_skin_of_orange


@pytest.fixture(scope="module")
def orange():
    return make_skin_of_orange(100, 6, random_state=0)


@pytest.fixture(scope="module")
def sinusoid():
    return make_sinusoidal(100, 5, random_state=0)
