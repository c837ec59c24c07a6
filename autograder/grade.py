"""Grade a class: from a folder of submissions to gradebook, grades.csv, feedback pages and the class report.

Each result goes into the journal as soon as it is known; everything else is made from the results at
the end, by one writer. A run that was stopped is started again with the same command and goes on.
Chapters that were graded before and are not graded now keep their results, out of the journal.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from autograder import gradebook
from autograder.collected import Collected, Handed, collect
from autograder.course import Assignment, Course
from autograder.earlier_grades import results_of, rows_before
from autograder.errors import UsageError
from autograder.job import GradeJob
from autograder.journal import Journal
from autograder.keys import key_of, key_of_source, source_of
from autograder.limits import LIMITS
from autograder.marks import Who, was_handed_in
from autograder.outputs import GRADES, JOURNAL, read_late_rules, write_outputs
from autograder.plaintext import identifier
from autograder.progress import Progress
from autograder.recognise import Recogniser
from autograder.regrade import PROPOSAL, changes_between, describe, keep_what_stands
from autograder.results import SubmissionResult
from autograder.roster import by_roster, read_roster
from autograder.sandbox import Sandbox, find_sandbox, no_sandbox
from autograder.statuses import STATUSES
from autograder.submission import Submission, hint_table, read_submission, ungraded
from autograder.words import say, say_count
from autograder.workers import Failed, default_jobs, in_workers

Read = Callable[["Work"], Submission]
Spread = Callable[
    [GradeJob, Iterable[Submission], float, Callable[[str], None]],
    Iterator[tuple[Submission, SubmissionResult | Failed]],
]  # grades submissions, however many at a time; told the seconds for each, and whom to tell what goes on
Confirm = Callable[[str], bool]  # shows what would change; whether to write it


@dataclass(frozen=True)
class Graded:
    """What a run did."""

    results: tuple[SubmissionResult, ...]
    out: Path
    reused: int  # results that the journal already held
    kept: tuple[str, ...] = ()  # chapters graded in earlier runs, which stand beside these
    gone: int = 0  # submissions graded in earlier runs that are not among these any more
    copies: tuple[Path, ...] = ()  # what stood there before marks were changed
    notices: tuple[str, ...] = ()  # about what was collected and about the policy, one sentence each
    written: bool = True  # False where the teacher did not say yes to changed marks

    @property
    def ungraded(self) -> int:
        """How many submissions have an exercise that we failed to grade."""
        return sum(map(_is_lost, self.results))

    @property
    def flagged(self) -> int:
        """How many submissions a teacher should look at."""
        return sum(bool(result.flags) for result in self.results)


@dataclass(frozen=True)
class Work:
    """One submission to grade, not read yet: thousands of them fit into memory."""

    handed: Handed
    assignment: Assignment
    source: str  # a key of what the assignment's grades depend on

    @property
    def student(self) -> str:
        return self.handed.student


def grade(
    course: Course,
    submissions: Path,
    out: Path,
    chapters: Sequence[str] = (),
    jobs: int | None = None,
    unsafe: bool = False,
    *,
    roster: Path | None = None,
    policy: Path | None = None,
    times: Path | None = None,
    regrade: Confirm | None = None,
    formgrader: bool = False,
    scheduler: str = "",
) -> Graded:
    """Grade what lies in `submissions`, a folder or a zip (see `collected`), into `out`.

    `roster` is a table of who is in the class; `policy` and `times` are the teacher's files about lateness
    (see the modules of these names). An assignment that changed after it was graded is graded again only
    with `regrade`, which is shown who gains and who loses and says whether to write that. `formgrader` also
    writes what nbgrader's formgrader needs. `scheduler` is the address of a Dask scheduler whose workers grade,
    instead of `jobs` workers here. Raises UsageError.
    """
    if submissions.is_dir() and Path(os.path.realpath(out)).is_relative_to(os.path.realpath(submissions)):
        raise UsageError(say("grade.out_inside", out=out, folder=submissions))
    sandbox = choose_sandbox(unsafe)
    people = read_roster(roster) if roster else []
    readable, broken = course.readable()  # as it is now: it may be edited while we grade
    recogniser = Recogniser(readable.values())
    collected = collect(submissions, course.chapters, recogniser)
    if people:
        collected = by_roster(collected, people)
    handed_in = collected.chapters()
    names = list(dict.fromkeys(chapters)) or [name for name in course.chapters if name in handed_in]
    assignments = [readable.get(name) or course.assignment(name) for name in names]
    if not assignments:
        raise UsageError(say("grade.nothing", folder=submissions, known=", ".join(course.chapters)))
    _make_folder(out)
    rules = read_late_rules(course, out, policy, times, names)
    work = list_work(assignments, collected, sandbox)

    def read(item: Work) -> Submission:
        return read_submission(item.handed, item.assignment, names, recogniser)

    tables = {assignment.name: hint_table(assignment) for assignment in assignments}
    job = GradeJob({assignment.name: assignment for assignment in assignments}, tables, sandbox)
    spread = partial(_in_cluster, scheduler) if scheduler else partial(_here, jobs or default_jobs())
    importing = gradebook.get_ready()
    try:
        with Journal(out / JOURNAL) as journal:
            graded_before = [result for _, result in journal.all_latest() if result.assignment in names]
            asked = {(identifier(result.student), identifier(result.assignment)) for result in graded_before}
            copies: list[Path] | None = []
            if stale := [item for item in work if _is_stale(item, journal)]:
                if regrade is None:
                    raise UsageError(_changed(stale))
                lost = _lost_results(work, journal, out)
                asked |= {(identifier(student), identifier(chapter)) for student, chapter in lost}
                stale += [item for item in work if (item.student, item.assignment.name) in lost]
                copies = _regrade(stale, lost, read, job, journal, out, spread, regrade)
                if copies is None:
                    return Graded((), out, 0, written=False)
            results, reused = _run(work, read, job, journal, spread)
            earlier = [known for known in journal.all_latest() if known[1].assignment not in names]
            gone = len(journal.all_latest()) - len(earlier) - len(work)
            kept = sorted({result.assignment for _, result in earlier})
            importing.join()
            notices = write_outputs(
                course,
                out,
                [*assignments, *_unchanged(readable, earlier, sandbox)],
                sorted([*results, *(result for _, result in earlier)], key=_order),
                collected,
                rules,
                map(read, work) if formgrader else None,
                asked,
            )
            notices += [say("grade.broken", chapter=name, reason=broken[name]) for name in kept if name in broken]
            notices += journal.notices()
    except OSError as error:
        raise UsageError(say("grade.write", out=out, reason=error.strerror or error)) from None
    return Graded(tuple(sorted(results, key=_order)), out, reused, tuple(kept), gone, tuple(copies), tuple(notices))


def choose_sandbox(unsafe: bool) -> Sandbox:
    """The sandbox that this machine can make; none only where the teacher said so. Raises UsageError."""
    sandbox, reason = find_sandbox()
    if sandbox is not None:
        return sandbox
    if unsafe:
        return no_sandbox()
    raise UsageError(say("grade.no_sandbox", reason=reason))


def list_work(assignments: Sequence[Assignment], collected: Collected, sandbox: Sandbox) -> list[Work]:
    """One piece of work for each student and assignment."""
    work = []
    for assignment in assignments:
        source = key_of_source(assignment, sandbox)
        work += [Work(handed, assignment, source) for handed in collected.students.values()]
    return work


def _run(
    work: Sequence[Work], read: Read, job: GradeJob, journal: Journal, spread: Spread
) -> tuple[list[SubmissionResult], int]:
    """Grade what the journal does not hold yet: all results, and how many it held."""
    results: list[SubmissionResult] = []
    known = 0
    keys: dict[tuple[str, str], str] = {}
    most = max(len(assignment.notebooks) for assignment in job.assignments.values())
    seconds = most * (LIMITS.submission_seconds + LIMITS.start_seconds) + LIMITS.run_seconds + LIMITS.start_seconds
    with Progress(len(work)) as progress:

        def to_grade() -> Iterator[Submission]:
            """Read as the workers come free, so that the files of a large class need not fit into memory."""
            nonlocal known
            for item in work:
                submission = read(item)
                key = key_of(item.source, submission)
                result = journal.find(item.student, item.assignment.name, key)
                if result is not None:
                    if _latest(item, journal) != [(key, result)]:
                        journal.append(key, result)  # handed in before, and now once more: it counts again
                    results.append(result)
                    known += 1
                    progress.skip()
                    continue
                keys[submission.student, submission.assignment] = key
                yield submission

        for submission, result in spread(job, to_grade(), seconds, progress.note):
            if isinstance(result, Failed):
                result = ungraded(submission, job.assignments[submission.assignment], str(result))
            journal.append(keys.pop((submission.student, submission.assignment)), result)
            results.append(result)
            progress.step(f"{result.student} {result.assignment}")
    return results, known


def _here(
    jobs: int, job: GradeJob, items: Iterable[Submission], seconds: float, note: Callable[[str], None]
) -> Iterator[tuple[Submission, SubmissionResult | Failed]]:
    return in_workers(job, items, jobs, seconds)


def _in_cluster(
    scheduler: str, job: GradeJob, items: Iterable[Submission], seconds: float, note: Callable[[str], None]
) -> Iterator[tuple[Submission, SubmissionResult | Failed]]:
    from autograder.cluster import in_cluster  # Dask takes a second to import

    return in_cluster(scheduler, job, items, seconds, note)


def _regrade(
    work: Sequence[Work],
    lost: Mapping[Who, SubmissionResult],
    read: Read,
    job: GradeJob,
    journal: Journal,
    out: Path,
    spread: Spread,
    confirm: Confirm,
) -> list[Path] | None:
    """Grade for a look; what is confirmed counts from then on. The copies of what stood there; None after a no.

    `lost` are results that count so far and are not in the journal.
    """
    with Journal(out / PROPOSAL) as proposal:
        results, _ = _run(work, read, job, proposal, spread)
        before = [*lost.values(), *(result for item in work for _, result in _latest(item, journal))]
        changes = describe(changes_between(before, results), len(results))
        if not confirm("\n".join([changes, *journal.notices()])):
            return None
        copies = keep_what_stands(out, datetime.now(UTC))
        for item in work:
            for key, result in _latest(item, proposal):
                if not _is_lost(result):  # what failed is graded again
                    journal.append(key, result)
    (out / PROPOSAL).unlink()
    return copies


def _is_stale(item: Work, journal: Journal) -> bool:
    """Whether its student has marks already that another version of the assignment gave."""
    return any(
        was_handed_in(result) and not _is_lost(result) and source_of(key) != item.source
        for key, result in _latest(item, journal)
    )


def _lost_results(work: Sequence[Work], journal: Journal, out: Path) -> dict[Who, SubmissionResult]:
    """What grades.csv holds of this work and the journal does not any more."""
    told = results_of(rows_before(out / GRADES) or ())
    lost = {}
    for item in work:
        student, chapter = item.student, item.assignment.name
        result = told.get((identifier(student), identifier(chapter)))
        if result and was_handed_in(result) and not _latest(item, journal):
            lost[student, chapter] = replace(result, student=student, assignment=chapter)
    return lost


def _latest(item: Work, journal: Journal) -> list[tuple[str, SubmissionResult]]:
    """The key and the result that count for it so far; empty where it was never graded."""
    known = journal.latest(item.student, item.assignment.name)
    return [known] if known else []


def _unchanged(
    readable: Mapping[str, Assignment], earlier: Sequence[tuple[str, SubmissionResult]], sandbox: Sandbox
) -> list[Assignment]:
    """The chapters of earlier results whose source is still the one that gave them.

    Of a changed one the gradebook keeps what it has: its new cells would find no scores.
    """
    sources: dict[str, set[str]] = {}
    for key, result in earlier:
        sources.setdefault(result.assignment, set()).add(source_of(key))
    known = [readable[name] for name in sorted(sources) if name in readable]
    return [assignment for assignment in known if sources[assignment.name] == {key_of_source(assignment, sandbox)}]


def _order(result: SubmissionResult) -> tuple[str, str]:
    return result.student, result.assignment


def _is_lost(result: SubmissionResult) -> bool:
    return any(STATUSES[exercise.status].ours for exercise in result.exercises)


def _changed(stale: Sequence[Work]) -> str:
    chapters = sorted({item.assignment.name for item in stale})
    return say_count("grade.changed", len(stale), chapters=", ".join(chapters))


def _make_folder(out: Path) -> None:
    """Before anything is graded: a folder that cannot be made is no reason to wait."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError(say("grade.out_is_file", out=out)) from None
    except OSError as error:
        raise UsageError(say("grade.no_out", out=out, reason=error.strerror or error)) from None
