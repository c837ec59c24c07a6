"""Results into an nbgrader gradebook, through nbgrader's own database classes.

Afterwards it holds what nbgrader's `generate_assignment` and `autograde` would have recorded, so
formgrader, `nbgrader export` and every other tool of its kind can read it. What has not changed is
not written; what a teacher entered by hand is not touched.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.collector import no_collecting
from autograder.course import Assignment
from autograder.errors import UsageError
from autograder.gradebook_source import record_assignment
from autograder.marks import Who
from autograder.plaintext import identifier, plain
from autograder.policy import Late, Policy
from autograder.results import ExerciseResult, SubmissionResult
from autograder.statuses import MISSING, STATUSES, UNANSWERED
from autograder.words import say

if TYPE_CHECKING:
    from nbgrader.api import Grade, Gradebook, Student, SubmittedAssignment
    from sqlalchemy import URL

BATCH = 200  # submissions a transaction: few waits for the disk, little to do again after an error
LOCK_SECONDS = 60  # how long to wait for somebody else's write to an SQLite file


def write_gradebook(
    database: str | Path,
    assignments: Iterable[Assignment],
    results: Iterable[SubmissionResult],
    policy: Policy | None = None,
    late: Mapping[Who, Late] | None = None,
) -> int:
    """Record `results`, and the source of their `assignments`; returns how many submissions changed.

    `database` is an SQLite file's path or any SQLAlchemy URL. Results of assignments that are not
    among `assignments` are left out. An `ungraded` exercise keeps the score it had, is never written
    as a zero, and is marked as waiting for a grade. A manual score or comment stays; where the
    automatic score beside it changes, the grade is marked for review, as nbgrader does.
    With a `policy`, due dates, times of handing in, extensions and penalties are written too, as nbgrader's
    `AssignLatePenalties` does: a penalty for each notebook, in points, never more than it earned. Without
    one they stay as they are.
    Raises UsageError where the database cannot be opened or written.
    """
    by_assignment: dict[str, list[SubmissionResult]] = {}
    for result in results:
        by_assignment.setdefault(result.assignment, []).append(result)
    changed = 0
    with open_gradebook(database) as gradebook:
        for assignment in assignments:
            record_assignment(gradebook, assignment)
            if policy:
                deadline = policy.deadlines.get(assignment.name)
                _set(gradebook.find_assignment(assignment.name), duedate=_in_utc(deadline and deadline.due))
            changed += _record_results(
                gradebook, assignment, by_assignment.get(assignment.name, []), late or {} if policy else None
            )
    return changed


def _without_password(where: str) -> str:
    return re.sub(r"(?<=:)[^:@/]*(?=@)", "***", where)


def get_ready() -> threading.Thread:
    """Import nbgrader while others work: that takes a second or two. Join the thread before you write."""
    thread = threading.Thread(target=_import_nbgrader, daemon=True)
    thread.start()
    return thread


@functools.cache  # the first time alone: what `no_collecting` leaves behind is never looked at again
def _import_nbgrader() -> None:
    with _quick_imports(), no_collecting():
        importlib.import_module("nbgrader.api")


@contextlib.contextmanager
def open_gradebook(database: str | Path) -> Iterator[Gradebook]:
    """The gradebook in an SQLite file, or at any SQLAlchemy URL; made where there is none.

    Raises UsageError where it cannot be opened, or what is done with it within fails.
    """
    _import_nbgrader()
    from nbgrader.api import Gradebook
    from sqlalchemy import URL
    from sqlalchemy.exc import SQLAlchemyError

    where = str(database)
    if isinstance(database, Path):
        database.parent.mkdir(parents=True, exist_ok=True)
        # A URL, not a string: '?' or '%' in a folder's name means nothing here.
        database = URL.create("sqlite", database=str(database), query={"timeout": str(LOCK_SECONDS)})
    try:
        _create(database)
        with Gradebook(database) as gradebook:
            gradebook.db().expire_on_commit = False  # the only writer: what it holds stays true from batch to batch
            yield gradebook
    except (SQLAlchemyError, UnicodeDecodeError) as error:  # the second from a damaged file
        reason = str(error).splitlines()[0]
        raise UsageError(say("gradebook.failed", where=_without_password(where), reason=reason)) from error


@contextlib.contextmanager
def _quick_imports() -> Iterator[None]:
    """Import nbgrader without a grammar that takes it two seconds more.

    On the way to nbformat jsonschema loads all its format checkers, and the one of internationalised
    web addresses compiles its grammar. No notebook's schema asks for it; jsonschema does without where
    it is not installed, and so it seems here.
    """
    grammar = "rfc3987_syntax"
    hidden = sys.modules.setdefault(grammar, None) is None
    try:
        yield
    finally:
        if hidden:
            del sys.modules[grammar]


def _create(database: str | URL) -> None:
    """Make the tables of a new gradebook, stamped with nbgrader's version of them.

    `Gradebook` does it too, but asks a program for the version: five seconds, and it fails where the
    environment is not activated. The version goes in first: tables without one cannot be upgraded.
    """
    from alembic.script import ScriptDirectory
    from nbgrader.api import Base
    from nbgrader.dbutil import ALEMBIC_DIR
    from sqlalchemy import create_engine, inspect, text

    engine = create_engine(database)
    try:
        if not inspect(engine).get_table_names():
            version = ScriptDirectory(ALEMBIC_DIR).get_current_head()
            with engine.begin() as connection:
                connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
                connection.execute(text("INSERT INTO alembic_version VALUES (:version)"), {"version": version})
                Base.metadata.create_all(connection)
    finally:
        engine.dispose()


def _record_results(
    gradebook: Gradebook,
    assignment: Assignment,
    results: list[SubmissionResult],
    late: Mapping[Who, Late] | None,
) -> int:
    record = gradebook.find_assignment(assignment.name)
    cells = {cell.id: cell.name for notebook in record.notebooks for cell in _cells(notebook)}
    students = {student.id: student for student in gradebook.students}
    submissions = _submissions(gradebook, record.id)
    changed = 0
    for number, result in enumerate(results, start=1):
        name = identifier(result.student)
        if name not in students:
            students[name] = _new_student(gradebook, name)
        submission = submissions.get(name)
        if submission is None and not _handed_in(result):
            continue
        if submission is None:
            submission = submissions[name] = _new_submission(gradebook, record, students[name])
        changed += _record_result(submission, assignment, result, cells)
        if late is not None:
            _record_time(submission, late.get((result.student, result.assignment), Late()))
        if number % BATCH == 0:
            gradebook.db.commit()
    gradebook.db.commit()
    return changed


def _handed_in(result: SubmissionResult) -> bool:
    """nbgrader knows no submission of somebody who handed in nothing, and exports a zero."""
    return any(exercise.status != MISSING.name for exercise in result.exercises)


def _submissions(gradebook: Gradebook, assignment_id: str) -> dict[str, SubmittedAssignment]:
    """All submissions of an assignment by student, with grades and comments, in four queries for any class."""
    from nbgrader.api import SubmittedAssignment, SubmittedNotebook
    from sqlalchemy.orm import selectinload

    notebooks = selectinload(SubmittedAssignment.notebooks)
    query = (
        gradebook.db.query(SubmittedAssignment)
        .filter(SubmittedAssignment.assignment_id == assignment_id)
        .options(notebooks.selectinload(SubmittedNotebook.grades), notebooks.selectinload(SubmittedNotebook.comments))
    )
    return {submission.student_id: submission for submission in query}


def _new_student(gradebook: Gradebook, name: str) -> Student:
    from nbgrader.api import Student

    student = Student(id=name)
    gradebook.db.add(student)
    return student


def _new_submission(gradebook: Gradebook, assignment: object, student: Student) -> SubmittedAssignment:
    """As `Gradebook.add_submission` makes it, without a transaction for each."""
    from nbgrader.api import Comment, Grade, SubmittedAssignment, SubmittedNotebook

    with gradebook.db.no_autoflush:  # not half-made
        submission = SubmittedAssignment(assignment=assignment, student=student)
        for notebook in assignment.notebooks:
            copy = SubmittedNotebook(notebook=notebook, assignment=submission)
            for cell in (*notebook.grade_cells, *notebook.task_cells):
                Grade(cell_id=cell.id, notebook=copy)
            for cell in (*notebook.solution_cells, *notebook.task_cells):
                Comment(cell_id=cell.id, notebook=copy)
        gradebook.db.add(submission)  # with all its parts
    return submission


def _record_result(
    submission: SubmittedAssignment, assignment: Assignment, result: SubmissionResult, cells: dict[str, str]
) -> bool:
    """Write one result where it differs from what stands there; tells whether anything did."""
    exercises = {exercise.exercise: exercise for exercise in result.exercises}
    scores, comments = {}, {}
    for source in assignment.graded:
        if source.name in exercises:
            exercise = exercises[source.name]
            checked = {check.check: check for check in exercise.checks}
            comments[source.name] = _comment(exercise)
            for check in source.checks:
                outcome = checked.get(check.name)
                ours = STATUSES[exercise.status].ours or (outcome is not None and STATUSES[outcome.status].ours)
                scores[check.name] = None if ours else (outcome.score if outcome else 0.0)
    changed = False
    for notebook in submission.notebooks:
        for grade in notebook.grades:
            name = cells.get(grade.cell_id)
            if name in scores:
                changed |= _set_score(grade, scores[name])
        for comment in notebook.comments:
            name = cells.get(comment.cell_id)
            if name in comments:
                changed |= _set(comment, auto_comment=comments[name])
    return changed


def _record_time(submission: SubmittedAssignment, late: Late) -> None:
    _set(submission, timestamp=_in_utc(late.handed_in), extension=late.extension)
    for notebook in submission.notebooks:
        earned = sum(_points(grade) for grade in notebook.grades)
        _set(notebook, late_submission_penalty=earned * late.percent / 100 if late.percent else None)


def _points(grade: Grade) -> float:
    """As nbgrader counts them: the manual score before the automatic one, and what was given on top."""
    score = grade.auto_score if grade.manual_score is None else grade.manual_score
    return (score or 0.0) + (grade.extra_credit or 0.0)


def _in_utc(time: datetime | None) -> datetime | None:
    """As nbgrader keeps times: in UTC, without saying so."""
    return time and time.astimezone(UTC).replace(tzinfo=None)


def _comment(exercise: ExerciseResult) -> str | None:
    if exercise.status == UNANSWERED.name:
        return say("gradebook.no_response")
    return plain(exercise.message) or None


def _set_score(grade: Grade, score: float | None) -> bool:
    if score is None:
        return _set(grade, needs_manual_grade=True)
    if grade.manual_score is None:
        return _set(grade, auto_score=score, needs_manual_grade=False)
    if grade.auto_score != score:
        return _set(grade, auto_score=score, needs_manual_grade=True)
    return False


def _set(record: Any, **fields: object) -> bool:
    changed = {name: value for name, value in fields.items() if getattr(record, name) != value}
    for name, value in changed.items():
        setattr(record, name, value)
    return bool(changed)


def _cells(notebook: object) -> Iterator[object]:
    yield from (*notebook.grade_cells, *notebook.solution_cells, *notebook.task_cells)
