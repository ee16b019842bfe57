"""Complementary halves: every row once per pair, classes in both, groups in one."""

import numpy as np

from kernelknife._error_rates.halves import draw_halves


def pairs(halves):
    return list(zip(halves[::2], halves[1::2], strict=True))


def test_two_halves_have_every_row_once(rng):
    for n in (20, 21):
        halves = draw_halves(n, 5, rng)
        assert len(halves) == 10
        for first, second in pairs(halves):
            assert sorted([*first, *second]) == list(range(n))
            assert abs(len(first) - len(second)) <= 1


def test_every_class_is_halved(rng):
    strata = np.repeat([0, 1, 2], [21, 9, 3])
    for first, second in pairs(draw_halves(33, 20, rng, strata)):
        counts = [np.bincount(strata[half], minlength=3) for half in (first, second)]
        assert np.abs(counts[0] - counts[1]).max() <= 1
        assert abs(len(first) - len(second)) <= 1


def test_groups_stay_together(rng):
    groups = np.array(list("aaabbccccddeeffffgg"))
    strata = (np.arange(19) % 2).astype(int)
    for labels in (None, strata):
        for first, second in pairs(draw_halves(19, 10, rng, labels, groups)):
            assert not set(groups[first]) & set(groups[second])
            assert min(len(first), len(second)) >= 5


def test_all_rows_are_equally_likely_to_be_in_a_first_half(rng):
    halves = draw_halves(11, 400, rng, np.repeat([0, 1], [5, 6]))
    counts = np.bincount(np.concatenate(halves[::2]), minlength=11)
    assert (np.abs(counts - 200) < 5 * np.sqrt(400) / 2).all()
