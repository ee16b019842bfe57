"""Concordances and Brier scores against their definitions, written as loops."""

import numpy as np
import pytest

from kernelknife.survival_metrics import (
    brier_scores,
    concordance,
    integrated_brier_score,
    kaplan_meier,
    uno_concordance,
)


def draw(seed, n=60, *, ties=True):
    rng = np.random.default_rng(seed)
    risk = rng.normal(size=n)
    time, censored = rng.exponential(np.exp(-risk)), rng.exponential(1.5, size=n)
    event = time <= censored
    time = np.minimum(time, censored)
    if ties:
        time, risk = np.ceil(5 * time), np.round(risk)
    return time, event, risk


def pairs(time, event):
    for i in np.flatnonzero(event):
        for j in range(len(time)):
            if time[j] > time[i] or (time[j] == time[i] and not event[j]):
                yield i, j


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ties", [False, True])
def test_concordance_is_the_share_of_pairs(seed, ties):
    time, event, risk = draw(seed, ties=ties)
    s = np.random.default_rng(seed).integers(0, 3, size=len(time)).astype(float)
    good = total = 0.0
    for i, j in pairs(time, event):
        total += s[i] * s[j]
        good += s[i] * s[j] * ((risk[i] > risk[j]) + 0.5 * (risk[i] == risk[j]))
    assert concordance(time, event, risk, s) == pytest.approx(good / total, rel=1e-12)


def test_concordance_of_the_opposite_order_is_one_minus_it():
    time, event, risk = draw(7)
    assert concordance(time, event, -risk) == pytest.approx(1 - concordance(time, event, risk))
    assert concordance(time, event, np.zeros_like(risk)) == 0.5


def censoring_before(time, event, t):
    """Kaplan and Meier's estimate of the censoring, just before ``t``, as a loop."""
    left = 1.0
    for c in np.unique(time[~event]):
        if c < t:
            at_risk = (time > c).sum() + ((time == c) & ~event).sum()
            left *= 1.0 - ((time == c) & ~event).sum() / at_risk
    return left


@pytest.mark.parametrize("ties", [False, True])
def test_uno_concordance_weighs_by_the_censoring(ties):
    time, event, risk = draw(1, ties=ties)
    horizons = np.quantile(time, [0.5, 0.9])
    found = uno_concordance(time, event, risk, horizon=horizons)
    for end, value in zip(horizons, found, strict=True):
        good = total = 0.0
        for i, j in pairs(time, event):
            if time[i] < end:
                weight = censoring_before(time, event, time[i]) ** -2
                total += weight
                good += weight * ((risk[i] > risk[j]) + 0.5 * (risk[i] == risk[j]))
        assert value == pytest.approx(good / total, rel=1e-12)


def test_without_censoring_both_concordances_agree():
    time, _, risk = draw(2, ties=False)
    event = np.ones(len(time))
    assert uno_concordance(time, event, risk) == pytest.approx(concordance(time, event, risk))


def test_brier_score_weighs_by_the_censoring():
    time, event, risk = draw(3, ties=False)
    times = np.quantile(time, [0.2, 0.5, 0.7])
    S = np.exp(-np.outer(np.exp(risk), times))
    for t, column, value in zip(times, S.T, brier_scores(time, event, S, times), strict=True):
        total = 0.0
        for i in range(len(time)):
            if time[i] <= t and event[i]:
                total += column[i] ** 2 / censoring_before(time, event, time[i])
            elif time[i] > t:
                total += (1 - column[i]) ** 2 / censoring_before(time, event, t + 1e-9)
        assert value == pytest.approx(total / len(time), rel=1e-12)


def test_integrated_brier_score_is_a_mean_over_time():
    time, event, risk = draw(4, ties=False)
    times = np.linspace(*np.quantile(time, [0.1, 0.7]), 30)
    truth = np.exp(-np.outer(np.exp(risk), times))
    constant = np.tile(np.interp(times, *kaplan_meier(time, event)), (len(time), 1))
    own = integrated_brier_score(time, event, truth, times)
    assert own < integrated_brier_score(time, event, constant, times)
    scores = brier_scores(time, event, truth, times)
    assert scores.min() < own < scores.max()


def test_kaplan_meier_is_the_product_of_shares():
    time, event, _ = draw(5)
    times, survival = kaplan_meier(time, event)
    left = 1.0
    for t, value in zip(times, survival, strict=True):
        left *= 1.0 - ((time == t) & event).sum() / (time >= t).sum()
        assert value == pytest.approx(left, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [0, 0], [1, 2]), "No two rows can be compared"),
        (([1, 2], [1, 2], [1, 2]), "event must be 0"),
        (([1, np.nan], [1, 1], [1, 2]), "time has missing"),
        (([1, 2], [1, 1], [1, 2, 3]), "risk must have one number per row"),
    ],
)
def test_refuses_what_cannot_be_judged(arguments, message):
    with pytest.raises(ValueError, match=message):
        concordance(*arguments)
