"""The teacher's policy: when each chapter is due, and what handing it in late costs.

All lines that the file may have stand in `words.WORDS["policy.example"]`, which `grade --help` shows.
The file is TOML, because Python reads it by itself and it has dates with an offset as a kind of its
own; in YAML an unquoted time may come out as a number.
"""

from __future__ import annotations

import tomllib
import unicodedata
import zoneinfo
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

from autograder.errors import UsageError
from autograder.words import say

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
YEARS = (2000, 2200)  # the first and the last of a due date: near the ends of the calendar no time can be computed
_RULES = ("grace_minutes", "percent_per_day", "percent_per_hour", "at_most_percent", "zero_after_days")


@dataclass(frozen=True)
class Rule:
    """What lateness costs, in per cent of the points earned."""

    grace: timedelta = timedelta()
    percent: float = 0.0  # for each unit begun
    unit: timedelta = DAY
    at_most: float = 100.0
    zero_after_days: float | None = None


@dataclass(frozen=True)
class Deadline:
    """When a chapter is due, and the rule that holds for it."""

    due: datetime  # with a time zone
    rule: Rule


@dataclass(frozen=True)
class Late:
    """What one submission's time comes to."""

    extension: timedelta | None = None  # how much later than the class's
    handed_in: datetime | None = None
    percent: float = 0.0  # of the points earned that are taken off
    sentence: str = ""  # for the learner; "" when it was on time
    warning: str = ""  # for the teacher; "" when there is nothing to look at


@dataclass(frozen=True)
class Policy:
    """A policy file, read and checked."""

    deadlines: Mapping[str, Deadline] = field(default_factory=dict)
    extensions: Mapping[tuple[str, str], datetime] = field(default_factory=dict)  # (student, chapter)
    zone: tzinfo | None = None
    file_times: bool = False
    notices: tuple[str, ...] = ()  # due dates at an hour that the clock skips or shows twice

    def due(self, student: str, chapter: str) -> datetime | None:
        """This student's due date; None where the chapter has none."""
        deadline = self.deadlines.get(chapter)
        return deadline and self.extensions.get((unicodedata.normalize("NFC", student), chapter), deadline.due)

    def judge(self, student: str, chapter: str, handed_in: datetime | None) -> Late:
        """What handing in at this time costs."""
        due = self.due(student, chapter)
        if due is None:
            return Late(handed_in=handed_in)
        deadline = self.deadlines[chapter]
        extension = due.astimezone(UTC) - deadline.due.astimezone(UTC) or None
        if handed_in is None:
            return Late(extension)
        percent = late_percent(deadline.rule, due, handed_in)
        late = handed_in.astimezone(UTC) - due.astimezone(UTC)
        sentence = ""
        if late > deadline.rule.grace:
            time = f"{handed_in.astimezone(due.tzinfo):%Y-%m-%d %H:%M} ({zone_name(due)})"
            sentence = say(
                "late.sentence" if percent else "late.free", time=time, late=_span(late), percent=_number(percent)
            )
        return Late(extension, handed_in, percent, sentence)

    def unknown_students(self, students: Collection[str]) -> list[str]:
        """Whom an extension names who handed in nothing: most likely a slip of the pen."""
        known = {unicodedata.normalize("NFC", student) for student in students}
        return sorted({student for student, _ in self.extensions} - known)


def late_percent(rule: Rule, due: datetime, handed_in: datetime) -> float:
    """How many per cent are taken off, 0 to 100.

    A day is over when the clock of the due date's zone shows the due time again, also when the clocks
    changed in between: that day has 23 or 25 hours. An hour is an hour.
    """
    late = handed_in.astimezone(UTC) - due.astimezone(UTC)
    if late <= max(rule.grace, timedelta()):
        return 0.0
    if rule.zero_after_days is not None and handed_in > _on_the_clock(due, timedelta(days=rule.zero_after_days)):
        return 100.0
    return min(rule.percent * _begun(rule.unit, due, handed_in), rule.at_most)


