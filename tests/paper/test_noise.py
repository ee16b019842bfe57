"""The simulation with noise columns."""

from items.noise import BAYES


def test_bayes_error_by_simulation(rng):
    """Half of the rows are of class 0; those in the shell are taken for class 1."""
    radius = (rng.standard_normal((200_000, 4)) ** 2).sum(axis=1)
    lost = 0.5 * ((radius >= 9) & (radius <= 16)).mean()
    assert abs(lost - BAYES) < 0.001
