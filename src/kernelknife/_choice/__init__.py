"""What cross-validation compares, how it drops what cannot win, what it takes and fits."""

from kernelknife._choice.centers import CenterCounts, needs_exact
from kernelknife._choice.curves import Curve, as_errors, cv_curves, rows_of_path
from kernelknife._choice.final import (
    chosen_sparsity,
    fit_chosen,
    fit_count,
    follow_line,
    is_final,
    settle,
)
from kernelknife._choice.folds import FOLD_TOL, Data, FoldScores, refit_as_judged, score_lines
from kernelknife._choice.judgements import Judgements
from kernelknife._choice.lines import LineMaker
from kernelknife._choice.pick import Pick, judged_by_others, pick_setting, tabulate
from kernelknife._choice.plan import SearchPlan, plan_search, rows_to_search
from kernelknife._choice.race import Race, expected_paths, is_last_alpha
from kernelknife._choice.running import Runner
from kernelknife._choice.scoring import make_scorer, score_name
from kernelknife._choice.settings import (
    EQUAL,
    PENALISED,
    RELAXED,
    Line,
    alphas_to_try,
    kernels_to_compare,
    penalties_of_line,
    penalty_for_share,
    weightings_to_compare,
)
from kernelknife._choice.splits import (
    DEFAULT_FOLDS,
    check_folds,
    check_splits,
    draw_rows,
    make_splitter,
    planned_folds,
    rows_of_splits,
)

__all__ = [
    "DEFAULT_FOLDS",
    "EQUAL",
    "FOLD_TOL",
    "PENALISED",
    "RELAXED",
    "CenterCounts",
    "Curve",
    "Data",
    "FoldScores",
    "Judgements",
    "Line",
    "LineMaker",
    "Pick",
    "Race",
    "Runner",
    "SearchPlan",
    "alphas_to_try",
    "as_errors",
    "check_folds",
    "check_splits",
    "chosen_sparsity",
    "cv_curves",
    "draw_rows",
    "expected_paths",
    "fit_chosen",
    "fit_count",
    "follow_line",
    "is_final",
    "is_last_alpha",
    "judged_by_others",
    "kernels_to_compare",
    "make_scorer",
    "make_splitter",
    "needs_exact",
    "penalties_of_line",
    "penalty_for_share",
    "pick_setting",
    "plan_search",
    "planned_folds",
    "refit_as_judged",
    "rows_of_path",
    "rows_of_splits",
    "rows_to_search",
    "score_lines",
    "score_name",
    "settle",
    "tabulate",
    "weightings_to_compare",
]
