"""The learner's process: it holds their answers, and never a test, an expected value or a score.

Started as `python -m autograder.learner WITH_TORCH ISOLATED` it reads requests from its standard input
and writes replies to its standard output (both moved out of the way of the learner's own printing);
forked by the warm server it has one socket for both. It serves one request at a time:

- `run`: run a cell in IPython;
- `call`: call an answer with plain data, and give back its result, or the error it raised, with
  what it changed, printed and warned.

An answer may call a function that it was given (`step`, `f`, `attention`): that goes back as a
`callback`, and while it waits another request may come (a callback that itself calls an answer).
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import io
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any, BinaryIO, NoReturn

import numpy as np

try:
    import resource
except ImportError:  # Windows, where the time limit alone holds, kept by the other end; and a browser
    resource = None

from autograder import effort, mirrors, namespaces, tensors, wire
from autograder.limits import LIMITS
from autograder.words import say


class Printed(io.RawIOBase):
    """Standard output and error of the learner's code: kept up to a limit, then counted only."""

    def __init__(self) -> None:
        self.kept = bytearray()
        self.dropped = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        data = bytes(data)
        room = LIMITS.printed_chars - len(self.kept)
        self.kept += data[:room] if room > 0 else b""
        self.dropped += max(0, len(data) - max(room, 0))
        return len(data)

    def take(self) -> str:
        """What was printed since the last time."""
        text = self.kept.decode("utf-8", "replace")
        if self.dropped:
            text += "\n" + say("learner.printed_cut", limit=LIMITS.printed_chars)
        self.kept.clear()
        self.dropped = 0
        return text


class Server:
    """Serves one learner's notebook over a pair of byte streams, which `talk_over` gives it."""

    read: Callable[[int], bytes]
    write: Callable[[bytes], object]

    def __init__(self, shell: Any = None) -> None:
        """`shell` runs the cells; None: an IPython shell."""
        self.printed = Printed()
        self.modules = mirrors.Modules()
        self.shell = shell or _shell()
        # Buffered: a million short lines cost a second, and not ten.
        self.stream = io.TextIOWrapper(io.BufferedWriter(self.printed, 1 << 16), "utf-8", "replace")
        sys.stdout = sys.stderr = self.stream

    def serve(self) -> None:
        """Answer requests until the other end closes."""
        while True:
            try:
                tree, blob = wire.read_frame(self.read)
            except EOFError:
                return
            self.handle(tree, blob)

    def handle(self, tree: dict, blob: memoryview) -> None:
        """Answer one request with one reply."""
        if tree["op"] == "run":
            self.reply(self.run(tree["source"]))
        else:
            self.call(tree, blob)

    def run(self, source: str) -> dict:
        """Run one cell."""
        result = self.shell.run_cell(source, store_history=False)
        error = result.error_before_exec or result.error_in_exec
        return {"op": "ran", "error": describe(error) if error else None, "printed": self.take_printed()}

    def take_printed(self) -> str:
        """What was printed since the last time."""
        with contextlib.suppress(ValueError):  # the learner closed it
            self.stream.flush()
        return self.printed.take()

    def call(self, request: dict, blob: memoryview) -> None:
        """Call an answer, or a module that it made, and reply with what came of it."""
        received: list[Any] = []
        modules: list[Any] = []  # among the arguments
        makers = wire.Makers(function=self.callback, module=functools.partial(self._given, modules, received))
        args = wire.decode(request["args"], blob, received, makers)
        kwargs = wire.decode(request["kwargs"], blob, received, makers)
        state = wire.decode(request["state"], blob, received)
        draws = wire.decode(request["draws"], blob, [])
        tensors.set_random_state(draws)
        before = [tensors.snapshot(item) for item in received]
        luggage = wire.Luggage(describe_module=self.modules.describe)
        reply: dict[str, Any] = {}
        spent: effort.Effort | None = None
        with warnings.catch_warnings(record=True) as warned, tensors.with_gradients(request["gradients"]):
            warnings.simplefilter("always")
            try:
                target = self.target(request, state, received)
                with effort.effort(*modules) if request["effort"] else contextlib.nullcontext() as spent:
                    value = target(*args, **kwargs)
                reply = {"op": "result", "value": wire.encode(value, luggage)}
                self.modules.remember(request["id"], received, luggage.sent)
            except wire.Refused as error:
                luggage = wire.Luggage()
                reply = {"op": "refused", "message": str(error)}
            except BaseException as error:
                luggage = wire.Luggage()
                reply = {"op": "raised", "error": describe(error)}
        reply["effort"] = spent.plain() if spent else None
        reply["training"] = [mirrors.training_paths(module) for module in modules]
        reply["changed"] = [
            [number, wire.encode(item, luggage)]
            for number, (item, old) in enumerate(zip(received, before, strict=True))
            if old is not None and tensors.snapshot(item) != old
        ]
        reply["generators"] = [
            [number, wire.encode(item.bit_generator.state, luggage)]
            for number, item in enumerate(received)
            if isinstance(item, np.random.Generator)
        ]
        reply["draws"] = wire.encode(None if draws is None else tensors.random_state(), luggage)
        reply["warnings"] = [
            [_builtin(w.category).__name__, str(w.message)[: LIMITS.message_chars]] for w in warned[:20]
        ]
        reply["printed"] = self.take_printed()
        self.reply(reply, luggage)

    def _given(self, modules: list[Any], received: list[Any], tree: dict, state: dict) -> Any:
        modules.append(mirrors.made_again(self.shell.user_ns, received, tree, state))
        return modules[-1]

    def target(self, request: dict, state: Any, received: list[Any]) -> Callable:
        """What a request calls: an answer by its name, a module by its number, or the way back through one."""
        if request["op"] == "call":
            return self.answer(request["name"])
        if request["op"] == "forward":
            return self.modules.forward(request, state, received)
        return self.modules.backward(request)

    def answer(self, name: str) -> Callable:
        """The learner's function or class of that name."""
        if name not in self.shell.user_ns:
            raise NameError(say("learner.not_defined", name=name))
        return self.shell.user_ns[name]

    def callback(self, number: int) -> Callable:
        """A function that the test process gave: calling it asks the test process."""

        def given(*args: Any, **kwargs: Any) -> Any:
            luggage = wire.Luggage()
            request = {"op": "callback", "number": number}
            request["args"] = wire.encode(args, luggage)
            request["kwargs"] = wire.encode(kwargs, luggage)
            self.reply(request, luggage)
            while True:
                tree, blob = wire.read_frame(self.read)
                if tree["op"] == "result":
                    return wire.decode(tree["value"], blob, [])
                if tree["op"] == "raised":
                    raise getattr(builtins, tree["type"], RuntimeError)(tree["message"])
                self.handle(tree, blob)

        return given

    def reply(self, tree: dict, luggage: wire.Luggage | None = None) -> None:
        self.write(wire.frame(tree, luggage or wire.Luggage()))


