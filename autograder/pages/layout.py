"""What all pages share: the shell, the style, and how text that strangers wrote gets in.

Jinja2 rather than strings of our own: it escapes whatever is put into a page unless told otherwise,
and it is here already with nbgrader and Jupyter Book.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from autograder.plaintext import points
from autograder.words import say, say_count

# `softmax` or a shape, (3, 5), but not the arguments of a call: both are read as code.
_CODE = re.compile(r"`([^`\n]+)`|(?<![\w)\]])(\((?:\d+, ?)+\d+\)|\(\d+,\))")
_CHAPTER = re.compile(r"(\d+)[_-](.+)")


def render(template: str, **values: Any) -> str:
    """A whole page from a template of this package."""
    return _environment().get_template(template).render(**values)


def prose(text: str) -> Markup:
    """A sentence as HTML: escaped, `code` and shapes like (3, 5) set as code."""

    def code(match: re.Match[str]) -> str:
        return f"<code>{match[1] or match[2]}</code>"

    return Markup(_CODE.sub(code, str(escape(text))))


def chapter_title(name: str) -> str:
    """'03_scores' as a reader says it: 'Chapter 3: Scores'."""
    match = _CHAPTER.fullmatch(name)
    if not match:
        return name
    title = match[2].replace("_", " ")
    return say("pages.chapter", number=int(match[1]), title=title[:1].upper() + title[1:])


def _percent(share: float) -> str:
    """Whole per cent; neither 0 % nor 100 % for what is only nearly so."""
    rounded = round(100 * share)
    return f"{min(max(rounded, 1), 99) if 0 < share < 1 else rounded} %"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("autograder.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    style, _, _ = environment.loader.get_source(environment, "style.css")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    # This style alone: one that a learner brought along has another hash, and no script runs at all.
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    environment.globals.update(say=say, say_count=say_count, style=Markup(style), policy=policy)
    environment.filters.update(prose=prose, points=points, chapter_title=chapter_title, percent=_percent)
    return environment
