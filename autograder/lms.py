"""Marks into the file that Canvas or Moodle handed out: the grade cells change, every other byte stays.

Canvas: the gradebook's "Export", and "Import" to give it back. A header `Student, ID, SIS User ID,
SIS Login ID, Section`, then columns named `Title (1234)`; perhaps a line of "Manual Posting"; a line
"    Points Possible"; then the students. A cell "EX" (excused) or "N/A" (not assigned) is not ours.
(https://github.com/instructure/canvas-lms: lib/gradebook_exporter.rb writes it, lib/gradebook_importer.rb
reads it; https://ts.vcu.edu/askit/teaching-and-learning/canvas/faculty/grading-faculty/gradebook-action-menu-faculty/)

Moodle: an assignment's "Download grading worksheet", and "Upload grading worksheet". `Identifier, Full
name, Email address, Status, Grade, Maximum Grade, …`; rows are found by `Identifier`, columns by
their titles in the language of the site. (https://github.com/moodle/moodle:
mod/assign/feedback/offline/importgradeslib.php reads it)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autograder.csvfile import CsvCell, CsvFile
from autograder.errors import UsageError
from autograder.pages.layout import chapter_title
from autograder.people import match_people
from autograder.words import say

CANVAS, MOODLE = "canvas", "moodle"
MOODLE_GRADE = "Grade"
POINTS_POSSIBLE = "Points Possible"
READ_ONLY = re.compile(r"read\s+only", re.I)
NOT_OURS = ("EX", "N/A")

_WITH_ID = re.compile(r"(?P<title>.*) \((?P<id>\d+)\)", re.S)
_NUMBER = re.compile(r"\s*\d+(?:[.,]\d+)?\s*")
_OTHER = re.compile(r"[\W_]+")
_TEST_STUDENTS = ("student, test", "test student")  # Canvas's own "Student view"


@dataclass(frozen=True)
class Total:
    """A student's marks for one chapter."""

    points: float | None  # None: not known yet
    max_score: float


Totals = Mapping[str, Mapping[str, Total]]  # chapter, student


@dataclass(frozen=True)
class Filled:
    """What was filled, and all that a teacher should know of it."""

    content: bytes
    cells: int  # that now hold a mark
    columns: Mapping[str, str]  # chapter to the column's title
    without_column: Sequence[str]  # chapters
    scaled: Sequence[tuple[str, float, float]]  # chapter, our points, theirs
    unknown: Sequence[str]  # in their file, not here
    missing: Sequence[str]  # here, not in their file
    waiting: Sequence[str]  # students with a mark that is not known yet: their cell stays
    left: Sequence[str]  # students whose cell says that they have no grade: it stays


@dataclass(frozen=True)
class _Sheet:
    """A file taken apart: which lines are people, which columns are whose marks."""

    file: CsvFile
    people: Sequence[Sequence[CsvCell]]
    known_by: int  # the first columns of a line: names, ids, addresses
    columns: Mapping[str, int]  # chapter to column
    possible: Mapping[str, str]  # chapter to the most that the file allows, as it stands there


def fill_canvas(file: CsvFile, totals: Totals, named: Mapping[str, str]) -> Filled:
    """Canvas's gradebook with the marks of every chapter that has a column. Raises UsageError."""
    header, *lines = file.rows or [[]]
    titles = [cell.value for cell in header]
    if not {"ID", "Section"} <= set(titles):
        raise UsageError(say("export.not_canvas"))
    points = next((n for n, line in enumerate(lines) if POINTS_POSSIBLE in line[0].value), None)
    if points is None:
        raise UsageError(say("export.no_points_possible"))
    first = titles.index("Section") + 1
    most = [cell.value for cell in lines[points]] + [""] * len(titles)
    open_columns = {
        number: title for number, title in enumerate(titles) if number >= first and not READ_ONLY.search(most[number])
    }
    columns = _columns(open_columns, totals, named)
    people = [line for line in lines[points + 1 :] if line[0].value.strip().casefold() not in _TEST_STUDENTS]
    return _fill(_Sheet(file, people, first, columns, {c: most[n] for c, n in columns.items()}), totals)


