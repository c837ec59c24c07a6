"""A call on which a known mistake shows, written so that a learner can try it.

What the right answer gives is not told, and not known here: the fingerprints do not hold it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograder.fingerprints import Fingerprints, Mistake
from autograder.observations import Observation, observe_probe
from autograder.probes import EMPTY, Draws, ModuleProbe, Probe, decode, is_tensor
from autograder.words import say

CALL_CHARS = 160  # a longer call is no help: nobody looks through its numbers
VALUES = 16  # of a result that are written; of a larger one its shape alone


def example(
    answer: Callable[..., Any], known: Fingerprints, mistake: Mistake, namespace: Mapping[str, Any] = EMPTY
) -> str:
    """The shortest call on which `answer` makes `mistake`, and what it gives there, in a sentence; "" for none.

    One that gives something goes before one that raises. Calls the answer. `namespace`: see `Probe.arguments`.
    """
    name = str(getattr(answer, "__name__", ""))
    for key, write, tell in (("hint.try", _written, _value), ("hint.shows_in", _outlined, _shape)):
        calls = {number: _call(name, known.probes[number], write) for number in mistake.shows}
        for number in sorted(calls, key=lambda number: ("raised" in mistake.shows[number], len(calls[number]))):
            call = calls[number]
            if not 0 < len(call) <= CALL_CHARS:
                continue
            came = observe_probe(answer, known.probes[number], namespace)
            does = _does(came, tell)
            if write is _outlined and known.looks_right(number, came):
                does = say("hint.wrong_values")  # its shape says nothing
            if does and mistake.is_seen_in(number, came):
                return say(key, call=call, does=does)
    return ""


def _call(name: str, probe: Probe, write: Callable[[Any], str]) -> str:
    """The call as a learner would write it; "" where its arguments have no form that `write` knows."""
    try:
        args = [write(decode(value)) for value in probe.args]
        args += [f"{key}={write(decode(value))}" for key, value in probe.kwargs.items()]
    except (TypeError, ImportError):  # ImportError: tensors without PyTorch
        return ""
    return name + (args[0] if _is_module(probe) else f"({', '.join(args)})")


def _is_module(probe: Probe) -> bool:
    return len(probe.args) == 1 and isinstance(decode(probe.args[0]), ModuleProbe)


def _outlined(value: Any) -> str:
    """`value` as Python, of an array its shape alone. Raises TypeError as `_written` does."""
    if isinstance(value, ModuleProbe):  # its weights are made up: nobody could write them
        init = [f"{key}={_written(item)}" for key, item in value.init.items()]
        call = [*map(_outlined, value.call), *(f"{key}={_outlined(item)}" for key, item in value.kwargs.items())]
        return f"({', '.join(init)}).{'train' if value.training else 'eval'}()({', '.join(call)})"
    if isinstance(value, np.ndarray) or is_tensor(value):
        return say("hint.of_shape", shape=tuple(value.shape))
    return _written(value)


def _written(value: Any) -> str:
    """`value` as Python. Raises TypeError for what has no form that can be pasted into a notebook."""
    if isinstance(value, Draws):
        return f"np.random.default_rng({value.seed})"
    if isinstance(value, np.ndarray):
        return _written_array(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f"np.{value}".replace("np.-", "-np.")
    if value is None or isinstance(value, bool | int | str):
        return repr(value)
    raise TypeError(type(value).__name__)


def _written_array(array: np.ndarray) -> str:
    if not array.flags.c_contiguous:  # pasted, it would be another one
        raise TypeError("strided")
    usual = array.dtype in (np.float64, np.int64, np.bool_) or array.dtype.kind == "U"
    dtype = "" if usual else f", dtype=np.{array.dtype.name}"
    if array.size == 0:
        return f"np.zeros({array.shape}{dtype})"
    return f"np.array({_written(array.tolist())}{dtype})"


def _does(came: Observation, tell: Callable[[dict[str, Any]], str]) -> str:
    """What an answer did on one call; "" where `tell` has no words for what it returned."""
    if "effort" in came:  # no number of the result shows it
        return ""
    if "unsteady" in came:
        return say("hint.varies")
    if "raised" in came:
        return say("hint.raises", error=came["raised"])
    value = tell(came["result"])
    if not value:
        return ""
    if "changed" in came:
        return say("hint.gives_and_changes", value=value)
    return say("hint.gives_and_warns" if "warned" in came else "hint.gives", value=value)


def _shape(result: dict[str, Any]) -> str:
    """The shape of a described result, or of its parts."""
    parts = [result, *(part for part in result.get("items", []) if isinstance(part, dict))]
    shapes = [str(tuple(part["shape"])) for part in parts if "shape" in part]
    if len(shapes) == 1:
        return say("hint.a_shape", shape=shapes[0])
    return say("hint.shapes", shapes=", ".join(shapes)) if shapes else ""


def _value(result: dict[str, Any]) -> str:
    """A described result in a few digits, of a large array its shape; "" for what can be told in neither way."""
    if "value" in result:
        return _digits(result["value"])
    if "values" in result and len(result["values"]) <= VALUES:
        return _nested([_digits(value) for value in result["values"]], result["shape"])
    if "shape" in result:
        return _shape(result)
    items = [part if isinstance(part, list) else [part] for part in result.get("items", [])]
    written = [": ".join(map(_value, part)) for part in items]
    if not all(written) or len(written) > VALUES:
        return ""
    opening, closing = "{}" if result["is"] == "dict" else "[]"
    return f"{opening}{', '.join(written)}{closing}"


def _nested(texts: list[str], shape: list[int]) -> str:
    """The texts as nested lists of that shape."""
    if not shape:
        return texts[0]
    step = len(texts) // max(shape[0], 1)
    return "[" + ", ".join(_nested(texts[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])) + "]"


def _digits(value: Any) -> str:
    if value in ("nan", "inf", "-inf"):
        return str(value)
    return f"{value:.4g}" if isinstance(value, float) else repr(value)
