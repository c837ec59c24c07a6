"""Many submissions at once: each in a process of its own, so that none can hold up or change another.

One worker for each core is started once, gets ready once (imports, the course, the warm servers), and
forks for each piece of work. A fork that dies or takes too long costs its own piece alone.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any, NoReturn, Protocol

from autograder.collector import no_collecting
from autograder.errors import UsageError
from autograder.limits import LIMITS
from autograder.processes import Lost
from autograder.words import say

PROGRAM = "from autograder.workers import main; main()"
TRIES = 2  # a worker that the system killed gets its work a second time
PATIENCE = 2.0  # seconds after which a piece of work is slow (an endless loop, mostly) and holds up no other
MOST = 3  # times the wanted number of workers, slow ones and all
_PREPARED = "prepared"  # what a worker says when all is there for its piece
_FORKS = sys.platform == "linux"  # elsewhere a fork of a process that has used BLAS is not safe


class Failed(Exception):
    """The work could not be done, through no fault of the submission; the message says why."""


class Job(Protocol):
    """What workers do. It travels to each of them once; the pieces of work come one by one."""

    def open(self) -> None:
        """In the worker, once: imports and whatever else all pieces share."""

    def prepare(self, item: Any) -> None:
        """In the worker, before it forks for `item`."""

    def do(self, item: Any) -> Any:
        """In the fork: the result."""


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    pipe: Connection
    item: Any = None
    core: int | None = None  # where it does its piece
    tried: int = 0
    began: float = 0.0  # when it was given its piece; from when it is prepared, when that was
    prepared: bool = False


def in_workers(job: Job, items: Iterable[Any], count: int, seconds: float) -> Iterator[tuple[Any, Any]]:
    """Do every item, `count` at a time and slow ones beside; pairs of an item and its result, as they come.

    The result is a `Failed` where the process died or took longer than `seconds`, twice. Items are
    taken from the iterable only as a worker comes free; what is done with a result goes on while the
    workers have their next items. Raises the UsageError that `job.open()` raised.
    """
    coming = iter(items)
    again: deque[tuple[Any, int]] = deque()
    idle: list[_Worker] = []
    busy: dict[Connection, _Worker] = {}
    finished: list[tuple[Any, Any]] = []
    try:
        while True:
            while _at_work(busy) < count and len(busy) < MOST * count:
                try:
                    item, tried = again.popleft() if again else (next(coming), 0)
                except StopIteration:
                    break
                core = _least_busy_core(busy.values())
                worker = _given((item, core), idle, job)
                worker.item, worker.core, worker.tried = item, core, tried + 1
                worker.began, worker.prepared = time.monotonic(), False
                busy[worker.pipe] = worker
            yield from finished
            finished.clear()
            if not busy:
                return
            ready = wait(list(busy), timeout=_until_next(busy, seconds))
            late = time.monotonic() - seconds
            for pipe in [pipe for pipe, worker in busy.items() if pipe in ready or worker.began <= late]:
                worker = busy[pipe]
                result = _collect(worker) if pipe in ready else Failed(say("workers.late", seconds=f"{seconds:g}"))
                if result == _PREPARED:
                    worker.began, worker.prepared = time.monotonic(), True
                    continue
                del busy[pipe]
                if isinstance(result, UsageError):
                    raise result
                if isinstance(result, Failed):
                    _end(worker)
                else:
                    idle.append(worker)
                if isinstance(result, Failed) and worker.tried < TRIES:
                    again.append((worker.item, worker.tried))
                else:
                    finished.append((worker.item, result))
    finally:
        for worker in [*idle, *busy.values()]:
            _end(worker)


def default_jobs() -> int:
    """One worker for each core that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _least_busy_core(busy: Iterable[_Worker]) -> int | None:
    """The core with the fewest workers; None where the system lets nobody choose."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    taken = Counter(worker.core for worker in busy)
    cores = list(os.sched_getaffinity(0))
    return min(random.sample(cores, len(cores)), key=lambda core: taken[core])  # at random: other runs choose too


def _at_work(busy: dict[Connection, _Worker]) -> int:
    """How many workers are busy with what is not slow; imports are not the piece's own time."""
    return sum(not worker.prepared or time.monotonic() - worker.began < PATIENCE for worker in busy.values())


