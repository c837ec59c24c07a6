"""What a check that did not pass says: the error that an answer raised, or the fault that a test found."""

from __future__ import annotations

import re

from autograder.answer_errors import Trouble
from autograder.course import Check
from autograder.link import RefusedResult
from autograder.words import say

# What NumPy says of shapes that do not fit: the one kind of message that a hidden test lets through.
_NUMPYS_OWN = re.compile(
    r"operands could not be broadcast together with shapes [(), 0-9]{1,60}"
    r"|shapes [(), 0-9]{1,40} and [(), 0-9]{1,40} not aligned: \d{1,4} \(dim \d\) != \d{1,4} \(dim \d\)"
    r"|axis -?\d is out of bounds for array of dimension \d"
    r"|matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature [(),?nkmp>-]{1,40} "
    r"\(size \d{1,4} is different from \d{1,4}\)"
)


def of_error(name: str, trouble: Trouble) -> str:
    """Of an error that the answer `name` raised while a visible test called it."""
    if trouble.name == "NotImplementedError":
        return say("exam.not_implemented")
    where = ""
    if trouble.line:
        key = "exam.line_inside" if trouble.inner else "exam.line"
        place = {"function": trouble.function, "inner": trouble.inner.strip()}
        where = say(key, line=trouble.line, text=trouble.text.strip(), **place)
    return say("exam.raised", name=name, error=trouble.name, message=trouble.message.strip(), where=where)


def of_error_in_hidden(name: str, error: Exception, trouble: Trouble, answer: str) -> str:
    """The same for a hidden test: nothing that the answer could have written its arguments into.

    `answer` is the source of the answer whose line raised it.
    """
    lines = answer.splitlines()
    where = ""
    if 0 < trouble.line <= len(lines):
        where = say("exam.line", line=trouble.line, text=lines[trouble.line - 1].strip())
    if _is_numpys_own(str(error)):
        return say("exam.raised", name=name, error=type(error).__name__, message=str(error), where=where)
    return say("exam.raised_hidden", name=name, error=type(error).__name__, where=where)


def of_test(error: Exception, check: Check, last: tuple[str, object] | None, visible_passed: bool) -> str:
    """Of a test that found a fault; `last` is the answer that it called last, and what came back."""
    if isinstance(error, AssertionError):
        if error.args and str(error):
            return str(error)
        return say("exam.no_message") if visible_passed else say("exam.plain_assert", text=_failing_line(error, check))
    if isinstance(error, RefusedResult) and not visible_passed:
        return str(error)
    if last is None:
        return say("exam.not_called", name=type(error).__name__)
    name, value = last
    if value is None:
        return say("exam.returned_none", name=name)
    if visible_passed:
        return say("exam.unusable_hidden", name=name)
    return say("exam.unusable", name=name, kind=type(value).__name__, error=error)


def _is_numpys_own(message: str) -> bool:
    """Whether it is one of NumPy's on shapes, with few and small sizes: an answer can write its arguments into others."""
    sizes = re.findall(r"\d+", message)
    return bool(_NUMPYS_OWN.fullmatch(message)) and len(sizes) <= 10 and all(int(size) < 100 for size in sizes)


def _failing_line(error: BaseException, check: Check) -> str:
    """The line of the visible test that did not hold."""
    traceback, line = error.__traceback__, 0
    while traceback:
        if traceback.tb_frame.f_code.co_filename == f"<{check.name}>":
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    lines = check.visible.splitlines()
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""
