"""Figures in which vectors move: the weighted sum of chapter 2, the three scores of chapter 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from live_figures.markup import LiveFigure, plain, table, written
from live_figures.words import word


def weighted_sum(
    a: np.ndarray,
    hs: np.ndarray,
    *,
    rows: Sequence[str],
    wanted: int,
    axes: tuple[int, int],
    caption: str,
) -> LiveFigure:
    """Weights a (T,) over the rows of hs (T, H), and the context that they make.

    The picture shows two of the H numbers, `axes`: one across, one up. `wanted` is the row from which the loss of
    chapter 2 is measured, half the squared distance.
    """
    numbers = np.column_stack([a, hs])  # (T, 1 + H)
    total = [a.sum(), *(a @ hs)]  # 1 + H
    columns = [word("weighted_sum.weight"), *(str(k + 1) for k in range(hs.shape[1]))]
    return LiveFigure(
        "weighted_sum",
        table(
            np.vstack([numbers, total]),
            rows=[*rows, word("weighted_sum.sum")],
            columns=columns,
            corner=word("weighted_sum.corner"),
        ),
        caption,
        {
            "weights": plain(a),
            "rows": plain(hs),
            "names": [row.partition("\n")[0] for row in rows],
            "wanted": wanted,
            "axes": list(axes),
        },
    )


def scores(
    question: np.ndarray,
    keys: Mapping[str, np.ndarray],
    *,
    W_h: np.ndarray,
    W_s: np.ndarray,
    v: np.ndarray,
    caption: str,
) -> LiveFigure:
    """Two keys and a question, each (2,), and three scores of each key; W_h and W_s (2, A), v (A,) are the additive one's."""
    for name, vector in {"question": question, **keys}.items():
        if np.shape(vector) != (2,):
            raise ValueError(f"{name} is to be drawn, and needs 2 numbers: its shape is {np.shape(vector)}")
    lines = []
    for key in keys.values():
        cosine = key @ question / (np.linalg.norm(key) * np.linalg.norm(question))
        additive = np.tanh(key @ W_h + question @ W_s) @ v
        shown = f"({written(key[0])}, {written(key[1])})"
        lines.append([shown, *(written(score) for score in (key @ question, cosine, additive))])
    columns = [word(f"scores.{column}") for column in ("vector", "dot", "cosine", "additive")]
    return LiveFigure(
        "scores",
        table(lines, rows=list(keys), columns=columns, corner=word("scores.corner")),
        caption,
        {
            "question": plain(question),
            "keys": [{"name": name, "vector": plain(key)} for name, key in keys.items()],
            "additive": {"W_h": plain(W_h), "W_s": plain(W_s), "v": plain(v)},
        },
    )
