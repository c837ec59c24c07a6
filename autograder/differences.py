"""What came and what was expected, in words: shapes first, then types, then values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autograder.probes import is_tensor
from autograder.words import say

RTOL, ATOL = 1e-6, 1e-8  # closer than every check of the course asks; else the first real difference would be missed


def describe_difference(got: Any, want: Any, *, hide_expected: bool = False) -> str:
    """One or two sentences on how `got` differs from `want`; "" where no difference is seen.

    Values may be arrays, tensors, numbers, strings, lists, tuples, dicts. With `hide_expected` no
    value is written, only shapes and kinds: of `want` because it is the solution, and of `got`
    because an answer can hand back what it was given, the hidden test's input.
    """
    return next(_differences(got, want, "", hide_expected), "")


def _differences(got: Any, want: Any, where: str, hide: bool) -> Iterator[str]:
    if got is None and want is not None:
        yield where + say("hint.none")
    elif isinstance(want, dict):
        yield from _of_dicts(got, want, where, hide)
    elif isinstance(want, list | tuple) and not _is_numbers(got, want):
        yield from _of_lists(got, want, where, hide)
    elif _is_array(want) or _is_array(got):
        yield from _of_arrays(got, want, where, hide)
    elif isinstance(got, list | tuple | dict) or isinstance(got, str) != isinstance(want, str):
        yield where + say("hint.kind", got=_kind(got), want=_kind(want))
    elif _is_number(got) and _is_number(want):
        if not _near(got, want):
            yield where + _came(got, want, hide)
    elif got != want:
        yield where + _came(got, want, hide)


def _of_dicts(got: Any, want: dict[Any, Any], where: str, hide: bool) -> Iterator[str]:
    if not isinstance(got, dict):
        yield where + say("hint.kind", got=_kind(got), want=_kind(want))
    elif set(got) != set(want):
        if hide:
            yield where + say("hint.keys_hidden")
        else:
            yield where + say("hint.keys", got=_short(list(got)), want=_short(list(want)))
    elif list(got) != list(want):
        yield where + say("hint.key_order", got=_short(list(got)))
    else:
        for key in want:
            yield from _differences(got[key], want[key], where + say("hint.at_key", key=_short(key)), hide)


def _of_lists(got: Any, want: list[Any] | tuple[Any, ...], where: str, hide: bool) -> Iterator[str]:
    if not isinstance(got, list | tuple):
        yield where + say("hint.kind", got=_kind(got), want=_kind(want))
    elif len(got) != len(want):
        key = "hint.length_hidden" if hide else "hint.length"
        yield where + say(key, got=len(got), want=len(want), came=_short(got))
    else:
        ordinal = isinstance(want, tuple)
        for number, (mine, other) in enumerate(zip(got, want, strict=True)):
            key = f"hint.result_{number + 1}" if ordinal and number < 3 else "hint.at_item"
            yield from _differences(mine, other, where + say(key, number=number), hide)


def _of_arrays(got: Any, want: Any, where: str, hide: bool) -> Iterator[str]:
    mine, other = _array(got), _array(want)
    if mine is None or other is None:
        yield where + say("hint.kind", got=_kind(got), want=_kind(want))
        return
    if mine.shape != other.shape:
        key = "hint.shape_hidden" if hide and _could_hold_values(mine.shape, other.shape) else "hint.shape"
        yield where + say(key, got=_shape(mine), want=_shape(other))
        return
    unequal = ~_near(mine, other)
    unequal = unequal & _beyond_rounding(mine, other) if unequal.any() else unequal
    kind = ""
    if isinstance(got, list | tuple) and _is_array(want):
        kind = say("hint.kind", got=_kind(got), want=_kind(want))
    elif mine.dtype == np.float16 and other.dtype != np.float16:
        kind = say("hint.float16")
    elif mine.dtype.kind in "iub" and other.dtype.kind == "f" and unequal.any():
        kind = say("hint.whole_numbers", dtype=mine.dtype)
    if kind:
        yield where + kind
    if unequal.any():
        yield where + _first_difference(mine, other, unequal, hide)


def _could_hold_values(came: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether a shape has other sizes than those wanted, or many: an answer can write its arguments into one."""
    return len(came) > len(wanted) + 1 or not set(came) <= {*wanted, 1}


