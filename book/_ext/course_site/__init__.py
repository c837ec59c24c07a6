"""What the book's pages need beyond Jupyter Book: formulas without scripts, exercises, and a few directives."""

from __future__ import annotations

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from course_site import (
    access,
    breaks,
    bundles,
    buttons,
    exercises,
    head,
    icons,
    in_page,
    live,
    maths,
    notebooks,
    pages,
    progress,
    sources,
)

# The theme chooses light or dark only after the page is drawn, and calls a first visit's empty choice an error.
MODE = """\
const root = document.documentElement.dataset;
root.mode ||= "auto";
root.theme ||= matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
"""


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_config_value("comments_config", {}, "")  # set by Jupyter Book for an extension that we leave out
    app.add_js_file(None, body=f"{{{MODE}}}")
    for room in (
        sources,
        maths,
        breaks,
        pages,
        head,
        exercises,
        in_page,
        live,
        notebooks,
        buttons,
        access,
        progress,
        icons,
        bundles,
    ):
        room.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
