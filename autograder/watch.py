"""A learner's own notebook, checked each time it is saved.

What takes time is starting Python and importing NumPy (and PyTorch): the next learner's process is
started while the learner thinks. Each check takes a new one, since a used one still holds what
earlier answers defined.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from autograder.attempts import Attempts
from autograder.check import Checked, Start, check_cells, lines_of, notes_of, start_here
from autograder.errors import UsageError
from autograder.link import Link, Stopped
from autograder.notebooks import Cell, Unreadable, read_cells
from autograder.processes import LearnerProcess
from autograder.words import say

POLL = 0.02  # seconds between two looks; by hand, because looking at one file costs less than a library to be told
PATIENCE = 1.0  # seconds for which a file may be half-written, or away while an editor swaps in the new one

Stamp = tuple[int, int, int]


class Ready:
    """One learner's process kept ready, for the notebook that is checked next."""

    def __init__(self, start: Start = start_here) -> None:
        self._start = start
        self._thread = ThreadPoolExecutor(1)
        self._next: tuple[bool, Path, Future[Link]] | None = None

    def __enter__(self) -> Ready:
        return self

    def __exit__(self, *error: object) -> None:
        self._drop()
        self._thread.shutdown()

    def take(self, with_torch: bool, folder: Path) -> Link:
        """A process that ran no answer yet: the one that is ready, if it is of the right kind. Raises Stopped."""
        if self._next and self._next[:2] == (with_torch, folder):
            future, self._next = self._next[2], None
            with contextlib.suppress(Stopped):  # it did not start
                link = future.result()
                if _is_alive(link):
                    link.process = _ClosedAside(link.process, self._thread)
                    return link
        return self._start(with_torch, folder)

    def prepare(self, with_torch: bool, folder: Path) -> None:
        """Begin to start the next process; returns at once."""
        self._drop()
        self._next = with_torch, folder, self._thread.submit(self._warm, with_torch, folder)

    def _warm(self, with_torch: bool, folder: Path) -> Link:
        link = self._start(with_torch, folder)
        try:
            link.run("__import__('autograder.hints')", "")  # what every notebook imports first; leaves no name behind
        except Stopped:
            link.close()
            raise
        return link

    def _drop(self) -> None:
        if self._next and not self._next[2].cancel():
            with contextlib.suppress(Stopped):
                self._next[2].result().close()
        self._next = None


class _ClosedAside:
    """A learner's process that has done its work: nobody waits for its end, which takes PyTorch a tenth of a second."""

    def __init__(self, process: LearnerProcess, thread: ThreadPoolExecutor) -> None:
        self._close, self._thread = process.close, thread
        self.read, self.write, self.kill, self.wait = process.read, process.write, process.kill, process.wait

    def close(self) -> None:
        self.kill()
        self._thread.submit(self._close)


