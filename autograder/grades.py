"""grades.csv: one row for each student, assignment and exercise.

A spreadsheet runs a cell that starts with =, +, - or @. In text columns such a cell gets an
apostrophe in front, and so does one that starts with apostrophes before such a character;
`read_grades` takes one away again. Nothing else begins differently: `'t Hooft` stays as it is.

The file is UTF-8 without a byte-order mark. Excel shows Hangul right only with one, but Python's `csv`,
R's `read.csv` and nbgrader's importers take the mark for a part of the first column's name, and this
file is what programs read. For a spreadsheet there is `autograder export --to csv`, which has it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import UsageError
from autograder.files import write_aside
from autograder.marks import Marks
from autograder.plaintext import identifier, one_line
from autograder.results import SubmissionResult
from autograder.statuses import BY_HAND, STATUSES
from autograder.words import say

COLUMNS = ("student", "assignment", "notebook", "exercise", "score", "max_score", "status", "message")
# Behind them, where a policy or a teacher's own grading can change what the checks found.
MARK_COLUMNS = ("submitted", "late_percent", "manual_score", "comment", "final_score")
MESSAGE_LIMIT = 2_000  # characters; a spreadsheet's cell ends at 32,767

# Also their full-width forms, which spreadsheets in East Asian settings take for the same.
_RUNS = re.compile(r"'*\s*[=+\-@|\t\r＝＋－＠]")


@dataclass(frozen=True)
class GradeRow:
    """One row of grades.csv."""

    student: str
    assignment: str
    notebook: str
    exercise: str
    score: float | None  # points; None when ungraded, which is not a zero
    max_score: float  # points
    status: str  # a name of statuses.STATUSES, or BY_HAND
    message: str
    submitted: str = ""  # when it was handed in, ISO 8601; "" when not known
    late_percent: float = 0.0  # of the points that are taken off
    manual_score: float | None = None  # points; None where no teacher changed them
    comment: str = ""  # the teacher's
    final_score: float | None = None  # points with all that changes them; None when not known yet


def write_grades(path: Path, results: Iterable[SubmissionResult], marks: Marks | None = None) -> None:
    """Write the rows of all results.

    `score` is what the checks gave. With `marks` that can change it, MARK_COLUMNS follow.
    """
    marks = marks or Marks()
    write_rows(path, grade_rows(results, marks), marks.change_anything)


def grade_rows(results: Iterable[SubmissionResult], marks: Marks) -> list[GradeRow]:
    """The rows of all results, sorted; of two results for the same exercise the last counts."""
    rows = {(row.student, row.assignment, row.exercise): row for result in results for row in _rows(result, marks)}
    return sorted(rows.values(), key=lambda row: (row.student, row.assignment, row.notebook, row.exercise))


def write_rows(path: Path, rows: Iterable[GradeRow], with_marks: bool) -> None:
    """Write the rows in one step, `with_marks` those of MARK_COLUMNS too."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS + MARK_COLUMNS if with_marks else COLUMNS)
    for row in rows:
        cells = (
            *map(defuse, (row.student, row.assignment, row.notebook, row.exercise)),
            _number(row.score),
            _number(row.max_score),
            row.status,
            defuse(row.message),
        )
        if with_marks:
            cells += (
                row.submitted,
                _number(row.late_percent),
                _number(row.manual_score),
                defuse(row.comment),
                _number(row.final_score),
            )
        writer.writerow(cells)
    write_aside(path, text.getvalue())


def read_grades(path: Path) -> list[GradeRow]:
    """The rows of a grades.csv, as they were before they were made safe for a spreadsheet.

    Raises UsageError, with the line, where the file is not what `write_grades` writes.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")  # a spreadsheet that saved it may have put a mark in front
    except FileNotFoundError:
        raise UsageError(say("grades.no_file", path=path)) from None
    except OSError as error:
        raise UsageError(say("csv.no_file", path=path, reason=error.strerror or error)) from None
    except UnicodeDecodeError:
        raise UsageError(say("grades.encoding", path=path)) from None
    reader = csv.DictReader(io.StringIO(text, newline=""))
    try:
        if tuple(reader.fieldnames or ()) not in (COLUMNS, COLUMNS + MARK_COLUMNS):
            raise UsageError(say("grades.columns", path=path, columns=",".join(COLUMNS)))
        return [_row(record) for record in reader]
    except (ValueError, TypeError, csv.Error):  # the last: a quote that is never closed
        raise UsageError(say("grades.row", path=path, line=reader.line_num)) from None


def _rows(result: SubmissionResult, marks: Marks) -> Iterable[GradeRow]:
    late = marks.late_of(result)
    submitted = late.handed_in.isoformat(timespec="seconds") if late.handed_in else ""
    for exercise in result.exercises:
        yield GradeRow(
            student=identifier(result.student),
            assignment=identifier(result.assignment),
            notebook=identifier(exercise.notebook),
            exercise=identifier(exercise.exercise),
            score=None if STATUSES[exercise.status].ours else exercise.score,
            max_score=exercise.max_score,
            status=exercise.status,
            message=one_line(exercise.message, MESSAGE_LIMIT),
            submitted=submitted,
            late_percent=late.percent,
            manual_score=marks.hand_score(result, exercise),
            comment=one_line(marks.hand_grade(result, exercise.exercise).comment, MESSAGE_LIMIT),
            final_score=marks.final_score(result, exercise),
        )
    for notebook, cell, grade in marks.cells_by_hand(result):
        score = None if grade.score is None else grade.score + grade.extra_credit
        yield GradeRow(
            student=identifier(result.student),
            assignment=identifier(result.assignment),
            notebook=identifier(notebook),
            exercise=identifier(cell.grade_id),
            score=None,
            max_score=cell.points,
            status=BY_HAND.name,
            message="",
            submitted=submitted,
            late_percent=late.percent,
            manual_score=score,
            comment=one_line(grade.comment, MESSAGE_LIMIT),
            final_score=None if score is None else marks.after_lateness(result, score),
        )


def _row(record: dict[str, str]) -> GradeRow:
    if record["status"] not in (*STATUSES, BY_HAND.name) or None in record or None in record.values():
        raise ValueError
    score = _points(record["score"])
    return GradeRow(
        student=_fuse(record["student"]),
        assignment=_fuse(record["assignment"]),
        notebook=_fuse(record["notebook"]),
        exercise=_fuse(record["exercise"]),
        score=score,
        max_score=float(record["max_score"]),
        status=record["status"],
        message=_fuse(record["message"]),
        submitted=record.get("submitted", ""),
        late_percent=_points(record.get("late_percent", "")) or 0.0,
        manual_score=_points(record.get("manual_score", "")),
        comment=_fuse(record.get("comment", "")),
        final_score=_points(record["final_score"]) if "final_score" in record else score,
    )


def _points(cell: str) -> float | None:
    return float(cell) if cell else None


def defuse(cell: str) -> str:
    """The cell, with an apostrophe in front where a spreadsheet would take it for a formula."""
    return f"'{cell}" if _RUNS.match(cell) else cell


def _fuse(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _RUNS.match(cell) else cell


def _number(value: float | None) -> str:
    """3, 2.5, 0.833333333333333: fifteen digits, so that sums of thirds and tenths look like what they are."""
    return "" if value is None else format(value + 0.0, ".15g")
