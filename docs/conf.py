"""Configuration of the documentation: ``sphinx-build -W docs docs/_build/html``."""

import os
import sys
from pathlib import Path

import kernelknife

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "kernelknife"
author = "The kernelknife developers"
copyright = author
version = release = kernelknife.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "reproduction/summary.md"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
autosummary_generate = True
numpydoc_show_class_members = False


# The paper's data files are not shipped: without them two examples are shown and not run.
default = HERE.parents[1] / "shared" / "data"
if not os.environ.get("KERNELKNIFE_DATA") and default.is_dir():
    os.environ["KERNELKNIFE_DATA"] = str(default)
pattern = r"plot_" if os.environ.get("KERNELKNIFE_DATA") else r"plot_(?!genes|vowels)"
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": pattern,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "within_subsection_order": "FileNameSortKey",
}

html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"start": [], "benchmarks": [], "reproduction": []}
html_title = "kernelknife"
html_show_sourcelink = False
