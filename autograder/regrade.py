"""An assignment that changed after it was graded: who gains and who loses, before anything is written.

What was given stays given until a teacher says yes. The new results wait in a journal of their own,
so that looking at them costs nothing the next time, and a "no" leaves everything as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path

from autograder.files import copy_aside
from autograder.plaintext import identifier, points
from autograder.results import ExerciseResult, SubmissionResult
from autograder.statuses import STATUSES
from autograder.words import say, say_count

PROPOSAL = "regrade.jsonl"  # results that nobody said yes to yet
KEPT = ("grades.csv", "gradebook.db")
ROUNDING = 1e-9  # points: thirds that add up to nothing are no gain


@dataclass(frozen=True)
class Change:
    """One exercise of one student whose points are other than before; None: there are none."""

    student: str
    assignment: str
    exercise: str
    before: float | None
    after: float | None

    @property
    def difference(self) -> float:
        return (self.after or 0.0) - (self.before or 0.0)


def changes_between(before: Iterable[SubmissionResult], after: Iterable[SubmissionResult]) -> list[Change]:
    """Where the points of two gradings of the same submissions differ, by assignment, exercise and student."""
    old, new = _scores(before), _scores(after)
    lost = {place for place, score in new.items() if score is None}  # we failed: graded again before it counts
    changes = (Change(*place, old.get(place), new.get(place)) for place in (old.keys() | new.keys()) - lost)
    found = [change for change in changes if change.before is None or abs(change.difference) > ROUNDING]
    return sorted(found, key=lambda change: (change.assignment, change.exercise, change.difference, change.student))


def describe(changes: Sequence[Change], compared: int) -> str:
    """The changes as a teacher reads them: each exercise, then who loses and who gains, the worst first."""
    lines = [say_count("regrade.compared", compared)]
    for (assignment, exercise), group in groupby(changes, key=lambda change: (change.assignment, change.exercise)):
        members = list(group)
        lines.append(
            say(
                "regrade.exercise",
                assignment=identifier(assignment),
                exercise=identifier(exercise),
                gain=sum(change.difference > 0 for change in members),
                lose=sum(change.difference < 0 for change in members),
            )
        )
        lines += [
            say(
                "regrade.learner",
                student=identifier(change.student),
                before=_shown(change.before),
                after=_shown(change.after),
                difference=("+" if change.difference >= 0 else "−") + points(abs(change.difference)),
            )
            for change in members
        ]
    lines.append(_totals(changes))
    return "\n".join(lines)


def keep_what_stands(out: Path, now: datetime) -> list[Path]:
    """Copy grades.csv and the gradebook beside themselves, under the date; returns the copies."""
    return [copy_aside(out / name, now) for name in KEPT if (out / name).is_file()]


def _scores(results: Iterable[SubmissionResult]) -> dict[tuple[str, str, str], float | None]:
    return {
        (result.student, result.assignment, exercise.exercise): _score(exercise)
        for result in results
        for exercise in result.exercises
    }


def _score(exercise: ExerciseResult) -> float | None:
    return None if STATUSES[exercise.status].ours else exercise.score


def _shown(score: float | None) -> str:
    return "–" if score is None else points(score)


def _totals(changes: Sequence[Change]) -> str:
    """How many learners end with more points, and how many with fewer."""
    totals: dict[tuple[str, str], float] = {}
    for change in changes:
        learner = (change.student, change.assignment)
        totals[learner] = totals.get(learner, 0.0) + change.difference
    if not totals:
        return say("regrade.same")
    gain = sum(difference > ROUNDING for difference in totals.values())
    return say("regrade.totals", gain=gain, lose=sum(difference < -ROUNDING for difference in totals.values()))
