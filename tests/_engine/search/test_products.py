"""Products of features that are related to the target where no single one is."""

from itertools import combinations

import numpy as np
import pytest

from kernelknife import KnifeClassifier, KnifeRegressor, knife_path
from kernelknife._engine.search import products
from kernelknife._engine.search.products import interacting_features


def uniform(n, p, seed):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, size=(n, p))


def found(X, y, weight=None):
    weight = np.ones(len(X)) if weight is None else weight
    return sorted(interacting_features(X, np.asarray(y, dtype=float)[:, None], weight).tolist())


@pytest.mark.parametrize("members", [(3, 17), (0, 1, 39), (12, 30, 31)])
def test_the_features_of_a_product_are_found(members):
    X = uniform(300, 40, 0)
    y = np.sign(X[:, members].prod(axis=1))
    assert found(X, y) == list(members)


def test_several_products_of_several_targets_are_found():
    X = uniform(400, 30, 1)
    Y = np.sign(np.c_[X[:, 0] * X[:, 1] * X[:, 2], X[:, 5] * X[:, 6]])
    assert sorted(interacting_features(X, Y, np.ones(400))) == [0, 1, 2, 5, 6]


@pytest.mark.parametrize("kind", ["uniform", "heavy tails", "copies"])
def test_noise_has_no_products(kind):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = uniform(100, 30, seed) if kind == "uniform" else rng.standard_t(2, size=(100, 30))
        if kind == "copies":
            X = X[:, :3].repeat(10, axis=1) + 0.1 * rng.normal(size=(100, 30))
        assert found(X, rng.standard_t(3, size=100)) == []


def test_features_that_tell_something_alone_do_not_count():
    X = uniform(400, 20, 2)
    pure = np.sign(X[:, 0] * X[:, 1])
    assert found(X, pure) == [0, 1]
    assert found(X, pure + 2.0 * X[:, 0]) == [0, 1]  # one of them alone is not enough
    assert found(X, pure + 2.0 * X[:, 0] + 2.0 * X[:, 1]) == []


def test_a_pure_interaction_is_not_hidden_behind_many_effects():
    X = uniform(500, 60, 7)
    y = np.sign(X[:, 0] * X[:, 1]) + 0.5 * np.prod(1.0 + X[:, 2:8], axis=1)
    assert {0, 1} <= set(found(X, y))


def test_every_product_is_looked_at(monkeypatch):
    U, t = np.random.default_rng(0).normal(size=(25, 9)), np.ones(25)
    by_hand = {m: U[:, m].prod(axis=1).sum() for m in combinations(range(9), 3)}
    for block in (1, 900, 10**6):
        monkeypatch.setattr(products, "BLOCK", block)
        seen = {}
        for sums, first in products._triple_sums(U, t, np.zeros(9, dtype=bool)):
            for index, total in np.ndenumerate(sums):
                members = tuple(sorted(set(np.add(index, first).tolist())))
                if len(members) == 3:
                    seen[members] = total
                else:
                    assert total == 0.0
        assert seen == pytest.approx(by_hand)


def test_weights_count_and_their_scale_does_not():
    X = uniform(400, 15, 3)
    weight = np.where(np.arange(400) < 200, 1.0, 1e-3)  # the second half has another signal
    y = np.where(weight == 1.0, X[:, [1, 2, 3]].prod(axis=1), X[:, 8] * X[:, 9])
    noise = np.random.default_rng(3).normal(size=400)
    for scale in (1.0, 1 / 400, 120.0):
        assert found(X, y, scale * weight) == [1, 2, 3]
        assert found(X, noise, scale * weight) == []


def test_a_column_that_is_all_but_constant_has_no_products():
    X = uniform(300, 10, 8)
    X[:, 7] = 0.1 + 1e-16 * X[:, 7]
    assert found(X, 2.0 * X[:, 0] + X[:, 1]) == []


def test_many_features_leave_out_what_costs_too_much(monkeypatch):
    X = uniform(200, 60, 4)
    pair, triple = np.sign(X[:, 0] * X[:, 1]), np.sign(X[:, 2] * X[:, 3] * X[:, 4])
    monkeypatch.setattr(products, "MOST_STEPS", {2: 200 * 60**2, 3: 200 * 60**2})
    assert found(X, pair) == [0, 1]
    assert found(X, triple) == []
    monkeypatch.setattr(products, "MOST_STEPS", {2: 0, 3: 0})
    assert found(X, pair) == []


