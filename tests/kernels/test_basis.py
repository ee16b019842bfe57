"""Functions of single columns: centered, of unit size, blind to units, and quiet at the ends."""

import array_api_strict
import numpy as np
import pytest
from numpy.testing import assert_allclose

import kernelknife.kernels.basis as basis_module
from kernelknife.kernels import Additive
from kernelknife.kernels.basis import make_basis, make_bent_basis

OPTIONS = {"gamma": 0.7, "n_functions": 6, "n_knots": 20}


def standardized(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.fixture
def columns(rng):
    """A normal, a heavy-tailed, a binary and a four-level column."""
    n = 300
    return standardized(
        np.column_stack(
            [
                rng.normal(size=n),
                np.exp(3.0 * rng.normal(size=n)),
                rng.integers(0, 2, size=n),
                rng.choice([1.0, 2.0, 5.0, 9.0], size=n),
            ]
        )
    )


def gram(basis, Z, j):
    part = basis.restricted(np.array([j])).expand(Z[:, [j]])
    return part @ part.T


def test_functions_are_centered_and_of_unit_size(columns, rng):
    s = rng.uniform(0.5, 2.0, size=len(columns))
    basis = make_basis(columns, s, **OPTIONS)
    seen, share = basis.expand(columns), s / s.sum()
    assert_allclose(share @ seen, 0.0, atol=1e-10)
    for j in range(4):
        norm = share @ (seen[:, basis.sources == j] ** 2).sum(axis=1)
        assert_allclose(norm, 1.0, rtol=1e-10)
    assert list(basis.widths) == [6, 6, 1, 3]


def test_a_row_of_weight_two_is_two_rows(columns):
    repeats = np.arange(len(columns)) % 3 + 1
    weighted = make_basis(columns, repeats.astype(float), **OPTIONS)
    repeated = make_basis(columns.repeat(repeats, axis=0), np.ones(int(repeats.sum())), **OPTIONS)
    for j in range(4):
        assert_allclose(gram(weighted, columns, j), gram(repeated, columns, j), atol=1e-8)


def test_a_column_of_few_values_keeps_their_order_and_distances(columns, rng):
    """Values that are close together are alike: 1 and 2 more than 2 and 5, or 5 and 9."""
    values = np.unique(columns[:, 3])
    curve = make_basis(columns, np.ones(len(columns)), **OPTIONS).curve(3)
    at = curve(values)
    steps = np.linalg.norm(np.diff(at, axis=0), axis=1)
    assert steps[0] < steps[1] < steps[2]
    # Between two known values the curves are straight lines, beyond the last one they stay.
    middle = 0.5 * (values[1:] + values[:-1])
    assert_allclose(curve(middle), 0.5 * (at[1:] + at[:-1]), atol=1e-12)
    assert_allclose(curve(values[-1:] + 9.0), at[-1:])
    # Any function of the values is within reach.
    centered = at - at.mean(axis=0)
    assert np.linalg.matrix_rank(centered, tol=1e-6) == 3


def test_a_far_value_leaves_the_others_their_resolution(rng):
    """A code such as 99999999 in four rows does not make 0 and 1 the same."""
    z = rng.integers(0, 2, size=200).astype(float)
    z[:4] = 99999999.0
    Z = standardized(z[:, None])
    curve = make_basis(Z, np.ones(200), **OPTIONS).curve(0)
    at = curve(np.unique(Z))
    assert np.linalg.norm(at[1] - at[0]) > 0.5


def test_values_that_differ_by_rounding_have_finite_functions(rng):
    x = rng.choice((1.1 + 2.2, 3.3), 200)
    x[:20] += 3.3 * np.round(np.exp(2 * rng.normal(size=20)), 1)
    Z = standardized(x[:, None])
    for basis in (make_basis(Z, np.ones(200), **OPTIONS), make_bent_basis(Z, np.ones(200))):
        seen = basis.expand(Z)
        assert np.isfinite(seen).all()
        assert_allclose((seen**2).sum(axis=1).mean(), 1.0)
    low, high = np.flatnonzero(x == 3.3)[0], np.flatnonzero(x == 1.1 + 2.2)[0]
    seen = make_basis(Z, np.ones(200), **OPTIONS).expand(Z)
    assert_allclose(seen[low], seen[high], atol=1e-6)


def test_single_precision_sees_the_same_functions(rng):
    z = rng.choice([1000.1, 1000.2, 1000.3], 200)
    center, scale = z.mean(), z.std()
    basis = make_basis(((z - center) / scale)[:, None], np.ones(200), **OPTIONS)
    rounded = (z.astype("f4").astype(float) - center) / scale
    assert_allclose(
        basis.expand(rounded[:, None]), basis.expand(((z - center) / scale)[:, None]), atol=0.01
    )


def test_a_mirror_image_has_the_same_kernel(columns):
    s = np.ones(len(columns))
    one, two = make_basis(columns, s, **OPTIONS), make_basis(-columns, s, **OPTIONS)
    for j in range(4):
        assert_allclose(gram(one, columns, j), gram(two, -columns, j), atol=1e-6)
    Z = columns + 0.0
    bent = make_bent_basis(Z, s).expand(Z)
    assert_allclose(make_bent_basis(-Z, s).expand(-Z), -bent, atol=1e-6)


def test_a_heavy_tail_leaves_the_bulk_its_resolution(columns):
    """Half of the rows lie within a hundredth of a deviation; functions must tell them apart."""
    basis = make_basis(columns, np.ones(len(columns)), **OPTIONS)
    low, high = np.quantile(columns[:, 1], [0.2, 0.8])
    assert high - low < 0.05
    ends = basis.curve(1)(np.array([low, high]))
    assert np.linalg.norm(ends[1] - ends[0]) > 0.5


def test_outside_the_range_a_curve_is_constant(columns):
    basis = make_basis(columns, np.ones(len(columns)), **OPTIONS)
    last = columns.max(axis=0)
    assert_allclose(basis.expand(last[None] + 5.0), basis.expand(last[None]))


def test_groups_share_one_size(columns):
    basis = make_basis(columns, np.ones(len(columns)), **OPTIONS)
    shared = basis.shared(np.array([0, 0, 1, 0]))
    assert_allclose(shared.curve(0).table * np.sqrt(3.0), basis.curve(0).table)
    assert_allclose(shared.curve(2).table, basis.curve(2).table)


def test_some_columns_have_the_functions_that_they_have_among_all(columns):
    basis = make_basis(columns, np.ones(len(columns)), **OPTIONS)
    everything = basis.expand(columns)
    for kept in ([0], [1, 3], [3, 0, 2]):
        some = basis.restricted(np.array(kept))
        expected = [everything[:, basis.sources == j] for j in kept]
        assert_allclose(some.expand(columns[:, kept]), np.concatenate(expected, axis=1))
    for j in range(4):
        assert_allclose(basis.curve(j)(columns[:, j]), everything[:, basis.sources == j])


def test_another_library_gives_the_same_functions(columns):
    basis = make_basis(columns, np.ones(len(columns)), **OPTIONS)
    there = basis.expand(array_api_strict.asarray(columns))
    assert_allclose(np.asarray(there), basis.expand(columns), atol=1e-12)


def test_bad_parameters_are_explained():
    for kernel, words in (
        (Additive(gamma=0.0), "gamma must be a number > 0"),
        (Additive(n_functions=0), "n_functions must be an integer >= 1"),
        (Additive(n_functions=8, n_knots=5), r"at most n_knots \(5\), got 8"),
    ):
        with pytest.raises(ValueError, match=words):
            kernel.validate()


def test_a_bent_column_is_one_increasing_function_centered_and_of_unit_size(columns, rng):
    s = rng.uniform(0.5, 2.0, size=len(columns))
    basis = make_bent_basis(columns, s)
    bent, share = basis.expand(columns), s / s.sum()
    assert list(basis.widths) == [1, 1, 1, 1]
    assert_allclose(share @ bent, 0.0, atol=1e-10)
    assert_allclose(share @ bent**2, 1.0, rtol=1e-10)
    for j in range(4):
        order = np.argsort(columns[:, j])
        assert (np.diff(bent[order, j]) >= -1e-12).all()
        assert bent[order[0], j] < bent[order[-1], j]


def test_bending_draws_in_long_tails_and_leaves_normal_and_binary_columns(columns):
    bent = make_bent_basis(columns, np.ones(len(columns))).expand(columns)
    assert np.corrcoef(bent[:, 0], columns[:, 0])[0, 1] > 0.998
    assert_allclose(bent[:, 2], columns[:, 2], atol=1e-10)
    low, high = np.quantile(columns[:, 1], [0.2, 0.8])
    assert high - low < 0.05
    low, high = np.quantile(bent[:, 1], [0.2, 0.8])
    assert high - low > 0.5
    assert bent[:, 1].max() < 0.8 * columns[:, 1].max()


def test_a_row_of_weight_two_is_bent_like_two_rows(columns):
    repeats = np.arange(len(columns)) % 3 + 1
    weighted = make_bent_basis(columns, repeats.astype(float))
    repeated = make_bent_basis(columns.repeat(repeats, axis=0), np.ones(int(repeats.sum())))
    assert_allclose(weighted.expand(columns), repeated.expand(columns), atol=1e-10)


def test_bent_columns_are_constant_beyond_their_range_and_nothing_where_they_have_one_value():
    Z = np.column_stack([np.linspace(-2.0, 2.0, 50), np.zeros(50)])
    new = np.array([[2.0, 0.0], [9.0, 1.0], [-2.0, 0.0], [-9.0, 1.0]])
    bent = make_bent_basis(Z, np.ones(50)).expand(new)
    assert_allclose(bent[[0, 2], 0], bent[[1, 3], 0])
    assert_allclose(bent[:, 1], 0.0)


def test_a_row_of_hardly_any_weight_bends_nothing_to_infinity(rng):
    z, s = rng.normal(size=(40, 1)), np.ones(40)
    z[0], s[0] = 9.0, 1e-30
    bent = make_bent_basis(z, s).expand(z)
    assert np.isfinite(bent).all()
    assert_allclose(bent[1:], make_bent_basis(z[1:], s[1:]).expand(z[1:]), atol=1e-6)


def test_another_library_bends_the_same(columns):
    basis = make_bent_basis(columns, np.ones(len(columns)))
    there = basis.expand(array_api_strict.asarray(columns))
    assert_allclose(np.asarray(there), basis.expand(columns), atol=1e-12)


def test_bases_of_several_folds_are_remembered_up_to_a_limit(columns, monkeypatch):
    """Kernels and rounds of a search share those of a fold, and no memory grows with the folds."""
    monkeypatch.setattr(basis_module, "_MADE", {})
    ones = np.ones(len(columns))
    first, second = make_basis(columns, ones, **OPTIONS), make_basis(columns, ones + 1.0, **OPTIONS)
    assert make_basis(columns.copy(), ones, **OPTIONS) is first
    monkeypatch.setattr(basis_module, "REMEMBERED", first.n_numbers)
    third = make_basis(columns + 1.0, ones, **OPTIONS)
    assert list(basis_module._MADE.values()) == [third]
    again = make_basis(columns, ones + 1.0, **OPTIONS)
    assert again is not second
    assert_allclose(again.expand(columns), second.expand(columns), atol=1e-12)
