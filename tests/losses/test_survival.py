"""Cox's partial likelihood against a plain loop over risk sets, and against finite differences."""

import numpy as np
import pytest

from kernelknife.losses.survival import CoxRisk


def plain_value(Y, s, f, ties):
    """The definition, one risk set and one death after the other."""
    time, event, stratum, entry = Y.T
    total = 0.0
    for g in np.unique(stratum):
        for t in np.unique(time[(event > 0) & (stratum == g)]):
            at_risk = (stratum == g) & (time >= t) & (entry < t)
            dead = np.flatnonzero((stratum == g) & (time == t) & (event > 0))
            S, T = (s * np.exp(f))[at_risk].sum(), (s * np.exp(f))[dead].sum()
            for place, i in enumerate(dead):
                phi = place / len(dead) if ties == "efron" else 0.0
                total += s[dead].mean() * np.log(S - phi * T) - s[i] * f[i]
    return total


def draw(seed, n=40, *, tied=True, n_strata=1, entries=False):
    rng = np.random.default_rng(seed)
    time = rng.exponential(size=n) + 0.1
    if tied:
        time = np.ceil(4 * time) / 4
    event = rng.random(n) < 0.6
    entry = time * rng.random(n) * 0.7 if entries else np.full(n, -np.inf)
    Y = np.column_stack([time, event, rng.integers(n_strata, size=n), entry])
    return Y, rng.integers(1, 4, size=n).astype(float), rng.normal(size=n)


CASES = [
    {"tied": tied, "n_strata": n_strata, "entries": entries}
    for tied in (False, True)
    for n_strata in (1, 3)
    for entries in (False, True)
]


@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("case", CASES, ids=str)
class TestPartialLikelihood:
    def test_is_its_definition(self, case, ties):
        Y, s, f = draw(0, **case)
        expected = plain_value(Y, s, f, ties)
        assert CoxRisk(Y, s, ties).value(f[:, None]) == pytest.approx(expected, rel=1e-12)

    def test_gradient_is_that_of_the_value(self, case, ties):
        Y, s, f = draw(1, **case)
        risk, step = CoxRisk(Y, s, ties), 1e-5
        slopes = [
            (risk.value((f + d)[:, None]) - risk.value((f - d)[:, None])) / (2 * step)
            for d in step * np.eye(len(f))
        ]
        np.testing.assert_allclose(risk.gradient(f[:, None])[:, 0], slopes, atol=1e-7)

    def test_hessian_is_that_of_the_gradient(self, case, ties):
        Y, s, f = draw(2, **case)
        risk, step = CoxRisk(Y, s, ties), 1e-5
        H = risk.hessian_product(f[:, None], np.eye(len(f)))
        slopes = [
            (risk.gradient((f + d)[:, None]) - risk.gradient((f - d)[:, None]))[:, 0] / (2 * step)
            for d in step * np.eye(len(f))
        ]
        np.testing.assert_allclose(H, slopes, atol=1e-7)

    def test_hessian_lies_between_zero_and_the_curvature(self, case, ties):
        Y, s, f = draw(3, **case)
        risk = CoxRisk(Y, s, ties)
        H = risk.hessian_product(f[:, None], np.eye(len(f)))
        np.testing.assert_allclose(H, H.T, atol=1e-12)
        assert np.linalg.eigvalsh(H).min() > -1e-10
        gap = np.diag(risk.curvature(f[:, None])[:, 0]) - H
        assert np.linalg.eigvalsh(gap).min() > -1e-10
        # A constant of each stratum changes nothing.
        np.testing.assert_allclose(H @ (Y[:, 2] == Y[0, 2]), 0.0, atol=1e-10)


class TestInvariances:
    def test_a_monotone_change_of_time_changes_nothing(self):
        Y, s, f = draw(4)
        stretched = Y.copy()
        stretched[:, 0] = np.exp(Y[:, 0] ** 3)
        a, b = CoxRisk(Y, s).gradient(f[:, None]), CoxRisk(stretched, s).gradient(f[:, None])
        np.testing.assert_array_equal(a, b)

    def test_a_row_of_weight_two_is_two_rows_with_breslow(self):
        Y, _, f = draw(5)
        two = np.ones(len(Y))
        two[::3] = 2
        copies = np.repeat(np.arange(len(Y)), two.astype(int))
        once = CoxRisk(Y, two, "breslow").value(f[:, None])
        twice = CoxRisk(Y[copies], np.ones(len(copies)), "breslow").value(f[copies, None])
        assert once == pytest.approx(twice, rel=1e-12)

    def test_ties_agree_where_there_are_none(self):
        Y, s, f = draw(6, tied=False)
        values = [CoxRisk(Y, s, ties).value(f[:, None]) for ties in ("efron", "breslow")]
        assert values[0] == pytest.approx(values[1], rel=1e-12)

    def test_scores_far_apart_stay_finite(self):
        Y, s, f = draw(7)
        risk, F = CoxRisk(Y, s), 400.0 * f[:, None]
        assert np.isfinite(risk.value(F))
        assert np.isfinite(risk.gradient(F)).all()
        assert np.isfinite(risk.curvature(F)).all()

    def test_a_constant_shifts_the_baseline_and_nothing_else(self):
        Y, s, f = draw(8)
        risk = CoxRisk(Y, s)
        assert risk.value(f[:, None] + 50.0) == pytest.approx(risk.value(f[:, None]), rel=1e-12)
        low, high = risk.baseline(f[:, None]), risk.baseline(f[:, None] + 2.0)
        np.testing.assert_allclose(low.hazards, np.exp(2.0) * high.hazards)
        assert (np.diff(low.times) > 0).all()
        assert (np.diff(low.hazards) > 0).all()


def test_baseline_without_scores_is_nelson_and_aalen():
    Y = np.array([[1.0, 1], [2, 0], [3, 1], [3, 1], [4, 0]])
    baseline = CoxRisk(Y, np.ones(5)).baseline(np.zeros((5, 1)))
    np.testing.assert_array_equal(baseline.times, [1.0, 3.0])
    found = baseline.at(np.array([0.5, 1.0, 2.9, 3.0, 9.0]), stratum=0.0)
    np.testing.assert_allclose(found, [0, 1 / 5, 1 / 5, 1 / 5 + 2 / 3, 1 / 5 + 2 / 3])


def test_values_of_the_rows_add_up_to_the_loss():
    Y, s, f = draw(9, n_strata=3)
    risk = CoxRisk(Y, s)
    assert s @ risk.values(f) == pytest.approx(risk.value(f), rel=1e-12)
    np.testing.assert_array_equal(risk.values(f)[Y[:, 1] == 0], 0.0)
