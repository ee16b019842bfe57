"""What cross-validation compares, how it drops what cannot win, what it takes and fits."""

from kernelknife._tuning.centers import CenterCounts, needs_exact
from kernelknife._tuning.curves import Curve, as_errors, cv_curves, rows_of_path
from kernelknife._tuning.final import (
    chosen_sparsity,
    fit_chosen,
    fit_count,
    follow_line,
    is_final,
    settle,
)
from kernelknife._tuning.folds import FOLD_TOL, Data, FoldScores, refit_as_judged, score_lines
from kernelknife._tuning.judgments import Judgments
from kernelknife._tuning.lines import LineMaker
from kernelknife._tuning.pick import Pick, judged_by_others, pick_setting, tabulate
from kernelknife._tuning.plan import SearchPlan, plan_search, rows_to_search
from kernelknife._tuning.race import Race, expected_paths, is_last_alpha
from kernelknife._tuning.running import Runner
from kernelknife._tuning.scoring import make_scorer, score_name
from kernelknife._tuning.settings import (
    EQUAL,
    PENALIZED,
    RELAXED,
    Line,
    alphas_to_try,
    kernels_to_compare,
    penalties_of_line,
    penalty_for_share,
    weightings_to_compare,
)
from kernelknife._tuning.splits import (
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
    "PENALIZED",
    "RELAXED",
    "CenterCounts",
    "Curve",
    "Data",
    "FoldScores",
    "Judgments",
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
