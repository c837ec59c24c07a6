"""Directives for the course's pages: `statuses`, `drawing`, and the way through the course (`way`, `stage`)."""

from __future__ import annotations

import html
import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from autograder.statuses import STATUSES


def setup(app: Sphinx) -> None:
    app.add_directive("statuses", Statuses)
    app.add_directive("drawing", Drawing)
    app.add_directive("way", Way)
    app.add_directive("stage", Stage)


class Statuses(SphinxDirective):
    """The table of what can become of an exercise, from the grader's own table of statuses."""

    def run(self) -> list[nodes.Node]:
        rows = ["| Status | What it means | Points |", "| --- | --- | --- |"]
        for status in STATUSES.values():
            points = "yes" if status.earns else ("graded again" if status.ours else "no")
            rows.append(f"| `{status.name}` | {status.meaning} | {points} |")
        return self.parse_text_to_nodes("\n".join(rows))


class Drawing(SphinxDirective):
    """An SVG file, inline, so that it has the page's colours. `:alt:` is its text; without, it is an ornament."""

    required_arguments = 1  # the file, from the page's folder
    option_spec = {"alt": directives.unchanged_required}  # noqa: RUF012  # docutils' own form

    def run(self) -> list[nodes.Node]:
        _, path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(path)
        return [inline_svg(Path(path), self.options.get("alt", ""))]


class Way(SphinxDirective):
    """The stages of the course as a numbered list."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        stages = nodes.enumerated_list(classes=["way"])
        stages += [node for node in self.parse_content_to_nodes() if isinstance(node, nodes.list_item)]
        so_far = nodes.raw("", '<div class="so-far" hidden></div>', format="html")  # progress.js fills it
        return [so_far, stages]


class Stage(SphinxDirective):
    """One stage: an ornament, the chapter's own title as a link to it, and a sentence or two.

    A chapter that is not there yet has the title that `:title:` gives, and is said to come.
    """

    required_arguments = 1  # the chapter's page, from this page's folder, without an ending
    has_content = True
    option_spec = {  # noqa: RUF012  # docutils' own form
        "title": directives.unchanged_required,
        "drawing": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        docname, _ = self.env.relfn2path(self.arguments[0])
        _, drawing = self.env.relfn2path(self.options["drawing"])
        self.env.note_dependency(drawing)
        title = nodes.paragraph(classes=["stage-title"])
        if docname in self.env.found_docs:
            title += self._link(docname)
        else:
            title += nodes.inline("", self.options["title"])
            title += nodes.inline("", " (to come)", classes=["to-come"])
        words = nodes.container(classes=["stage-words"])
        words += [title, *self.parse_content_to_nodes()]
        item = nodes.list_item()
        item += [inline_svg(Path(drawing), ""), words]
        return [item]

    def _link(self, docname: str) -> nodes.Node:
        """A link whose words are the page's title, which Sphinx fills in."""
        link = addnodes.pending_xref(
            "", refdomain="std", reftype="doc", refexplicit=False, reftarget=f"/{docname}", refdoc=self.env.docname
        )
        link += nodes.inline("", docname)
        return link


def inline_svg(path: Path, alt: str) -> nodes.raw:
    """The drawing of an SVG file as part of the page."""
    drawing = re.sub(r"<!--.*?-->|\s*xmlns=\"[^\"]*\"", "", path.read_text(encoding="utf-8"), flags=re.S).strip()
    words = f'role="img" aria-label="{html.escape(alt, quote=True)}"' if alt else 'aria-hidden="true"'
    return nodes.raw("", drawing.replace("<svg", f"<svg {words}", 1), format="html")