def read_policy(path: Path, chapters: Collection[str]) -> Policy:
    """The policy in `path` for a course with these chapters. Raises UsageError with the place of what is wrong."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(say("policy.no_file", path=path, reason=error.strerror or error)) from None
    except UnicodeDecodeError:
        raise UsageError(say("policy.encoding", path=path)) from None
    except (ValueError, RecursionError) as error:  # also a number of too many digits, or lists too deep
        raise UsageError(say("policy.syntax", path=path, reason=error)) from None
    return _Reader(path, chapters, data).policy()


class _Reader:
    """Checks a policy file's content; each complaint names the file and the line's own name."""

    def __init__(self, path: Path, chapters: Collection[str], data: dict[str, Any]) -> None:
        self._path = path
        self._chapters = chapters
        self._data = data
        self._notices: list[str] = []
        self._zone: tzinfo | None = None

    def policy(self) -> Policy:
        self._keys(self._data, "", ("zone", "file_times", "late", "chapters", "extensions"))
        self._zone = self._zone_of(self._data["zone"]) if "zone" in self._data else None
        file_times = self._data.get("file_times", False)
        if not isinstance(file_times, bool):
            raise self._wrong("file_times", say("policy.bool"))
        late = self._table(self._data, "late", "late")
        self._keys(late, "late", _RULES)
        self._rule(late, "late")  # read for itself: a slip is told where it stands, and also where nothing is due
        deadlines = {}
        for chapter, lines in self._tables("chapters"):
            place = f"chapters.{chapter}"
            self._chapter(chapter, place)
            self._keys(lines, place, ("due", *_RULES))
            rule = self._rule({**_without_other_unit(late, lines), **lines}, place)
            if "due" in lines:
                deadlines[chapter] = Deadline(self._time(lines["due"], f"{place}.due"), rule)
        extensions = {}
        for student, lines in self._tables("extensions"):
            for chapter, due in lines.items():
                place = f"extensions.{student}.{chapter}"
                self._chapter(chapter, place)
                if chapter not in deadlines:
                    raise self._wrong(place, say("policy.nothing_due", chapter=chapter))
                time = self._time(due, place)
                if time.astimezone(UTC) < deadlines[chapter].due.astimezone(UTC):
                    raise self._wrong(place, say("policy.earlier"))
                extensions[unicodedata.normalize("NFC", student), chapter] = time
        return Policy(deadlines, extensions, self._zone, file_times, tuple(self._notices))

    def _rule(self, lines: dict[str, Any], place: str) -> Rule:
        if "percent_per_day" in lines and "percent_per_hour" in lines:
            raise self._wrong(place, say("policy.day_or_hour"))
        unit, name = (HOUR, "percent_per_hour") if "percent_per_hour" in lines else (DAY, "percent_per_day")
        return Rule(
            grace=timedelta(minutes=self._number(lines, "grace_minutes", place, 0.0, 366 * 24 * 60)),
            percent=self._number(lines, name, place, 0.0, 100.0),
            unit=unit,
            at_most=self._number(lines, "at_most_percent", place, 100.0, 100.0),
            zero_after_days=self._number(lines, "zero_after_days", place, 0.0, 3660.0)
            if "zero_after_days" in lines
            else None,
        )

    def _number(self, lines: dict[str, Any], name: str, place: str, default: float, largest: float) -> float:
        value = lines.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= largest:
            raise self._wrong(f"{place}.{name}", say("policy.number", value=value, largest=_number(largest)))
        return float(value)

    def _time(self, value: object, place: str) -> datetime:
        """A date and time with a zone: its own offset, else the file's zone."""
        if not isinstance(value, datetime):
            raise self._wrong(
                place, say("policy.day_only" if isinstance(value, date) else "policy.no_time", value=value)
            )
        if not YEARS[0] <= value.year <= YEARS[1]:
            raise self._wrong(place, say("policy.year", value=value, first=YEARS[0], last=YEARS[1]))
        if value.tzinfo is not None:
            return value
        if self._zone is None:
            raise self._wrong(place, say("policy.no_zone", value=value))
        value = value.replace(tzinfo=self._zone)
        shown = f"{value:%Y-%m-%d %H:%M}"
        came_back = value.astimezone(UTC).astimezone(self._zone)
        if came_back.replace(tzinfo=None) != value.replace(tzinfo=None):
            self._notices.append(say("policy.gap", place=place, time=shown, taken=f"{came_back:%H:%M}"))
            return came_back
        later = value.replace(fold=1)
        if later.utcoffset() != value.utcoffset():
            self._notices.append(say("policy.fold", place=place, time=shown))
        return later

    def _zone_of(self, name: object) -> tzinfo:
        try:
            return zoneinfo.ZoneInfo(name)  # anything else is refused below
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, TypeError, OSError):
            raise self._wrong("zone", say("policy.zone", name=name)) from None

    def _chapter(self, chapter: str, place: str) -> None:
        if chapter not in self._chapters:
            raise self._wrong(place, say("policy.chapter", known=", ".join(self._chapters)))

    def _tables(self, name: str) -> list[tuple[str, dict[str, Any]]]:
        tables = self._table(self._data, name, name)
        return [(key, self._table(tables, key, f"{name}.{key}")) for key in tables]

    def _table(self, lines: dict[str, Any], name: str, place: str) -> dict[str, Any]:
        table = lines.get(name, {})
        if not isinstance(table, dict):
            raise self._wrong(place, say("policy.table", place=place))
        return table

    def _keys(self, lines: dict[str, Any], place: str, known: tuple[str, ...]) -> None:
        for key in lines:
            if key not in known:
                raise self._wrong(f"{place}.{key}".lstrip("."), say("policy.key", known=", ".join(known)))

    def _wrong(self, place: str, reason: str) -> UsageError:
        return UsageError(say("policy.wrong", path=self._path, place=place, reason=reason))


