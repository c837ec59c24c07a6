r"""The course's one look for pictures: drawn once, readable on light and dark pages, with words for the ear.

    from figures import BLUE, heatmap, show, use_style

    use_style()
    fig, ax = plt.subplots()
    heatmap(ax, a, rows=TARGET, columns=words(SOURCE))
    show(fig, alt="A table of weights: …", caption="Each row sums to 1.")

A picture is inline SVG whose colours are the page's own: `INK` is the colour of the text around it, and
each named colour has a light and a dark value in `book/assets/course.css`. So one drawing serves both
modes, needs no script, and its words are text in the reader's own fonts: Hangul needs no font here. Write
formulas in labels with Unicode ("√dₖ", "hₜ"): a browser lacks the fonts that `$\sqrt{d_k}$` asks for.
"""

from __future__ import annotations

import hashlib
import html
import io
import re
import warnings
from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

WIDEST = 6.4  # inches: a wider picture would be unreadable on a phone
PHONE = 4.8  # inches: up to here 12 pt stay readable when 320 px are all there is; wider ones scroll in their box

INK = "#222832"  # lines and words: becomes the colour of the page's text
PAPER = "#ffffff"  # becomes the colour of the page

# The colours of Okabe and Ito, which people with any colour vision can tell apart, darkened until each
# has a contrast of 4.5:1 on white. The site's CSS holds the values for dark pages.
BLUE = "#0072b2"
ORANGE = "#c05000"
GREEN = "#007d5b"
PURPLE = "#a8507f"

# Fills of a heat map. Ink on them has a contrast of at least 4.5:1 at every strength, so numbers stay readable.
COOL = "#4a9fdc"  # above zero
WARM = "#ee8f3c"  # below zero

_IN_THE_PAGE = {
    INK: "currentColor",
    "#000000": "currentColor",
    PAPER: "var(--pst-color-background, var(--jp-layout-color0, #ffffff))",
    **{
        colour: f"var(--figure-{name}, {colour})"
        for name, colour in {
            "blue": BLUE,
            "orange": ORANGE,
            "green": GREEN,
            "purple": PURPLE,
            "cool": COOL,
            "warm": WARM,
        }.items()
    },
}

_ROMANISED = {"나": "na", "너": "neo", "는": "neun", "학생": "haksaeng", "이다": "ida"}


def use_style() -> None:
    """Set matplotlib's defaults for the whole page. Call it once, before the first figure."""
    plt.rcdefaults()
    plt.rcParams.update(
        {
            "figure.figsize": (PHONE, 3.0),
            "figure.facecolor": "none",
            "figure.constrained_layout.use": True,
            "savefig.facecolor": "none",
            "axes.facecolor": "none",
            "axes.edgecolor": INK,
            "axes.labelcolor": INK,
            "axes.titlecolor": INK,
            "axes.titlesize": 12,
            "axes.spines.top": False,
            "axes.spines.right": False,
            # Line styles differ too: nothing is said by colour alone.
            "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, PURPLE], linestyle=["-", "--", "-.", ":"]),
            "font.family": "DejaVu Sans",  # comes with matplotlib: the same layout on every machine
            "font.size": 12,
            "grid.color": INK,
            "grid.alpha": 0.2,
            "hatch.color": INK,
            "legend.frameon": False,
            "legend.fontsize": 11,
            "lines.linewidth": 2,
            "patch.edgecolor": INK,
            "patch.facecolor": BLUE,
            "text.color": INK,
            "xtick.color": INK,
            "ytick.color": INK,
            "xtick.labelsize": 11,
            "ytick.labelsize": 11,
            "svg.fonttype": "none",  # words stay words
        }
    )


def words(tokens: Sequence[str]) -> list[str]:
    """Labels for the running example's words: Hangul with how it is said under it, others as they are."""
    return [f"{token}\n{_ROMANISED[token]}" if token in _ROMANISED else token for token in tokens]


