"""Figures of who looks where: masks (chapter 5), heads and the three attentions (chapter 6), an alignment (chapter 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from live_figures.drawing import encoder_and_decoder
from live_figures.markup import LiveFigure, plain, side_by_side, table
from live_figures.words import word


def masks(
    scores: np.ndarray,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    masks: Mapping[str, np.ndarray],
    caption: str,
) -> LiveFigure:
    """Weights under a mask whose cells can be switched: scores (L, S), True in a mask means "may attend".

    `masks` are those to begin with, by name; the table shows the first. A mask with fewer rows than L belongs to the
    last queries. A query that sees nothing has weights of 0.
    """
    first = next(iter(masks.values()))
    for name, mask in masks.items():
        if mask.shape[1:] != scores.shape[1:] or len(mask) > len(scores):
            raise ValueError(f"the mask '{name}' is {mask.shape}, the scores are {scores.shape}")
    if first.shape != scores.shape:
        raise ValueError("the first mask is that of the table: it needs all rows")
    visible = np.where(first, scores, -np.inf)  # (L, S)
    largest = visible.max(axis=-1, keepdims=True)  # (L, 1): −∞ where nothing is visible
    e = np.exp(visible - np.where(np.isfinite(largest), largest, 0))  # (L, S)
    weights = e / np.maximum(e.sum(axis=-1, keepdims=True), np.finfo(float).tiny)  # (L, S)
    return LiveFigure(
        "masks",
        table(
            np.column_stack([weights, weights.sum(axis=-1)]),
            rows=rows,
            columns=[*columns, word("masks.sum")],
            corner=word("masks.corner"),
        ),
        caption,
        {
            "scores": plain(scores),
            "rows": _first_lines(rows),
            "columns": _first_lines(columns),
            "masks": [{"name": name, "seen": mask.astype(bool).tolist()} for name, mask in masks.items()],
        },
    )


def heads(
    weights: np.ndarray, *, names: Sequence[str], rows: Sequence[str], columns: Sequence[str], caption: str
) -> LiveFigure:
    """Where each head looks: weights (h, L, S), one table for each of the h names."""
    if len(weights) != len(names):
        raise ValueError(f"{len(names)} names for {len(weights)} heads")
    tables = [
        table(own, rows=rows, columns=columns, corner=word("attention.corner"), name=name if len(names) > 1 else "")
        for name, own in zip(names, weights, strict=True)
    ]
    return LiveFigure(
        "attention",
        side_by_side(tables),
        caption,
        {
            "weights": plain(weights),
            "names": list(names),
            "rows": _first_lines(rows),
            "columns": _first_lines(columns),
        },
    )


def alignment(weights: np.ndarray, *, target: Sequence[str], source: Sequence[str], caption: str) -> LiveFigure:
    """Where a model that translates looks: weights (L, S), a row for each target token, a column for each source token.

    Rows that do not sum to 1 raise `ValueError`: then they are no weights, or rows and columns are swapped.
    """
    weights = np.asarray(weights, dtype=float)
    sums = weights.sum(axis=-1)
    if not np.allclose(sums, 1, atol=1e-3):  # what was computed in half precision is welcome
        raise ValueError(f"each row of an alignment sums to 1, and these sum to {np.round(sums, 3)}")
    return heads(weights[None], names=[""], rows=target, columns=source, caption=caption)


def cut_and_join(T: int, D: int, h: int, *, choices: Sequence[int], caption: str) -> LiveFigure:
    """A table (T, D) whose numbers say where they stand, cut into h heads and joined again; 23 is word 2, column 3.

    `choices` are other numbers of heads to try.
    """
    if any(D % count for count in (h, *choices)) or max(T, D) > 9:
        raise ValueError("D has to be divisible by each number of heads, and T and D are single digits")
    numbers = 10 * np.arange(1, T + 1)[:, None] + np.arange(1, D + 1)  # (T, D)
    pieces = numbers.reshape(T, h, D // h).transpose(1, 0, 2)  # (h, T, D/h)

    def shown(part: np.ndarray, name: str, corner: str, rows: Sequence[str]) -> str:
        columns = [str(column + 1) for column in range(part.shape[1])]
        return table(part, rows=rows, columns=columns, corner=corner, name=name, top=None, digits=0)

    by_word = [str(t + 1) for t in range(T)]
    whole = shown(numbers, word("cut.whole", T=T, D=D), word("cut.corner"), by_word)
    cut = [shown(piece, word("cut.head", head=i), word("cut.line"), by_word) for i, piece in enumerate(pieces)]
    return LiveFigure(
        "cut", whole + side_by_side(cut), caption, {"T": T, "D": D, "h": h, "choices": sorted({h, *choices})}
    )


def three_attentions(attentions: Mapping[str, Mapping[str, str]], *, alt: str, caption: str) -> LiveFigure:
    """Where a Transformer's three attentions get their queries, keys and values from.

    `attentions` has, in the order encoder, decoder, cross, a name and what stands in the columns Q, K, V, mask and
    weights. `alt` is the drawing in words.
    """
    fields = ("Q", "K", "V", "mask", "weights")
    return LiveFigure(
        "sources",
        encoder_and_decoder(alt)
        + table(
            [[line[field] for field in fields] for line in attentions.values()],
            rows=list(attentions),
            columns=[word(f"sources.{field}") for field in fields],
            corner=word("sources.corner"),
        ),
        caption,
        {"attentions": [{"name": name, **line} for name, line in attentions.items()]},
    )


def _first_lines(labels: Sequence[str]) -> list[str]:
    """What a sentence calls a row: its label without how it is said."""
    return [label.partition("\n")[0] for label in labels]
