"""Seeds from what scikit-learn takes as a random state."""

from typing import Any

from sklearn.utils import check_random_state

__all__ = ["draw_seed"]


def draw_seed(random_state: Any) -> int | None:
    """Return a seed, None for None: a fit without a random state is the same every time."""
    if random_state is None:
        return None
    return int(check_random_state(random_state).randint(2**31 - 1))