def _first_difference(mine: np.ndarray, other: np.ndarray, unequal: np.ndarray, hide: bool) -> str:
    index = tuple(int(i) for i in np.argwhere(unequal)[0])
    came = _came(mine[index].item(), other[index].item(), hide)
    if mine.ndim == 0:
        return came
    place = "[" + ", ".join(map(str, index)) + "]"
    text = say("hint.first", place=place, came=came, wrong=int(unequal.sum()), size=mine.size)
    nans = int(np.isnan(mine).sum()) if mine.dtype.kind == "f" else 0
    return f"{text} {say('hint.nan', count=nans, size=mine.size)}" if nans else text


def _came(got: Any, want: Any, hide: bool) -> str:
    if hide:
        return say("hint.came_hidden") if _is_finite(got) else say("hint.came_unfinite_hidden", got=_short(got))
    mine, other = _short(got), _short(want)
    if mine == other:  # they differ beyond the digits that are shown
        mine, other = repr(got), repr(want)
    return say("hint.came", got=mine, want=other)


def _is_finite(value: Any) -> bool:
    return isinstance(value, int) or not _is_number(value) or bool(np.isfinite(value))  # NumPy knows no large int


def _near(got: Any, want: Any) -> Any:
    """Elementwise: near, and NaN only where NaN is expected."""
    if np.asarray(got).dtype.kind not in "fiub" or np.asarray(want).dtype.kind not in "fiub":
        return np.asarray(np.asarray(got) == np.asarray(want))
    with np.errstate(all="ignore"):
        return np.isclose(got, want, rtol=RTOL, atol=ATOL, equal_nan=True)


def _beyond_rounding(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Where two arrays differ by more than the decimals in which a worked example gives what it wants.

    Everywhere, if that is nowhere: then rounding is the very matter.
    """
    everywhere = np.ones(np.shape(got), dtype=bool)
    if np.asarray(want).dtype.kind != "f":
        return everywhere
    for decimals in range(1, 6):
        if np.allclose(np.round(want, decimals), want, rtol=0, atol=1e-12, equal_nan=True):
            with np.errstate(all="ignore"):
                beyond = ~(np.abs(got - want) <= 0.6 * 10.0**-decimals) & ~(np.isnan(got) & np.isnan(want))
            return beyond if beyond.any() else everywhere
    return everywhere


def _array(value: Any) -> np.ndarray | None:
    """`value` as an array of numbers; None where it is none."""
    try:
        array = np.asarray(value.detach().cpu().numpy() if is_tensor(value) else value)
    except Exception:  # ragged lists, stand-ins that refuse: then it is no array
        return None
    return array if array.dtype.kind in "fiubcU" else None


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or is_tensor(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.generic)


def _is_numbers(got: Any, want: Any) -> bool:
    """A list of expected numbers beside an array is compared as an array."""
    return isinstance(want, list) and _is_array(got) and _array(want) is not None


def _kind(value: Any) -> str:
    names = {"ndarray": "array", "NoneType": "None", "str": "string", "bool_": "bool"}
    if is_tensor(value) and not isinstance(value, np.ndarray | np.generic):
        return say("hint.a", kind="tensor")
    if isinstance(value, np.generic):
        return say("hint.a", kind="number") if value.dtype.kind in "fiu" else say("hint.a", kind="bool")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return say("hint.a", kind="number")
    name = names.get(type(value).__name__, type(value).__name__)
    return say("hint.an" if name[0] in "aeiou" else "hint.a", kind=name)


def _shape(array: np.ndarray) -> str:
    return str(tuple(int(size) for size in array.shape))


def _short(value: Any) -> str:
    """A value in a sentence: six digits, and no more than fits a line."""
    if isinstance(value, np.generic):
        value = value.item()
    text = f"{value:.6g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= 80 else text[:77] + "…"
