"""The teacher's page: a class at a glance, then every learner."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median

from autograder.hints_table import KnownMistake
from autograder.marks import Marks
from autograder.pages.addresses import feedback_address, folder_names, link
from autograder.pages.groups import GROUP_OF, GROUPS, Group, Segment, bar, in_words
from autograder.pages.layout import render
from autograder.plaintext import identifier, one_line, points
from autograder.policy import zone_name
from autograder.results import ExerciseResult, SubmissionResult
from autograder.statuses import FAILED, MISSING, PASSED, STATUSES
from autograder.words import say

SENTENCE_LENGTH = 400


@dataclass(frozen=True)
class Learner:
    """A link to one learner's page for one chapter."""

    name: str
    link: str


@dataclass(frozen=True)
class Note:
    """A sentence about some learners: a known mistake, a flag, a repair."""

    text: str
    learners: tuple[Learner, ...]
    exercise: str = ""


@dataclass(frozen=True)
class Bin:
    """A column of the histogram of scores."""

    label: str
    count: int
    height: float  # hundredths of the tallest


@dataclass(frozen=True)
class ExerciseRow:
    """One exercise over the class."""

    name: str
    segments: tuple[Segment, ...]
    words: str
    right: float  # share, 0 to 1
    mean: float  # points
    max_score: float


@dataclass(frozen=True)
class LearnerRow:
    """One learner over the exercises of a chapter."""

    learner: Learner
    score: float | None  # None: not graded to the end
    mark: float | None  # the points that count; None: one of them is not known yet
    max_score: float
    cells: tuple[tuple[Group, str, str], ...]  # group, what the cell shows, what it means


@dataclass(frozen=True)
class Chapter:
    """All that the report says of one chapter."""

    name: str
    exercises: tuple[ExerciseRow, ...]
    handed_in: int
    complete: int  # handed in and graded to the end: what mean and median are taken over
    mean: float  # share of the points
    median: float
    full: int  # learners with every point
    bins: tuple[Bin, ...]
    mistakes: tuple[Note, ...]  # the known ones
    unexplained: tuple[Note, ...]  # wrong answers that no known mistake explains; no text
    statuses: tuple[tuple[Group, str, str, int], ...]  # group, status, meaning, how many exercises
    rows: tuple[LearnerRow, ...]
    late: tuple[Note, ...]  # per cent taken off
    due: str  # a sentence; "" where there is no due date


def report_page(
    results: Iterable[SubmissionResult],
    *,
    sentences: Mapping[KnownMistake, tuple[str, ...]] | None = None,
    made: str = "",
    marks: Marks | None = None,
    notices: Sequence[str] = (),
) -> str:
    """The page as HTML; of two results for the same learner and chapter the last counts."""
    marks = marks or Marks()
    last = {(result.assignment, result.student): result for result in results}
    ordered = sorted(last.values(), key=lambda r: (r.assignment, r.student.casefold(), r.student))
    folders = folder_names(result.student for result in ordered)
    learners = {
        id(result): Learner(
            identifier(result.student), link(feedback_address(folders[result.student], result.assignment))
        )
        for result in ordered
    }
    chapters = defaultdict(list)
    for result in ordered:
        chapters[result.assignment].append(result)
    every = [exercise for result in ordered for exercise in result.exercises]
    return render(
        "report.html",
        students=len(folders),
        handed_in=sum(map(_handed_in, ordered)),
        chapters=[_chapter(name, members, learners, sentences or {}, marks) for name, members in chapters.items()],
        groups=GROUPS,
        share=_share_right(every),
        waiting=[learners[id(result)] for result in ordered if _waits(result)],
        waiting_exercises=sum(STATUSES[exercise.status].ours for exercise in every),
        flagged=sum(bool(flags_of(result, marks)) for result in ordered),
        flags=_notes(ordered, learners, lambda result: flags_of(result, marks)),
        notices=[one_line(notice) for notice in notices],
        with_marks=marks.change_anything,
        repairs=_notes(ordered, learners, lambda result: result.repairs),
        sandboxes=Counter(one_line(result.sandbox) for result in ordered).most_common(),
        made=made,
    )


def flags_of(result: SubmissionResult, marks: Marks) -> tuple[str, ...]:
    """What a teacher should look at: in the submission, and in the time at which it came."""
    warning = marks.late_of(result).warning
    return (*result.flags, warning) if warning else result.flags


def _handed_in(result: SubmissionResult) -> bool:
    return any(exercise.status != MISSING.name for exercise in result.exercises)


def _waits(result: SubmissionResult) -> bool:
    return any(STATUSES[exercise.status].ours for exercise in result.exercises)


def _share_right(exercises: list[ExerciseResult]) -> float:
    graded = [exercise for exercise in exercises if not STATUSES[exercise.status].ours]
    return sum(exercise.status == PASSED.name for exercise in graded) / len(graded) if graded else 0.0


