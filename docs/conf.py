"""Configuration of the documentation: ``sphinx-build -W docs docs/_build/html``."""

import sys
from pathlib import Path

import kernelknife

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from commands import write_reference

write_reference()

project = "kernelknife"
author = "The kernelknife developers"
copyright = author
version = release = kernelknife.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "mathml",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "reproduction/summary.md", "generated/commands.md", "paper"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
autosummary_generate = True
numpydoc_show_class_members = False


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "plot_",
    "abort_on_example_error": True,
    "reset_modules": ("matplotlib", "strict.warnings_as_errors"),
    "remove_config_comments": True,
    "show_memory": False,
    "within_subsection_order": "FileNameSortKey",
}

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "show_prev_next": True,
    # All entries fit on one line from 1,000 pixels on, because their names are short.
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    # The field that the theme shows instead has another name for screen readers than for the eye.
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"start": [], "benchmarks": [], "reproduction": []}
html_title = "kernelknife"
html_show_sourcelink = False