class Watched:
    """One notebook under watch: `look` at it again and again."""

    def __init__(self, path: Path, course: Path, ready: Ready, write: Callable[[str], object]) -> None:
        self.path = path
        self.checked: Checked | None = None  # what its last check found
        self._course = course
        self._ready = ready
        self._write = write
        self._attempts = Attempts()
        self._others: dict[Path, tuple[Stamp, int, int]] = {}  # beside it: (saved when, right, of how many)
        self._stamp: Stamp | None = None
        self._since = float("-inf")  # when the file became as it is
        self._settled = False  # nothing to do until it changes

    def look(self, now: float) -> None:
        """Check the notebook if it was saved since the last look. `now` in seconds.

        What cannot be read is waited for, and told once when it stays so.
        """
        stamp = _stamp(self.path)
        if stamp != self._stamp:
            self._stamp, self._since, self._settled = stamp, now, False
        if self._settled:
            return
        try:
            cells = read_cells(self.path)
        except (OSError, Unreadable) as error:
            self._settled = now - self._since >= PATIENCE
            if self._settled:
                self._write(self._unreadable(error))
            return
        self._settled = True
        try:
            self._check(cells)
        except UsageError as error:
            self._write(str(error))

    def _unreadable(self, error: Exception) -> str:
        if isinstance(error, FileNotFoundError):
            return say("watch.gone", path=self.path)
        reason = error.strerror if isinstance(error, OSError) else error
        return say("watch.broken", path=self.path, reason=reason)

    def _check(self, cells: tuple[Cell, ...]) -> None:
        """Check the notebook, and say what is new and how far the chapter is. Raises UsageError."""
        last = self.checked
        self.checked = check_cells(self.path, cells, self._course, self._attempts, self._ready.take)
        self._write("\n".join(_news(self.checked, last)))
        self._ready.prepare(self.checked.with_torch, self.path.parent.resolve())
        right, total = self._chapter(self.checked)
        clock, chapter = time.strftime("%H:%M:%S"), self.checked.released.chapter
        self._write(say("watch.progress", time=clock, chapter=chapter, right=right, total=total))

    def _chapter(self, checked: Checked) -> tuple[int, int]:
        """(how many exercises are right, of how many), over the chapter's notebooks that lie beside this one."""
        right, total = checked.right, len(checked.exercises)
        for name in checked.released.others:
            other_right, other_total = self._counted(self.path.with_name(f"{name}.ipynb"))
            right += other_right
            total += other_total
        return right, total

    def _counted(self, path: Path) -> tuple[int, int]:
        """As `_chapter`, of one other notebook; checked where it was saved since. Nothing where it cannot be."""
        stamp = _stamp(path)
        if stamp is None:
            return 0, 0
        if self._others.get(path, (None,))[0] != stamp:
            self._others.pop(path, None)
            with contextlib.suppress(OSError, Unreadable, UsageError):
                other = check_cells(path, read_cells(path), self._course, Attempts())
                self._others[path] = stamp, other.right, len(other.exercises)
        _, right, total = self._others.get(path, (stamp, 0, 0))
        return right, total


def watch(path: Path, course: Path, write: Callable[[str], object], pauses: Iterator[float]) -> bool:
    """Check the notebook at `path` each time it is saved, until `pauses` end or Ctrl+C; whether all was right at last.

    `pauses`: comes back after each pause with the time, in seconds. Raises UsageError for a path without a file.
    """
    if not path.is_file():
        raise UsageError(say("check.no_file", path=path))
    with Ready() as ready:
        watched = Watched(path, course, ready, write)
        write(say("watch.begin", path=path))
        try:
            for now in pauses:
                watched.look(now)
        except KeyboardInterrupt:
            write("\n" + say("watch.end", path=path))
    return watched.checked is not None and watched.checked.all_right


def clock() -> Iterator[float]:
    """The time, every POLL seconds."""
    while True:
        yield time.monotonic()
        time.sleep(POLL)


def _news(checked: Checked, last: Checked | None) -> list[str]:
    """Everything at the first time, and then the exercises of which something else is to be said."""
    if last is None:
        return [*lines_of(checked, checked.exercises), *notes_of(checked), *_at_last(checked, last)]
    said = {exercise.exercise: (exercise.status, exercise.message) for exercise in last.exercises}
    changed = [one for one in checked.exercises if said.get(one.exercise) != (one.status, one.message)]
    notes = notes_of(checked) if checked.notes != last.notes else []
    return [*lines_of(checked, changed), *notes, *_at_last(checked, last)] or [say("watch.same")]


def _at_last(checked: Checked, last: Checked | None) -> list[str]:
    """That all is right, and what is still to come, once when it becomes so."""
    new = checked.all_right and not (last and last.all_right)
    return [say("check.all", total=len(checked.exercises))] if new else []


def _is_alive(link: Link) -> bool:
    """Whether a process that waited still answers; it is closed where not."""
    try:
        link.run("pass", "")
    except Stopped:
        link.close()
        return False
    return True


def _stamp(path: Path) -> Stamp | None:
    """What changes when a file is saved; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
