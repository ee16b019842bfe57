"""How many threads the linear algebra may use.

On small matrices a second BLAS thread costs more than it brings: a path at n = 200 ran 16
times slower with two threads than with one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["limited_blas"]

SMALL = 1000

# The limit belongs to the process. Where fits overlap in threads, the first to begin sets it
# and the last to end restores what was before.
_lock = Lock()
_holders = 0
_limit: Any = None


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def limited_blas(n_rows: int = 0) -> Iterator[None]:
    """Use one BLAS thread inside, unless the kernel matrix has many rows."""
    global _holders, _limit
    if n_rows >= SMALL:
        yield
        return
    with _lock:
        if _holders == 0:
            _limit = _controller().limit(limits=1, user_api="blas")
        _holders += 1
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if _holders == 0:
                _limit.restore_original_limits()
