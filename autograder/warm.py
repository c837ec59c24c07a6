"""Learners' processes from a warm server: forked in milliseconds, where starting one takes a third of a second."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess

from autograder.limits import LIMITS
from autograder.link import Stopped, connect
from autograder.processes import LearnerProcess, Lost
from autograder.sandbox import Sandbox, environment_inside, program, start
from autograder.warm_server import CORE, ENDED, READY, STARTED


class NotWarm(Exception):
    """The warm server does not start, or has ended."""


class ForkedProcess:
    """A learner's process that a warm server forked."""

    def __init__(self, connection: socket.socket, handle: int, control: socket.socket) -> None:
        self._connection = connection
        self._replies = connection.makefile("rb", buffering=1 << 16)
        self._handle = handle
        self._control = control
        self._code: int | None = None

    def read(self, size: int) -> bytes:
        return self._replies.read(size)

    def write(self, data: memoryview) -> int:
        return self._connection.send(data)

    def kill(self) -> None:
        with contextlib.suppress(OSError):  # it has ended
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def wait(self) -> int:
        if self._code is None:
            ending = b""
            with contextlib.suppress(OSError):
                ending = self._control.recv(ENDED.size, socket.MSG_WAITALL)
            if len(ending) < ENDED.size:  # the server is gone, with all that it forked, or hangs
                raise Lost
            (self._code,) = ENDED.unpack(ending)
        return self._code

    def close(self) -> None:
        if self._connection.fileno() < 0:
            return
        self.kill()
        with contextlib.suppress(Lost):
            self.wait()
        self._replies.close()
        self._connection.close()
        os.close(self._handle)


class WarmServer:
    """A server inside the sandbox that holds all imports; it runs one learner's process at a time."""

    def __init__(self, sandbox: Sandbox, with_torch: bool) -> None:
        """Start it and wait until it is warm. Raises NotWarm."""
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                program(sandbox, "autograder.warm_server", int(with_torch), forks=True),
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment_inside(sandbox),
            )
        try:
            self._control.settimeout(LIMITS.start_seconds)
            if self._control.recv(1) != READY:
                raise NotWarm
            connect(lambda _: self.start()).close()  # can it fork, and do the walls stand?
        except (OSError, NotWarm, Stopped, Lost):
            self.close()
            raise NotWarm from None

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def start(self) -> ForkedProcess:
        """Fork a learner's process, for the cores that we may use; the one before must have been closed. Raises NotWarm."""
        ours, theirs = socket.socketpair()
        cores = b"".join(map(CORE.pack, sorted(os.sched_getaffinity(0))))
        try:
            with theirs:
                socket.send_fds(self._control, [cores], [theirs.fileno()])
            answer, handles, _, _ = socket.recv_fds(self._control, 1, 1)
        except OSError:
            answer = b""
        if answer != STARTED:
            ours.close()
            raise NotWarm
        return ForkedProcess(ours, handles[0], self._control)

    def close(self) -> None:
        """End it, and the learner's process that it runs."""
        self._process.kill()
        self._process.wait()
        self._control.close()


class WarmServers:
    """One worker's warm servers, by what they have imported; a new one takes the place of one that ended."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._servers: dict[bool, WarmServer | None] = {}  # None: this machine does not let one fork

    @property
    def warm(self) -> bool:
        """Whether there is one that can fork."""
        return any(self._servers.values())

    def prepare(self, with_torch: bool) -> None:
        """See to it that there is a warm server, where the machine allows it."""
        server = self._servers.get(with_torch)
        if with_torch in self._servers and (server is None or server.alive):
            return
        try:
            self._servers[with_torch] = WarmServer(self._sandbox, with_torch) if self._sandbox.isolated else None
        except NotWarm:
            self._servers[with_torch] = None

    def start(self, with_torch: bool) -> LearnerProcess:
        """A learner's process: from the warm server, or where there is none, started for itself."""
        server = self._servers.get(with_torch)
        if server is not None:
            with contextlib.suppress(NotWarm):
                return server.start()
        return start(self._sandbox, with_torch)

    def close(self) -> None:
        """End them all."""
        for server in self._servers.values():
            if server is not None:
                server.close()
        self._servers.clear()