def test_more_rows_than_can_be_looked_at_are_no_harm():
    X = uniform(800, 201, 9)
    assert products.affordable_rows(201, 1, order=3) < 800
    assert found(X, np.sign(X[:, [60, 70, 80]].prod(axis=1))) == [60, 70, 80]


def test_several_outputs_share_the_work(monkeypatch):
    monkeypatch.setattr(products, "MOST_STEPS", {2: 2e9, 3: 2e9})
    X = uniform(1000, 1500, 10)
    Y = np.c_[np.sign(X[:, 0] * X[:, 1]), X[:, 2:4]]
    assert products.affordable_rows(1500, 3) < 1000
    assert sorted(interacting_features(X, Y, np.ones(1000))) == [0, 1]


@pytest.mark.parametrize("noise", [48, 198])
def test_a_path_finds_a_product_of_three_signs(noise):
    X = uniform(400, 3 + noise, 0)
    path = knife_path(X, X[:, :3].prod(axis=1) > 0)
    assert sorted(path.ranking.argsort()[:3]) == [0, 1, 2]
    assert path.start == "products"


def test_a_product_beside_an_additive_effect():
    X = uniform(400, 50, 5)
    y = X[:, 3] + np.sign(X[:, :3].prod(axis=1))
    path = knife_path(X, y)
    assert sorted(path.ranking.argsort()[:4]) == [0, 1, 2, 3]


def test_fits_with_centers_and_groups_begin_there_too():
    X = uniform(600, 40, 6)
    y = X[:, :3].prod(axis=1) > 0
    model = KnifeClassifier(n_features_to_select=3, n_centers=150, random_state=0).fit(X, y)
    assert model.get_support(indices=True).tolist() == [0, 1, 2]
    groups = np.arange(40) // 3
    grouped = KnifeRegressor(feature_groups=groups, n_features_to_select=1)
    assert grouped.fit(X, np.sign(X[:, 6:9].prod(axis=1))).get_support(indices=True).tolist() == [
        6,
        7,
        8,
    ]


def test_a_pair_among_thousands_of_columns_is_found():
    """A block holds fewer pairs than there are; no single column shows the effect."""
    X = np.random.default_rng(0).normal(size=(200, 5000))
    assert products.PAIR_BLOCK < 5000**2
    assert found(X, np.sign(X[:, 0] * X[:, 4999])) == [0, 4999]


def test_a_pair_of_intensities_is_found_in_few_rows():
    """Of log-normal columns the products of raw values are those of a few extreme rows."""
    L = np.random.default_rng(5).normal(size=(72, 3000))
    assert found(np.exp(L + 6.0), np.sign(L[:, 10] * L[:, 20])) == [10, 20]


def test_the_pair_of_a_table_of_genes_is_found_beside_genes_that_shift():
    """72 x 7,132 intensities; in raw values, or without the search, the pair is nowhere."""
    rng = np.random.default_rng([35, 3])
    y = rng.permutation(np.repeat([-1.0, 1.0], [25, 47]))
    L, sign = rng.normal(size=(72, 7132)), rng.choice([-1.0, 1.0], 72)
    L[:, :4] += np.array([1.0, 0.7, 0.7, 0.6]) * y[:, None]
    L[:, 4] = sign + 0.3 * rng.normal(size=72)
    L[:, 5] = sign * y + 0.3 * rng.normal(size=72)
    path = knife_path(np.exp(1.5 * L + 6.0), y, kernel="anova", sparsities=15)
    assert path.searched_products == {2: 72, 3: 0}
    assert sorted(path.ranking.argsort()[:2]) == [4, 5]
    assert (path.ranking[:4] <= 72).any()


def test_no_pair_is_found_in_noise():
    hits = 0
    for seed in range(40):
        rng = np.random.default_rng([7, seed])
        X = np.exp(rng.normal(size=(72, 400))) if seed % 2 else rng.normal(size=(72, 400))
        hits += bool(found(X, rng.permutation(np.repeat([-1.0, 1.0], 36))))
    assert hits <= 2


def test_a_result_states_in_how_many_rows_products_were_searched():
    X, y = uniform(120, 6, 3), uniform(120, 1, 4)[:, 0]
    assert KnifeRegressor().fit(X, y).searched_products_ == {2: 120, 3: 120}
    assert KnifeRegressor("linear").fit(X, y).searched_products_ == {}
    assert KnifeRegressor(start="scaled").fit(X, y).searched_products_ == {}
    wide = np.random.default_rng(0).normal(size=(60, 5000))
    assert knife_path(wide, wide[:, 0], sparsities=3).searched_products == {2: 60, 3: 0}