def heatmap(
    ax: Axes,
    weights: np.ndarray,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    annotate: bool = True,
    top: float | None = None,
) -> None:
    """Draw a table of weights or scores (rows, columns) on `ax`, row 0 at the top, columns named above.

    The stronger the colour, the further from zero: blue above, orange below; −∞ and NaN stay empty.
    `top` is the size that gets the full colour (default: the largest in the table); give it when
    several tables are to be compared. Labels that do not fit the table raise `ValueError`.
    """
    weights = np.asarray(weights, dtype=float)
    if weights.ndim != 2:
        raise ValueError(f"a heat map shows a table, with 2 axes: these weights have the shape {weights.shape}")
    for name, labels, size in (("rows", rows, weights.shape[0]), ("columns", columns, weights.shape[1])):
        if len(labels) != size:
            raise ValueError(
                f"{len(labels)} labels for {size} {name} (weights of shape {weights.shape}): are rows and columns swapped?"
            )
    finite = np.isfinite(weights)
    largest = np.abs(weights[finite]).max(initial=0.0) if top is None else top
    strength = np.where(finite, np.minimum(np.abs(weights) / (largest or 1.0), 1.0), 0.0)
    fills = np.empty((*weights.shape, 4))
    fills[..., :3] = np.where(np.less(weights, 0)[..., None], to_rgb(WARM), to_rgb(COOL))
    fills[..., 3] = strength
    ax.pcolormesh(fills, edgecolors=INK, linewidth=0.5)
    ax.set_xticks(np.arange(weights.shape[1]) + 0.5, list(columns))
    ax.set_yticks(np.arange(weights.shape[0]) + 0.5, list(rows))
    ax.xaxis.tick_top()
    ax.invert_yaxis()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if annotate:
        for (i, j), weight in np.ndenumerate(weights):
            ax.text(j + 0.5, i + 0.5, _number(weight), ha="center", va="center", fontsize=11)


def show(fig: Figure, *, alt: str, caption: str) -> None:
    """Put `fig` in the page: `alt` says what a reader who cannot see it needs, `caption` what everybody reads."""
    display(Picture(fig, alt=alt, caption=caption))


class Picture:
    """A finished figure as HTML: `<figure>`, an `<svg>` with a text alternative, `<figcaption>`."""

    def __init__(self, fig: Figure, *, alt: str, caption: str) -> None:
        if not alt.strip() or not caption.strip():
            raise ValueError("a picture needs alt text and a caption: not everybody sees it")
        if fig.get_figwidth() > WIDEST:
            raise ValueError(
                f"a picture is at most {WIDEST} inches wide, for phones: this one has {fig.get_figwidth()}"
            )
        self.alt, self.caption = alt, caption
        self.svg = _svg(fig, alt)
        self.wide = fig.get_figwidth() > PHONE
        plt.close(fig)  # or a notebook shows it a second time

    def __repr__(self) -> str:
        return f"{self.alt} ({self.caption})"

    def _repr_html_(self) -> str:
        box = '<div class="drawn-scroll">' if self.wide else "<div>"
        return (
            f'<figure class="drawn">{box}{self.svg}</div>'
            f"<figcaption>{html.escape(self.caption, quote=False)}</figcaption></figure>"
        )


def _number(weight: float) -> str:
    """Two decimals, with a true minus sign; −∞ as a sign."""
    if np.isneginf(weight):
        return "−∞"
    return f"{weight:.2f}".replace("-0.00", "0.00").replace("-", "−")


def _svg(fig: Figure, alt: str) -> str:
    """The figure as inline SVG in the page's colours and fonts; the same figure gives the same text."""
    buffer = io.StringIO()
    # Ids are shared by a whole page: the salt keeps those of two pictures apart.
    salt = hashlib.sha256(alt.encode()).hexdigest()
    with plt.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # the reader's browser has it
        fig.savefig(buffer, format="svg", transparent=True, bbox_inches="tight", pad_inches=0.05)
    drawing = buffer.getvalue()
    drawing = drawing[drawing.index("<svg") :]
    # A style element inside a page would reach the whole page: what it says stands on the svg element instead.
    drawing = re.sub(r"\s*<(metadata|style)\b.*?</\1>", "", drawing, flags=re.S)
    drawing = re.sub(r'"DejaVu Sans"|\'DejaVu Sans\'', "inherit", drawing)
    for colour, in_the_page in _IN_THE_PAGE.items():
        drawing = drawing.replace(colour, in_the_page)
    used = set(re.findall(r"#([\w-]+)", drawing))
    drawing = re.sub(r' id="([^"]+)"', lambda match: match[0] if match[1] in used else "", drawing)
    view_box = re.search(r'viewBox="([^"]+)"', drawing)
    width = float(re.search(r'width="([\d.]+)pt"', drawing)[1])
    opening = (
        f'<svg role="img" aria-label="{html.escape(alt, quote=True)}" viewBox="{view_box[1]}" fill="currentColor" stroke-linejoin="round"'
        f' style="width:{width:g}pt;max-width:100%;height:auto;overflow:visible">'
    )
    return re.sub(r"<svg[^>]*>", lambda _: opening, drawing, count=1)
