"""When something was handed in: from the teacher's table, or from nbgrader's timestamp.txt.

Never from what stands in a notebook: a learner writes that. A row of the teacher's table goes before
a timestamp.txt, because a learner may pack one into what is handed in. nbgrader's exchange writes
that file beside a submission, as "2026-10-05 14:59:00.000000 UTC"; where it names no zone it means UTC
(https://nbgrader.readthedocs.io/en/stable/user_guide/managing_assignment_files.html).
"""

from __future__ import annotations

import re
import unicodedata
import zoneinfo
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

from autograder.csvfile import read_table
from autograder.errors import UsageError
from autograder.plaintext import one_line
from autograder.policy import Policy
from autograder.words import say

TIMESTAMP_FILE = "timestamp.txt"
STAMP_BYTES = 200  # of timestamp.txt that are read
SHOWN = 60  # characters of a time stamp that a warning quotes
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)  # a clock that was never set says 1970

_ZONED = re.compile(r"(?P<time>\S+(?: [\d:.]+)?) ?(?P<zone>[A-Za-z][\w/+-]*|[+-]\d\d:?\d\d)")

Table = Mapping[tuple[str, str], str]  # (student, chapter) to what stands in `submitted`


def row_of(table: Table, student: str, chapter: str) -> str | None:
    """What the table says of a submission; None where it says nothing."""
    return table.get((unicodedata.normalize("NFC", student), chapter))


@dataclass(frozen=True)
class Stamp:
    """What a submission itself tells of its time."""

    text: str | None = None  # of timestamp.txt
    modified: float | None = None  # of its latest notebook file, in seconds since 1970


class NotATime(ValueError):
    """A text that is no time at which anything can have been handed in; the message says why."""


def read_times(path: Path, chapters: Collection[str]) -> Table:
    """The teacher's table: the columns `student` and `submitted`, and `assignment` where it is about several.

    Of several rows for one student and chapter the last counts. Raises UsageError where a column is missing.
    """
    columns, rows = read_table(path)
    for column in ("student", "submitted"):
        if column not in columns:
            raise UsageError(say("times.column", path=path, column=column, found=", ".join(columns)))
    if "assignment" not in columns and len(chapters) != 1:
        raise UsageError(say("times.assignment", path=path, chapters=", ".join(chapters)))
    only = next(iter(chapters), "")
    return {
        (unicodedata.normalize("NFC", row["student"].strip()), row.get("assignment", only).strip()): row["submitted"]
        for row in rows
        if row["submitted"].strip()
    }


def handed_in(row: str | None, stamp: Stamp, policy: Policy, now: datetime) -> tuple[datetime | None, str]:
    """When something was handed in, and a warning: either may be missing. A nonsense time is a warning.

    `row` is what the teacher's table says; its times are the policy's zone's where they name none.
    """
    try:
        if row is not None:
            return parse_time(row, policy.zone, now), ""
        if stamp.text is not None:
            return parse_time(stamp.text, UTC, now), ""
        if policy.file_times and stamp.modified is not None:
            return _time_of_file(stamp.modified, now), ""
    except NotATime as error:
        return None, say("times.nonsense", reason=error)
    return None, say("times.unknown")


def parse_time(text: str, zone: tzinfo | None, now: datetime) -> datetime:
    """A time with its zone: ISO 8601, or nbgrader's form with a zone's name behind a space.

    Raises NotATime also for a time before 2000, or more than a day after `now`.
    """
    shown = one_line(text, SHOWN)
    match = _ZONED.fullmatch(text.strip())
    try:
        if match and match["zone"][0] in "+-":
            time = datetime.fromisoformat(match["time"] + match["zone"])
        elif match and match["zone"] != "Z":
            time = datetime.fromisoformat(match["time"])
            zone = zoneinfo.ZoneInfo(match["zone"])
        else:
            time = datetime.fromisoformat(text.strip())
        if ":" not in text:
            raise ValueError("a day without a time")
    except (ValueError, zoneinfo.ZoneInfoNotFoundError, OSError):
        raise NotATime(say("times.not_a_time", text=shown)) from None
    if time.tzinfo is None:
        if zone is None:
            raise NotATime(say("times.no_zone", text=shown))
        time = time.replace(tzinfo=zone)
    return _possible(time, shown, now)


def _time_of_file(modified: float, now: datetime) -> datetime:
    """A file's own time. Raises NotATime; many a zip says 1980 for want of a clock."""
    try:
        time = datetime.fromtimestamp(modified, UTC)
    except (ValueError, OverflowError, OSError):
        raise NotATime(say("times.no_calendar")) from None
    return _possible(time, time.isoformat(" ", "minutes"), now)


def _possible(time: datetime, shown: str, now: datetime) -> datetime:
    if not EARLIEST <= time <= now + timedelta(days=1):
        raise NotATime(say("times.impossible", text=shown))
    return time
