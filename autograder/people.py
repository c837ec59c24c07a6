"""Who in somebody else's list is who here: by id, else by e-mail address, else by name, never by a guess.

Lists name the same person as "Kim, Minji" and "Minji Kim", as 20231234 and minji@example.org. Whoever
fits two people, or is fitted by two, is left to the teacher.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

_PARTICIPANT = re.compile(r"\D+ (\d+)")  # Moodle's "Participant 1234567", in any language


@dataclass(frozen=True)
class Matched:
    """Which of their entries is which of our students; and who is left on either side."""

    students: dict[int, str]  # entry's number: student
    unknown: list[int]  # entries that are nobody here, or more than one
    missing: list[str]  # students that are in no entry


def match_people(entries: Sequence[Sequence[str]], students: Iterable[str]) -> Matched:
    """Match entries, each a row of ids, addresses and names, with the ids of our students."""
    students = sorted(set(students))
    ours: dict[str, set[str]] = defaultdict(set)
    for student in students:
        ours[_plain(student)].add(student)
    found: dict[int, str] = {}
    for number, entry in enumerate(entries):
        for keys in (_ids(entry) | _downloaded(entry), _local_parts(entry), _turned_names(entry)):
            candidates = set().union(*(ours.get(key, set()) for key in keys))
            if candidates:
                if len(candidates) == 1:
                    found[number] = candidates.pop()
                break
    times: dict[str, int] = defaultdict(int)
    for student in found.values():
        times[student] += 1
    sure = {number: student for number, student in found.items() if times[student] == 1}
    named = set(sure.values())
    return Matched(
        sure,
        [number for number in range(len(entries)) if number not in sure],
        [student for student in students if student not in named],
    )


def _ids(entry: Sequence[str]) -> set[str]:
    participants = {match[1] for cell in entry if (match := _PARTICIPANT.fullmatch(cell.strip()))}
    return {_plain(cell) for cell in entry if cell.strip()} | participants


def _downloaded(entry: Sequence[str]) -> set[str]:
    """Name and id as in the downloads of Moodle, "Kim Minji_1234567", and Canvas, "kimminji_12345" (see `downloads`)."""
    numbers = {key for key in _ids(entry) if key.isdecimal()}
    names = {name for cell in entry for name in (_plain(cell), re.sub(r"\W", "", _plain(cell)))}
    return {f"{name}_{number}" for name in names for number in numbers}


def _local_parts(entry: Sequence[str]) -> set[str]:
    return {_plain(cell.partition("@")[0]) for cell in entry if "@" in cell}


def _turned_names(entry: Sequence[str]) -> set[str]:
    """ "Kim, Minji" as "Minji Kim", and the other way round."""
    turned = {
        _plain(f"{first} {last}") for last, first in pairwise(entry)
    }  # Canvas can split them: LastName, FirstName
    for cell in entry:
        last, comma, first = cell.partition(",")
        if comma:
            turned.add(_plain(f"{first} {last}"))
        first, space, last = cell.strip().rpartition(" ")
        if space and not comma:
            turned.add(_plain(f"{last}, {first}"))
    return turned


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())
