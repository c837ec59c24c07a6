"""The head of a chapter: how long it takes to read, and its exercises. What to know before, the chapter says itself."""

from __future__ import annotations

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform

from course_site.notebooks import EXERCISES
from course_site.words import say

# Adults read 238 words of English non-fiction a minute (Brysbaert 2019, a review of 190 studies); text with formulas
# takes longer. A line of code is read, not skimmed.
WORDS_A_MINUTE = 200
LINES_A_MINUTE = 20
STEP = 5  # minutes: nobody plans more finely
CHAPTER = re.compile(r"book/\d\d_")


def setup(app: Sphinx) -> None:
    app.add_post_transform(ChapterHead)


def is_chapter(docname: str) -> bool:
    return CHAPTER.match(docname) is not None


def exercise_pages(env: BuildEnvironment, docname: str) -> list[str]:
    """The pages of exercises that stand under a chapter; a chapter's second part has those of the first."""
    first = next(
        (page for page, under in env.toctree_includes.items() if docname in under and is_chapter(page)), docname
    )
    return [page for page in env.toctree_includes.get(first, ()) if page.startswith(EXERCISES)]


def count_exercises(env: BuildEnvironment, docname: str) -> int:
    """How many answers the notebook of a page asks for."""
    notebook = json.loads(Path(env.doc2path(docname)).read_text(encoding="utf-8"))
    return sum(bool(cell["metadata"].get("nbgrader", {}).get("solution")) for cell in notebook["cells"])


def minutes_to_read(document: nodes.document) -> int:
    """How long a page takes to read, in steps of five minutes, by its words and its lines of code."""
    words, lines = 0, 0
    for text in document.findall(nodes.Text):
        if isinstance(text.parent, nodes.literal_block):
            lines += sum(bool(line.strip()) for line in text.split("\n"))
        elif not isinstance(text.parent, nodes.raw | nodes.comment):
            words += len(re.findall(r"\w+", text))
    return max(STEP, STEP * round((words / WORDS_A_MINUTE + lines / LINES_A_MINUTE) / STEP))


class ChapterHead(SphinxPostTransform):
    """Put the head under the title of each chapter."""

    default_priority = 300
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        title = next(self.document.findall(nodes.title), None)
        if title is None or not is_chapter(self.env.docname):
            return
        words = [nodes.Text(say("head.minutes", minutes=minutes_to_read(self.document)))]
        if pages := exercise_pages(self.env, self.env.docname):
            count = sum(count_exercises(self.env, page) for page in pages)
            said = say("head.exercises.one" if count == 1 else "head.exercises.many", count=count)
            address = self.app.builder.get_relative_uri(self.env.docname, pages[0])
            words += [nodes.Text(" · "), nodes.reference("", said, internal=True, refuri=address)]
        title.parent.insert(1, nodes.paragraph("", "", *words, classes=["chapter-head"]))
