"""What the theme leaves out for readers who listen, or who use the keyboard."""

from __future__ import annotations

import html
import re
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

INITIALS = dict(zip(map(chr, range(0x1100, 0x1113)), "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ", strict=True))
HANGUL = re.compile(r"([ㄱ-ㆎ가-힣]+(?:[ .,]+[ㄱ-ㆎ가-힣]+)*)")


def setup(app: Sphinx) -> None:
    app.add_post_transform(Korean)
    app.add_post_transform(Sources)
    app.add_post_transform(TableHeads)
    app.connect("html-page-context", name_the_arrows, priority=900)  # after the theme
    app.connect("html-page-context", use_letters_in_the_index)


class Korean(SphinxPostTransform):
    """Mark Korean words as Korean, so that a screen reader says them with a Korean voice."""

    default_priority = 400
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for text in list(self.document.findall(nodes.Text)):
            parts = HANGUL.split(text)
            if len(parts) > 1 and not isinstance(text.parent, nodes.FixedTextElement | nodes.raw):
                # docutils writes a class `language-ko` as the attribute lang="ko"
                marked = [
                    nodes.inline("", part, classes=["language-ko"]) if odd % 2 else nodes.Text(part)
                    for odd, part in enumerate(parts)
                    if part
                ]
                text.parent.replace(text, marked)


class Sources(SphinxPostTransform):
    """Make the bibliography a plain list: docutils gives it roles that no longer exist, and keys nobody cites by."""

    default_priority = 400
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        citations = list(self.document.findall(nodes.citation))
        if not citations:
            return
        sources = nodes.bullet_list(classes=["sources"])
        citations[0].parent.insert(citations[0].parent.index(citations[0]), sources)
        for citation in citations:
            citation.parent.remove(citation)
            words = [child for child in citation.children if not isinstance(child, nodes.label)]
            sources += nodes.list_item("", *words, ids=citation["ids"])


class TableHeads(SphinxPostTransform):
    """Give every head of a column words: an empty one none would hear, and MathML not every program reads."""

    default_priority = 400
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for head in self.document.findall(nodes.thead):
            for entry in head.findall(nodes.entry):
                formulas = list(entry.findall(nodes.math))
                if not entry.astext().strip():
                    entry += nodes.inline("", "row", classes=["visually-hidden"])
                elif entry.astext().strip() == "".join(formula.astext() for formula in formulas).strip():
                    for formula in formulas:
                        said = html.escape(re.sub(r"[\\{}$]", "", formula.astext()), quote=True)
                        before = nodes.raw("", f'<span role="math" aria-label="{said}">', format="html")
                        formula.parent.replace(formula, [before, formula, nodes.raw("", "</span>", format="html")])


def use_letters_in_the_index(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Head the index's Korean words with letters: Sphinx takes the signs that letters are composed of in a syllable."""
    if pagename == "genindex":
        context["genindexentries"] = [
            (INITIALS.get(letter, letter), entries) for letter, entries in context["genindexentries"]
        ]


def name_the_arrows(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Say in the table of contents what each arrow opens: the theme draws it, and does not name it."""
    make = context.get("generate_toctree_html")
    if make is None:
        return

    def with_names(*args: Any, **kwargs: Any) -> str:
        contents = BeautifulSoup(str(make(*args, **kwargs)), "html.parser")
        for summary in contents.find_all("summary"):
            link = summary.find_previous("a")
            if link is not None:
                summary["aria-label"] = f"Sections of “{link.get_text(strip=True)}”"
        return str(contents)

    context["generate_toctree_html"] = with_names
