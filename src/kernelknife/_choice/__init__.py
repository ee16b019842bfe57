"""What cross-validation compares, how it drops what cannot win, and which setting it takes."""

from kernelknife._choice.curves import Curve, as_errors, cv_curves, rows_of_path
from kernelknife._choice.folds import FOLD_TOL, Data, FoldScores, score_lines
from kernelknife._choice.pick import Pick, judged_by_others, pick_setting, tabulate
from kernelknife._choice.race import Race, expected_paths
from kernelknife._choice.scoring import make_scorer, score_name
from kernelknife._choice.settings import (
    EQUAL,
    PENALISED,
    RELAXED,
    Line,
    alphas_to_try,
    kernels_to_compare,
    penalties_of_line,
)
from kernelknife._choice.splits import (
    check_folds,
    check_splits,
    default_folds,
    draw_rows,
    make_splitter,
)

__all__ = [
    "EQUAL",
    "FOLD_TOL",
    "PENALISED",
    "RELAXED",
    "Curve",
    "Data",
    "FoldScores",
    "Line",
    "Pick",
    "Race",
    "alphas_to_try",
    "as_errors",
    "check_folds",
    "check_splits",
    "cv_curves",
    "default_folds",
    "draw_rows",
    "expected_paths",
    "judged_by_others",
    "kernels_to_compare",
    "make_scorer",
    "make_splitter",
    "penalties_of_line",
    "pick_setting",
    "rows_of_path",
    "score_lines",
    "score_name",
    "tabulate",
]
