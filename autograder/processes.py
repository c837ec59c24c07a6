"""A learner's process as the test process holds it: bytes in, bytes out, and an end that can be forced."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
from typing import Protocol


class Lost(BaseException):
    """A learner's process ended because what it was forked from was killed: that is no fault of the answer.

    A BaseException, so that a test cell's `except Exception` does not take it for the answer's.
    """


class LearnerProcess(Protocol):
    """What a link needs of a learner's process, however it was made."""

    def read(self, size: int) -> bytes:
        """The next `size` bytes of a reply; fewer when no more will come."""

    def write(self, data: memoryview) -> int:
        """Send bytes; how many were taken. Raises OSError when nobody takes them any more."""

    def kill(self) -> None:
        """End it and everything that it started, whatever it is doing; may be called again, from any thread."""

    def wait(self) -> int:
        """Wait for its end: its exit status, or minus the number of the signal that ended it. Raises Lost."""

    def close(self) -> None:
        """Kill it, wait, and give back what it took here."""


class StartedProcess:
    """A process of its own, started for one notebook; requests go to its stdin, replies come from its stdout."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert isinstance(process.stdout, io.RawIOBase)
        self._process = process
        self._replies = io.BufferedReader(process.stdout, 1 << 16)

    def read(self, size: int) -> bytes:
        return self._replies.read(size)

    def write(self, data: memoryview) -> int:
        assert self._process.stdin is not None
        return self._process.stdin.write(data) or 0

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            if os.name != "nt" and os.getpgid(self._process.pid) == self._process.pid:
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()

    def wait(self) -> int:
        code = self._process.wait()
        return 128 - code if code > 128 else code  # bubblewrap reports a signal as 128 + its number

    def close(self) -> None:
        self.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._replies):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()
