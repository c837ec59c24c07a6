"""From the results of checks to the result of an exercise: points, one status, one message."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.course import Exercise
from autograder.examiner import Examination
from autograder.results import CheckResult, ExerciseResult
from autograder.statuses import PASSED, STATUSES, Status
from autograder.words import say


def score_exercises(
    student: str, assignment: str, exercises: Sequence[Exercise], examination: Examination
) -> tuple[ExerciseResult, ...]:
    """The results of one notebook's exercises, in order."""
    checks = {e.name: tuple(examination.results[check.name] for check in e.checks) for e in exercises}
    results = []
    for exercise in exercises:
        worst = overall(checks[exercise.name])
        results.append(
            ExerciseResult(
                student=student,
                assignment=assignment,
                notebook=examination.plan.notebook,
                exercise=exercise.name,
                score=sum(check.score for check in checks[exercise.name]),
                max_score=exercise.max_score,
                status=worst.status,
                message=_with_cause(worst, examination.wrong_answers_called_by(exercise.name)),
                misconception=worst.misconception,
                answer=examination.plan.answers.get(exercise.name, ""),
                printed=examination.printed.get(exercise.name, ""),
                checks=checks[exercise.name],
            )
        )
    return tuple(results)


def overall(checks: Sequence[CheckResult]) -> CheckResult:
    """The check that tells an exercise's status: the first that did not pass, one whose visible part failed before others."""
    missed = [check for check in checks if check.status != PASSED.name]
    return next((check for check in missed if not check.visible_passed), missed[0] if missed else checks[0])


def without_answers(
    student: str, assignment: str, notebook: str, exercises: Sequence[Exercise], status: Status, message: str
) -> tuple[ExerciseResult, ...]:
    """Results for a notebook that could not be run at all: no points, one status."""
    return tuple(
        ExerciseResult(
            student=student,
            assignment=assignment,
            notebook=notebook,
            exercise=exercise.name,
            score=0.0,
            max_score=exercise.max_score,
            status=status.name,
            message=message,
            checks=tuple(CheckResult(c.name, 0.0, c.points, status.name, message) for c in exercise.checks),
        )
        for exercise in exercises
    )


def _with_cause(check: CheckResult, causes: Sequence[str]) -> str:
    """The message, led by the other answers that this one calls and that fail too."""
    if check.status == PASSED.name or not STATUSES[check.status] or not causes:
        return check.message
    return say("score.cause", others=", ".join(causes)) + " " + check.message
