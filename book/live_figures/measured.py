"""Figures over what a page has measured: the bottleneck of chapter 1, the temperature of chapter 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from live_figures.markup import LiveFigure, plain, table
from live_figures.words import word


def bottleneck(
    curves: Mapping[str, np.ndarray],
    *,
    sizes: Sequence[int],
    lengths: Sequence[int],
    examples: Mapping[str, Sequence[tuple[str, str]]],
    caption: str,
) -> LiveFigure:
    """Length and size of the vector against the share of words that come back.

    `curves` has, by the name of a model, the shares (lengths, seeds); `sizes` how many numbers each model hands over;
    `examples`, by the same names, a word of each length as it was read and as it was said.
    """
    names = list(curves)
    shares = np.stack([curves[name] for name in names], axis=1)  # (lengths, models, seeds)
    mean = shares.mean(axis=-1)  # (lengths, models)
    return LiveFigure(
        "bottleneck",
        table(mean, rows=[str(length) for length in lengths], columns=names, corner=word("bottleneck.corner")),
        caption,
        {
            "lengths": [int(length) for length in lengths],
            "names": [name.replace("\n", ", ") for name in names],
            "sizes": list(sizes),
            "shares": plain(np.stack([mean, shares.min(axis=-1), shares.max(axis=-1)], axis=-1)),
            "examples": [[list(examples[name][i]) for name in names] for i in range(len(lengths))],
        },
    )


def temperature(drawn: Mapping[int, np.ndarray], *, caption: str) -> LiveFigure:
    """A softmax over one row of scores for each size of a key, `drawn[d_k]` (S,), at any temperature.

    The table compares two temperatures: 1, and the root of d_k.
    """
    measured = []
    for d_k, s in drawn.items():
        weights = [_softmax(s), _softmax(s / np.sqrt(d_k))]  # (S,) each
        measured.append([number for a in weights for number in (a.max(), _keys_looked_at(a))])
    columns = ("plain_largest", "plain_keys", "scaled_largest", "scaled_keys")
    return LiveFigure(
        "temperature",
        table(
            measured,
            rows=[str(d_k) for d_k in drawn],
            columns=[word(f"temperature.{column}") for column in columns],
            corner=word("temperature.corner"),
            top=None,
        ),
        caption,
        {"drawn": [{"d_k": int(d_k), "scores": plain(s)} for d_k, s in drawn.items()]},
    )


def _softmax(s: np.ndarray) -> np.ndarray:
    e = np.exp(s - s.max())
    return e / e.sum()


def _keys_looked_at(a: np.ndarray) -> float:
    """The exponential of the entropy of `a` (S,); a weight of 0 adds nothing to it."""
    a = a[a > 0]
    return float(np.exp(-np.sum(a * np.log(a))))
