"""The warm server: with everything imported, it forks a learner's process for each notebook.

Started as `python -m autograder.warm_server WITH_TORCH`, inside the sandbox. Its standard input is a
socket: for each learner's process it is sent its cores and its connection, and gives back a handle to kill
it by, and in the end how it ended. It runs nothing of a learner's itself, and one process at a time.

Before the first it rehearses, so that what a rehearsal makes ready is there for all forks.

Every learner's process is the first of a PID namespace of its own (with it ends whatever it started),
has mounts of its own (an empty /tmp, nothing in /proc), no capability, and no way to make a process. It
begins a session as well: a signal to its process group would reach this server otherwise.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from typing import NoReturn

from autograder import namespaces, tensors
from autograder.collector import no_collecting
from autograder.learner import Server, limit_this_process, talk_over
from autograder.limits import LIMITS
from autograder.rehearsal import rehearse
from autograder.same_process import SameProcessLink
from autograder.sandbox import python_folders

READY = b"r"  # the server is warm
STARTED = b"s"  # with the new process's handle
REFUSED = b"x"  # the kernel refuses a namespace
CORE = struct.Struct(">H")  # a request names the cores that the process may use
REQUEST_BYTES = 1 << 13
ENDED = struct.Struct(">i")  # an exit status, or minus a signal's number


def main() -> None:
    """Serve until the other end closes."""
    control = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    with_torch = sys.argv[1] == "1"
    with no_collecting():
        if with_torch:
            tensors.get_ready()
        server = Server()
        python_folders()  # remembered from here on
        namespaces.get_ready()
        rehearse(SameProcessLink(with_torch=with_torch, server=server))
    control.sendall(READY)
    while True:
        cores, descriptors, _, _ = socket.recv_fds(control, REQUEST_BYTES, 1)
        if not cores:
            os._exit(0)
        if os.fork() == 0:
            os.sched_setaffinity(0, [core for (core,) in CORE.iter_unpack(cores)])
            _make_learner(control, socket.socket(fileno=descriptors[0]), server, with_torch)
        os.close(descriptors[0])
        os.wait()


def _make_learner(control: socket.socket, connection: socket.socket, server: Server, with_torch: bool) -> NoReturn:
    """In between: a PID namespace begins with the next fork, and someone must wait for how that ends."""
    try:
        namespaces.unshare(namespaces.NEW_PIDS)
        pid = os.fork()
    except OSError:
        control.sendall(REFUSED)
        os._exit(1)
    if pid == 0:
        control.close()
        _be_the_learner(connection, server, with_torch)
    connection.close()
    socket.send_fds(control, [STARTED], [os.pidfd_open(pid)])
    control.sendall(ENDED.pack(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])))
    os._exit(0)


def _be_the_learner(connection: socket.socket, server: Server, with_torch: bool) -> NoReturn:
    """Build the walls, then serve one notebook."""
    try:
        os.setsid()
        namespaces.unshare(namespaces.NEW_MOUNTS | namespaces.NEW_IPC)
        for folder in ("/tmp", "/dev/shm"):
            namespaces.mount_empty(folder, LIMITS.tmp_bytes, keep=python_folders())
        namespaces.mount_empty("/proc", 4096)
        os.chdir("/tmp")
        namespaces.drop_capabilities()
        limit_this_process(with_torch, isolated=True)
    except OSError:
        os._exit(1)
    talk_over(server, connection.makefile("rb"), connection.makefile("wb", buffering=0))


if __name__ == "__main__":
    main()
