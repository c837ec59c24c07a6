"""A learner's page for one chapter: what is right, what is not yet, and where to go on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from autograder.course import RUN
from autograder.hints_table import KnownMistake
from autograder.marks import HandGrade, Marks
from autograder.pages.groups import GROUP_OF, Group
from autograder.pages.layout import render
from autograder.plaintext import identifier, plain, points
from autograder.results import CheckResult, ExerciseResult, SubmissionResult
from autograder.statuses import FAILED, MISSING, PASSED, STATUSES, UNANSWERED, UNGRADED, UNREADABLE
from autograder.words import say

ANSWER_LINES = 400  # of an answer that are shown
LINE_LENGTH = 500  # characters of a line that are shown
PRINTED_LENGTH = 4_000  # characters of what an answer printed that are shown
MESSAGE_LENGTH = 4_000


@dataclass(frozen=True)
class CheckView:
    """One test cell as the page shows it."""

    name: str
    group: Group
    shown_score: str
    max_score: float
    outcome: str
    message: str  # "" where the exercise's own message says it already


@dataclass(frozen=True)
class ExerciseView:
    """One exercise as the page shows it."""

    name: str
    notebook: str
    group: Group
    status: str  # in words
    opens: bool  # a notebook of the learner's was read
    shown_score: str  # "?" where it is not known
    max_score: float
    start: float  # where its piece of the score bar begins, in hundredths
    length: float
    message: str
    hint: str  # the known mistake's sentence; "" where none was recognised
    advice: str
    checks: tuple[CheckView, ...]
    answer: tuple[str, ...]  # lines
    answer_cut: bool
    printed: str
    printed_cut: bool


@dataclass(frozen=True)
class NotebookView:
    """One notebook as the page shows it."""

    name: str
    exercises: tuple[ExerciseView, ...]
    at_once: bool  # nothing of it could be read or graded: told once, not for each exercise


@dataclass(frozen=True)
class HandView:
    """What a teacher said about one exercise."""

    name: str
    points: str  # "" where the points are the checks'
    comment: str


def feedback_page(
    result: SubmissionResult,
    *,
    sentences: Mapping[KnownMistake, tuple[str, ...]] | None = None,
    made: str = "",
    marks: Marks | None = None,
) -> str:
    """The page as HTML. The teacher's flags are not on it."""
    marks = marks or Marks()
    exercises = _exercises(result, sentences or {})
    waiting = any(exercise.group is GROUP_OF[UNGRADED.name] for exercise in exercises)
    return render(
        "feedback.html",
        student=identifier(result.student),
        assignment=identifier(result.assignment),
        score=result.score,
        max_score=result.max_score,
        exercises=exercises,
        notebooks=[_notebook(name, tuple(group)) for name, group in groupby(exercises, key=lambda e: e.notebook)],
        right=sum(exercise.group is GROUP_OF[PASSED.name] for exercise in exercises),
        waiting=waiting,
        graded=not all(exercise.group is GROUP_OF[UNGRADED.name] for exercise in exercises),
        following=next((exercise for exercise in exercises if _can_go_on(exercise)), None),
        late=plain(marks.late_of(result).sentence),
        by_hand=_by_hand(result, marks),
        total=_total(result, marks),
        repairs=[plain(repair) for repair in result.repairs],
        sandbox=plain(result.sandbox),
        made=made,
    )


def _by_hand(result: SubmissionResult, marks: Marks) -> list[HandView]:
    views = []
    for exercise in result.exercises:
        score = marks.hand_score(result, exercise)
        grade = marks.hand_grade(result, exercise.exercise)
        views.append(_hand_view(exercise.exercise, score, exercise.max_score, grade))
    for _, cell, grade in marks.cells_by_hand(result):
        score = None if grade.score is None else grade.score + grade.extra_credit
        views.append(_hand_view(cell.grade_id, score, cell.points, grade))
    return [view for view in views if view.points or view.comment]


def _hand_view(name: str, score: float | None, max_score: float, grade: HandGrade) -> HandView:
    shown = "" if score is None else say("feedback.points", score=points(score), max_score=points(max_score))
    return HandView(identifier(name), shown, plain(grade.comment).strip())


def _total(result: SubmissionResult, marks: Marks) -> str:
    """What counts, where that is not what the checks gave; "" where it is, or is not known yet."""
    total = marks.total(result)
    if total is None or (total == result.score and marks.max_score(result) == result.max_score):
        return ""
    return say("feedback.total", score=points(total), max_score=points(marks.max_score(result)))


def _can_go_on(exercise: ExerciseView) -> bool:
    return exercise.group not in (GROUP_OF[PASSED.name], GROUP_OF[UNGRADED.name])


