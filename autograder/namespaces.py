"""The kernel's walls around one process, built from inside it: namespaces, capabilities, system calls.

bubblewrap builds the walls around the warm server; these stand between the learners whom it serves one
after the other. By ctypes, because Python has the first of these calls from 3.12 on and the others never.
Sources: man pages unshare(2), mount(2), open_tree(2), move_mount(2), capset(2), seccomp(2), and the kernel's system call tables.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import platform
import struct
from collections.abc import Sequence

NEW_MOUNTS = 0x00020000
NEW_IPC = 0x08000000
NEW_PIDS = 0x20000000

_NOSUID_NODEV = 0x2 | 0x4
_CAPABILITY_VERSION = 0x20080522
_SET_SECCOMP, _FILTER = 22, 2

# Newer calls, which not every C library has a function for; their numbers are the same everywhere.
_OPEN_TREE, _MOVE_MOUNT = 428, 429
_HERE, _CLONE_TREE, _RECURSIVE, _FROM_DESCRIPTOR = -100, 1, 0x8000, 4

# System calls that no answer needs: other processes, their memory, new namespaces and mounts, and the
# parts of the kernel in which holes are found again and again. Their numbers on x86-64 and on ARM64.
_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_CLONE, _CLONE3 = (56, 220), (435, 435)
_REFUSED = {
    "fork": (57, None),
    "vfork": (58, None),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "mount_setattr": (442, 442),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
}
_A_THREAD = 0x00010000  # the flag of clone() that makes a thread and no process

# The small machine of seccomp filters: its instructions, and what a filter answers.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _ANSWER = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _FAIL_WITH, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_OFFSET_OF_NUMBER, _OFFSET_OF_ARCHITECTURE, _OFFSET_OF_FIRST_ARGUMENT = 0, 4, 16
_X32 = 0x40000000  # a second way to make system calls on x86-64, with numbers of its own


def unshare(flags: int) -> None:
    """Leave the namespaces named by `flags` for new ones. Raises OSError."""
    _call("unshare", flags)


def mount_empty(folder: str, size: int, keep: Sequence[str] = ()) -> None:
    """Cover `folder` with an empty one of at most `size` bytes, in memory; what lies in it at `keep` is still seen there.

    Raises OSError.
    """
    kept = [path for path in keep if path.startswith(f"{folder}/")]
    trees = [_system_call(_OPEN_TREE, _HERE, os.fsencode(path), _CLONE_TREE | _RECURSIVE) for path in kept]
    _call("mount", b"tmpfs", folder.encode(), b"tmpfs", _NOSUID_NODEV, f"size={size},mode=1777".encode())
    for path, tree in zip(kept, trees, strict=True):
        os.makedirs(path, exist_ok=True)
        _system_call(_MOVE_MOUNT, tree, b"", _HERE, os.fsencode(path), _FROM_DESCRIPTOR)
        os.close(tree)


def drop_capabilities() -> None:
    """Give up every capability, for good. Raises OSError."""
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION, 0))
    _call("capset", header, ctypes.create_string_buffer(24))


def get_ready() -> None:
    """Prepare what `refuse_system_calls` needs: done before a fork, it is there for all."""
    if platform.machine() in _ARCHITECTURES:
        _filter(*_ARCHITECTURES[platform.machine()])


def refuse_system_calls() -> bool:
    """From now on no new process, and none of the calls above; whether this machine can do that.

    A call that is refused fails with an error, as where a limit is reached; threads may still be made.
    """
    if platform.machine() not in _ARCHITECTURES:
        return False
    code = _filter(*_ARCHITECTURES[platform.machine()])
    instructions = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("@HP", len(code) // 8, ctypes.addressof(instructions))
    try:
        _call("prctl", _SET_SECCOMP, _FILTER, ctypes.create_string_buffer(program), 0, 0)
    except OSError:
        return False
    return True


@functools.cache
def _filter(architecture: int, column: int) -> bytes:
    """The filter's instructions, eight bytes each: load, compare, skip, answer."""

    def instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
        return struct.pack("=HBBI", code, if_true, if_false, value)

    def fail(error: int) -> bytes:
        return instruction(_ANSWER, _FAIL_WITH | error)

    refused = [numbers[column] for numbers in _REFUSED.values() if numbers[column] is not None]
    steps = [
        instruction(_LOAD, _OFFSET_OF_ARCHITECTURE),
        instruction(_EQUAL, architecture, if_true=1),
        instruction(_ANSWER, _KILL),
        instruction(_LOAD, _OFFSET_OF_NUMBER),
        instruction(_AT_LEAST, _X32, if_false=1),
        fail(errno.ENOSYS),
    ]
    for number in refused:
        steps += [instruction(_EQUAL, number, if_false=1), fail(errno.EPERM)]
    # glibc tries clone3 first, whose flags a filter cannot see, and falls back to clone.
    steps += [instruction(_EQUAL, _CLONE3[column], if_false=1), fail(errno.ENOSYS)]
    steps += [
        instruction(_EQUAL, _CLONE[column], if_false=3),
        instruction(_LOAD, _OFFSET_OF_FIRST_ARGUMENT),
        instruction(_ANY_BIT, _A_THREAD, if_true=1),
        fail(errno.EAGAIN),
    ]
    return b"".join([*steps, instruction(_ANSWER, _ALLOW)])


def _call(name: str, *arguments: object) -> int:
    result = getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def _system_call(number: int, *arguments: object) -> int:
    wide = (ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in (number, *arguments))
    return _call("syscall", *wide)