def _without_other_unit(late: dict[str, Any], lines: dict[str, Any]) -> dict[str, Any]:
    """The lines of [late] under a chapter's own: its per cent an hour stand in place of those a day."""
    units = ("percent_per_day", "percent_per_hour")
    replaced = any(unit in lines for unit in units)
    return {name: value for name, value in late.items() if not (replaced and name in units)}


def zone_name(time: datetime) -> str:
    """Asia/Seoul, or UTC+09:00 where the zone is an offset alone."""
    return getattr(time.tzinfo, "key", None) or str(time.tzinfo)


def _begun(unit: timedelta, due: datetime, handed_in: datetime) -> int:
    """How many days or hours after the due date have begun."""
    if unit == HOUR:
        late = handed_in.astimezone(UTC) - due.astimezone(UTC)
        return -(-late // HOUR)
    days = max((handed_in.astimezone(due.tzinfo).date() - due.date()).days - 1, 0)
    while handed_in > _on_the_clock(due, timedelta(days=days)):
        days += 1
    return days


def _on_the_clock(due: datetime, span: timedelta) -> datetime:
    """The moment at which the due date's clock has gone on by `span`."""
    return (due + span).astimezone(UTC)  # adding moves the clock's hands; astimezone finds the moment


def _span(late: timedelta) -> str:
    """How long, in the two largest units: '2 d 3 h', '3 h 20 min', '20 min'."""
    minutes = max(-(-late // timedelta(minutes=1)), 1)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return say("late.days_hours" if hours else "late.days", days=days, hours=hours)
    if hours:
        return say("late.hours_minutes" if minutes else "late.hours", hours=hours, minutes=minutes)
    return say("late.minutes", minutes=minutes)


def _number(value: float) -> str:
    return f"{value:g}"
