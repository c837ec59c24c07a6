"""Exercises that are done in their page: which pages have them, and what those pages load, before and after a click.

The scripts lie in `book/assets/in_page`. What they load with the first click comes to lie beside them: Python for the
browser (`book/in_page/fetch.py`), and the checks of `autograder check`.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path, PurePosixPath
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from autograder.course import RELEASE_FOLDER
from autograder.hints import HINTS_FILE
from autograder.intake import imports_torch
from autograder.notebooks import Cell, read_cells
from autograder.shipped import pack
from autograder.words import WORDS
from course_site.words import words_of

HERE = Path(__file__).resolve().parents[2] / "in_page"
FETCHED = HERE.parents[1] / "_build" / "in_page" / "site"
PINNED = json.loads((HERE / "python.json").read_text(encoding="utf-8"))
SCRIPTS = "in_page"  # below the folder of static files
PROGRAM = "program.zip"
MEGABYTES = round(sum(file["bytes"] for file in PINNED["files"].values()) / 1e6)

# Sentences that the program says as well.
SHARED = {"some": "check.some", "all": "check.all", "died": "link.died"}


def setup(app: Sphinx) -> None:
    app.add_post_transform(InPage)
    app.connect("html-page-context", load_the_scripts)
    app.connect("build-finished", write_what_is_loaded_later)


def exercises_in_page(app: Sphinx, docname: str) -> tuple[Cell, ...]:
    """The answer cells of an exercise page that can be done in it: all of them, or, where PyTorch is needed, none."""
    path = Path(app.env.doc2path(docname))
    if not docname.startswith(f"{RELEASE_FOLDER}/") or path.suffix != ".ipynb":
        return ()
    cells = read_cells(path)
    if any(imports_torch(cell.source) for cell in cells):
        return ()
    return tuple(cell for cell in cells if cell.is_answer)


class InPage(SphinxPostTransform):
    """Give the page, under its title, the place of its controls, and the data that they are made from."""

    default_priority = 310  # after exercises.ExercisePage
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        exercises = exercises_in_page(self.app, self.env.docname)
        title = next(self.document.findall(nodes.title), None)
        if not exercises or title is None:
            return
        text = json.dumps(self._data(exercises), ensure_ascii=False).replace("</", "<\\/")
        place = '<div id="in-page" class="in-page-bar" hidden></div>'
        data = f'<script type="application/json" id="in-page-data">{text}</script>'
        title.parent.insert(2, nodes.raw("", place + data, format="html"))

    def _data(self, exercises: tuple[Cell, ...]) -> dict[str, Any]:
        docname = self.env.docname
        return {
            "page": docname,
            "notebook": f"{PurePosixPath(docname).name}.ipynb",
            "hints": HINTS_FILE,
            "megabytes": MEGABYTES,
            "exercises": [{"name": cell.grade_id, "stub": cell.source} for cell in exercises],
            "words": words(),
        }


def words() -> dict[str, str]:
    """The sentences of the scripts."""
    return words_of("in_page") | {key: WORDS[shared] for key, shared in SHARED.items()}


def load_the_scripts(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Load the scripts on the pages that have something for them to do."""
    if doctree is not None and exercises_in_page(app, pagename):
        app.add_css_file(f"{SCRIPTS}/in_page.css")
        app.add_js_file(f"{SCRIPTS}/start.js", defer="defer")


def write_what_is_loaded_later(app: Sphinx, exception: Exception | None) -> None:
    """Put Python, the editor, the checks and the hints where the scripts look for them."""
    if exception is not None or app.builder.format != "html":
        return
    site = Path(app.outdir, "_static", SCRIPTS)
    shutil.rmtree(site / "pyodide", ignore_errors=True)  # of another version, perhaps
    if FETCHED.is_dir():
        shutil.copytree(FETCHED, site, dirs_exist_ok=True)
    if not (site / "editor.js").exists():
        shutil.copyfile(site / "plain_editor.js", site / "editor.js")
    program = pack("in_page")
    (site / PROGRAM).write_bytes(program)
    (site / "python.json").write_text(json.dumps(python_here(site, program)), encoding="utf-8")
    for docname in app.env.found_docs:
        if exercises_in_page(app, docname):
            hints = Path(app.env.doc2path(docname)).with_name(HINTS_FILE)
            shutil.copyfile(hints, Path(app.outdir, docname).with_name(HINTS_FILE))


def python_here(site: Path, program: bytes) -> dict[str, Any]:
    """What the worker is told: the files of Python, which of them lie on this site, and the checks' address."""
    files = {name: {**file, "here": (site / "pyodide" / name).is_file()} for name, file in PINNED["files"].items()}
    version = hashlib.sha256(program).hexdigest()[:12]  # so that a browser takes no older one that it kept
    return {**PINNED, "files": files, "program": f"{PROGRAM}?v={version}"}
