"""The error by the number of columns, and the table of classes."""

from xml.etree import ElementTree

import numpy as np

from kernelknife.app.report.judging import classes_piece, counts_piece
from kernelknife.app.selection import ClassQuality, WrongRow


def test_the_picture_marks_both_choices():
    counts = np.array([9, 5, 4, 4, 2, 1, 0])
    errors = np.array([0.3, 0.2, 0.21, 0.25, 0.22, 0.4, 0.5])
    piece = counts_piece(counts, errors, np.full(7, 0.03), 5, "mean squared error")
    assert "Least error: 0.2 with 5 columns." in piece
    assert "(below the gray line): 2 columns, error 0.22." in piece
    svg = ElementTree.fromstring(piece[piece.index("<svg") : piece.index("</svg>") + 6])
    large = [dot for dot in svg.iter() if dot.get("r") == "6.0"]
    assert {dot.get("class") for dot in large} == {"dot c1", "dot c2"}
    # Of two points with four columns the better one is drawn: six numbers of columns.
    assert len([dot for dot in svg.iter() if dot.get("class") == "dot c0"]) == 6


def test_many_columns_have_a_logarithmic_axis():
    counts = np.array([2000, 300, 20, 1, 0])
    piece = counts_piece(counts, np.linspace(0.1, 0.5, 5), np.full(5, 0.01), 20, "error")
    assert ">1000<" in piece
    assert counts_piece(counts[:1], np.ones(1), np.ones(1), 3, "error") == ""


def test_classes_are_escaped_and_rows_folded_away():
    wrong = tuple(WrongRow(f"<b>{i}", "<i>", "b", 0.5) for i in range(40))
    confusion = np.array([[8.0, 2.0], [1.0, 9.0]])
    quality = ClassQuality(("<i>", "b"), confusion, np.array([0.2, 0.1]), 0.15, 0.9, wrong)
    piece = classes_piece(quality)
    assert "<i>" not in piece
    assert "<b>3" not in piece
    assert "40 rows are predicted wrongly at least once" in piece
    assert "10 more rows are not shown" in piece
    assert "<td>20 %</td>" in piece
    many = ClassQuality(tuple(map(str, range(30))), np.eye(30), np.zeros(30), 0.0, None, ())
    assert "taken for" not in classes_piece(many)
    assert "No row is predicted wrongly" in classes_piece(many)
    assert classes_piece(None) == ""
