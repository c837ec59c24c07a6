"""The journal: every result as soon as it is known, one line of JSON each, so that nothing is graded twice.

A run that was killed goes on from here; a run over the same submissions finds them all. Of several
lines for the same student and assignment the last one counts. The first line names the format. A line that was being written when the machine stopped is cut off on the
next opening, and its submission is graded again.
"""

from __future__ import annotations

import errno
import fcntl
import json
import math
import os
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

from autograder.errors import UsageError
from autograder.results import CheckResult, ExerciseResult, SubmissionResult
from autograder.statuses import PASSED, STATUSES
from autograder.words import say, say_count

FORMAT = 1
_TYPES = {"str": (str,), "bool": (bool,), "float": (float, int)}  # of a record's fields; the others are tuples


def to_json(result: SubmissionResult) -> dict:
    """A result as plain lists and dicts."""
    return asdict(result)


def from_json(data: dict) -> SubmissionResult:
    """The result that `to_json` took apart. Raises TypeError, ValueError, KeyError or AttributeError where it is not one."""
    exercises = tuple(
        _record(ExerciseResult, {**exercise, "checks": tuple(_record(CheckResult, c) for c in exercise["checks"])})
        for exercise in data["exercises"]
    )
    texts = {name: _texts(data[name]) for name in ("repairs", "flags")}
    return _record(SubmissionResult, {**data, **texts, "exercises": exercises})


class Journal:
    """An open journal file; one process at a time.

    `with Journal(path) as journal:` reads what is there. `dropped` says how many lines could not be
    read and `set_aside` where a journal of another format was moved to (None when there was none).
    Raises UsageError when another run holds the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.dropped = 0
        self.set_aside: Path | None = None
        self._results: dict[tuple[str, str, str], SubmissionResult] = {}
        self._latest: dict[tuple[str, str], str] = {}  # (student, assignment): the key of its last line
        path.parent.mkdir(parents=True, exist_ok=True)
        self._open()
        try:
            self._read()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        """How many results it holds."""
        return len(self._results)

    def find(self, student: str, assignment: str, key: str) -> SubmissionResult | None:
        """The result of this very content, or None.

        The student belongs to the question: two of them may hand in the same bytes. A result with an
        `ungraded` exercise is never found, so that it is tried again.
        """
        result = self._results.get((student, assignment, key))
        if result is None or any(STATUSES[exercise.status].ours for exercise in result.exercises):
            return None
        return result

    def latest(self, student: str, assignment: str) -> tuple[str, SubmissionResult] | None:
        """The key and the result that count for a student's assignment; None where it was never graded."""
        key = self._latest.get((student, assignment))
        return None if key is None else (key, self._results[student, assignment, key])

    def all_latest(self) -> list[tuple[str, SubmissionResult]]:
        """The keys and results that count, in the order in which their students and assignments first came."""
        return [(key, self._results[student, assignment, key]) for (student, assignment), key in self._latest.items()]

    def append(self, key: str, result: SubmissionResult) -> None:
        """Write one result; when this returns, it has reached the disk.

        An OSError (a full disk) leaves the journal as it was before.
        """
        # ASCII alone, so that a lone surrogate or a NUL in an answer comes back as it was.
        line = json.dumps({"key": key, "result": to_json(result)}, ensure_ascii=True, separators=(",", ":"))
        self._write(line)
        self._note(key, result)

    def notices(self) -> list[str]:
        """What became of the file that a teacher should know, one sentence each."""
        notices = []
        if self.set_aside:
            notices.append(say("journal.set_aside", path=self.path, moved=self.set_aside))
        if self.dropped:
            notices.append(say_count("journal.dropped", self.dropped, path=self.path))
        if not self._is_in_place():
            notices.append(say("journal.gone", path=self.path))
        return notices

    def _is_in_place(self) -> bool:
        """Whether the file that is written is still the one at its path."""
        try:
            return os.path.samestat(os.fstat(self._file), self.path.stat())
        except OSError:
            return False

    def close(self) -> None:
        """Give the file back; a second call does nothing."""
        if self._file >= 0:
            os.close(self._file)  # and with it the lock
            self._file = -1

    def _open(self) -> None:
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise UsageError(say("journal.busy", path=self.path)) from None
        except OSError as error:  # some network file systems know no locks: go on without one
            if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
                self.close()
                raise

    def _read(self) -> None:
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            self.dropped += 1
            os.ftruncate(self._file, len(whole))
        first, *lines = whole.split(b"\n") if whole else [b""]
        if not first:
            self._write(json.dumps({"journal": FORMAT}))
        elif _parse(first).get("journal") != FORMAT:
            self._start_over()
        for line in lines:
            if line and self.set_aside is None:
                self._remember(line)

    def _start_over(self) -> None:
        """Move a journal of another format aside: losing it costs time only, misreading it could cost points."""
        numbers = (number for number in range(1, 1_000_000))
        self.set_aside = next(
            path for path in (self.path.with_name(f"{self.path.name}.old{n}") for n in numbers) if not path.exists()
        )
        self.path.rename(self.set_aside)
        self.close()
        self._open()
        self._write(json.dumps({"journal": FORMAT}))

    def _remember(self, line: bytes) -> None:
        try:
            record = _parse(line)
            (key,) = _texts([record["key"]])
            self._note(key, from_json(record["result"]))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            self.dropped += 1

    def _note(self, key: str, result: SubmissionResult) -> None:
        self._results[result.student, result.assignment, key] = result
        self._latest[result.student, result.assignment] = key

    def _write(self, line: str) -> None:
        end = os.fstat(self._file).st_size
        rest = memoryview(line.encode("ascii") + b"\n")
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
            os.fsync(self._file)
        except BaseException:
            os.ftruncate(self._file, end)
            raise


def _parse(line: bytes) -> dict:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):  # the second: lists too deep
        return {}
    return record if isinstance(record, dict) else {}


def _record(kind: type[Any], fields: dict) -> Any:
    """A record whose fields have the types that its class names: whoever edits a journal may write anything."""
    for name, value in fields.items():
        if type(value) not in _TYPES.get(kind.__annotations__[name], (tuple,)):
            raise TypeError(name)
        if name.endswith("score") and not math.isfinite(value):
            raise ValueError(name)
    if fields.get("status", PASSED.name) not in STATUSES:
        raise ValueError("status")
    return kind(**fields)


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError
    return tuple(values)
