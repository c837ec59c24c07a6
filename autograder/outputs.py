"""All that a run writes beside the journal: gradebook, handed_in.json, grades.csv, pages; where asked, formgrader's files.

In this order: what a teacher entered in the gradebook by hand goes into all the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from autograder.collected import Collected
from autograder.course import Assignment, Course
from autograder.earlier_grades import hand_cells_of, keep_what_is_lost, rows_before
from autograder.errors import UsageError
from autograder.formgrader import write_for_formgrader
from autograder.gradebook import write_gradebook
from autograder.grades import grade_rows, write_rows
from autograder.hand_grades import read_hand_grades
from autograder.hints_table import sentences_of
from autograder.judged import Judged, judged_of, read_judged, write_judged
from autograder.marks import Marks, Who, hand_cells, judge_times
from autograder.pages import write_pages
from autograder.plaintext import identifier
from autograder.policy import Policy, read_policy
from autograder.results import SubmissionResult
from autograder.submission import Submission, hint_table
from autograder.times import Table, read_times
from autograder.words import say

GRADES, GRADEBOOK, JOURNAL, JUDGED = "grades.csv", "gradebook.db", "journal.jsonl", "handed_in.json"


@dataclass(frozen=True)
class LateRules:
    """What a teacher said about time: the policy, and when who handed in."""

    policy: Policy | None = None
    table: Table = field(default_factory=dict)
    before: Mapping[Who, Judged] = field(default_factory=dict)  # of chapters that are not graded now


def read_late_rules(
    course: Course, out: Path, policy: Path | None, times: Path | None, chapters: Sequence[str]
) -> LateRules:
    """Read the teacher's files before anything is graded; `chapters` are those graded now. Raises UsageError.

    Also where results with late marks would be written again without a policy: marks would rise unsaid. Of
    chapters that are not graded now the times stay known, whatever table told them.
    """
    judged = read_judged(out / JUDGED, out / GRADES)
    before = {who: one for who, one in judged.items() if who[1] not in chapters}
    if policy is None:
        if times is not None:
            raise UsageError(say("policy.times_alone"))
        if any(one.late_percent for one in judged.values()):
            raise UsageError(say("policy.missing", out=out))
        return LateRules(before=before)
    known = {who: one.submitted for who, one in before.items()}
    told = read_times(times, chapters) if times else {}
    return LateRules(read_policy(policy, course.chapters), {**known, **told}, before)


def write_outputs(
    course: Course,
    out: Path,
    assignments: Sequence[Assignment],
    results: Sequence[SubmissionResult],
    collected: Collected,
    rules: LateRules,
    for_formgrader: Iterable[Submission] | None = None,
    asked: Collection[Who] = (),
) -> list[str]:
    """Write everything, and return what a teacher should know, one sentence each.

    `assignments` are those whose gradebook entries are brought up to date, and `asked` the submissions, spelled
    out, whose points in grades.csv this run was asked to change.
    """
    now = datetime.now(UTC)
    policy = rules.policy
    before = rows_before(out / GRADES)
    late = judge_times(policy, results, rules.table, collected.stamp, now) if policy else {}
    write_gradebook(out / GRADEBOOK, assignments, results, policy, late)
    by_hand = {**hand_cells_of(before or ()), **hand_cells(assignments)}
    marks = Marks(policy, late, read_hand_grades(out / GRADEBOOK), by_hand)
    free = {who: replace(one, late_percent=0.0) for who, one in rules.before.items()}  # where nothing is due now
    write_judged(out / JUDGED, {**free, **judged_of(late)})
    rows = grade_rows(results, marks)
    lost = keep_what_is_lost(out / GRADES, before, rows, asked, now)
    write_rows(out / GRADES, rows, marks.change_anything)
    notices = [*collected.notices, *_notices(policy, collected.students)]
    tables = map(hint_table, assignments)
    write_pages(out, results, sentences=sentences_of(tables), marks=marks, notices=notices)
    if for_formgrader is not None:
        write_for_formgrader(course, out, assignments, results, for_formgrader)
    return [*notices, *lost]


def _notices(policy: Policy | None, students: Collection[str]) -> list[str]:
    """What a teacher should know of the policy itself."""
    if policy is None:
        return []
    unknown = [say("policy.unknown_student", student=identifier(name)) for name in policy.unknown_students(students)]
    return [*policy.notices, *unknown]
