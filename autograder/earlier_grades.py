"""The grades.csv of an earlier run, which is about to be written anew: nothing of it is lost unsaid."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from pathlib import Path

from autograder.errors import UsageError
from autograder.files import copy_aside
from autograder.grades import GradeRow, read_grades
from autograder.marks import Who
from autograder.notebooks import Cell
from autograder.plaintext import listed
from autograder.results import ExerciseResult, SubmissionResult
from autograder.statuses import BY_HAND, STATUSES
from autograder.words import say, say_count

ROUNDING = 1e-9  # points: fifteen digits are written


def rows_before(path: Path) -> list[GradeRow] | None:
    """Its rows; none where there is no such file, and None where somebody made it another one."""
    if not path.exists():
        return []
    try:
        return read_grades(path)
    except UsageError:
        return None


def results_of(rows: Iterable[GradeRow]) -> dict[Who, SubmissionResult]:
    """What the checks gave, by submission: the points alone."""
    exercises: dict[Who, list[ExerciseResult]] = {}
    for row in rows:
        if row.status in STATUSES:
            place = row.student, row.assignment, row.notebook, row.exercise
            result = ExerciseResult(*place, row.score or 0.0, row.max_score, row.status)
            exercises.setdefault((row.student, row.assignment), []).append(result)
    return {who: SubmissionResult(*who, tuple(found)) for who, found in exercises.items()}


def hand_cells_of(rows: Iterable[GradeRow]) -> dict[str, tuple[tuple[str, Cell], ...]]:
    """The cells that only a teacher can grade, as `marks.hand_cells` tells them of a chapter that can be read."""
    found: dict[str, dict[tuple[str, Cell], None]] = {}
    for row in rows:
        if row.status == BY_HAND.name:
            cell = Cell("", "markdown", "", grade_id=row.exercise, is_by_hand=True, points=row.max_score)
            found.setdefault(row.assignment, {})[row.notebook, cell] = None
    return {assignment: tuple(cells) for assignment, cells in found.items()}


def keep_what_is_lost(
    path: Path, before: Iterable[GradeRow] | None, after: Iterable[GradeRow], asked: Collection[Who], now: datetime
) -> list[str]:
    """Copy the file where it holds what will not be there any more, and say so.

    `asked` are the submissions whose points this run was asked to change. `before` as `rows_before` gives it.
    """
    if before is None:
        return [say("grades.foreign", path=path, copy=copy_aside(path, now))]
    kept = {(row.student, row.assignment, row.exercise): row for row in after}
    lost = {
        (row.student, row.assignment)
        for row in before
        if (row.student, row.assignment) not in asked
        and not _is_kept(row, kept.get((row.student, row.assignment, row.exercise)))
    }
    if not lost:
        return []
    chapters = listed(sorted({assignment for _, assignment in lost}))
    return [say_count("grades.lost", len(lost), path=path, chapters=chapters, copy=copy_aside(path, now))]


def _is_kept(row: GradeRow, other: GradeRow | None) -> bool:
    if other is None or row.score is None or other.score is None:
        return other is not None and row.score == other.score
    return abs(row.score - other.score) <= ROUNDING
