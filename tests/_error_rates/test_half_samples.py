"""Complementary pairs, and elimination orders on half-samples."""

import numpy as np
from joblib import parallel_config
from numpy.testing import assert_array_equal

from kernelknife import KnifeClassifier, KnifeRegressor, knife_path
from kernelknife._engine import FitSpec
from kernelknife._error_rates.half_samples import draw_half_samples, rank_half_samples, rank_units


def pairs(half_samples):
    return list(zip(half_samples[::2], half_samples[1::2], strict=True))


def test_a_pair_has_every_row_once(rng):
    for n in (20, 21):
        half_samples = draw_half_samples(n, 5, rng)
        assert len(half_samples) == 10
        for first, second in pairs(half_samples):
            assert sorted([*first, *second]) == list(range(n))
            assert abs(len(first) - len(second)) <= 1


def test_every_class_is_halved(rng):
    strata = np.repeat([0, 1, 2], [21, 9, 3])
    for first, second in pairs(draw_half_samples(33, 20, rng, strata)):
        counts = [np.bincount(strata[rows], minlength=3) for rows in (first, second)]
        assert np.abs(counts[0] - counts[1]).max() <= 1
        assert abs(len(first) - len(second)) <= 1


def test_groups_stay_together(rng):
    groups = np.array(list("aaabbccccddeeffffgg"))
    strata = (np.arange(19) % 2).astype(int)
    for labels in (None, strata):
        for first, second in pairs(draw_half_samples(19, 10, rng, labels, groups)):
            assert not set(groups[first]) & set(groups[second])
            assert min(len(first), len(second)) >= 5


def test_all_rows_are_equally_likely_to_be_in_a_first_half_sample(rng):
    half_samples = draw_half_samples(11, 400, rng, np.repeat([0, 1], [5, 6]))
    counts = np.bincount(np.concatenate(half_samples[::2]), minlength=11)
    assert (np.abs(counts - 200) < 5 * np.sqrt(400) / 2).all()


def test_a_half_sample_ranks_as_a_path_of_its_rows_does(rng):
    X = rng.normal(size=(50, 6))
    X[:25, 4] = 1.0  # constant in the first half-sample
    y = np.sin(2 * X[:, 1]) + X[:, 3]
    half_samples = [np.arange(25), np.arange(25, 50)]
    spec = FitSpec.from_estimator(KnifeRegressor(tol=1e-3))
    ranks = rank_half_samples(spec, X, y, half_samples)
    for rows, ranking in zip(half_samples, ranks, strict=True):
        path = knife_path(X[rows], y[rows], sparsities=15, tol=1e-3)
        assert_array_equal(ranking, path.ranking)
    assert ranks[0, 4] == 6


def test_class_weights_are_those_of_the_rows_of_a_half_sample(rng):
    X, y = rng.normal(size=(60, 5)), np.arange(60) % 4 == 0
    rows = [np.arange(31)]
    model = KnifeClassifier("linear", class_weight="balanced", tol=1e-3)
    path = knife_path(
        X[:31], y[:31], kernel="linear", class_weight="balanced", sparsities=15, tol=1e-3
    )
    ranks = rank_half_samples(FitSpec.from_estimator(model), X, y, rows)
    assert_array_equal(ranks[0], path.ranking)


def test_ranks_do_not_depend_on_the_number_of_workers(rng):
    X = rng.normal(size=(40, 5))
    arguments = FitSpec.from_estimator(KnifeRegressor()), X, X[:, 2], np.split(np.arange(40), 2)
    with parallel_config(backend="threading"):
        ranks = rank_half_samples(*arguments, n_jobs=2)
    assert_array_equal(ranks, rank_half_samples(*arguments))


def test_a_unit_stays_as_long_as_its_best_column():
    ranks = np.array([[3, 1, 4, 2, 5], [1, 5, 2, 4, 3]])
    units = np.array([0, 1, 1, -1, 2])
    assert_array_equal(rank_units(ranks, units), [[2, 1, 3], [1, 2, 3]])
