"""The reader's way through the course, kept in the browser: what the script assets/progress.js needs to show it.

Two kinds of keys lie in the browser's local storage, both with a page's name without an ending:

- `course:read:<page>` is "yes" for a chapter that was read (`course:read:book/03_scores`);
- `course:exercise:<page>:<exercise>` is "passed" for an exercise whose checks passed in the page, and another word
  while they do not (`course:exercise:exercises/03_scores/scores:softmax`).

A script that changes one says so with `document.dispatchEvent(new Event("course:progress"))`.
"""

from __future__ import annotations

import posixpath
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx

from course_site.head import count_exercises, is_chapter
from course_site.notebooks import EXERCISES
from course_site.words import words_of


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", fill_the_foot, priority=100)  # before the theme, which tries its templates
    app.connect("html-page-context", name_the_links, priority=910)  # after the theme and access.py


def fill_the_foot(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give `progress.html` its words, and the name of the page where that is a chapter."""
    context["course_page"] = pagename if is_chapter(pagename) else ""
    context["course_words"] = words_of("read")


def name_the_links(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Say in the contents which chapter or exercises each link is about."""
    make = context.get("generate_toctree_html")
    if make is None:
        return

    def with_pages(*args: Any, **kwargs: Any) -> str:
        contents = BeautifulSoup(str(make(*args, **kwargs)), "html.parser")
        for link in contents.find_all("a", class_="internal"):
            page = _page(pagename, link["href"])
            if is_chapter(page):
                link["data-chapter"] = page
            elif page.startswith(EXERCISES):
                link["data-exercises"] = page
                link["data-count"] = str(count_exercises(app.env, page))
        return str(contents)

    context["generate_toctree_html"] = with_pages


def _page(here: str, href: str) -> str:
    """The name of the page that a link on the page `here` leads to."""
    path = href.partition("#")[0].removesuffix(".html")
    return posixpath.normpath(posixpath.join(posixpath.dirname(here), path)) if path else here
