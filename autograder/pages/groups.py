"""The ten statuses in the five groups that a reader tells apart at a glance: one colour and one sign each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from autograder import statuses
from autograder.results import ExerciseResult
from autograder.words import say


@dataclass(frozen=True)
class Group:
    """One colour of the pages: its name in the style sheet, its sign, its statuses."""

    name: str
    sign: str  # so that nobody needs the colour
    statuses: tuple[statuses.Status, ...]

    @property
    def label(self) -> str:
        return say(f"group.{self.name}")


GROUPS = (
    Group("right", "✓", (statuses.PASSED,)),
    Group("wrong", "✗", (statuses.FAILED,)),
    Group("stopped", "!", (statuses.ERROR, statuses.TIMEOUT, statuses.MEMORY, statuses.DIED)),
    Group("empty", "–", (statuses.UNANSWERED, statuses.MISSING, statuses.UNREADABLE)),
    Group("lost", "?", (statuses.UNGRADED,)),
)

GROUP_OF = {status.name: group for group in GROUPS for status in group.statuses}


@dataclass(frozen=True)
class Segment:
    """A piece of a bar, in units of a hundredth of its length."""

    group: Group
    count: int
    start: float
    length: float


def bar(exercises: Iterable[ExerciseResult]) -> tuple[Segment, ...]:
    """How many of these results fall into each group, as pieces of one bar; empty groups are left out."""
    counts = Counter(GROUP_OF[exercise.status].name for exercise in exercises)
    total = sum(counts.values())
    segments = []
    start = 0.0
    for group in GROUPS:
        if count := counts[group.name]:
            length = 100 * count / total
            segments.append(Segment(group, count, round(start, 3), round(length, 3)))
            start += length
    return tuple(segments)


def in_words(segments: Iterable[Segment]) -> str:
    """The bar for those who do not see it: '18 right, 4 wrong, 2 without an answer'."""
    return ", ".join(f"{segment.count} {segment.group.label}" for segment in segments)
