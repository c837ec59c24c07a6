"""What every page loads, as one style sheet and one script, in place of a dozen of each.

The theme's style sheets are cut down to the rules that some page can use. A page's own scripts and styles, added by
another part of the book, stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import tinycss2
from docutils import nodes
from sphinx.application import Sphinx
from tinycss2 import ast

STYLES, SCRIPT = "book.css", "book.js"  # written below _static

# In the order in which a page would load them.
SHEETS = (
    "basic.css",
    "styles/bootstrap.css",
    "styles/pydata-sphinx-theme.css",
    "icons.css",
    "pygments.css",
    "styles/sphinx-book-theme.css",
    "togglebutton.css",
    "copybutton.css",
    "mystnb.*.css",
    "course.css",
    "reading.css",
    "print.css",
)
SCRIPTS = (
    "documentation_options.js",
    "doctools.js",
    "sphinx_highlight.js",
    "clipboard.min.js",
    "copybutton.js",
    "scripts/sphinx-book-theme.js",
    "togglebutton.js",
    "scripts/pydata-sphinx-theme.js",
    "course.js",
    "progress.js",
)
# Given to every page by extensions, and of no use to any: tabs, and a switch between versions of the book.
UNUSED = (
    "design-tabs.js",
    "sphinx-design.min.css",
    "katex-math.css",
    "toggleHint",
    "toggleOpen",
    "togglebuttonSel",
    "pagename",
)

LIBRARIES = {"vendor", "bootstrap.js", "pyodide"}  # scripts that put nothing into a page here

WORD = re.compile(r"-?[A-Za-z_][\w-]*")
NAME = re.compile(r"[.#](-?[A-Za-z_][\w-]*)")
IN_BRACKETS = re.compile(r"\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\]")
GROUPS = {"media", "supports", "layer", "container"}  # at-rules that hold rules


def setup(app: Sphinx) -> None:
    app.add_config_value("course_bundles", True, "html", bool)  # False leaves the theme as it comes, to compare with
    app.connect("html-page-context", load_the_bundles, priority=920)  # after everybody who adds something
    app.connect("build-finished", write_the_bundles, priority=900)  # after icons.py


def load_the_bundles(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Take from a page's lists what is in the bundles; `webpack-macros.html` loads these."""
    if not app.config.course_bundles:
        return
    context["course_bundles"] = {"styles": STYLES, "script": SCRIPT}
    for files in ("css_files", "script_files"):
        context[files] = [file for file in context[files] if not _named(file, (*SHEETS, *SCRIPTS, *UNUSED))]


def _named(file: Any, patterns: Iterable[str]) -> bool:
    """Whether a script or style sheet is one of those: by its address or, without one, by its text."""
    known = str(getattr(file, "filename", file) or getattr(file, "attributes", {}).get("body", ""))
    return any(fnmatch(known, f"*{pattern}*") for pattern in patterns)


def write_the_bundles(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html" or not app.config.course_bundles:
        return
    out = Path(app.outdir)
    static = out / "_static"
    scripts = "\n".join(_setting(app) + [f";{(static / name).read_text(encoding='utf-8')}" for name in SCRIPTS])
    (static / SCRIPT).write_text(re.sub(r"(?m)^//# sourceMappingURL=.*$", "", scripts), encoding="utf-8")
    words: set[str] = set()
    for file in [*out.rglob("*.html"), *static.rglob("*.js")]:
        if not LIBRARIES.intersection(file.parts):
            words.update(WORD.findall(file.read_text(encoding="utf-8")))
    sheets = [path for name in SHEETS for path in sorted(static.glob(name))]
    styles = "\n".join(trimmed(path.read_text(encoding="utf-8"), words) for path in sheets)
    (static / STYLES).write_text(styles, encoding="utf-8")


def _setting(app: Sphinx) -> list[str]:
    """What sphinx-togglebutton's script wants to find: it would write these lines into each page."""
    config = app.config
    open_on_print = str(config.togglebutton_open_on_print).lower()
    return [
        f"let toggleHintShow = {config.togglebutton_hint!r}, toggleHintHide = {config.togglebutton_hint_hide!r};",
        f"let toggleOpenOnPrint = {open_on_print!r}, togglebuttonSelector = {config.togglebutton_selector!r};",
    ]


def trimmed(sheet: str, words: set[str]) -> str:
    """A style sheet without the rules for classes and ids that are not among `words`.

    Whatever a page or a script says counts as used. Conditions in brackets are not looked at: a rule for
    `:not(.tab)` also holds where no tab is.
    """
    return "".join(_rules(tinycss2.parse_stylesheet(sheet), words))


def _rules(rules: Iterable[ast.Node], words: set[str]) -> Iterable[str]:
    for rule in rules:
        if isinstance(rule, ast.QualifiedRule):
            selectors = [s for s in _selectors(rule.prelude) if words.issuperset(NAME.findall(IN_BRACKETS.sub("", s)))]
            if selectors:
                yield f"{','.join(selectors)}{{{tinycss2.serialize(rule.content).strip()}}}\n"
        elif isinstance(rule, ast.AtRule):
            yield from _at_rule(rule, words)
        elif isinstance(rule, ast.Comment) and rule.value.startswith("!"):  # a licence
            yield rule.serialize() + "\n"


def _at_rule(rule: ast.AtRule, words: set[str]) -> Iterable[str]:
    if rule.lower_at_keyword in ("charset", "import"):
        return  # all is UTF-8, and the one sheet that is imported stands first
    if rule.content is None or rule.lower_at_keyword not in GROUPS:
        yield rule.serialize() + "\n"
        return
    inside = "".join(_rules(tinycss2.parse_rule_list(rule.content), words))
    if inside:
        yield f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{\n{inside}}}\n"


def _selectors(prelude: list[ast.Node]) -> Iterable[str]:
    """The selectors of a rule, which stand between commas."""
    part: list[ast.Node] = []
    for token in prelude:
        if isinstance(token, ast.LiteralToken) and token.value == ",":
            yield tinycss2.serialize(part).strip()
            part = []
        elif not isinstance(token, ast.Comment):
            part.append(token)
    yield tinycss2.serialize(part).strip()