def fill_moodle(file: CsvFile, totals: Totals, named: Mapping[str, str]) -> Filled:
    """Moodle's worksheet with the marks of the one chapter in `totals`. Raises UsageError."""
    header, *people = file.rows or [[]]
    titles = [cell.value for cell in header]
    (chapter,) = totals
    title = named.get(chapter, MOODLE_GRADE)
    if title not in titles:
        raise UsageError(say("export.not_moodle", title=title, found=", ".join(titles)))
    column = titles.index(title)
    beside = [line[column + 1].value for line in people if len(line) > column + 1]  # Maximum Grade, in any language
    possible = beside[0] if beside and len(set(beside)) == 1 else ""
    return _fill(_Sheet(file, people, column, {chapter: column}, {chapter: possible}), totals)


def _columns(open_columns: Mapping[int, str], totals: Totals, named: Mapping[str, str]) -> dict[str, int]:
    """The column of each chapter: the one the teacher named, else the only one that bears its name."""
    columns = {}
    for chapter in totals:
        if chapter in named:
            wanted = [number for number, title in open_columns.items() if named[chapter] in _names(title)]
            if len(wanted) != 1:
                raise UsageError(say("export.no_column", column=named[chapter], found=", ".join(open_columns.values())))
        else:
            forms = set(
                map(_bare, (chapter, chapter.lstrip("0"), chapter.lstrip("0123456789"), chapter_title(chapter)))
            )
            wanted = [number for number, title in open_columns.items() if forms & set(map(_bare, _names(title)))]
        if len(wanted) == 1:
            columns[chapter] = wanted[0]
    if not columns:
        found = ", ".join(title for title in open_columns.values() if _WITH_ID.fullmatch(title))
        raise UsageError(say("export.no_columns", chapters=", ".join(totals), found=found))
    return columns


def _names(title: str) -> tuple[str, ...]:
    """`Scores (1234)` is called by its whole title, without the number, or by the number."""
    match = _WITH_ID.fullmatch(title)
    return (title, match["title"], match["id"]) if match else (title,)


def _bare(text: str) -> str:
    return _OTHER.sub("", text).casefold()


def _fill(sheet: _Sheet, totals: Totals) -> Filled:
    known = {student for students in totals.values() for student in students}
    entries = [[cell.value for cell in line[: sheet.known_by]] for line in sheet.people]
    matched = match_people(entries, known)
    values: dict[CsvCell, str] = {}
    waiting, left = set(), set()
    for number, student in matched.students.items():
        line = sheet.people[number]
        for chapter, column in sheet.columns.items():
            total = totals[chapter].get(student)
            if total is None or column >= len(line):
                continue
            if line[column].value.strip().upper() in NOT_OURS:
                left.add(student)
            elif total.points is None:
                waiting.add(student)
            else:
                values[line[column]] = _written(total.points, total.max_score, sheet.possible[chapter])
    titles = sheet.file.rows[0]
    return Filled(
        sheet.file.filled(values),
        len(values),
        {chapter: titles[column].value for chapter, column in sheet.columns.items()},
        [chapter for chapter in totals if chapter not in sheet.columns],
        list(_scaled(sheet, totals)),
        [", ".join(filter(None, entries[number][:3])) for number in matched.unknown],
        matched.missing,
        sorted(waiting),
        sorted(left),
    )


def _scaled(sheet: _Sheet, totals: Totals) -> list[tuple[str, float, float]]:
    scaled = []
    for chapter in sheet.columns:
        most, possible = _most(totals[chapter]), _possible(sheet.possible[chapter])
        if possible is not None and possible != most:
            scaled.append((chapter, most, possible))
    return scaled


def _most(students: Mapping[str, Total]) -> float:
    return max((total.max_score for total in students.values()), default=0.0)


def _possible(text: str) -> float | None:
    return float(text.replace(",", ".")) if _NUMBER.fullmatch(text) and float(text.replace(",", ".")) else None


def _written(points: float, max_score: float, possible: str) -> str:
    """The mark as their file writes numbers: on their scale, two digits, their decimal sign."""
    most = _possible(possible)
    if most is not None and max_score:
        points = points * most / max_score
    text = f"{points + 1e-9:.2f}"  # half a hundredth goes up, as people round; 2.675 is a little less in binary
    return text.replace(".", ",") if "," in possible else text
