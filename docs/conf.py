# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""The documentation as a site: `make docs`. Its pages are the Markdown files that the repository shows as they are."""

import re
from pathlib import Path

from sphinx.pycode import ModuleAnalyzer

ROOT = Path(__file__).parent.parent

project = "foveate"
author = "The foveate authors"
copyright = "2026, the foveate authors"
version = release = re.search(r"^  VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "breathe", "sphinx_copybutton"]
myst_enable_extensions = ["attrs_inline"]
myst_heading_anchors = 3
exclude_patterns = ["requirements.txt"]
copybutton_exclude = ".linenos, .gp, .go"  # what a console prints is not copied, nor its prompt

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_mock_imports = ["torch", "transformers"]  # foveate.torch is told about without them
napoleon_use_ivar = True
napoleon_attr_annotations = False

breathe_projects = {name: str(ROOT / "build/docs/doxygen" / name) for name in ("cpp", "c")}
breathe_default_project = "cpp"
highlight_language = "none"  # of what names no language: formulas, words of headers
suppress_warnings = ["duplicate_declaration.cpp"]  # every header opens the namespace

html_theme = "furo"
html_title = "foveate"
html_static_path = ["static"]
html_css_files = ["style.css"]
html_copy_source = False
html_show_sphinx = False


def link_to_headers(app, docname, source):
    """Links to headers are right where the repository is browsed. Here they lead to the reference. (Other files are
    downloads, which Sphinx makes of links to what is no page.)"""

    def target(link):
        name = link[2].replace("/", "-").replace("_", "-")
        return f"[{link[1]}](#{name}-h)"

    source[0] = re.sub(r"\[([^\]]+)\]\((?:\.\./)+include/foveate/([\w/]+)\.h\)", target, source[0])


def indent(line):
    return len(line) - len(line.lstrip())


def formulas_stand_as_written(app, what, name, obj, options, lines):
    """What a docstring sets off by indentation is a formula, not a quotation."""
    for i, (line, blank, set_off) in enumerate(zip(lines, lines[1:], lines[2:], strict=False)):
        if line.endswith(":") and not blank and indent(set_off) > indent(line):
            lines[i] += ":"


def one_signature_each(app):
    """A function is shown as it is defined, with its defaults; its overloads are for type checkers."""
    for source in (ROOT / "python" / "foveate").glob("_*.py"):
        analyzer = ModuleAnalyzer.for_module("foveate" if source.stem == "__init__" else f"foveate.{source.stem}")
        analyzer.analyze()
        analyzer.overloads.clear()


def setup(app):
    app.connect("builder-inited", one_signature_each)
    app.connect("autodoc-process-docstring", formulas_stand_as_written, priority=400)  # before Napoleon
    app.connect("source-read", link_to_headers)
