"""The pieces of a report about error rates."""

from kernelknife.app.report.rates import rate_cells, rate_heads, rate_piece
from kernelknife.app.selection.rates import ColumnRate, ErrorRate

RATES = ErrorRate("stability", {"<a>": ColumnRate(0.93, 0.012, True)}, 100, 0.98, "")


def test_nothing_is_written_where_nothing_was_asked():
    assert rate_piece(None) == rate_heads(None) == rate_cells(None, "a") == ""


def test_the_rate_is_explained_and_has_two_columns_in_the_table():
    assert "Every random half-sample of the rows" in rate_piece(RATES)
    assert "selected in half-samples (of 100)" in rate_heads(RATES)
    assert "q-value" in rate_heads(RATES)
    assert rate_cells(RATES, "<a>") == "<td>93 %</td><td>0.012</td>"


def test_knockoffs_have_draws():
    rates = ErrorRate("knockoffs", {}, 20, 0.1, "Nothing is selected.")
    assert "draws of knockoffs (of 20)" in rate_heads(rates)
    assert "compared with its knockoffs" in rate_piece(rates)
