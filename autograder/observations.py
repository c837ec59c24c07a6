"""What a call gave, as plain data: kind, shape, values, error, changed arguments, warnings.

Two answers make the same mistake when their observations on the same probes agree. Nothing here
raises for what an answer does.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import math
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograder.modules import call_module, gradients_to
from autograder.probes import EMPTY, ModuleProbe, Probe, encode, is_tensor, number_or_word

Observation = dict[str, Any]

RTOL = 1e-5  # an answer that computes in float32 errs by about 1e-7 for each of a few dozen terms
ATOL = 1e-7  # of the largest value: float32 rounding of what cancels to nearly zero
DIGITS = 9  # significant digits that are written: more than RTOL asks, fewer than machines differ in
VALUE_LIMIT = 10_000  # numbers of one result that are looked at; probes are far smaller


def observe_probe(
    answer: Callable[..., Any], probe: Probe, namespace: Mapping[str, Any] = EMPTY, calls: int = 2
) -> Observation:
    """What `answer` gives on `probe`. It is called `calls` times: results that differ are "unsteady" and no more.

    `namespace`: see `Probe.arguments`.
    """
    first = _observe(answer, probe, namespace)
    for _ in range(calls - 1):
        seen = steady(first, _observe(answer, probe, namespace))
        if "unsteady" in seen:
            return seen
    return first


def _observe(answer: Callable[..., Any], probe: Probe, namespace: Mapping[str, Any]) -> Observation:
    args, kwargs = probe.arguments(namespace)
    if not probe.most and not probe.needed:
        return observe(answer, args, kwargs, probe.naming)
    from autograder.effort import effort  # needs PyTorch

    modules = [value for _, value in _named(args, kwargs) if hasattr(value, "named_parameters")]
    with effort(*modules) as spent:
        observation = observe(answer, args, kwargs, probe.naming)
    beyond = spent.beyond(probe.most, probe.needed)
    return {**observation, "effort": beyond} if beyond else observation


def steady(one: Observation, again: Observation) -> Observation:
    """The observation of two calls alike: `one`, or "unsteady" where their results or errors differ."""
    return {"unsteady": True} if differences(one, again) & {"result", "raised"} else one


def observe(
    answer: Callable[..., Any], args: list[Any], kwargs: dict[str, Any], naming: tuple[str, ...] = ()
) -> Observation:
    """What one call gives. Raises nothing for an answer's error, SystemExit included.

    `naming`: words that the message of a raised error should hold. Where tensors among the arguments
    ask for gradients, the gradients that reach them are part of the result.
    """
    before = [(name, _written(value)) for name, value in _named(args, kwargs)]
    observation: Observation = {}
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        try:
            observation["result"] = describe(_result(answer, args, kwargs))
        except (Exception, SystemExit) as error:
            observation["raised"] = _builtin_name(error)
            if naming:
                observation["named"] = all(_names(error, word) for word in naming)
    after = dict(_named(args, kwargs))
    changed = [name for name, written in before if written is not None and _written(after[name]) != written]
    if changed:
        observation["changed"] = changed
    if any(issubclass(warning.category, RuntimeWarning) for warning in caught):
        observation["warned"] = True
    return observation


def _result(answer: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) == 1 and isinstance(args[0], ModuleProbe):
        return call_module(answer, args[0])
    result = answer(*args, **kwargs)
    asking = [value for _, value in _named(args, kwargs) if is_tensor(value) and getattr(value, "requires_grad", False)]
    return (result, gradients_to(asking, result)) if asking else result


def describe(value: Any) -> dict[str, Any]:
    """A result as plain data: what it is, of which shape, and its numbers.

    NumPy's numbers count as Python's, an array without axes as its number, a tuple as a list,
    float32 as float64: these differ in style only.
    """
    if is_tensor(value) and not isinstance(value, np.ndarray):
        return {**_describe_array(_array_of(value)), "is": "tensor"}
    if isinstance(value, np.ndarray) and value.ndim:
        return _describe_array(np.asarray(value))
    if isinstance(value, np.generic | np.ndarray):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return {"is": type(value).__name__, "value": value}
    if isinstance(value, float):
        return {"is": "float", "value": _rounded(value)}
    if isinstance(value, list | tuple) and len(value) <= VALUE_LIMIT:
        return {"is": "list", "items": [describe(item) for item in value]}
    if isinstance(value, dict) and len(value) <= VALUE_LIMIT:
        return {"is": "dict", "items": [[describe(key), describe(item)] for key, item in value.items()]}
    return {"is": type(value).__name__}


def outline(observation: Observation) -> Observation:
    """The observation without any value: what kind of result of which shape, or which error."""
    outlined = dict(observation)
    if "result" in observation:
        outlined["result"] = _outline(observation["result"])
    return outlined


def differences(one: Observation, other: Observation) -> set[str]:
    """In what two observations differ: "result", "raised", "changed", "warned", "effort"; empty where they agree."""
    found = set()
    if any(one.get(part) != other.get(part) for part in ("raised", "named", "unsteady")):
        found.add("raised")
    if ("result" in one) != ("result" in other) or not _agree(one.get("result"), other.get("result")):
        found.add("result")
    found.update(part for part in ("changed", "warned", "effort") if one.get(part) != other.get(part))
    return found


def _agree(one: Any, other: Any) -> bool:
    """Whether two descriptions are the same up to rounding; an outline agrees with every value."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return one == other
    if any(one.get(part) != other.get(part) for part in ("is", "of", "shape")):
        return False
    if "items" in one or "items" in other:
        mine, others = list(_flat(one.get("items", []))), list(_flat(other.get("items", [])))
        return len(mine) == len(others) and all(map(_agree, mine, others))
    if "values" in one and "values" in other:
        return _close(one["values"], other["values"])
    if "value" in one and "value" in other:
        return _close([one["value"]], [other["value"]])
    return True