def _until_next(busy: dict[Connection, _Worker], seconds: float) -> float:
    """Seconds until one of them turns slow, or late."""
    now = time.monotonic()
    moments = (worker.began + length for worker in busy.values() for length in (PATIENCE, seconds))
    return min((moment - now for moment in moments if moment > now), default=0.0)


def _start(job: Job) -> _Worker:
    """A worker that has been told its job.

    A plain program and not multiprocessing's: that would run the main program's file once more, and
    refuses to start from within another's worker (Dask's).
    """
    ours, theirs = Pipe()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # so that it and its forks can be ended together, and Ctrl+C reaches us alone
        )
    with contextlib.suppress(OSError):  # if it has ended already, that shows when it gives no result
        ours.send(job)
    return _Worker(process, ours)


def _given(task: tuple[Any, int | None], idle: list[_Worker], job: Job) -> _Worker:
    """A worker that has taken an item, and the core to do it on."""
    while idle:
        worker = idle.pop()
        try:
            worker.pipe.send(task)
            return worker
        except OSError:  # it ended after its last piece
            _end(worker)
    worker = _start(job)
    with contextlib.suppress(OSError):
        worker.pipe.send(task)
    return worker


def _collect(worker: _Worker) -> Any:
    try:
        return worker.pipe.recv()
    except (EOFError, OSError):
        return Failed(say("workers.died"))


def _end(worker: _Worker) -> None:
    """End a worker and whatever it forked."""
    worker.pipe.close()
    with contextlib.suppress(OSError):
        os.killpg(worker.process.pid, signal.SIGKILL)
    worker.process.wait()


def main() -> None:
    """In the worker: one piece after the other until the other end closes."""
    # What a watchdog interrupts with; a shell may have it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    pipe = Connection(int(sys.argv[1]))
    with contextlib.suppress(EOFError, ConnectionError, Lost):  # the run is over, or was killed, or a warm server was
        _work(pipe.recv(), pipe)


def _work(job: Job, pipe: Connection) -> None:
    try:
        with no_collecting():
            job.open()
    except UsageError as error:
        pipe.send(error)
        return
    while True:
        item, core = pipe.recv()
        job.prepare(item)
        pipe.send(_PREPARED)
        if not _FORKS:
            pipe.send(_done(job, item))
            continue
        pid = os.fork()
        if pid == 0:
            _finish(job, item, core, pipe)
        if os.waitpid(pid, 0)[1] != 0:
            return  # what it shared with the fork that died may be in any state: a new worker is cheaper


def _finish(job: Job, item: Any, core: int | None, pipe: Connection) -> NoReturn:
    """The whole life of a fork."""
    try:
        if core is not None:
            _stay_on(core)
        _limit_memory()
        pipe.send(_done(job, item))
        os._exit(0)
    except BaseException:  # nobody listens any more, or the learner's process was lost: the piece is done once more
        os._exit(1)


def _stay_on(core: int) -> None:
    """Keep this fork to one core, with the processes that it will start.

    It and a learner's process take turns, hundreds of times: on one core a turn costs half of what it
    costs between two.
    """
    os.sched_setaffinity(0, [core])


def _limit_memory() -> None:
    """Let this fork alone run out of memory: a test computes with what an answer gave back, or calls it with."""
    import resource  # not there on Windows, where nothing is forked

    _, most = resource.getrlimit(resource.RLIMIT_AS)
    wanted = LIMITS.torch_memory_bytes
    wanted = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, wanted))


def _done(job: Job, item: Any) -> Any:
    try:
        return job.do(item)
    except Exception as error:
        return Failed(say("workers.error", kind=type(error).__name__, reason=error))
