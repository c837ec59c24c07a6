"""Live figures (`book/live_figures`): each page that has one loads the scripts of its kinds, and no other page does."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

KIND = re.compile(r'<figure class="[^"]*\blive\b[^"]*" data-live="(\w+)"')
SHARED = ("numbers", "figure")  # what every kind builds on, in the order in which it is needed


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", load_the_scripts)


def load_the_scripts(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    # Plain scripts and no modules: browsers refuse modules to a page that is opened as a file.
    kinds = dict.fromkeys(KIND.findall(context.get("body", "")))
    if kinds:
        app.add_css_file("live/live.css")
        for script in (*SHARED, *kinds):
            app.add_js_file(f"live/{script}.js", loading_method="defer")
