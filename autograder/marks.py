"""From points to marks: what a teacher graded by hand, and what lateness takes off.

The journal holds what grading found. Marks are computed from it each time the results are written, so
that a due date can move, or a score be mended by hand, without grading anything again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from autograder.course import Assignment
from autograder.notebooks import Cell
from autograder.plaintext import identifier
from autograder.policy import Late, Policy
from autograder.results import ExerciseResult, SubmissionResult
from autograder.statuses import MISSING, STATUSES
from autograder.times import Stamp, Table, handed_in, row_of

Who = tuple[str, str]  # student, assignment
StampOf = Callable[[str, str], Stamp]  # what a student's submission of an assignment tells of its time


@dataclass(frozen=True)
class HandGrade:
    """What a teacher entered for one cell in nbgrader's formgrader."""

    score: float | None = None  # points, in place of the automatic ones
    extra_credit: float = 0.0  # points beside them
    comment: str = ""

    @property
    def changes_points(self) -> bool:
        return self.score is not None or bool(self.extra_credit)


@dataclass(frozen=True)
class Marks:
    """All that is laid over the raw results of a class."""

    policy: Policy | None = None
    late: Mapping[Who, Late] = field(default_factory=dict)
    by_hand: Mapping[Who, Mapping[str, HandGrade]] = field(default_factory=dict)  # by cell
    hand_cells: Mapping[str, tuple[tuple[str, Cell], ...]] = field(default_factory=dict)  # (notebook, cell)

    @property
    def change_anything(self) -> bool:
        """Whether marks can differ from the raw scores at all."""
        return self.policy is not None or bool(self.by_hand) or any(self.hand_cells.values())

    def late_of(self, result: SubmissionResult) -> Late:
        return self.late.get((result.student, result.assignment), Late())

    def hand_grade(self, result: SubmissionResult, cell: str) -> HandGrade:
        # The gradebook knows students by their spelled-out ids.
        graded = self.by_hand.get((identifier(result.student), result.assignment), {})
        return graded.get(cell, HandGrade())

    def hand_score(self, result: SubmissionResult, exercise: ExerciseResult) -> float | None:
        """The exercise's points where a teacher changed any of them; None where nobody did."""
        grades = [(check, self.hand_grade(result, check.check)) for check in exercise.checks]
        if not any(grade.changes_points for _, grade in grades):
            return None
        # A check that we could not grade counts nothing until it is graded.
        return sum(
            (check.score if grade.score is None else grade.score) + grade.extra_credit for check, grade in grades
        )

    def final_score(self, result: SubmissionResult, exercise: ExerciseResult) -> float | None:
        """The exercise's points with all that changes them; None where they are not known yet."""
        by_hand = self.hand_score(result, exercise)
        if by_hand is None and STATUSES[exercise.status].ours:
            return None
        return self.after_lateness(result, exercise.score if by_hand is None else by_hand)

    def after_lateness(self, result: SubmissionResult, score: float) -> float:
        return score * (1.0 - self.late_of(result).percent / 100.0)

    def cells_by_hand(self, result: SubmissionResult) -> list[tuple[str, Cell, HandGrade]]:
        """The cells of the assignment that only a teacher can grade: notebook, cell, what was entered."""
        if not was_handed_in(result):
            return []
        cells = self.hand_cells.get(result.assignment, ())
        return [(notebook, cell, self.hand_grade(result, cell.grade_id)) for notebook, cell in cells]

    def total(self, result: SubmissionResult) -> float | None:
        """The submission's points with all that changes them; None where one is not known yet."""
        scores = [self.final_score(result, exercise) for exercise in result.exercises]
        for _, _, grade in self.cells_by_hand(result):
            score = None if grade.score is None else grade.score + grade.extra_credit
            scores.append(None if score is None else self.after_lateness(result, score))
        return None if None in scores else sum(score or 0.0 for score in scores)

    def max_score(self, result: SubmissionResult) -> float:
        return result.max_score + sum(cell.points for _, cell, _ in self.cells_by_hand(result))


def was_handed_in(result: SubmissionResult) -> bool:
    return any(exercise.status != MISSING.name for exercise in result.exercises)


def judge_times(
    policy: Policy, results: Iterable[SubmissionResult], table: Table, stamp_of: StampOf, now: datetime
) -> dict[Who, Late]:
    """What the time of each submission comes to, where its chapter has a due date."""
    late = {}
    for result in results:
        student, chapter = result.student, result.assignment
        if policy.due(student, chapter) is not None and was_handed_in(result):
            row = row_of(table, student, chapter)
            time, warning = handed_in(row, stamp_of(student, chapter), policy, now)
            late[student, chapter] = replace(policy.judge(student, chapter, time), warning=warning)
    return late


def hand_cells(assignments: Iterable[Assignment]) -> dict[str, tuple[tuple[str, Cell], ...]]:
    """The cells of each assignment that only a teacher can grade."""
    return {
        assignment.name: tuple(
            (notebook.name, cell) for notebook in assignment.notebooks for cell in notebook.cells if cell.is_by_hand
        )
        for assignment in assignments
    }
