"""How many threads the linear algebra may use.

On small matrices a second BLAS thread costs more than it brings: a path at n = 200 ran 16
times slower with two threads than with one.
"""

from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

__all__ = ["limited_blas"]

SMALL = 1000


@cache
def _controller():
    return ThreadpoolController()


@contextmanager
def limited_blas(n_rows=0):
    """Use one BLAS thread inside, unless the kernel matrix has many rows."""
    if n_rows >= SMALL:
        yield
    else:
        with _controller().limit(limits=1, user_api="blas"):
            yield
