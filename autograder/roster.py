"""Who is in the class: from a list that the teacher keeps, or that Canvas or Moodle hands out.

Told apart by their headers:

- ours: a column `student`, and perhaps others that name the same person (`name`, `email`, `id`, …);
- Canvas, the gradebook's "Export": `Student, ID, SIS User ID, SIS Login ID, Section`, and a row "Points Possible"
  (https://github.com/instructure/canvas-lms/blob/master/lib/gradebook_exporter.rb);
- Moodle, an assignment's "Download grading worksheet": `Identifier, Full name, Email address, …`
  (https://github.com/moodle/moodle/blob/main/public/mod/assign/feedback/offline/importgradeslib.php).
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.collected import Collected, Handed
from autograder.csvfile import read_table
from autograder.errors import UsageError
from autograder.plaintext import listed
from autograder.words import say

_CANVAS = {"student", "id", "section"}
_TEST_STUDENT = "student, test"  # Canvas's own "Student view"
_MOODLE = {"identifier", "full name"}
# Columns that name a person; any other (a section, a grade) could be met by chance.
_NAMING = (
    *("student", "id", "name", "full name", "identifier", "email", "email address", "login", "login id", "username"),
    *("student id", "id number", "canvas id", "moodle id", "sis user id", "sis login id"),
)
_PARTICIPANT = re.compile(r"\D+ (\d+)")  # Moodle's "Participant 1234567"


@dataclass(frozen=True)
class Person:
    """One student of the class, and all that names them."""

    student: str
    keys: frozenset[str]


def read_roster(path: Path) -> list[Person]:
    """The class. Raises UsageError for a table without a usable column, with nobody, or with somebody twice."""
    columns, rows = read_table(path)
    known = {column.casefold() for column in columns}
    rows = [{column.casefold(): value.strip() for column, value in row.items()} for row in rows]
    if known >= _CANVAS:
        rows = [row for row in rows if row["student"].casefold() != _TEST_STUDENT]
        people = [_person(row.get("sis login id") or row["id"], row) for row in rows]
    elif known >= _MOODLE:
        people = [_person(row.get("email address") or _in_moodle(row), row) for row in rows]
    elif "student" in known:
        people = [_person(row["student"], row) for row in rows]
    else:
        raise UsageError(say("roster.column", path=path, found=listed(columns)))
    people = [person for person in people if person.student]  # Canvas's "Points Possible" is nobody
    if not people:
        raise UsageError(say("roster.empty", path=path))
    if twice := _twice(person.student for person in people):
        raise UsageError(say("roster.twice", path=path, students=listed(twice)))
    return people


def by_roster(collected: Collected, people: Sequence[Person]) -> Collected:
    """What was collected, under the names of the roster; who handed in nothing has nothing in it."""
    exact: dict[str, set[str]] = defaultdict(set)
    folded: dict[str, set[str]] = defaultdict(set)
    for person in people:
        for key in person.keys:
            exact[key].add(person.student)
            folded[key.casefold()].add(person.student)
    students = {person.student: Handed(person.student) for person in people}
    unknown = []
    for handed in collected.students.values():
        student = _look_up(handed, exact, folded)
        if student is None:
            unknown.append(handed.student)
            student = handed.student
        students[student] = _joined(students.get(student), replace(handed, student=student))
    notices = collected.notices
    if unknown:
        notices = (*notices, say("roster.unknown", students=listed(unknown)))
    return Collected(dict(sorted(students.items())), notices)


def _in_moodle(row: Mapping[str, str]) -> str:
    """A student without an address, under the name that a download of Moodle gives."""
    participant = _PARTICIPANT.fullmatch(row["identifier"])
    return "_".join(filter(None, (row["full name"], participant and participant[1])))


def _person(student: str, row: Mapping[str, str]) -> Person:
    cells = [student, *(row[column] for column in _NAMING if row.get(column))]
    keys = {_plain(key) for cell in cells for key in _keys(cell)}
    return Person(unicodedata.normalize("NFC", student), frozenset(keys))


def _keys(cell: str) -> Iterable[str]:
    """A cell, and what else it may be written as."""
    yield cell
    if match := _PARTICIPANT.fullmatch(cell):
        yield match[1]
    local, at, _ = cell.partition("@")
    if at:
        yield local
    last, comma, first = cell.partition(",")
    if comma:
        yield f"{first} {last}"


def _look_up(handed: Handed, exact: Mapping[str, set[str]], folded: Mapping[str, set[str]]) -> str | None:
    """The one student of the roster whom the surest key names; None where none does, or it names several.

    Capitals and small letters count where they tell students apart, and nowhere else.
    """
    for key in map(_plain, handed.keys):
        if candidates := exact.get(key) or folded.get(key.casefold()):
            return next(iter(candidates)) if len(candidates) == 1 else None
    return None


def _joined(one: Handed | None, other: Handed) -> Handed:
    """Two parts of what one student handed in."""
    if one is None:
        return other
    return replace(
        other,
        files=(*one.files, *other.files),
        flags=(*one.flags, *other.flags),
        run_files=(*one.run_files, *other.run_files),
        left_out=(*one.left_out, *other.left_out),
        stamps=(*one.stamps, *other.stamps),
    )


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _twice(students: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    return sorted({student for student in students if student in seen or seen.add(student)})
