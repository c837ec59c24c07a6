"""One submission, from its files to its result: the function that every worker runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from autograder import hints
from autograder.collected import Handed
from autograder.course import Assignment, SourceNotebook, model_cells
from autograder.errors import UsageError
from autograder.examiner import Examination
from autograder.finding import Found, find_notebooks
from autograder.fingerprints import Fingerprints
from autograder.intake import Plan, RunCell, make_plan
from autograder.link import connect
from autograder.notebooks import Cell, Unreadable, parse_cells
from autograder.plaintext import one_line
from autograder.processes import LearnerProcess
from autograder.recognise import Recogniser
from autograder.results import ExerciseResult, SubmissionResult
from autograder.run_files import RunFiles, run_of
from autograder.run_grading import judge, score_run
from autograder.scoring import score_exercises, without_answers
from autograder.statuses import MISSING, STATUSES, UNGRADED, UNREADABLE
from autograder.suspicions import suspicions
from autograder.words import say


@dataclass(frozen=True)
class Submission:
    """What one student handed in for one assignment: each notebook's bytes, None where there is no file."""

    student: str
    assignment: str
    files: tuple[tuple[str, bytes | None], ...]  # (notebook, content)
    repairs: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    absent: tuple[
        tuple[str, str, str], ...
    ] = ()  # (notebook, status, message) why a notebook has no content, if it is not only missing
    run: RunFiles | None = None  # where the assignment asks for a trained model


def read_submission(
    handed: Handed, assignment: Assignment, graded: Sequence[str], recogniser: Recogniser
) -> Submission:
    """Read what a student handed in for an assignment. `graded`: the chapters of this run, in order."""
    try:
        found = find_notebooks(handed, assignment, graded, recogniser)
    except Exception as error:  # a fault of ours, which no other student's work may pay for
        message = say("finding.fault", error=f"{type(error).__name__}: {one_line(str(error), 80)}")
        found = [Found(notebook.name, None, UNGRADED, message) for notebook in assignment.notebooks]
    run = run_of(handed, assignment.name) if any(notebook.run for notebook in assignment.notebooks) else None
    flags = [flag for one in found for flag in one.flags]
    if assignment.name == graded[0]:  # what is about all that a student handed in is said once
        flags += handed.flags
    return Submission(
        handed.student,
        assignment.name,
        tuple((one.notebook, one.content) for one in found),
        (*(repair for one in found for repair in one.repairs), *(run.repairs if run else ())),
        tuple(dict.fromkeys(flags)),
        tuple((one.notebook, one.status.name, one.message) for one in found if one.message),
        run,
    )


def grade_submission(
    submission: Submission,
    assignment: Assignment,
    start: Callable[[bool], LearnerProcess],
    sandbox: str,
    known: dict[str, Fingerprints],
) -> SubmissionResult:
    """Grade one submission.

    `start(with_torch)` makes a learner's process, and `sandbox` says which protections it has. `known`
    holds the known mistakes by exercise.
    """
    exercises: list[ExerciseResult] = []
    repairs, flags = list(submission.repairs), list(submission.flags)
    hints.use_known(known)
    for notebook in assignment.notebooks:
        results, examination = _answers(submission, notebook, start)
        exercises += results
        if examination:
            repairs += [*examination.plan.repairs, *examination.repairs]
            flags += [*_changes(examination.plan), *_suspicions(examination.plan), *examination.flags]
        if notebook.run:
            run = submission.run or RunFiles(fault=say("run.none"))
            verdict = judge(run, model_cells(assignment.notebooks), partial(connect, start, with_torch=True))
            exercises.append(score_run(submission.student, assignment.name, notebook.name, notebook.run, verdict))
    return SubmissionResult(
        submission.student, assignment.name, tuple(exercises), tuple(repairs), tuple(flags), sandbox
    )


def _answers(
    submission: Submission, notebook: SourceNotebook, start: Callable[[bool], LearnerProcess]
) -> tuple[tuple[ExerciseResult, ...], Examination | None]:
    """The results of one notebook's answers, and how they came about, where there is a notebook that can be read."""
    place = submission.student, submission.assignment, notebook.name, notebook.exercises
    content = dict(submission.files).get(notebook.name)
    if content is None:
        absent = {name: (STATUSES[status], message) for name, status, message in submission.absent}
        nothing = MISSING, say("submission.missing", notebook=notebook.name)
        return without_answers(*place, *absent.get(notebook.name, nothing)), None
    try:
        examination = examine(notebook, parse_cells(content), start)
    except Unreadable as error:
        return without_answers(*place, UNREADABLE, str(error)), None
    return score_exercises(submission.student, submission.assignment, notebook.exercises, examination), examination


def examine(notebook: SourceNotebook, cells: tuple[Cell, ...], start: Callable[[bool], LearnerProcess]) -> Examination:
    """Run the answers in one notebook's cells against its checks."""
    plan = make_plan(notebook, cells)
    with Examination(plan, notebook.exercises, partial(connect, start, plan.with_torch)) as examination:
        examination.run()
    return examination


def _changes(plan: Plan) -> Iterator[str]:
    """What the learner did to the cells that were given."""
    for exercise in sorted(plan.without_cell):
        yield say("intake.no_cell", exercise=exercise)
    if plan.changed_checks:
        yield say("intake.changed_checks", checks=", ".join(plan.changed_checks))


def _suspicions(plan: Plan) -> Iterator[str]:
    """What stands out in the learner's own code, answer by answer and cell by cell."""
    for exercise, source in plan.answers.items():
        for what in suspicions(source):
            yield say("suspicion.in_answer", exercise=exercise, what=what)
    for step in plan.steps:
        if isinstance(step, RunCell) and not step.given and not step.exercise:
            for what in suspicions(step.source):
                yield say("suspicion.in_cell", what=what)


def ungraded(submission: Submission, assignment: Assignment, reason: str) -> SubmissionResult:
    """Something of ours failed: no score, and a message that says so."""
    exercises: list[ExerciseResult] = []
    for notebook in assignment.notebooks:
        exercises += without_answers(
            submission.student, assignment.name, notebook.name, notebook.graded, UNGRADED, reason
        )
    return SubmissionResult(submission.student, assignment.name, tuple(exercises), submission.repairs, submission.flags)


def hint_table(assignment: Assignment) -> dict[str, Any] | None:
    """The known mistakes of an assignment, as they were released; None where nothing is. Raises UsageError."""
    if assignment.hints is None:
        return None
    try:
        table = json.loads(assignment.hints)
        hints.read_table(table)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):  # damaged in whatever way
        raise UsageError(say("course.bad_hints", chapter=assignment.name)) from None
    return table
