"""What a page is made from: the modules that chapters import, and the address of the repository."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

REPOSITORY = "{{repository}}"  # in a page, code blocks included: the address from _config.yml


def setup(app: Sphinx) -> None:
    app.add_config_value("course_modules", "", "env", str)
    app.add_config_value("course_shell", "", "env", str)
    app.connect("config-inited", know_what_pages_are_made_from)
    app.connect("source-read", fill_in_the_repository)


def know_what_pages_are_made_from(app: Sphinx, config: Config) -> None:
    """Make pages again when what they are made from has changed; Sphinx and the cache look at the pages alone.

    A change of a module that chapters import runs them again; one of this extension or of a template
    only writes them again.
    """
    book = Path(app.confdir, "book")
    modules = (file for file in book.glob("*.py") if file.name != "build.py")
    config.course_modules = digest([*modules, *book.glob("live_figures/*.py")])  # type: ignore[attr-defined]
    shell = (
        file for pattern in ("_ext/**/*.py", "_templates/**/*.html", "in_page/*.json") for file in book.glob(pattern)
    )
    config.course_shell = digest(shell)  # type: ignore[attr-defined]
    cache = Path(app.doctreedir).parent / ".jupyter_cache" / config.course_modules
    config.nb_execution_cache_path = str(cache)  # type: ignore[attr-defined]


def digest(files: Iterable[Path]) -> str:
    """A short name for the content of `files`."""
    content = hashlib.sha256()
    for file in sorted(files):
        content.update(file.name.encode() + b"\0" + file.read_bytes())
    return content.hexdigest()[:12]


def fill_in_the_repository(app: Sphinx, docname: str, source: list[str]) -> None:
    source[0] = source[0].replace(REPOSITORY, app.config.html_theme_options["repository_url"])
