"""Where a line may not break: between a number and what it counts, a formula and its comma."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

COUNTED = re.compile(r"(?<=\d) (?=%|points?\))")  # "35 %", "(2 points)"
OPENING = re.compile(r"[(\[“‘]+$")
CLOSING = re.compile(r"[,.;:!?)\]”’]+")


def setup(app: Sphinx) -> None:
    app.add_transform(NumbersStay)
    app.add_post_transform(PunctuationStays)


class NumbersStay(SphinxTransform):
    """Put a space that does not break between a number and what it counts, in headings and their contents too."""

    default_priority = 400  # before the contents of the page are collected

    def apply(self, **kwargs: Any) -> None:
        for text in list(self.document.findall(nodes.Text)):
            if COUNTED.search(text) and not isinstance(text.parent, nodes.FixedTextElement | nodes.literal | nodes.raw):
                text.parent.replace(text, nodes.Text(COUNTED.sub("\u00a0", text)))


class PunctuationStays(SphinxPostTransform):
    """Keep a formula on one line with the comma after it and the bracket before it: browsers may break there."""

    default_priority = 500
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for formula in list(self.document.findall(nodes.math)):
            parent, at = formula.parent, formula.parent.index(formula)
            before = parent[at - 1] if at else None
            after = parent[at + 1] if at + 1 < len(parent) else None
            opening = OPENING.search(before) if type(before) is nodes.Text else None
            closing = CLOSING.match(after) if type(after) is nodes.Text else None
            if not (opening or closing):
                continue
            together = nodes.inline("", "", classes=["stays-together"])
            parent[at] = together
            together += [nodes.Text(opening[0])] if opening else []
            together += formula
            if closing:
                together += nodes.Text(closing[0])
                parent[at + 1] = nodes.Text(after[closing.end() :])
            if opening:
                parent[at - 1] = nodes.Text(before[: opening.start()])
