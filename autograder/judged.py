"""handed_in.json: when who handed in, and what was taken off for it, as the last run judged it.

grades.csv shows the same, but that is a file for people, and a spreadsheet makes another one of it.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from autograder.errors import UsageError
from autograder.files import write_aside
from autograder.grades import read_grades
from autograder.marks import Who
from autograder.policy import Late
from autograder.words import say

FORMAT = 1


@dataclass(frozen=True)
class Judged:
    """What one submission's time came to."""

    submitted: str  # ISO 8601
    late_percent: float  # of the points that were taken off


def read_judged(path: Path, grades: Path) -> dict[Who, Judged]:
    """What the last run wrote; where there is no such file, what its grades.csv tells.

    Raises UsageError where a file is there and cannot be read: late marks would rise unsaid.
    """
    if not path.exists():
        return _told_by(grades)
    try:
        content = json.loads(path.read_bytes())
        if content["handed_in"] != FORMAT:
            raise ValueError
        return dict(_entry(*entry) for entry in content["submissions"])
    except OSError as error:
        raise UsageError(say("csv.no_file", path=path, reason=error.strerror or error)) from None
    except (ValueError, LookupError, TypeError, RecursionError):  # damaged in whatever way
        raise UsageError(say("judged.damaged", path=path)) from None


def write_judged(path: Path, judged: Mapping[Who, Judged]) -> None:
    """Write everything, a line for each submission."""
    entries = (json.dumps([*who, one.submitted, one.late_percent]) for who, one in sorted(judged.items()))
    lines = ",\n".join(entries)
    write_aside(path, f'{{"handed_in": {FORMAT}, "submissions": [\n{lines}\n]}}\n')


def judged_of(late: Mapping[Who, Late]) -> dict[Who, Judged]:
    """What is to be written of submissions whose time is known."""
    return {
        _who(*who): Judged(one.handed_in.isoformat(timespec="seconds"), one.percent)
        for who, one in late.items()
        if one.handed_in is not None
    }


def _told_by(grades: Path) -> dict[Who, Judged]:
    if not grades.exists():
        return {}
    try:
        rows = read_grades(grades)
    except UsageError as error:
        raise UsageError(say("judged.unknown", reason=error)) from None
    return {_who(row.student, row.assignment): Judged(row.submitted, row.late_percent) for row in rows if row.submitted}


def _entry(student: str, assignment: str, submitted: str, late_percent: float) -> tuple[Who, Judged]:
    datetime.fromisoformat(submitted)
    if not 0.0 <= late_percent <= 100.0:
        raise ValueError
    return _who(student, assignment), Judged(submitted, late_percent)


def _who(student: str, assignment: str) -> Who:
    """As a table of times names a submission (`times.row_of`)."""
    return unicodedata.normalize("NFC", student), assignment
