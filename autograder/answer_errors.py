"""An answer's error on its way from the learner's process: plain data, nothing believed, then an exception here."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import Any

from autograder.limits import LIMITS

_ERROR_TEXTS = ("type", "name", "message", "text", "function", "inner")


@dataclass
class Trouble:
    """Where an answer's error came from; hangs on the exception as `from_answer`."""

    exercise: str
    name: str
    message: str
    line: int
    text: str
    function: str = ""  # where that line led, if into another function, and that function's line
    inner: str = ""


def plain_error(error: Any) -> dict:
    """An error's description with only the fields and types that we know."""
    error = error if isinstance(error, dict) else {}
    texts = {key: str(error.get(key, ""))[: LIMITS.message_chars] for key in _ERROR_TEXTS}
    line = error.get("line")
    return texts | {"line": line if isinstance(line, int) else 0}


def exception_class(name: Any, base: type) -> type:
    """The built-in exception class of that name, or `base`."""
    kind = getattr(builtins, str(name), base)
    return kind if isinstance(kind, type) and issubclass(kind, base) else base


def rebuilt_error(error: dict, exercise: str) -> Exception:
    """The answer's error as a built-in exception in this process."""
    kind = exception_class(error["type"], Exception)
    if issubclass(kind, StopIteration | StopAsyncIteration):  # a test's `map(answer, …)` would end as if all were well
        kind = RuntimeError
    try:
        rebuilt = kind(error["message"])
    except TypeError:  # UnicodeDecodeError and its like want more than a message
        rebuilt = ValueError(error["message"])
    rebuilt.from_answer = trouble_of(exercise, error)
    return rebuilt


def trouble_of(exercise: str, error: dict) -> Trouble:
    return Trouble(exercise, **{key: error[key] for key in ("name", "message", "line", "text", "function", "inner")})
