"""Feature-weighted kernels.

A kernel here is a scalar profile ``phi`` of one weighted form ``s`` of two rows,

==========  ==========================================  ==============================
form        ``s(x, z)``                                 kernels
==========  ==========================================  ==============================
dot         ``sum_j v_j x_j z_j``                       linear, polynomial, sigmoid; additive and
                                                        ANOVA on functions of the columns
distance    ``sum_j v_j (x_j - z_j)**2``                Gaussian, Matern, rational quadratic; joint
                                                        on one function of each column
absolute    ``sum_j v_j abs(x_j - z_j)``                Laplace
==========  ==========================================  ==============================

so that ``k(x, z) = phi(s(x, z))``. A form contracts its derivative in ``v`` with a matrix
through matrix products; the ``n x m x p`` tensor of derivatives is never formed. A kernel adds
``phi`` and its slope, two one-line methods.

The weights ``w`` of the features enter as ``v = w`` for kernels with
``linear_in_weights = True`` and as ``v = w**2`` otherwise (the paper's equation for
non-linear kernels); ``_engine/objective/features.py`` applies that rule.

Examples
--------
A kernel of your own is one small class:

>>> import numpy as np
>>> from kernelknife import KnifeRegressor
>>> from kernelknife.kernels import Kernel
>>> class Cauchy(Kernel):
...     form = "distance"
...     def profile(self, s):
...         return 1.0 / (1.0 + s)
...     def slope(self, s, k):
...         return -k * k
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(60, 5))
>>> y = np.sin(2 * X[:, 1])
>>> model = KnifeRegressor(kernel=Cauchy(), sparsity=2.0).fit(X, y)
>>> model.get_support(indices=True)
array([1])
"""

from kernelknife.kernels.additive import Additive, Anova
from kernelknife.kernels.base import Kernel
from kernelknife.kernels.distance import RBF, Joint, Laplace, Matern, RationalQuadratic
from kernelknife.kernels.dot import Linear, Polynomial, Sigmoid
from kernelknife.kernels.registry import KERNELS, check_kernel

__all__ = [
    "KERNELS",
    "RBF",
    "Additive",
    "Anova",
    "Joint",
    "Kernel",
    "Laplace",
    "Linear",
    "Matern",
    "Polynomial",
    "RationalQuadratic",
    "Sigmoid",
    "check_kernel",
]

# Saved models name a kernel by its public path, so that they do not depend on the file that it is
# defined in.
for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__
del _name
