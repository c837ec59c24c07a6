"""Exercise pages: what each cell is for, and where to do the work.

The notebooks are nbgrader releases (`exercises/`), shown as they are. Their cells' metadata tell which
one is the learner's, which one checks it, and for how many points.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from course_site.buttons import Place, places_to_run
from course_site.notebooks import EXERCISES
from course_site.words import say

HOW_TO = "book/how_to_exercise"


def setup(app: Sphinx) -> None:
    app.add_post_transform(ExercisePage)


def purpose(metadata: Mapping[str, Any]) -> tuple[str, str] | None:
    """What a cell with this nbgrader metadata is for: its CSS class and its label, or None."""
    if metadata.get("solution"):
        return "answer", f"Your answer: {metadata['grade_id']}"
    if metadata.get("grade"):
        points = metadata["points"]
        return "check", f"Check: {points:g} {'point' if points == 1 else 'points'}"
    if metadata.get("locked"):
        return "given", "Given"
    return None


class ExercisePage(SphinxPostTransform):
    """Label the cells of an exercise notebook and say, under its title, where to do it."""

    default_priority = 300  # after myst-nb has hidden what is to be hidden
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        if not self.env.docname.startswith(EXERCISES):
            return
        for cell in self.document.findall(nodes.container):
            if cell.get("nb_element") == "cell_code":
                self._label(cell)
        title = next(self.document.findall(nodes.title), None)
        if title is not None:
            title.parent.insert(1, self._where_to_do_it())

    def _label(self, cell: nodes.container) -> None:
        metadata = cell["cell_metadata"].get("nbgrader", {})
        found = purpose(metadata)
        if found is None:
            return
        kind, label = found
        cell["classes"].append(f"{kind}-cell")
        cell["ids"].append(f"{kind}-{metadata['grade_id']}")
        for code in cell.findall(nodes.literal_block):
            code.rawsource = code.rawsource.rstrip()  # where hidden tests stood, empty lines are left
            code[:] = [nodes.Text(code.rawsource)]
        cell.insert(0, nodes.paragraph("", label, classes=["cell-label"]))

    def _where_to_do_it(self) -> nodes.raw:
        how_to = self.app.builder.get_relative_uri(self.env.docname, HOW_TO)
        places = [*places_to_run(self.app, self.env.docname), Place(say("place.how_to"), how_to, "")]
        items = "".join(
            f'<li><a href="{html.escape(place.url)}"{" download" if place.download else ""}>{place.words}</a></li>'
            for place in places
        )
        return nodes.raw("", f'<ul class="where-to-do-it">{items}</ul>', format="html")
