"""The one table of statuses: what can become of an exercise, and what each means to a reader."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Status:
    """One outcome: its name in `grades.csv`, whether it earns points, whose fault it is not."""

    name: str
    meaning: str
    earns: bool = False
    ours: bool = False


PASSED = Status("passed", "every check passed", earns=True)
FAILED = Status("failed", "a check said no")
ERROR = Status("error", "the answer raised an error")
TIMEOUT = Status("timeout", "the answer ran longer than the time limit")
MEMORY = Status("memory", "the answer needed more memory than the limit")
DIED = Status("died", "the answer ended its own process")
UNANSWERED = Status("unanswered", "there is no answer yet")
MISSING = Status("missing", "no file was handed in")
UNREADABLE = Status("unreadable", "the file is not a notebook")
UNGRADED = Status("ungraded", "something of ours failed: not a zero, grade again", ours=True)

BY_HAND = Status("manual", "a teacher reads it and gives the points")  # of grades.csv alone: no check runs

STATUSES = {
    status.name: status
    for status in (PASSED, FAILED, ERROR, TIMEOUT, MEMORY, DIED, UNANSWERED, MISSING, UNREADABLE, UNGRADED)
}
