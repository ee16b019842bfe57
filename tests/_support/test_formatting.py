"""Numbers as text."""

from kernelknife._support.formatting import number


def test_numbers_are_short():
    assert [number(v) for v in (0.0, 0.12345, 1234.5, 1e7, 1e-5)] == [
        "0", "0.123", "1234", "1.0e7", "1.0e-5",
    ]  # fmt: skip
