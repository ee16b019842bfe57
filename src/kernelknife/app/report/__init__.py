"""A report: one HTML page that needs no network, made of the plain data of a result."""

from kernelknife.app.report.figures import draw_figures
from kernelknife.app.report.page import build_fragment, build_report, path_fragment
from kernelknife.app.report.unlabeled import build_exploration, build_relation

__all__ = [
    "build_exploration",
    "build_fragment",
    "build_relation",
    "build_report",
    "draw_figures",
    "path_fragment",
]
