"""The menus at the top of a page: where to run it, and where it comes from. Each has only what is right for its page.

They are plain HTML (`_templates/article-header-buttons.html`) that opens without a script.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, urlencode

from docutils import nodes
from sphinx.application import Sphinx

from course_site.notebooks import COLAB_BRANCH, EXERCISES, is_notebook
from course_site.words import say


@dataclass(frozen=True)
class Place:
    """A link of a menu; `download` is for a file that lies beside the page."""

    words: str
    url: str
    icon: str
    download: bool = False


@dataclass(frozen=True)
class Menu:
    words: str
    icon: str
    places: tuple[Place, ...]


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", add_the_menus, priority=900)  # after the theme


def add_the_menus(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    context["course_menus"] = list(menus(app, pagename)) if doctree is not None else []


def menus(app: Sphinx, docname: str) -> list[Menu]:
    """The menus of a page: prose cannot be run, and what `release` makes is not edited."""
    run = Menu(say("menu.run"), "fa-solid fa-rocket", tuple(places_to_run(app, docname)))
    source = Menu(say("menu.source"), "fa-brands fa-github", tuple(_sources(app, docname)))
    return [menu for menu in (run, source) if menu.places]


def places_to_run(app: Sphinx, docname: str) -> list[Place]:
    """Where a notebook's page can be run; nothing for a page of prose."""
    if not is_notebook(app, docname):
        return []
    options = app.config.html_theme_options
    hosts = options["launch_buttons"]
    colab = f"{hosts['colab_url']}/github/{_slug(options)}/blob/{COLAB_BRANCH}/{docname}.ipynb"
    binder = f"{hosts['binderhub_url']}/v2/gh/{_slug(options)}/{options['repository_branch']}"
    download = "place.download_exercises" if docname.startswith(EXERCISES) else "place.download"
    return [
        Place(say("place.colab"), colab, "fa-solid fa-cloud"),
        Place(
            say("place.binder"), f"{binder}?{urlencode({'urlpath': f'lab/tree/{docname}.ipynb'})}", "fa-solid fa-play"
        ),
        Place(say(download), f"{PurePosixPath(docname).name}.ipynb", "fa-solid fa-download", download=True),
    ]


def _sources(app: Sphinx, docname: str) -> list[Place]:
    options = app.config.html_theme_options
    repository = options["repository_url"]
    places = [Place(say("source.repository"), repository, "fa-brands fa-github")]
    if not docname.startswith(EXERCISES):
        file = Path(app.env.doc2path(docname)).relative_to(app.srcdir).as_posix()
        edit = f"{repository}/edit/{options['repository_branch']}/{quote(file)}"
        places.append(Place(say("source.edit"), edit, "fa-solid fa-pencil"))
    title = urlencode({"title": say("source.issue_title", page=docname)})
    places.append(Place(say("source.issue"), f"{repository}/issues/new?{title}", "fa-solid fa-lightbulb"))
    return places


def _slug(options: dict[str, str]) -> str:
    """`owner/name` of the repository."""
    return options["repository_url"].removeprefix("https://github.com/").strip("/")
