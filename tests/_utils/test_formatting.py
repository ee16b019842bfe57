"""Numbers and lists as text."""

from kernelknife._utils.messages import listed, number, p_value


def test_numbers_are_short():
    assert [number(v) for v in (0.0, 0.12345, 1234.5, 1e7, 1e-5)] == [
        "0", "0.123", "1234", "1.0e7", "1.0e-5",
    ]  # fmt: skip


def test_no_p_value_is_zero():
    assert [p_value(v) for v in (0.0, 1e-14, 2e-5, 0.0476)] == [
        "< 1e-12", "< 1e-12", "2.0e-5", "0.0476",
    ]  # fmt: skip


def test_names_are_listed_as_in_a_sentence():
    assert [listed(names) for names in (["a"], ("a", "b"), {"a": 1, "b": 2, "c": 3})] == [
        "a", "a and b", "a, b and c",
    ]  # fmt: skip
