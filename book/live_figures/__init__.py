"""Figures to play with: a real table, computed on the page, which a small script of the book's site brings to life.

    import live_figures

    live_figures.masks(scores, rows=TARGET, columns=inputs, masks={"causal": causal}, caption="…")

Such a call, as a cell's last line, puts the figure into the page. What it emits is plain HTML: the table, the
values that the script starts from, and the script's sentences (`words.py`). Without the script, in a notebook
and on paper, the table and the caption say what there is to say. `book/assets/live/` holds a script for each
kind; the extension loads it on the pages that have a figure of that kind, and nowhere else.

A model's alignment, target tokens (L) × source tokens (S), each row summing to 1, is one line:

    live_figures.alignment(weights, target=["삼", "십"], source=["thirty"], caption="…")
"""

from live_figures.attention import alignment, cut_and_join, heads, masks, three_attentions
from live_figures.measured import bottleneck, temperature
from live_figures.vectors import scores, weighted_sum

__all__ = [
    "alignment",
    "bottleneck",
    "cut_and_join",
    "heads",
    "masks",
    "scores",
    "temperature",
    "three_attentions",
    "weighted_sum",
]
