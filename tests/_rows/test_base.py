"""Sums over blocks of rows."""

from kernelknife._rows.base import tree_sum


def test_tree_sum_depends_on_the_number_alone():
    shape = tree_sum((str(i) for i in range(6)), lambda a, b: f"({a}{b})")
    assert shape == "(((01)(23))(45))"
    assert tree_sum(iter(["x"]), None) == "x"