def describe(error: BaseException) -> dict:
    """An error as plain data: its nearest built-in type, its message, and the learner's own line."""
    message = _message(error)
    own = [entry for entry in traceback.extract_tb(error.__traceback__) if entry.filename.startswith("<ipython-input")]
    # The line of the answer that was called; and where that led, if it led into another function.
    line, text = (own[0].lineno or 0, own[0].line or "") if own else (0, "")
    function, inner = (own[-1].name, own[-1].line or "") if own and own[-1].name != own[0].name else ("", "")
    if isinstance(error, SyntaxError):
        message, line, text = error.msg or "", error.lineno or 0, (error.text or "").strip()
    return {
        "type": _builtin(type(error)).__name__,
        "name": type(error).__name__,
        "message": message[: LIMITS.message_chars],
        "line": line,
        "text": text[: LIMITS.message_chars],
        "function": function,
        "inner": inner[: LIMITS.message_chars],
    }


def _message(error: BaseException) -> str:
    """What an error says; nothing where it cannot say it: a class of the learner's may fail there too."""
    try:
        return error.args[0] if len(error.args) == 1 and isinstance(error.args[0], str) else str(error)
    except BaseException:
        return ""


def _builtin(kind: type) -> type:
    """The nearest class above an exception's class that every Python has."""
    return next(base for base in kind.__mro__ if getattr(builtins, base.__name__, None) is base)


def _shell() -> Any:
    """An IPython shell without history, without its own tracebacks, and without the outside world."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    shell = InteractiveShell.instance(config=config)
    shell.showtraceback = shell.showsyntaxerror = lambda *args, **kwargs: None
    shell.system = shell.getoutput = lambda command, **kwargs: print(say("learner.no_commands", command=command))
    for name in ("matplotlib", "pylab", "pip", "conda", "gui"):
        shell.register_magic_function(lambda line: None, "line", name)
    for name in ("bash", "sh", "script", "system", "sx"):
        shell.register_magic_function(
            lambda line, cell=None: print(say("learner.no_commands", command=line)), "line_cell", name
        )
    shell.ask_exit = _exit  # what IPython's own quit() and exit() call
    transform = shell.transform_cell
    shell.transform_cell = lambda source: source if _is_python(source) else transform(source)  # it reads word by word
    builtins.input = no_input
    return shell


def _is_python(source: str) -> bool:
    """Whether a cell is Python as it stands, without a magic command, a prompt or an indent for IPython to take away."""
    if source[:1].isspace():
        return False
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _exit() -> None:
    raise SystemExit


def no_input(prompt: object = "") -> str:
    """In the place of `input`: nobody is there to ask."""
    raise RuntimeError(say("learner.no_input"))


def limit_this_process(with_torch: bool, isolated: bool) -> None:
    """Set the operating system's limits, where it has them; they cannot be raised again.

    How many processes there may be is limited inside a sandbox alone: outside, all of a person's count.
    """
    if resource is None:
        return
    wanted = {
        "RLIMIT_AS": LIMITS.torch_memory_bytes if with_torch else LIMITS.memory_bytes,
        "RLIMIT_CPU": LIMITS.cpu_seconds,
        "RLIMIT_FSIZE": LIMITS.file_bytes,
        "RLIMIT_CORE": 0,
    }
    if isolated:
        wanted["RLIMIT_NPROC"] = LIMITS.processes
    for name, value in wanted.items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(kind, (value, value))
        except (OSError, ValueError):  # macOS refuses RLIMIT_AS: doctor says so
            continue
    if isolated:
        namespaces.refuse_system_calls()


def talk_over(server: Server, requests: BinaryIO, replies: BinaryIO) -> NoReturn:
    """Serve the notebook at the other end of these streams until they close."""

    def write(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[replies.write(view) :]

    server.read = wire.exact_reader(requests)
    server.write = write
    server.reply({"op": "ready"})
    server.serve()
    os._exit(0)  # whatever threads are left


def main() -> None:
    """Serve on the descriptors 0 and 1, after moving them away from the learner's code."""
    requests = os.fdopen(os.dup(0), "rb", buffering=1 << 16)
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    with_torch, isolated = (argument == "1" for argument in sys.argv[1:])
    limit_this_process(with_torch, isolated)
    if with_torch:  # takes seconds: not on the time of the first call
        tensors.get_ready()
    talk_over(Server(), requests, replies)


if __name__ == "__main__":
    main()
