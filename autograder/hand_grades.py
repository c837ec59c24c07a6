"""What teachers entered in the gradebook with nbgrader's formgrader: points and comments, cell by cell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.gradebook import open_gradebook
from autograder.marks import HandGrade, Who


def read_hand_grades(database: Path) -> dict[Who, dict[str, HandGrade]]:
    """What teachers entered in formgrader, by student and assignment, then by cell; empty without a gradebook.

    Raises UsageError where the file is no gradebook.
    """
    from nbgrader.api import Assignment, BaseCell, Comment, Grade, SubmittedAssignment, SubmittedNotebook

    if not database.is_file():
        return {}
    found: dict[Who, dict[str, HandGrade]] = {}
    with open_gradebook(database) as gradebook:

        def entered(kind: type, *columns: object) -> Any:
            return (
                gradebook.db.query(SubmittedAssignment.student_id, Assignment.name, BaseCell.name, *columns)
                .select_from(kind)
                .join(BaseCell, BaseCell.id == kind.cell_id)
                .join(SubmittedNotebook, SubmittedNotebook.id == kind.notebook_id)
                .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
                .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            )

        scores = entered(Grade, Grade.manual_score, Grade.extra_credit)
        for student, assignment, cell, score, extra in scores.filter(
            Grade.manual_score.is_not(None) | Grade.extra_credit.is_not(None)
        ):
            found.setdefault((student, assignment), {})[cell] = HandGrade(score, extra or 0.0)
        comments = entered(Comment, Comment.manual_comment).filter(Comment.manual_comment.is_not(None))
        for student, assignment, cell, comment in comments:
            grades = found.setdefault((student, assignment), {})
            grades[cell] = replace(grades.get(cell, HandGrade()), comment=comment)
    return found
