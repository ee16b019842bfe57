"""Figures are drawn without a screen and closed after every test."""

import matplotlib as mpl
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt

from kernelknife import KnifeRegressorCV
from kernelknife.datasets import make_sinusoidal


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="package")
def chosen():
    X, y = make_sinusoidal(80, 5, random_state=0)
    return KnifeRegressorCV("rbf", alphas=[0.1, 1.0], sparsities=15, cv=3).fit(X, y)
