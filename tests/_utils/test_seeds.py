"""Seeds from random states."""

import numpy as np

from kernelknife._utils.checks import draw_seed


def test_no_random_state_has_no_seed():
    assert draw_seed(None) is None


def test_a_number_gives_one_seed_and_a_generator_another_every_time():
    assert draw_seed(7) == draw_seed(7) != draw_seed(8)
    state = np.random.RandomState(7)
    first, second = draw_seed(state), draw_seed(state)
    assert first == draw_seed(7) != second