def _notebook(name: str, exercises: tuple[ExerciseView, ...]) -> NotebookView:
    first = exercises[0]
    alike = all((e.status, e.message) == (first.status, first.message) for e in exercises)
    return NotebookView(name, exercises, at_once=alike and not first.opens and len(exercises) > 1)


def _exercises(result: SubmissionResult, sentences: Mapping[KnownMistake, tuple[str, ...]]) -> list[ExerciseView]:
    views = []
    whole = result.max_score or 1.0
    start = 0.0
    for exercise in result.exercises:
        length = 100 * exercise.max_score / whole
        known = sentences.get(KnownMistake(exercise.assignment, exercise.exercise, exercise.misconception), ())
        views.append(_exercise(exercise, known, round(start, 3), round(length, 3)))
        start += length
    return views


def _exercise(exercise: ExerciseResult, known: tuple[str, ...], start: float, length: float) -> ExerciseView:
    message, hint = _message_and_hint(exercise, known)
    shown = plain(exercise.answer).rstrip() if exercise.status != UNANSWERED.name else ""
    lines = shown.split("\n") if shown else []
    printed = plain(exercise.printed).strip("\n")
    return ExerciseView(
        name=identifier(exercise.exercise),
        notebook=identifier(exercise.notebook),
        group=GROUP_OF[exercise.status],
        status=STATUSES[exercise.status].meaning if exercise.status != UNGRADED.name else say("feedback.lost"),
        opens=exercise.status not in (MISSING.name, UNREADABLE.name, UNGRADED.name),
        shown_score=_score(exercise),
        max_score=exercise.max_score,
        start=start,
        length=length,
        message=message,
        hint=hint,
        advice=_advice(exercise),
        checks=tuple(_check(check, exercise) for check in exercise.checks) if _worth_listing(exercise) else (),
        answer=tuple(_cut(line, LINE_LENGTH) for line in lines[:ANSWER_LINES]),
        answer_cut=len(lines) > ANSWER_LINES or any(len(line) > LINE_LENGTH for line in lines[:ANSWER_LINES]),
        printed=printed[:PRINTED_LENGTH],
        printed_cut=len(printed) > PRINTED_LENGTH,
    )


def _message_and_hint(exercise: ExerciseResult, known: tuple[str, ...]) -> tuple[str, str]:
    """What came, and the known mistake's sentence that stands in the same message."""
    has_no_cell = exercise.message == say("exam.no_cell", exercise=exercise.exercise)
    if exercise.status == PASSED.name or (exercise.status == UNANSWERED.name and not has_no_cell):
        return "", ""  # the status says it all
    message = _cut(plain(exercise.message).strip(), MESSAGE_LENGTH)
    hint = next((sentence for sentence in known if sentence in message), "")
    if exercise.misconception and not hint:
        return "", message
    return message.replace(hint, "").strip() if hint else message, hint


def _worth_listing(exercise: ExerciseResult) -> bool:
    """One check that did not say no tells nothing that the exercise's own line does not tell."""
    return len(exercise.checks) > 1 or exercise.status == FAILED.name


def _advice(exercise: ExerciseResult) -> str:
    """What to try next, in a sentence or two; "" where there is nothing to do."""
    if exercise.status in (PASSED.name, UNGRADED.name):
        return ""
    if exercise.exercise == RUN and not exercise.answer:
        return say("advice.no_run" if exercise.status == MISSING.name else "advice.run")
    first = next((check for check in exercise.checks if check.status != PASSED.name), None)
    test = identifier(first.check) if first else f"test_{identifier(exercise.exercise)}"
    hidden = first is not None and first.visible_passed
    if exercise.misconception:
        key = "known_hidden" if hidden else "known"
    else:
        key = "hidden" if hidden and exercise.status == FAILED.name else exercise.status
    return say(f"advice.{key}", test=test, notebook=f"{identifier(exercise.notebook)}.ipynb")


def _check(check: CheckResult, exercise: ExerciseResult) -> CheckView:
    passed = check.status == PASSED.name
    if check.status == FAILED.name:
        outcome = say("check.hidden" if check.visible_passed else "check.visible")
    else:
        outcome = STATUSES[check.status].meaning if check.status != UNGRADED.name else say("feedback.lost")
    return CheckView(
        name=identifier(check.check),
        group=GROUP_OF[check.status],
        shown_score=_score(check),
        max_score=check.max_score,
        outcome=say("check.passed") if passed else outcome,
        message=""
        if passed or check.message in exercise.message
        else _cut(plain(check.message).strip(), MESSAGE_LENGTH),
    )


def _score(result: ExerciseResult | CheckResult) -> str:
    return "?" if STATUSES[result.status].ours else points(result.score)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "…"
