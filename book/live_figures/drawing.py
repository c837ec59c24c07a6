"""The drawing of a Transformer's encoder and decoder, with an arrow for each Q, K and V that a script can find.

Boxes and arrows are numbered like the attentions: 0 in the encoder, 1 in the decoder, 2 between the two.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from live_figures.words import word

WIDTH, HEIGHT = 370, 400  # CSS pixels; y runs downwards
LEFT, RIGHT = 76, 288  # the middle of the encoder's column, and of the decoder's
BOX = (140, 34)

Point = tuple[float, float]


def encoder_and_decoder(alt: str) -> str:
    """The whole drawing, inline; `alt` says it in words."""
    parts = [
        _text(LEFT, 20, word("sources.encoder"), bold=True),
        _text(RIGHT, 20, word("sources.decoder"), bold=True),
        _text(LEFT, 390, word("sources.source")),
        _text(RIGHT, 390, word("sources.target")),
        _text(LEFT, 102, word("sources.memory")),
        _text(RIGHT, 52, word("sources.next")),
        _box(LEFT, 285, word("sources.self"), 0),
        _box(RIGHT, 285, word("sources.self"), 1),
        _box(RIGHT, 200, word("sources.cross"), 2),
        _box(LEFT, 205, word("sources.feed_forward")),
        _box(RIGHT, 125, word("sources.feed_forward")),
        _line([(LEFT, 268), (LEFT, 222)]),
        _line([(LEFT, 188), (LEFT, 112)]),
        _line([(RIGHT, 183), (RIGHT, 142)]),
        _line([(RIGHT, 108), (RIGHT, 62)]),
    ]
    for number, x in enumerate((LEFT, RIGHT)):
        parts += [
            _arrow(f"{number}-{name}", [(x + dx, 372), (x + dx, 302)])
            for name, dx in zip("QKV", (-45, 0, 45), strict=True)
        ]
    parts.append(_arrow("2-Q", [(RIGHT, 268), (RIGHT, 217)]))
    parts.append(_arrow("2-K", [(LEFT + 36, 94), (187, 94), (187, 192), (RIGHT - 70, 192)], label=(202, 184)))
    parts.append(_arrow("2-V", [(LEFT + 36, 106), (175, 106), (175, 209), (RIGHT - 70, 209)], label=(202, 227)))
    return (
        f'<svg class="live-drawing" role="img" aria-label="{html.escape(alt)}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'fill="currentColor">{"".join(parts)}</svg>'
    )


def _text(x: float, y: float, words: str, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="middle"{weight}>{html.escape(words)}</text>'


def _box(x: float, y: float, words: str, number: int | None = None) -> str:
    width, height = BOX
    attention = "" if number is None else f' data-box="{number}"'
    shape = f'<rect x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width}" height="{height}" rx="4"/>'
    return f'<g class="live-box"{attention}>{shape}{_text(x, y + 5, words)}</g>'


def _line(points: Sequence[Point]) -> str:
    """A line with a head at its last point."""
    (x0, y0), (x, y) = points[-2:]
    back = (x - x0 > 0) - (x - x0 < 0), (y - y0 > 0) - (y - y0 < 0)  # the way it runs, along one axis
    base = x - 9 * back[0], y - 9 * back[1]
    head = [(x, y), (base[0] - 5 * back[1], base[1] + 5 * back[0]), (base[0] + 5 * back[1], base[1] - 5 * back[0])]
    path = " ".join(f"{a:g},{b:g}" for a, b in [*points[:-1], base])
    tip = " ".join(f"{a:g},{b:g}" for a, b in head)
    return f'<polyline points="{path}" fill="none" stroke="currentColor"/><polygon points="{tip}"/>'


def _arrow(name: str, points: Sequence[Point], label: Point | None = None) -> str:
    """An arrow that the script can find by `name`; its last letter stands beside it, or at `label`."""
    if label is None:
        label = points[0][0] + 12, (points[0][1] + points[1][1]) / 2 + 5
    reach = " ".join(f"{a:g},{b:g}" for a, b in points)  # wider than the line, for a finger
    return (
        f'<g class="live-arrow live-{name[-1]}" data-arrow="{name}">'
        f'<polyline class="live-reach" points="{reach}"/>{_line(points)}{_text(*label, name[-1], bold=True)}</g>'
    )
