"""The HTML of a live figure: `<figure>` with tables, a caption, and what its script needs."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from live_figures.words import words_of

HANGUL = re.compile(r"([ㄱ-ㆎ가-힣]+)")


@dataclass(frozen=True)
class LiveFigure:
    """A finished figure; a notebook shows it as HTML. `values` is plain data: what the script starts from."""

    kind: str
    content: str  # tables, and a drawing where there is one
    caption: str
    values: dict[str, Any]

    def __post_init__(self) -> None:
        if not self.caption.strip():
            raise ValueError("a live figure needs a caption: what is there to find out?")

    def __repr__(self) -> str:
        return f"a figure to play with ({self.caption})"

    def _repr_html_(self) -> str:
        attributes = {"values": self.values, "words": words_of(self.kind)}
        data = "".join(
            f" data-{name}='{html.escape(json.dumps(value, ensure_ascii=False, separators=(',', ':')))}'"
            for name, value in attributes.items()
        )
        return (
            f'<figure class="drawn live" data-live="{self.kind}"{data}>{self.content}'
            f"<figcaption>{marked(self.caption)}</figcaption></figure>"
        )


def table(
    numbers: np.ndarray | Sequence[Sequence[str]],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    corner: str,
    name: str = "",
    top: float | None = 1.0,
    digits: int = 2,
) -> str:
    """A table (rows, columns) with headings, in a box that scrolls by itself where it is too wide.

    Numbers become text with `digits` decimals and a colour as strong as they are large, against `top` (None: no
    colour); strings stay as they are. `corner` is the heading of the headings, `name` the table's own.
    Headings that do not fit raise `ValueError`.
    """
    shape = np.shape(numbers)
    if shape != (len(rows), len(columns)):
        raise ValueError(f"{len(rows)} rows and {len(columns)} columns are named, and the table is {shape}")
    head = "".join(f'<th scope="col">{marked(label)}</th>' for label in (corner, *columns))
    body = "".join(
        f'<tr><th scope="row">{marked(label)}</th>{"".join(_cell(entry, top, digits) for entry in row)}</tr>'
        for label, row in zip(rows, numbers, strict=True)
    )
    caption = f"<caption>{marked(name)}</caption>" if name else ""
    return (
        f'<div class="drawn-scroll live-table"><table>{caption}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def side_by_side(tables: Iterable[str]) -> str:
    """Tables beside each other where there is room, and below each other where there is none."""
    return f'<div class="live-tables">{"".join(tables)}</div>'


def marked(text: str) -> str:
    """Text as HTML: Korean says that it is Korean, and what stands on a second line is small."""
    first, _, second = html.escape(text, quote=False).partition("\n")
    first = HANGUL.sub(r'<span lang="ko">\1</span>', first)
    return f"{first} <small>{second}</small>" if second else first


def plain(array: np.ndarray) -> list[Any]:
    """An array for the script: twelve digits are more than any screen shows."""
    return json.loads(json.dumps(np.asarray(array).tolist()), parse_float=lambda text: float(f"{float(text):.12g}"))


def written(number: float, digits: int = 2) -> str:
    """A number as the scripts write it: `digits` decimals, with a true minus sign."""
    text = f"{number:.{digits}f}"
    return text.replace("-", "" if float(text) == 0 else "−")


def _cell(entry: Any, top: float | None, digits: int) -> str:
    if isinstance(entry, str):
        return f"<td>{marked(entry)}</td>"
    if top is None:
        return f"<td>{written(entry, digits)}</td>"
    strength = min(abs(entry) / (top or 1.0), 1.0)
    below = ' class="below"' if entry < 0 else ""
    return f'<td{below} style="--weight:{strength:.3g}">{written(entry, digits)}</td>'
