"""Convex losses on the score scale.

A loss is pointwise and vectorized: ``value``, ``gradient`` and ``curvature`` take the
target ``y`` and the score ``f`` of the same shape. The problem takes the sum over rows
and columns, for every loss alike, as the paper, ``KernelRidge`` and ``SVC`` do.
Classification losses see ``y`` in {-1, +1}: one column for two classes, one column per
class for more.

Examples
--------
A loss of your own is one small class:

>>> import numpy as np
>>> from kernelknife import KnifeRegressor
>>> from kernelknife.losses import Loss
>>> class LogCosh(Loss):
...     task = "regression"
...     curvature_bound = 1.0
...     def value(self, y, f):
...         return np.logaddexp(f - y, y - f) - np.log(2.0)
...     def gradient(self, y, f):
...         return np.tanh(f - y)
...     def curvature(self, y, f):
...         return 1.0 - np.tanh(f - y) ** 2
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(60, 5))
>>> y = np.sin(2 * X[:, 1])
>>> model = KnifeRegressor(loss=LogCosh(), alpha=0.3, sparsity=1.0).fit(X, y)
>>> model.get_support(indices=True)
array([1])
"""

from kernelknife.losses.base import CoupledLoss, Loss, Risk
from kernelknife.losses.classes import Hinge, HuberizedHinge, LogisticLoss, SquaredHinge
from kernelknife.losses.counts import GammaLoss, NegativeBinomialLoss, PoissonLoss, TweedieLoss
from kernelknife.losses.numbers import HuberLoss, SquaredLoss
from kernelknife.losses.quantiles import ExpectileLoss, QuantileLoss, SmoothQuantileLoss
from kernelknife.losses.registry import COUPLED_LOSSES, LOSSES, check_loss
from kernelknife.losses.survival import CoxLoss

__all__ = [
    "COUPLED_LOSSES",
    "LOSSES",
    "CoupledLoss",
    "CoxLoss",
    "ExpectileLoss",
    "GammaLoss",
    "Hinge",
    "HuberLoss",
    "HuberizedHinge",
    "LogisticLoss",
    "Loss",
    "NegativeBinomialLoss",
    "PoissonLoss",
    "QuantileLoss",
    "Risk",
    "SmoothQuantileLoss",
    "SquaredHinge",
    "SquaredLoss",
    "TweedieLoss",
    "check_loss",
]
