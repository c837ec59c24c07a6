"""What grading yields, as plain frozen records: the currency between scoring, writing and reporting."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckResult:
    """One test cell of one exercise, run once.

    `visible_passed` tells whether the part a learner can see passed; a failing hidden part never
    puts its expected values into `message`.
    """

    check: str  # the test cell's grade_id, e.g. "test_softmax"
    score: float  # points, 0 <= score <= max_score
    max_score: float  # points
    status: str  # a name of statuses.STATUSES
    message: str = ""  # one sentence or two for the learner; "" when it passed
    visible_passed: bool = False
    misconception: str = ""  # the known mistake's id, "" when none was recognised


@dataclass(frozen=True)
class ExerciseResult:
    """One exercise of one submission: the sum of its checks, and what its feedback page shows."""

    student: str
    assignment: str
    notebook: str  # without .ipynb
    exercise: str
    score: float
    max_score: float
    status: str
    message: str = ""
    misconception: str = ""
    answer: str = ""  # the learner's source, as handed in
    printed: str = ""  # what the answer printed while it was checked, capped
    checks: tuple[CheckResult, ...] = ()


@dataclass(frozen=True)
class SubmissionResult:
    """One student's work on one assignment."""

    student: str
    assignment: str
    exercises: tuple[ExerciseResult, ...]
    repairs: tuple[str, ...] = ()  # what intake mended, one sentence each
    flags: tuple[str, ...] = ()  # what a teacher should look at, one sentence each
    sandbox: str = ""  # which protections held, in words

    @property
    def score(self) -> float:
        return sum(exercise.score for exercise in self.exercises)

    @property
    def max_score(self) -> float:
        return sum(exercise.max_score for exercise in self.exercises)
