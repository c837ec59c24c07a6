"""A learner's side without a process of its own, for the browser: there is one process there, and no thread.

The messages are those between two processes, so that an answer gets copies, what it changes is seen, and
every sentence is the same. Only an end cannot be forced from inside: whoever watches is told what runs, and
may take how long. The warm server, too, rehearses with itself in this way.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import linecache
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograder import wire
from autograder.learner import Server, no_input
from autograder.link import Link
from autograder.words import say

# (what runs now, what to say if it takes too long, after how many seconds), or NOTHING
Watch = Callable[[str, str, float], None]
NOTHING = ("", "", 0.0)


@dataclass
class Ran:
    """What became of a cell, in IPython's names."""

    error_before_exec: BaseException | None = None
    error_in_exec: BaseException | None = None


class Shell:
    """What of IPython a cell needs: names that last, the value of its last line, its lines for error messages."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {"__name__": "__main__"}
        self._cells = 0
        builtins.input = no_input

    def run_cell(self, source: str, store_history: bool = False) -> Ran:
        """Run a cell; print the value of its last line, if it is an expression and not None."""
        self._cells += 1
        name = f"<ipython-input-{self._cells}>"  # by which errors tell the learner's lines from others
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        try:
            tree = ast.parse(source, name)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            code = compile(tree, name, "exec")
            shown = compile(ast.Expression(last.value), name, "eval") if isinstance(last, ast.Expr) else None
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return Ran(error_before_exec=error)
        try:
            exec(code, self.user_ns)
            value = eval(shown, self.user_ns) if shown else None
            if value is not None:
                print(repr(value))
        except BaseException as error:  # SystemExit too: it is the cell's
            return Ran(error_in_exec=error)
        return Ran()


def told(error: BaseException) -> str:
    """A cell's error as a learner reads it: their own lines, the outermost first, and what went wrong."""
    if isinstance(error, SystemExit):
        return say("link.exit", name=type(error).__name__)
    if isinstance(error, SyntaxError):
        entries = [(error.lineno or 0, "<module>", (error.text or "").strip())]
    else:
        entries = [
            (entry.lineno or 0, entry.name, entry.line or "")
            for entry in traceback.extract_tb(error.__traceback__)
            if entry.filename.startswith("<ipython-input")
        ]
    lines = []
    for number, function, text in entries:
        key = "page.line" if function == "<module>" else "page.line_in"
        lines.append(say(key, line=number, function=function, text=text))
    message = (error.msg if isinstance(error, SyntaxError) else str(error)) or ""
    return "\n".join([*lines, f"{type(error).__name__}: {message}" if message else type(error).__name__])


class _Here:
    """In the place of a process: a request is served when its reply is wanted."""

    def __init__(self, server: Server | None, answer_callback: Callable[[], None]) -> None:
        # A server takes the process's output for its own; here it gets it only while it serves.
        with contextlib.redirect_stdout(None), contextlib.redirect_stderr(None):
            self._server = server or Server(Shell())
        self._server.read, self._server.write = self._take_request, self._give_reply
        self._requests, self._replies = bytearray(), bytearray()
        self._answer_callback = answer_callback

    def write(self, data: memoryview) -> int:
        self._requests += data
        return len(data)

    def read(self, size: int) -> bytes:
        if len(self._replies) < size:
            stream = self._server.stream
            with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
                self._server.handle(*wire.read_frame(self._take_request))
        return _first(self._replies, size)

    def _take_request(self, size: int) -> bytes:
        while len(self._requests) < size:  # the answer called a function that it was given, and waits for the result
            self._answer_callback()
        return _first(self._requests, size)

    def _give_reply(self, data: bytes) -> None:
        self._replies += data

    def kill(self) -> None:
        """Nothing in here can be ended from in here."""

    def wait(self) -> int:
        return 0

    def close(self) -> None:
        """Nothing is open."""


class _Teller:
    """In the place of a link's watchdog: it tells what is watched, and never bites."""

    expired = None

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._watched: tuple[float, str, float] | None = None

    @property
    def watched(self) -> tuple[float, str, float] | None:
        """Until when, what, how many seconds it may take; as of a watchdog."""
        return self._watched

    @watched.setter
    def watched(self, watched: tuple[float, str, float] | None) -> None:
        self._watched = watched
        if watched is None:
            self._watch(*NOTHING)
            return
        until, what, seconds = watched
        self._watch(what, say("link.timeout", what=what, seconds=f"{seconds:g}"), until - time.monotonic())

    def interruptible(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def end(self) -> None:
        """There is no thread to end."""


@dataclass
class SameProcessLink(Link):
    """A `Link` to answers in this process, which tells `watch` what runs in place of stopping it.

    `server` serves them; None: one with a shell that is no more than a browser's Python needs.
    """

    process: Any = None
    server: Server | None = None
    watch: Watch = lambda what, sentence, seconds: None

    def __post_init__(self) -> None:
        self.process = _Here(self.server, self._answer_callback)
        self._watchdog = _Teller(self.watch)

    def _answer_callback(self) -> None:
        self._call_back(*self._receive())


def _first(data: bytearray, size: int) -> bytes:
    """Take the first `size` bytes away from `data`."""
    taken = bytes(data[:size])
    del data[:size]
    return taken