def _chapter(
    name: str,
    results: list[SubmissionResult],
    learners: dict[int, Learner],
    sentences: Mapping[KnownMistake, tuple[str, ...]],
    marks: Marks,
) -> Chapter:
    complete = [result for result in results if _handed_in(result) and not _waits(result)]
    shares = [result.score / result.max_score if result.max_score else 1.0 for result in complete]
    by_exercise: dict[tuple[str, str], list[ExerciseResult]] = defaultdict(list)
    for result in results:
        for exercise in result.exercises:
            by_exercise[exercise.notebook, exercise.exercise].append(exercise)
    mistakes = _mistakes(results, learners, sentences)
    counts = Counter(exercise.status for group in by_exercise.values() for exercise in group)
    return Chapter(
        name=identifier(name),
        exercises=tuple(_exercise_row(group) for group in by_exercise.values()),
        handed_in=sum(map(_handed_in, results)),
        complete=len(complete),
        mean=mean(shares) if shares else 0.0,
        median=median(shares) if shares else 0.0,
        full=sum(share >= 1.0 for share in shares),
        bins=_bins(shares),
        mistakes=tuple(note for note in mistakes if note.text),
        unexplained=tuple(note for note in mistakes if not note.text),
        statuses=tuple(
            (GROUP_OF[status.name], status.name, status.meaning, counts[status.name])
            for status in STATUSES.values()
            if counts[status.name]
        ),
        rows=tuple(_learner_row(result, learners[id(result)], list(by_exercise), marks) for result in results),
        late=_notes(results, learners, lambda result: _late(result, marks)),
        due=_due(name, marks),
    )


def _late(result: SubmissionResult, marks: Marks) -> tuple[str, ...]:
    percent = marks.late_of(result).percent
    return (say("report.late", percent=f"{percent:g}"),) if percent else ()


def _due(chapter: str, marks: Marks) -> str:
    deadline = marks.policy and marks.policy.deadlines.get(chapter)
    if not deadline:
        return ""
    return say("report.due", time=f"{deadline.due:%Y-%m-%d %H:%M}", zone=zone_name(deadline.due))


def _exercise_row(exercises: list[ExerciseResult]) -> ExerciseRow:
    segments = bar(exercises)
    graded = [exercise.score for exercise in exercises if not STATUSES[exercise.status].ours]
    return ExerciseRow(
        name=identifier(exercises[0].exercise),
        segments=segments,
        words=in_words(segments),
        right=_share_right(exercises),
        mean=mean(graded) if graded else 0.0,
        max_score=exercises[0].max_score,
    )


def _bins(shares: list[float]) -> tuple[Bin, ...]:
    """Ten columns of ten per cent, and one for every point."""
    # 1e-9: a score of 0.7 * 10 points, summed up, may come out a rounding error short of its column
    counts = Counter(min(int(share * 10 + 1e-9), 10) for share in shares)
    tallest = max(counts.values(), default=1)
    return tuple(
        Bin(f"{10 * number}" if number < 10 else "100 %", counts[number], round(100 * counts[number] / tallest, 2))
        for number in range(11)
    )


def _mistakes(
    results: list[SubmissionResult], learners: dict[int, Learner], known: Mapping[KnownMistake, tuple[str, ...]]
) -> tuple[Note, ...]:
    """Wrong answers by exercise and known mistake (no text: none explains them), the most frequent first."""
    who: dict[tuple[str, str], list[Learner]] = defaultdict(list)
    sentences: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for result in results:
        for exercise in result.exercises:
            if exercise.misconception or exercise.status == FAILED.name:
                key = (exercise.exercise, exercise.misconception)
                who[key].append(learners[id(result)])
                sentences[key][_sentence(exercise, known)] += 1
    notes = []
    for (exercise_name, mistake), members in who.items():
        # The most frequent wording, the first in the alphabet of equals: the same for any order of learners.
        sentence = min(sentences[exercise_name, mistake].items(), key=lambda item: (-item[1], item[0]))[0]
        notes.append(Note((sentence or mistake) if mistake else "", tuple(members), identifier(exercise_name)))
    return tuple(sorted(notes, key=lambda note: (-len(note.learners), note.exercise, note.text)))


def _sentence(exercise: ExerciseResult, known: Mapping[KnownMistake, tuple[str, ...]]) -> str:
    """The known mistake's first sentence; without the table, the whole message it stands in."""
    if said := known.get(KnownMistake(exercise.assignment, exercise.exercise, exercise.misconception)):
        return one_line(said[0], SENTENCE_LENGTH)
    own = (check.message for check in exercise.checks if check.misconception == exercise.misconception != "")
    return one_line(next(own, exercise.message), SENTENCE_LENGTH)


def _notes(
    results: list[SubmissionResult],
    learners: dict[int, Learner],
    sentences: Callable[[SubmissionResult], tuple[str, ...]],
) -> tuple[Note, ...]:
    who: dict[str, list[Learner]] = defaultdict(list)
    for result in results:
        for sentence in dict.fromkeys(sentences(result)):
            who[one_line(sentence, SENTENCE_LENGTH)].append(learners[id(result)])
    notes = (Note(text, tuple(members)) for text, members in who.items())
    return tuple(sorted(notes, key=lambda note: (-len(note.learners), note.text)))


def _learner_row(
    result: SubmissionResult, learner: Learner, columns: list[tuple[str, str]], marks: Marks
) -> LearnerRow:
    exercises = {(exercise.notebook, exercise.exercise): exercise for exercise in result.exercises}
    return LearnerRow(
        learner,
        None if _waits(result) else result.score,
        marks.total(result),
        result.max_score,
        tuple(_cell(exercises.get(column)) for column in columns),
    )


def _cell(exercise: ExerciseResult | None) -> tuple[Group, str, str]:
    if exercise is None:
        return GROUP_OF[MISSING.name], "", ""
    group = GROUP_OF[exercise.status]
    sign = points(exercise.score) if exercise.status == FAILED.name and exercise.score else group.sign
    return group, sign, STATUSES[exercise.status].meaning
