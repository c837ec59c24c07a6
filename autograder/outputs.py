"""All that a run writes beside the journal: gradebook, grades.csv, pages; and, where asked, formgrader's files.

In this order: what a teacher entered in the gradebook by hand goes into all the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from autograder.collected import Collected
from autograder.course import Assignment, Course
from autograder.errors import UsageError
from autograder.formgrader import write_for_formgrader
from autograder.gradebook import write_gradebook
from autograder.grades import rows_before, write_grades
from autograder.hand_grades import read_hand_grades
from autograder.hints_table import sentences_of
from autograder.marks import Marks, hand_cells, judge_times
from autograder.pages import write_pages
from autograder.plaintext import identifier
from autograder.policy import Policy, read_policy
from autograder.results import SubmissionResult
from autograder.submission import Submission, hint_table
from autograder.times import Table, read_times
from autograder.words import say

GRADES, GRADEBOOK, JOURNAL = "grades.csv", "gradebook.db", "journal.jsonl"


@dataclass(frozen=True)
class LateRules:
    """What a teacher said about time: the policy, and when who handed in."""

    policy: Policy | None = None
    table: Table = field(default_factory=dict)


def read_late_rules(
    course: Course, out: Path, policy: Path | None, times: Path | None, chapters: Sequence[str]
) -> LateRules:
    """Read the teacher's files before anything is graded; `chapters` are those graded now. Raises UsageError.

    Also where results with late marks would be written again without a policy: marks would rise unsaid. Of
    chapters that are not graded now the times stay known, whatever table told them.
    """
    before = rows_before(out / GRADES)
    if policy is None:
        if times is not None:
            raise UsageError(say("policy.times_alone"))
        if any(row.late_percent for row in before):
            raise UsageError(say("policy.missing", path=out / GRADES))
        return LateRules()
    known = {
        (row.student, row.assignment): row.submitted
        for row in before
        if row.submitted and row.assignment not in chapters
    }
    told = read_times(times, chapters) if times else {}
    return LateRules(read_policy(policy, course.chapters), {**known, **told})


def write_outputs(
    course: Course,
    out: Path,
    assignments: Sequence[Assignment],
    results: Sequence[SubmissionResult],
    collected: Collected,
    rules: LateRules,
    for_formgrader: Iterable[Submission] | None = None,
) -> list[str]:
    """Write everything, and return what a teacher should know, one sentence each; `assignments` are those whose gradebook entries are brought up to date."""
    policy = rules.policy
    late = judge_times(policy, results, rules.table, collected.stamp, datetime.now(UTC)) if policy else {}
    write_gradebook(out / GRADEBOOK, assignments, results, policy, late)
    marks = Marks(policy, late, read_hand_grades(out / GRADEBOOK), hand_cells(assignments))
    write_grades(out / GRADES, results, marks)
    notices = [*collected.notices, *_notices(policy, collected.students)]
    tables = map(hint_table, assignments)
    write_pages(out, results, sentences=sentences_of(tables), marks=marks, notices=notices)
    if for_formgrader is not None:
        write_for_formgrader(course, out, assignments, results, for_formgrader)
    return notices


def _notices(policy: Policy | None, students: Collection[str]) -> list[str]:
    """What a teacher should know of the policy itself."""
    if policy is None:
        return []
    unknown = [say("policy.unknown_student", student=identifier(name)) for name in policy.unknown_students(students)]
    return [*policy.notices, *unknown]
