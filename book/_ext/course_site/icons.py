"""The icons that the pages use, as a style sheet of a few kilobytes that holds its own fonts.

The theme draws icons with Font Awesome: by default 1.5 MB of scripts, a style sheet of 100 kB and fonts of 300 kB,
of which the pages use two dozen drawings. Here the fonts are cut down to those (fonts: SIL Open Font License,
drawings: CC BY 4.0, as their names' records go on saying). Nothing else of the theme changes.
"""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path

import pydata_sphinx_theme
from fontTools import subset
from sphinx.application import Sphinx

VENDOR = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static/vendor/fontawesome"

# Class names of a family, the font that holds it, its name in style sheets, and its weight.
FAMILIES = (
    (("fa-solid", "fas"), "fa-solid-900", "Font Awesome 6 Free", 900, "solid"),
    (("fa-brands", "fab"), "fa-brands-400", "Font Awesome 6 Brands", 400, "brands"),
)
USED = re.compile(r'class="[^"]*\b(?:fa-solid|fas|fa-brands|fab)\b[^"]*"')
NAME = re.compile(r"\bfa-([a-z0-9-]+)")
# `.fa-home:before,.fa-house:before{content:"\f015"}`, and a digit stands for itself
DRAWING = re.compile(r'((?:\.fa-[a-z0-9-]+:+before,?)+)\{content:"\\?([0-9a-f]+)"\}')
IN_SHEETS = re.compile(r'"(?:\\(f[0-9a-f]{3})|([\uf000-\uf8ff]))"')

LOOK = """\
/* Made by course_site/icons.py. Icons: Font Awesome Free 6 (fontawesome.com); fonts OFL 1.1, drawings CC BY 4.0. */
:is(.fa-solid, .fas, .fa-brands, .fab) {
  display: inline-block;
  font-style: normal;
  line-height: 1;
  text-rendering: auto;
  -webkit-font-smoothing: antialiased;
}
.fa-lg {
  font-size: 1.25em;
  line-height: 0.05em;
  vertical-align: -0.075em;
}
"""


def setup(app: Sphinx) -> None:
    app.connect("build-finished", write_the_icons)


def write_the_icons(app: Sphinx, exception: Exception | None) -> None:
    """Write icons.css with the drawings that the pages and their style sheets name.

    A ValueError names an icon that the fonts do not have.
    """
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    pages = [path.read_text(encoding="utf-8") for path in out.rglob("*.html") if "_static" not in path.parts]
    sheets = [
        path.read_text(encoding="utf-8") for path in (out / "_static").rglob("*.css") if "vendor" not in path.parts
    ]
    named = {name for page in pages for icon in USED.findall(page) for name in NAME.findall(icon)}
    drawings = {name: code for name, code in known_drawings().items() if name in named}
    if unknown := named - drawings.keys() - {"solid", "brands", "lg"}:
        raise ValueError(f"no icon is called {', '.join(sorted(unknown))}")
    codes = set(drawings.values()) | {int(c, 16) if c else ord(d) for s in sheets for c, d in IN_SHEETS.findall(s)}
    parts = [LOOK, *(_family(*family, codes) for family in FAMILIES)]
    # After the slash stands what is read aloud: nothing. The first line is for browsers that do not know it.
    parts += [
        f'.fa-{name}::before {{ content: "\\{code:x}"; content: "\\{code:x}" / ""; }}\n'
        for name, code in sorted(drawings.items())
    ]
    (out / "_static" / "icons.css").write_text("".join(parts), encoding="utf-8")


def known_drawings() -> dict[str, int]:
    """Every icon of Font Awesome and its place in the fonts."""
    sheet = next(VENDOR.rglob("all.min.css")).read_text(encoding="utf-8")
    return {name: int(code, 16) for selectors, code in DRAWING.findall(sheet) for name in NAME.findall(selectors)}


def _family(classes: tuple[str, ...], file: str, name: str, weight: int, short: str, codes: set[int]) -> str:
    """The rules for one family, its font among them with only the drawings in `codes`."""
    options = subset.Options(flavor="woff", hinting=False, name_IDs=["*"], notdef_outline=False)
    font = subset.load_font(next(VENDOR.rglob(f"{file}.ttf")), options)
    smaller = subset.Subsetter(options)
    smaller.populate(unicodes=codes)
    smaller.subset(font)
    held = io.BytesIO()
    subset.save_font(font, held, options)
    data = base64.b64encode(held.getvalue()).decode()
    return (
        f'@font-face {{ font-family: "{name}"; font-weight: {weight}; font-display: block; '
        f'src: url("data:font/woff;base64,{data}") format("woff"); }}\n'
        f':root {{ --fa-font-{short}: normal {weight} 1em/1 "{name}"; }}\n'
        f':is({", ".join("." + c for c in classes)}) {{ font-family: "{name}"; font-weight: {weight}; }}\n'
    )