def _close(one: list[Any], other: list[Any]) -> bool:
    if one == other:
        return True
    if len(one) != len(other):
        return False
    slack = ATOL * _largest(one + other)
    return all(
        abs(a - b) <= slack + RTOL * abs(b) if isinstance(a, int | float) and isinstance(b, int | float) else a == b
        for a, b in zip(one, other, strict=True)
    )


def _largest(values: list[Any]) -> float:
    """The largest number, whatever its sign; words like "nan" are none."""
    try:
        return max(map(abs, values), default=0.0)
    except TypeError:  # a word among them
        return max((abs(value) for value in values if isinstance(value, int | float)), default=0.0)


def _flat(items: list[Any]) -> list[Any]:
    """A dict's pairs as one list, keys and values in order."""
    return [part for item in items for part in (item if isinstance(item, list) else [item])]


def _outline(described: dict[str, Any]) -> dict[str, Any]:
    outlined = {name: part for name, part in described.items() if name not in ("value", "values")}
    if "items" in described:
        outlined["items"] = [
            [_outline(part) for part in item] if isinstance(item, list) else _outline(item)
            for item in described["items"]
        ]
    return outlined


def _describe_array(array: np.ndarray) -> dict[str, Any]:
    kinds = {"f": "float", "i": "int", "u": "int", "b": "bool", "c": "complex", "U": "str"}
    of = "float16" if array.dtype == np.float16 else kinds.get(array.dtype.kind, "object")
    described = {"is": "array", "of": of, "shape": list(array.shape)}
    if of in ("object", "complex") or array.size > VALUE_LIMIT:
        return described
    largest = float(np.max(np.abs(array[np.isfinite(array)]), initial=0.0)) if array.dtype.kind == "f" else 0.0
    return {**described, "values": [_rounded(value, largest) for value in array.ravel().tolist()]}


def _array_of(tensor: Any) -> np.ndarray:
    try:
        return np.asarray(tensor.detach().cpu().numpy())
    except Exception:  # bfloat16 has no NumPy form; a stand-in may refuse
        return np.empty(tuple(tensor.shape), dtype=object)


def _rounded(value: Any, largest: float = 0.0) -> Any:
    """`value` at DIGITS digits; what is rounding noise beside `largest` is 0."""
    if not isinstance(value, float) or not math.isfinite(value):
        return number_or_word(value)
    if abs(value) < 1e-12 * largest:
        return 0.0
    return float(f"{value:.{DIGITS - 1}e}") + 0.0  # + 0.0: no negative zero


def _named(args: list[Any], kwargs: dict[str, Any]) -> list[tuple[int | str, Any]]:
    return [*enumerate(args), *kwargs.items()]


def _written(value: Any) -> Any:
    """An argument's content before or after a call; None for what has none (functions, generators)."""
    if hasattr(value, "named_modules"):  # of a PyTorch module its numbers, and which parts of it are in training
        state = [(name, _array_of(tensor).tobytes()) for name, tensor in value.state_dict().items()]
        return state, [part.training for _, part in value.named_modules()]
    if not isinstance(value, np.ndarray | list | tuple | dict) and not is_tensor(value):
        return None
    try:
        return encode(value)
    except (TypeError, ValueError):
        return "changed into something else"


def _builtin_name(error: BaseException) -> str:
    """The nearest built-in class's name: the one that is left when an error comes from another process."""
    return next(base.__name__ for base in type(error).__mro__ if hasattr(builtins, base.__name__))


def _names(error: BaseException, word: str) -> bool:
    """Whether the message holds `word` as a whole: the 5 of "15" and of "5.2" does not count."""
    return re.search(rf"(?<![\w.]){re.escape(word)}(?!\w|\.\d)", str(error)) is not None
