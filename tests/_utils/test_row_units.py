"""Rows that depend on each other: held out, exchanged and drawn as whole units."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelknife import KnifeCCA, KnifeKnockoffs, KnifePCA, KnifeStability
from kernelknife._utils.row_units import RowUnits

GROUPS = np.array(list("abcdeabcdeaabb"))


def test_groups_are_held_out_and_exchanged_as_a_whole(rng):
    units = RowUnits.of(14, GROUPS, None)
    out, kept, left = units.held_out(0.4, rng)
    assert not set(GROUPS[out]) & set(GROUPS[kept])
    assert sorted([*out, *kept]) == list(range(14))
    assert len(out) >= 0.4 * 14
    assert len(left.members) == len(set(GROUPS[out]))
    same_size = RowUnits.of(10, GROUPS[:10], None)
    moved = GROUPS[:10][same_size.exchanged(rng)]
    for unit in same_size.members:  # rows of one group take the place of those of one group
        assert len(set(moved[unit])) == 1


def test_blocks_are_held_out_at_the_end_with_a_gap(rng):
    units = RowUnits.of(103, None, 5)
    out, kept, left = units.held_out(0.25, rng)
    assert_array_equal(out, np.arange(78, 103))
    assert_array_equal(kept, np.arange(73))
    assert [len(rows) for rows in left.members] == [5] * 5
    values = rng.normal(size=25) + 100.0 * left.codes
    assert_allclose(np.bincount(left.codes, left.within(values)), 0.0, atol=1e-9)
    order = units.surrogate(rng)
    assert_array_equal(np.sort(order), np.arange(103))
    assert np.count_nonzero(np.diff(order) != 1) <= 1
    assert 5 <= order[0] <= 98


def test_bad_units_are_refused():
    with pytest.raises(ValueError, match="not by both"):
        RowUnits.of(14, GROUPS, 2)
    with pytest.raises(ValueError, match="at least 4 are needed"):
        RowUnits.of(14, None, 5)
    with pytest.raises(ValueError, match="inconsistent"):
        RowUnits.of(13, GROUPS, None)
    assert RowUnits.of(13, None, None) is None


def walks(seed):
    rng = np.random.default_rng(seed)
    return (np.cumsum(rng.normal(size=(100, 3)), axis=0) for _ in "xy")


def test_independent_walks_go_together_without_blocks_only():
    """The audit's reproduction: p = 0.001 in 111 of 111 draws."""
    plain = [KnifeCCA(n_permutations=199).fit(*walks(seed)).p_values_[0] for seed in range(8)]
    blocks = [
        KnifeCCA(n_permutations=199, blocks=5).fit(*walks(seed)).p_values_[0] for seed in range(8)
    ]
    assert np.mean(np.array(plain) <= 0.05) > 0.8
    assert np.mean(np.array(blocks) <= 0.05) < 0.3


def test_related_series_still_go_together():
    X, Y = walks(0)
    Y[:, 0] = X[:, 0] + 0.2 * np.random.default_rng(1).normal(size=100)
    assert KnifeCCA(blocks=5).fit(X, Y).p_values_[0] < 0.05


def test_groups_of_rows_share_no_component():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(20, 6)), 5, axis=0) + 0.3 * rng.normal(size=(100, 6))
    groups = np.repeat(np.arange(20), 5)
    with pytest.warns(UserWarning, match="share no component"):
        KnifePCA().fit(X, groups=groups)
    KnifePCA().fit(X)  # no warning: rows of one group look like a component


def test_too_few_units_are_not_tested(rng):
    X, Y = rng.normal(size=(60, 3)), rng.normal(size=(60, 3))
    with pytest.warns(UserWarning, match="too few to test"):
        model = KnifeCCA(blocks=10).fit(X, Y)
    assert not hasattr(model, "p_values_")


def test_blocks_of_stability_are_groups_of_neighbors(rng):
    X = rng.normal(size=(60, 5))
    y = X[:, 0] + rng.normal(size=60)
    blocks = KnifeStability(n_pairs=5, blocks=6).fit(X, y)
    groups = KnifeStability(n_pairs=5).fit(X, y, groups=np.arange(60) // 6)
    assert_array_equal(blocks.ranks_, groups.ranks_)


def test_knockoffs_of_groups_use_a_row_of_each(rng):
    X = np.repeat(rng.normal(size=(120, 15)), 4, axis=0)
    X += 1e-3 * rng.normal(size=X.shape)
    y = np.repeat(np.cos(2 * X[::4, :10]).sum(axis=1), 4)
    y += np.repeat(0.3 * rng.normal(size=120), 4)
    found = KnifeKnockoffs(fdr=0.2, n_draws=3).fit(X, y, groups=np.arange(480) // 4)
    assert found.get_support()[:10].sum() >= 8
    assert found.statistics_.shape == (3, 15)
    # Rows of a group are copies but for 0.1 %: 480 of them promise more than 120 can.
    with pytest.raises(ValueError, match="at least"):
        KnifeKnockoffs(n_draws=2).fit(X, y, groups=np.arange(480) // 100)
