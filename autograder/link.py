"""The test process's end of the line to one learner's process: run a cell, call an answer, never trust a reply."""

from __future__ import annotations

import builtins
import contextlib
import functools
import math
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder import effort, mirrors, tensors, wire
from autograder.answer_errors import Trouble, exception_class, plain_error, rebuilt_error, trouble_of
from autograder.limits import LIMITS
from autograder.processes import LearnerProcess
from autograder.statuses import DIED, MEMORY, TIMEOUT, Status
from autograder.watchdog import Watchdog
from autograder.words import say


class Stopped(BaseException):
    """The learner's process did not give an answer and cannot be asked again, or not for this exercise.

    A BaseException, so that a test cell's `except Exception` does not take it for the answer's.
    """

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class RefusedResult(Exception):
    """What the answer returned is not plain data."""


def connect(start: Callable[[bool], LearnerProcess], with_torch: bool = False) -> Link:
    """Start a learner's process (`start(with_torch)`) and wait until it is ready. Raises Stopped."""
    link = Link(start(with_torch), with_torch)
    with link._watched(say("link.start"), LIMITS.start_seconds):
        link._receive()
    return link


@dataclass
class Link:
    """One learner's process. After `Stopped` with `alive` False it is gone, and a new one is needed."""

    process: LearnerProcess
    with_torch: bool = False  # whether PyTorch is imported there
    changed: list[str] = field(default_factory=list)  # exercises whose call changed an argument in place
    printed: list[str] = field(default_factory=list)
    last: tuple[str, Any] | None = None  # the exercise called last, and what it returned
    alive: bool = True
    until: float = math.inf  # when time is up, whatever runs then (of `time.monotonic()`)
    _asked: int = 0
    _functions: list[Callable] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._watchdog = Watchdog(self.process.kill)

    def run(self, source: str, label: str) -> Trouble | None:
        """Run one cell; the error that it raised, if it did. Raises Stopped."""
        with self._watched(label, LIMITS.cell_seconds):
            self._send({"op": "run", "source": source}, wire.Luggage())
            reply, _ = self._receive()
        self._keep_printed(reply)
        error = reply.get("error")
        if error is None:
            return None
        error = plain_error(error)
        self._stop_for(error)
        return trouble_of("", error)

    def answer(self, name: str) -> Callable:
        """A function that stands for the learner's answer `name`."""

        def answer(*args: Any, **kwargs: Any) -> Any:
            return self.call(name, args, kwargs)

        answer.__name__ = answer.__qualname__ = name
        return answer

    def call(self, name: str, args: tuple, kwargs: dict) -> Any:
        """Call the answer `name` with plain data; its result, or the built-in exception it raised. Raises Stopped."""
        return self.ask({"op": "call", "name": name}, name, args, kwargs)

    def ask(self, request: dict, name: str, args: tuple, kwargs: dict, state: Any = None) -> Any:
        """Send a request with arguments (and a module's state), and take what comes back. Raises Stopped."""
        with effort.told_elsewhere() as spent:
            return self._ask(request, name, args, kwargs, state, spent)

    def _ask(self, request: dict, name: str, args: tuple, kwargs: dict, state: Any, spent: effort.Effort | None) -> Any:
        modules: list[Any] = []
        luggage = wire.Luggage(describe_module=functools.partial(mirrors.given, modules))
        draws = tensors.random_state() if self.with_torch else None
        self._asked += 1
        request = {
            **request,
            "id": self._asked,
            "args": wire.encode(args, luggage, self._number),
            "kwargs": wire.encode(kwargs, luggage, self._number),
            "state": wire.encode(state, luggage),
            "draws": wire.encode(draws, luggage),
            "gradients": tensors.gradients_enabled(),
            "effort": spent is not None,
        }
        inputs = [item for item in luggage.sent if tensors.wants_gradient(item)]
        makers = wire.Makers(
            module=functools.partial(mirrors.mirror, self, name),
            tensor=functools.partial(mirrors.result_with_gradient, self, self._asked, inputs),
        )
        with self._watched(say("link.call", name=name), LIMITS.cell_seconds):
            self._send(request, luggage)
            reply, blob = self._receive()
            while reply.get("op") == "callback":
                self._call_back(reply, blob)
                reply, blob = self._receive()
        return self._take(name, reply, blob, luggage.sent, makers, draws, modules, spent)

    def close(self) -> None:
        """End the process and everything that it started."""
        self.alive = False
        self._watchdog.end()
        self.process.close()

    def _number(self, function: Callable) -> int:
        self._functions.append(function)
        return len(self._functions) - 1

    def _take(
        self,
        name: str,
        reply: dict,
        blob: memoryview,
        given: list[Any],
        makers: wire.Makers,
        draws: Any,
        modules: list[Any],
        spent: effort.Effort | None,
    ) -> Any:
        """What a request gave: the effects on the arguments, what was printed and warned, the result."""
        received: list[Any] = []  # one list for the whole reply: the result may be a changed argument
        try:
            operation = reply["op"]
            value = wire.decode(reply["value"], blob, received, makers) if operation == "result" else None
            self._apply(name, reply, blob, given, received)
            for module, paths in zip(modules, reply["training"], strict=True):
                mirrors.set_training(module, paths)
            if draws is not None:
                tensors.follow(draws, wire.decode(reply["draws"], blob, received))
            if spent is not None:
                spent.add(reply["effort"])
            for category, message in reply["warnings"]:
                warnings.warn(str(message), exception_class(category, Warning), stacklevel=4)
        except (wire.Broken, ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError):
            raise self._broken() from None
        self._keep_printed(reply)
        self.last = (name, value)
        if operation == "result":
            return value
        if operation == "refused":
            raise RefusedResult(
                say("link.refused", name=name, what=str(reply.get("message", ""))[: LIMITS.message_chars])
            )
        if operation == "raised":
            error = plain_error(reply.get("error"))
            self._stop_for(error)
            raise rebuilt_error(error, name)
        raise self._broken()

    def _apply(self, name: str, reply: dict, blob: memoryview, given: list[Any], received: list[Any]) -> None:
        """Apply what the answer did to its arguments: arrays changed in place, draws taken from a generator."""
        for number, tree in reply["changed"]:
            old, new = given[number], wire.decode(tree, blob, received)
            # A module's parameter came as a tensor.
            same_kind = isinstance(new, np.ndarray) == isinstance(old, np.ndarray)
            if not same_kind or new.shape != old.shape or new.dtype != old.dtype:
                raise wire.Broken("a change that fits no argument")
            if not isinstance(old, np.ndarray):
                old.detach().copy_(new)
            elif old.flags.writeable:
                old[...] = new
            self.changed.append(name)
        for number, tree in reply["generators"]:
            if not isinstance(given[number], np.random.Generator):
                raise wire.Broken("a state without a generator")
            old, new = given[number].bit_generator.state, wire.decode(tree, blob, received)
            if new["state"]["inc"] != old["state"]["inc"]:  # with another one it could give the same number for ever
                raise wire.Broken("the state of another generator")
            given[number].bit_generator.state = new

    def _call_back(self, request: dict, blob: memoryview) -> None:
        """The answer calls a function that it was given."""
        luggage = wire.Luggage()
        try:
            function = self._functions[request["number"]]
            args = wire.decode(request["args"], blob, [])
            kwargs = wire.decode(request["kwargs"], blob, [])
        except (wire.Broken, LookupError, TypeError):
            raise self._broken() from None
        try:
            with self._watchdog.interruptible():  # it may be called with a million numbers
                value = function(*args, **kwargs)
            reply = {"op": "result", "value": wire.encode(value, luggage)}
        except KeyboardInterrupt:
            if self._watchdog.expired:
                raise self._ended() from None
            raise
        except Exception as error:
            luggage = wire.Luggage()
            kind = next(base.__name__ for base in type(error).__mro__ if hasattr(builtins, base.__name__))
            reply = {"op": "raised", "type": kind, "message": str(error)[: LIMITS.message_chars]}
        self._send(reply, luggage)

    def _keep_printed(self, reply: dict) -> None:
        text = reply.get("printed")
        room = 2 * LIMITS.printed_chars - sum(map(len, self.printed))  # of all calls together
        if isinstance(text, str) and text and room > 0:
            self.printed.append(text[:room])

    def _stop_for(self, error: dict) -> None:
        """Some errors of an answer are statuses of their own."""
        if error["type"] == "MemoryError":
            raise Stopped(MEMORY, say("link.memory"))
        if error["type"] in ("SystemExit", "KeyboardInterrupt", "GeneratorExit"):
            raise Stopped(DIED, say("link.exit", name=error["name"]))

    def _send(self, tree: dict, luggage: wire.Luggage) -> None:
        try:
            data = memoryview(wire.frame(tree, luggage))
            while data:
                data = data[self.process.write(data) :]
        except OSError:
            raise self._ended() from None

    def _receive(self) -> tuple[dict, memoryview]:
        """One reply. Raises Stopped."""
        try:
            tree, blob = wire.read_frame(self._read)
            if not isinstance(tree, dict):
                raise wire.Broken("not a message")
        except (EOFError, OSError, ValueError):
            raise self._ended() from None
        except wire.Broken:
            raise self._broken() from None
        return tree, blob

    @contextlib.contextmanager
    def _watched(self, what: str, seconds: float) -> Iterator[None]:
        """Kill the process if the body takes longer than `seconds`, or time is up: nothing in it can catch that."""
        before = self._watchdog.watched  # of the call whose callback this is
        end = time.monotonic() + seconds
        if end > self.until:
            end, what, seconds = self.until, say("link.notebook"), LIMITS.submission_seconds
        self._watchdog.watched = (end, what, seconds)
        try:
            yield
        finally:
            self._watchdog.watched = before

    def _read(self, size: int) -> bytes:
        data = self.process.read(size)
        if len(data) < size:
            raise EOFError
        return data

    def _ended(self) -> Stopped:
        self.alive = False
        if self._watchdog.expired:
            what, seconds = self._watchdog.expired
            return Stopped(TIMEOUT, say("link.timeout", what=what, seconds=f"{seconds:g}"))
        if sys.platform != "win32":
            code = self.process.wait()
            if code == -signal.SIGXCPU:
                return Stopped(TIMEOUT, say("link.cpu", seconds=LIMITS.cpu_seconds))
            if code == -signal.SIGKILL:  # not by us; a forked one cannot do it itself either
                return Stopped(MEMORY, say("link.killed"))
        return Stopped(DIED, say("link.died"))

    def _broken(self) -> Stopped:
        self.close()
        return Stopped(DIED, say("link.broken"))
